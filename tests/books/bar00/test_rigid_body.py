"""Bar00 (18)–(21): 3-2-1 angles, the directions their equations are projected on, and Euler's
equations.
"""

import pytest

import dalembert as da
from comparisons import PRINCIPLES, components, differences, equal, in_speeds, other_terms
from dalembert import gallery
from dalembert.gallery import Printed
from dalembert.gallery.free_body import build
from dalembert.mechanics.kinematics.system_kinematics import split_linear
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients

OMEGA = [
    "-psi'*sin(theta) + phi'",
    "psi'*cos(theta)*sin(phi) + theta'*cos(phi)",
    "psi'*cos(theta)*cos(phi) - theta'*sin(phi)",
]
EULER = (
    Printed("e₁", "I_1*omega_1' + (I_3 - I_2)*omega_2*omega_3 - M_1", ((1, "1"),)),
    Printed("e₂", "I_2*omega_2' + (I_1 - I_3)*omega_3*omega_1 - M_2", ((2, "1"),)),
    Printed("e₃", "I_3*omega_3' + (I_2 - I_1)*omega_1*omega_2 - M_3", ((3, "1"),)),
)


@pytest.fixture
def rates():
    return da.kinematics(build(speeds="rates"))


def frames(kin):
    """The frames a′, a″ and e after each of the three turns."""
    named = {F.name: F for F in kin.system.space.frames}
    return named["A1"], named["A2"], named["B"]


def test_18_angular_velocity(rates):
    *_, B = frames(rates)
    assert equal(rates, components(rates, rates.motion_in_rates.w(B), B), OMEGA)


def test_19_kinematic_coefficients(rates):
    A1, A2, B = frames(rates)
    N = rates.system.N
    parts, _ = split_linear(LinearCoefficients(rates.tape, rates.qdot), rates.motion_in_rates.w(B))
    at = {rates.name(q): k for k, q in enumerate(rates.q)}
    printed = {"psi": (N.z, A1.z), "theta": (A1.y, A2.y), "phi": (A2.x, B.x)}
    for name, directions in printed.items():
        for direction in directions:
            assert equal(
                rates, components(rates, parts[at[name]], N), components(rates, direction, N)
            )


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_20_projections_on_the_three_axes(principle):
    # (20): (Ḣ_G − M_G)·a₃ for ψ, ·a₂′ for θ, ·e₁ for φ
    s = build(speeds="rates")
    d = principle(s)
    kin, t = d.kinematics, d.tape
    A1, _, B = frames(kin)
    I = s.bodies[0].inertia
    M_G = s["M_1"] * B.x + s["M_2"] * B.y + s["M_3"] * B.z
    balance = kin.motion.derivative(I @ kin.w(B)) - M_G.on(t)
    named = {kin.name(u): r for r, u in enumerate(kin.u)}
    for name, direction in (("psi'", s.N.z), ("theta'", A1.y), ("phi'", B.x)):
        ours = d.equations.residuals[named[name]]
        assert all(provably_zero(t, [t.sub(ours, balance.dot_node(direction.on(t)))]))


@pytest.mark.parametrize("name", ["free-body", "free-body-quaternion"])
@pytest.mark.parametrize("principle", PRINCIPLES)
def test_21_eulers_equations(name, principle):
    # printed with H_G for Ḣ_G
    d = principle(gallery.build(name))
    assert [] == differences(d, EULER)
    assert [] == other_terms(d, EULER)


def test_after_21_body_axes_are_partial_angular_velocities():
    # e_k = ∂ω/∂ω_k
    kin = da.kinematics(gallery.build("free-body"))
    *_, B = frames(kin)
    parts, rest = kin.partial_velocities(B)
    for r, axis in enumerate((B.x, B.y, B.z)):
        assert equal(kin, components(kin, parts[r], B), components(kin, axis, B))
    assert {} == rest.parts


def test_18_is_the_definition_of_the_speeds():
    kin = da.kinematics(gallery.build("free-body"))
    assert equal(kin, kin.definitions[:3], OMEGA)
    assert equal(kin, [in_speeds(kin, e) for e in OMEGA], ["omega_1", "omega_2", "omega_3"])
