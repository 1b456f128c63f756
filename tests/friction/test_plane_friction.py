"""Friction in a plane: a round cone, slip along −v/|v|, and the passage to rest, in closed form."""

import math

import numpy as np
import pytest

import dalembert as da

FINE = {"rtol": 1e-12, "atol": 1e-13}
G = 9.81


def block(title, tilt=0.0, **contact):
    """A particle over a plane, with gravity tilted towards x."""
    s = da.System(title, gravity=G * math.cos(tilt), up="z")
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("block", 1, P)
    if tilt:
        s.force(G * math.sin(tilt) * s.N.x, P)
    s.contact(P, s.N.z, **contact)
    return s


def ball(mu, r=0.1, **contact):
    s = da.System("ball", gravity=G, up="z")
    C = s.free("x y z e0 e1 e2 e3")
    body = s.sphere("ball", C, C.frame, 1, r)
    s.contact(C, s.N.z, radius=r, on=body, friction=mu, name="floor", **contact)
    return s


def changes(run):
    return [(e.name, e.action) for e in run.events]


def test_a_ball_with_sidespin_keeps_the_direction_of_its_slip_and_grips_in_closed_form():
    mu, r, v, w = 0.3, 0.1, np.array([2.0, 0.5]), np.array([30.0, -12.0])
    slip = v + r * np.array([-w[1], w[0]])
    grips = 2 * math.hypot(*slip) / (7 * mu * G)
    start = {"z": r, "x.dot": v[0], "y.dot": v[1], "omega_e0x": w[0], "omega_e0y": w[1]}
    run = da.simulate(ball(mu), 1.0, start=start, **FINE)
    assert [("floor", "sticks")] == changes(run)
    assert run.events[0].t == pytest.approx(grips, abs=1e-12)
    a = -mu * G * slip / math.hypot(*slip)
    rolls = v + a * grips
    end = v * grips + a * grips**2 / 2 + rolls * (1 - grips)
    expected = [*end, *rolls]
    actual = [run[name][-1] for name in ("x", "y", "x.dot", "y.dot")]
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11)
    # it rolls without friction
    np.testing.assert_allclose([run["T1_floor"][-1], run["T2_floor"][-1]], 0, atol=1e-12)
    early = run.at(0.3)
    np.testing.assert_allclose([early["T1_floor"][0], early["T2_floor"][0]], a, rtol=1e-11)


@pytest.mark.parametrize("tilt", [0.0, 0.05, 0.2, 0.28])
def test_a_block_thrown_on_a_belt_sticks_in_closed_form(tilt):
    mu, v = 0.3, np.array([-1.0, -0.9])
    kappa, c = mu * G * math.cos(tilt), np.array([G * math.sin(tilt), 0.0])
    expected = (kappa * math.hypot(*v) + c @ v) / (kappa**2 - c @ c)
    s = block("belt", tilt, friction=mu, speed=(0, 1.2), name="belt")
    run = da.simulate(s, expected + 0.5, start={"x.dot": -1.0, "y.dot": 0.3}, **FINE)
    assert [("belt", "sticks")] == changes(run)
    assert run.events[0].t == pytest.approx(expected, abs=1e-11)
    np.testing.assert_allclose([run["x.dot"][-1], run["y.dot"][-1]], [0, 1.2], atol=1e-12)


def test_slip_that_turns_round_does_not_stop():
    # κ < |c|: κ|v| + c·v grows at the rate c² − κ², whatever the direction
    mu, tilt = 0.1, 0.15
    kappa, c = mu * G * math.cos(tilt), G * math.sin(tilt)
    s = block("incline", tilt, friction=mu, name="plane")
    run = da.simulate(s, 3.0, start={"x.dot": -1.0, "y.dot": 1e-3}, **FINE)
    assert [] == changes(run)
    vx, vy = run["x.dot"], run["y.dot"]
    invariant = kappa * np.hypot(vx, vy) + c * vx - (c * c - kappa**2) * run.t
    np.testing.assert_allclose(invariant, invariant[0], rtol=0, atol=1e-10)


def turntable(static):
    s = da.System("turntable", gravity=G, up="z")
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("block", 1, P)
    spin = 2 * s.t
    s.contact(P, s.N.z, friction=0.3, static=static, speed=(-spin * y, spin * x), name="table")
    return s


def lets_go(static, alpha=2.0, r=0.4):
    return ((static * G / (alpha * r)) ** 2 - 1) ** 0.25 / math.sqrt(alpha)


# 0.5 s after it lets go, integrated with 34 digits by `turntable_reference`
PATH = (-0.116031656650120286772, -0.655239508209203570180, 1.27399188814958470032, -1.25748035948141525988)  # fmt: skip  # noqa: E501


def test_a_block_on_a_turntable_lets_go_in_closed_form_and_follows_the_path_of_34_digits():
    run = da.simulate(turntable(0.5), lets_go(0.5) + 0.5, start={"x": 0.4}, **FINE)
    assert [("table", "slips")] == changes(run)
    assert run.events[0].t == pytest.approx(lets_go(0.5), abs=1e-13)
    actual = [run[name][-1] for name in ("x", "y", "x.dot", "y.dot")]
    np.testing.assert_allclose(actual, PATH, rtol=0, atol=1e-12)


def test_slip_begins_slowly_where_static_and_kinetic_friction_are_equal():
    run = da.simulate(turntable(0.3), 2.0, start={"x": 0.4}, **FINE)
    assert [("table", "slips")] == changes(run)
    assert run.events[0].t == pytest.approx(lets_go(0.3), abs=1e-11)
    x, y, spin = run["x"], run["y"], 2 * run.t
    slip = np.hypot(run["x.dot"] + spin * y, run["y.dot"] - spin * x)
    after = run.t > lets_go(0.3) + 0.01
    assert (np.diff(slip[after]) > 0).all()
    # the friction is μ N in slip
    T = np.hypot(run["T1_table"], run["T2_table"])
    np.testing.assert_allclose(T[after], 0.3 * G, rtol=1e-12)


@pytest.mark.slow
def test_the_path_after_the_turntable_is_that_of_a_high_order_integration():
    np.testing.assert_allclose([float(x) for x in turntable_reference()], PATH, rtol=0, atol=1e-18)


def turntable_reference():
    """Gragg's method with extrapolation in logarithmic time, from slip along −a of the table."""
    import mpmath as mp

    with mp.workdps(34):
        static, mu, g, a, R, t = map(mp.mpf, ("0.5", "0.3", "9.81", "2", "0.4", "0.5"))
        t0 = ((static * g / (a * R)) ** 2 - 1) ** mp.mpf("0.25") / mp.sqrt(a)
        angle, spin = a * t0 * t0 / 2, a * t0
        x, y = R * mp.cos(angle), R * mp.sin(angle)
        ax, ay = -a * y - spin**2 * x, a * x - spin**2 * y
        size = mp.hypot(ax, ay)

        def rates(sigma, state):
            tau = mp.exp(sigma)
            x, y, vx, vy = state
            sx, sy = vx + a * (t0 + tau) * y, vy - a * (t0 + tau) * x
            s = mp.hypot(sx, sy)
            return [tau * vx, tau * vy, -tau * mu * g * sx / s, -tau * mu * g * sy / s]

        tau = mp.mpf(10) ** -17
        vx, vy = -spin * y, spin * x
        state = [x + vx * tau, y + vy * tau, vx + mu * g * ax / size * tau, vy + mu * g * ay / size * tau]  # fmt: skip  # noqa: E501
        sigma, steps = mp.log(tau), 200
        h = (mp.log(t) - sigma) / steps
        for k in range(steps):
            state = extrapolated(rates, state, sigma + k * h, h)
        return state


def extrapolated(f, y, t, H, levels=12):
    """One step of Gragg's modified midpoint method, extrapolated in h²."""
    rows = []
    for k in range(1, levels + 1):
        h, a = H / (2 * k), y
        b = [p + h * q for p, q in zip(y, f(t, y), strict=True)]
        for i in range(1, 2 * k):
            a, b = b, [p + 2 * h * q for p, q in zip(a, f(t + i * h, b), strict=True)]
        row = [[(p + q + h * r) / 2 for p, q, r in zip(a, b, f(t + H, b), strict=True)]]
        for j in range(1, k):
            weight = (h * 0 + k) ** 2 / (k - j) ** 2 - 1
            row.append(
                [p + (p - q) / weight for p, q in zip(row[j - 1], rows[-1][j - 1], strict=True)]
            )
        rows.append(row)
    return rows[-1][-1]


def test_a_tippe_top_turns_over_and_keeps_jelletts_integral():
    m, R = 0.02, 0.02
    a, A, C = 0.3 * R, 131 / 350 * m * R * R, 2 / 5 * m * R * R
    s = da.System("tippe top", gravity=G, up="z")
    mass_centre = s.free("x y z e0 e1 e2 e3")
    B = mass_centre.frame
    top = s.body("top", m, mass_centre, B, da.inertia(B, A, A, C))
    s.contact(
        mass_centre.offset(a * B.z, "centre"), s.N.z, radius=R, on=top, friction=0.3, name="floor"
    )
    tilt, spin = 0.1, 150.0
    run = da.simulate(
        s,
        1.5,
        start={
            "z": R - a * math.cos(tilt),
            "e0": math.cos(tilt / 2),
            "e1": math.sin(tilt / 2),
            "omega_e0x": 0,
            "omega_e0y": spin * math.sin(tilt),
            "omega_e0z": spin * math.cos(tilt),
        },
    )
    e0, e1, e2, e3 = (run[name] for name in ("e0", "e1", "e2", "e3"))
    vertical = np.array(
        [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), e0**2 - e1**2 - e2**2 + e3**2]
    )
    assert vertical[2, 0] > 0.99
    assert vertical[2].min() < -0.9
    L = np.array([A * run["omega_e0x"], A * run["omega_e0y"], C * run["omega_e0z"]])
    to_contact = -R * vertical
    to_contact[2] += a
    jellett = (L * to_contact).sum(axis=0)
    np.testing.assert_allclose(jellett, jellett[0], rtol=1e-9)


def test_a_capsule_between_two_pads_does_not_creep():
    for force in (12.0, 60.0):
        s = da.System("grip", gravity=G, up="z")
        u, x, y, z = s.coordinates("u x y z")
        P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
        s.particle("capsule", 0.045, P)
        pad = s.particle("pad", 0.3, s.O.offset(u * s.N.x, "Q"))
        s.force(-force * s.N.x, pad.G)
        plane = (s.N.y, s.N.z)
        s.contact(P, s.N.x, friction=0.7, along=plane, name="fixed")
        s.contact(P, -s.N.x, through=pad.G, against=pad, friction=0.7, along=plane, name="pressed")
        with pytest.warns(da.DalembertWarning, match="stay below"):
            run = da.simulate(s, 100.0)
        assert {"fixed": "sticks", "pressed": "sticks"} == {k: v[-1] for k, v in run.modes.items()}
        assert max(np.abs(run[name]).max() for name in "xyz") < 1e-12
        carried = run["T2_fixed"][-1] + run["T2_pressed"][-1]
        assert carried == pytest.approx(0.045 * G, rel=1e-12)


def test_two_contacts_of_one_body_come_to_rest_together():
    s = da.System("between pads", gravity=0)
    u, x, y, z = s.coordinates("u x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("capsule", 0.045, P)
    pad = s.particle("pad", 0.3, s.O.offset(u * s.N.x, "Q"))
    s.force(-1.0 * s.N.x, pad.G)
    plane = (s.N.y, s.N.z)
    s.contact(P, s.N.x, friction=0.7, along=plane, name="fixed")
    s.contact(P, -s.N.x, through=pad.G, against=pad, friction=0.7, along=plane, name="pressed")
    run = da.simulate(s, 0.3, start={"y.dot": 1.0, "z.dot": 2.0})
    assert [("fixed", "sticks"), ("pressed", "sticks")] == changes(run)
    assert run.events[0].t == pytest.approx(math.sqrt(5) * 0.045 / 1.4, abs=1e-12)


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("mu", [0.1, 2.0])
def test_a_ball_that_lands_with_slip_gets_the_impulse_of_friction_in_its_direction(law, mu):
    run = da.simulate(
        ball(mu, restitution=0.5, law=law), 0.15, start={"z": 0.15, "x.dot": 1.0, "y.dot": 2.0}
    )
    hit, down = run.events[0], math.sqrt(2 * G * 0.05)
    expected = -np.array([1.0, 2.0]) * min(1.5 * mu * down / math.sqrt(5), 2 / 7)
    actual = [hit.after[name] - hit.before[name] for name in ("x.dot", "y.dot")]
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11)
    assert hit.after["z.dot"] == pytest.approx(0.5 * down, abs=1e-11)


def test_friction_acts_in_the_expansion_of_poissons_law_along_one_direction_too():
    s = da.System("disk", gravity=G)
    x, y, angle = s.coordinates("x y angle")
    C, B = s.O.offset(x * s.N.x + y * s.N.y, "C"), s.N.rotated(angle, s.N.z)
    disk = s.disk("disk", C, B, 1, 0.1, B.z)
    s.contact(C, radius=0.1, on=disk, friction=0.1, restitution=0.5, law="poisson", name="floor")
    run = da.simulate(s, 0.15, start={"y": 0.15, "x.dot": 2.0})
    hit = run.events[0]
    expected = -0.1 * 1.5 * math.sqrt(2 * G * 0.05)
    assert hit.after["x.dot"] - hit.before["x.dot"] == pytest.approx(expected, abs=1e-11)


def test_a_puck_has_friction_in_a_plane_and_a_torque_of_spin_with_its_own_cone():
    s = da.System("puck")
    x, y, angle = s.coordinates("x y angle")
    C, B = s.O.offset(x * s.N.x + y * s.N.y, "C"), s.N.rotated(angle, s.N.z)
    s.disk("puck", C, B, 2, 0.1, B.z)
    s.friction((x.dot, y.dot), 0.25, normal=2 * G, name="ice")
    s.friction(angle.dot, 0.02, normal=2 * G, name="spin")
    run = da.simulate(s, 4.0, start={"x.dot": 3.0, "y.dot": 4.0, "angle.dot": 10.0}, **FINE)
    stops = {e.name: e.t for e in run.events}
    assert stops["ice"] == pytest.approx(5 / (0.25 * G), abs=1e-12)
    assert stops["spin"] == pytest.approx(10 * 0.01 / (0.02 * 2 * G), abs=1e-12)
    way = 5**2 / (2 * 0.25 * G)
    np.testing.assert_allclose([run["x"][-1], run["y"][-1]], [0.6 * way, 0.8 * way], atol=1e-11)


def test_spin_and_rolling_resistance_of_a_ball_end_in_closed_form():
    r, rho, sigma = 0.1, 0.004, 0.003
    s = ball(0.5, r, spin=sigma, rolling=rho)
    v, spin = np.array([0.6, 0.8]), 5.0
    start = {
        "z": r, "x.dot": v[0], "y.dot": v[1],
        "omega_e0x": -v[1] / r, "omega_e0y": v[0] / r, "omega_e0z": spin,
    }  # fmt: skip
    run = da.simulate(s, 4.0, start=start, **FINE)
    stops = {e.name: e.t for e in run.events if e.action == "sticks"}
    assert stops["floor, spin"] == pytest.approx(0.4 * r * r * spin / (sigma * G), abs=1e-9)
    assert stops["floor, rolling"] == pytest.approx(1.0 / (5 / 7 * rho * G / r), abs=1e-9)


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda s, P: s.contact(P, s.N.z, friction=0.1, along=(s.N.x, s.N.x)), "right angles"),
        (lambda s, P: s.contact(P, s.N.z, friction=0.1, along=(s.N.x,)), "has 1 vectors"),
        (lambda s, P: s.contact(P, s.N.z, friction=0.1, speed=(1, 2, 3)), "has 3 components"),
        (lambda s, P: s.contact(P, s.N.z, friction=0.1, two_sided=True), "along one direction"),
        (lambda s, P: s.contact(P, s.N.z, friction=0.1, spin=0.1), "name it, on="),
        (
            lambda s, P: s.contact(P, (s.N.x + s.N.z) / da.sqrt(2), friction=0.1),
            r"along=\(t1, t2\)",
        ),
    ],
)
def test_what_friction_in_a_plane_cannot_be_is_refused(declare, message):
    s = da.System("s", gravity=G, up="z")
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("P", 1, P)
    with pytest.raises(da.BadDescription, match=message):
        declare(s, P)


def test_a_saved_system_with_friction_in_a_plane_is_loaded_again(tmp_path):
    s = da.System("Block")
    s.gravity(-9.81 * s.N.z)
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("block", 1, P)
    s.contact(P, s.N.z, friction=0.3, name="floor")
    s.save(tmp_path / "block.toml")
    start = {"x.dot": 1.0, "y.dot": 0.5}
    runs = [da.simulate(each, 1, start=start) for each in (s, da.load(tmp_path / "block.toml"))]
    # |v|²/(2 μ g) along the velocity
    assert 1.25**0.5 / (2 * 0.3 * 9.81) == pytest.approx(runs[0]["x"][-1], rel=1e-12)
    assert runs[0]["x"][-1] == runs[1]["x"][-1]


def test_three_feet_of_a_free_body_stop_together():
    """Without rotation the sled slides v²/(2 μ g), whatever its feet are."""
    s = da.System("Sled")
    s.gravity(-9.81 * s.N.z)
    x, y, z = s.coordinates("x y z")
    G = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z)
    B = s.N.rotations("zyx", *s.coordinates("yaw pitch roll"))[-1]
    s.body("sled", 2, G, B, da.inertia(B, 0.1, 0.1, 0.2))
    for k in range(3):
        a = 2 * math.pi * k / 3
        foot = G.offset(0.3 * math.cos(a) * B.x + 0.3 * math.sin(a) * B.y)
        s.contact(foot, s.N.z, friction=0.2, name=f"foot {k}")
    run = da.simulate(s, 1, start={"x.dot": 1.0})
    assert 1 / (2 * 0.2 * 9.81) == pytest.approx(run["x"][-1], rel=1e-12)
    assert [1 / (0.2 * 9.81)] * 3 == pytest.approx([e.t for e in run.events], rel=1e-9)
    assert 0.0 == pytest.approx(run["yaw"][-1], abs=1e-12)
