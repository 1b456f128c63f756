"""Loads: forces and torques, potentials, dissipation functions, springs, dampers, gravity.

A load is a function that declares a `Load`, a `Potential` or a `Dissipation`; its readers need no
more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dalembert.errors import BadDescription, warn
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import Body, Dissipation, Gravity, Load, Potential
from dalembert.mechanics.model.force_reduction import (
    bodies_at_ends,
    material_velocity,
    reduce_loads,
)
from dalembert.mechanics.model.registry import (
    Registry,
    component_nodes,
    constant_value,
    refuse_accelerations,
    refuse_velocities,
    require_rate,
    scalar,
    time_varying_names,
)
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.exact_number import is_number
from dalembert.symbolic.algebra.expression_graph import dependencies, gradient, operands, symbols_of
from dalembert.symbolic.algebra.functions import sqrt
from dalembert.symbolic.algebra.scalar import Scalar, exact
from dalembert.symbolic.algebra.tape import Number

_ZERO_AT_ZERO: Final = ("add", "sub", "neg", "sqrt", "abs", "sin", "sinh", "asin", "atan", "sign")


def force(
    s: Registry,
    F: Vector,
    at: Point,
    *,
    reaction: Point | None = None,
    on: Any = None,
    name: str | None = None,
) -> None:
    """A force at a point (and its opposite at another).

    It acts on the body of the point, or with `on` on that point of a body which is at that position
    now; with a reaction on=(body, other).
    """
    s.space.check_vector(F, "force")
    refuse_accelerations(s, "force", component_nodes(s, F))
    for P in (at,) if reaction is None else (at, reaction):
        s.space.check_element(P, Point, "force")
    first, second = bodies_at_ends("force", at, reaction, on)
    pair = [(F, at, first)] if reaction is None else [(F, at, first), (-F, reaction, second)]
    s.loads.append(Load(check_load_name(s, name, "force"), *reduce_loads(*pair)))


def torque(
    s: Registry,
    T: Vector,
    on: Frame | Body,
    *,
    reaction: Frame | Body | None = None,
    name: str | None = None,
) -> None:
    """A torque on a body (and its opposite on another)."""
    s.space.check_vector(T, "torque")
    refuse_accelerations(s, "torque", component_nodes(s, T))
    given = [(T, on)] if reaction is None else [(T, on), (-T, reaction)]
    torques = tuple((M, _frame(s, where)) for M, where in given)
    bodies = tuple(where if isinstance(where, Body) else None for _, where in given)
    s.loads.append(Load(check_load_name(s, name, "torque"), torques=torques, bodies=bodies))


def _frame(s: Registry, on: Frame | Body) -> Frame:
    frame = on.frame if isinstance(on, Body) else on
    if not isinstance(frame, Frame):
        hint = "; give the object, without quotes" if isinstance(on, str) else ", such as on=rod"
        msg = f"torque: it must act on a frame or on a rigid body, got {on!r:.80}{hint}"
        raise BadDescription(msg)
    s.space.check_same_system(frame.space)
    return frame


def check_load_name(s: Registry, name: str | None, kind: str) -> str:
    """The given name, or the kind of load with a number; refused where another load has it."""
    taken = (
        {x.name for x in s.loads}
        | {x.name for x in s.potentials}
        | {x.name for x in s.dissipations}
    )
    if name is None:
        number = 1 + sum(x.startswith(kind) for x in taken)
        name = f"{kind} {number}"
    if name in taken:
        msg = f"{name!r} is declared already, as a load"
        raise BadDescription(msg)
    return name


def potential(s: Registry, V: Any, name: str | None = None) -> None:
    """A potential energy V(q, t)."""
    e = scalar(s, V)
    refuse_velocities(s, "potential", (e.i,))
    if s.space.tape.value(e.i) is not None:
        msg = (
            f"potential: V = {e} is a number, so it has no effect; a spring is k*x**2/2, a "
            f"weight m*g*y"
        )
        raise BadDescription(msg)
    s.potentials.append(Potential(check_load_name(s, name, "potential"), e))


def dissipation(s: Registry, D: Any, name: str | None = None) -> None:
    """Rayleigh's dissipation function D(q, q'): loads −∂D/∂q'."""
    e = scalar(s, D)
    refuse_accelerations(s, "dissipation", (e.i,))
    require_rate(s, e)
    _warn_if_linear(s, e)
    _warn_if_negative(s, e)
    s.dissipations.append(Dissipation(check_load_name(s, name, "dissipation"), e))


def spring(
    s: Registry,
    k: Any,
    P: Point,
    Q: Point,
    *,
    rest: Any = 0,
    on: Any = None,
    name: str | None = None,
) -> None:
    """V = ½ k (|P − Q| − rest)²: a linear spring between two points.

    `on` names the body that it pulls at P, on=(body, other) those at both ends. Where such an end
    is not fixed to its body, the spring pulls at ever other points of it, and is a load without a
    potential.
    """
    _check_ends(s, "spring", P, Q)
    bodies = bodies_at_ends("spring", P, Q, on)
    r = P - Q
    K, l0 = scalar(s, k), scalar(s, rest)
    if (length := s.space.tape.value(l0.i)) is not None and length < 0:
        msg = f"spring: its rest length is {rest}; a length is not negative"
        raise BadDescription(msg)
    _warn_if_negative_constant(
        s,
        K,
        "spring: its stiffness k is {}, so it pushes its ends apart; a restoring spring has k > 0",
    )
    F = -K * r if l0 == 0 else -K * (1 - l0 / sqrt(r @ r)) * r
    acting = reduce_loads((F, P, bodies[0]), (-F, Q, bodies[1]))
    label = check_load_name(s, name, "spring")
    if acting.torques:
        s.loads.append(Load(label, *acting))
        return
    stretch2 = r @ r if l0 == 0 else (sqrt(r @ r) - l0) ** 2
    refuse_velocities(s, "spring", (K.i, l0.i))
    # where k or rest change with q, as of a rope on a drum, V does work in addition to that of the
    # two forces
    pulls_alone = {q.i for q in s.q}.isdisjoint(symbols_of(s.space.tape, (K.i, l0.i)))
    s.potentials.append(
        Potential(
            label,
            K * stretch2 / 2,
            (P, Q),
            *((acting.forces, acting.bodies) if pulls_alone else ()),
        )
    )


def damper(
    s: Registry, c: Any, P: Point, Q: Point, *, on: Any = None, name: str | None = None
) -> None:
    """F = −c l̇ n on P and its opposite on Q, l̇ n the part of the relative velocity along the line
    PQ.

    `on` names the body that it pulls at P, on=(body, other) those at both ends: the velocities are
    then those of their points.
    """
    _check_ends(s, "damper", P, Q)
    bodies = bodies_at_ends("damper", P, Q, on)
    _warn_if_negative_constant(
        s, scalar(s, c), "damper: its constant c is {}, so it feeds energy in; a damper has c > 0"
    )
    r, v = P - Q, material_velocity(P, bodies[0]) - material_velocity(Q, bodies[1])
    F = -scalar(s, c) * (r @ v) / (r @ r) * r
    s.loads.append(
        Load(
            check_load_name(s, name, "damper"), *reduce_loads((F, P, bodies[0]), (-F, Q, bodies[1]))
        )
    )


def _check_ends(s: Registry, what: str, P: Point, Q: Point) -> None:
    for end in (P, Q):
        s.space.check_element(end, Point, what)
    if all(provably_zero(s.space.tape, (P - Q).components(s.space.N))):
        msg = (
            f"{what}: {P.name} and {Q.name} are at the same position, so there is no line "
            "between them; give two points"
        )
        raise BadDescription(msg)


def _warn_if_linear(s: Registry, D: Scalar) -> None:
    """∂D/∂q̇ without a rate in it is a load that pushes what stands still."""
    tape = s.space.tape
    rates = [i for i in symbols_of(tape, (D.i,)) if tape.nodes[i][1].endswith("'")]
    loads = dict(zip(rates, gradient(tape, {D.i: tape.one}, rates), strict=True))
    constant = {
        x: Q
        for x, Q in loads.items()
        if not any(_is_velocity(s, tape.nodes[i][1]) for i in symbols_of(tape, (Q,)))
    }
    pushing = [
        str(tape.nodes[x][1]).replace("'", ".dot")
        for x, zero in zip(constant, provably_zero(tape, list(constant.values())), strict=True)
        if not zero
    ]
    if pushing:
        warn(
            f"dissipation: D is linear in {', '.join(pushing)}, a constant load; Rayleigh's "
            f"function is quadratic, c*x.dot**2/2"
        )


def _warn_if_negative(s: Registry, D: Scalar) -> None:
    """D ≤ 0 that is 0 at rest: no motion loses energy by it, and some gain."""
    tape = s.space.tape
    # of each node: whether it is known to be positive or negative (or 0) in every state, and
    # whether it is 0 at rest
    signs: dict[int, int | None] = {}
    at_rest: dict[int, bool] = {}
    for i in dependencies(tape, (D.i,)):
        op, a, b = tape.nodes[i]
        signs[i] = _sign(s, op, a, b, signs)
        parts = [at_rest[x] for x in operands(op, a, b)]
        if op == "symbol":
            at_rest[i] = _is_velocity(s, a)
        else:
            at_rest[i] = (
                any(parts)
                if op == "mul"
                else parts[0]
                if op == "div"
                else op in _ZERO_AT_ZERO and all(parts)
            )
    if signs[D.i] == -1 and at_rest[D.i]:
        warn(
            f"dissipation: D = {D} is never positive, so it feeds energy in; Rayleigh's function "
            f"is c*x.dot**2/2 with c > 0"
        )


def _is_velocity(s: Registry, name: str) -> bool:
    """Whether a symbol is the rate of another, or a speed."""
    return name.endswith("'") or (name in s.symbols and s.symbols[name].kind == "speed")


def _sign(s: Registry, op: str, a: Any, b: Any, signs: Mapping[int, int | None]) -> int | None:
    """The sign of an operation, constants taken as they were declared; None where it may be
    either.
    """
    if op in ("const", "symbol"):
        value = (
            a
            if op == "const"
            else s.symbols[a].value
            if a in s.symbols and s.symbols[a].kind == "constant"
            else None
        )
        return None if not value else 1 if value > 0 else -1
    if op in ("pi", "sqrt", "exp", "abs", "cosh") or (op == "mul" and a == b):
        return 1
    if op not in ("neg", "add", "sub", "mul", "div"):
        return None
    # −b is (−1) b, and a quotient has the sign of the product
    first, second = (-1, signs[a]) if op == "neg" else (signs[a], signs[b])
    if first is None or second is None:
        return None
    if op in ("add", "sub"):
        return first if first == (second if op == "add" else -second) else None
    return first * second


def _warn_if_negative_constant(s: Registry, k: Scalar, text: str) -> None:
    value = s.space.tape.value(k.i)
    if value is not None and value < 0:
        warn(text.format(k))


def parse_gravity(g: Any) -> Scalar | Number:
    """g as a number, an expression, or a text with a unit of acceleration."""
    if isinstance(g, Scalar):
        return g
    if not isinstance(g, str):
        return exact(g)
    from dalembert.symbolic.units.quantities import parse_quantity, parse_unit

    number, dimension = parse_quantity(g)
    if dimension not in (parse_unit("m/s**2")[1], parse_unit("rad")[1]):
        msg = f"gravity={g!r} is no acceleration; write gravity=9.81, or '9.81 m/s**2'"
        raise BadDescription(msg)
    return number


def gravity(s: Registry, g: Vector) -> None:
    """A uniform gravity field: the force m g on every mass."""
    if not isinstance(g, Vector) and is_number(g):
        msg = (
            f"gravity: expected a vector such as a*N.x, got {g}; downward gravity is "
            f"-{abs(g)}*s.N.y, or da.System(…, gravity={abs(g)})"
        )
        raise BadDescription(msg)
    s.space.check_vector(g, "gravity")
    if s.gravity_field is not None:
        msg = "gravity is declared already; a system has one gravity field"
        raise BadDescription(msg)
    moving = time_varying_names(s, *g.components(s.space.N))
    if moving:
        otherwise = (
            "it must be fixed in the inertial frame (declare any other as s.force on each body)"
        )
        msg = f"gravity: the field depends on {', '.join(moving)}; {otherwise}"
        raise BadDescription(msg)
    x, y, z = (constant_value(s, Scalar(s.space.tape, c)) for c in g.components(s.space.N))
    # z points down for those who build vehicles
    if x == z == 0 and y is not None and y > 0:
        warn(
            "gravity pulls along +N.y, which points up in most drawings; downward gravity is -g*N.y"
        )
    s.gravity_field = Gravity(g)
