"""Numbers for the symbols of a system: constants, inputs, prescribed motions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from dalembert.errors import DalembertError, Unknown
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import has_unit, parse_number


class MissingValue(DalembertError):
    """A constant or input without a number."""


class BadValue(DalembertError):
    """A value that is not a finite number."""


# what the kinds of symbols are called, and the argument that gives them a value
_KIND_NAMES: Final = {
    "constant": ("a constant", "values"),
    "input": ("an input", "inputs"),
    "specified": ("a prescribed motion", "inputs"),
    "coordinate": ("a coordinate", "start"),
    "speed": ("a speed", "start"),
    "state": ("a state", "start"),
}


def require_mapping(what: str, given: Any) -> Mapping[Any, Any]:
    """{name: value}, or an error with the given value."""
    # asked several times before every run, and most are this
    if given.__class__ is not dict and not isinstance(given, Mapping):
        msg = (
            f"{what}: give names with their values, as in {what}={{'x': 1}}, not "
            f"{type(given).__name__}"
        )
        raise BadValue(msg)
    return given


def symbol_name(system: System, key: Scalar | str, kinds: Iterable[str]) -> str:
    """The name a key stands for, if it is a symbol of one of these kinds."""
    name = str(key.name if isinstance(key, Scalar) else key)
    allowed = [s.name for s in system.symbols.values() if s.kind in kinds]
    if name in allowed:
        return name
    wanted = " or ".join(_KIND_NAMES[kind][0] for kind in kinds)
    msg = f"{name!r} is not {wanted} of {system.name!r}{_hint(system, name, allowed)}"
    raise Unknown(msg)


def _hint(system: System, name: str, allowed: list[str]) -> str:
    """Where the name belongs, the nearest name, or all of them."""
    symbol = system.symbols.get(name)
    if symbol is not None:
        called, where = _KIND_NAMES[symbol.kind]
        return f" but {called}: give it with {where}={{{name!r}: …}}"
    import difflib

    alike = {n.lower(): n for n in allowed}
    near = difflib.get_close_matches(name.lower(), alike, 1)
    return (
        f": did you mean {alike[near[0]]!r}?"
        if near
        else f"; known are {', '.join(allowed) or 'none'}"
    )


def finite_number(name: str, value: Any) -> float:
    """A finite float, or an error that names the symbol."""
    try:
        x = float(value)
    except (TypeError, ValueError, OverflowError) as problem:
        # a row of numbers without their times
        timed = hasattr(value, "__len__") and not isinstance(value, str | bytes) and len(value) > 1
        hint = (
            "; values over time need their times: (times, values), or da.table(times, values)"
            if timed
            else ""
        )
        msg = f"{name} = {value!r:.60} is not a number{hint}"
        raise BadValue(msg) from problem
    if not math.isfinite(x):
        msg = f"{name} = {x} is not finite"
        raise BadValue(msg)
    return x


def strip_unit(system: System, key: Scalar | str, value: Any) -> Any:
    """The number of a text such as "30 deg", which must have the dimension of what it stands
    for; anything else as it is.
    """
    return (
        parse_number(value, system.dimension(key), str(key))
        if isinstance(value, str) and has_unit(value)
        else value
    )


def strip_units(system: System, given: Mapping[Any, Any] | None) -> Mapping[Any, Any]:
    """The same of every value; what is no mapping is left to those who read it."""
    if not isinstance(given, Mapping):
        return {} if given is None else given
    return {
        key: value if value.__class__ is float else strip_unit(system, key, value)
        for key, value in given.items()
    }


def constant_values(system: System, values: Mapping[Any, Any]) -> dict[str, float]:
    """{name: number} of every constant that has one: defaults, then the given values."""
    numbers = {
        s.name: float(s.value)
        for s in system.symbols.values()
        if s.kind in ("constant", "input") and s.value is not None
    }
    for key, value in require_mapping("values", values).items():
        name = symbol_name(system, key, ("constant", "input"))
        numbers[name] = finite_number(name, strip_unit(system, name, value))
    return numbers


def require_values(system: System, needed: Iterable[str], have: Mapping[str, float]) -> None:
    """Refuse to run with symbols that have no value, naming them all and how to give them."""
    missing = list(dict.fromkeys(n.rstrip("'") for n in needed if n not in have))
    if not missing:
        return
    kinds = {n: system.symbols[n].kind if n in system.symbols else "constant" for n in missing}
    ways = []
    for kind in dict.fromkeys(kinds.values()):
        names = [n for n in missing if kinds[n] == kind]
        called, where = _KIND_NAMES[kind]
        noun = called.partition(" ")[2] + "s" * (len(names) > 1)
        ways.append(
            f"the {noun} {', '.join(names)} ({where}={{{', '.join(f'{n!r}: …' for n in names)}}})"
        )
    msg = f"no value for {' and '.join(ways)}"
    raise MissingValue(msg)
