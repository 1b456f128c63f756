"""Where rigid bodies with friction have no motion, or more than one: named, never stepped over."""

import math

import pytest

import dalembert as da

G = 9.81


def rod(mu):
    """A slender rod whose lower end slides on the ground; θ from the ground."""
    s = da.System("rod", gravity=G)
    x, y, theta = s.coordinates("x y theta")
    m, L = s.constants(m=1, L=2)
    B = s.N.rotated(theta, s.N.z)
    C = s.O.offset(x * s.N.x + y * s.N.y)
    s.body("rod", m, C, B, da.rod_inertia(B.x, m, L))
    s.contact(C.offset(-L / 2 * B.x, "end", B), friction=mu, name="ground")
    return s


def slid(mu, theta, spin=0.0, v=1.0, duration=0.01):
    """The end at the origin, slipping with velocity v."""
    c, n = math.cos(theta), math.sin(theta)
    start = {
        "theta": theta,
        "x": c,
        "y": n,
        "theta.dot": spin,
        "x.dot": v - n * spin,
        "y.dot": c * spin,
    }
    return da.simulate(rod(mu), duration, start=start)


def jams(mu, v):
    try:
        slid(mu, math.atan(2), v=v, duration=1e-4)
    except da.ContactStopped as stopped:
        return "no motion satisfies the laws of contact of 'ground'" in str(stopped)
    return False


@pytest.mark.slow
def test_the_critical_friction_of_a_slender_rod_is_four_thirds():
    # 1 + 3 cos θ (cos θ − μ sin θ) first vanishes at tan θ = 2; only where the end is pushed ahead
    # of the mass
    direction = next(v for v in (1.0, -1.0) if jams(1.4, v))
    assert not jams(1.4, -direction)
    low, high = 1.0, 1.4
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (low, middle) if jams(middle, direction) else (middle, high)
    assert low == pytest.approx(4 / 3, abs=1e-6)


def test_more_than_one_motion_is_named():
    direction = next(v for v in (1.0, -1.0) if jams(1.4, v))
    # spun so fast that the end would lift by itself, yet pressed down by friction it could stay as
    # well
    with pytest.raises(da.ContactStopped, match=r"more than one motion.*ground open|ground slips"):
        slid(1.6, math.atan(2), spin=-5.0, v=direction)


def test_newtons_law_that_would_create_energy_is_refused():
    """Kane and Levinson's rod: it lands on its end, and friction turns the slip."""
    s = da.System("rod", gravity=G)
    x, y, theta = s.coordinates("x y theta")
    m, L = s.constants(m=1, L=2)
    B = s.N.rotated(theta, s.N.z)
    C = s.O.offset(x * s.N.x + y * s.N.y)
    s.body("rod", m, C, B, da.rod_inertia(B.x, m, L))
    s.contact(C.offset(-L / 2 * B.x, "end", B), friction=0.5, restitution=0.9, name="ground")
    angle = math.radians(50)
    start = {
        "theta": angle,
        "x": math.cos(angle),
        "y": math.sin(angle) + 1e-3,
        "x.dot": 0.5,
        "y.dot": -1.0,
    }
    with pytest.raises(
        da.ContactStopped,
        match=r"Newton's law of impact would create the energy .* at 'ground'.*law='poisson'",
    ) as stopped:
        da.simulate(s, 0.01, start=start)
    # nothing is lost: the motion up to the impact is there
    assert stopped.value.trajectory["y.dot"][-1] < -1.0
