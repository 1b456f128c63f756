"""The books' systems in SymPy mechanics, each by the method its tutorials use for it: Lagrange
where q̇ will do, else Kane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import (
    LagrangesMethod,
    Lagrangian,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

from peers.sympy_mechanics import Described, kane, rolling_disk


def _by_lagrange(
    q: list[Any], N: Any, bodies: list[Any], loads: list[Any] | None = None
) -> list[Any]:
    method = LagrangesMethod(Lagrangian(N, *bodies), q, forcelist=loads, frame=N)
    return list(method.form_lagranges_equations())


def _by_kane(described: Described) -> list[Any]:
    """In the independent speeds: KanesMethod leaves the dependent ones and their rates in its
    equations.
    """
    method = kane(described)
    n = len(described.u) - described.dependent
    left = method.mass_matrix[:n, :] * sympy.Matrix(described.u).diff() - method.forcing[:n, :]
    if not described.dependent:
        return list(left)
    solved = sympy.solve(described.rows, described.u[n:], dict=True)[0]
    of_speeds = {q: e.xreplace(solved) for q, e in method.kindiffdict().items()}
    rates = {u.diff(): e.diff(sympy.Symbol("t")).xreplace(of_speeds) for u, e in solved.items()}
    return list(left.xreplace(rates).xreplace(solved))


def _fixed(N: Any) -> Any:
    O = Point("O")
    O.set_vel(N, 0)
    return O


def _moving(O: Any, name: str, r: Any, N: Any) -> Any:
    P = O.locatenew(name, r)
    P.set_vel(N, r.time_derivative(N))
    return P


def mass_on_incline() -> list[Any]:
    """A spring along the slope."""
    (r,) = dynamicsymbols("r:1")
    m, k, theta, g = sympy.symbols("m k theta g")
    N = ReferenceFrame("N")
    slope = N.orientnew("slope", "Axis", (-theta, N.z))
    mass = Particle("mass", _moving(_fixed(N), "P", r * slope.x, N), m)
    mass.potential_energy = k * r**2 / 2 + m * g * (r * slope.x).dot(N.y)
    return _by_lagrange([r], N, [mass])


def cart_and_bar() -> list[Any]:
    """The force at the lower end of the bar."""
    x, theta, F = dynamicsymbols("x theta F")
    M, m, a, k, g = sympy.symbols("M m a k g")
    N = ReferenceFrame("N")
    B = N.orientnew("B", "Axis", (theta, N.z))
    O = _fixed(N)
    C = _moving(O, "C", x * N.x, N)
    G = C.locatenew("G", -a * B.y)
    E = C.locatenew("E", -2 * a * B.y)
    G.v2pt_theory(C, N, B)
    E.v2pt_theory(C, N, B)
    cart = Particle("cart", C, M)
    bar = RigidBody("bar", G, B, m, (inertia(B, m * a**2 / 3, 0, m * a**2 / 3), G))
    cart.potential_energy = k * x**2 / 2
    bar.potential_energy = m * g * G.pos_from(O).dot(N.y)
    return _by_lagrange([x, theta], N, [cart, bar], [(E, F * N.x)])


def knife_edge_rod() -> list[Any]:
    """Three speeds, the last one zero."""
    x, y, phi, u1, u2, u3 = dynamicsymbols("x y phi u1 u2 u3")
    m, l = sympy.symbols("m l")
    N = ReferenceFrame("N")
    B = N.orientnew("B", "Axis", (phi, N.z))
    B.set_ang_vel(N, u2 * N.z)
    P = Point("P")
    P.set_vel(N, u1 * B.x + u3 * B.y)
    Q = P.locatenew("Q", l * B.x)
    Q.v2pt_theory(P, N, B)
    v = x.diff() * N.x + y.diff() * N.y
    rates = [u1 - v.dot(B.x), u2 - phi.diff(), u3 - v.dot(B.y)]
    bodies = [Particle("one", P, m), Particle("two", Q, m)]
    return _by_kane(Described(N, [x, y, phi], [u1, u2, u3], rates, bodies, [], {}, [u3], 1))


def vehicle() -> list[Any]:
    """Velocity of A along and across the body as speeds, the second zero."""
    X, Y, theta, u1, u2, u3, F_C, F_D = dynamicsymbols("X Y theta u1 u2 u3 F_C F_D")
    m, I_G, L, h = sympy.symbols("m I_G L h")
    N = ReferenceFrame("N")
    B = N.orientnew("B", "Axis", (theta, N.z))
    B.set_ang_vel(N, u2 * N.z)
    A = Point("A")
    A.set_vel(N, u1 * B.x + u3 * B.y)
    G, C, D = A.locatenew("G", L * B.x), A.locatenew("C", h * B.y), A.locatenew("D", -h * B.y)
    for P in (G, C, D):
        P.v2pt_theory(A, N, B)
    v = X.diff() * N.x + Y.diff() * N.y - L * theta.diff() * B.y
    rates = [u1 - v.dot(B.x), u2 - theta.diff(), u3 - v.dot(B.y)]
    body = RigidBody("vehicle", G, B, m, (inertia(B, 0, 0, I_G), G))
    return _by_kane(
        Described(
            N,
            [X, Y, theta],
            [u1, u2, u3],
            rates,
            [body],
            [(C, F_C * B.x), (D, F_D * B.x)],
            {},
            [u3],
            1,
        )
    )


def hoist() -> list[Any]:
    """The hinge is moved along its axis as prescribed."""
    theta, x = dynamicsymbols("theta x")
    m_Q, m_B, L, I, g = sympy.symbols("m_Q m_B L I g")
    N = ReferenceFrame("N")
    B = N.orientnew("B", "Axis", (theta, N.x))
    O = _fixed(N)
    Q = _moving(O, "Q", x * N.x, N)
    G = Q.locatenew("G", -L * B.y)
    G.v2pt_theory(Q, N, B)
    body = RigidBody("body", G, B, m_B, (inertia(B, I, 0, 0), G))
    body.potential_energy = m_B * g * G.pos_from(O).dot(N.y)
    return _by_lagrange([theta], N, [Particle("hoist", Q, m_Q), body])


def positioning_device() -> list[Any]:
    """Spin of the sphere in four speeds, two of them held by rolling."""
    s, v, w_x, w_y, w_z, Omega = dynamicsymbols("s v omega_x omega_y omega_z Omega")
    m, r, L, k, b = sympy.symbols("m r L k b")
    N, A, C = ReferenceFrame("N"), ReferenceFrame("A"), ReferenceFrame("C")
    A.set_ang_vel(N, Omega * A.y)
    w = w_x * A.x + w_y * A.y + w_z * A.z
    C.set_ang_vel(N, w)
    G = Point("G")
    v_G = v * A.x - Omega * (L + s) * A.z
    G.set_vel(N, v_G)
    slip = v_G + w.cross(-r * A.y)
    I = sympy.Rational(2, 5) * m * r**2
    body = RigidBody("sphere", G, C, m, (inertia(A, I, I, I), G))
    loads = [(C, -b * (w - Omega * A.y)), (G, -k * s * A.x)]
    rows = [slip.dot(A.x), slip.dot(A.z)]
    return _by_kane(
        Described(N, [s], [w_y, v, w_x, w_z], [v - s.diff()], [body], loads, {}, rows, 2)
    )


def double_pendulum() -> list[Any]:
    """Two rods, the second angle from the first rod."""
    alpha, beta = dynamicsymbols("alpha beta")
    m_1, m_2, l_1, l_2, g = sympy.symbols("m_1 m_2 l_1 l_2 g")
    N = ReferenceFrame("N")
    P = _fixed(N)
    O, F, bodies = P, N, []
    for n, (angle, m, l) in enumerate(((alpha, m_1, l_1), (beta, m_2, l_2))):
        B = F.orientnew(f"B{n}", "Axis", (angle, N.z))
        G, Q = P.locatenew(f"G{n}", -l / 2 * B.y), P.locatenew(f"Q{n}", -l * B.y)
        G.v2pt_theory(P, N, B)
        Q.v2pt_theory(P, N, B)
        rod = RigidBody(f"rod{n}", G, B, m, (inertia(B, m * l**2 / 12, 0, m * l**2 / 12), G))
        rod.potential_energy = m * g * G.pos_from(O).dot(N.y)
        bodies.append(rod)
        P, F = Q, B
    return _by_lagrange([alpha, beta], N, bodies)


def spherical_pendulum() -> list[Any]:
    """Azimuth and the angle from the lowest point."""
    theta, phi = dynamicsymbols("theta phi")
    m, l, g = sympy.symbols("m l g")
    N = ReferenceFrame("N")
    B = _turned(N, phi, theta)
    O = _fixed(N)
    P = O.locatenew("P", -l * B.z)
    P.v2pt_theory(O, N, B)
    bob = Particle("bob", P, m)
    bob.potential_energy = m * g * P.pos_from(O).dot(N.z)
    return _by_lagrange([theta, phi], N, [bob])


def _turned(N: Any, phi: Any, theta: Any) -> Any:
    A = N.orientnew("A", "Axis", (phi, N.z))
    return A.orientnew("B", "Axis", (theta, A.x))


def lagrange_top() -> list[Any]:
    """Moments of inertia about the fixed point, in the frame that does not spin."""
    phi, theta, psi = dynamicsymbols("phi theta psi")
    M, l, I_1, I_3, g = sympy.symbols("M l I_1 I_3 g")
    N = ReferenceFrame("N")
    B = _turned(N, phi, theta)
    D = B.orientnew("D", "Axis", (psi, B.z))
    O = _fixed(N)
    G = O.locatenew("G", l * B.z)
    G.v2pt_theory(O, N, B)
    top = RigidBody("top", G, D, M, (inertia(B, I_1 - M * l**2, I_1 - M * l**2, I_3), G))
    top.potential_energy = M * g * G.pos_from(O).dot(N.z)
    return _by_lagrange([phi, theta, psi], N, [top])


SYSTEMS: dict[str, Callable[[], list[Any]]] = {
    "mass-on-incline": mass_on_incline,
    "cart-and-bar": cart_and_bar,
    "knife-edge-rod": knife_edge_rod,
    "rolling-disk": lambda: _by_kane(rolling_disk()),
    "vehicle": vehicle,
    "hoist": hoist,
    "positioning-device": positioning_device,
    "double-pendulum": double_pendulum,
    "spherical-pendulum": spherical_pendulum,
    "lagrange-top": lagrange_top,
}


def written(expressions: list[Any]) -> list[str]:
    """Each as Python would write it, without common factors, rates as single names."""
    return [str(_without_factors(_named(e))) for e in expressions]


def _named(e: Any) -> Any:
    """x(t) and its derivatives as symbols."""
    rates = {
        d: sympy.Symbol(f"{d.expr.func.__name__}_{'d' * d.derivative_count}")
        for d in e.atoms(sympy.Derivative)
    }
    plain = e.xreplace(rates)
    return plain.xreplace({f: sympy.Symbol(f.func.__name__) for f in plain.atoms(AppliedUndef)})


def _without_factors(e: Any) -> Any:
    """e = 0 without the factors that are no sums; a denominator goes too, and a sum is freed of
    what all its terms share.
    """
    sums = [f for f in sympy.Mul.make_args(e) if f.is_Add]
    if len(sums) != 1:
        return e
    common, rest = sympy.factor_terms(sums[0]).as_coeff_Mul()
    inner = [f for f in sympy.Mul.make_args(rest) if f.is_Add]
    return min([sums[0], *inner] if len(inner) == 1 and common else sums, key=sympy.count_ops)


SHORTEN = {"simplify": sympy.simplify, "trigsimp": sympy.trigsimp}
