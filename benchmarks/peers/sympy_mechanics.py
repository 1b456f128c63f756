"""SymPy mechanics: KanesMethod on the same systems, and its equations lambdified."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy
import sympy
from numpy.typing import NDArray
from sympy.physics import mechanics
from systems import GRAVITY, Link


class Described(NamedTuple):
    """What KanesMethod is given; the velocities are part of the description here."""

    N: Any
    q: Sequence[Any]
    u: Sequence[Any]
    rates: Sequence[Any]
    bodies: Sequence[Any]
    loads: Sequence[Any]
    constants: dict[Any, float]
    rows: Sequence[Any] = ()
    dependent: int = 0


def kane(d: Described) -> Any:
    """The equations, with the mass matrix and the forcing."""
    n = len(d.u) - d.dependent
    rows = {"u_dependent": d.u[n:], "velocity_constraints": d.rows} if d.dependent else {}
    method = mechanics.KanesMethod(d.N, q_ind=d.q, u_ind=d.u[:n], kd_eqs=d.rates, **rows)
    method.kanes_equations(d.bodies, d.loads)
    return method


def pendulum(n: int) -> Described:
    """n point masses on massless rods in a plane, relative angles."""
    q, u = mechanics.dynamicsymbols(f"q1:{n + 1}"), mechanics.dynamicsymbols(f"u1:{n + 1}")
    m, l, g = sympy.symbols(f"m1:{n + 1}"), sympy.symbols(f"l1:{n + 1}"), sympy.Symbol("g")
    N, P = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    P.set_vel(N, 0)
    F, bodies, loads = N, [], []
    for i in range(n):
        B = F.orientnew(f"B{i}", "Axis", (q[i], N.z))
        B.set_ang_vel(F, u[i] * N.z)
        Q = P.locatenew(f"P{i}", -l[i] * B.y)
        Q.v2pt_theory(P, N, B)
        bodies.append(mechanics.Particle(f"bob{i}", Q, m[i]))
        loads.append((Q, -m[i] * g * N.y))
        P, F = Q, B
    rates = [a.diff() - b for a, b in zip(q, u, strict=True)]
    return Described(N, q, u, rates, bodies, loads, {**dict.fromkeys((*m, *l), 1.0), g: GRAVITY})


def chain(links: list[Link]) -> Described:
    """The spatial chain with its numbers built in."""
    n = len(links)
    q, u = mechanics.dynamicsymbols(f"q1:{n + 1}"), mechanics.dynamicsymbols(f"u1:{n + 1}")
    N, P = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    P.set_vel(N, 0)
    F, bodies, loads = N, [], []
    for i, link in enumerate(links):
        joint = P.locatenew(f"P{i}", _vector(link.offset, F))
        joint.v2pt_theory(P, N, F)
        axis = (F.x, F.y, F.z)[link.axis]
        B = F.orientnew(f"B{i}", "Axis", (q[i], axis))
        B.set_ang_vel(F, u[i] * axis)
        G = joint.locatenew(f"G{i}", _vector(link.centre, B))
        G.v2pt_theory(joint, N, B)
        I = [float(link.inertia[a, b]) for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))]
        bodies.append(
            mechanics.RigidBody(f"body{i}", G, B, link.mass, (mechanics.inertia(B, *I), G))
        )
        loads.append((G, -link.mass * GRAVITY * N.z))
        P, F = joint, B
    return Described(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)], bodies, loads, {})


def rolling_disk() -> Described:
    """Heading, lean, spin as q, body rates as u, and the contact's velocity as two rows, as in
    SymPy's own example.
    """
    q, u = mechanics.dynamicsymbols("q1:6"), mechanics.dynamicsymbols("u1:6")
    m, r, g = sympy.symbols("m r g")
    N, O = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    A = N.orientnew("A", "Axis", (q[0], N.z))
    B = A.orientnew("B", "Axis", (q[1], A.x))
    D = B.orientnew("D", "Axis", (q[2], B.z))
    O.set_vel(N, 0)
    C = O.locatenew("C", q[3] * N.x + q[4] * N.y)
    w = u[0] * N.z + u[1] * A.x + u[2] * B.z
    D.set_ang_vel(N, w.express(B))
    G = C.locatenew("G", r * B.y)
    v_C = u[3] * N.x + u[4] * N.y
    v_G = v_C + (u[0] * N.z + u[1] * A.x).cross(r * B.y)
    G.set_vel(N, v_G.express(B))
    slip = v_G + w.cross(-r * B.y)
    body = mechanics.RigidBody(
        "disk", G, D, m, (mechanics.inertia(B, m * r**2 / 4, m * r**2 / 4, m * r**2 / 2), G)
    )
    rates = [a.diff() - b for a, b in zip(q, u, strict=True)]
    values = {m: 1.0, r: 0.5, g: GRAVITY}
    return Described(
        N, q, u, rates, [body], [(G, -m * g * N.z)], values, [slip.dot(N.x), slip.dot(N.y)], 2
    )


def _vector(x: NDArray[Any], F: Any) -> Any:
    return float(x[0]) * F.x + float(x[1]) * F.y + float(x[2]) * F.z


@functools.cache
def pendulum_equations(n: int) -> tuple[Described, Any]:
    """Derived once for all who evaluate them."""
    d = pendulum(n)
    return d, kane(d)


def _with_numbers(d: Described, method: Any) -> tuple[Any, Any]:
    """M and f with the constants put in; `subs` would take minutes where `xreplace` takes a
    second.
    """
    numbers = {symbol: sympy.Float(value) for symbol, value in d.constants.items()}
    return method.mass_matrix.xreplace(numbers), method.forcing.xreplace(numbers)


def rates_by_solve(n: int) -> Callable[[float, Any], NDArray[Any]]:
    """ẏ(t, y) as SymPy's tutorials do it: M and f lambdified with common subexpressions, solved
    by numpy.
    """
    d, method = pendulum_equations(n)
    M, f = _with_numbers(d, method)
    function = sympy.lambdify([*d.q, *d.u], (M, f), cse=True)

    def rates(_t: float, y: Any) -> NDArray[Any]:
        M, f = function(*y)
        return numpy.concatenate([y[n:], numpy.linalg.solve(M, f[:, 0])])

    return rates


def rates_by_formulas(n: int) -> Callable[[float, Any], NDArray[Any]]:
    """ẏ(t, y) solved in symbols and lambdified to Python's own floats: the fastest that plain
    Python does for few degrees of freedom.
    """
    d, method = pendulum_equations(n)
    M, f = _with_numbers(d, method)
    function = sympy.lambdify([*d.q, *d.u], list(M.LUsolve(f)), modules=math, cse=True)

    def rates(_t: float, y: Any) -> NDArray[Any]:
        x = y.tolist()
        return numpy.array([*x[n:], *function(*x)])

    return rates
