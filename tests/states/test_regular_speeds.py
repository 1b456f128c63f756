"""Speeds that nobody declared are regular where they are asked for: a particle on a circle at
its horizontal diameter, a knife edge.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.numerics.symbol_values import BadValue

g = 9.81


def circle() -> da.System:
    """ẏ = −x ẋ / y is singular at y = 0, where this pendulum hangs: gravity is along x."""
    s = da.System("circle")
    x, y = s.coordinates("x y")
    s.gravity(g * s.N.x)
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain("x**2 + y**2 - 1")
    return s


def sledge() -> da.System:
    s = da.System("sledge")
    x, y, psi = s.coordinates("x y psi")
    B = s.N.rotated(psi, s.N.z, "B")
    s.body("sledge", 1, s.O.offset(x * s.N.x + y * s.N.y, frame=B), B, da.inertia(B, 1, 1, 1.5))
    s.constrain("x.dot*sin(psi) - y.dot*cos(psi)")
    return s


def test_linear_models_at_a_singular_position_of_the_usual_choice():
    model = da.linearize(circle(), {"x": 1})
    assert model.states == ("y", "y.dot")
    assert model.A == pytest.approx(np.array([[0, 1], [-g, 0]]))
    assert da.linearize(circle(), {"y": -1}, guess={"x": 0.01}).states == ("x", "x.dot")
    fast = da.linearize(sledge(), {"psi": "pi/2", "y.dot": 3})
    assert fast.states == ("x", "y", "psi", "v", "psi.dot")
    # ẋ = v cos ψ changes by −3 δψ
    assert fast.A[0] == pytest.approx([0, 0, -3, 0, 0])


@pytest.mark.parametrize("guess", [{"x": 1}, {"x": 0.7, "y": 0.7}, {"x": 0.1, "y": -1}])
def test_an_equilibrium_where_the_usual_speeds_are_singular(guess):
    found = da.equilibrium(circle(), guess=guess)
    assert (found["x"], found["y"]) == pytest.approx((1, 0), abs=1e-8)
    assert found.multipliers["constraint 1"] == pytest.approx(-g / 2)
    assert found.stability.verdict == "stable"


def test_a_compiled_function_names_the_divisor():
    f = da.compile(circle())
    with pytest.raises(
        BadValue,
        match=r"the speeds ẋ are singular in this state, where 2 y = 0: da\.compile\(s, "
        r"start=\{…\}\) chooses others",
    ):
        f([1, 0], [0.3])
    with pytest.raises(BadValue, match="the speeds ẋ are singular in this state"):
        da.compile(da.kane(circle()))([1, 0], [0.3])
    with pytest.raises(da.Unknown, match="speeds='some'; give 'all'"):
        da.compile(circle(), speeds="some")


@pytest.mark.parametrize("form", [np.array, list])
def test_a_compiled_function_of_many_states_names_the_row_and_the_divisor(form):
    """The rows that are regular keep their numbers."""
    f = da.compile(circle())
    with pytest.warns(
        da.DalembertWarning,
        match=r"1 of 3 rows are not finite; the speeds ẋ are singular in row 1, where 2 y = 0",
    ):
        found = f(form([[0.6, 0.8], [1.0, 0.0], [0.8, 0.6]]), form([[0.1], [0.3], [0.2]]))
    assert np.isnan(found[1, 0])
    assert found[0] == f([0.6, 0.8], [0.1])
    assert found[2] == f([0.8, 0.6], [0.2])


def test_three_choices_of_speeds_are_one_motion():
    s, w = circle(), 0.3
    x, y = np.cos(0.4), np.sin(0.4)
    plain, there, every = da.compile(s), da.compile(s, start={"x": 1}), da.compile(s, speeds="all")
    # ẍ = −w² x − ẇ y, with ẇ = −g y
    a = np.array([-(w**2) * x + g * y * y, -(w**2) * y - g * y * x])
    assert plain([x, y], [-y * w]) == pytest.approx(a[:1])
    assert there([x, y], [x * w]) == pytest.approx(a[1:])
    assert every([x, y], [-y * w, x * w]) == pytest.approx(a)
    assert every([[x, y], [1, 0]], [[-y * w, x * w], [0, w]])[1] == pytest.approx([-(w**2), 0])
    again = pickle.loads(pickle.dumps(every))
    assert (again([x, y], [-y * w, x * w]) == every([x, y], [-y * w, x * w])).all()


def test_energy_integrals_in_regular_speeds():
    usual, there = da.energy_integrals(circle()), da.energy_integrals(circle(), about={"x": 1})
    assert "in the speeds ẋ" in str(usual)
    assert "in the speeds ẏ" in str(there)
    # a speed along the edge is regular at every heading
    assert "K₂    = 3/4 ψ̇² + 1/2 v²" in str(da.energy_integrals(sledge()))
    assert str(da.energy_integrals(sledge())) == str(
        da.energy_integrals(sledge(), about={"psi": "pi/2"})
    )


def bead_on_a_ring():
    s = da.System("bead on a ring", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("bead", 1, P)
    s.constrain(x**2 + y**2 - 1, name="ring")
    return s, P


def test_expressions_name_the_pivot_that_vanishes_and_take_other_speeds():
    s, P = bead_on_a_ring()
    f = da.compile(s, "x.dot + y.dot")
    with pytest.raises(da.BadValue, match="the speeds ẋ are singular in this state, where 2 y = 0"):
        f([1, 0], [0.5])
    with pytest.warns(
        da.DalembertWarning, match="1 of 2 rows are not finite; the speeds ẋ are singular in row 1"
    ):
        values = f([[0.6, 0.8], [1, 0]], [[0.5], [0.5]])
    assert 0.125 == pytest.approx(values[0])
    # x² + y² = 1, ẏ = 1/2 at (1, 0): ẋ = 0, ẍ = −ẏ², ÿ = −g
    other = da.compile(s, ["x.dot", "y.dot", "x.dot.dot", "y.dot.dot"], start={"x": 1, "y": 0})
    assert [0, 0.5, -0.25, -9.81] == pytest.approx(other([1, 0], [0.5]).tolist())
    with pytest.raises(da.NotApplicable, match="the columns of a Jacobian belong to the speeds of"):
        da.compile(s, da.jacobian(s, P), start={"x": 1, "y": 0})


def test_a_state_is_evaluated_where_the_usual_speeds_are_singular():
    s, _ = bead_on_a_ring()
    at = {"x": 1, "y": 0, "y.dot": 0.5}
    assert [0, 0.5, -0.25, -9.81] == pytest.approx(
        da.evaluate(s, ["x.dot", "y.dot", "x.dot.dot", "y.dot.dot"], at=at)
    )
