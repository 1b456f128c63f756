"""Expressions, M and f at one state, without a run."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da


@pytest.fixture
def pendulum():
    s = da.System("Pendulum")
    m, l, g = s.constants(m=2, l=0.5, g=9.81)
    s.gravity(-g * s.N.y)
    s.particle("bob", m, s.pin("theta", s.O).offset(-l * s.space.frames[-1].y))
    return s


def test_expressions_vectors_and_accelerations(pendulum):
    s = pendulum
    bob = s.bodies[0].G
    found = da.evaluate(
        s,
        {"height": (bob - s.O) @ s.N.y, "v": bob.v, "a": "theta.dot.dot"},
        at={"theta": 0.4, "theta.dot": 2.0},
    )
    assert -0.5 * np.cos(0.4) == pytest.approx(found["height"])
    assert [np.cos(0.4), np.sin(0.4), 0] == pytest.approx(found["v"])
    assert -9.81 / 0.5 * np.sin(0.4) == pytest.approx(found["a"])
    assert [0.4, 1.0] == pytest.approx(da.evaluate(s, ["theta", "m*l"], at={"theta": 0.4}))
    assert 4.0 == da.evaluate(s, "m", values={"m": 4})


def test_mass_matrix_and_forcing(pendulum):
    state = da.state_values(pendulum, {"theta": 0.4})
    assert [[0.5]] == pytest.approx(state.M)
    assert [-2 * 9.81 * 0.5 * np.sin(0.4)] == pytest.approx(state.f)
    assert ("theta'",) == state.speeds


def test_the_state_satisfies_the_rows():
    s = da.System("Slider", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1)
    assert -0.8 == pytest.approx(da.evaluate(s, "y", at={"x": 0.6}, guess={"y": -1}))


def test_what_has_no_value_is_refused(pendulum):
    with pytest.raises(da.BadExpression, match="no finite value"):
        da.evaluate(pendulum, "log(theta)")
    with pytest.raises(da.DalembertError):
        da.evaluate(pendulum, "nonsense")
