"""Impacts against closed forms, impulses computed by hand, and the same obstacle met in other
coordinates.
"""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.runtime.simulation.events.event import BadEvent
from dalembert.runtime.simulation.events.event_loop import EndlessEvents

G = 9.81
FINE = {"rtol": 1e-12, "atol": 1e-12}


def ball(**constants):
    s = da.System("Ball", gravity=G)
    y = s.coordinate("y")
    s.particle("ball", s.constant("m", constants.get("m", 2.0)), s.O.offset(y * s.N.y))
    return s


def bounces(run, name="floor"):
    return [o for o in run.events if o.name == name]


# ---- the bouncing ball ---------------------------------------------------------------------------


@pytest.mark.parametrize("e", [0.3, 0.8, 1.0])
def test_a_ball_bounces_as_the_closed_form_says(e):
    """t_k = t₁ + 2 v₁ Σ ε^j / g, heights ε^{2k} h, energy m g h ε^{2k}."""
    h, m = 1.3, 2.0
    v, t = math.sqrt(2 * G * h), math.sqrt(2 * h / G)
    length = 0.9 * (t + 2 * v / G * e / (1 - e)) if e < 1 else 4.0
    run = da.simulate(
        ball(m=m),
        length,
        start={"y": h},
        events=[da.impact("y", e, name="floor"), da.event("y.dot", direction="down", name="apex")],
    )
    found = bounces(run)
    assert 2 <= len(found)
    for k, o in enumerate(found):
        assert t == pytest.approx(o.t, abs=1e-13)
        assert -v == pytest.approx(o.before["y.dot"], rel=1e-13)
        assert e * v == pytest.approx(o.after["y.dot"], rel=1e-13)
        assert abs(o.before["y"]) < 1e-14
        assert m * (1 + e) * v == pytest.approx(o.impulse, rel=1e-12)
        assert -0.5 * m * (1 - e**2) * v**2 == pytest.approx(o.energy, rel=1e-11, abs=1e-12)
        v *= e
        t += 2 * v / G
        assert e ** (2 * k) * h == pytest.approx(o.before["y.dot"] ** 2 / (2 * G), rel=1e-12)
    apexes = [o.before["y"] for o in bounces(run, "apex")]
    # where the run begins at rest nothing crosses zero
    assert [e ** (2 * k + 2) * h for k in range(len(apexes))] == pytest.approx(apexes, rel=1e-12)
    assert run["y"].min() > -1e-13


def test_the_audit_goes_on_across_impacts():
    run = da.simulate(ball(), 2.0, start={"y": 1.0}, events=[da.impact("y", 0.7)])
    assert 3 <= len(run.events)
    assert run.energy_drift < 1e-14
    assert run.integrals.drift < 1e-12
    lost = sum(o.energy for o in run.events)
    assert lost < -5.0
    assert -lost == pytest.approx(run.integrals.taken_by_events[-1], rel=1e-12)
    assert "removed by events" in str(run)
    # the same at other times
    assert run.at(np.linspace(0.0, 2.0, 77)).energy_drift < 1e-13


@pytest.mark.parametrize("keep", [{"keep_energy": True}, {"energy_tolerance": 1e-6}])
def test_an_energy_that_is_held_is_held_at_its_new_level(keep):
    s = da.System("Bead", gravity=G)
    x, y = s.coordinates("x y")
    s.particle("bead", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.potential(5 * x**2 + x**4)
    run = da.simulate(s, 1.5, start={x: 1.0, y: 1.0}, events=[da.impact("y", 0.6)], **keep)
    assert 2 <= len(run.events)
    assert run.integrals.drift < 1e-6


def test_both_points_of_a_jump_are_there():
    run = da.simulate(ball(), 0.6, start={"y": 1.0}, events=[da.impact("y", 0.5)])
    (o,) = run.events
    before, after = np.flatnonzero(run.t == o.t)
    assert after == before + 1
    assert o.before["y.dot"] == run["y.dot"][before]
    assert o.after["y.dot"] == run["y.dot"][after]
    # asked for that time, the state afterwards
    assert o.after["y.dot"] == run.at(o.t)["y.dot"][0]
    assert run.at(o.t - 1e-9)["y.dot"][0] == pytest.approx(o.before["y.dot"], abs=1e-7)


def test_an_impact_at_the_end_of_a_run_counts():
    t = math.sqrt(2 / G)
    run = da.simulate(ball(), t, start={"y": 1.0}, events=[da.impact("y", 0.5)])
    assert run.finished
    assert len(run.events) <= 1
    assert t == run.t[-1]


# ---- a table that moves --------------------------------------------------------------------------


def test_a_table_that_rises_evenly():
    """In the frame of the table nothing moves but the ball: t_k as on a table at rest, for the
    velocity relative to it.
    """
    w, h, e = 0.7, 1.0, 0.6
    run = da.simulate(
        ball(), 1.4, start={"y": h}, events=[da.impact("y - 7*t/10", e, name="floor")]
    )
    v = math.sqrt(w**2 + 2 * G * h)
    t = (-w + v) / G
    assert 2 <= len(run.events)
    for o in run.events:
        assert t == pytest.approx(o.t, abs=1e-13)
        assert w - v == pytest.approx(o.before["y.dot"], rel=1e-12)
        assert w + e * v == pytest.approx(o.after["y.dot"], rel=1e-12)
        v *= e
        t += 2 * v / G


def test_a_table_that_shakes():
    """Each flight a parabola, each impact a root found with forty digits."""
    a, w, e = 0.05, 9.0, 0.8
    run = da.simulate(
        ball(), 2.0, start={"y": 0.5}, events=[da.impact("y - sin(9*t)/20", e, name="floor")]
    )
    found = bounces(run)
    assert 3 <= len(found)
    with mpmath.workdps(40):
        t0, y0, v0 = mpmath.mpf(0), mpmath.mpf("0.5"), mpmath.mpf(0)
        g = mpmath.mpf("9.81")
        for o in found:
            flight = lambda t, t0=t0, y0=y0, v0=v0: y0 + v0 * (t - t0) - g * (t - t0) ** 2 / 2  # noqa: E731
            t = mpmath.findroot(lambda t, flight=flight: flight(t) - mpmath.sin(9 * t) / 20, o.t)
            assert abs(float(t - o.t)) < 1e-12
            v, table = v0 - g * (t - t0), w * a * mpmath.cos(9 * t)
            assert float(v) == pytest.approx(o.before["y.dot"], abs=1e-11)
            t0, y0, v0 = t, flight(t), table - mpmath.mpf("0.8") * (v - table)
            assert float(v0) == pytest.approx(o.after["y.dot"], abs=1e-11)
    assert (run["y"] - a * np.sin(w * run.t) > -1e-12).all()


def test_the_gap_as_a_coordinate_above_a_specified_motion():
    """h above a table at Y(t) is y − Y: the same impacts, with Y̊ in the equations instead of in
    the gap.
    """
    s = da.System("Ball above its table", gravity=G)
    h = s.coordinate("h")
    Y = s.specified("Y", s.expression("sin(9*t)/20"))
    s.particle("ball", 2, s.O.offset((Y + h) * s.N.y))
    above = da.simulate(
        s,
        2.0,
        start={h: 0.5, h.dot: -0.45},
        rtol=1e-12,
        atol=1e-12,
        events=[da.impact(h, 0.8, name="floor")],
    )
    plain = da.simulate(
        ball(),
        2.0,
        start={"y": 0.5},
        rtol=1e-12,
        atol=1e-12,
        events=[da.impact("y - sin(9*t)/20", 0.8, name="floor")],
    )
    assert [o.t for o in plain.events] == pytest.approx([o.t for o in above.events], abs=1e-10)
    assert above.integrals.relative_drift < 1e-10
    assert plain.integrals.relative_drift < 1e-10


def test_the_ball_of_the_gallery():
    """Parabolas between impacts, ḣ⁺ = −0.8 ḣ⁻ at each of them, and never below the table."""
    e = gallery.entry("bouncing-ball")
    run = da.simulate(e.build(), e.duration, start=e.start, events=e.events, **FINE)
    assert 10 <= len(run.events)
    assert run["h"].min() > -1e-12
    for o, after in itertools.pairwise(run.events):
        assert -0.8 == pytest.approx(o.after["h.dot"] / o.before["h.dot"], rel=1e-12)
        flight = run.at(np.linspace(o.t, after.t, 7)[:-1])
        y, t = flight["Y + h"], flight.t - o.t
        assert y[0] + flight["Y.dot + h.dot"][0] * t - G * t**2 / 2 == pytest.approx(y, abs=1e-10)
    assert run.integrals.relative_drift < 1e-9


# ---- several speeds ------------------------------------------------------------------------------

L1, L2, M1, M2 = 1.0, 0.7, 1.5, 0.8


def double_pendulum():
    s = da.System("Double pendulum", gravity=G)
    a, b = s.coordinates("a b")
    A, B = s.N.rotated(a, s.N.z), s.N.rotated(b, s.N.z)
    P = s.O.offset(-L1 * A.y)
    s.particle("upper", M1, P)
    s.particle("lower", M2, P.offset(-L2 * B.y))
    return s


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_a_double_pendulum_against_a_stop(e):
    """Δq̇ = 𝓜⁻¹Jᵀ Λ, Λ = −(1 + ε) φ̇ / (J 𝓜⁻¹ Jᵀ), ΔT = −½ (1 − ε²) φ̇² / (J 𝓜⁻¹ Jᵀ), with 𝓜 and
    J from a book.
    """
    stop = da.impact(f"2/5 - {L1}*sin(a) - {L2}*sin(b)", e, name="wall")
    run = da.simulate(
        double_pendulum(),
        1.5,
        start={"a": -0.9, "b": -0.4},
        events=[stop, da.event("a", name="passes")],
    )
    o = bounces(run, "wall")[0]
    a, b = o.before["a"], o.before["b"]
    u = np.array([o.before["a.dot"], o.before["b.dot"]])
    c = M2 * L1 * L2 * math.cos(a - b)
    M = np.array([[(M1 + M2) * L1**2, c], [c, M2 * L2**2]])
    J = -np.array([L1 * math.cos(a), L2 * math.cos(b)])
    rate, mobility = J @ u, J @ np.linalg.solve(M, J)
    assert rate < -0.1
    impulse = -(1 + e) * rate / mobility
    expected = u + np.linalg.solve(M, J) * impulse
    assert expected == pytest.approx([o.after["a.dot"], o.after["b.dot"]], rel=1e-11, abs=1e-12)
    assert impulse == pytest.approx(o.impulse, rel=1e-11)
    assert -0.5 * (1 - e**2) * rate**2 / mobility == pytest.approx(o.energy, rel=1e-9, abs=1e-10)
    assert abs(0.4 - L1 * math.sin(a) - L2 * math.sin(b)) < 1e-13
    assert run.energy_drift < 1e-8


def cartesian():
    """The pendulum in x and y, its rod a constraint."""
    s = da.System("Pendulum in x, y", gravity=G)
    x, y = s.coordinates("x y")
    s.particle("bob", 1.3, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, name="rod")
    return s


def angular():
    s = da.System("Pendulum", gravity=G)
    theta = s.coordinate("theta")
    B = s.N.rotated(theta, s.N.z)
    s.particle("bob", 1.3, s.O.offset(-1 * B.y))
    return s


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_constraints_take_part_in_an_impact(e):
    """The same wall hit by the same pendulum in x and y with its rod as a row, and in its angle."""
    accuracy = {"rtol": 1e-12, "atol": 1e-12}
    with_row = da.simulate(
        cartesian(),
        3.0,
        start={"x": -0.6, "y": -0.8},
        events=[da.impact("1/2 - x", e, name="wall")],
        **accuracy,
    )
    free = da.simulate(
        angular(),
        3.0,
        start={"theta": math.asin(-0.6)},
        events=[da.impact("1/2 - sin(theta)", e, name="wall")],
        **accuracy,
    )
    assert 2 <= len(free.events)
    assert [o.t for o in free.events] == pytest.approx([o.t for o in with_row.events], abs=1e-9)
    assert [o.energy for o in free.events] == pytest.approx(
        [o.energy for o in with_row.events], rel=1e-8, abs=1e-9
    )
    # Λ is the impulse along x: the same in both, for the gap is the same distance
    assert [o.impulse for o in free.events] == pytest.approx(
        [o.impulse for o in with_row.events], rel=1e-8
    )
    assert with_row.worst_residual < 1e-10
    assert with_row.energy_drift < 1e-9


@pytest.mark.parametrize("e", [0.0, 0.6])
def test_a_sleigh_that_cannot_slip_hits_a_wall(e):
    """Rows that were eliminated: 𝓜 Δq̇ = Aᵀλ̂ + Jᵀ Λ, A Δq̇ = 0, J Δq̇ = −(1 + ε) φ̇ in all three
    coordinates by hand.

    What meets the wall is the mass centre, a ahead of the edge, φ = d − x − a cos ϕ.
    """
    s, m, inertia, a = gallery.build("chaplygin-sleigh"), 1.0, 0.5, 0.3
    wall = da.impact("1/2 - x - 3/10*cos(phi)", e, name="wall")
    start = {"v": 1.0, "omega": 0.8, "phi": 0.2}
    free = da.simulate(s, 1.0, start=start, events=[da.event("1/2 - x - 3/10*cos(phi)", stop=True)])
    run = da.simulate(s, free.t[-1] + 1e-3, start=start, events=[wall])
    (o,) = run.events
    before, after = np.flatnonzero(run.t == o.t)
    phi, qdot = o.before["phi"], run.qdot[before]
    c, si = math.cos(phi), math.sin(phi)
    M = np.array(
        [[m, 0, -m * a * si], [0, m, m * a * c], [-m * a * si, m * a * c, inertia + m * a**2]]
    )
    A, J = np.array([-si, c, 0]), np.array([-1.0, 0.0, a * si])
    K = np.block(
        [[M, -A[:, None], -J[:, None]], [A[None], np.zeros((1, 2))], [J[None], np.zeros((1, 2))]]
    )
    given = np.array([0, 0, 0, 0, -(1 + e) * (J @ qdot)])
    solved = np.linalg.solve(K, given)
    assert J @ qdot < -0.1
    assert abs(A @ qdot) < 1e-14
    assert qdot + solved[:3] == pytest.approx(run.qdot[after], abs=1e-12)
    assert solved[-1] == pytest.approx(o.impulse, rel=1e-12)
    # the energy lost, in the formula for the direction that the edge leaves
    B = np.linalg.solve(M, np.column_stack([A, J]))
    mobility = J @ B[:, 1] - (A @ B[:, 1]) ** 2 / (A @ B[:, 0])
    assert -0.5 * (1 - e**2) * (J @ qdot) ** 2 / mobility == pytest.approx(o.energy, rel=1e-10)


def test_two_obstacles_at_once():
    """Into a corner: both gaps close at the same time, and both velocities turn round."""
    s = da.System("Corner")
    x, y = s.coordinates("x y")
    s.particle("ball", 1, s.O.offset(x * s.N.x + y * s.N.y))
    run = da.simulate(
        s,
        2.0,
        start={x: 1, y: 1, x.dot: -1, y.dot: -1},
        events=[da.impact(x, 1.0), da.impact(y, 0.5)],
    )
    assert ["x", "y"] == [o.name for o in run.events]
    assert [1.0, 1.0] == pytest.approx([o.t for o in run.events], abs=1e-14)
    assert [1.0, 0.5] == pytest.approx([run["x"][-1], run["y"][-1]], abs=1e-12)
    assert run.energy_drift < 1e-14


# ---- without end, and what is refused ------------------------------------------------------------


@pytest.mark.parametrize(("e", "limit"), [(0.5, 3.0), (0.8, 9.0)])
def test_bounces_that_accumulate_stop_the_run(e, limit):
    """t∞ = t₁ (1 + ε)/(1 − ε)"""
    with pytest.raises(EndlessEvents, match="fires ever more often") as stopped:
        da.simulate(ball(), 20.0, start={"y": 1.0}, events=[da.impact("y", e, name="floor")])
    end = math.sqrt(2 / G) * limit
    assert f"t = {end:.6g}"[:8] in str(stopped.value)
    assert end == pytest.approx(stopped.value.time, abs=1e-4)
    assert 10 < len(stopped.value.trajectory.events)
    assert "'floor'" in str(stopped.value)


@pytest.mark.parametrize("start", [{"y": 1.0}, {"y": 0.0}])
def test_a_contact_that_lasts_stops_the_run(start):
    with pytest.raises(EndlessEvents, match="again and again"):
        da.simulate(ball(), 2.0, start=start, events=[da.impact("y", 0.0)])


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (lambda: da.impact("y", 1.5), "between 0"),
        (lambda: da.impact("y", -0.1), "between 0"),
        (lambda: da.impact("y", "y"), "no constant"),
        (lambda: da.impact("y", "eps"), "unknown name"),
        (lambda: da.impact("y", float("nan")), "not a finite number"),
        (lambda: da.impact("y.dot", 0.5), "contains a velocity"),
        (lambda: da.impact("t - 1", 0.5), "no speed changes this gap"),
        (lambda: da.impact("y - 2", 0.5), "already closed"),
    ],
)
def test_impacts_that_cannot_be(event, message):
    with pytest.raises(BadEvent, match=message):
        da.simulate(ball(), 1.0, start={"y": 1.0}, events=[event()])


def test_restitution_may_be_a_constant_of_the_system():
    s = da.System("Ball", gravity=G)
    y = s.coordinate("y")
    m, e = s.constants(m=2, e=0.25)
    s.particle("ball", m * (1 + e), s.O.offset(y * s.N.y))
    for restitution in (e, "e"):
        run = da.simulate(
            s, 0.6, start={y: 1.0}, values={"e": 0.5}, events=[da.impact(y, restitution)]
        )
        assert 0.5 == pytest.approx(
            -run.events[0].after["y.dot"] / run.events[0].before["y.dot"], rel=1e-13
        )


def test_an_impact_where_the_run_ends_is_in_the_run():
    s = da.System("Ball that is caught after it hits", gravity=9.81)
    s.particle("ball", 1, s.O.offset(s.coordinate("y") * s.N.y))
    both = [
        da.impact("y", 0.8, name="hit"),
        da.event("y", direction="down", stop=True, name="caught"),
    ]
    run = da.simulate(s, 2, start={"y": 1.0}, events=both)
    assert ["hit", "caught"] == [o.name for o in run.events]
    assert "caught" in run.solution.message
    assert run.events[0].after["y.dot"] == run["y.dot"][-1] == run.events[1].before["y.dot"]
    assert pytest.approx(0.8 * (2 * 9.81) ** 0.5) == run["y.dot"][-1]
    assert np.abs(run.energy_change).max() < 1e-13
