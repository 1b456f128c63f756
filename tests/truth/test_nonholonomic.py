import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import ball_on_turntable, rolling_disk
from truth.published import Published, difference, differences

TIGHT = {"rtol": 1e-13, "atol": 1e-13}
DISK_START = {"theta": 1.2, "phi.dot": 0.6, "theta.dot": 0.1, "psi.dot": -4}
DISK_COLUMNS = {q: q for q in ("x", "y", "phi", "theta", "psi")} | {
    f"{q}.dot": f"{q}dot" for q in ("phi", "theta", "psi")
}


def test_rolling_disk():
    known = Published("rolling_disk")
    run = da.simulate(rolling_disk.build(), 10, start=DISK_START, at=known.t, **TIGHT)
    assert max(differences(run, known, DISK_COLUMNS).values()) <= 1e-10
    assert difference(run.energy, float(known.reference["E"])) <= 1e-12


@pytest.mark.parametrize("number", [0, 1, 2])
def test_steady_rolling(number):
    # θ, φ̇ and ψ̇ that belong together stay as they are, and the contact runs on a circle
    steady = {
        k: float(v)
        for k, v in Published("rolling_disk").reference["steady_examples_r0p5"][number].items()
    }
    start = {"theta": steady["theta"], "phi.dot": steady["phidot"], "psi.dot": steady["psidot"]}
    run = da.simulate(rolling_disk.build(), 5, start=start, **TIGHT)
    assert difference(run["theta"], steady["theta"]) <= 1e-11
    radius = np.hypot(run["x.dot"], run["y.dot"]) / steady["phidot"]
    assert difference(radius, steady["path_radius_of_contact"]) <= 1e-11


BALL_START = {"x": 0.3, "u2": 0.5}
BALL_COLUMNS = {"x": "x", "y": "y", "u1": "xdot", "u2": "ydot"}


# three angles come near their singular position several times, and rounding grows there
@pytest.mark.parametrize(("attitude", "tolerance"), [("quaternion", 1e-13), ("zyx", 1e-10)])
def test_ball_on_turntable(attitude, tolerance):
    known = Published("ball_on_turntable")
    run = da.simulate(
        ball_on_turntable.build(attitude=attitude), 20, start=BALL_START, at=known.t, **TIGHT
    )
    assert max(differences(run, known, BALL_COLUMNS).values()) <= tolerance
    assert not run.conserves_energy


def test_a_ball_takes_a_fifth_of_the_steps_with_a_quaternion():
    known = Published("ball_on_turntable")
    free = da.simulate(ball_on_turntable.build(attitude="quaternion"), 20, start=BALL_START)
    with pytest.warns(da.DalembertWarning, match="singular"):
        angles = da.simulate(
            ball_on_turntable.build(attitude="zxz"), 20, start=BALL_START | {"beta": 1}
        )
    assert 5 * len(free) <= len(angles)
    for run in (free, angles):
        assert max(differences(run.at(known.t), known, BALL_COLUMNS).values()) <= 1e-9
    # dr/dt = v₀ exp(iκt) with κ = 2Ω/7, at the end of every step
    r = 0.3 + 0.5 * np.expm1(6j / 7 * free.t) / (6 / 7)
    assert difference(free["x"] + 1j * free["y"], r) <= 1e-12


def sleigh(a, I):
    """A body on a horizontal plane with a blade at P along e₁, the mass centre a ahead of it."""
    s = da.System("Chaplygin sleigh")
    x, y, phi = s.coordinates("x y phi")
    B = s.N.rotated(phi, s.N.z)
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.body("sleigh", 1, P.offset(a * B.x), B, da.inertia(B, I, I, I))
    s.constrain(P.v @ B.y, "blade")
    s.speeds(u=P.v @ B.x, omega=phi.dot)
    return s


def test_chaplygin_sleigh():
    known = Published("chaplygin_sleigh")
    run = da.simulate(sleigh(0.3, 0.5), 10, start={"u": -0.4, "omega": 1.5}, at=known.t, **TIGHT)
    assert (
        max(differences(run, known, {n: n for n in ("u", "omega", "phi", "x", "y")}).values())
        <= 1e-12
    )


def test_knife_edge_on_an_incline():
    # x points down the slope of 30°, so that gravity along the plane is g/2 along x
    known = Published("knife_edge_incline")
    s = sleigh(0, 0.7)
    s.gravity(9.81 / 2 * s.N.x)
    run = da.simulate(s, 5, start={"omega": 2}, at=known.t, **TIGHT)
    assert (
        max(differences(run, known, {"u": "v", "phi": "phi", "x": "x", "y": "y"}).values()) <= 1e-12
    )


def test_nonholonomic_particle():
    known = Published("nonholonomic_particle")
    s = da.System("Particle with y' = z x'")
    x, y, z = s.coordinates("x y z")
    s.particle("P", 1, s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z))
    s.constrain(y.dot - z * x.dot)
    run = da.simulate(s, 10, start={z: 0.2, x.dot: 1, z.dot: 0.7}, at=known.t, **TIGHT)
    names = {n: n for n in ("x", "y", "z")} | {"x.dot": "xdot", "y.dot": "ydot"}
    assert max(differences(run, known, names).values()) <= 1e-13
