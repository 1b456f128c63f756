"""Results printed in Mit22 34.2 and 34.3, with the signs lost in print restored."""

import pytest

import dalembert as da
from comparisons import PRINCIPLES, components, differences, equal, in_speeds, other_terms
from dalembert import gallery
from dalembert.gallery import Printed
from dalembert.gallery.hoist import build as hoist_with
from dalembert.gallery.positioning_device import build
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.kinetics.spatial_fields import (
    SpatialField,
    declared_potential_energy,
    gravity_potential,
)
from dalembert.mechanics.kinetics.system_quantities import Quantities, kinetic_energy
from dalembert.symbolic.algebra.formula import Symbol


def parts_of(kin, place):
    """(v_R, v_t) or (ω_R, ω_t): the part with the independent speeds and the rest, Mit22 (12)."""
    t = kin.tape
    partials, rest = kin.partial_velocities(place)
    total = Vector(t, {})
    for r, v_r in partials.items():
        total = total + v_r.scale(kin.u[r])
    return total, rest


def energies(kin):
    """K, K₀, K₁, K₂ by Mit22 (13)."""
    t, of = kin.tape, Quantities(kin)
    velocities = (
        Quantity(Symbol("v"), SpatialField(t, lambda X, part=part: parts_of(kin, X)[part]))
        for part in range(2)
    )
    K2, K0 = (kinetic_energy(of, v, of.rates.in_inertia_axes(v)).value.i for v in velocities)
    whole = of.speeds.T.value.i
    return whole, K0, t.sub(whole, t.add(K0, K2)), K2


def sigmas(kin):
    """σ_R and σ of the bodies: Mit22 (29), (30)."""
    t, motion = kin.tape, kin.motion
    sigma_R = sigma = t.zero
    for b in kin.system.bodies:
        v_R, v_t = parts_of(kin, b.G)
        a_t = motion.derivative(v_t).scale(b.mass.i)
        sigma_R, sigma = t.add(sigma_R, v_R.dot_node(a_t)), t.add(sigma, kin.v(b.G).dot_node(a_t))
        if b.frame is not None:
            I, w = b.inertia.on(t), kin.w(b.frame)
            w_R, w_t = parts_of(kin, b.frame)
            in_body = motion.derivative(w_t) - w.cross(w_t)
            sigma_R = t.add(sigma_R, (w_R @ (I @ in_body + w_t.cross(I @ w))).i)
            sigma = t.add(sigma, (w @ (I @ motion.derivative(w_t))).i)
    return sigma_R, sigma


# ---- 34.2: the hoist ---------------------------------------------------------------------------


@pytest.fixture(params=["3*cos(t)", None], ids=["bound", "unbound"])
def hoist(request):
    return da.kinematics(hoist_with(x=request.param))


HOIST = (
    Printed("34.2", "theta'' + m_B*g*L/(I + m_B*L**2)*sin(theta)", ((1, "1/(I + m_B*L**2)"),)),
)


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_34_2_equation_of_motion(principle):
    d = principle(gallery.build("hoist"))
    assert [] == differences(d, HOIST)
    assert [] == other_terms(d, HOIST)


def test_34_2_kinetic_energies(hoist):
    printed = [
        "1/2*(m_B + m_Q)*x'**2 + 1/2*(I + m_B*L**2)*theta'**2",
        "1/2*(m_B + m_Q)*x'**2",
        "0",
        "1/2*(I + m_B*L**2)*theta'**2",
    ]
    assert equal(hoist, energies(hoist), printed)


def test_34_2_generalized_potential_energy(hoist):
    assert equal(hoist, [gravity_potential(hoist).i], ["-m_B*g*L*cos(theta)"])


def test_34_2_sigma(hoist):
    assert equal(hoist, sigmas(hoist), ["0", "(m_B + m_Q)*x'*x''"])


# ---- 34.3: the positioning device --------------------------------------------------------------

DEVICE = (
    Printed("for ω_y", "0.4*m*r**2*omega_y' + b*omega_y - b*Omega", ((1, "1"),)),
    Printed(
        "for ṡ",
        "1.4*m*r**2*s'' + b*s' + (k - 1.4*m*Omega**2)*r**2*s - 1.4*m*r**2*L*Omega**2",
        ((2, "r**2"),),
    ),
)


@pytest.fixture
def device():
    return da.kinematics(gallery.build("positioning-device"))


def arm_and_sphere(kin):
    return next(F for F in kin.system.space.frames if F.name == "A"), kin.system.bodies[0]


@pytest.mark.parametrize("Omega", ["4", "t/2", None])
@pytest.mark.parametrize("principle", PRINCIPLES)
def test_34_3_equations_of_motion(principle, Omega):
    d = principle(build(Omega=Omega))
    assert [] == differences(d, DEVICE)
    assert [] == other_terms(d, DEVICE)


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_34_3_rigid_arm(principle):
    # k = ∞ is the row s = 0; the equation for ω_y stays
    d = principle(build(rigid=True))
    assert ["omega_y"] == [d.kinematics.name(u) for u in d.kinematics.u]
    assert [] == differences(d, DEVICE[:1])
    assert [] == other_terms(d, DEVICE[:1])


def test_34_3_rolling_constraints(device):
    A, sphere = arm_and_sphere(device)
    printed = ["-(L + s)/r*Omega", "omega_y", "-1/r*v"]
    assert equal(device, components(device, device.w(sphere.frame), A), printed)
    assert equal(device, [in_speeds(device, "s'"), in_speeds(device, "phi'")], ["v", "Omega"])


def test_34_3_kinetic_energies(device):
    printed = [
        "0.2*m*(3.5*(L + s)**2*Omega**2 + 3.5*v**2 + r**2*omega_y**2)",
        "0.7*m*(L + s)**2*Omega**2",
        "0",
        "0.2*m*(3.5*v**2 + r**2*omega_y**2)",
    ]
    assert equal(device, energies(device), printed)


def test_34_3_generalized_potential_energy(device):
    assert equal(device, [declared_potential_energy(device).i], ["1/2*k*s**2"])


def test_34_3_sigmas(device):
    assert equal(
        device, sigmas(device), ["-1.4*m*Omega**2*(L + s)*v", "1.4*m*Omega*Omega'*(L + s)**2"]
    )


def test_34_3_damping_acts_through_a_torque_and_its_reaction(device):
    A, sphere = arm_and_sphere(device)
    ((load),) = device.system.loads
    (T, on_sphere), (reaction, on_arm) = load.torques
    assert (sphere.frame, A) == (on_sphere, on_arm)
    assert equal(device, components(device, T, A), components(device, -reaction, A))
