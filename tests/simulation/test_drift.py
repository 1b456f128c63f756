import math

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import double_pendulum, n_four_bar, pendulum_absolute
from truth.published import Published, difference

DOUBLE_PENDULUMS = [
    pytest.param(pendulum_absolute.build(2), ("theta_1", "theta_2"), id="points"),
    pytest.param(double_pendulum.build(), ("alpha", "beta"), id="rods"),
]


@pytest.mark.parametrize(("system", "angles"), DOUBLE_PENDULUMS)
@pytest.mark.parametrize(("start", "most"), [((0.5, 0.3), 1e-11), ((2, 2.5), 1e-9)])
def test_the_double_pendulum_keeps_its_energy_for_100_s(system, angles, start, most):
    run = da.simulate(
        system, 100, start=dict(zip(angles, start, strict=True)), rtol=1e-12, atol=1e-12
    )
    assert run.conserves_energy
    assert run.energy_drift <= most


def test_from_rest_at_a_right_angle_every_tolerance_is_kept():
    # the first derivatives of the lower rod vanish there, which deceives a step size chosen from
    # them
    s = pendulum_absolute.build(2)

    def motion(tolerance):
        run = da.simulate(s, 3, start={"theta_1": math.pi / 2}, rtol=tolerance, atol=tolerance)
        return run.at(np.linspace(0, 3, 31)).q

    exact = motion(1e-14)
    for exponent in range(3, 13):
        tolerance = 10.0**-exponent
        assert difference(motion(tolerance), exact) <= 300 * tolerance, tolerance


def disk_with_six_coordinates():
    """All six coordinates of the centre and the attitude; the height of the contact is a row of
    its own.
    """
    s = da.System("Rolling disk", gravity=9.81, up="z")
    x, y, z, phi, theta, psi = s.coordinates("x y z phi theta psi")
    _, B, D = s.N.rotations("zxz", phi, theta, psi)
    G = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z)
    C = G.offset(-0.5 * B.y)
    disk = s.disk("disk", G, D, mass=1, radius=0.5, axis=B.z)
    s.constrain((C - s.O) @ s.N.z, "height of the contact")
    s.roll(disk, C, along="xy")
    return s, C - s.O


def test_the_rolling_disk_keeps_its_rows():
    known = Published("rolling_disk")
    s, r_OC = disk_with_six_coordinates()
    start = {
        r_OC @ s.N.x: 0,
        r_OC @ s.N.y: 0,
        "theta": 1.2,
        "phi.dot": 0.6,
        "theta.dot": 0.1,
        "psi.dot": -4,
    }
    run = da.simulate(s, 10, start=start, rtol=1e-12, atol=1e-12)
    rows = {
        "height of the contact",
        "height of the contact, rate",
        "rolling of disk along x",
        "rolling of disk along y",
    }
    assert rows == set(run.residuals)
    velocity = max(np.abs(run.qdot).max(), 1.0)
    assert run.worst_residual <= 1e-12 * velocity
    assert run.energy_drift <= 1e-11
    there = run.at(known.t)
    # the reference gives the point of contact, our coordinates are those of the centre
    contact = there[r_OC]
    assert difference(contact[:, 0], known["x"]) <= 1e-10
    assert difference(contact[:, 1], known["y"]) <= 1e-10
    for name in ("phi", "theta", "psi"):
        assert difference(there[name], known[name]) <= 1e-10


def cartesian_pendulum():
    s = da.System("Pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("bob", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1, "rod")
    return s, x, y


def test_the_cartesian_pendulum_keeps_its_length():
    s, x, y = cartesian_pendulum()
    run = da.simulate(s, 100, start={x: 0.6, y: -0.8}, rtol=1e-12, atol=1e-12)
    assert run.worst_residual <= 1e-12
    assert run.energy_drift <= 1e-11


def test_the_cartesian_pendulum_turns_over_with_a_speed_that_serves_everywhere():
    s, x, y = cartesian_pendulum()
    s.speeds(omega=x * y.dot - y * x.dot)
    run = da.simulate(s, 20, start={x: 0, y: -1, "omega": 7}, rtol=1e-12, atol=1e-12)
    assert np.max(run["y"]) > 0.99
    assert run.worst_residual <= 1e-12
    assert run.energy_drift <= 1e-11


def test_rounding_does_not_add_up_over_two_hundred_thousand_steps() -> None:
    """x = cos t: the error at the end stays in proportion to the tolerance, as if steps were not
    rounded.
    """
    s = da.System("oscillator")
    x = s.coordinate("x")
    s.particle("P", 1, s.O.offset(x * s.N.x))
    s.potential(x**2 / 2)
    end, tolerances = 20_000.0, np.array([1e-13, 5e-14, 2e-14])
    runs = [
        da.simulate(s, end, start={"x": 1.0}, rtol=r, atol=r, audit=False, at=[end])
        for r in tolerances
    ]
    errors = [np.hypot(run.q[-1, 0] - np.cos(end), run.u[-1, 0] + np.sin(end)) for run in runs]
    assert runs[-1].solution.steps > 150_000
    assert errors[0] / tolerances[0] == pytest.approx(errors / tolerances, rel=0.1)


@pytest.mark.filterwarnings("ignore:all coordinates and speeds stay below")
@pytest.mark.parametrize("windows", [3, 12])
def test_rows_hold_beside_a_position_of_zeros(windows):
    """Lengths leave rounding in the rows that has nothing to do with angles of 1e-13: the motion
    is that of small angles all the same.
    """
    s = n_four_bar.build(windows=windows)
    grown = [da.simulate(s, 0.2, start={"phi_0": x})["phi_0"][-1] / x for x in (1e-4, 1e-10, 1e-13)]
    assert grown == pytest.approx([grown[0]] * 3, rel=1e-2)
    assert abs(da.simulate(s, 0.2, start={})["phi_0"][-1]) < 1e-14
