"""Sensitivities through friction in a plane: closed forms, an invariant, and differences."""

import numpy as np
import pytest

import dalembert as da

FINE = {"rtol": 1e-11, "atol": 1e-12}
FINEST = {"rtol": 1e-13, "atol": 1e-14}
G, TINY = 9.81, 1e-30


def ball(law="newton", r=0.1):
    s = da.System("ball", gravity=G, up="z")
    mu, e = s.constants("mu e")
    C = s.free("x y z e0 e1 e2 e3")
    body = s.sphere("ball", C, C.frame, 1, r)
    s.contact(C, s.N.z, radius=r, on=body, friction=mu, restitution=e, law=law, name="floor")
    return s


def block(force=None, static=1.0, mass=1.0, **contact):
    """A particle on a plane with the constants μ and f."""
    s = da.System("block", gravity=G, up="z")
    x, y, z = s.coordinates("x y z")
    mu, f = s.constants("mu f")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("block", mass, P)
    if force is not None:
        s.force(force(s, f), P)
    speed = contact.pop("speed", None)
    if speed is not None:
        contact["speed"] = speed(s, x, y, f)
    s.contact(P, s.N.z, friction=mu, static=static * mu, name="plane", **contact)
    return s


def rolling_ball(mu, vx, wx, end, r=0.1):
    """x, y, ẋ, ẏ after it grips, and when it does; numbers may be complex."""
    v, w = np.array([vx, 0.5 + 0j]), np.array([wx, -12.0 + 0j])
    slip = v + r * np.array([-w[1], w[0]])
    a = -mu * G * slip / np.sqrt(slip @ slip)
    grips = 2 * np.sqrt(slip @ slip) / (7 * mu * G)
    rolls = v + a * grips
    return np.array([*(v * grips + a * grips**2 / 2 + rolls * (end - grips)), *rolls, grips])


def test_a_ball_that_grips_has_the_derivatives_of_its_closed_form():
    given = {"mu": 0.3, "x.dot": 2.0, "omega_e0x": 30.0}
    run = da.simulate(
        ball(), 0.6, values={"mu": 0.3, "e": 0},
        start={"z": 0.1, "x.dot": 2.0, "y.dot": 0.5, "omega_e0x": 30.0, "omega_e0y": -12.0},
        sensitivities=list(given), **FINE,
    )  # fmt: skip
    for i, name in enumerate(given):
        moved = [complex(v, TINY * (j == i)) for j, v in enumerate(given.values())]
        expected = rolling_ball(*moved, 0.6).imag / TINY
        actual = [run.sensitivity(x, name)[-1] for x in ("x", "y", "x.dot", "y.dot")]
        actual.append(run.sensitivities.event_times("floor", name)[-1])
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-7 * abs(expected).max())


@pytest.mark.parametrize("mass", [1.0, 1e6])
def test_the_end_of_slip_on_a_slope_moves_as_its_closed_form(mass):
    s = block(lambda s, f: mass * f * s.N.x, mass=mass)
    given = {"mu": 0.3, "f": 1.5, "x.dot": -1.0, "y.dot": 0.4}
    run = da.simulate(
        s, 0.5, values={"mu": 0.3, "f": 1.5}, start={"x.dot": -1.0, "y.dot": 0.4},
        sensitivities=list(given), **FINE,
    )  # fmt: skip
    assert ["sticks"] == [e.action for e in run.events]
    for i, name in enumerate(given):
        mu, c, vx, vy = (complex(v, TINY * (j == i)) for j, v in enumerate(given.values()))
        stops = (mu * G * np.sqrt(vx**2 + vy**2) + c * vx) / ((mu * G) ** 2 - c**2)
        actual = run.sensitivities.event_times("plane", name)[-1]
        assert stops.imag / TINY == pytest.approx(actual, rel=1e-7)
        rests = [run.sensitivity(x, name)[-1] for x in ("x.dot", "y.dot")]
        np.testing.assert_allclose(rests, 0, atol=1e-9)


def test_slip_that_turns_round_keeps_the_derivative_of_its_invariant():
    # κ|v| + c·v − (c² − κ²) t is constant in slip
    given = {"mu": 0.1, "f": 1.5, "y.dot": 1e-3}
    run = da.simulate(
        block(lambda s, f: f * s.N.x), 2.0, values={"mu": 0.1, "f": 1.5},
        start={"x.dot": -1.0, "y.dot": 1e-3}, sensitivities=list(given), **FINE,
    )  # fmt: skip
    assert not run.events
    for i, name in enumerate(given):
        mu, c, _ = (complex(v, TINY * (j == i)) for j, v in enumerate(given.values()))
        vx, vy = (run[x] + 1j * TINY * run.sensitivity(x, name) for x in ("x.dot", "y.dot"))
        invariant = mu * G * np.sqrt(vx**2 + vy**2) + c * vx - (c**2 - (mu * G) ** 2) * run.t
        slopes = invariant.imag / TINY
        np.testing.assert_allclose(slopes, slopes[0], rtol=0, atol=1e-8 * abs(slopes).max())


def shaken():
    """Slips, sticks and slips again, along directions that turn."""
    s = block(lambda s, f: f * (da.sin(3 * s.t) * s.N.x + 0.6 * da.cos(2 * s.t) * s.N.y), 1.2)
    return s, {"mu": 0.3, "f": 4.0}, {}, 3.0


def turntable(static):
    s = block(static=static, speed=lambda s, x, y, f: (-f * s.t * y, f * s.t * x))
    return s, {"mu": 0.3, "f": 2.0}, {"x": 0.4}, 2.2 if static > 1 else 1.6


def bouncing(law, mu):
    spin = {"omega_e0x": 30.0, "omega_e0y": 20.0, "omega_e0z": 5.0}
    start = {"z": 0.5, "x.dot": 1.0, "y.dot": 0.7, **spin}
    return ball(law), {"mu": mu, "e": 0.7}, start, 1.2


def pads():
    """Two contacts of one body that come to rest together."""
    s = da.System("between pads", gravity=0)
    u, x, y, z = s.coordinates("u x y z")
    mu, f = s.constants("mu f")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("capsule", 0.045, P)
    pad = s.particle("pad", 0.3, s.O.offset(u * s.N.x, "Q"))
    s.force(-f * s.N.x, pad.G)
    plane = (s.N.y, s.N.z)
    s.contact(P, s.N.x, friction=mu, along=plane, name="fixed")
    s.contact(P, -s.N.x, through=pad.G, against=pad, friction=mu, along=plane, name="pressed")
    return s, {"mu": 0.7, "f": 1.0}, {"y.dot": 1.0, "z.dot": 2.0}, 0.3


CASES = {
    "shaken": (shaken, ("x", "y"), ("mu", "f"), 3),
    "turntable": (lambda: turntable(5 / 3), ("x", "y"), ("mu", "f", "x"), 1),
    "turntable, slow": (lambda: turntable(1.0), ("x", "y"), ("mu", "f", "x"), 1),
    "Newton": (lambda: bouncing("newton", 0.1), ("x", "y"), ("mu", "z", "omega_e0x"), 4),
    "Poisson": (lambda: bouncing("poisson", 0.1), ("x", "y"), ("mu", "z", "omega_e0x"), 4),
    "Newton, sticks": (lambda: bouncing("newton", 0.6), ("x", "y"), ("z", "omega_e0x"), 4),
    "pads": (pads, ("y", "z"), ("mu", "f", "y.dot"), 2),
}
FAST = ("shaken", "Poisson")


@pytest.mark.parametrize(
    "case", [c if c in FAST else pytest.param(c, marks=pytest.mark.slow) for c in CASES]
)
def test_sensitivities_agree_with_differences(case):
    build, what, names, changes = CASES[case]
    s, values, start, t = build()
    given = {"values": values, "start": start}
    what = [*what, *(f"{x}.dot" for x in what)]
    run = da.simulate(s, t, sensitivities=list(names), **given, **FINE)
    assert len(run.events) >= changes

    def end(name, step):
        moved = {k: {n: x + step * (n == name) for n, x in v.items()} for k, v in given.items()}
        r = da.simulate(s, t, **moved, **FINEST)
        return np.array([r[x][-1] for x in what])

    h = 1e-4
    for name in names:
        coarse = (end(name, h) - end(name, -h)) / (2 * h)
        difference = (4 * (end(name, h / 2) - end(name, -h / 2)) / h - coarse) / 3
        actual = [run.sensitivity(x, name)[-1] for x in what]
        np.testing.assert_allclose(actual, difference, rtol=0, atol=1e-6 * abs(difference).max())


def test_a_start_value_that_moves_a_contact_at_rest_has_no_derivative():
    with pytest.warns(da.DalembertWarning, match="'plane' at t = 0: a start value opens or moves"):
        run = da.simulate(
            block(lambda s, f: f * s.N.x),
            0.1,
            values={"mu": 0.3, "f": 0},
            start={"y.dot": 0.0},
            sensitivities=["y.dot"],
        )
    assert np.isnan(run.sensitivity("y", "y.dot")[-1])
