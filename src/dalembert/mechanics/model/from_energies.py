"""T, V, D and δW = Σ Q_k δq_k: what many books give of a system in place of its bodies and forces.

A system that is given by its energies has no bodies, so only Lagrange's equations in their forms
apply, not principles that need velocities of points.

A load that is given by its virtual work has no point of application: its work is known, its body
is not. A force Q_k e at a point that lies q_k along a fixed axis e does the same work, F·δr =
Q_k δq_k, and every principle that needs virtual work or power uses it like that; free bodies and
reactions refuse it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from dalembert.errors import BadDescription, BadExpression, NotLinear
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.model.elements import Load
from dalembert.mechanics.model.loads import check_load_name
from dalembert.mechanics.model.registry import (
    Registry,
    expression,
    refuse_accelerations,
    refuse_inputs,
    symbols_by_name,
)
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column
from dalembert.symbolic.algebra.tape import Tape

# a name that is no attribute and no function
_NAME: Final = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\w*\s*\()")


def check_energy_texts(**given: str | float | None) -> dict[str, str]:
    """T, V and D that are given, each as a text; V = 0 and D = 0 count as not given."""
    texts: dict[str, str] = {}
    for what, text in given.items():
        if text is None or text == 0 or (isinstance(text, str) and text.strip() == "0"):
            continue
        if not isinstance(text, str):
            msg = (
                f"from_energies: give {what} as text, such as 'm*x.dot**2/2', not "
                f"{type(text).__name__}"
            )
            raise BadDescription(msg)
        texts[what] = text
    return texts


def undeclared_names(s: Registry, written: Iterable[str], values: Iterable[str]) -> list[str]:
    """Names in the texts that are not declared yet."""
    from dalembert.symbolic.algebra.parser import FUNCTIONS

    inside = dict.fromkeys([*values, *(name for text in written for name in _NAME.findall(text))])
    return [
        name
        for name in inside
        if name not in s.symbols and name not in ("t", "pi", "True", "and", "or", *FUNCTIONS)
    ]


def kinetic_energy(s: Registry, T: str | Scalar) -> None:
    """T(q, q̇, t) of a system without bodies, of degree two in the rates at most."""
    if s.bodies:
        msg = (
            f"kinetic energy: {s.bodies[0].name!r} has mass already; a system is given by its "
            f"bodies or by its energies"
        )
        raise BadDescription(msg)
    s.given_kinetic_energies.append(_check_kinetic_energy(s, expression(s, T)))


def _check_kinetic_energy(s: Registry, T: Scalar) -> Scalar:
    tape = s.space.tape
    rates = [x.dot.i for x in s.q]
    refuse_accelerations(s, "T", (T.i,))
    refuse_inputs(s, "T", T)
    if set(rates).isdisjoint(symbols_of(tape, (T.i,))):
        msg = f"T = {T} contains no rate; write rates as x.dot, as in 'm*x.dot**2/2'"
        raise BadDescription(msg)
    momenta = gradient(tape, {T.i: tape.one}, rates)
    second = [e for p in momenta for e in gradient(tape, {p: tape.one}, rates)]
    third = [e for m in second for e in gradient(tape, {m: tape.one}, rates)]
    if not decide_all_zero(tape, third, "whether T is of degree two in the rates"):
        msg = (
            f"T = {T} is not of degree two in the rates: it must be ½ q̇ᵀ M q̇ + B·q̇ + T₀ with "
            f"M, B, T₀ of q and t"
        )
        raise BadDescription(msg)
    return T


# ---- loads by their virtual work
# -------------------------------------------------------------------


def generalized_force(s: Registry, q: Scalar | str, Q: Any, name: str | None = None) -> None:
    """Q_k along one coordinate: its virtual work is Q_k δq_k.

    Source: Mei85 (7.40).
    """
    e = expression(s, Q)
    refuse_accelerations(s, "generalized force", (e.i,))
    _declare(s, [(_coordinate(s, q), e)], name, "generalized force")


def virtual_work(s: Registry, work: str, name: str | None = None) -> None:
    """δW as text, linear in virtual displacements: s.virtual_work("F*delta(x) +
    2*F*a*cos(theta)*delta(theta)").

    delta(x + 2*a*sin(theta)) is the variation of an expression of the coordinates. The text is
    parsed, never executed.

    Source: Mei85 (7.40), Example 7.4 (h).
    """
    from dalembert.symbolic.algebra.parser import parse

    if not isinstance(work, str):
        msg = (
            f"virtual work: give δW as text, such as 'F*delta(x) + M*delta(theta)', not "
            f"{type(work).__name__}"
        )
        raise BadDescription(msg)
    tape = s.space.tape
    variations = {q.i: tape.private_symbol(f"delta_{q.name}") for q in s.q}

    delta = partial(_variation, tape, variations)
    dW = parse(work, symbols_by_name(s), tape, {"delta": (1, 1, delta)})
    try:
        rest, Q = LinearCoefficients(tape, list(variations.values()))(dW.i)
    except NotLinear:
        rest, Q = tape.one, {}
    if rest != tape.zero or not Q:
        msg = (
            f"virtual work: {work!r} is not linear in virtual displacements; every term has one "
            f"delta(...), as in F*delta(x)"
        )
        raise BadDescription(msg)
    refuse_accelerations(s, "virtual work", Q.values())
    _declare(s, [(s.q[k], Scalar(tape, e)) for k, e in Q.items()], name, "virtual work")


def _variation(tape: Tape, variations: Mapping[int, int], f: Scalar) -> Scalar:
    """δf = Σ ∂f/∂q_k δq_k"""
    moving = [
        str(tape.nodes[i][1])
        for i in symbols_of(tape, (f.i,))
        if i in tape.moving and i not in variations
    ]
    inside = set(symbols_of(tape, (f.i,))).intersection(variations)
    if moving or not inside:
        held = f"{', '.join(moving)} is not varied" if moving else "it contains no coordinate"
        msg = f"delta({f}): {held}; virtual displacements are of functions of the coordinates"
        raise BadExpression(msg)
    return gradient_column(f, Column(tape, variations)) @ Column(tape, variations.values())


def _coordinate(s: Registry, q: Scalar | str) -> Scalar:
    known = {str(x.name): x for x in s.q}
    name = q if isinstance(q, str) else getattr(q, "name", None)
    if name not in known:
        msg = f"generalized force: {q} is not a coordinate; these are {', '.join(known) or 'none'}"
        raise BadDescription(msg)
    return known[name]


def _declare(
    s: Registry, pairs: Sequence[tuple[Scalar, Scalar]], name: str | None, kind: str
) -> None:
    parts = {
        i
        for F in s.space.frames
        if isinstance(F.rotation, Quaternion)
        for i in F.rotation.variables()
    }
    for q, _ in pairs:
        if q.i in parts:
            msg = (
                f"{kind}: {q} is part of a quaternion, which varies with the others; give a "
                f"torque on the body instead"
            )
            raise BadDescription(msg)
    s.loads.append(generalized_load(s, check_load_name(s, name, kind), pairs))


def generalized_load(s: Registry, label: str, pairs: Sequence[tuple[Scalar, Scalar]]) -> Load:
    """Q_k along each q_k, as a load."""
    return Load(
        label,
        tuple((Q * s.space.N.x, _coordinate_point(s, q)) for q, Q in pairs),
        coordinates=tuple(q for q, _ in pairs),
    )


def _coordinate_point(s: Registry, q: Scalar) -> Point:
    """A point that lies q along a fixed axis; none of the system's, so that no table and no
    picture shows it.
    """
    P = s.space.O.offset(q * s.space.N.x, f"δ{q.name}")
    s.space.points.remove(P)
    return P
