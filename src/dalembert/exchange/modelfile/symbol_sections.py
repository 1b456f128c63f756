"""coordinates, constants, inputs, specified, speeds, expressions: the symbols of a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Final

from dalembert.exchange.modelfile.element_schema import ELEMENT_TYPES
from dalembert.exchange.modelfile.model_builder import RESERVED_NAMES, ModelBuilder
from dalembert.exchange.modelfile.number_parser import parse_number
from dalembert.exchange.modelfile.source_positions import Path
from dalembert.exchange.modelfile.value_reader import ValueReader, is_number
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.name_rules import check_name, split_names
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import has_unit

# names in an expression, without what follows a point
_WORD: Final = re.compile(r"(?<![\w.])[^\W\d]\w*")


def declare_symbols(b: ModelBuilder) -> None:
    """Coordinates, constants and inputs at once; what is defined by an expression when its turn
    comes.
    """
    for name, (unit, display, path) in _symbol_entries(b, "coordinates").items():
        values = ValueReader(b, path)
        values.call_checked(b.s.coordinate, name, display=display)
        if unit:
            values.call_checked(b.s.units, **{name: values.text(unit, path)})
    for name, value in _table(b, "constants").items():
        _declare_constant(b, name, value)
    for name, (value, display, path) in _symbol_entries(b, "inputs").items():
        number = None if value == "" else _number(b, value, path)
        ValueReader(b, path).call_checked(b.s.input, name, value=number, display=display)
    for name, value in _table(b, "states").items():
        _declare_state(b, name, value)
    for section, declare in (
        ("specified", _declare_specified),
        ("speeds", _declare_speed),
        ("expressions", _expression),
    ):
        for name, value in _table(b, section).items():
            b.add_pending(
                (section, name),
                lambda d=declare, n=name, v=value: d(b, n, v),  # type: ignore[misc]
                scalar=name.replace(",", " ").split(),
            )


def declare_labels(b: ModelBuilder, section: str, verb: Callable[..., None]) -> None:
    """displays and units: a text for each symbol."""
    for name, value in _table(b, section).items():
        path: Path = (section, name)
        values = ValueReader(b, path)
        values.call_checked(verb, **{name: values.text(value, path)})


def declare_speeds(b: ModelBuilder) -> None:
    """Speeds that do not contain the amplitudes of members come before these, whose rates are
    then speeds too.
    """
    known = {*b.known_names(), *RESERVED_NAMES, "t"}
    for name, value in _table(b, "speeds").items():
        path: Path = ("speeds", name)
        words = _WORD.findall(
            " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
        )
        if path in b.pending and path not in b.in_progress and known.issuperset(words):
            b.resolve(path)


def add_local_definitions(b: ModelBuilder) -> None:
    """where = { z = "…" } in an element: parts of its expressions, which are made right before
    it.
    """
    for kind in ELEMENT_TYPES:
        group = b.table.get(kind)
        for handle, element in group.items() if isinstance(group, dict) else ():
            if not isinstance(element, dict) or "where" not in element:
                continue
            path: Path = (kind, handle, "where")
            parts = ValueReader(b, path).table(element.pop("where"), path)
            b.first[(kind, handle)] = [(*path, name) for name in parts]
            for name, value in parts.items():
                declare = partial(_declare_expression, b, name, value, (*path, name))
                b.add_pending((*path, name), declare, scalar=[name])


def _table(b: ModelBuilder, section: str) -> dict[str, Any]:
    value = b.table.get(section, {})
    if not isinstance(value, dict):
        b.source.raise_error(f"{section}: expected a table, name = value", (section,))
    return value


def _symbol_entries(b: ModelBuilder, section: str) -> dict[str, tuple[Any, str | None, Path]]:
    """{name: (its value, display, place)} of names in one text, in a list, or in a table."""
    value = b.table.get(section, {})
    if isinstance(value, str):
        value = value.replace(",", " ").split()
    if isinstance(value, list):
        names = [ValueReader(b, (section,)).text(v, (section, k)) for k, v in enumerate(value)]
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            b.source.raise_error(f"{section}: {twice!r:.60} is named twice", (section,))
        return dict.fromkeys(names, ("", None, (section,)))
    key = "unit" if section == "coordinates" else "value"
    return {
        name: (*_value_and_display(b, given, (section, name), key), (section, name))
        for name, given in _table(b, section).items()
    }


def _check_keys(b: ModelBuilder, given: dict[str, Any], keys: tuple[str, ...], path: Path) -> None:
    for key in given:
        if key not in keys:
            hint = suggest_name(key, keys) or f"it takes {' and '.join(keys)}"
            b.source.raise_error(
                f"unknown key {key!r:.60} of {path[-1]}; {hint}", (*path, key), key=True
            )


def _value_and_display(
    b: ModelBuilder, given: Any, path: Path, *keys: str, default: Any = ""
) -> tuple[Any, str | None]:
    """The value of a symbol, by itself or in a table under the first of the keys; and its display
    name, which a table may have.
    """
    if not isinstance(given, dict):
        return given, None
    _check_keys(b, given, (*keys, "display"), path)
    display = (
        ValueReader(b, path).text(given["display"], (*path, "display"))
        if "display" in given
        else None
    )
    return given.get(keys[0], default), display


def _number(b: ModelBuilder, value: Any, path: Path) -> Any:
    """A number as written, "pi/3", or with a unit."""
    if is_number(value):
        return ValueReader(b, path).scalar(value, path)
    if not isinstance(value, str):
        ValueReader(b, path).raise_type_error("number", value, path)
    return ValueReader(b, path).call_checked(parse_number, value)


def _declare_constant(b: ModelBuilder, name: str, value: Any) -> None:
    path: Path = ("constants", name)
    value, display = _value_and_display(b, value, path, "value")
    given = (
        value
        if isinstance(value, str) and has_unit(value)
        else None
        if value == ""
        else _number(b, value, path)
    )
    ValueReader(b, path).call_checked(b.s.constant, name, given, display=display)


def _declare_specified(b: ModelBuilder, name: str, value: Any) -> None:
    path: Path = ("specified", name)
    values = ValueReader(b, path)
    drivers = {
        key: values.text(value[key], (*path, key))
        for key in ("rate", "acceleration")
        if isinstance(value, dict) and key in value
    }
    value, display = _value_and_display(b, value, path, "motion", "rate", "acceleration")
    motion = None if value == "" else values.scalar(value, path)
    values.call_checked(b.s.specified, name, motion, display=display, **drivers)


def _declare_state(b: ModelBuilder, name: str, value: Any) -> None:
    """The symbol at once, so that loads and rates may contain it; its rate when its turn comes."""
    path: Path = ("states", name)
    rate, display = _value_and_display(b, value, path, "rate", "value")
    begins = value.get("value", "") if isinstance(value, dict) else ""
    start = None if begins == "" else _number(b, begins, (*path, "value"))
    values = ValueReader(b, path)
    values.call_checked(b.s.state, name, value=start, display=display)
    if rate == "":
        b.source.raise_error(f"state {name!r:.60}: give its rate, such as 'x.dot - {name}'", path)
    b.add_pending(
        path, lambda: values.call_checked(lambda: b.s.rate(name, values.scalar(rate, path)))
    )


def _declare_speed(b: ModelBuilder, name: str, value: Any) -> None:
    path: Path = ("speeds", name)
    values = ValueReader(b, path)
    if isinstance(value, dict) and ("of" in value or "along" in value):
        _check_keys(b, value, ("of", "along"), path)
        vector = values.expression(values.text(value.get("of"), (*path, "of")), (*path, "of"))
        if not isinstance(vector, Vector):
            values.raise_type_error("vector", value.get("of"), (*path, "of"))
        along = values.frame(value.get("along"), (*path, "along"))
        values.call_checked(b.s.speeds, " ".join(split_names(name)), vector, along)
        return
    value, display = _value_and_display(b, value, path, "definition", default=None)
    definition = values.scalar(value, path)
    values.call_checked(b.s.speed, name, definition, display=display)


def _expression(b: ModelBuilder, name: str, value: Any) -> None:
    _declare_expression(b, name, value, ("expressions", name))


def _declare_expression(b: ModelBuilder, name: str, value: Any, path: Path) -> None:
    values, tape = ValueReader(b, path), b.s.space.tape
    e = values.scalar(value, path)
    values.call_checked(check_name, name, b.s.used_names)
    b.expressions[name] = Scalar(tape, tape.const(e)) if isinstance(e, int | Fraction) else e
