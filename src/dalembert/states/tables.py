"""w(t) through measured points: held, linear or cubic between them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.notebook import Shown
from dalembert.numerics.symbol_values import BadValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_DEGREES: Final = {"held": 0, "linear": 1, "cubic": 3}


@dataclass(frozen=True, eq=False)
class Table(Shown):
    """Values at times, and what lies between them: w = c₀ + c₁ τ + c₂ τ² + c₃ τ³ with τ = t − t_k from t_k on."""

    t: Numbers = field(repr=False)
    values: Numbers = field(repr=False)
    kind: str
    # a row (c₀, c₁, …) for each interval; of a held table for the last point too
    coefficients: Numbers = field(repr=False)

    @property
    def degree(self) -> int:
        """0, 1 or 3."""
        return _DEGREES[self.kind]

    def interval(self, t: float) -> int:
        """The number of the interval that begins at t or before it."""
        return int(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.coefficients) - 1))

    def __call__(self, t: float) -> float:
        """w(t)"""
        k = self.interval(t)
        return float(np.polynomial.polynomial.polyval(t - self.t[k], self.coefficients[k]))

    def __str__(self) -> str:
        return f"table of {len(self.t)} points from t = {self.t[0]:g} to {self.t[-1]:g}, {self.kind} between them"


def table(times: Any, values: Any = None, kind: str = "linear") -> Table:
    """A measured input: da.table(times, values), da.table("road.csv", kind="cubic"), or a pandas Series over its times.

    `kind` says what lies between the points: "held", "linear", or "cubic" (a spline with continuous curvature, which a specified
    motion needs). A CSV file has the times in its first column and the values in its second.
    """
    if kind not in _DEGREES:
        msg = f"table: kind={kind!r:.40}; give 'held', 'linear' or 'cubic'"
        raise BadValue(msg)
    if values is None:
        times, values = _columns(times)
    t, w = _numbers("times", times), _numbers("values", values)
    if len(t) != len(w) or len(t) < 2:
        msg = f"table: {len(t)} times and {len(w)} values; give as many of one as of the other, and at least two"
        raise BadValue(msg)
    if (np.diff(t) <= 0.0).any():
        k = int(np.argmax(np.diff(t) <= 0.0))
        msg = f"table: the times must grow, but {t[k + 1]:g} follows {t[k]:g}"
        raise BadValue(msg)
    return Table(t, w, kind, _pieces(t, w, kind))


def _pieces(t: Numbers, w: Numbers, kind: str) -> Numbers:
    if kind == "held":
        return w[:, np.newaxis]
    if kind == "linear":
        return np.column_stack([w[:-1], np.diff(w) / np.diff(t)])
    from scipy.interpolate import CubicSpline

    # the highest power first
    return np.ascontiguousarray(CubicSpline(t, w).c[::-1].T)


def _columns(given: Any) -> tuple[Any, Any]:
    """Times and values of a file, a Series, a pair, or two columns."""
    if isinstance(given, str | os.PathLike):
        return _read_csv(Path(given))
    if hasattr(given, "columns") and hasattr(given, "to_numpy"):
        if len(given.columns) != 2:
            msg = f"table: a DataFrame of {len(given.columns)} columns; give two, the times and the values, or a Series over its times"
            raise BadValue(msg)
        return given.iloc[:, 0].to_numpy(), given.iloc[:, 1].to_numpy()
    if hasattr(given, "index") and hasattr(given, "to_numpy"):
        if not np.issubdtype(given.index.dtype, np.number):
            msg = "table: the index of a Series must be its times as numbers, in seconds"
            raise BadValue(msg)
        return given.index.to_numpy(), given.to_numpy()
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    columns = np.asarray(given)
    if columns.ndim == 2 and columns.shape[1] == 2:
        return columns[:, 0], columns[:, 1]
    msg = "table: give times and values, the path of a CSV file, or a pandas Series over its times"
    raise BadValue(msg)


def _read_csv(path: Path) -> tuple[Numbers, Numbers]:
    """The first two columns; a line of heads at the top is passed over."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        msg = f"table: {path} cannot be read: {getattr(problem, 'strerror', None) or problem}"
        raise BadValue(msg) from problem
    rows = []
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.replace(";", ",").split(",")]
        try:
            rows.append((float(cells[0]), float(cells[1])))
        except (ValueError, IndexError):
            if rows:
                msg = f"table: line {number} of {path} is {line!r:.60}; a time and a value are expected"
                raise BadValue(msg) from None
    found = np.array(rows).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _numbers(what: str, given: Any) -> Numbers:
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        msg = f"table: the {what} are not numbers ({given!r:.60})"
        raise BadValue(msg) from problem
    if found.ndim != 1 or not np.isfinite(found).all():
        msg = f"table: give the {what} as one row of finite numbers"
        raise BadValue(msg)
    return found
