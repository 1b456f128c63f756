"""Charts as SVG text: axes that are round, curves that are whole, names that cannot break the
file.
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dalembert.runtime.simulation.plotting.chart import (
    Chart,
    Curve,
    Panel,
    decimate,
    svg,
    tick_labels,
    ticks,
    y_limits,
)

SVG = "{http://www.w3.org/2000/svg}"
T = np.linspace(0.0, 10.0, 1001)


def drawn(*panels, below=None):
    below = below or Panel("energy", (Curve("E", T, np.cos(T), "#000"),))
    return ET.fromstring(svg(Chart("A < B & C", "3 steps", "#666", (0.0, 10.0), panels, below)))


def curves(root):
    return [p.get("d") for p in root.iter(f"{SVG}path") if p.get("class") == "curve"]


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (0.0, 10.0, 6, [0, 2, 4, 6, 8, 10]),
        (-1.3, 1.2, 4, [-1, 0, 1]),
        (1e-5, 5e-5, 4, [1e-5, 2e-5, 3e-5, 4e-5, 5e-5]),
        (2.0, 2.0, 4, [2.0]),
    ],
)
def test_ticks_are_round(low, high, most, expected):
    assert np.allclose(expected, ticks(low, high, most), rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-1.0, 0.0, 1.0], ["−1", "0", "1"]),
        ([-0.0, 0.05, 0.1], ["0.00", "0.05", "0.10"]),
        ([0.0, 2e6], ["0", "2e+06"]),
        ([], []),
    ],
)
def test_labels_tell_values_apart(values, expected):
    assert expected == tick_labels(values)


def test_what_does_not_move_is_a_straight_line():
    low, high = y_limits(Panel("", (Curve("x", T, 3.0 + 1e-12 * np.sin(T), "#000"),)))
    assert low <= 1.51
    assert high >= 4.49
    assert (-0.5, 0.5) == y_limits(Panel("", (Curve("x", T, 0.0 * T, "#000"),)))


def test_a_curve_ends_where_its_times_end_and_is_inside_its_panel():
    root = drawn(Panel("x", (Curve("x", T, T**2, "#0072B2"),), is_symbol=True))
    # steps from point to point
    numbers = [float(x) for x in re.findall(r"-?[\d.]+", curves(root)[0])]
    points = np.cumsum(np.reshape(numbers, (-1, 2)), axis=0)
    assert len(T) == len(points)
    assert points[0][0] < points[-1][0]
    # upwards on the page is downwards in numbers
    assert points[0][1] > points[500][1] > points[-1][1]
    assert 104 < points[-1][1] < points[0][1] < 104 + 112


def test_a_gap_where_there_is_no_value():
    x = np.where((T > 4) & (T < 5), np.nan, T)
    assert 2 == curves(drawn(Panel("x", (Curve("x", T, x, "#000"),))))[0].count("M")


def test_names_that_do_not_fit_take_another_row_and_only_named_curves_are_told_apart():
    names = [f"{k}: a shape with a long name" for k in range(6)]
    root = drawn(
        Panel("shape", (*(Curve(name, T, T, "#000") for name in names), Curve("", T, -T, "#111")))
    )
    rows = {t.get("y") for t in root.iter(f"{SVG}text") if t.text in names}
    assert 3 == len(rows)
    # six curves with names and one without, and the energy
    assert 6 + 7 + 1 == len(curves(root))


def test_points_that_are_not_joined_and_lines_that_coincide():
    panel = Panel("Re λ", (Curve("", T, T + 1.0),), zero_line=True, dotted=True)
    root = ET.fromstring(svg(Chart("A", "", "#666", (0.0, 10.0), (panel,), x_label="speed")))
    (dots,) = [p.get("d") for p in root.iter(f"{SVG}path") if p.get("class") == "curve dots"]
    assert len(T) == dots.count("M") == dots.count("h0")
    # the line of zero is in the picture, and the axis has its name
    assert y_limits(panel)[0] < 0.0
    assert "speed" in [t.text for t in root.iter(f"{SVG}text")]
    whole, *dashed = [
        Panel("", (Curve("", T, T),) * 4, coinciding=True).dashes(k) for k in range(4)
    ]
    assert () == whole
    assert all(dashed)


def test_names_are_escaped_and_several_curves_are_named():
    root = drawn(Panel("", (Curve("a<b", T, T, "#000"), Curve("θ̇", T, -T, "#111"))))
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert {"A < B & C", "a<b", "θ̇", "energy", "t"} <= set(texts)


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (5, 2), (12, 3)])
def test_many_panels_stand_in_columns(count, columns):
    root = drawn(*[Panel(f"q{k}", (Curve("q", T, T, "#000"),)) for k in range(count)])
    assert count + 1 == len(curves(root))
    assert {1: "720", 2: "960", 3: "1200"}[columns] == root.get("width")


def test_of_many_points_the_extremes_are_kept():
    t = np.linspace(0.0, 1.0, 500_001)
    x = np.sin(300.0 * t)
    x[123_456], x[400_001] = 7.0, np.nan
    few, y = decimate(t, x, 600)
    assert len(few) < 5000
    assert 7.0 == np.nanmax(y)
    assert (t[0], t[-1]) == (few[0], few[-1])
    assert (np.diff(few) > 0).all()
    assert decimate(t[:2000], x[:2000], 600)[0] is not few
    assert 2000 == len(decimate(t[:2000], x[:2000], 600)[0])


def test_the_default_plot_needs_no_plotting_package(tmp_path):
    program = (
        "import sys, dalembert as da\ns = da.System('P', gravity=9.81)\ns.rod('rod', "
        "s.pin('theta', s.O), mass=1, length=1)\n"
        "da.simulate(s, 1, start={'theta': 1}).plot()\nprint('matplotlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True, cwd=tmp_path
    )
    assert ["saved p.svg", "False"] == done.stdout.splitlines()
    ET.parse(tmp_path / "p.svg")
