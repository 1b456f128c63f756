import math

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import pendulum_absolute, pendulum_relative
from truth.published import Published, difference, differences

TIGHT = {"rtol": 1e-13, "atol": 1e-13}


def chain(n, angle):
    return pendulum_absolute.build(n), {f"theta_{i}": angle for i in range(1, n + 1)}


def columns(n):
    return {f"theta_{i}": f"th{i}" for i in range(1, n + 1)} | {
        f"theta_{i}.dot": f"w{i}" for i in range(1, n + 1)
    }


@pytest.mark.parametrize(("until", "tolerance"), [(5, 1e-10), (10, 1e-8)])
def test_double_pendulum(until, tolerance):
    known = Published("double_pendulum", last=until)
    s, start = chain(2, math.pi / 2)
    run = da.simulate(s, until, start=start, at=known.t, **TIGHT)
    assert max(differences(run, known, columns(2)).values()) <= tolerance


def test_double_pendulum_in_relative_angles():
    # the reference measures both angles from the vertical: theta_2 = q_1 + q_2
    known = Published("double_pendulum", last=5)
    run = da.simulate(
        pendulum_relative.build(2), 5, start={"q_1": math.pi / 2}, at=known.t, **TIGHT
    )
    names = {"q_1": "th1", "q_1 + q_2": "th2", "q_1.dot": "w1", "q_1.dot + q_2.dot": "w2"}
    assert max(differences(run, known, names).values()) <= 1e-10


@pytest.mark.parametrize(("n", "name"), [(3, "n_pendulum_03"), (5, "n_pendulum_05")])
def test_pendulum_of_several_links(n, name):
    known = Published(name)
    s, start = chain(n, math.pi / 3)
    run = da.simulate(s, known.t[-1], start=start, at=known.t, **TIGHT)
    assert max(differences(run, known, columns(n)).values()) <= 1e-9


def test_simple_pendulum():
    # theta counts from the downward vertical, positive towards +x
    known = Published("iftomm_A01_pendulum")
    s = pendulum_absolute.build(1)
    run = da.simulate(s, 10, start={"theta_1": -math.pi / 2}, at=known.t, **TIGHT)
    names = {
        "theta_1": "theta",
        "theta_1.dot": "thetadot",
        "sin(theta_1)": "x",
        "-cos(theta_1)": "y",
    }
    assert max(differences(run, known, names).values()) <= 1e-11


def test_simple_pendulum_in_cartesian_coordinates():
    known = Published("iftomm_A01_pendulum")
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    # the run starts where x.dot does not determine y.dot, so the rate of the angle is the speed
    s.speeds(u=x * y.dot - y * x.dot)
    run = da.simulate(s, 10, start={x: -1, y: 0}, at=known.t, **TIGHT)
    assert max(differences(run, known, {"x": "x", "y": "y"}).values()) <= 1e-10


def spherical_pendulum():
    """φ about the vertical, then θ about −y of the turned frame: x = sin θ cos φ, y = sin θ sin
    φ, z = −cos θ.
    """
    s = da.System("Spherical pendulum", gravity=9.81, up="z")
    phi, theta = s.coordinates("phi theta")
    A = s.N.rotated(phi, s.N.z)
    B = A.rotated(theta, -A.y)
    bob = s.particle("bob", 1, s.O.offset(-B.z))
    return s, bob


def test_spherical_pendulum():
    known = Published("spherical_pendulum")
    s, bob = spherical_pendulum()
    run = da.simulate(s, 10, start={"theta": math.pi / 3, "phi.dot": 2}, at=known.t, **TIGHT)
    names = {"theta": "theta", "phi": "phi", "theta.dot": "thetadot"}
    assert max(differences(run, known, names).values()) <= 1e-12
    assert difference(run[bob.G - s.O], known["xyz"]) <= 1e-12


def bead_on_hoop(omega):
    s = da.System("Bead on a turning hoop", gravity=9.81, up="z")
    theta = s.coordinate("theta")
    H = s.N.rotated(omega * s.t, s.N.z)
    s.particle("bead", 1, s.O.offset(0.5 * (da.sin(theta) * H.x - da.cos(theta) * H.z)))
    return s


def test_bead_on_a_turning_hoop():
    known = Published("bead_on_hoop")
    run = da.simulate(bead_on_hoop(8), 5, start={"theta": 0.2}, at=known.t, **TIGHT)
    assert (
        max(differences(run, known, {"theta": "theta", "theta.dot": "thetadot"}).values()) <= 1e-12
    )
    assert not run.conserves_energy
    # Jacobi's integral is conserved instead
    theta, rate = run["theta"], run["theta.dot"]
    h = rate**2 / 2 - 32 * np.sin(theta) ** 2 - 2 * 9.81 * np.cos(theta)
    assert difference(h, float(known.reference["h_per_mR2"])) <= 1e-12
