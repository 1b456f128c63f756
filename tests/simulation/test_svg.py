"""Charts as SVG by matplotlib: axes that are round, curves that are whole, names that cannot break
the file.
"""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dalembert.runtime.simulation.plotting.chart import Chart, Curve, Panel, ticks, y_limits
from dalembert.runtime.simulation.plotting.matplotlib_figure import figure, render

SVG = "{http://www.w3.org/2000/svg}"
T = np.linspace(0.0, 10.0, 1001)


def chart(*panels, below=None):
    below = below or Panel("energy", (Curve("E", T, np.cos(T), "#000"),))
    return Chart("A < B & C", "3 steps", "#666", (0.0, 10.0), panels, below)


def drawn(*panels):
    return ET.fromstring(render(figure(chart(*panels)), "svg"))


def texts(root):
    return ["".join(t.itertext()) for t in root.iter(f"{SVG}text")]


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


def test_what_does_not_move_is_a_straight_line():
    low, high = y_limits(Panel("", (Curve("x", T, 3.0 + 1e-12 * np.sin(T), "#000"),)))
    assert low <= 1.51
    assert high >= 4.49
    assert (-0.5, 0.5) == y_limits(Panel("", (Curve("x", T, 0.0 * T, "#000"),)))


def test_a_gap_where_there_is_no_value():
    x = np.where((T > 4) & (T < 5), np.nan, T)
    root = drawn(Panel("x", (Curve("x", T, x, "#123456"),)))
    (path,) = [p.get("d") for p in root.iter(f"{SVG}path") if "#123456" in (p.get("style") or "")]
    assert 2 == path.count("M")


def test_the_same_chart_gives_the_same_text():
    panel = Panel("x", (Curve("x", T, T**2, "#0072B2"),), is_symbol=True)
    first, second = (render(figure(chart(panel)), "svg") for _ in range(2))
    assert first == second


def test_names_that_do_not_fit_take_another_row():
    names = [f"{k}: a shape with a long name" for k in range(6)]
    panel = Panel("shape", (*(Curve(name, T, T) for name in names), Curve("", T, -T, "#111")))
    legend = figure(chart(panel)).axes[1].get_legend()
    # curves without a name are not in the legend
    assert names == [t.get_text() for t in legend.get_texts()]
    assert 2 == legend._ncols


def test_points_that_are_not_joined_and_lines_that_coincide():
    panel = Panel("Re λ", (Curve("", T, T + 1.0),), zero_line=True, dotted=True)
    shown = figure(Chart("A", "", "#666", (0.0, 10.0), (panel,), x_label="speed"))
    zero, dots = shown.axes[0].lines
    assert ["None", "."] == [dots.get_linestyle(), dots.get_marker()]
    # the line of zero is in the picture, and the axis has its name
    assert [0.0, 0.0] == list(zero.get_ydata())
    assert y_limits(panel)[0] < 0.0
    assert "speed" == shown.axes[0].get_xlabel()
    whole, *dashed = [
        Panel("", (Curve("", T, T),) * 4, coinciding=True).dashes(k) for k in range(4)
    ]
    assert () == whole
    assert all(dashed)


def test_names_are_escaped_and_several_curves_are_named():
    root = drawn(Panel("", (Curve("a<b", T, T, "#000"), Curve("θ̇", T, -T, "#111"))))
    assert {"A < B & C", "a<b", "θ̇", "energy", "t"} <= set(texts(root))


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (5, 2), (12, 3)])
def test_many_panels_stand_in_columns(count, columns):
    shown = figure(chart(*[Panel(f"q{k}", (Curve("q", T, T, "#000"),)) for k in range(count)]))
    assert count + 1 == len(shown.axes)
    assert {1: 7.2, 2: 9.6, 3: 12.0}[columns] == shown.get_figwidth()
    size = re.search(rb'width="([\d.]+)pt"', render(shown, "svg"))
    assert float(size[1]) == pytest.approx(72 * shown.get_figwidth())


def test_a_curve_of_many_points_makes_a_small_file():
    t = np.linspace(0.0, 10.0, 200_001)
    x = np.sin(30.0 * t)
    x[123_456] = 7.0
    panel = Panel("x", (Curve("x", t, x, "#123456"),))
    text = render(figure(chart(panel)), "svg")
    assert len(text) < 2_000_000
    # the one point that stands out is kept
    path = re.search(rb'<path d="([^"]*)"[^>]*#123456', text)[1]
    heights = [float(y) for y in re.findall(rb"[ML] [-\d.]+ ([-\d.]+)", path)]
    assert min(heights) < np.sort(heights)[10] - 20


@pytest.mark.parametrize("figsize", [None, (5.0, 3.0), (3.4, 2.6)])
def test_titles_of_a_small_picture_lie_on_no_panel(figsize):
    panels = [Panel(f"q_{k}", (Curve("q", T, T, "#000"),), is_symbol=True) for k in "ab"]
    shown = figure(chart(*panels), figsize)
    renderer = shown.canvas.get_renderer()
    titles = [a._left_title.get_window_extent(renderer) for a in shown.axes]
    areas = [a.get_window_extent(renderer) for a in shown.axes]
    assert not any(title.overlaps(area) for title in titles for area in areas)
    assert "$_{\\mathit{a}}$" in shown.axes[1].get_title(loc="left")
