"""Systems as SymPy's own tests and examples describe them, written for sympy.physics.mechanics."""

from __future__ import annotations

from sympy import Matrix, cos, sin, symbols
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Lagrangian,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    dot,
    dynamicsymbols,
    inertia,
)


def one_dof():
    q, u, m, c, k = *dynamicsymbols("q u"), *symbols("m c k")
    N, P = ReferenceFrame("N"), Point("P")
    O = Point("O")
    O.set_vel(N, 0)
    P.set_pos(O, q * N.x)
    P.set_vel(N, u * N.x)
    pa = Particle("pa", P, m)
    KM = KanesMethod(N, [q], [u], [q.diff() - u])
    KM.kanes_equations([pa], [(P, (-k * q - c * u) * N.x)])
    return KM, None


def two_dof():
    q1, q2, u1, u2 = dynamicsymbols("q1 q2 u1 u2")
    m, c1, c2, k1, k2 = symbols("m c1 c2 k1 k2")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P1, P2 = O.locatenew("P1", q1 * N.x), O.locatenew("P2", (q1 + q2) * N.x)
    P1.set_vel(N, u1 * N.x)
    P2.set_vel(N, (u1 + u2) * N.x)
    loads = [(P1, (-k1 * q1 - c1 * u1 + k2 * q2 + c2 * u2) * N.x), (P2, (-k2 * q2 - c2 * u2) * N.x)]
    KM = KanesMethod(N, [q1, q2], [u1, u2], [q1.diff() - u1, q2.diff() - u2])
    KM.kanes_equations([Particle("pa1", P1, m), Particle("pa2", P2, m)], loads)
    return KM, None


def pendulum():
    q, u, m, l, g = *dynamicsymbols("q u"), *symbols("m l g")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    P = O.locatenew("P", l * A.x)
    P.v2pt_theory(O, N, A)
    KM = KanesMethod(N, [q], [u], [q.diff() - u])
    KM.kanes_equations([Particle("P", P, m)], [(P, m * g * N.x)])
    return KM, None


def double_pendulum():
    q1, q2, u1, u2 = dynamicsymbols("q1 q2 u1 u2")
    m, l, g = symbols("m l g")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A, B = N.orientnew("A", "Axis", [q1, N.z]), N.orientnew("B", "Axis", [q2, N.z])
    A.set_ang_vel(N, u1 * N.z)
    B.set_ang_vel(N, u2 * N.z)
    P = O.locatenew("P", l * A.x)
    R = P.locatenew("R", l * B.x)
    P.v2pt_theory(O, N, A)
    R.v2pt_theory(P, N, B)
    KM = KanesMethod(N, [q1, q2], [u1, u2], [q1.diff() - u1, q2.diff() - u2])
    KM.kanes_equations(
        [Particle("ParP", P, m), Particle("ParR", R, m)], [(P, m * g * N.x), (R, m * g * N.x)]
    )
    return KM, None


def double_pendulum_by_lagrange():
    q1, q2 = dynamicsymbols("q1 q2")
    m, l, g = symbols("m l g")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A, B = N.orientnew("A", "Axis", [q1, N.z]), N.orientnew("B", "Axis", [q2, N.z])
    P = O.locatenew("P", l * A.x)
    R = P.locatenew("R", l * B.x)
    P.v2pt_theory(O, N, A)
    R.v2pt_theory(P, N, B)
    ParP, ParR = Particle("ParP", P, m), Particle("ParR", R, m)
    ParP.potential_energy = -m * g * l * cos(q1)
    ParR.potential_energy = -m * g * l * (cos(q1) + cos(q2))
    LM = LagrangesMethod(Lagrangian(N, ParP, ParR), [q1, q2], bodies=[ParP, ParR], frame=N)
    LM.form_lagranges_equations()
    return LM, None


def rolling_disc():
    q1, q2, q3, u1, u2, u3 = dynamicsymbols("q1 q2 q3 u1 u2 u3")
    q4, q5 = dynamicsymbols("q4 q5")
    u4, u5 = dynamicsymbols("u4 u5")
    r, m, g = symbols("r m g")
    N = ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", [q1, N.z])
    L = Y.orientnew("L", "Axis", [q2, Y.x])
    R = L.orientnew("R", "Axis", [q3, L.y])
    O = Point("O")
    O.set_vel(N, 0)
    C = O.locatenew("C", q4 * N.x + q5 * N.y)
    Dmc = C.locatenew("Dmc", r * L.z)
    kd = [q1.diff() - u1, q2.diff() - u2, q3.diff() - u3, q4.diff() - u4, q5.diff() - u5]
    velocity = (
        Dmc.pos_from(O)
        .dt(N)
        .subs({q1.diff(): u1, q2.diff(): u2, q3.diff(): u3, q4.diff(): u4, q5.diff(): u5})
    )
    Dmc.set_vel(N, velocity)
    w = R.ang_vel_in(N).subs({q1.diff(): u1, q2.diff(): u2, q3.diff(): u3})
    R.set_ang_vel(N, w)
    contact = velocity + w.cross(-r * L.z)
    rows = [contact & N.x, contact & N.y]
    I = inertia(L, m / 4 * r**2, m / 2 * r**2, m / 4 * r**2)
    disc = RigidBody("BodyD", Dmc, R, m, (I, Dmc))
    KM = KanesMethod(
        N, [q1, q2, q3, q4, q5], [u1, u2, u3], kd, u_dependent=[u4, u5], velocity_constraints=rows
    )
    KM.kanes_equations([disc], [(Dmc, -m * g * Y.z)])
    return KM, None


def auxiliary_free_top():
    """A top with body rates as speeds."""
    q1, q2, q3, u1, u2, u3 = dynamicsymbols("q1 q2 q3 u1 u2 u3")
    m, l, g, Ix, Iz = symbols("m l g Ix Iz")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q1, N.z])
    B = A.orientnew("B", "Axis", [q2, A.x])
    C = B.orientnew("C", "Axis", [q3, B.z])
    w = C.ang_vel_in(N)
    kd = [dot(w, C.x) - u1, dot(w, C.y) - u2, dot(w, C.z) - u3]
    O = Point("O")
    O.set_vel(N, 0)
    C.set_ang_vel(N, u1 * C.x + u2 * C.y + u3 * C.z)
    G = O.locatenew("G", l * C.z)
    G.v2pt_theory(O, N, C)
    top = RigidBody("top", G, C, m, (inertia(C, Ix, Ix, Iz), G))
    KM = KanesMethod(N, [q1, q2, q3], [u1, u2, u3], kd)
    KM.kanes_equations([top], [(G, -m * g * N.z)])
    return KM, None


def cart_and_pendulum_with_a_force():
    q1, q2, u1, u2, F = dynamicsymbols("q1 q2 u1 u2 F")
    M, m, l, g = symbols("M m l g")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q2, N.z])
    A.set_ang_vel(N, u2 * N.z)
    P = O.locatenew("P", q1 * N.x)
    P.set_vel(N, u1 * N.x)
    R = P.locatenew("R", -l * A.y)
    R.v2pt_theory(P, N, A)
    KM = KanesMethod(N, [q1, q2], [u1, u2], [q1.diff() - u1, q2.diff() - u2])
    KM.kanes_equations(
        [Particle("cart", P, M), Particle("bob", R, m)],
        [(P, -M * g * N.y + F * N.x), (R, -m * g * N.y)],
    )
    return KM, None


def rod_with_torque():
    q, u, m, l, g, I, k = *dynamicsymbols("q u"), *symbols("m l g I k")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    G = O.locatenew("G", l * A.x)
    G.v2pt_theory(O, N, A)
    rod = RigidBody("rod", G, A, m, (inertia(A, 0, I, I), G))
    KM = KanesMethod(N, [q], [u], [q.diff() - u])
    KM.kanes_equations([rod], [(G, m * g * N.x), (A, -k * q * N.z)])
    return KM, None


def pendulum_in_cartesian_coordinates():
    """The bob on a circle by a configuration constraint."""
    q1, q2, u1, u2 = dynamicsymbols("q1 q2 u1 u2")
    m, L, g = symbols("m L g")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", q1 * N.x + q2 * N.y)
    P.set_vel(N, u1 * N.x + u2 * N.y)
    row = q1**2 + q2**2 - L**2
    rate = [q1 * u1 + q2 * u2]
    kd = [q1.diff() - u1, q2.diff() - u2]
    KM = KanesMethod(
        N,
        [q2],
        [u2],
        kd,
        q_dependent=[q1],
        u_dependent=[u1],
        configuration_constraints=[row],
        velocity_constraints=rate,
    )
    KM.kanes_equations([Particle("bob", P, m)], [(P, m * g * N.x)])
    return KM, None


def spinning_beads():
    """A bead in a tube that turns as it is told."""
    q, u, w = dynamicsymbols("q u w")
    m, k = symbols("m k")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [w, N.z])
    P = O.locatenew("P", q * A.x)
    P.set_vel(A, u * A.x)
    P.v1pt_theory(O, N, A)
    KM = KanesMethod(N, [q], [u], [q.diff() - u])
    KM.kanes_equations([Particle("bead", P, m)], [(P, -k * q * A.x)])
    return KM, None


def pendulum_as_a_system():
    """SymPy's own joints make the system."""
    from sympy.physics.mechanics import PinJoint, System

    q, u, m, l, g, I = *dynamicsymbols("q u"), *symbols("m l g I")
    ground, rod = RigidBody("ground"), RigidBody("rod", mass=m)
    rod.central_inertia = inertia(rod.frame, 0, I, I)
    system = System.from_newtonian(ground)
    system.add_joints(
        PinJoint("joint", ground, rod, q, u, child_point=-l * rod.x, joint_axis=ground.z)
    )
    system.apply_uniform_gravity(-g * system.frame.y)
    system.form_eoms()
    return system, None


def spherical_pendulum_by_lagrange():
    a, b = dynamicsymbols("a b")
    m, l, g = symbols("m l g")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", l * (sin(a) * cos(b) * N.x + sin(a) * sin(b) * N.y - cos(a) * N.z))
    P.set_vel(N, P.pos_from(O).dt(N))
    bob = Particle("bob", P, m)
    bob.potential_energy = -m * g * l * cos(a)
    LM = LagrangesMethod(Lagrangian(N, bob), Matrix([a, b]), bodies=[bob], frame=N)
    LM.form_lagranges_equations()
    return LM, None


SYSTEMS = {
    f.__name__: f
    for f in list(globals().values())
    if callable(f) and getattr(f, "__module__", "") == __name__
}
