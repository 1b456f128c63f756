"""Which member is meant, and the numbers that its symbols stand for: EI > 0, EA > 0, GJ > 0, kGA > 0, L > 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.folds import evaluate, symbols_of
from dalembert.algebra.scalar import Scalar, exact
from dalembert.algebra.tape import Number, Tape
from dalembert.errors import BadDescription, NotApplicable, NotASystem, Unknown
from dalembert.flexible.expansion.properties import properties
from dalembert.model.member import Member
from dalembert.model.system import System
from dalembert.numerics.symbol_values import mapping


def which(system: System, member: str | Member | None) -> Member:
    """The member that is meant: named, or the only one."""
    if not isinstance(system, System):
        msg = f"give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    known = system.members
    if not known:
        msg = f"system {system.name!r} has no string, bar, shaft or beam; declare one with s.beam(...)"
        raise NotApplicable(msg)
    if member is None:
        if len(known) > 1:
            msg = f"system {system.name!r} has several members ({', '.join(known)}): say which one"
            raise Unknown(msg)
        return next(iter(known.values()))
    name = member.name if isinstance(member, Member) else member
    if not isinstance(name, str) or name not in known:
        msg = f"there is no member {name!r}; system {system.name!r} has {', '.join(known)}"
        raise Unknown(msg)
    return known[name]


def heading(member: Member, what: str) -> str:
    """beam 'beam' (clamped–free): what"""
    return f"{member.kind} {member.name!r} ({member.left.support}–{member.right.support}): {what}"


def numbers_of(system: System, tape: Tape, values: Mapping[Any, Any]) -> dict[int, Number]:
    """The numbers that constants and held coordinates stand for."""
    given = {key.name if isinstance(key, Scalar) else str(key): exact(value) for key, value in mapping("values", values).items()}
    unknown = [name for name in given if name not in system.symbols]
    if unknown:
        msg = f"{unknown[0]!r} is not a symbol of this system"
        raise Unknown(msg)
    found: dict[int, Number] = {}
    for name, s in system.symbols.items():
        number = given.get(name, s.value)
        if s.kind == "coordinate":
            number = given.get(name, 0)
        if number is not None:
            found[tape.names[name]] = number
    return found


def check_declared(system: System) -> None:
    """The same of all members, their ends and the bodies with the values they have now, which may not be those of the declaration."""
    tape = system.space.tape
    numbers = numbers_of(system, tape, {})
    for m in system.members.values():
        check_positive(m, tape, numbers)
    ends = [(f"end of {m.kind} {m.name!r}", end) for m in system.members.values() for end in (m.left, m.right)]
    sizes = ("mass", "inertia", "spring", "turning_spring", "axial_spring", "twisting_spring", "damper")
    named = [(what, size.replace("_", " "), e) for what, end in ends for size in sizes if (e := getattr(end, size)) is not None]
    for what, size, e in [*named, *((f"body {b.name!r}", "mass", b.mass) for b in system.bodies)]:
        if all(i in numbers for i in symbols_of(tape, (e.i,))):
            (value,) = evaluate(tape, [e.i], lambda i: float(numbers[i]), Floats())
            if value <= 0:
                msg = f"{what}: its {size} is {value:g}; it must be positive"
                raise BadDescription(msg)


def check_positive(m: Member, tape: Tape, numbers: Mapping[int, Number]) -> None:
    """Refuse stiffnesses, masses and lengths that are not positive with the values given."""
    for key, e in properties(m):
        inside = symbols_of(tape, (e.i, m.length.i))
        if any(i != m.x.i and i not in numbers for i in inside):
            continue
        known = {i: float(numbers[i]) for i in inside if i != m.x.i}
        (length,) = evaluate(tape, [m.length.i], known.__getitem__, Floats())
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            (value,) = evaluate(tape, [e.i], (known | {m.x.i: share * length}).__getitem__, Floats())
            if value < 0 or (value == 0 and 0 < share < 1):
                msg = f"{m.kind} {m.name!r}: its {key} is {value:g}; it must be positive"
                raise BadDescription(msg)
