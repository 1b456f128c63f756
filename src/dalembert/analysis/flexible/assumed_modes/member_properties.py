"""EI, ρA, k, …: what a description gives along a member and at its ends, and that it is positive
with the values of a run too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from dalembert.analysis.flexible.assumed_modes.polynomials import property_at
from dalembert.mechanics.model.flexible_member import Member
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import BadValue, constant_values
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

# what must be positive in a run, and what it is called there; masses are checked with all others
_STIFFNESS_NAMES: Final = {
    "length": "length",
    "stiffness": "stiffness",
    "axial": "stiffness",
    "torsion": "stiffness",
    "shear": "shear stiffness",
}
# where along a member a property is tried, as shares of its length
_SAMPLE_POINTS: Final = tuple(Fraction(k, 8) for k in range(1, 8))


def section_properties(m: Member) -> Iterator[tuple[str, Scalar]]:
    """The given properties of the member, constant or along it, by key."""
    for key in ("length", "stiffness", "axial", "torsion", "shear", "density", "polar", "rotary"):
        given = getattr(m, key)
        yield from (
            (key, e) for e in (given if isinstance(given, tuple) else (given,)) if e is not None
        )


def section_rotation_field(m: Member, plane: int) -> tuple[str, int]:
    """The field, and the order of its derivative, by which sections turn in a plane of bending:
    v′, or ψ where the member shears.
    """
    turns = [f.symbol for f in m.fields if f.kind == "turn"]
    return (turns[plane], 0) if turns else ("vw"[plane], 1)


def end_springs(m: Member, side: int) -> Iterator[tuple[Scalar, str, int, str]]:
    """(k, field, order, letters): ½ k v², ½ κ v′², ½ k_u u², ½ κ_φ φ² of the springs at an end."""
    end, planes = m.ends[side], range(len(m.bending))
    table = (
        (end.spring, [("vw"[p], 0) for p in planes], "k"),
        (end.turning_spring, [section_rotation_field(m, p) for p in planes], "κ"),
        (end.axial_spring, [("u", 0)], "ku"),
        (end.twisting_spring, [("phi", 0)], "κφ"),
    )
    known = {f.symbol for f in m.fields}
    for k, places, letters in table:
        yield from (
            (k, name, order, letters) for name, order in places if k is not None and name in known
        )


def check_values(system: System, values: Mapping[Any, Any]) -> None:
    """Refuse values that leave an expanded member without stiffness or length; masses are
    checked with all others.
    """
    known = constant_values(system, values)
    for member, what, e in sampled_properties(system):
        _check_positive(member, what, e, known)


def sampled_properties(system: System) -> Iterator[tuple[str, str, Scalar]]:
    """What must be positive of every expanded member, at some places along it: its kind and
    name, the property, its value.
    """
    for expansion in system.expansions.values():
        m = expansion.member
        stiff = [
            (_STIFFNESS_NAMES[key], e)
            for key, e in section_properties(m)
            if key in _STIFFNESS_NAMES
        ]
        yield from (
            (f"{m.kind} {m.name!r}", what, property_at(m, e, xi))
            for what, e in stiff
            for xi in _SAMPLE_POINTS
        )


def _check_positive(member: str, what: str, e: Scalar, known: Mapping[str, float]) -> None:
    names = {i: str(e.tape.nodes[i][1]) for i in symbols_of(e.tape, (e.i,))}
    if names and all(name in known for name in names.values()):
        value = evaluate(e.tape, [e.i], lambda i: known[names[i]], FloatArithmetic())[0]
        if value <= 0:
            given = ", ".join(f"{name} = {known[name]:g}" for name in names.values())
            msg = f"{given}: the {what} of {member} is {value:g}; it must be positive"
            raise BadValue(msg)
