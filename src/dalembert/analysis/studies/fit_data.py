"""y(t_i): what was measured, column by column, each at its own times."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TextIO

import numpy as np

from dalembert.errors import DalembertError
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.scalar import Scalar

# a file that is longer has no end
_MAX_LINE: Final = 1_000_000
_MAX_CHARACTERS: Final = 500_000_000


class BadData(DalembertError):
    """Measured values that cannot be used, with the column and the row."""


@dataclass(frozen=True, eq=False)
class MeasuredColumn:
    """One measured quantity: an expression of the system, and its values at its own times."""

    key: Scalar | str
    t: FloatArray
    values: FloatArray

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
    if isinstance(data, str | os.PathLike):
        table: Mapping[Any, Any] = _read_file(data)
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
    columns = tuple(_measured_column(key, x, times) for key, x in table.items() if str(key) != "t")
    if not columns:
        msg = (
            "data: there is no column besides t; name what was measured, such as {'t': …, "
            "'theta': …}"
        )
        raise BadData(msg)
    return columns


def _read_file(path: str | os.PathLike[str]) -> dict[str, list[float | None]]:
    """Columns of a CSV file; heads may carry a unit, theta [rad], which is not read."""
    try:
        # a pipe is a file too
        with open(path, encoding="utf-8-sig", newline="") as file:  # noqa: PTH123
            lines = _bounded_lines(file, os.fspath(path))
            rows = [row for row in csv.reader(lines) if row and any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        msg = f"data: {os.fspath(path)} cannot be read: {problem}"
        raise BadData(msg) from problem
    if len(rows) < 2:
        msg = f"data: {os.fspath(path)} has no values below a line of names"
        raise BadData(msg)
    names = [re.sub(r"\s*\[.*\]$", "", cell.strip()) for cell in rows[0]]
    ragged = next((k for k, row in enumerate(rows) if len(row) != len(names)), None)
    if ragged is not None:
        msg = (
            f"data: line {ragged + 1} of {os.fspath(path)} has {len(rows[ragged])} cells, the "
            f"first line {len(names)}"
        )
        raise BadData(msg)
    return {
        name: [_parse_cell(path, row[k], name, line) for line, row in enumerate(rows[1:], 2)]
        for k, name in enumerate(names)
    }


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


def _parse_cell(path: str | os.PathLike[str], text: str, name: str, line: int) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        msg = f"data: {text!r} in line {line} of {os.fspath(path)}, column {name}, is no number"
        raise BadData(msg) from None


def _measured_column(key: Any, given: Any, times: Any) -> MeasuredColumn:
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
    return MeasuredColumn(key, *kept)


def _masked_array(name: str, given: Any) -> np.ma.MaskedArray[Any, Any]:
    """With None and masked values as gaps."""
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
