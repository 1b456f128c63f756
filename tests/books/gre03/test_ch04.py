"""Results printed in Gre03 ch. 4, typed from the text; (4.39) is read in the order (φ, θ, ψ, x,
y).
"""

import pytest

import dalembert as da
from comparisons import (
    PRINCIPLES,
    coefficients,
    components,
    differences,
    equal,
    other_terms,
    without,
)
from dalembert import gallery
from dalembert.gallery import Printed
from dalembert.mechanics.kinetics.spatial_fields import gravity_potential
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.expression_graph import gradient
from dalembert.symbolic.algebra.normal_form.expansion import expand, normal_form
from dalembert.symbolic.algebra.scalar import as_node


def psi_matrix(kin, order):
    """Ψ: the independent speeds, then the constraint rows, as rows of coefficients of q̇."""
    t = kin.tape
    qdot = [t.names[f"{name}'"] for name in order]
    rows = [coefficients(kin, e, qdot) for e in kin.definitions]
    at = {kin.name(x): k for k, x in enumerate(kin.qdot)}
    return rows + [[row.A.get(at[f"{name}'"], t.zero) for name in order] for row in kin.rows]


def first_columns_of_phi(kin, order):
    """W: q̇ = W u, row by row in the given order."""
    at = {kin.name(q): k for k, q in enumerate(kin.q)}
    return [[kin.WX[at[name]][1].get(r, kin.tape.zero) for r in range(kin.n_u)] for name in order]


def flat(rows):
    return [x for row in rows for x in row]


def times(kin, A, B):
    t, s = kin.tape, kin.system
    printed = [[as_node(t, s.expression(e)) for e in row] for row in B]
    product = []
    for row in A:
        for k in range(len(printed[0])):
            total = t.zero
            for j, a in enumerate(row):
                total = t.add(total, t.mul(a, printed[j][k]))
            product.append(total)
    return product


def identity(n):
    return ["1" if i == j else "0" for i in range(n) for j in range(n)]


def table(text):
    return [row.split() for row in text.strip().splitlines()]


# ---- Example 4.1 -------------------------------------------------------------------------------

ROD = ("x", "y", "phi")
PSI_23 = table("""
    cos(phi) sin(phi) 0
    0 0 1
    -sin(phi) cos(phi) 0
""")
PHI_24 = table("""
    cos(phi) 0 -sin(phi)
    sin(phi) 0 cos(phi)
    0 1 0
""")


@pytest.fixture
def rod():
    return da.kinematics(gallery.build("knife-edge-rod"))


def test_4_20_to_4_22_speeds(rod):
    assert ["u1", "u2"] == [rod.name(u) for u in rod.u]
    assert equal(rod, rod.definitions, ["x'*cos(phi) + y'*sin(phi)", "phi'"])


def test_4_23_psi(rod):
    assert equal(rod, flat(psi_matrix(rod, ROD)), flat(PSI_23))


def test_4_24_phi(rod):
    assert equal(rod, times(rod, psi_matrix(rod, ROD), PHI_24), identity(3))
    assert equal(rod, flat(first_columns_of_phi(rod, ROD)), flat([row[:2] for row in PHI_24]))


def test_4_26_kinetic_energy(rod):
    T = Quantities(rod).rates.T.value.i
    assert equal(
        rod, [T], ["m*(x'**2 + y'**2 + 1/2*l**2*phi'**2 - l*x'*phi'*sin(phi) + l*y'*phi'*cos(phi))"]
    )


def test_4_27_to_4_30_lagrangian_operator():
    d = da.lagrange(gallery.build("knife-edge-rod"))
    printed = [
        "m*(2*x'' - l*phi''*sin(phi) - l*phi'**2*cos(phi))",
        "m*(2*y'' + l*phi''*cos(phi) - l*phi'**2*sin(phi))",
        (
            "m*(l**2*phi'' - l*x''*sin(phi) + l*y''*cos(phi) - l*x'*phi'*cos(phi) - "
            "l*y'*phi'*sin(phi))"
            " - m*(-l*x'*phi'*cos(phi) - l*y'*phi'*sin(phi))"
        ),
    ]
    assert equal(d.kinematics, without(d, d.native.residuals), printed)


EX_4_1 = (
    Printed("(4.31)", "m*(2*x''*cos(phi) + 2*y''*sin(phi) - l*phi'**2)", ((1, "1"),)),
    Printed("(4.32)", "m*(l**2*phi'' - l*x''*sin(phi) + l*y''*cos(phi))", ((2, "1"),)),
    Printed("(4.33)", "x''*sin(phi) - y''*cos(phi) + x'*phi'*cos(phi) + y'*phi'*sin(phi)"),
)


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_4_31_to_4_33_equations_of_motion(principle):
    d = principle(gallery.build("knife-edge-rod"))
    assert [] == differences(d, EX_4_1)
    assert [] == other_terms(d, EX_4_1)


# ---- Example 4.2 -------------------------------------------------------------------------------

DISK = ("phi", "theta", "psi", "x", "y")
PSI_39 = table("""
    1 0 0 0 0
    0 1 0 0 0
    0 0 1 0 0
    0 0 r*cos(phi) 1 0
    0 0 r*sin(phi) 0 1
""")
PHI_40 = table("""
    1 0 0 0 0
    0 1 0 0 0
    0 0 1 0 0
    0 0 -r*cos(phi) 1 0
    0 0 -r*sin(phi) 0 1
""")
T_45 = (
    "1/2*m*(x'**2 + y'**2) + 1/8*m*r**2*phi'**2*(1 + 5*cos(theta)**2) + 5/8*m*r**2*theta'**2 + "
    "1/4*m*r**2*psi'**2"
    " + 1/2*m*r**2*phi'*psi'*cos(theta) - m*r*x'*phi'*cos(phi)*cos(theta) + "
    "m*r*x'*theta'*sin(phi)*sin(theta)"
    " - m*r*y'*phi'*sin(phi)*cos(theta) - m*r*y'*theta'*cos(phi)*sin(theta)"
)
OPERATOR = {
    "phi": "1/4*m*r**2*phi''*(1 + 5*cos(theta)**2) + 1/2*m*r**2*psi''*cos(theta)"
    " - m*r*x''*cos(phi)*cos(theta) - m*r*y''*sin(phi)*cos(theta)"
    " - 5/2*m*r**2*phi'*theta'*sin(theta)*cos(theta) - 1/2*m*r**2*theta'*psi'*sin(theta)",
    "theta": "5/4*m*r**2*theta'' + m*r*x''*sin(phi)*sin(theta) - m*r*y''*cos(phi)*sin(theta)"
    " + 5/4*m*r**2*phi'**2*sin(theta)*cos(theta) + 1/2*m*r**2*phi'*psi'*sin(theta)",
    "psi": "1/2*m*r**2*psi'' + 1/2*m*r**2*phi''*cos(theta) - 1/2*m*r**2*phi'*theta'*sin(theta)",
    "x": "m*x'' - m*r*phi''*cos(phi)*cos(theta) + m*r*theta''*sin(phi)*sin(theta) + "
    "m*r*phi'**2*sin(phi)*cos(theta)"
    " + m*r*theta'**2*sin(phi)*cos(theta) + 2*m*r*phi'*theta'*cos(phi)*sin(theta)",
    "y": "m*y'' - m*r*phi''*sin(phi)*cos(theta) - m*r*theta''*cos(phi)*sin(theta) - "
    "m*r*phi'**2*cos(phi)*cos(theta)"
    " - m*r*theta'**2*cos(phi)*cos(theta) + 2*m*r*phi'*theta'*sin(phi)*sin(theta)",
}
MAGGI = (
    Printed("(4.51)", OPERATOR["phi"], ((1, "1"),)),
    Printed("(4.52)", OPERATOR["theta"] + " + m*g*r*cos(theta)", ((2, "1"),)),
    Printed(
        "(4.53)",
        "1/2*m*r**2*psi'' + 3/2*m*r**2*phi''*cos(theta) - 5/2*m*r**2*phi'*theta'*sin(theta) - "
        "m*r*(x''*cos(phi) + y''*sin(phi))",
        ((3, "1"),),
    ),
)
ROWS = (
    Printed("(4.54)", "x'' + r*psi''*cos(phi) - r*phi'*psi'*sin(phi)"),
    Printed("(4.55)", "y'' + r*psi''*sin(phi) + r*phi'*psi'*cos(phi)"),
    Printed("(4.56)", "-m*r*cos(theta)*(x''*cos(phi) + y''*sin(phi)) - m*r**2*psi''*cos(theta)"),
    Printed("(4.58)", "m*r*sin(theta)*(x''*sin(phi) - y''*cos(phi)) - m*r**2*phi'*psi'*sin(theta)"),
)
REDUCED = (
    Printed(
        "(4.57)",
        "1/4*m*r**2*phi''*(1 + 5*cos(theta)**2) + 3/2*m*r**2*psi''*cos(theta)"
        " - 5/2*m*r**2*phi'*theta'*sin(theta)*cos(theta) - 1/2*m*r**2*theta'*psi'*sin(theta)",
        ((1, "1"),),
    ),
    Printed(
        "(4.59)",
        "5/4*m*r**2*theta'' + 5/4*m*r**2*phi'**2*sin(theta)*cos(theta) + "
        "3/2*m*r**2*phi'*psi'*sin(theta) + m*g*r*cos(theta)",
        ((2, "1"),),
    ),
    Printed(
        "(4.60)",
        "3/2*m*r**2*psi'' + 3/2*m*r**2*phi''*cos(theta) - 5/2*m*r**2*phi'*theta'*sin(theta)",
        ((3, "1"),),
    ),
)


@pytest.fixture
def disk():
    return da.kinematics(gallery.build("rolling-disk"))


def test_4_34_speeds(disk):
    assert ["phi'", "theta'", "psi'"] == [disk.name(u) for u in disk.u]


def test_4_35_4_36_rolling_rows(disk):
    t = disk.tape
    rows = []
    for row in disk.rows:
        total = row.b
        for k, a in row.A.items():
            total = t.add(total, t.mul(a, disk.qdot[k]))
        rows.append(total)
    assert equal(disk, rows, ["x' + r*psi'*cos(phi)", "y' + r*psi'*sin(phi)"])
    assert ["rolling of disk along z"] == disk.system.trivial_constraints


def test_4_38_generalized_force_of_gravity(disk):
    t = disk.tape
    dV_dq = gradient(t, {gravity_potential(disk).i: t.one}, disk.q)
    assert equal(disk, [t.neg(e) for e in dV_dq], ["0", "0", "0", "-m*g*r*cos(theta)", "0"])


def test_4_39_psi(disk):
    assert equal(disk, flat(psi_matrix(disk, DISK)), flat(PSI_39))


def test_4_40_phi(disk):
    assert equal(disk, times(disk, psi_matrix(disk, DISK), PHI_40), identity(5))
    assert equal(disk, flat(first_columns_of_phi(disk, DISK)), flat([row[:3] for row in PHI_40]))


def test_4_41_velocity_of_the_centre(disk):
    printed = [
        "x' - r*phi'*cos(phi)*cos(theta) + r*theta'*sin(phi)*sin(theta)",
        "y' - r*phi'*sin(phi)*cos(theta) - r*theta'*cos(phi)*sin(theta)",
        "r*theta'*cos(theta)",
    ]
    G = disk.system.bodies[0].G
    assert equal(disk, components(disk, disk.motion_in_rates.v(G), disk.system.N), printed)


def test_4_42_angular_velocity(disk):
    # e_ψ, e_θ, e_d are the axes z, x, y of the frame that leans but does not spin
    B, D = disk.system.space.frames[2], disk.system.bodies[0].frame
    printed = ["theta'", "phi'*sin(theta)", "phi'*cos(theta) + psi'"]
    assert equal(disk, components(disk, disk.motion_in_rates.w(D), B), printed)


def test_4_44_moments_of_inertia(disk):
    I = disk.system.bodies[0].inertia
    assert equal(disk, I.entries(), ["1/4*m*r**2", "1/4*m*r**2", "1/2*m*r**2", "0", "0", "0"])


def test_4_45_kinetic_energy(disk):
    T = Quantities(disk).rates.T.value.i
    assert equal(disk, [T], [T_45])
    ours, printed = normal_form(disk.tape, [T, as_node(disk.tape, disk.system.expression(T_45))])
    assert ours.same_terms(printed)


@pytest.mark.parametrize("name", OPERATOR)
def test_4_46_to_4_50_lagrangian_operator(name):
    d = da.lagrange(gallery.build("rolling-disk"))
    k = [d.kinematics.name(q) for q in d.kinematics.q].index(name)
    (ours,) = without(d, [d.native.residuals[k]], "g")
    assert equal(d.kinematics, [ours], [OPERATOR[name]])


def test_4_53_is_the_third_column_of_phi_applied_to_the_operator():
    d = da.lagrange(gallery.build("rolling-disk"))
    t, s = d.tape, d.kinematics.system
    x, y, _, _, psi = (da.Scalar(t, e) for e in without(d, d.native.residuals))
    r, phi = s["r"], s["phi"]
    contracted = psi - r * da.cos(phi) * x - r * da.sin(phi) * y
    assert equal(d.kinematics, [as_node(t, contracted)], [MAGGI[2].residual])


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_4_51_to_4_60_equations_of_motion(principle):
    d = principle(gallery.build("rolling-disk"))
    assert [] == differences(d, (*MAGGI, *ROWS, *REDUCED))
    assert [] == other_terms(d, (*MAGGI, *ROWS, *REDUCED))


def test_kane_gives_the_reduced_equations_in_few_terms():
    d = da.kane(gallery.build("rolling-disk"))
    forms = normal_form(d.tape, d.native.residuals)
    raw = expand(d.tape, d.native.residuals)
    assert sum(form.term_count for form in raw) <= 40
    assert [5, 4, 3] == [form.term_count for form in forms]
