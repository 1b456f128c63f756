"""Results printed in Bar00 for the vehicle of Fig. 1; misprints are corrected as said beside
them.
"""

import pytest

import dalembert as da
from comparisons import PRINCIPLES, components, differences, equal, in_speeds, other_terms
from dalembert import gallery
from dalembert.gallery import Printed
from dalembert.mechanics.kinetics.generalized_forces import generalized_forces
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.scalar import as_node


@pytest.fixture
def kin():
    return da.kinematics(gallery.build("vehicle"))


@pytest.fixture
def places(kin):
    points = {P.name: P for P in kin.system.space.points}
    return kin.system.bodies[0].frame, points["A"], points["G"], points["C"], points["D"]


def test_45_velocity_of_A(kin, places):
    B, A, *_ = places
    printed = ["X'*cos(theta) + Y'*sin(theta)", "-X'*sin(theta) + Y'*cos(theta) - L*theta'", "0"]
    assert equal(kin, components(kin, kin.motion_in_rates.v(A), B), printed)


def test_46_constraint_row(kin):
    (row,) = kin.rows
    assert equal(kin, [row.A[k] for k in range(3)], ["-sin(theta)", "cos(theta)", "-L"])
    assert kin.tape.zero == row.b
    assert not row.holonomic


def test_47_velocities(kin, places):
    B, _, G, C, D = places
    assert equal(kin, components(kin, kin.w(B), B), ["0", "0", "u2"])
    assert equal(kin, components(kin, kin.v(G), B), ["u1", "L*u2", "0"])
    assert equal(kin, components(kin, kin.v(C), B), ["u1 - h*u2", "0", "0"])
    assert equal(kin, components(kin, kin.v(D), B), ["u1 + h*u2", "0", "0"])


def test_48_partial_velocities(kin, places):
    B, _, G, C, D = places
    printed = {
        (G, 0): ["1", "0", "0"],
        (G, 1): ["0", "L", "0"],
        (C, 0): ["1", "0", "0"],
        (C, 1): ["-h", "0", "0"],
        (D, 0): ["1", "0", "0"],
        (D, 1): ["h", "0", "0"],
        (B, 0): ["0", "0", "0"],
        (B, 1): ["0", "0", "1"],
    }
    for (place, r), vector in printed.items():
        parts, rest = kin.partial_velocities(place)
        actual = components(kin, parts[r], B) if r in parts else (kin.tape.zero,) * 3
        assert equal(kin, actual, vector)
        assert equal(kin, components(kin, rest, B), ["0", "0", "0"])


def test_49_acceleration_and_change_of_angular_momentum(kin, places):
    B, _, G, *_ = places
    body = kin.system.bodies[0]
    assert equal(kin, components(kin, kin.a(G), B), ["u1' - L*u2**2", "L*u2' + u1*u2", "0"])
    H_dot = kin.motion.derivative(body.inertia @ kin.w(B))
    assert equal(kin, components(kin, H_dot, B), ["0", "0", "I_G*u2'"])


EQUATIONS = (
    Printed("(50), first", "m*(u1' - L*u2**2) - (F_C + F_D)", ((1, "1"),)),
    Printed("(50), second", "(I_G + m*L**2)*u2' + m*L*u1*u2 - h*(F_D - F_C)", ((2, "1"),)),
    Printed("(55), first", "m*X''*cos(theta) + m*Y''*sin(theta) - (F_C + F_D)", ((1, "1"),)),
    # printed with the second column of (54) misprinted; here with (−L sin θ, L cos θ, 1)
    Printed(
        "(55), second",
        "-m*L*X''*sin(theta) + m*L*Y''*cos(theta) + I_G*theta'' - (F_D - F_C)*h",
        ((2, "1"),),
    ),
)


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_50_and_55_equations_of_motion(principle):
    d = principle(gallery.build("vehicle"))
    assert [] == differences(d, EQUATIONS)
    assert [] == other_terms(d, EQUATIONS)


def test_the_misprinted_55_is_noticed():
    d = da.kane(gallery.build("vehicle"))
    misprint = Printed(
        "(55), as printed",
        "m*X''*sin(theta) + m*Y''*cos(theta) + I_G*theta'' - (F_C + F_D)*h",
        ((2, "1"),),
    )
    assert ["(55), as printed"] == differences(d, [misprint])


def test_51_kinetic_energy(kin):
    T = Quantities(kin).rates.T.value.i
    assert equal(kin, [T], ["1/2*m*(X'**2 + Y'**2) + 1/2*I_G*theta'**2"])


def test_52_virtual_work(kin):
    printed = ["(F_C + F_D)*cos(theta)", "(F_C + F_D)*sin(theta)", "(F_D - F_C)*h"]
    assert equal(kin, generalized_forces(kin), printed)


def test_53_equations_with_the_multiplier():
    # Bar00 has the opposite sign of λ
    d = da.lagrange(gallery.build("vehicle"))
    t, s = d.tape, d.kinematics.system
    (lam,) = (da.Scalar(t, i) for i in d.native.multipliers)
    theta, L = s["theta"], s["L"]
    printed = [
        s.expression("m*X'' - (F_C + F_D)*cos(theta)") + lam * da.sin(theta),
        s.expression("m*Y'' - (F_C + F_D)*sin(theta)") - lam * da.cos(theta),
        s.expression("I_G*theta'' - (F_D - F_C)*h") + L * lam,
    ]
    assert equal(d.kinematics, d.native.residuals, [as_node(t, e) for e in printed])


def test_54_rates_from_speeds(kin):
    # the second column is misprinted as (−sin θ, cos θ, 1), which breaks (46) unless L = 1
    printed = [["cos(theta)", "-L*sin(theta)"], ["sin(theta)", "L*cos(theta)"], ["0", "1"]]
    for (X, W), row in zip(kin.WX, printed, strict=True):
        assert kin.tape.zero == X
        assert equal(kin, [W.get(r, kin.tape.zero) for r in range(2)], row)


def test_56_kinetic_energy_in_the_independent_speeds(kin):
    T = Quantities(kin).speeds.T.value.i
    assert equal(kin, [T], ["1/2*m*u1**2 + 1/2*(I_G + m*L**2)*u2**2"])


def test_57_speeds(kin):
    assert equal(kin, kin.definitions, ["X'*cos(theta) + Y'*sin(theta)", "theta'"])
    assert equal(kin, [in_speeds(kin, "X'*cos(theta) + Y'*sin(theta)")], ["u1"])
