import base64
import re

import numpy as np
import pytest

from dalembert.interface.page.time_plots import Plots, axis_limits
from dalembert.runtime.simulation.plotting.chart import Curve, Panel, ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (-1.1, 1.1, [-1, -0.5, 0, 0.5, 1]),
        (0.0, 0.07, [0, 0.02, 0.04, 0.06]),
        (3, 3, [3]),
    ],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert expected == pytest.approx(ticks(low, high, 5))


def test_rounding_is_not_magnified():
    low, high, exponent = axis_limits([2 + 1e-14 * np.arange(5)])
    assert high - low > 1
    assert 0 == exponent
    assert -12 == axis_limits([np.array([0.0, 3e-12])])[2]
    assert np.isfinite(axis_limits([np.zeros(3)])).all()
    assert np.isfinite(axis_limits([np.full(3, np.nan)])).all()


def test_a_curve_goes_through_its_points_and_breaks_where_there_are_none():
    t = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    plots = Plots(0.0, 4.0)
    text = plots.panel(Panel("x", (Curve("x", t, np.array([0.0, 1.0, np.nan, 1.0, 0.0])),)))
    (path,) = re.findall(r'class="curve c0" d="([^"]+)"', text)
    # two lines of two points each; downwards is larger; eight hundredths of room above and below
    low, high = 3000 * 1.08 / 1.16, 3000 * 0.08 / 1.16
    assert [(0, low), (2500, high)] == [pytest.approx(p, abs=1) for p in points(path)[0]]
    assert [(7500, high), (10000, low)] == [pytest.approx(p, abs=1) for p in points(path)[1]]
    embedded = plots.json_data()
    assert np.array_equal(
        np.float32(t), np.frombuffer(base64.b64decode(embedded["times"][0]), "<f4")
    )


def points(path):
    """The points of every line of a path "M x y l dx dy dx dy …"."""
    lines = []
    for line in path.split("M")[1:]:
        numbers = [int(x) for x in re.findall(r"-?\d+", line)]
        lines.append(np.cumsum(np.reshape(numbers, (-1, 2)), axis=0).tolist())
    return lines


def test_panels_share_their_times():
    t = np.linspace(0, 1, 9)
    plots = Plots(0, 1)
    plots.grid([Panel("a", (Curve("a", t, t),)), Panel("b", (Curve("b", t.copy(), t),))])
    assert 1 == len(plots.json_data()["times"])
