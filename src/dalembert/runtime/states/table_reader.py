"""t_i, w_i: recorded columns from a CSV file, arrays, pandas or xarray, checked.

What is wrong is reported with the file, the line and the column.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import suggest_name
from dalembert.runtime.numerics.symbol_values import BadValue

_HEAD_UNIT: Final = re.compile(r"^(.*?)\s*[\[(]([^\])]*)[\])]$")
_SECONDS: Final = ("", "s", "sec", "second", "seconds")
_MOST_BYTES: Final = 2**30


@dataclass(frozen=True, eq=False)
class RecordedColumns:
    """Columns over one clock; without names where the source has none."""

    t: FloatArray
    values: tuple[FloatArray, ...]
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    source: str = ""
    # the line of the names in a file
    head_line: int = 0

    def place(self, k: int) -> str:
        """Where column k stands, for messages."""
        head = f", line {self.head_line}, column {k + 2}" if self.head_line else ""
        return self.source + head

    def select(self, column: str | None) -> int:
        """The number of the column of a name; the first without one."""
        if column is None:
            return 0
        if column not in self.names:
            known = ", ".join(self.names) or "none"
            where = f"{self.source}: " if self.source else "table: "
            msg = (
                f"{where}there is no column {column!r}; columns are {known}; "
                f"{suggest_name(column, self.names)}".rstrip("; ")
            )
            raise BadValue(msg)
        return self.names.index(column)


def read_recorded(times: Any, values: Any) -> RecordedColumns:
    """Columns from times and values, a file, a frame, a Series, a DataArray, a dict or a pair."""
    if values is not None:
        return _checked(times, [values])
    if isinstance(times, str | os.PathLike):
        return _read_csv(Path(times))
    if isinstance(times, Mapping):
        return _from_mapping(times)
    if hasattr(times, "dims") and hasattr(times, "coords"):
        return _from_xarray(times)
    if hasattr(times, "columns") and hasattr(times, "to_numpy"):
        return _from_frame(times)
    if hasattr(times, "index") and hasattr(times, "to_numpy"):
        return _checked(_index_times(times.index), [times.to_numpy()], [str(times.name or "")])
    if isinstance(times, tuple | list) and len(times) == 2:
        return _checked(times[0], [times[1]])
    try:
        columns = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError):
        columns = np.zeros(0)
    if columns.ndim == 2 and columns.shape[1] >= 2:
        return _checked(columns[:, 0], list(columns[:, 1:].T))
    msg = (
        "table: give times and values, the path of a CSV file, a dict of columns, or a pandas "
        "Series over its times"
    )
    raise BadValue(msg)


def _from_mapping(given: Mapping[Any, Any]) -> RecordedColumns:
    columns = {str(getattr(key, "name", None) or key): x for key, x in given.items()}
    if "t" not in columns or len(columns) < 2:
        msg = f"table: the columns {', '.join(columns)} need their times: a column 't'"
        raise BadValue(msg)
    t = columns.pop("t")
    return _checked(t, list(columns.values()), list(columns))


def _from_xarray(given: Any) -> RecordedColumns:
    """A DataArray over one dimension, or over time and channels, or a Dataset of such."""
    if hasattr(given, "data_vars"):
        names = list(given.data_vars)
        if not names:
            msg = "table: the Dataset has no variables"
            raise BadValue(msg)
        first = given[names[0]]
        clock = _coordinate(first)
        return _checked(clock, [given[n].to_numpy() for n in names], list(map(str, names)))
    data = np.asarray(given.to_numpy())
    if data.ndim == 1:
        return _checked(_coordinate(given), [data], [str(given.name or "")])
    if data.ndim != 2:
        msg = f"table: a DataArray of {data.ndim} dimensions; give time, or time and channels"
        raise BadValue(msg)
    second = given.dims[1]
    names = [str(x) for x in given.coords[second].to_numpy()] if second in given.coords else []
    return _checked(_coordinate(given), list(data.T), names)


def _coordinate(array: Any) -> Any:
    dimension = array.dims[0]
    if dimension not in array.coords:
        msg = f"table: the dimension {dimension!r} of the DataArray has no times as a coordinate"
        raise BadValue(msg)
    return array.coords[dimension].to_numpy()


def _from_frame(given: Any) -> RecordedColumns:
    """A DataFrame: times in a column t, else in an index of numbers, else in the first column."""
    names = [str(c) for c in given.columns]
    data = [given.iloc[:, k].to_numpy() for k in range(len(names))]
    if "t" in names:
        times = data.pop(names.index("t"))
        names.remove("t")
    elif given.index.name is not None:
        times = _index_times(given.index)
    else:
        times, data, names = data[0], data[1:], names[1:]
    if not names:
        msg = "table: the DataFrame has no column besides its times"
        raise BadValue(msg)
    return _checked(times, data, names)


def _index_times(index: Any) -> Any:
    if not np.issubdtype(index.dtype, np.number):
        msg = "table: the index of a Series must be its times as numbers, in seconds"
        raise BadValue(msg)
    return index.to_numpy()


# ---- files -------------------------------------------------------------------------------------


def _read_csv(path: Path) -> RecordedColumns:
    """Times in the first column; a first line that is no numbers has the names, with units."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            msg = f"table: {path} has more than {_MOST_BYTES >> 20} MB; give fewer samples"
            raise BadValue(msg)
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        msg = f"table: {path} cannot be read: {getattr(problem, 'strerror', None) or problem}"
        raise BadValue(msg) from problem
    lines = text.splitlines()
    delimiter = _delimiter(lines)
    head, first = _head(lines, delimiter)
    columns = _fast_columns(text, delimiter, first) if first < len(lines) else None
    if columns is None or (head and columns.shape[1] != len(head)):
        columns = _slow_columns(path, lines, delimiter, first, len(head))
    names, units = _names_and_units(path, head, first)
    _check_file_times(path, columns[:, 0], first)
    return RecordedColumns(
        np.ascontiguousarray(columns[:, 0]),
        tuple(np.ascontiguousarray(c) for c in columns[:, 1:].T),
        names,
        units,
        str(path),
        first if head else 0,
    )


def _delimiter(lines: Sequence[str]) -> str:
    """What separates cells: the one that the last line of numbers has."""
    sample = next((line for line in reversed(lines) if line.strip()), "")
    return next((d for d in (",", ";", "\t") if d in sample), " ")


def _cells(line: str, delimiter: str) -> list[str]:
    return [c.strip() for c in (line.split() if delimiter == " " else line.split(delimiter))]


def _head(lines: Sequence[str], delimiter: str) -> tuple[list[str], int]:
    """The names in the last line before the numbers, and the number of lines before them."""
    from csv import reader as csv_reader

    head: list[str] = []
    for count, line in enumerate(lines):
        cells = next(csv_reader([line], delimiter=delimiter), []) if line.strip() else []
        if delimiter == " ":
            cells = line.split()
        if cells and _is_number(cells[0]):
            return [c.strip() for c in head], count
        # a comment above the names is none of them
        if cells:
            head = cells
    return [c.strip() for c in head], len(lines)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fast_columns(text: str, delimiter: str, skip: int) -> FloatArray | None:
    """All numbers at once; None where a line is not like the others."""
    try:
        columns = np.loadtxt(
            io.StringIO(text),
            delimiter=None if delimiter == " " else delimiter,
            skiprows=skip,
            ndmin=2,
            comments=None,
        )
    except ValueError:
        return None
    good = columns.shape[0] >= 2 and columns.shape[1] >= 2 and np.isfinite(columns).all()
    return columns if good else None


def _slow_columns(
    path: Path, lines: Sequence[str], delimiter: str, skip: int, width: int
) -> FloatArray:
    """Line by line, up to the first that is wrong."""
    rows: list[list[float]] = []
    for count, line in enumerate(lines[skip:], skip + 1):
        if not line.strip():
            continue
        cells = _cells(line, delimiter)
        wanted = width or (len(rows[0]) if rows else len(cells))
        if len(cells) != wanted or wanted < 2:
            expected = f"{wanted} cells" if wanted >= 2 else "a time and a value"
            msg = (
                f"table: {path}, line {count}: {len(cells)} cells ({line!r:.60}); {expected} are "
                f"expected"
            )
            raise BadValue(msg)
        rows.append([_cell(path, count, k, text) for k, text in enumerate(cells, 1)])
    if len(rows) < 2:
        msg = f"table: {path} has {len(rows)} lines of numbers; at least two are needed"
        raise BadValue(msg)
    return np.array(rows)


def _cell(path: Path, line: int, column: int, text: str) -> float:
    try:
        x = float(text)
    except ValueError:
        what = f"{text!r:.40} is no number" if text else "the cell is empty"
        msg = f"table: {path}, line {line}, column {column}: {what}; leave the line out"
        raise BadValue(msg) from None
    if not math.isfinite(x):
        msg = (
            f"table: {path}, line {line}, column {column}: {text}; leave the line out, so that the "
            f"gap is interpolated"
        )
        raise BadValue(msg)
    return x


def _names_and_units(
    path: Path, head: Sequence[str], line: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not head:
        return (), ()
    split = [(m[1], m[2].strip()) if (m := _HEAD_UNIT.match(h)) else (h, "") for h in head]
    if split[0][1].lower() not in _SECONDS:
        msg = (
            f"table: {path}, line {line}, column 1: the times are in {split[0][1]!r}; give seconds"
        )
        raise BadValue(msg)
    names = [name for name, _ in split[1:]]
    twice = next((n for k, n in enumerate(names) if n in names[:k]), None)
    if twice is not None:
        column = 2 + len(names) - 1 - names[::-1].index(twice)
        msg = f"table: {path}, line {line}, column {column}: a second column is called {twice!r}"
        raise BadValue(msg)
    return tuple(names), tuple(unit for _, unit in split[1:])


def _check_file_times(path: Path, t: FloatArray, skip: int) -> None:
    k = _first_step_back(t)
    if k is not None:
        msg = (
            f"table: {path}, line {skip + k + 1}, column 1: the times must grow, but {t[k]:.9g} "
            f"follows {t[k - 1]:.9g}"
        )
        raise BadValue(msg)


def _first_step_back(t: FloatArray) -> int | None:
    back = np.diff(t) <= 0.0
    return int(np.argmax(back)) + 1 if back.any() else None


# ---- arrays ------------------------------------------------------------------------------------


def _checked(times: Any, values: Sequence[Any], names: Sequence[str] = ()) -> RecordedColumns:
    t = _finite_row("times", times)
    columns = [
        _finite_row(f"values of {names[k]}" if k < len(names) and names[k] else "values", x)
        for k, x in enumerate(values)
    ]
    for w in columns:
        if len(t) != len(w) or len(t) < 2:
            msg = (
                f"table: {len(t)} times and {len(w)} values; give as many of one as of the other, "
                f"and at least two"
            )
            raise BadValue(msg)
    k = _first_step_back(t)
    if k is not None:
        msg = f"table: the times must grow, but {t[k]:g} follows {t[k - 1]:g} in row {k + 1}"
        raise BadValue(msg)
    named = tuple(names) if any(names) else ()
    return RecordedColumns(t, tuple(columns), named, ("",) * len(named))


def _finite_row(what: str, given: Any) -> FloatArray:
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        msg = f"table: the {what} are not numbers ({given!r:.60})"
        raise BadValue(msg) from problem
    if array.ndim != 1:
        msg = f"table: give the {what} as one row of finite numbers"
        raise BadValue(msg)
    if not np.isfinite(array).all():
        k = int(np.argmin(np.isfinite(array)))
        msg = (
            f"table: the {what} as one row of finite numbers, but row {k + 1} is {array[k]}; leave "
            f"gaps out, they are interpolated"
        )
        raise BadValue(msg)
    return array
