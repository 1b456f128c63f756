"""w = f(t, state), held or not, and tables: inputs whose value is no expression.

Each stands in the state of the run with rate zero: a held input itself, of a table c₀, …, c₃ and t_k. At its times the integrator
stops, and the new values are put there. A function that is not held is called wherever the equations are evaluated.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.algebra.scalar import Scalar, is_program
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.notebook import Shown
from dalembert.numerics.symbol_values import BadValue, number
from dalembert.states.evaluator import Evaluator, Key, label
from dalembert.states.tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Sampled(Shown):
    """A function of the time and the state that is asked every so often, and held in between."""

    function: Callable[..., float] = field(repr=False)
    every: float

    def __str__(self) -> str:
        return f"asked every {self.every:g} and held in between"


def sampled(function: Callable[..., float], every: float) -> Sampled:
    """An input that a program sets at t₀, t₀ + every, …: inputs={F: da.sampled(lambda t, now: -3 * now["x"], every=0.01)}."""
    if not is_program(function):
        msg = f"sampled: give a function of the time, or of the time and the state, not {function!r:.60}"
        raise BadValue(msg)
    interval = number("every", every)
    if interval <= 0.0:
        msg = f"sampled: every={interval:g}; give a positive interval of time"
        raise BadValue(msg)
    return Sampled(function, interval)


class RunState(Shown):
    """What a function that gives an input sees: now["theta"], now["m*g*x"], now.q, now.u, now.t."""

    def __init__(self, evaluator: Evaluator, y: Numbers, t: float) -> None:
        self._evaluator, self._y, self.t = evaluator, y, t

    def __str__(self) -> str:
        kin = self._evaluator.kin
        listed = ", ".join(f"{label(kin.name(i))} = {x:.6g}" for i, x in zip(kin.state, self._y.tolist(), strict=False))
        return f"t = {self.t:.6g}: {listed}"

    @property
    def q(self) -> Numbers:
        """The coordinates."""
        return self._y[: self._evaluator.kin.n_q]

    @property
    def x(self) -> Numbers:
        """The first-order states."""
        kin = self._evaluator.kin
        return self._y[kin.n_q : kin.n_q + len(kin.x)]

    @property
    def u(self) -> Numbers:
        """The speeds."""
        kin = self._evaluator.kin
        return self._y[kin.first_speed : len(kin.state)]

    def __getitem__(self, key: Key) -> float:
        """The value of a name or an expression here."""
        kin = self._evaluator.kin
        i = self._evaluator.reduced(self._evaluator.node(key))
        if i in kin.state:
            return float(self._y[kin.state.index(i)])
        state = dict(zip(kin.state, self._y.tolist(), strict=False)) | {self._evaluator.time: self.t}
        return float(self._evaluator.floats([i], state)[0])


@dataclass(frozen=True)
class LiveInput:
    """One input, the nodes that stand for it in the state, and what gives their values."""

    name: str
    nodes: tuple[int, ...]
    source: Table | Sampled | Callable[..., float]

    @property
    def is_continuous(self) -> bool:
        """Whether it is a function that is never held."""
        return not isinstance(self.source, Table | Sampled)

    def times(self, t0: float, t1: float) -> Iterable[float]:
        """When its values change between t0 and t1."""
        if isinstance(self.source, Table):
            return (float(t) for t in self.source.t if t0 < t < t1)
        if isinstance(self.source, Sampled):
            every = self.source.every
            return (t0 + k * every for k in range(1, math.ceil((t1 - t0) / every)))
        return ()

    def known(self, t: float) -> dict[int, float]:
        """The values at t that need no state."""
        if not isinstance(self.source, Table):
            return {}
        k = self.source.interval(t)
        row = self.source.coefficients[k].tolist()
        return dict(zip(self.nodes, [*row, float(self.source.t[k])], strict=False))

    def at(self, now: RunState) -> Sequence[float]:
        """The values in this state."""
        if isinstance(self.source, Table):
            return list(self.known(now.t).values())
        function = self.source.function if isinstance(self.source, Sampled) else self.source
        takes_state = _takes_state(function)
        try:
            value = function(now.t, now) if takes_state else function(now.t)
        except Exception as problem:
            msg = f"{self.name}: its function raised {type(problem).__name__} at t = {now.t:g}: {problem}"
            raise BadValue(msg) from problem
        try:
            found = float(np.asarray(value).item())
        except (TypeError, ValueError):
            msg = f"{self.name}: its function returned {value!r:.60} at t = {now.t:g}; one number is expected"
            raise BadValue(msg) from None
        if not math.isfinite(found):
            msg = f"{self.name}: its function returned {found} at t = {now.t:g}"
            raise BadValue(msg)
        return [found]

    def check_span(self, t0: float, t1: float) -> None:
        """Refuse a run that is longer than a table."""
        if not isinstance(self.source, Table):
            return
        first, last = float(self.source.t[0]), float(self.source.t[-1])
        if t0 < first or (t1 > last and self.source.kind != "held"):
            msg = f"{self.name}: its table goes from t = {first:g} to {last:g}, the run from {t0:g} to {t1:g}"
            raise BadValue(msg)


def _check_arguments(name: str, function: Callable[..., float]) -> None:
    """Refuse a function that does not take the time."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if not parameters or len(needed) > 2:
        msg = f"{name}: its function takes {len(needed) or 'no'} arguments; it is called f(t), or f(t, now) with the state"
        raise BadValue(msg)


def _takes_state(function: Callable[..., float]) -> bool:
    """Whether it is f(t, state) rather than f(t)."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters) > 1


def live_input(kin: Kinematics, name: str, source: Any) -> tuple[LiveInput, Scalar | None]:
    """The input with the symbols that stand for it, and of a table the polynomial in t that it is."""
    symbol = kin.system.symbols[name]
    specified = symbol.kind == "specified"
    if not isinstance(source, Table):
        if specified:
            msg = f"{name}: a Python function has no rates, which a specified motion needs; give an expression or da.table(…, kind='cubic')"
            raise BadValue(msg)
        _check_arguments(name, source.function if isinstance(source, Sampled) else source)
        return LiveInput(name, (symbol.scalar.i,), source), None
    if specified and source.kind != "cubic":
        msg = f"{name}: the velocity of a {source.kind} table jumps; a specified motion needs da.table(…, kind='cubic')"
        raise BadValue(msg)
    tape = kin.tape
    c = [tape.private_symbol(f"{name}_c{k}") for k in range(source.degree + 1)]
    begin = tape.private_symbol(f"{name}_from")
    tau, w = Scalar(tape, tape.sub(kin.system.t.i, begin)), Scalar(tape, c[-1])
    for each in reversed(c[:-1]):
        w = w * tau + Scalar(tape, each)
    return LiveInput(name, tuple(c) if source.degree == 0 else (*c, begin), source), w
