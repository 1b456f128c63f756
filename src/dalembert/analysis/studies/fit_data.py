"""y(t_i): what was measured, column by column, each at its own times."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TextIO

import numpy as np

from dalembert.errors import BadDescription, DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import DIMENSIONLESS, dimension_text, parse_unit

# a file that is longer has no end
_MAX_LINE: Final = 1_000_000
_MAX_CHARACTERS: Final = 500_000_000
_SECONDS: Final = ("", "s", "sec", "second", "seconds")


class BadData(DalembertError):
    """Measured values that cannot be used, with the column and the row."""


@dataclass(frozen=True, eq=False)
class MeasuredColumn:
    """One measured quantity: an expression of the system, and its values at its own times."""

    key: Scalar | str
    t: FloatArray
    values: FloatArray
    # of a file: the unit in its head, and where that stands
    unit: str = ""
    source: str = ""

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.key.name or self.key) if isinstance(self.key, Scalar) else self.key


def read_tables(data: Any) -> list[tuple[MeasuredColumn, ...]]:
    """One table, or a list of tables, each of an experiment of its own."""
    if not isinstance(data, list | tuple):
        return [read_columns(data)]
    if not data:
        msg = "data: the list of tables is empty"
        raise BadData(msg)
    tables = []
    for k, table in enumerate(data, 1):
        try:
            tables.append(read_columns(table))
        except BadData as problem:
            msg = f"table {k} of {len(data)}: {problem}"
            raise BadData(msg) from problem
    return tables


def read_columns(data: Any) -> tuple[MeasuredColumn, ...]:
    """{"t": times, "theta": values, …}, {"theta": (times, values), …}, a data frame, or the name of
    a CSV file.

    A gap is None, a masked value, or an empty cell of a file.
    """
    heads: dict[str, tuple[str, str]] = {}
    if isinstance(data, str | os.PathLike):
        table: Mapping[Any, Any]
        table, heads = _read_file(data)
    elif isinstance(data, Mapping):
        table = data
    elif hasattr(data, "columns") and hasattr(data, "index"):
        index = {} if "t" in data.columns else {"t": np.asarray(data.index)}
        table = {**index, **{c: np.asarray(data[c]) for c in data.columns}}
    else:
        msg = (
            f"data: give a dict of columns, a data frame, the name of a CSV file, or a list of "
            f"such tables, not {type(data).__name__}"
        )
        raise BadData(msg)
    times = next((x for key, x in table.items() if str(key) == "t"), None)
    columns = tuple(
        _measured_column(key, x, times, *heads.get(str(key), ()))
        for key, x in table.items()
        if str(key) != "t"
    )
    if not columns:
        msg = (
            "data: there is no column besides t; name what was measured, such as {'t': …, "
            "'theta': …}"
        )
        raise BadData(msg)
    return columns


def _read_file(
    path: str | os.PathLike[str],
) -> tuple[dict[str, list[float | None]], dict[str, tuple[str, str]]]:
    """Columns of a CSV file; and of each the unit in its head, theta [deg], with its place."""
    file = os.fspath(path)
    try:
        # a pipe is a file too
        with open(path, encoding="utf-8-sig", newline="") as opened:  # noqa: PTH123
            reader = csv.reader(_bounded_lines(opened, file))
            rows = [(reader.line_num, r) for r in reader if any(cell.strip() for cell in r)]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        msg = f"data: {file} cannot be read: {problem}"
        raise BadData(msg) from problem
    if len(rows) < 2:
        msg = f"data: {file} has no values below a line of names"
        raise BadData(msg)
    first, cells = rows[0]
    heads = [_split_head(cell) for cell in cells]
    names = [name for name, _ in heads]
    places = {n: f"{file}, line {first}, column {k}" for k, n in enumerate(names, 1)}
    _check_heads(file, first, heads)
    for line, row in rows:
        if len(row) != len(names):
            msg = f"data: line {line} of {file} has {len(row)} cells, the first line {len(names)}"
            raise BadData(msg)
    columns = {
        name: [_parse_cell(f"{file}, line {line}, column {k + 1}", r[k]) for line, r in rows[1:]]
        for k, name in enumerate(names)
    }
    if "t" in columns:
        _check_order(file, names.index("t") + 1, [line for line, _ in rows[1:]], columns["t"])
    return columns, {name: (unit, places[name]) for name, unit in heads}


def _split_head(cell: str) -> tuple[str, str]:
    """A name and its unit: theta [deg]"""
    match = re.fullmatch(r"(.*?)\s*\[(.*)\]", cell.strip())
    return (match[1], match[2].strip()) if match else (cell.strip(), "")


def _check_heads(file: str, line: int, heads: Sequence[tuple[str, str]]) -> None:
    names = [name for name, _ in heads]
    for k, (name, unit) in enumerate(heads, 1):
        where = f"data: {file}, line {line}, column {k}"
        if name in names[: k - 1]:
            msg = f"{where}: a second column is called {name!r}"
            raise BadData(msg)
        if name == "t" and unit not in _SECONDS:
            msg = f"{where}: the times are in {unit!r}; give seconds"
            raise BadData(msg)


def _check_order(file: str, column: int, lines: Sequence[int], t: Sequence[float | None]) -> None:
    last = -math.inf
    for line, x in zip(lines, t, strict=True):
        if x is not None and x < last:
            msg = (
                f"data: {file}, line {line}, column {column}: times go back from {last:.9g} to "
                f"{x:.9g}; sort the rows by time"
            )
            raise BadData(msg)
        last = last if x is None else x


def _bounded_lines(file: TextIO, path: object) -> Iterator[str]:
    """The lines of a file that has an end."""
    total = 0
    while line := file.readline(_MAX_LINE + 1):
        total += len(line)
        if len(line) > _MAX_LINE or total > _MAX_CHARACTERS:
            limit = f"{_MAX_LINE} characters in a line, {_MAX_CHARACTERS} in all"
            msg = f"data: {path} is too long for a table of measurements (at most {limit})"
            raise BadData(msg)
        yield line


def _parse_cell(place: str, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        x = float(text)
    except ValueError:
        msg = f"data: {place}: {text!r} is no number"
        raise BadData(msg) from None
    if not math.isfinite(x):
        msg = f"data: {place}: {text}; leave the cell empty where nothing was measured"
        raise BadData(msg)
    return x


def in_system_units(system: System, c: MeasuredColumn) -> MeasuredColumn:
    """The column in the units of the system: kg, m, s and radians where these are known."""
    if not c.unit:
        return c
    try:
        factor, actual = parse_unit(c.unit)
    except BadDescription as problem:
        msg = f"data: {c.source}: {problem}"
        raise BadData(msg) from problem
    wanted = system.dimension(c.key)
    if wanted is not None and actual != wanted:
        msg = (
            f"data: {c.source}: {c.name} is in {c.unit!r} ({dimension_text(actual)}), but "
            f"{dimension_text(wanted)} is needed"
        )
        raise BadData(msg)
    # a system without units is in those of its numbers; degrees are an angle anywhere
    known = wanted is not None or actual == DIMENSIONLESS
    return replace(c, values=float(factor) * c.values) if known else c


def _measured_column(
    key: Any, given: Any, times: Any, unit: str = "", source: str = ""
) -> MeasuredColumn:
    if not isinstance(key, str | Scalar):
        msg = (
            f"data: {key!r} is no expression; name columns by what was measured, such as "
            f"'theta' "
            f"or 'l*sin(theta)'"
        )
        raise BadData(msg)
    name = str(key)
    own = isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1
    if not own and times is None:
        msg = f"data: no times for {name}: give a column 't', or {{{name!r}: (times, values)}}"
        raise BadData(msg)
    t, values = (_masked_array(name, x) for x in (given if own else (times, given)))
    if t.shape != values.shape:
        msg = f"data: {name} has {len(values)} values at {len(t)} times"
        raise BadData(msg)
    there = ~(np.ma.getmaskarray(t) | np.ma.getmaskarray(values))
    kept = [np.asarray(x[there], dtype=np.float64) for x in (t, values)]
    _check_series(name, *kept)
    return MeasuredColumn(key, kept[0], kept[1], unit, source)


def _masked_array(name: str, given: Any) -> np.ma.MaskedArray[Any, Any]:
    """With None and masked values as gaps."""
    if type(given) is np.ndarray and given.dtype == np.float64 and given.ndim == 1:
        return np.ma.MaskedArray(given.copy(), mask=np.zeros(len(given), dtype=bool))
    try:
        cells = given if isinstance(given, np.ma.MaskedArray) else list(given)
        gaps = (
            np.ma.getmaskarray(cells)
            if isinstance(cells, np.ma.MaskedArray)
            else np.array([x is None for x in cells], dtype=bool)
        )
        plain = np.array(
            [0.0 if gap else float(x) for x, gap in zip(cells, gaps, strict=True)], dtype=np.float64
        )
    except (TypeError, ValueError) as problem:
        msg = f"data: {name} is not a list of numbers: {problem}"
        raise BadData(msg) from problem
    return np.ma.MaskedArray(plain, mask=gaps)


def _check_series(name: str, t: FloatArray, values: FloatArray) -> None:
    if not len(t):
        msg = f"data: {name} has no values"
        raise BadData(msg)
    for what, x in (("time", t), ("value", values)):
        wrong = np.flatnonzero(~np.isfinite(x))
        if wrong.size:
            k = wrong[0]
            msg = (
                f"data: the {what} in row {k + 1} of {name} is {x[k]}; leave the row out, or "
                f"put "
                f"None where nothing was measured"
            )
            raise BadData(msg)
    back = np.flatnonzero(np.diff(t) < 0.0)
    if back.size:
        k = back[0] + 1
        msg = (
            f"data: times of {name} go back from {t[k - 1]:.9g} to {t[k]:.9g} in row {k + 1}; "
            f"sort the rows by time"
        )
        raise BadData(msg)
