"""Numbers for the symbols of a system: constants, inputs, specified motions."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from typing import Any

from dalembert.algebra.scalar import Scalar
from dalembert.errors import DalembertError, Unknown
from dalembert.model.system import System


class MissingValue(DalembertError):
    """A constant or input without a number."""


class BadValue(DalembertError):
    """A value that is not a finite number."""


def symbol_name(system: System, key: Scalar | str, kinds: Iterable[str]) -> str:
    """The name a key stands for, if it is a symbol of one of these kinds."""
    name = key.name if isinstance(key, Scalar) else str(key)
    allowed = [s.name for s in system.symbols.values() if s.kind in kinds]
    if name in allowed:
        return str(name)
    near = difflib.get_close_matches(str(name), allowed, 1)
    hint = f": did you mean {near[0]!r}?" if near else f"; known are {', '.join(allowed) or 'none'}"
    msg = f"{name!r} is not a {' or '.join(kinds)} of {system.name!r}{hint}"
    raise Unknown(msg)


def number(name: str, value: Any) -> float:
    """A finite float, or an error that names the symbol."""
    try:
        x = float(value)
    except (TypeError, ValueError) as problem:
        msg = f"{name} = {value!r} is not a number"
        raise BadValue(msg) from problem
    if not math.isfinite(x):
        msg = f"{name} = {x} is not finite"
        raise BadValue(msg)
    return x


def constant_values(system: System, values: Mapping[Any, Any]) -> dict[str, float]:
    """{name: number} of every constant that has one: defaults, then what was given."""
    found = {s.name: float(s.value) for s in system.symbols.values() if s.kind == "constant" and s.value is not None}
    for key, value in values.items():
        name = symbol_name(system, key, ("constant", "input"))
        found[name] = number(name, value)
    return found


def check_complete(system: System, needed: Iterable[str], have: Mapping[str, float]) -> None:
    """Refuse to run with symbols that have no value, naming them."""
    missing = [n for n in needed if n not in have]
    if missing:
        kinds = {s.name: s.kind for s in system.symbols.values()}
        first = missing[0].rstrip("'")
        kind = kinds.get(first, "symbol")
        how = f"values={{{first!r}: …}}" if kind == "constant" else f"inputs={{{first!r}: …}}"
        names = ", ".join(dict.fromkeys(n.rstrip("'") for n in missing))
        msg = f"no value for the {kind} {names}: give it with {how}"
        raise MissingValue(msg)
