"""p: the numbers of a run that are varied, constants and inputs held at a number, or start values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dalembert.algebra.scalar import Scalar
from dalembert.errors import BadExpression, NotApplicable, Unknown
from dalembert.nearest_name import nearest
from dalembert.states.evaluator import Evaluator, Key, Level, label
from dalembert.states.start import Start
from dalembert.states.values import Values


@dataclass(frozen=True)
class VariedNumber:
    """A number of a run: `constant` is its symbol, or None for the start value of what `key` names."""

    name: str
    value: float
    constant: int | None
    key: Key | None = None

    @property
    def shown(self) -> str:
        """m, or theta(0) for a start value."""
        return self.name if self.constant is not None else f"{self.name}(0)"

    @property
    def size(self) -> float:
        """What counts as a change of order one."""
        return abs(self.value) or 1.0


def varied_numbers(chosen: Values, given: Mapping[Any, Any], start: Start, wanted: object) -> tuple[VariedNumber, ...]:
    """What was asked for, each once: the name of a constant or of a held input, or of a coordinate, a rate or a speed at the start."""
    if isinstance(wanted, str | Scalar) or not isinstance(wanted, Sequence):
        msg = "sensitivities: give a list of constants and start values, such as sensitivities=['m', 'theta']"
        raise Unknown(msg)
    found = [_one(chosen, given, start, key) for key in wanted]
    twice = next((x.name for k, x in enumerate(found) if x.name in {y.name for y in found[:k]}), None)
    if twice is not None:
        msg = f"sensitivities: {twice} is named twice"
        raise Unknown(msg)
    return tuple(found)


def _one(chosen: Values, given: Mapping[Any, Any], start: Start, key: Any) -> VariedNumber:
    evaluator, system = chosen.evaluator, chosen.kin.system
    name = str(key.name if isinstance(key, Scalar) else key)
    symbol = system.symbols.get(name)
    if symbol is not None and symbol.kind in ("constant", "input", "specified"):
        if symbol.scalar.i in chosen.numbers:
            return VariedNumber(name, chosen.numbers[symbol.scalar.i], symbol.scalar.i)
        what = "has no value" if symbol.kind == "constant" else "is no number in this run; name a constant of its expression"
        msg = f"sensitivities: {name} {what}"
        raise NotApplicable(msg)
    return _start_value(evaluator, given, start, key)


def _start_value(evaluator: Evaluator, given: Mapping[Any, Any], start: Start, key: Any) -> VariedNumber:
    try:
        node = evaluator.node(key)
    except BadExpression as problem:
        kin = evaluator.kin
        constants = [n for n, s in kin.system.symbols.items() if s.kind == "constant"]
        known = [*constants, *(label(kin.name(i)) for i in kin.state)]
        hint = nearest(str(key), known) or f"known are {', '.join(known)}"
        msg = f"sensitivities: {key!r} is no constant and no start value of {kin.system.name!r}; {hint}"
        raise Unknown(msg) from problem
    shown = evaluator.shown(key)
    if evaluator.level(node) not in (Level.POSITION, Level.VELOCITY):
        msg = f"sensitivities: {shown} is no constant and no start value; name coordinates, rates, speeds and constants"
        raise Unknown(msg)
    for each in given:
        if evaluator.node(each) == node:
            value = next(m.value for m in start.marks if m.name == evaluator.shown(each))
            return VariedNumber(shown, value, None, each)
    mark = next((m for m in start.marks if m.name == shown), None)
    if mark is None or mark.origin == "solved":
        why = "follows from the constraints at this start" if mark else "is not given in the start"
        msg = f"sensitivities: {shown} {why}; give it in start={{{shown!r}: …}}"
        raise NotApplicable(msg)
    return VariedNumber(shown, mark.value, None, shown)
