"""w = f(t, state), held or not: inputs that a Python function gives.
Keywords: sample-and-hold, zero-order hold.

Each is a component of the state with rate zero. At its times the integrator stops, and the new
value is put there. A function that is not held is called wherever the equations are evaluated. A
table whose values are varied (gradients by its samples, replays of an optimum) is kept in the same
way: c₀, c₁, … and t_k are components of the state.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.symbol_values import BadValue, finite_number
from dalembert.runtime.states.evaluator import Evaluator, Key, label
from dalembert.runtime.states.tables import SMOOTH, Table
from dalembert.symbolic.algebra.scalar import Scalar, is_python_function

_DOUBLE: Final = np.dtype(np.float64)


@dataclass(frozen=True)
class Sampled(Displayable):
    """A function of the time and the state that is evaluated at intervals, and held in between."""

    function: Callable[..., float] = field(repr=False)
    every: float

    def __str__(self) -> str:
        return f"sampled every {self.every:g} and held in between"


def sampled(function: Callable[..., float], every: float) -> Sampled:
    """An input that a Python function sets at t₀, t₀ + every, …:
    inputs={F: da.sampled(lambda t, now: -3 * now["x"], every=0.01)}.
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


# q, x and u in the memory of a state
StateViews: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]


def state_views(evaluator: Evaluator, y: FloatArray) -> StateViews:
    """q, x and u of a state, which change with it."""
    q, x, u = evaluator.slices
    return y[q], y[x], y[u]


class RunState(Displayable):
    """The argument of an input function: now["theta"], now["m*g*x"], now.q, now.u, now.t."""

    __slots__ = ("_evaluator", "_views", "_y", "t")

    def __init__(
        self, evaluator: Evaluator, y: FloatArray, t: float, views: StateViews | None = None
    ) -> None:
        """`views` are those of y, where a run has made them before."""
        self._evaluator, self._y, self.t = evaluator, y, t
        self._views = views

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
        return (self._views or state_views(self._evaluator, self._y))[0]

    @property
    def x(self) -> FloatArray:
        """The first-order states."""
        return (self._views or state_views(self._evaluator, self._y))[1]

    @property
    def u(self) -> FloatArray:
        """The speeds."""
        return (self._views or state_views(self._evaluator, self._y))[2]

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
    """One input, or several that one function gives: the nodes that stand for them in the state,
    and what gives their values.
    """

    name: str
    nodes: tuple[int, ...]
    source: Table | Sampled | Callable[..., Any]
    # of several inputs
    members: tuple[str, ...] = ()

    @property
    def is_continuous(self) -> bool:
        """Whether it is a function that is never held."""
        return not isinstance(self.source, Table | Sampled)

    def update_times(self, t0: float, t1: float) -> FloatArray:
        """When its values change between t0 and t1."""
        if isinstance(self.source, Table):
            t = self.source.t
            return t[(t0 < t) & (t < t1)]
        if isinstance(self.source, Sampled):
            every = self.source.every
            return t0 + np.arange(1.0, math.ceil((t1 - t0) / every), dtype=np.float64) * every
        return np.zeros(0)

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
            raise self._failure(now.t, problem) from problem
        return self._numbers(value, now.t) if self.members else [self._number(value, now.t)]

    def writer(self, evaluator: Evaluator, places: slice) -> Callable[[float, FloatArray], None]:
        """What writes the values at a time into a state; thousands of calls a second, so that the
        usual function f(t, now) of an array is called from here.
        """
        function = self._function if self.members and self._takes_state else None
        shape, isfinite = (len(self.nodes),), math.isfinite
        seen, views, target = np.empty(0), None, np.empty(0)

        def write(t: float, y: FloatArray) -> None:
            nonlocal seen, views, target
            # an integrator calls with the same memory every time
            if y is not seen:
                seen, views, target = y, state_views(evaluator, y), y[places]
            now = RunState(evaluator, y, t, views)
            if function is None:
                target[:] = self.at(now)
                return
            try:
                value = function(t, now)
            except Exception as problem:
                raise self._failure(t, problem) from problem
            # an array of finite numbers, by far the most frequent answer, is taken as it is
            usual = (
                value.__class__ is np.ndarray
                and value.dtype is _DOUBLE
                and value.shape == shape
                and isfinite(value.dot(value))
            )
            target[:] = value if usual else self._numbers(value, t)

        return write

    def _failure(self, t: float, problem: Exception) -> BadValue:
        """What is raised where the function raises."""
        return BadValue(
            f"{self.name}: its function raised {type(problem).__name__} at t = {t:g}: {problem}"
        )

    def _numbers(self, value: Any, t: float) -> Sequence[float]:
        """The values of several inputs: in their order, or by name."""
        numbers: list[float] = []
        with suppress(TypeError, ValueError, KeyError):
            if value.__class__ is not np.ndarray and isinstance(value, Mapping):
                named = [float(value[name]) for name in self.members]
                numbers = named if len(value) == len(named) else []
            else:
                numbers = np.asarray(value, dtype=np.float64).tolist()
        if numbers.__class__ is not list or len(numbers) != len(self.members):
            msg = (
                f"{self.name}: their function returned {value!r:.60} at t = {t:g}; "
                f"{len(self.members)} numbers are expected, in this order or by name"
            )
            raise BadValue(msg)
        if not all(map(math.isfinite, numbers)):
            msg = f"{self.name}: their function returned {value!r:.80} at t = {t:g}"
            raise BadValue(msg)
        return numbers

    def _number(self, value: Any, t: float) -> float:
        try:
            number = float(np.asarray(value).item())
        except (TypeError, ValueError):
            msg = (
                f"{self.name}: its function returned {value!r:.60} at t = {t:g}; one number "
                f"is expected"
            )
            raise BadValue(msg) from None
        if not math.isfinite(number):
            msg = f"{self.name}: its function returned {number} at t = {t:g}"
            raise BadValue(msg)
        return number

    @cached_property
    def _function(self) -> Callable[..., Any]:
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
    """The parameters of a function; None if unknown."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def joint_callback(kin: Kinematics, names: tuple[str, ...], source: Any) -> CallbackInput:
    """Several inputs that one function gives."""
    listed = ", ".join(names)
    if any(kin.system.symbols[name].kind == "specified" for name in names):
        msg = f"{listed}: a Python function has no rates, which a prescribed motion needs"
        raise BadValue(msg)
    if not (is_python_function(source) or isinstance(source, Sampled)):
        msg = (
            f"{listed}: several inputs are given together by one function f(t, now) or "
            f"da.sampled(f, every=…), not by {source!r:.60}; give each a value of its own"
        )
        raise BadValue(msg)
    _check_arguments(listed, source.function if isinstance(source, Sampled) else source)
    for name in names:
        require_known_rate(kin, name, "that of a Python function is unknown")
    nodes = tuple(kin.system.symbols[name].scalar.i for name in names)
    return CallbackInput(listed, nodes, source, names)


def callback_input(kin: Kinematics, name: str, source: Any) -> tuple[CallbackInput, Scalar | None]:
    """The input with the symbols that stand for it, and of a table the polynomial in t that it
    is.
    """
    symbol = kin.system.symbols[name]
    specified = symbol.kind == "specified"
    if not isinstance(source, Table):
        if specified:
            msg = (
                f"{name}: a Python function has no rates, which a prescribed motion needs; give "
                f"an expression in s.t or da.table(…, kind='cubic'). For feedback declare "
                f"s.specified({name!r}, acceleration=s.input(…)), and give the input"
            )
            raise BadValue(msg)
        require_known_rate(kin, name, "that of a Python function is unknown")
        _check_arguments(name, source.function if isinstance(source, Sampled) else source)
        return CallbackInput(name, (symbol.scalar.i,), source), None
    check_smooth(kin, name, source)
    tape = kin.tape
    c = [tape.private_symbol(f"{name}_coefficient{k}") for k in range(source.degree + 1)]
    begin = tape.private_symbol(f"{name}_from")
    tau, w = Scalar(tape, tape.sub(kin.system.t.i, begin)), Scalar(tape, c[-1])
    for each in reversed(c[:-1]):
        w = w * tau + Scalar(tape, each)
    return CallbackInput(name, tuple(c) if source.degree == 0 else (*c, begin), source), w


def check_smooth(kin: Kinematics, name: str, source: Table) -> None:
    """Refuse a specified position whose velocity jumps."""
    if kin.system.symbols[name].kind == "specified" and source.kind not in SMOOTH:
        msg = (
            f"{name}: the velocity of a {source.kind} table jumps; a prescribed motion needs "
            f"da.table(…, kind='cubic')"
        )
        raise BadValue(msg)
    if source.degree == 0:
        require_known_rate(kin, name, f"the values of a {source.kind} table jump")


def require_known_rate(kin: Kinematics, name: str, why: str) -> None:
    """Refuse a signal without a known rate for an input that is the rate of a prescribed motion:
    its acceleration is in the equations.
    """
    symbols = kin.system.symbols
    w = symbols[name].scalar
    driven = (x for x in symbols.values() if x.driver == w and x.driven_rate == "rate")
    if (motion := next(driven, None)) is not None:
        msg = (
            f"{name}: it is the rate of {motion.name}, and its own rate is needed, but {why}. Give "
            f"an expression in t or a linear or cubic table; for any other control law declare "
            f"s.specified({motion.name!r}, acceleration={name})"
        )
        raise BadValue(msg)
