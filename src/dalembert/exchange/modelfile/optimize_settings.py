"""[optimize]: limits, durations, way points and guesses of an optimal motion, as da.optimize
takes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import BadExpression, DalembertError
from dalembert.exchange.modelfile.value_reader import ValueReader, is_number

if TYPE_CHECKING:
    from dalembert.exchange.modelfile.model_builder import ModelBuilder
    from dalembert.exchange.modelfile.source_positions import Path

OPTIMIZE_KINDS: Final = ("span", "limits", "nodes", "names", "curves", "count")
_NO_LIMIT: Final = "none"


def read_optimize_setting(b: ModelBuilder, kind: str, value: Any, path: Path) -> Any:
    """One value of the section, by its kind."""
    if kind == "span":
        return _span(b, value, path)
    if kind == "count":
        if not isinstance(value, int) or isinstance(value, bool):
            b.source.raise_error(f"{path[-1]}: expected a whole number", path)
        return value
    if kind == "names":
        return _names(b, value, path)
    if not isinstance(value, dict):
        b.source.raise_error(f"{path[-1]}: expected a table, name = value", path)
    if kind == "nodes":
        return {_time(time): _limits(b, given, (*path, time)) for time, given in value.items()}
    return _curves(b, value, path) if kind == "curves" else _limits(b, value, path)


def _span(b: ModelBuilder, value: Any, path: Path) -> Any:
    """2, "2 s", "free", or [shortest, longest]"""
    if isinstance(value, list):
        return tuple(_limit(b, x, (*path, k)) for k, x in enumerate(value))
    return _limit(b, value, path)


def _limits(b: ModelBuilder, given: Any, path: Path) -> dict[str, Any]:
    """{name or expression: number, or [low, high] with "none" for no limit}"""
    if not isinstance(given, dict):
        b.source.raise_error(f"{path[-1]}: expected a table, name = value", path)
    table = {}
    for name, value in given.items():
        here = (*path, name)
        _check_expression(b, name, here)
        if isinstance(value, list):
            if len(value) != 2:
                b.source.raise_error(f"{name}: expected [low, high]", here)
            table[name] = tuple(_limit(b, x, (*here, k)) for k, x in enumerate(value))
        else:
            table[name] = _limit(b, value, here)
    return table


def _limit(b: ModelBuilder, value: Any, path: Path) -> Any:
    """A number, a quantity such as "30 deg", or nothing."""
    if isinstance(value, str):
        return None if value == _NO_LIMIT else value
    if not is_number(value):
        ValueReader(b, path).raise_type_error("number", value, path)
    return int(value) if isinstance(value, int) else float(value)


def _check_expression(b: ModelBuilder, name: str, path: Path) -> None:
    """A name or an expression of the system; the rate of an input belongs to optimal motions."""
    plain = name.removesuffix(".dot")
    if plain in b.s.symbols and b.s.symbols[plain].kind == "input":
        return
    try:
        b.s.expression(name)
    except DalembertError as problem:
        what = problem.what if isinstance(problem, BadExpression) else ""
        b.source.raise_error(what or str(problem), path, key=True)


def _names(b: ModelBuilder, value: Any, path: Path) -> Any:
    """true for all states, or a list of names"""
    if isinstance(value, bool):
        return value
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        b.source.raise_error(f"{path[-1]}: expected true, or a list of names", path)
    return value


def _curves(b: ModelBuilder, given: dict[str, Any], path: Path) -> dict[str, Any]:
    """{name: number or an expression of t}"""
    for name, value in given.items():
        if not is_number(value) and not isinstance(value, str):
            b.source.raise_error(f"{name}: expected a number or an expression of t", (*path, name))
    return {name: x if isinstance(x, str) else float(x) for name, x in given.items()}


def _time(text: str) -> Any:
    """The key of a way point: a time, or a part of the duration such as "40 %"."""
    try:
        return float(text)
    except ValueError:
        return text
