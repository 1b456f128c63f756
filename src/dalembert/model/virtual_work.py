"""δW = Σ Q_k δq_k: generalized forces given as the books give them, by coordinate or by their virtual work.

Such a load has no place: it says what work is done, not on which body. A force Q_k e at a point that lies q_k along a fixed axis e
does the same work, F·δr = Q_k δq_k, and every principle that asks for virtual work or power takes it like that; free bodies and
reactions refuse it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dalembert.algebra.columns import Column, slopes
from dalembert.algebra.folds import Linear, symbols_of
from dalembert.algebra.parser import parse
from dalembert.algebra.scalar import Scalar
from dalembert.errors import BadDescription, BadExpression, NotLinear
from dalembert.geometry.point import Point
from dalembert.geometry.rotation import Quaternion
from dalembert.model.elements import Load
from dalembert.model.loads import checked_load_name
from dalembert.model.registry import Registry, refuse_accelerations, scalar


def generalized_force(s: Registry, q: Scalar | str, Q: Any, name: str | None = None) -> None:
    """Q_k along one coordinate: its virtual work is Q_k δq_k.

    Source: Mei85 (7.40).
    """
    e = _read(s, Q)
    refuse_accelerations(s, "generalized force", (e.i,))
    _declare(s, [(_coordinate(s, q), e)], name, "generalized force")


def virtual_work(s: Registry, work: str, name: str | None = None) -> None:
    """δW as text, linear in virtual displacements: s.virtual_work("F*delta(x) + 2*F*a*cos(theta)*delta(theta)").

    delta(x + 2*a*sin(theta)) is the variation of an expression of the coordinates. The text is parsed, never executed.

    Source: Mei85 (7.40), Example 7.4 (h).
    """
    if not isinstance(work, str):
        msg = f"virtual work: give δW as text, such as 'F*delta(x) + M*delta(theta)', not {type(work).__name__}"
        raise BadDescription(msg)
    tape = s.space.tape
    variations = {q.i: tape.private_symbol(f"delta_{q.name}") for q in s.q}

    def delta(f: Scalar) -> Scalar:
        """δf = Σ ∂f/∂q_k δq_k"""
        moving = [str(tape.nodes[i][1]) for i in symbols_of(tape, (f.i,)) if i in tape.moving and i not in variations]
        inside = set(symbols_of(tape, (f.i,))).intersection(variations)
        if moving or not inside:
            held = f"{', '.join(moving)} is not varied" if moving else "it holds no coordinate"
            msg = f"delta({f}): {held}; virtual displacements are of functions of the coordinates"
            raise BadExpression(msg)
        return slopes(f, Column(tape, variations)) @ Column(tape, variations.values())

    names = {n: x.scalar for n, x in s.symbols.items()} | {"t": s.t}
    dW = parse(work, names, tape, {"delta": (1, 1, delta)})
    try:
        rest, Q = Linear(tape, list(variations.values()))(dW.i)
    except NotLinear:
        rest, Q = tape.one, {}
    if rest != tape.zero or not Q:
        msg = f"virtual work: {work!r} is not linear in virtual displacements; every term has one delta(...), as in F*delta(x)"
        raise BadDescription(msg)
    refuse_accelerations(s, "virtual work", Q.values())
    _declare(s, [(s.q[k], Scalar(tape, e)) for k, e in Q.items()], name, "virtual work")


def _read(s: Registry, Q: Any) -> Scalar:
    names = {n: x.scalar for n, x in s.symbols.items()} | {"t": s.t}
    return parse(Q, names, s.space.tape) if isinstance(Q, str) else scalar(s, Q)


def _coordinate(s: Registry, q: Scalar | str) -> Scalar:
    known = {str(x.name): x for x in s.q}
    name = q if isinstance(q, str) else getattr(q, "name", None)
    if name not in known:
        msg = f"generalized force: {q} is not a coordinate; these are {', '.join(known) or 'none'}"
        raise BadDescription(msg)
    return known[name]


def _declare(s: Registry, found: Iterable[tuple[Scalar, Scalar]], name: str | None, kind: str) -> None:
    pairs = list(found)
    parts = {i for F in s.space.frames if isinstance(F.rotation, Quaternion) for i in F.rotation.variables()}
    for q, _ in pairs:
        if q.i in parts:
            msg = f"{kind}: {q} is part of a quaternion, which varies with the others; give a torque on the body instead"
            raise BadDescription(msg)
    label = checked_load_name(s, name, kind)
    s.loads.append(Load(label, tuple((Q * s.space.N.x, moved_by(s, q)) for q, Q in pairs), along=tuple(q for q, _ in pairs)))


def moved_by(s: Registry, q: Scalar) -> Point:
    """A point that lies q along a fixed axis; none of the system's, so that no table and no picture shows it."""
    P = s.space.O.offset(q * s.space.N.x, f"δ{q.name}")
    s.space.points.remove(P)
    return P
