"""Contacts beside constraints that are not eliminated: the same mechanism in independent
coordinates, closed forms, and the energy balance.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.mechanics.equations.saddle_point import eliminate_multipliers
from dalembert.mechanics.kinematics.system_kinematics import kinematics, unreduced_kinematics
from dalembert.runtime.dynamics.compile import saddle_equations, select_equations

G = 9.81
FINE = {"rtol": 1e-11, "atol": 1e-11}


def rod_pendulum(mu, e, *, redundant=False):
    """In x and y, with its rod as a constraint."""
    s = da.System("rod pendulum", gravity=G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("bob", 1.3, P)
    s.constrain(x**2 + y**2 - 1, name="rod")
    if redundant:
        s.constrain(2 * x**2 + 2 * y**2 - 2, name="second rod", redundant=True)
    wall(s, P, mu, e)
    return s


def angle_pendulum(mu, e):
    s = da.System("pendulum", gravity=G)
    B = s.N.rotated(s.coordinate("theta"), s.N.z)
    P = s.O.offset(-1 * B.y)
    s.particle("bob", 1.3, P)
    wall(s, P, mu, e)
    return s


def wall(s, P, mu, e):
    at = s.O.offset(0.5 * s.N.x)
    s.contact(P, -s.N.x, through=at, friction=mu, restitution=e, name="wall")


def test_all_rates_are_used_where_independent_speeds_can_be_singular():
    kin, equations = select_equations(rod_pendulum(0.3, 0.5), "native")
    assert (2, "all rates, multipliers eliminated") == (kin.n_u, equations.route)


@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize(("mu", "e"), [(0.3, 0.5), (0.3, 0.0)])
def test_a_rod_and_an_angle_meet_the_same_wall(mu, e, redundant):
    a = da.simulate(angle_pendulum(mu, e), 4, start={"theta": -1.2}, **FINE)
    start = {"x": math.sin(-1.2), "y": -math.cos(1.2)}
    b = da.simulate(rod_pendulum(mu, e, redundant=redundant), 4, start=start, **FINE)
    assert [o.name for o in a.events] == [o.name for o in b.events]
    assert [o.t for o in a.events] == pytest.approx([o.t for o in b.events], abs=1e-10)
    assert [o.impulse for o in a.events] == pytest.approx([o.impulse for o in b.events], rel=1e-9)
    assert math.sin(a["theta"][-1]) == pytest.approx(b["x"][-1], abs=1e-10)
    assert b.energy_drift < 1e-10
    assert b.worst_residual < 1e-11
    # the rod carries m (g cos θ + θ̇²), and a redundant one nothing
    x, y, vx, vy = (b[name][0] for name in ("x", "y", "x.dot", "y.dot"))
    carried = -2 * b.multipliers["rod"][0]
    assert 1.3 * (-G * y + vx**2 + vy**2) == pytest.approx(carried, abs=1e-9)
    assert x**2 + y**2 == pytest.approx(1.0, abs=1e-12)
    if redundant:
        assert not np.any(b.multipliers["second rod"])


def test_a_pendulum_turns_over_and_stops_at_a_wall():
    """It passes y = 0, where ẋ cannot be a speed, and arrives with the energy of the start."""
    omega = 7.0
    run = da.simulate(rod_pendulum(0.0, 0.0), 2, start={"x": 0, "y": -1, "x.dot": -omega}, **FINE)
    o = run.events[0]
    height = math.sqrt(3) / 2
    speed = math.hypot(o.before["x.dot"], o.before["y.dot"])
    assert height == pytest.approx(o.before["y"], abs=1e-10)
    assert omega**2 - 2 * G * (1 + height) == pytest.approx(speed**2, rel=1e-9)
    assert math.hypot(o.after["x.dot"], o.after["y.dot"]) < 1e-10


def test_a_bob_sticks_on_a_table_and_slides_above_the_cone():
    """Beside a guide that is declared twice; the pull 3 t reaches μ m g at t₁."""
    s = da.System("bob on a table", gravity=G)
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z)
    s.particle("bob", 2, P)
    s.constrain(x, name="guide")
    s.constrain(2 * x, name="second guide", redundant=True)
    s.contact(P, s.N.y, through=s.O, friction=0.4, along=s.N.z, restitution=0, name="table")
    s.force(3 * s.t * s.N.z, P)
    run = da.simulate(s, 4, start={"x": 0, "y": 0, "z": 0}, **FINE)
    # z̈ = 3 (t − t₁)/m from then on
    free = 0.4 * 2 * G / 3
    assert free == pytest.approx(run.events[-1].t, abs=1e-10)
    left = 4 - free
    assert 3 * left**3 / 12 == pytest.approx(run["z"][-1], rel=1e-9)
    assert run.integrals.relative_drift < 1e-10


def test_rest_is_decided_in_independent_speeds():
    hanging = da.rests(rod_pendulum(0.3, 0.5), at={"x": 0, "y": -1})
    assert hanging.rests
    with pytest.raises(da.errors.NotApplicable, match="redundant constraints do not give"):
        da.rests(rod_pendulum(0.3, 0.5, redundant=True), at={"x": 0, "y": -1})


def test_multipliers_are_not_eliminated_where_a_rate_moves_no_mass():
    s = da.System("massless", gravity=G)
    x, y, z = s.coordinates("x y z")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(z - x, name="copy")
    assert eliminate_multipliers(saddle_equations(unreduced_kinematics(kinematics(s)))[1]) is None
