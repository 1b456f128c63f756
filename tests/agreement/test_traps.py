"""Mistakes that other tools make or invite, each a test."""

import math
from itertools import pairwise

import numpy as np
import pytest

import dalembert as da
from agreement.floats import accelerations, close
from dalembert import cos, gallery, sin, sqrt
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.mechanics.kinetics.reactions import reactions
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, evaluate, symbols_of
from dalembert.symbolic.algebra.scalar import as_node

TITLES = [p.name for p, _ in PRINCIPLES]
every_principle = pytest.mark.parametrize(
    "derive", [derive for _, derive in PRINCIPLES], ids=TITLES
)


# ---- the rod of an (x, y) pendulum at rest carries +m g, however φ is written --------------------

WAYS = {
    "x² + y² − l²": lambda x, y, l: x**2 + y**2 - l**2,
    "l² − x² − y²": lambda x, y, l: l**2 - x**2 - y**2,
    "√(x² + y²) − l": lambda x, y, l: sqrt(x**2 + y**2) - l,
    "y + √(l² − x²)": lambda x, y, l: y + sqrt(l**2 - x**2),
    "3 (x² + y² − l²)/l": lambda x, y, l: 3 * (x**2 + y**2 - l**2) / l,
    "(x ẋ + y ẏ)/l": lambda x, y, l: (x * x.dot + y * y.dot) / l,
    "−(x ẋ + y ẏ)/l": lambda x, y, l: -(x * x.dot + y * y.dot) / l,
}
AT_REST = {"x": 0.0, "y": -2.0, "x'": 0.0, "y'": 0.0, "m": 3.0, "l": 2.0, "g": 9.81}


def pendulum(way):
    s = da.System("pendulum in x and y")
    x, y = s.coordinates("x y")
    m, l, g = s.constants("m l g")
    s.particle("bob", m, s.O.offset(x * s.N.x + y * s.N.y))
    s.gravity(-g * s.N.y)
    s.constrain(WAYS[way](x, y, l), "rod")
    s.speeds(v=x.dot)
    return s


def numbers(t, nodes, known):
    return np.array(evaluate(t, nodes, lambda i: known[t.nodes[i][1]], FloatArithmetic()))


def solved(t, residuals, unknowns, known):
    """The unknowns of equations linear in them, at given values of everything else."""
    forms = [LinearCoefficients(t, unknowns)(e) for e in residuals]
    n = len(unknowns)
    A = numbers(t, [k.get(j, t.zero) for _, k in forms for j in range(n)], known).reshape(n, n)
    return np.linalg.solve(A, -numbers(t, [c for c, _ in forms], known))


def multiplier(d, known):
    """λ of the only row, from the native equations together with the row differentiated."""
    kin, t = d.kinematics, d.tape
    rows = [as_node(t, kin.scalar(kin.row_in_rates(r)).dot) for r in kin.rows]
    *_, lam = solved(
        t, (*d.native.residuals, *rows), (*d.native.accelerations, *d.native.multipliers), known
    )
    return lam


@pytest.mark.parametrize("way", WAYS)
@every_principle
def test_force_on_the_bob_at_rest_is_mg_upwards(derive, way):
    d = derive(pendulum(way))
    kin, t = d.kinematics, d.tape
    if d.native.along == "q":
        force = multiplier(d, AT_REST) * numbers(
            t, [kin.rows[0].A.get(k, t.zero) for k in range(2)], AT_REST
        )
    else:
        # no multiplier: what the bob needs beside its weight is the rod's
        known = AT_REST | {"v": 0.0}
        (vdot,) = solved(t, d.equations.residuals, kin.udot, known)
        a = numbers(
            t, kin.a(kin.system.bodies[0].G).components(kin.system.N)[:2], known | {"v'": vdot}
        )
        force = 3.0 * a + np.array([0.0, 3.0 * 9.81])
    assert np.allclose([0.0, 3.0 * 9.81], force, rtol=0, atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_reaction_of_the_rod_is_the_same_for_every_row(way):
    # λ A is the same force however the row is written, though λ is not
    kin = da.kinematics(pendulum(way))
    found = reactions(kin)
    (rod,) = found.rows
    known = AT_REST | {rod.multiplier.name: multiplier(da.lagrange(kin), AT_REST)}
    assert np.allclose(3.0 * 9.81, numbers(found.tape, [rod.along["y"].i], known))


# ---- ∂S/∂q̈ of a polar particle contains r̈ − r θ̇²
# ----------------------------------------------------


@pytest.mark.parametrize("derive", [da.gibbs_appell, da.gauss])
def test_gibbs_function_of_a_polar_particle_keeps_the_centripetal_term(derive):
    s = da.System("polar particle")
    s.coordinates("r theta")
    (m,) = s.constants("m")
    B = s.N.rotated(s["theta"], s.N.z)
    s.particle("particle", m, s.O.offset(s["r"] * B.x))
    d = derive(s)
    t = d.tape
    printed = ["m*(r'' - r*theta'**2)", "m*(r**2*theta'' + 2*r*r'*theta')"]
    assert all(
        provably_zero(
            t,
            [
                t.sub(e, as_node(t, s.expression(p)))
                for e, p in zip(d.native.residuals, printed, strict=True)
            ],
        )
    )


# ---- no q̇ or u̇ survives in M or f
# --------------------------------------------------------------------


@pytest.mark.each_time(120)
@pytest.mark.parametrize("name", gallery.names())
@every_principle
def test_mass_matrix_and_forcing_hold_neither_rates_nor_accelerations(name, derive):
    try:
        d = derive(gallery.build(name))
    except da.NotApplicable:
        pytest.skip("this principle does not treat the system")
    kin, equations = d.kinematics, d.equations
    in_M = set(symbols_of(d.tape, [k for row in equations.mass_nodes for k in row.values()]))
    in_f = set(symbols_of(d.tape, equations.forcing_nodes))
    gone = {*kin.qdot, *kin.qddot, *kin.udot, *d.native.multipliers} - set(kin.u)
    assert set() == {kin.name(i) for i in (in_M | in_f) & gone}
    # M depends on place and time only, unless rows that are not linear in the speeds stand in it
    assert kin.nonlinear or set() == {kin.name(i) for i in in_M & set(kin.u)}


# ---- [[−s, c], [c, s]] is regular at q = 0 and at q = π/2
# -----------------------------------------------


def skate(rows):
    """Heading q: no motion across it, and the motion along it is free, or a q̇."""
    s = da.System("skate")
    x, y, q = s.coordinates("x y q")
    m, I, a, c = s.constants("m I a c")
    B = s.N.rotated(q, s.N.z)
    G = s.O.offset(x * s.N.x + y * s.N.y)
    s.body("skate", m, G.offset(c * B.x), B, da.inertia(B, 0, 0, I))
    if rows == "along and across":
        s.constrain(-sin(q) * x.dot + cos(q) * y.dot, "across")
        s.constrain(cos(q) * x.dot + sin(q) * y.dot - a * q.dot, "along")
        s.speeds(u=q.dot)
    else:
        s.constrain(-sin(q) * x.dot + cos(q) * y.dot, "across")
        s.speeds(u1=cos(q) * x.dot + sin(q) * y.dot, u2=q.dot)
        s.potential(a * x)
    return s


@pytest.mark.parametrize("rows", ["along and across", "across"])
@every_principle
def test_rows_are_regular_through_the_quadrants(derive, rows):
    equations = derive(skate(rows)).equations
    t, n = equations.tape, len(equations.u)
    known = {
        "x": 0.3,
        "y": 0.4,
        "m": 2.0,
        "I": 0.7,
        "a": 0.5,
        "c": 0.2,
        "u": 1.1,
        "u1": 1.2,
        "u2": 1.3,
    }
    nodes = [
        row.get(s, t.zero) for row in equations.mass_nodes for s in range(n)
    ] + equations.forcing_nodes

    def udot(q):
        values = numbers(t, nodes, known | {"q": q})
        assert np.all(np.isfinite(values))
        return np.linalg.solve(values[: n * n].reshape(n, n), values[n * n :])

    for q in (0.0, math.pi / 2, math.pi, -math.pi / 2):
        at, beside = udot(q), udot(q + 1e-9)
        assert np.allclose(at, beside, rtol=0, atol=1e-7)


# ---- a specified acceleration enters without extra help
# ----------------------------------------------


@pytest.mark.parametrize("motion", [None, "sin(2*t)"])
@every_principle
def test_specified_acceleration_of_the_pivot_enters(derive, motion):
    s = da.System("pendulum on a moving pivot")
    (theta,) = s.coordinates("theta")
    m, l, g = s.constants("m l g")
    x = s.specified("x", None if motion is None else s.expression(motion))
    B = s.N.rotated(theta, s.N.z)
    s.particle("bob", m, s.O.offset(x * s.N.x).offset(-l * B.y))
    s.gravity(-g * s.N.y)
    d = derive(s)
    t = d.tape
    printed = as_node(t, s.expression("m*l**2*theta'' + m*l*x''*cos(theta) + m*g*l*sin(theta)"))
    assert provably_zero(t, [t.sub(d.equations.residuals[0], printed)])[0]


# ---- a holonomic constraint by position and by velocity
# ----------------------------------------------


def wire(level):
    """A bead on the wire y = x²/4 + sin(t)/5, by position or by velocity."""
    s = da.System("bead on a wire")
    x, y = s.coordinates("x y")
    m, g = s.constants(m=2, g=9.81)
    s.particle("bead", m, s.O.offset(x * s.N.x + y * s.N.y))
    s.gravity(-g * s.N.y)
    phi = y - x**2 / 4 - sin(s.t) / 5
    s.constrain(phi if level == "position" else phi.dot, "wire")
    s.speeds(u=x.dot)
    return s


@every_principle
def test_a_holonomic_constraint_by_position_and_by_velocity(derive):
    by_position, by_velocity = (derive(wire(level)).equations for level in ("position", "velocity"))
    assert all(
        close(accelerations(by_position, k), accelerations(by_velocity, k)) for k in range(5)
    )


def test_both_ways_lead_to_the_same_motion():
    runs = [
        da.simulate(wire(level), 2.0, start={"x": 1.0, "y": 0.25})
        for level in ("position", "velocity")
    ]
    for name in ("x", "y"):
        assert abs(runs[0][name][-1] - runs[1][name][-1]) < 1e-7


# ---- a rolling disk by the 2-point theorem and by direct differentiation
# --------------------------------


def disk_by_its_centre():
    """The disk placed by its centre (x, y, r sin θ); the contact point is at rest by v_G + ω ×
    (C − G).
    """
    s = da.System("disk by its centre")
    x, y, phi, theta, psi = s.coordinates("x y phi theta psi")
    m, r, g = s.constants("m r g")
    N = s.N
    _, B, D = N.rotations("zxz", phi, theta, psi)
    G = s.O.offset(x * N.x + y * N.y + r * sin(theta) * N.z, "G")
    disk = s.disk("disk", G, D, m, r, axis=B.z)
    s.roll(disk, G.offset(-r * B.y, "C"))
    s.gravity(-g * N.z)
    return s


@every_principle
def test_rolling_disk_by_its_contact_and_by_its_centre(derive):
    contact, centre = (
        derive(gallery.build("rolling-disk")).equations,
        derive(disk_by_its_centre()).equations,
    )
    names = [[e.tape.nodes[u][1] for u in e.u] for e in (contact, centre)]
    assert ["phi'", "theta'", "psi'"] == names[0] == names[1]
    assert all(close(accelerations(contact, k), accelerations(centre, k)) for k in range(5))


def test_points_of_a_rolling_disk_by_the_two_point_theorem():
    s = gallery.build("rolling-disk")
    (disk,) = s.bodies
    B, D, G, r = disk.frame.parent, disk.frame, disk.G, s["r"]
    rim = G.offset(r * D.x, "rim")
    kin = da.kinematics(s).fork()
    t, rho = kin.tape, (rim - G).on(kin.tape)
    w, alpha = kin.w(D), kin.alpha(D)
    v = kin.v(G) + w.cross(rho)
    a = kin.a(G) + alpha.cross(rho) + w.cross(w.cross(rho))
    # v_G = ω × r b₂, since the point in contact is at rest
    rolling = kin.v(G) - w.cross((r * B.y).on(t))
    for gap in (kin.v(rim) - v, kin.a(rim) - a, rolling):
        assert all(provably_zero(t, list(gap.components(s.N))))


# ---- angular momentum about a moving point that is not the centre
# --------------------------------------


def masses(s, F):
    """Five particles in no symmetric arrangement, as (mass, place in F)."""
    places = [(1, 2, 0), (0, -1, 3), (2, 0, -1), (-1, 1, 1), (1, -1, -2)]
    return [
        (s.constant(f"m_{k}"), x * F.x + y * F.y + z * F.z) for k, (x, y, z) in enumerate(places, 1)
    ]


def central(s, F, cloud):
    """Mass, mass centre and central inertia of particles fixed in a frame."""
    m = sum((mass for mass, _ in cloud[1:]), cloud[0][0])
    rho = sum((mass * r for mass, r in cloud[1:]), cloud[0][0] * cloud[0][1]) * (1 / m)
    rows = [[0 * m for _ in range(3)] for _ in range(3)]
    for mass, r in cloud:
        d = (r - rho).to(F)
        square = d[0] ** 2 + d[1] ** 2 + d[2] ** 2
        for i in range(3):
            for j in range(3):
                rows[i][j] = rows[i][j] + mass * ((square if i == j else 0) - d[i] * d[j])
    return (
        m,
        rho,
        da.inertia(F, rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[1][2], rows[0][2]),
    )


def test_angular_momentum_about_a_moving_point_equals_the_sum_over_particles():
    s = da.System("body on a moving pivot")
    x = s.specified("x")
    F = s.N.rotations("zyx", *s.coordinates("a b c"))[-1]
    A = s.O.offset(x * s.N.x, "A")
    cloud = masses(s, F)
    m, rho, inertia = central(s, F, cloud)
    body = s.body("body", m, A.offset(rho, "G", F), F, inertia)
    # P moves in space and in the body
    P = A.offset(s["a"] * F.y + x * s.N.z, "P")
    kin = da.kinematics(s).fork()
    t = kin.tape
    total = da.Vector(t, {})
    for mass, r in cloud:
        Q = A.offset(r, None, F)
        total = total + (Q - P).on(t).cross(mass * kin.v(Q))
    H_P = body.inertia @ kin.w(F) + (body.G - P).on(t).cross(body.mass * kin.v(body.G))
    assert all(provably_zero(t, list((H_P - total).components(s.N))))


@every_principle
def test_inertia_about_a_point_that_is_not_the_centre(derive):
    def build(about_joint):
        s = da.System("body on a moving pivot")
        x = s.specified("x")
        m, I1, I2, I3, c = s.constants("m I_1 I_2 I_3 c")
        F = s.N.rotations("zyx", *s.coordinates("a b c_"))[-1]
        A = s.O.offset(x * s.N.x, "A", F)
        G = A.offset(c * F.x, "G", F)
        if about_joint:
            s.body("body", m, G, F, da.inertia(F, I1, I2 + m * c**2, I3 + m * c**2), about=A)
        else:
            s.body("body", m, G, F, da.inertia(F, I1, I2, I3))
        s.speeds("u1 u2 u3", F.w, F)
        return s

    assert close(*(accelerations(derive(build(about)).equations) for about in (True, False)))


# ---- a frame by direction cosines, transposed or not
# ---------------------------------------------------


def product(A, B):
    return [[sum((A[i][k] * B[k][j] for k in range(3)), 0) for j in range(3)] for i in range(3)]


def test_direction_cosines_and_rotations_have_the_same_angular_velocity():
    s = da.System("frames")
    a, b, c = s.coordinates("a b c")

    def about_z(q):
        return [[cos(q), -sin(q), 0], [sin(q), cos(q), 0], [0, 0, 1]]

    def about_x(q):
        return [[1, 0, 0], [0, cos(q), -sin(q)], [0, sin(q), cos(q)]]

    R = product(product(about_z(a), about_x(b)), about_z(c))
    transposed = [list(row) for row in zip(*R, strict=True)]
    by_rotations = s.N.rotations("zxz", a, b, c)[-1]
    by_cosines = s.N.oriented(R)
    # Rᵀ is the same turn backwards: seen from the frame it leads to, the parent turns the other way
    back = s.N.rotations("zxz", -c, -b, -a)[-1]
    by_transposed = s.N.oriented(transposed)
    home = by_cosines.oriented(transposed)
    t = s.space.tape
    for F, G in pairwise((by_rotations, by_cosines)):
        assert all(provably_zero(t, list((F.w - G.w).components(s.N))))
    assert all(provably_zero(t, list((by_transposed.w - back.w).components(s.N))))
    # there and back again: at rest
    assert all(provably_zero(t, list(home.w.components(s.N))))


@every_principle
def test_a_body_in_a_frame_by_direction_cosines_moves_the_same(derive):
    def build(cosines):
        s = da.System("top")
        a, b = s.coordinates("a b")
        A = s.N.rotated(a, s.N.z)
        F = (
            A.oriented([[1, 0, 0], [0, cos(b), -sin(b)], [0, sin(b), cos(b)]])
            if cosines
            else A.rotated(b, A.x)
        )
        s.body("top", 2, s.O.offset(F.z), F, da.inertia(F, 3, 4, 5))
        s.gravity(-9.81 * s.N.z)
        return s

    assert close(*(accelerations(derive(build(cosines)).equations) for cosines in (True, False)))


def test_kinetic_energy_of_a_cloud_and_of_its_body():
    s = da.System("cloud")
    F = s.N.rotations("zyx", *s.coordinates("a b c"))[-1]
    cloud = masses(s, F)
    m, rho, inertia = central(s, F, cloud)
    s.body("body", m, s.O.offset(rho, "G", F), F, inertia)
    kin = da.kinematics(s).fork()
    t = kin.tape
    T = Quantities(kin).speeds.T.value.i
    for mass, r in cloud:
        v = kin.v(s.O.offset(r, None, F))
        T = t.sub(T, as_node(t, mass * (v @ v) / 2))
    assert provably_zero(t, [T])[0]
