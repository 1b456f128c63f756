"""w(t) through recorded points: held, linear or cubic between them, as an expression of the tape.
Keywords: interpolation, lookup table, cubic spline, extrapolation.

w = Σ_j c_j(k) τ^j with τ = t − t_k, where k = interval(t) counts the knots up to t. The numbers
t_k and c_j(k) lie in memory (`symbolic/algebra/data_arrays`), so that compiled code, derivatives
and Taylor series read a table as any other expression.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.runtime.numerics.symbol_values import BadValue
from dalembert.symbolic.algebra.data_arrays import DataColumn, data_column
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.runtime.states.table_reader import RecordedColumns

_KINDS: Final = ("held", "linear", "cubic")
_EXTRAPOLATIONS: Final = ("refuse", "hold", "continue", "zero")
# a piece of an input that is smooth enough for a prescribed motion
SMOOTH: Final = ("cubic", "polynomial")


@dataclass(frozen=True, eq=False)
class Table(Displayable):
    """A recorded signal: values at times, with interpolation and extrapolation."""

    t: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    kind: str
    # c_j(k) in row j for k = 0 (before the first knot) … n (from the last knot on)
    segments: FloatArray = field(repr=False)
    extrapolation: str = "refuse"
    # where it came from, and the unit in its head, for messages
    source: str = ""
    unit: str = ""

    @classmethod
    def from_rows(
        cls,
        t: FloatArray,
        values: FloatArray,
        kind: str,
        rows: FloatArray,
        extrapolation: str = "refuse",
        source: str = "",
        unit: str = "",
    ) -> Table:
        """The table whose interval k has the polynomial of row k; a held one has a row for the
        last knot too.
        """
        degree, n = rows.shape[1] - 1, len(t)
        segments = np.zeros((degree + 1, n + 1))
        segments[:, 1 : 1 + len(rows)] = rows.T
        before, after = segments[:, 0], segments[:, n]
        if extrapolation == "hold":
            before[0], after[0] = values[0], values[-1]
        elif extrapolation != "zero":
            before[:] = rows[0]
            h = float(t[-1] - t[-2])
            if kind != "held":
                for j in range(degree + 1):
                    after[j] = sum(
                        comb(m, j) * rows[-1, m] * h ** (m - j) for m in range(j, degree + 1)
                    )
                after[0] = values[-1]
        return cls(t, values, kind, segments, extrapolation, source, unit)

    @property
    def degree(self) -> int:
        """The degree of the polynomials: 0, 1 or 3 for recorded points."""
        return len(self.segments) - 1

    @property
    def coefficients(self) -> FloatArray:
        """A row (c₀, c₁, …) for each interval; of a held table for the last point too."""
        last = len(self.t) + (self.kind == "held")
        return self.segments[:, 1:last].T

    @cached_property
    def _knots(self) -> DataColumn:
        """The times, where compiled code finds them."""
        return data_column(self.t)

    @cached_property
    def _columns(self) -> tuple[DataColumn, ...]:
        """The coefficients, where compiled code finds them."""
        return tuple(data_column(row) for row in self.segments)

    @property
    def handles(self) -> tuple[float, ...]:
        """The handles of the times and of c₀, c₁, …, by which compiled code finds them."""
        return tuple(column.handle for column in (self._knots, *self._columns))

    def interval(self, t: float) -> int:
        """The number of the interval that begins at t or before it."""
        return int(
            np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.coefficients) - 1)
        )

    def __call__(self, t: Any) -> Any:
        """w(t), of a number or of an array of times."""
        k = np.searchsorted(self.t, t, side="right")
        tau = np.asarray(t, dtype=np.float64) - self.t[np.maximum(k - 1, 0)]
        w = np.asarray(self.segments[-1][k])
        for c in self.segments[-2::-1]:
            w = w * tau + c[k]
        return float(w) if w.ndim == 0 else w

    def covers(self, t0: float, t1: float) -> bool:
        """Whether a run from t0 to t1 needs nothing that the table does not say."""
        if self.extrapolation != "refuse":
            return True
        return bool(self.t[0] <= t0 and (t1 <= self.t[-1] or self.kind == "held"))

    def __str__(self) -> str:
        outside = "" if self.extrapolation == "refuse" else f", outside: {self.extrapolation}"
        return (
            f"table of {len(self.t)} points from t = {self.t[0]:g} to {self.t[-1]:g}, "
            f"{self.kind} between them{outside}"
        )


@dataclass(frozen=True)
class TableInput:
    """An input that a table gives: its name, the table, and {symbol of a handle: handle}."""

    name: str
    table: Table
    handles: dict[int, float]
    # the names of those symbols, that of the knots first
    handle_names: tuple[str, ...] = ()

    def check_span(self, t0: float, t1: float) -> None:
        """Refuse times that the table does not cover."""
        if not self.table.covers(t0, t1):
            first, last = self.table.t[0], self.table.t[-1]
            where = f" ({self.table.source})" if self.table.source else ""
            needed = f"the run from {t0:g} to {t1:g}" if t1 > t0 else f"it is needed at t = {t0:g}"
            msg = (
                f"{self.name}: its table{where} goes from t = {first:g} to {last:g}, {needed}; "
                f"record more, or give da.table(…, extrapolation='hold')"
            )
            raise BadValue(msg)


def check_spans(inputs: Iterable[TableInput], t0: float, t1: float) -> None:
    """Refuse times that a table does not cover."""
    for each in inputs:
        each.check_span(t0, t1)


def table_handles(tape: Tape, name: str, degree: int) -> tuple[int, list[int]]:
    """The symbols of the handles of a table: of its knots, and of c₀, c₁, …"""
    knots = tape.private_symbol(f"{name}_knots")
    return knots, [tape.private_symbol(f"{name}_c{j}") for j in range(degree + 1)]


def table_expression(tape: Tape, time: int, name: str, given: Table) -> tuple[TableInput, Scalar]:
    """w(t) on a tape, with the symbols of its handles."""
    knots, symbols = table_handles(tape, name, given.degree)
    k = tape.interval(time, knots)
    tau = Scalar(tape, tape.sub(time, tape.lookup(tape.sub(k, tape.one), knots)))
    w = Scalar(tape, tape.lookup(k, symbols[-1]))
    for symbol in reversed(symbols[:-1]):
        w = w * tau + Scalar(tape, tape.lookup(k, symbol))
    handles = dict(zip((knots, *symbols), given.handles, strict=True))
    names = tuple(str(tape.nodes[i][1]) for i in handles)
    return TableInput(name, given, handles, names), w


def table(
    times: Any,
    values: Any = None,
    kind: str = "linear",
    *,
    column: str | None = None,
    extrapolation: str = "refuse",
) -> Table:
    """A recorded input: da.table(times, values), da.table("road.csv", kind="cubic"), a pandas
    Series over its times, a column of a DataFrame, or an xarray DataArray.

    `kind` says what lies between the points: "held", "linear", or "cubic" (a spline with continuous
    curvature, which a prescribed motion needs). `column` names one of several columns; without it a
    file's second column is taken. `extrapolation` says what lies outside: "refuse" (default),
    "hold" the first and the last value, "continue" the polynomials, or "zero".
    """
    from dalembert.runtime.states.table_reader import read_recorded

    _check_choices(kind, extrapolation)
    recorded = read_recorded(times, values)
    return _table(recorded, recorded.select(column), kind, extrapolation)


def tables(source: Any, kind: str = "linear", *, extrapolation: str = "refuse") -> dict[str, Table]:
    """All channels of a recording by name, over one clock: inputs=da.tables("drive.csv").

    A CSV file has the times in its first column and the names in its first line; units may follow
    the names, F [N].
    """
    from dalembert.runtime.states.table_reader import read_recorded

    _check_choices(kind, extrapolation)
    recorded = read_recorded(source, None)
    if not recorded.names:
        msg = "tables: the columns have no names; give a CSV file with a line of names, or a dict"
        raise BadValue(msg)
    return {name: _table(recorded, k, kind, extrapolation) for k, name in enumerate(recorded.names)}


def _check_choices(kind: str, extrapolation: str) -> None:
    if kind not in _KINDS:
        msg = f"table: kind={kind!r:.40}; give 'held', 'linear' or 'cubic'"
        raise BadValue(msg)
    if extrapolation not in _EXTRAPOLATIONS:
        known = ", ".join(map(repr, _EXTRAPOLATIONS))
        msg = f"table: extrapolation={extrapolation!r:.40}; give one of {known}"
        raise BadValue(msg)


def _table(recorded: RecordedColumns, k: int, kind: str, extrapolation: str) -> Table:
    t, w = recorded.t, recorded.values[k]
    return Table.from_rows(
        t,
        w,
        kind,
        _spline_rows(t, w, kind),
        extrapolation,
        recorded.place(k),
        recorded.units[k] if recorded.units else "",
    )


def _spline_rows(t: FloatArray, w: FloatArray, kind: str) -> FloatArray:
    if kind == "held":
        return w[:, np.newaxis]
    if kind == "linear" or len(t) == 2:
        rows = np.zeros((len(t) - 1, 2 if kind == "linear" else 4))
        rows[:, 0], rows[:, 1] = w[:-1], np.diff(w) / np.diff(t)
        return rows
    from scipy.interpolate import CubicSpline

    # the highest power first
    return np.asarray(CubicSpline(t, w).c[::-1].T)
