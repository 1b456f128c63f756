"""Starts from any subset: given, zero or solved; and every way in which a start can be wrong."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import DalembertWarning
from dalembert.gallery import build
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.states.initial_conditions import (
    InitialState,
    solve_initial_conditions,
    table,
)
from dalembert.runtime.states.run_values import run_values


def start(system, given, guess=None, *, t=0.0, values=None, inputs=None) -> InitialState:
    chosen = run_values(da.kinematics(system), values or {}, inputs or {})
    return solve_initial_conditions(chosen.kin, given, chosen.symbol_values_at(t), t, guess)


def marked(found: InitialState) -> dict[str, tuple[float, str]]:
    return {m.name: (m.value, m.origin) for m in found.values}


def pendulum(*, speed: bool = False, l: float = 1.0) -> da.System:
    """A bob in x and y on a rod: x² + y² = l²."""
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    length = s.constant("l", l)
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - length**2, "rod")
    if speed:
        s.speeds(w=(x * y.dot - y * x.dot) / length**2)
    return s


def four_bar(l1: float = 1, l2: float = 2, l3: float = 1.5, l4: float = 2) -> da.System:
    s = da.System("Four-bar linkage")
    P = s.O
    for k, (q, l) in enumerate(zip(s.coordinates("q1 q2 q3"), (l1, l2, l3), strict=True)):
        P = P.offset(l * s.N.rotated(q, s.N.z).x)
        s.particle(f"joint {k}", 1, P)
    gap = P - s.O - l4 * s.N.x
    s.constrain(gap @ s.N.x, "closure along x")
    s.constrain(gap @ s.N.y, "closure along y")
    return s


def disk_on_six_coordinates() -> da.System:
    s = da.System("Rolling disk, six coordinates", gravity=9.81, up="z")
    x, y, z, phi, theta, psi = s.coordinates("x y z phi theta psi")
    N = s.N
    _, B, D = N.rotations("zxz", phi, theta, psi)
    G = s.O.offset(x * N.x + y * N.y + z * N.z)
    s.disk("disk", G, D, mass=1, radius=0.5, axis=B.z)
    v = G.v + D.w.cross(-0.5 * B.y)
    s.constrain(v @ N.x, "slip along x")
    s.constrain(v @ N.y, "slip along y")
    s.constrain(z - 0.5 * da.sin(theta), "contact height")
    return s


# ---- given, zero, solved -------------------------------------------------------------------------


def test_nothing_given_is_zero() -> None:
    found = start(build("double-pendulum"), {})
    assert {"zero"} == {m.origin for m in found.values}
    assert not found.q.any()
    assert not found.u.any()


def test_rolling_disk_solves_the_rates_of_the_contact_point() -> None:
    found = start(build("rolling-disk"), {"theta": 1.2, "psi.dot": 6.0})
    values = marked(found)
    assert (1.2, "given") == values["theta"]
    assert (6.0, "given") == values["psi.dot"]
    assert (-3.0, "solved") == values["x.dot"]
    assert (0.0, "zero") == values["y.dot"]
    assert (2, 2, 0) == (found.rank, found.n_rows, found.iterations)


def test_a_dependent_rate_determines_the_speed() -> None:
    values = marked(start(build("rolling-disk"), {"x'": -3}))
    assert values["psi.dot"][0] == pytest.approx(6.0, rel=1e-15)
    assert values["psi.dot"][1] == "solved"
    assert (0.0, "zero") == values["phi.dot"]


def test_a_whole_consistent_state_is_accepted() -> None:
    s = build("rolling-disk")
    first = start(s, {"theta": 1.2, "phi": 0.3, "phi.dot": 1.1, "psi.dot": 6.0})
    everything = {m.name: m.value for m in first.values}
    again = start(s, everything)
    assert np.array_equal(first.q, again.q)
    assert np.array_equal(first.u, again.u)
    assert {"given"} == {m.origin for m in again.values}


def test_six_coordinates_solve_the_height_or_the_lean() -> None:
    s = disk_on_six_coordinates()
    by_lean = marked(start(s, {"theta": 1.2, "psi.dot": 6.0}))
    assert (pytest.approx(0.5 * math.sin(1.2), rel=1e-15), "solved") == by_lean["z"]
    assert (pytest.approx(-3.0), "solved") == by_lean["x.dot"]
    assert "zero" == by_lean["x"][1] == by_lean["phi"][1]
    by_height = marked(start(s, {"z": 0.4}))
    assert (pytest.approx(math.asin(0.8), rel=1e-14), "solved") == by_height["theta"]


@pytest.mark.parametrize(("guess", "sign"), [({"y": -1}, -1), ({"y": 1}, 1), (None, 1)])
def test_the_guess_selects_the_branch(guess, sign) -> None:
    found = start(pendulum(), {"x": 0.6}, guess)
    assert [0.6, sign * 0.8] == pytest.approx(found.q.tolist(), rel=1e-14)
    assert found.position_residual <= 1e-15
    assert found.iterations > 0


def test_a_bob_at_the_centre_of_its_circle_finds_the_circle() -> None:
    found = start(pendulum(l=1000.0), {})
    assert 1000.0 == pytest.approx(np.hypot(*found.q), rel=1e-14)


def test_four_bar_closes_on_either_branch() -> None:
    s = four_bar()
    open_, crossed = (
        start(s, {"q1": 1.0}, {"q2": 1, "q3": -1}),
        start(s, {"q1": 1.0}, {"q2": -1, "q3": 1}),
    )
    for found in (open_, crossed):
        a, b, c = found.q
        closure = [
            math.cos(a) + 2 * math.cos(b) + 1.5 * math.cos(c) - 2,
            math.sin(a) + 2 * math.sin(b) + 1.5 * math.sin(c),
        ]
        assert [0, 0] == pytest.approx(closure, abs=1e-14)
    assert abs(open_.q[1] - crossed.q[1]) > 1
    # without a guess the nearest solution to zero, not one that is several turns away
    assert np.abs(start(s, {"q1": 1.0}).q).max() < 3


def test_speeds_of_a_closed_loop_follow_from_one() -> None:
    found = start(four_bar(), {"q1": 1.0, "q1.dot": 2.0}, {"q2": 1, "q3": -1})
    q, qdot = found.q, found.qdot
    lengths = np.array([1, 2, 1.5])
    assert [0, 0] == pytest.approx(
        [lengths @ (np.cos(q) * qdot), lengths @ (np.sin(q) * qdot)], abs=1e-14
    )
    assert 2.0 == qdot[0]
    assert found.velocity_residual <= 1e-14


def test_quaternions_begin_without_rotation() -> None:
    found = start(
        build("free-body-quaternion"), {"omega_1": 1.0}, inputs={"M_1": 0, "M_2": 0, "M_3": 0}
    )
    assert [1, 0, 0, 0] == found.q[3:].tolist()
    assert (1.0, "zero") == marked(found)["e_0"]
    assert "zero rotation" in str(found)
    assert (0.5, "solved") == marked(found)["e_1.dot"]


def test_quaternion_of_which_a_part_is_given_is_completed() -> None:
    values = marked(
        start(build("free-body-quaternion"), {"e_1": 0.6}, inputs={"M_1": 0, "M_2": 0, "M_3": 0})
    )
    assert (pytest.approx(0.8, rel=1e-14), "solved") == values["e_0"]
    assert "zero" == values["e_2"][1] == values["e_3"][1]


def test_speeds_chosen_for_a_quaternion_can_be_given_by_name() -> None:
    s = da.System("Top with a quaternion")
    B = s.N.quaternion(*s.coordinates("e0 e1 e2 e3"), name="B")
    s.body("top", 1, s.O, B, da.inertia(B, 1, 2, 3))
    assert (2.0, "given") == marked(start(s, {"omega_Bx": 2.0}))["omega_Bx"]


# ---- conditions that are expressions -------------------------------------------------------------


def test_positions_by_an_expression() -> None:
    s = pendulum()
    found = start(s, {"y - 2*x": 0}, {"x": -0.5, "y": -1})
    assert [-1 / math.sqrt(5), -2 / math.sqrt(5)] == pytest.approx(found.q.tolist(), rel=1e-14)
    assert (0.0, "given") == marked(found)["y - 2*x"]


def test_velocities_by_a_vector_product() -> None:
    s = build("cart-and-bar")
    x, theta = s.q
    tip = next(b for b in s.bodies if b.name == "bar").G
    found = start(s, {theta: 0.3, tip.v @ s.N.y: 0.25, x.dot: 1}, inputs={"F": 0})
    a = float(next(v.value for v in s.symbols.values() if v.name == "a"))
    assert 0.25 / (a * math.sin(0.3)) == pytest.approx(found.qdot[1], rel=1e-14)
    assert 1.0 == found.qdot[0]


def test_least_norm_where_a_velocity_leaves_a_choice() -> None:
    s = da.System("Two particles")
    x, y = s.coordinates("x y")
    s.particle("first", 1, s.O.offset(x * s.N.x))
    s.particle("second", 1, s.O.offset(y * s.N.y))
    assert [1.0, 1.0] == pytest.approx(start(s, {x.dot + y.dot: 2}).u.tolist(), rel=1e-15)


def test_values_may_be_expressions_in_constants_and_any_real_number() -> None:
    s = pendulum(l=2.0)
    assert 1.0 == start(s, {s["x"]: s["l"] / 2}, {"y": -1}).q[0]
    assert 0.5 == start(s, {"x": Fraction(1, 2)}, {"y": -1}).q[0]
    assert 0.5 == start(s, {"x": np.float32(0.5)}, {"y": -1}).q[0]


def test_moving_rows_are_taken_at_the_time_of_the_start() -> None:
    s = build("moving-knife-edge")
    found = start(s, {"u1": 0.5, "X": 1.0}, t=0.7)
    X, _, theta = found.q
    Xdot, Ydot, thetadot = found.qdot
    L = float(s.symbols["L"].value)
    slip = -Xdot * math.sin(theta) + Ydot * math.cos(theta) - L * thetadot
    assert math.sin(1.4) / 5 + X / 4 == pytest.approx(slip, rel=1e-14)
    assert 0.7 == found.t


# ---- what it looks like --------------------------------------------------------------------------


def test_the_whole_start_is_printed_with_its_origin() -> None:
    text = str(start(build("rolling-disk"), {"theta": 1.2, "psi.dot": 6.0}))
    lines = text.splitlines()
    assert "start at t = 0" == lines[0]
    assert 1 + 5 + 5 + 1 == len(lines)
    assert "  theta       1.2  given" in lines
    assert "  x.dot      -3    solved" in lines
    assert lines[-1].startswith(
        "constraints: residual 0 in positions, 0 in velocities; rank 2 of 2; 0 iterations"
    )


def test_decimal_points_stand_below_one_another() -> None:
    rows = table([("a", "1.25", "x"), ("bc", "-130.5", "y"), ("d", "7", "z"), ("e", "1e-05", "z")])
    assert [
        "  a      1.25   x",
        "  bc  -130.5    y",
        "  d      7      z",
        "  e      1e-05  z",
    ] == rows


def test_pickled_and_restored() -> None:
    found = start(build("rolling-disk"), {"theta": 1.2, "psi.dot": 6.0})
    again = pickle.loads(pickle.dumps(found))
    assert str(found) == str(again)
    assert np.array_equal(found.qdot, again.qdot)


def test_the_system_is_not_changed() -> None:
    s = four_bar()
    before = len(s.space.tape)
    start(s, {"q1 - q2": 0.5, "q3.dot": 1.0})
    assert before == len(s.space.tape)


# ---- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"thetta": 1}, "no coordinate, rate or speed 'thetta'; did you mean 'theta'"),
        ({"theta": math.nan}, "theta = nan is not finite"),
        ({"psi.dot": math.inf}, "psi.dot = inf is not finite"),
        ({"theta": "one"}, "theta = 'one' cannot be read: unknown name 'one'"),
        ({"theta": None}, "theta = None is not a number"),
        ({"theta": True}, "theta = True is not a number"),
        ({"theta": [1.0]}, r"theta = \[1.0\] is not a number"),
        ({"theta": np.ones(1)}, "is not a number"),
        ({"theta": 1j}, "theta = 1j is not a number"),
        ({"theta''": 1}, "theta.dot.dot is an acceleration"),
        ({"m": 1}, "m is a constant"),
        ({"m*g": 1}, r"m\*g contains no coordinate and no speed"),
        ({"t": 1}, "contains no coordinate"),
        ({"psi.dot**2": 1}, r"psi.dot\*\*2 is not linear in psi'"),
        ({3: 1}, "expected a name"),
        ({"theta +": 1}, "cannot be read"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(given, message) -> None:
    with pytest.raises(BadStart, match=message):
        start(build("rolling-disk"), given)


def test_an_expression_of_another_system_is_refused() -> None:
    with pytest.raises(BadStart, match="different systems"):
        start(pendulum(), {pendulum().q[0]: 1})


def test_a_quantity_that_moves_is_no_value() -> None:
    s = pendulum()
    with pytest.raises(BadStart, match="give their difference"):
        start(s, {"x": s["y"]})


def test_one_quantity_with_two_values_is_refused() -> None:
    s = build("rolling-disk")
    with pytest.raises(BadStart, match=r"theta.dot is given twice, as 1 and as 2"):
        start(s, {"theta.dot": 1, "theta'": 2})
    assert 1.0 == start(s, {"theta.dot": 1, "theta'": 1}).qdot[3]


def test_positions_that_contradict_a_row_name_it_with_its_residual() -> None:
    with pytest.raises(BadStart, match=r"x = 0.6, y = 0.7 contradict 'rod': residual -0.15"):
        start(pendulum(), {"x": 0.6, "y": 0.7})


def test_a_position_out_of_reach_names_the_row_with_the_least_residual() -> None:
    with pytest.raises(BadStart, match=r"'rod' with x = 1.6: least-squares residual 1.56"):
        start(pendulum(), {"x": 1.6})
    with pytest.raises(
        BadStart, match=r"'contact height' with z = 0.6: least-squares residual 0.1"
    ):
        start(disk_on_six_coordinates(), {"z": 0.6})


def test_a_loop_that_cannot_be_assembled() -> None:
    with pytest.raises(
        BadStart, match="no position found that satisfies 'closure along x' with q1 = 1"
    ):
        start(four_bar(1, 1, 1, 10), {"q1": 1.0})


def test_expressions_that_cannot_both_hold() -> None:
    with pytest.raises(BadStart, match="no position found"):
        start(four_bar(), {"q1 - q2": 1.0, "q2 - q3": 1.0, "q1 - q3": 1.0})


def test_velocities_that_contradict_a_row_name_it_with_its_residual() -> None:
    s = build("rolling-disk")
    with pytest.raises(
        BadStart,
        match=r"x.dot = -2 with psi.dot = 6 contradicts 'rolling of disk along x' \(residual 1\)",
    ):
        start(s, {"x.dot": -2, "psi.dot": 6})
    with pytest.raises(
        BadStart,
        match=r"y.dot = 1 contradicts 'rolling of disk along y'.*least-squares residual -1",
    ):
        start(s, {"y.dot": 1})


def test_more_velocities_than_freedoms() -> None:
    with pytest.raises(BadStart, match="least-squares residual"):
        start(four_bar(), {"q1": 1.0, "q1.dot": 2, "q3.dot": 1})


def test_a_quaternion_that_is_no_rotation() -> None:
    with pytest.raises(
        BadStart, match=r"norm of the quaternion of B.* off by 1; give all four, of any length"
    ):
        start(
            build("free-body-quaternion"),
            {"e_0": 1, "e_1": 1},
            inputs={"M_1": 0, "M_2": 0, "M_3": 0},
        )


def test_a_guess_for_what_needs_none_is_refused() -> None:
    for guess in ({"x": 0.1}, {"theta": 0.1}, {"psi.dot": 1}):
        with pytest.raises(
            BadStart, match=r"guess: .* is not a coordinate that the constraints determine"
        ):
            start(disk_on_six_coordinates(), {"theta": 1.2}, guess)
    with pytest.raises(BadStart, match="guess: z = nan is not finite"):
        start(disk_on_six_coordinates(), {"theta": 1.2}, {"z": math.nan})


def test_a_singular_position_is_reported() -> None:
    with pytest.warns(
        DalembertWarning,
        match=r"singular position: 'closure along x' vanishes at this start \(rank 1 of 2\)",
    ):
        found = start(four_bar(1, 1, 1, 1), {"q1": 0, "q2": 0}, {"q3": 3})
    assert (1, 2) == (found.rank, found.n_rows)
    assert "singular position" in str(found)


def test_rates_that_the_speeds_cannot_give_are_named() -> None:
    with pytest.raises(
        BadStart,
        match=r"y.dot cannot be computed from x.dot at these positions \(division by zero\)",
    ):
        start(pendulum(), {"x": 1, "y": 0})


def test_a_speed_that_serves_everywhere_has_no_singular_position() -> None:
    for x, y in ((0, -1), (1, 0), (0, 1), (-1, 0)):
        found = start(pendulum(speed=True), {"x": x, "y": y, "w": 2})
        assert (-2.0 * y, 2.0 * x) == pytest.approx(tuple(found.qdot))
