"""EI > 0, EA > 0, GJ > 0, kGA > 0, L > 0: what a description demands of its members holds for the values of a run too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.folds import evaluate, symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.flexible.expansion.integration import at_share
from dalembert.model.member import Member
from dalembert.model.system import System
from dalembert.numerics.symbol_values import BadValue, constant_values

# where along a member a property is tried, as shares of its length
_TRIED: Final = tuple(Fraction(k, 8) for k in range(1, 8))


def check_values(system: System, values: Mapping[Any, Any]) -> None:
    """Refuse values that leave an expanded member without stiffness or length; masses are checked with all others."""
    known = constant_values(system, values)
    for member, what, e in properties_along(system):
        _check(member, what, e, known)


def properties_along(system: System) -> Iterator[tuple[str, str, Scalar]]:
    """What must be positive of every expanded member, at some places along it: its kind and name, the property, its value."""
    for expansion in system.expansions.values():
        m = expansion.member
        yield from ((f"{m.kind} {m.name!r}", what, at_share(m, e, xi)) for what, e in _properties(m) for xi in _TRIED)


def _properties(m: Member) -> Iterator[tuple[str, Scalar]]:
    yield "length", m.length
    yield from (("stiffness", e) for e in (*m.stiffness, m.axial, m.torsion) if e is not None)
    yield from (("shear stiffness", e) for e in m.shear)


def _check(member: str, what: str, e: Scalar, known: Mapping[str, float]) -> None:
    names = {i: str(e.tape.nodes[i][1]) for i in symbols_of(e.tape, (e.i,))}
    if names and all(name in known for name in names.values()):
        value = evaluate(e.tape, [e.i], lambda i: known[names[i]], Floats())[0]
        if value <= 0:
            given = ", ".join(f"{name} = {known[name]:g}" for name in names.values())
            msg = f"{given}: the {what} of {member} is {value:g}; it must be positive"
            raise BadValue(msg)
