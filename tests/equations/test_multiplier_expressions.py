"""λ as an expression of the state: against the runs, and against the text book."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import NotApplicable


def test_the_rod_of_a_pendulum():
    s = da.System("Pendulum in x and y")
    m, g = s.constants(m=2, g=9.81)
    s.gravity(-g * s.N.y)
    x, y = s.coordinates("x y")
    s.particle("bob", m, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    found = da.multipliers(s)["rod"].sympy()
    x, y, vx, vy = (s[n].sympy() for n in ("x", "y", "x.dot", "y.dot"))
    expected = (s["m"].sympy() * (s["g"].sympy() * y - vx**2 - vy**2)) / (2 * (x**2 + y**2))
    assert 0 == (found - expected).simplify()


@pytest.mark.parametrize("name", ["rolling-disk", "four-bar", "chaplygin-sleigh", "dumbbell", "knife-edge-rod", "moving-knife-edge"])
def test_it_is_the_multiplier_of_the_run(name):
    entry = gallery.entry(name)
    s = entry.build()
    run = da.simulate(s, 0.1, start=dict(entry.start), inputs=dict(entry.inputs), progress=False)
    for row, lam in da.multipliers(s).items():
        known = run.reactions.rows[row].multiplier
        assert run[lam] == pytest.approx(known, abs=1e-8 * max(1.0, np.abs(known).max()))


def test_beyond_three_rows_there_is_no_expression():
    with pytest.raises(NotApplicable, match="written out for up to 3"):
        da.multipliers(gallery.build("n-four-bar"))
