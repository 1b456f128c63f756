"""w = f(t, state), held or not, and w(t) through measured points: inputs whose value is no
expression.

Each stands in the state of the run with rate zero: a held input itself, of a table c₀, …, c₃ and
t_k. At its times the integrator stops, and the new values are put there. A function that is not
held is called wherever the equations are evaluated.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.symbol_values import BadValue, finite_number
from dalembert.runtime.states.evaluator import Evaluator, Key, label
from dalembert.symbolic.algebra.scalar import Scalar, is_python_function

_DEGREES: Final = {"held": 0, "linear": 1, "cubic": 3}


@dataclass(frozen=True, eq=False)
class Table(Displayable):
    """Values at times, and what lies between them: w = c₀ + c₁ τ + c₂ τ² + c₃ τ³ with τ = t −
    t_k from t_k on.
    """

    t: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    kind: str
    # a row (c₀, c₁, …) for each interval; of a held table for the last point too
    coefficients: FloatArray = field(repr=False)

    @property
    def degree(self) -> int:
        """The degree of the polynomials: 0, 1 or 3 for measured points."""
        return int(self.coefficients.shape[1]) - 1

    def interval(self, t: float) -> int:
        """The number of the interval that begins at t or before it."""
        return int(
            np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.coefficients) - 1)
        )

    def __call__(self, t: float) -> float:
        """w(t)"""
        k = self.interval(t)
        return float(np.polynomial.polynomial.polyval(t - self.t[k], self.coefficients[k]))

    def __str__(self) -> str:
        return (
            f"table of {len(self.t)} points from t = {self.t[0]:g} to {self.t[-1]:g}, "
            f"{self.kind} between them"
        )


def table(times: Any, values: Any = None, kind: str = "linear") -> Table:
    """A measured input: da.table(times, values), da.table("road.csv", kind="cubic"), or a pandas
    Series over its times.

    `kind` says what lies between the points: "held", "linear", or "cubic" (a spline with continuous
    curvature, which a specified motion needs). A CSV file has the times in its first column and the
    values in its second.
    """
    if kind not in _DEGREES:
        msg = f"table: kind={kind!r:.40}; give 'held', 'linear' or 'cubic'"
        raise BadValue(msg)
    if values is None:
        times, values = _columns(times)
    t, w = _finite_array("times", times), _finite_array("values", values)
    if len(t) != len(w) or len(t) < 2:
        msg = (
            f"table: {len(t)} times and {len(w)} values; give as many of one as of the other, "
            f"and at least two"
        )
        raise BadValue(msg)
    if (np.diff(t) <= 0.0).any():
        k = int(np.argmax(np.diff(t) <= 0.0))
        msg = f"table: the times must grow, but {t[k + 1]:g} follows {t[k]:g}"
        raise BadValue(msg)
    return Table(t, w, kind, _spline_coefficients(t, w, kind))


def _spline_coefficients(t: FloatArray, w: FloatArray, kind: str) -> FloatArray:
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
            msg = (
                f"table: a DataFrame of {len(given.columns)} columns; give two, the times and "
                f"the values, or a Series over its times"
            )
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


def _read_csv(path: Path) -> tuple[FloatArray, FloatArray]:
    """The first two columns; a line of heads at the top is passed over."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        msg = f"table: {path} cannot be read: {getattr(problem, 'strerror', None) or problem}"
        raise BadValue(msg) from problem
    rows = []
    for count, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.replace(";", ",").split(",")]
        try:
            rows.append((float(cells[0]), float(cells[1])))
        except (ValueError, IndexError):
            if rows:
                msg = (
                    f"table: line {count} of {path} is {line!r:.60}; a time and a value are "
                    f"expected"
                )
                raise BadValue(msg) from None
    columns = np.array(rows).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def _finite_array(what: str, given: Any) -> FloatArray:
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        msg = f"table: the {what} are not numbers ({given!r:.60})"
        raise BadValue(msg) from problem
    if array.ndim != 1 or not np.isfinite(array).all():
        msg = f"table: give the {what} as one row of finite numbers"
        raise BadValue(msg)
    return array


@dataclass(frozen=True)
class Sampled(Displayable):
    """A function of the time and the state that is asked every so often, and held in between."""

    function: Callable[..., float] = field(repr=False)
    every: float

    def __str__(self) -> str:
        return f"asked every {self.every:g} and held in between"


def sampled(function: Callable[..., float], every: float) -> Sampled:
    """An input that a program sets at t₀, t₀ + every, …: inputs={F: da.sampled(lambda t, now: -3
    * now["x"], every=0.01)}.
    """
    if not is_python_function(function):
        msg = (
            f"sampled: give a function of the time, or of the time and the state, not "
            f"{function!r:.60}"
        )
        raise BadValue(msg)
    interval = finite_number("every", every)
    if interval <= 0.0:
        msg = f"sampled: every={interval:g}; give a positive interval of time"
        raise BadValue(msg)
    return Sampled(function, interval)


class RunState(Displayable):
    """What a function that gives an input sees: now["theta"], now["m*g*x"], now.q, now.u, now.t."""

    def __init__(self, evaluator: Evaluator, y: FloatArray, t: float) -> None:
        self._evaluator, self._y, self.t = evaluator, y, t

    def __str__(self) -> str:
        kin = self._evaluator.kin
        listed = ", ".join(
            f"{label(kin.name(i))} = {x:.6g}"
            for i, x in zip(kin.state, self._y.tolist(), strict=False)
        )
        return f"t = {self.t:.6g}: {listed}"

    @property
    def q(self) -> FloatArray:
        """The coordinates."""
        return self._y[: self._evaluator.kin.n_q]

    @property
    def x(self) -> FloatArray:
        """The first-order states."""
        kin = self._evaluator.kin
        return self._y[kin.n_q : kin.n_q + len(kin.x)]

    @property
    def u(self) -> FloatArray:
        """The speeds."""
        kin = self._evaluator.kin
        return self._y[kin.speed_offset : len(kin.state)]

    def __getitem__(self, key: Key) -> float:
        """The value of a name or an expression here."""
        kin = self._evaluator.kin
        i = self._evaluator.in_state(self._evaluator.node(key))
        if i in kin.state:
            return float(self._y[kin.state.index(i)])
        state = dict(zip(kin.state, self._y.tolist(), strict=False)) | {
            self._evaluator.time: self.t
        }
        return float(self._evaluator.values_at([i], state)[0])


@dataclass(frozen=True)
class CallbackInput:
    """One input, the nodes that stand for it in the state, and what gives their values."""

    name: str
    nodes: tuple[int, ...]
    source: Table | Sampled | Callable[..., float]

    @property
    def is_continuous(self) -> bool:
        """Whether it is a function that is never held."""
        return not isinstance(self.source, Table | Sampled)

    def update_times(self, t0: float, t1: float) -> Iterable[float]:
        """When its values change between t0 and t1."""
        if isinstance(self.source, Table):
            return (float(t) for t in self.source.t if t0 < t < t1)
        if isinstance(self.source, Sampled):
            every = self.source.every
            return (t0 + k * every for k in range(1, math.ceil((t1 - t0) / every)))
        return ()

    def table_values(self, t: float) -> dict[int, float]:
        """The values at t that need no state."""
        if not isinstance(self.source, Table):
            return {}
        k = self.source.interval(t)
        row = self.source.coefficients[k].tolist()
        return dict(zip(self.nodes, [*row, float(self.source.t[k])], strict=False))

    def at(self, now: RunState) -> Sequence[float]:
        """The values in this state."""
        if isinstance(self.source, Table):
            return list(self.table_values(now.t).values())
        try:
            value = self._function(now.t, now) if self._takes_state else self._function(now.t)
        except Exception as problem:
            msg = (
                f"{self.name}: its function raised {type(problem).__name__} at t = {now.t:g}: "
                f"{problem}"
            )
            raise BadValue(msg) from problem
        try:
            number = float(np.asarray(value).item())
        except (TypeError, ValueError):
            msg = (
                f"{self.name}: its function returned {value!r:.60} at t = {now.t:g}; one number "
                f"is expected"
            )
            raise BadValue(msg) from None
        if not math.isfinite(number):
            msg = f"{self.name}: its function returned {number} at t = {now.t:g}"
            raise BadValue(msg)
        return [number]

    @property
    def _function(self) -> Callable[..., float]:
        return self.source.function if isinstance(self.source, Sampled) else self.source

    @cached_property
    def _takes_state(self) -> bool:
        """Whether it is f(t, state) rather than f(t)."""
        inside = _parameters(self._function) or ()
        return (
            sum(
                p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
                for p in inside
            )
            > 1
        )

    def check_span(self, t0: float, t1: float) -> None:
        """Refuse a run that is longer than a table."""
        if not isinstance(self.source, Table):
            return
        first, last = float(self.source.t[0]), float(self.source.t[-1])
        if t0 < first or (t1 > last and self.source.kind != "held"):
            msg = (
                f"{self.name}: its table goes from t = {first:g} to {last:g}, the run from "
                f"{t0:g} to {t1:g}"
            )
            raise BadValue(msg)


def _check_arguments(name: str, function: Callable[..., float]) -> None:
    """Refuse a function that does not take the time."""
    parameters = _parameters(function)
    if parameters is None:
        return
    needed = [
        p
        for p in parameters
        if p.default is p.empty
        and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    if not parameters or len(needed) > 2:
        msg = (
            f"{name}: its function takes {len(needed) or 'no'} arguments; it is called f(t), or "
            f"f(t, now) with the state"
        )
        raise BadValue(msg)


def _parameters(function: Callable[..., float]) -> list[inspect.Parameter] | None:
    """The parameters of a function; None where it does not tell."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def callback_input(kin: Kinematics, name: str, source: Any) -> tuple[CallbackInput, Scalar | None]:
    """The input with the symbols that stand for it, and of a table the polynomial in t that it
    is.
    """
    symbol = kin.system.symbols[name]
    specified = symbol.kind == "specified"
    if not isinstance(source, Table):
        if specified:
            msg = (
                f"{name}: a Python function has no rates, which a specified motion needs; give "
                f"an expression in s.t or da.table(…, kind='cubic'). For feedback declare {name} "
                f"as a coordinate, and a force or s.constrain({name} - …) that drives it"
            )
            raise BadValue(msg)
        _check_arguments(name, source.function if isinstance(source, Sampled) else source)
        return CallbackInput(name, (symbol.scalar.i,), source), None
    if specified and source.kind not in ("cubic", "polynomial"):
        msg = (
            f"{name}: the velocity of a {source.kind} table jumps; a specified motion needs "
            f"da.table(…, kind='cubic')"
        )
        raise BadValue(msg)
    tape = kin.tape
    c = [tape.private_symbol(f"{name}_c{k}") for k in range(source.degree + 1)]
    begin = tape.private_symbol(f"{name}_from")
    tau, w = Scalar(tape, tape.sub(kin.system.t.i, begin)), Scalar(tape, c[-1])
    for each in reversed(c[:-1]):
        w = w * tau + Scalar(tape, each)
    return CallbackInput(name, tuple(c) if source.degree == 0 else (*c, begin), source), w
