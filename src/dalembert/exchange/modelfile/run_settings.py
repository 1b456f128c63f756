"""[run], [equilibrium], [linear], [optimize], [[printed]]: what a file asks to be done with its
system and says of it, read and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dalembert.errors import BadExpression, DalembertError
from dalembert.exchange.modelfile.element_schema import NESTED_TABLES, SETTINGS
from dalembert.exchange.modelfile.number_parser import as_float
from dalembert.exchange.modelfile.optimize_settings import OPTIMIZE_KINDS, read_optimize_setting
from dalembert.exchange.modelfile.source_positions import ModelSource
from dalembert.exchange.modelfile.value_reader import ValueReader, is_number
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import suggest_name
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import (
    DIMENSIONLESS,
    ENERGY,
    TIME,
    Dimension,
    dimension,
)

if TYPE_CHECKING:
    from dalembert.exchange.modelfile.model_builder import ModelBuilder
    from dalembert.exchange.modelfile.source_positions import Path


# of the kinds of numbers that may be given with a unit
_DIMENSIONS: Final = {
    "time": TIME,
    "rate": dimension(s=-1),
    "energy": ENERGY,
    "ratio": DIMENSIONLESS,
}


class PrintedEquation(NamedTuple):
    """residual = 0 as a book prints it, equal to Σ k E over the derived equations E;
    `derived_by_hand` where no book does.
    """

    label: str
    residual: str
    combination: tuple[tuple[int, str], ...] = ()
    by_hand: bool = False


@dataclass(frozen=True)
class Settings(Displayable):
    """The run settings of a file: the arguments of `simulate`, `equilibrium` and `linearize`, by
    name.
    """

    file: str = ""
    title: str = ""
    description: str = ""
    printed: tuple[PrintedEquation, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)
    equilibrium: Mapping[str, Any] = field(default_factory=dict)
    linear: Mapping[str, Any] = field(default_factory=dict)
    optimize: Mapping[str, Any] = field(default_factory=dict)
    # the text it came from, so that later errors can report their position
    source: ModelSource | None = field(default=None, repr=False, compare=False)


def read_settings(b: ModelBuilder) -> Settings:
    """The settings of a file, each value read."""
    sections = {section: _section(b, section) for section in SETTINGS}
    title, description = (
        ValueReader(b, ()).text(b.table.get(key, ""), (key,)) for key in ("title", "description")
    )
    return Settings(
        b.source.file, title, description, _read_printed(b), **sections, source=b.source
    )


def _read_printed(b: ModelBuilder) -> tuple[PrintedEquation, ...]:
    given = b.table.get("printed", [])
    if not isinstance(given, list) or not all(isinstance(p, dict) for p in given):
        b.source.raise_error("printed: expected a list of tables, [[printed]]", ("printed",))
    keys, results = {k.name: k for k in NESTED_TABLES["printed"]}, []
    for n, p in enumerate(given):
        here: Path = ("printed", n)
        values = ValueReader(b, here)
        values.check_keys(p, keys, here, "a printed result")
        residual = values.scalar(p["residual"], (*here, "residual"))
        if (check := b.s.space.journal.dimensions) is not None:
            ValueReader(b, (*here, "residual")).call_checked(
                check.inference.require_homogeneous, (residual.i,)
            )
        equals = p.get("equals", [])
        if not isinstance(equals, list) or not all(
            isinstance(e, list) and len(e) == 2 and isinstance(e[0], int) for e in equals
        ):
            b.source.raise_error(
                "equals: expected pairs of an equation's number and its factor, [[1, '1'], [2, "
                "'-1']]",
                (*here, "equals"),
            )
        for k, (_, factor) in enumerate(equals):
            values.scalar(factor, (*here, "equals", k))
        pairs = tuple((number, str(factor)) for number, factor in equals)
        results.append(
            PrintedEquation(
                values.text(p["label"], (*here, "label")),
                p["residual"],
                pairs,
                bool(p.get("by_hand", False)),
            )
        )
    return tuple(results)


def _section(b: ModelBuilder, section: str) -> dict[str, Any]:
    table, known = b.table.get(section, {}), SETTINGS[section]
    if not isinstance(table, dict):
        b.source.raise_error(f"{section}: expected a table with {', '.join(known)}", (section,))
    for key in table:
        if key not in known:
            hint = suggest_name(key, known) or f"it takes {', '.join(known)}"
            b.source.raise_error(
                f"unknown key {key!r:.60} of {section}; {hint}", (section, key), key=True
            )
    return {
        key: _read_setting(b, known[key], value, (section, key)) for key, value in table.items()
    }


def _read_setting(b: ModelBuilder, kind: str, value: Any, path: Path) -> Any:
    values = ValueReader(b, path)
    if kind in ("text", "flag"):
        return values.text(value, path) if kind == "text" else values.flag(value, path)
    if kind == "number" or kind in _DIMENSIONS:
        return _number(b, value, path, _DIMENSIONS.get(kind))
    if kind == "events":
        return _events(b, value, path)
    if kind in OPTIMIZE_KINDS:
        return read_optimize_setting(b, kind, value, path)
    if not isinstance(value, dict):
        b.source.raise_error(f"{path[-1]}: expected a table, name = value", path)
    if kind == "texts":
        return {name: _read_motion(b, name, v, (*path, name)) for name, v in value.items()}
    if kind == "ranges":
        return {name: _range(b, v, (*path, name)) for name, v in value.items()}
    return {
        _require_symbol(b, name, (*path, name)): _number(b, v, (*path, name), b.s.dimension(name))
        for name, v in value.items()
    }


def _require_symbol(b: ModelBuilder, name: str, path: Path) -> str:
    """A symbol of the system, or its rate."""
    try:
        b.s.expression(name)
    except DalembertError as problem:
        what = problem.what if isinstance(problem, BadExpression) else ""
        b.source.raise_error((what or str(problem)) + _hint(b, name), path, key=True)
    return name


def _hint(b: ModelBuilder, name: str) -> str:
    hint = suggest_name(name, [*b.s.symbols])
    return f"; {hint}" if hint else ""


def _number(b: ModelBuilder, value: Any, path: Path, wanted: Dimension | None = None) -> float:
    values = ValueReader(b, path)
    if not is_number(value) and not isinstance(value, str):
        values.raise_type_error("number", value, path)
    try:
        return (
            float(values.scalar(value, path))
            if is_number(value)
            else float(values.call_checked(as_float, value, wanted))
        )
    except OverflowError:
        b.source.raise_error(f"{path[-1]}: {value!s:.40} is too large a number", path)


def _read_motion(b: ModelBuilder, name: str, value: Any, path: Path) -> Any:
    """An input or a prescribed motion: a number, or a text in t that is kept as it is."""
    if name not in b.s.symbols:
        b.source.raise_error(f"no symbol is called {name!r:.60}{_hint(b, name)}", path, key=True)
    values = ValueReader(b, path)
    if is_number(value):
        return _number(b, value, path)
    values.scalar(value, path)
    return value


def _range(b: ModelBuilder, value: Any, path: Path) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        b.source.raise_error(f"{path[-1]}: expected a range [from, to]", path)
    low, high = (_number(b, v, (*path, k)) for k, v in enumerate(value))
    return low, high


def _events(b: ModelBuilder, value: Any, path: Path) -> list[Any]:
    if not isinstance(value, list):
        b.source.raise_error("events: expected a list of tables, [[run.events]]", path)
    return [_event(b, given, (*path, k)) for k, given in enumerate(value)]


def _event(b: ModelBuilder, given: Any, here: Path) -> Any:
    """An event from the text of its expression, or from its table."""
    from dalembert.runtime.simulation.events.event import event, impact

    values, keys = ValueReader(b, here), {k.name: k for k in NESTED_TABLES["event"]}
    if isinstance(given, str):
        values.scalar(given, here)
        return event(given)
    if not isinstance(given, dict):
        b.source.raise_error(
            "events: expected a table with expression, direction, stop, reset, add, drop, "
            "impact, name",
            here,
        )
    values.check_keys(given, keys, here, "an event")
    read = {
        name: values.read(keys[name], v, (*here, name))
        for name, v in given.items()
        if name not in ("reset", "impact")
    }
    values.scalar(given["expression"], (*here, "expression"))
    if "impact" in given:
        e = given["impact"]
        restitution = e if isinstance(e, str) else _number(b, e, (*here, "impact"))
        name = read.get("name", "")
        return values.call_checked(impact, read["expression"], restitution, name=name)
    reset = None
    if "reset" in given:
        table = values.table(given["reset"], (*here, "reset"))
        reset = {n: str(v) for n, v in table.items()}
    return values.call_checked(event, **read, reset=reset)


# ---- as tables of a file
# ---------------------------------------------------------------------------


def settings_tables(settings: Settings, scalar: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
    """[run], [equilibrium], [linear], [[printed]]"""
    for section in ("run", "equilibrium", "linear", "optimize"):
        table = {
            k: _to_file_value(v, scalar)
            for k, v in getattr(settings, section).items()
            if v not in ({}, [], ())
        }
        if table:
            yield section, table
    if settings.printed:
        yield (
            "printed",
            [
                {"label": p.label, "residual": p.residual}
                | ({"equals": [list(e) for e in p.combination]} if p.combination else {})
                | ({"by_hand": True} if p.by_hand else {})
                for p in settings.printed
            ],
        )


def _to_file_value(value: Any, scalar: Callable[[Any], Any]) -> Any:
    from dalembert.runtime.simulation.events.event import Event, EventAction

    if isinstance(value, Event):
        text = {
            "expression": value.expression
            if isinstance(value.expression, str)
            else scalar(value.expression)
        }
        if value.action is EventAction.IMPACT:
            e = value.restitution
            text["impact"] = e if isinstance(e, str) else scalar(e)
        elif value.direction != "any":
            text["direction"] = value.direction
        if value.action is EventAction.STOP:
            text["stop"] = True
        if value.changes:
            text["reset"] = {
                str(k): v if isinstance(v, str) else scalar(v) for k, v in value.changes.items()
            }
        text |= {k: list(x) for k, x in (("add", value.add), ("drop", value.drop)) if x}
        return text | ({"name": value.name} if value.name else {})
    if isinstance(value, Mapping):
        return {str(k): _to_file_value(v, scalar) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_to_file_value(v, scalar) for v in value]
    return (
        Decimal(repr(value))
        if isinstance(value, float)
        else scalar(value)
        if isinstance(value, Scalar)
        else value
    )
