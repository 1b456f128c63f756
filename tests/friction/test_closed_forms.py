"""What sticks, slips, lifts and lands, against what books say in closed form."""

import math

import numpy as np
import pytest

import dalembert as da

FINE = {"rtol": 1e-12, "atol": 1e-12}
G = 9.81


def times(run, name, action):
    return np.array([e.t for e in run.events if e.name == name and e.action.startswith(action)])


# ---- a block on a belt ---------------------------------------------------------------------------


def belt():
    s = da.System("block on a belt", gravity=G)
    x = s.coordinate("x")
    m, k, v = s.constants(m=2, k=50, v=0.3)
    P = s.O.offset(x * s.N.x)
    s.particle("block", m, P)
    s.spring(k, P, s.O)
    s.friction(x.dot - v, 0.2, static=0.5, normal=m * G, name="belt")
    return s


def test_block_on_a_belt_has_the_period_and_amplitude_of_the_closed_form():
    run = da.simulate(belt(), 20, start={"x.dot": 0.3}, **FINE)
    omega, D, v = 5.0, 0.3 * 2 * G / 50, 0.3
    period = 2 * D / v + 2 / omega * (math.pi - math.atan(omega * D / v))
    lets_go = times(run, "belt", "slips")
    assert len(lets_go) > 10
    np.testing.assert_allclose(np.diff(lets_go), period, rtol=0, atol=1e-9)
    # in slip it swings about the equilibrium under kinetic friction
    middle, amplitude = 0.2 * 2 * G / 50, math.hypot(D, v / omega)
    slipping = run.at(lets_go[0] + np.linspace(0, period, 4001))
    assert min(slipping["x"]) == pytest.approx(middle - amplitude, abs=1e-7)
    np.testing.assert_allclose(
        [e.after["x"] for e in run.events if e.action == "sticks"], middle - D, rtol=0, atol=1e-9
    )
    assert run.integrals.relative_drift < 1e-11


@pytest.mark.slow
def test_ten_thousand_periods_of_a_block_on_a_belt_do_not_drift():
    omega, D, v = 5.0, 0.3 * 2 * G / 50, 0.3
    period = 2 * D / v + 2 / omega * (math.pi - math.atan(omega * D / v))
    run = da.simulate(belt(), 10_001 * period, start={"x.dot": 0.3}, **FINE)
    lets_go = times(run, "belt", "slips")
    assert len(lets_go) >= 10_000
    np.testing.assert_allclose(np.diff(lets_go)[-100:], period, rtol=0, atol=1e-9)
    assert (lets_go[-1] - lets_go[0]) / (len(lets_go) - 1) == pytest.approx(period, abs=1e-12)
    assert run.integrals.relative_drift < 1e-9


def test_the_energy_is_accounted_for_through_a_thousand_switches():
    run = da.simulate(belt(), 805, start={"x.dot": 0.3}, **FINE)
    assert len(run.events) >= 1000
    assert run.integrals.relative_drift < 1e-9


# ---- a ball that bounces to rest -----------------------------------------------------------------


def ball(e, law="newton"):
    s = da.System("ball", gravity=G)
    x, y = s.coordinates("x y")
    m = s.constant("m", 2)
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("ball", m, P)
    s.contact(P, restitution=e, law=law, name="floor")
    return s


@pytest.mark.parametrize(("e", "law"), [(0.5, "newton"), (0.9, "poisson")])
def test_ball_comes_to_rest_at_the_limit_of_its_bounces(e, law):
    run = da.simulate(ball(e, law), 12, start={"y": 1.0, "x.dot": 0.1}, **FINE)
    (rest,) = times(run, "floor", "rests")
    assert rest == pytest.approx(math.sqrt(2 / G) * (1 + e) / (1 - e), abs=1e-9)
    assert run["N_floor"][-1] == pytest.approx(2 * G, abs=1e-12)
    assert run.modes["floor"][-1] == "closed"
    assert run["x"][-1] == pytest.approx(1.2, abs=1e-12)
    assert run.integrals.relative_drift < 1e-12


def test_ball_without_restitution_stays_where_it_lands():
    run = da.simulate(ball(0), 1, start={"y": 1.0}, **FINE)
    assert [e.action for e in run.events] == ["impact", "closed"]
    assert run.events[0].t == pytest.approx(math.sqrt(2 / G), abs=1e-12)
    assert run.events[0].impulse == pytest.approx(2 * math.sqrt(2 * G), abs=1e-12)
    assert run.integrals.taken_by_events[-1] == pytest.approx(2 * G, abs=1e-10)


# ---- sliding to rolling --------------------------------------------------------------------------


def rolling(kind, free=True):
    s = da.System(kind, gravity=G)
    names = s.coordinates("x y theta") if free else (*s.coordinates("x theta"),)
    x, theta = names[0], names[-1]
    m, r, mu = s.constants(m=1.5, r=0.3, mu=0.2)
    B = s.N.rotated(theta, s.N.z)
    C = s.O.offset(x * s.N.x + (names[1] if free else r) * s.N.y)
    body = s.sphere(kind, C, B, m, r) if kind == "sphere" else s.disk(kind, C, B, m, r, B.z)
    if free:
        s.contact(C, radius=r, on=body, friction=mu, name="ground")
    else:
        s.roll(body, C.offset(-r * s.N.y), "ground", along="x", friction=mu, normal=m * G)
    return s


@pytest.mark.parametrize(
    ("kind", "beta", "free"),
    [("sphere", 2 / 5, True), ("disk", 1 / 2, True), ("sphere", 2 / 5, False)],
)
def test_sliding_ends_in_rolling_at_the_time_and_speed_of_the_closed_form(kind, beta, free):
    v0, mu, r = 2.0, 0.2, 0.3
    run = da.simulate(
        rolling(kind, free), 2, start={"x.dot": v0} | ({"y": r} if free else {}), **FINE
    )
    (grip,) = times(run, "ground", "sticks")
    # sphere: 2 v₀/(7 μ g), 5/7 v₀
    assert grip == pytest.approx(v0 * beta / (1 + beta) / (mu * G), abs=1e-10)
    assert run["x.dot"][-1] == pytest.approx(v0 / (1 + beta), abs=1e-10)
    assert run["theta.dot"][-1] == pytest.approx(-v0 / (1 + beta) / r, abs=1e-10)
    assert run.modes["ground"][-1] == "sticks"
    assert run.integrals.relative_drift < 1e-12


# ---- a ladder leaves the wall --------------------------------------------------------------------


def ladder():
    s = da.System("ladder", gravity=G)
    x, y, theta = s.coordinates("x y theta")
    m, L = s.constants(m=1, L=2)
    B = s.N.rotated(theta, s.N.z)
    C = s.O.offset(x * s.N.x + y * s.N.y)
    s.body("ladder", m, C, B, da.rod_inertia(B.x, m, L))
    s.contact(C.offset(L / 2 * B.x, "foot", B), name="floor")
    s.contact(C.offset(-L / 2 * B.x, "head", B), s.N.x, name="wall")
    return s


def test_ladder_leaves_the_wall_at_two_thirds_of_its_height():
    angle = math.radians(80)
    run = da.simulate(
        ladder(), 1.2, start={"theta": -angle, "x": math.cos(angle), "y": math.sin(angle)}, **FINE
    )
    (left,) = [e for e in run.events if e.name == "wall"]
    assert left.action == "lifts off"
    assert math.sin(-left.before["theta"]) == pytest.approx(2 / 3 * math.sin(angle), abs=1e-10)
    assert run.modes["floor"][-1] == "closed"


# ---- a pendulum with friction in its pin ---------------------------------------------------------


def test_pendulum_with_dry_friction_stops_at_the_turning_point_of_the_closed_form():
    s = da.System("pendulum", gravity=G)
    theta = s.coordinate("theta")
    m, L, c = s.constants(m=1, L=1, c=0.8)
    B = s.N.rotated(theta, s.N.z)
    s.particle("bob", m, s.O.offset(-L * B.y))
    s.friction(theta.dot, 1, normal=c, name="pin")
    run = da.simulate(s, 20, start={"theta": 1.0}, **FINE)
    # between turning points m g L (cos b − cos a) = c (a − b) with the signs of the swing, until c
    # holds it
    a, turns = 1.0, []
    while m_g_L(a) > 0.8:
        low, high = -a, a - 1e-9
        for _ in range(200):
            b = (low + high) / 2
            low, high = (
                (b, high) if G * (math.cos(b) - math.cos(a)) - 0.8 * (a - b) < 0 else (low, b)
            )
        turns.append(b)
        a = abs(b) if b < 0 else 0.0
    assert len(turns) > 2
    signs = [(-1) ** k for k in range(len(turns))]
    stops = [e.before["theta"] for e in run.events]
    np.testing.assert_allclose(
        stops, [sign * b for sign, b in zip(signs, turns, strict=True)], rtol=0, atol=1e-9
    )
    assert run.modes["pin"][-1] == "sticks"
    assert run["theta"][-1] == pytest.approx(stops[-1], abs=1e-12)


def m_g_L(a):
    return G * math.sin(a)


def test_native_tanh_is_finite_for_every_argument():
    s = da.System("smoothed friction")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("block", 1, P)
    s.force(-da.tanh(10**6 * x.dot) * s.N.x, at=P)
    udot = da.compile(s)
    for v in (1e300, 1e3, 1e-4, 1e-9, 0.0, -1e-9, -1e300):
        assert udot([0.0], [v])[0] == pytest.approx(-math.tanh(1e6 * v), rel=1e-15, abs=0)


@pytest.mark.parametrize("Y", [0.2, 0.35, 0.4])
@pytest.mark.parametrize("options", [{}, {"rtol": 1e-11, "atol": 1e-11}])
def test_two_masses_on_a_spring_jump_where_it_pulls_with_the_weight_of_the_lower(Y, options):
    g, k, L = 9.81, 500, 0.5
    s = da.System("jumper", gravity=g)
    low, high = s.coordinates("low high")
    P, Q = s.O.offset(low * s.N.y), s.O.offset(high * s.N.y)
    s.particle("lower", 1, P)
    s.particle("upper", 1, Q)
    s.potential(k / 2 * (high - low - L) ** 2)
    s.contact(P, name="ground")
    # high − L = −g/k + a cos ωt comes to g/k; the normal force is zero there but for rounding, from
    # either side
    omega, a = k**0.5, Y - L + g / k
    t = math.acos(2 * g / k / a) / omega
    run = da.simulate(s, 2, start={"high": Y}, **options)
    assert run.events[0].action == "lifts off"
    assert run.events[0].t == pytest.approx(t, abs=1e-10 if options else 1e-8)
    # the mass centre flies: v = −a ω sin ωt/2
    flight = run.at(t + 0.02)
    v, h = -a * omega * math.sin(omega * t) / 2, (L + g / k) / 2
    assert (flight["low"] + flight["high"])[0] / 2 == pytest.approx(
        h + v * 0.02 - g * 0.02**2 / 2, abs=1e-8
    )
    assert run["low"].min() > -1e-11
    assert run.integrals.relative_drift < 1e-8
