"""Rows whose slope falls by orders of magnitude are taken for rows beside a singular position;
that the motion leaves them is said.
"""

import warnings

import numpy as np
import pytest

import dalembert as da


def bead(factor, *, holonomic: bool) -> da.System:
    """A bead on z = x², by a row with a factor that has nothing to do with the motion."""
    s = da.System("bead")
    m, g = s.constant("m", 1), s.constant("g", 9.81)
    x, z = s.coordinates("x z")
    s.particle("P", m, s.O.offset(x * s.N.x + z * s.N.z))
    s.gravity(-g * s.N.z)
    s.constrain(factor(x) * (z - x**2 if holonomic else z.dot - 2 * x * x.dot), name="wire")
    return s


@pytest.mark.parametrize("holonomic", [True, False])
def test_a_row_that_is_left_is_named(holonomic):
    with pytest.warns(
        da.DalembertWarning, match=r"'wire' does not hold for a time of .*: its slope has fallen"
    ) as said:
        run = da.simulate(
            bead(lambda x: da.exp(6 * x), holonomic=holonomic),
            2,
            start={"x": 2.0, "z": 4.0},
            progress=False,
        )
    assert np.abs(run["z"] - run["x"] ** 2).max() > 1e-3
    assert any("leave out the factor" in str(w.message) for w in said)


@pytest.mark.parametrize("holonomic", [True, False])
@pytest.mark.parametrize("factor", [lambda _: 1, da.exp])
def test_a_row_that_is_held_is_not(factor, holonomic):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = da.simulate(
            bead(factor, holonomic=holonomic), 2, start={"x": 2.0, "z": 4.0}, progress=False
        )
    assert np.abs(run["z"] - run["x"] ** 2).max() < 1e-7


def test_a_motion_that_comes_to_rest_in_a_singular_position_is_not_called_off_its_rows():
    s = da.System("two pendulums of one height")
    a, b = s.coordinates("a b")
    for name, q in (("A", a), ("B", b)):
        s.particle(name, 1, s.O.offset(da.sin(q) * s.N.x - da.cos(q) * s.N.y))
        s.dissipation(0.6 * q.dot**2)
    s.gravity(-9.81 * s.N.y)
    s.constrain(da.cos(a) - da.cos(b), name="level")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = da.simulate(s, 30, start={"a": 1.0, "b": 1.0}, progress=False)
    assert np.abs(run["a"] - run["b"]).max() < 1e-5
    assert abs(run["b"][-1]) < 1e-5
