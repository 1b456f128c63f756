"""Quaternions: the norm is held, the motion is that of Euler's angles, no attitude is singular,
e and −e are the same.
"""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.runtime.ode.failures import BadStart

NO_TORQUE = {"M_1": 0, "M_2": 0, "M_3": 0}
SPIN = {"omega_1": 0.3, "omega_2": 3.0, "omega_3": -0.2, "v_z": 5.0}
FINE = {"rtol": 1e-12, "atol": 1e-12, "progress": False}


def attitude(run):
    """R at every time, a column for each axis of the body."""
    B = run.system.bodies[0].frame
    return np.stack([run[axis] for axis in (B.x, B.y, B.z)], axis=-1)


def run_of(name, start, duration=5.0, **more):
    return da.simulate(
        gallery.build(name), duration, start=start, inputs=NO_TORQUE, **{**FINE, **more}
    )


def of_angles(psi, theta, phi):
    """The quaternion of the angles about z, y and x in turn."""
    c, s = zip(*((math.cos(a / 2), math.sin(a / 2)) for a in (psi, theta, phi)), strict=True)
    return {
        "e_0": c[0] * c[1] * c[2] + s[0] * s[1] * s[2],
        "e_1": c[0] * c[1] * s[2] - s[0] * s[1] * c[2],
        "e_2": c[0] * s[1] * c[2] + s[0] * c[1] * s[2],
        "e_3": s[0] * c[1] * c[2] - c[0] * s[1] * s[2],
    }


def test_the_same_motion_as_with_angles_to_ten_digits():
    # slow about y, so that θ stays clear of the angles' singularity
    spin = {"omega_1": 1.5, "omega_2": 0.1, "omega_3": 0.4, "v_z": 5.0}
    angles = {"psi": 0.4, "theta": -0.3, "phi": 0.8}
    times = np.linspace(0, 2, 41)
    by_angles = run_of("free-body", {**angles, **spin}, 2.0).at(times)
    by_quaternion = run_of("free-body-quaternion", {**of_angles(**angles), **spin}, 2.0).at(times)
    assert np.abs(by_angles["theta"]).max() < 1.4
    assert np.abs(attitude(by_angles) - attitude(by_quaternion)).max() < 1e-10
    for name in ("omega_1", "omega_2", "omega_3", "z"):
        assert np.abs(by_angles[name] - by_quaternion[name]).max() < 1e-10


def test_the_norm_is_held_through_many_turns():
    run = run_of("free-body-quaternion", {"e_0": 1.0, **SPIN}, 50.0)
    e = run.q[:, 3:7]
    assert np.abs(np.sum(e * e, axis=1) - 1).max() < 1e-12
    # Dzhanibekov's tumbling: ω and R go through every attitude while energy and angular momentum
    # stay
    assert np.ptp(run["omega_2"]) > 5
    assert run.energy_drift < 1e-9


def test_no_singularity_where_the_angles_have_theirs():
    """About y alone θ grows through π/2, where ψ and φ cannot be told apart."""
    start = {"e_0": 1.0, "omega_1": 1e-3, "omega_2": 2.0}
    run = run_of("free-body-quaternion", start, 3.0)
    lean = np.arcsin(np.clip(-attitude(run.at(np.linspace(0, 3, 2001)))[:, 2, 0], -1, 1))
    # within the tilt that ω₁ brings
    assert lean.max() > 1.569
    steps = run.solution.steps
    # as many steps as far from it: turned by a quarter at the start nothing else changes
    turned = run_of(
        "free-body-quaternion",
        {**of_angles(0.0, -math.pi / 2, 0.0), "omega_1": 1e-3, "omega_2": 2.0},
        3.0,
    )
    assert abs(turned.solution.steps - steps) <= 2
    exactly = run_of("free-body-quaternion", {**of_angles(0.3, math.pi / 2, 0.0), **SPIN}, 1.0)
    R = attitude(exactly)
    assert np.abs(np.einsum("tij,tik->tjk", R, R) - np.eye(3)).max() < 1e-12


def test_mirrored_quaternions_are_the_same_attitude_for_the_whole_motion():
    e = of_angles(0.7, 0.2, -1.1)
    times = np.linspace(0, 5, 51)
    one = run_of("free-body-quaternion", {**e, **SPIN}).at(times)
    other = run_of("free-body-quaternion", {**{k: -x for k, x in e.items()}, **SPIN}).at(times)
    assert np.array_equal(one.q[:, 3:7], -other.q[:, 3:7])
    assert np.array_equal(attitude(one), attitude(other))
    assert np.array_equal(one.u, other.u)


# ---- start values --------------------------------------------------------------------------------


def test_a_quaternion_of_any_length_is_normalised_and_it_is_said():
    run = run_of(
        "free-body-quaternion", {"e_0": 2, "e_1": 0, "e_2": 0, "e_3": -2, "omega_1": 1}, 0.1
    )
    assert run.q[0, 3:7] == pytest.approx([math.sqrt(0.5), 0, 0, -math.sqrt(0.5)])
    assert "given as (2, 0, 0, -2), of length 2.82843; it was divided by its length" in str(
        run.start
    )


def test_given_rates_are_divided_with_it_so_that_the_spin_stays():
    # ω = 2 E ė/(e·e)
    unit = run_of(
        "free-body-quaternion", {"e_0": 1, "e_1": 0, "e_2": 0, "e_3": 0, "e_1.dot": 0.5}, 0.1
    )
    longer = run_of(
        "free-body-quaternion", {"e_0": 3, "e_1": 0, "e_2": 0, "e_3": 0, "e_1.dot": 1.5}, 0.1
    )
    assert (1.0, 1.0) == (unit["omega_1"][0], longer["omega_1"][0])


def test_a_unit_quaternion_is_left_alone():
    run = run_of("free-body-quaternion", {**of_angles(0.1, 0.2, 0.3), "omega_1": 1}, 0.1)
    assert "divided" not in str(run.start)


def test_four_zeros_are_no_attitude():
    with pytest.raises(BadStart, match=r"four zeros are no orientation: .* such as \(1, 0, 0, 0\)"):
        run_of("free-body-quaternion", dict.fromkeys(("e_0", "e_1", "e_2", "e_3"), 0))


def test_a_part_that_no_unit_quaternion_has_is_refused():
    with pytest.raises(
        BadStart, match=r"e_1 = 1.6 cannot belong to .*; give all four, of any length"
    ):
        run_of("free-body-quaternion", {"e_1": 1.6})


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_not_finite(bad):
    with pytest.raises(BadStart, match=r"e_0 = .* is not finite"):
        run_of("free-body-quaternion", {"e_0": bad, "e_1": 0, "e_2": 0, "e_3": 0})


# ---- quaternions in a closed loop ----------------------------------------------------------------


def test_a_body_held_by_rows_is_the_spherical_pendulum():
    """A rod pinned by three rows with a quaternion, against the angles of the gallery."""
    s = da.System("Rod on a ball joint by rows", gravity=9.81, up="z")
    at = s.free("x y z e0 e1 e2 e3")
    B = at.frame
    s.body("bob", 1, at, B, da.inertia(B, 0.1, 0.1, 0.1))
    s.coincide(at.offset(B.z, "hook", B), s.O, "hook")
    run = da.simulate(s, 2, start={"z": -1, "x.dot": 1.0}, rtol=1e-11, atol=1e-11, progress=False)
    e = run.q[:, 3:7]
    assert np.abs(np.sum(e * e, axis=1) - 1).max() < 1e-11
    assert run.worst_residual < 1e-10
    # a sphere on a massless rod: θ̈ = −m g l sin θ/(m l² + I)
    plane = da.System("Plane")
    hinge = plane.pin("theta", plane.O)
    plane.gravity(-9.81 * plane.N.y)
    plane.body(
        "bob", 1, hinge.offset(-hinge.frame.y), hinge.frame, da.inertia(hinge.frame, 0.1, 0.1, 0.1)
    )
    other = da.simulate(plane, 2, start={"theta.dot": 1.0}, rtol=1e-11, atol=1e-11, progress=False)
    times = np.linspace(0, 2, 21)
    assert np.abs(run.at(times)["x"] - np.sin(other.at(times)["theta"])).max() < 1e-8
    hook = run.reaction("hook")
    pin = other.reaction("theta")
    sizes = (
        np.linalg.norm(run.at(times).reaction("hook").force, axis=1),
        np.linalg.norm(other.at(times).reaction("theta").force, axis=1),
    )
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-7)
    assert hook.on == "bob"
    assert len(pin.force) == len(other)


@pytest.mark.parametrize("digits", [17, 8, 6])
def test_rates_as_they_are_typed(digits):
    """Twenty attitudes with their rates, rounded: ω is what was meant, to the digits typed."""
    s = da.System("a free body")
    P = s.ball("e0 e1 e2 e3", s.O)
    s.body("B", 2, P, P.frame, da.inertia(P.frame, 1, 2, 3))
    rng = np.random.default_rng(11)
    for _ in range(20):
        e, w = rng.normal(size=4), rng.normal(size=3)
        e /= np.linalg.norm(e)
        E = np.array(
            [[-e[1], -e[2], -e[3]], [e[0], -e[3], e[2]], [e[3], e[0], -e[1]], [-e[2], e[1], e[0]]]
        )
        names = [f"e{k}" for k in range(4)]
        typed = dict(
            zip(
                [*names, *(f"{n}.dot" for n in names)],
                (float(f"{x:.{digits}g}") for x in (*e, *(E @ w / 2))),
                strict=True,
            )
        )
        run = da.simulate(s, 1e-9, start=typed, audit=False, progress=False)
        found = [float(run[P.frame.w @ n][0]) for n in (P.frame.x, P.frame.y, P.frame.z)]
        assert found == pytest.approx(w, abs=10.0 ** (1 - min(digits, 14)))
    with pytest.raises(BadStart, match="contradicts"):
        da.simulate(
            s, 1, start={**typed, "e0.dot": typed["e0.dot"] + 0.1}, audit=False, progress=False
        )
