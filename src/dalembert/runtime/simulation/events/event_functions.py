"""g(x), ∂g/∂x: events as native code, and the memory of a run that watches for them.
Keywords: zero crossing.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import BadExpression
from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.compiled_function import (
    CompiledFunction,
    allocate_workspace,
    prologue_call,
)
from dalembert.runtime.numerics.llvm_types import GROUP_SIZE, ctypes_structure, padded_size
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.ode.event_detection import EVENT_FIELDS
from dalembert.runtime.ode.initial_value_problem import RUNGE_KUTTA_FORM, DenseForm
from dalembert.runtime.simulation.events.event import SIGNS, BadEvent, Event, EventAction
from dalembert.runtime.simulation.events.root_finding import search_library
from dalembert.runtime.states.evaluator import Evaluator, Level
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.expression_graph import gradient, symbols_of
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.runtime.simulation.context import Context

# parts of Σ |∂g/∂x| |x|, and numbers, that count as zero when a run begins
_ZERO: Final = 1e-12
_ZERO_ANYWAY: Final = 1e-14
_LAST_BITS: Final = 64


_Fields: Final = ctypes_structure(EVENT_FIELDS)
_SAMPLE: Final = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_double
)
_ESTIMATE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_VALUES: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


@dataclass(frozen=True)
class EventFunctions:
    """g and its slopes ∂g/∂(q, u, t) as functions of x = (q, u, t) and the parameters p."""

    events: tuple[Event, ...]
    # the nodes of the expressions on the evaluator's tape
    nodes: tuple[int, ...]
    values: CompiledFunction
    slopes: CompiledFunction
    p: FloatArray
    # of the parameters
    symbols: tuple[int, ...] = field(default=(), kw_only=True)

    def rates(self, x: FloatArray, xdot: FloatArray) -> FloatArray:
        """dg/dt = Σ ∂g/∂x ẋ"""
        return self.gradients(x) @ xdot

    def gradients(self, x: FloatArray) -> FloatArray:
        """∂g/∂x, a row for each event."""
        gradients: FloatArray = self.slopes.call(x, self.p).reshape(len(self.events), len(x))
        return gradients


def event_functions(
    evaluator: Evaluator,
    events: Sequence[Event],
    nodes: Sequence[int],
    changing: Sequence[int] = (),
) -> EventFunctions:
    """The expressions of events compiled; parameters that are `changing` are zero at first."""
    tape, state = evaluator.tape, (*evaluator.kin.state, evaluator.time)
    slopes = [i for node in nodes for i in gradient(tape, {node: tape.one}, state)]
    symbols = tuple(i for i in symbols_of(tape, (*nodes, *slopes)) if i not in state)
    p = np.array([0.0 if i in changing else evaluator.numbers[i] for i in symbols], dtype=float)
    values, gradients = (CompiledFunction(tape, outs, state, symbols) for outs in (nodes, slopes))
    return EventFunctions(tuple(events), tuple(nodes), values, gradients, p, symbols=symbols)


def check_no_callbacks(chosen: RunValues, tape: Tape, nodes: Iterable[int], what: str) -> None:
    """Python callbacks are evaluated only at integrator stages, so events cannot depend on them."""
    inside = set(symbols_of(tape, tuple(nodes)))
    for each in chosen.callback_inputs:
        if each.is_continuous and inside.intersection(each.nodes):
            cure = (
                f"give {each.name} as an expression, or held, inputs={{'{each.name}': "
                f"da.sampled(…, every=…)}}"
            )
            msg = (
                f"{what} depends on {each.name}, a function that is evaluated only with the "
                f"equations; {cure}"
            )
            raise BadEvent(msg)


def event_node(evaluator: Evaluator, e: Event) -> int:
    """The expression in q, u and t."""
    try:
        node = evaluator.node(e.expression)
        level = evaluator.level(node)
        reduced = evaluator.in_state(node)
    except (BadExpression, MissingValue) as problem:
        compared = isinstance(e.expression, str) and any(c in e.expression for c in "<>=")
        why = (
            "an event is an expression that crosses zero, theta - 1 for theta = 1, with "
            "direction='up' or 'down'"
            if compared
            else problem
        )
        msg = f"event {e.title!r} cannot be read: {why}"
        raise BadEvent(msg) from problem
    inside = set(symbols_of(evaluator.tape, (reduced,)))
    if inside.isdisjoint((*evaluator.kin.state, evaluator.time, *evaluator.kin.udot)):
        msg = (
            f"event {e.title!r} does not change: it contains no coordinate, no speed and no "
            f"time, so it never fires or always does"
        )
        raise BadEvent(msg)
    if level is Level.ACCELERATION:
        msg = (
            f"event {e.title!r} contains an acceleration; give it in positions, velocities and "
            f"the time"
        )
        raise BadEvent(msg)
    if e.action is EventAction.IMPACT and inside.intersection(evaluator.kin.u):
        msg = f"impact {e.title!r}: a gap is a distance φ(q, t), and this contains a velocity"
        raise BadEvent(msg)
    return reduced


class EventMonitor:
    """One run's memory of its events: on which side of zero each of them is."""

    def __init__(
        self,
        functions: EventFunctions,
        n_state: int,
        width: int,
        form: DenseForm = RUNGE_KUTTA_FORM,
        *,
        guards: bool = False,
        forces: Context | None = None,
    ) -> None:
        """`guards` may fall below zero by rounding; `forces` are the contact forces of a run, which
        are arguments of the functions.
        """
        m = len(functions.events)
        self.functions = functions
        names = ["values", "last", "earlier", "side", "wanted", "side_before"]
        names += ["noise"] if guards else []
        self._arrays: dict[str, FloatArray] = {name: np.zeros(m) for name in names}
        self._arrays["wanted"][:] = [SIGNS[e.direction] for e in functions.events]
        self._alive: list[Any] = [
            allocate_workspace(functions.values, functions.p),
            np.zeros(padded_size(n_state + 1) + GROUP_SIZE),
            functions.p,
        ]
        self.n_state = n_state
        self._work, x, p = (data_address(a) if a.size else 0 for a in self._alive)
        g, work = (
            (functions.values.address, self._work)
            if forces is None
            else forces.force_guards(functions.values, self._alive[0])
        )
        self._fields = _Fields(
            g=g,
            p=p,
            work=work,
            x=x,
            count=m,
            n_state=n_state,
            groups=width // GROUP_SIZE,
            state_groups=padded_size(n_state) // GROUP_SIZE,
            rows=form.rows,
            powers=form.powers,
            **{name: data_address(a) for name, a in self._arrays.items()},
        )
        self.address = ctypes.addressof(self._fields)
        # the function that looks at a step, and what it is given
        self.search_address: int = search_library().address("look")
        self.looked_with = self.address
        self._sample = _SAMPLE(search_library().address("sample"))
        self._prepare = prologue_call(functions.values, functions.p, self._alive[0])

    @property
    def prologues(self) -> tuple[tuple[int, int, int], ...]:
        """What computes from the parameters alone: function, parameters, scratch space."""
        return ((self.functions.values.prologue_address, self._fields.p or 0, self._work),)

    def parameters_changed(self) -> None:
        """The parameters have other values: what was computed from them alone is computed again."""
        self._prepare()

    def values_at(self, y: FloatArray, t: float) -> FloatArray:
        """g at a state and a time; the array is the same at every call."""
        x, values = self._alive[1], self._arrays["values"]
        x[: self.n_state], x[self.n_state] = y, t
        f = self._fields
        _VALUES(f.g)(f.x, f.p, f.values, f.work)
        return values

    def sampled(self, rows: int, begin: float, length: float) -> Callable[[float], FloatArray]:
        """g(t) on the dense output of a step, its rows at an address; the array is the same at
        every call.
        """
        sample, values = self._sample, self._arrays["values"]

        def g(t: float) -> FloatArray:
            sample(self.address, rows, (t - begin) / length, t)
            return values

        return g

    def reset_guards(self, first: int, y: FloatArray, t: float) -> None:
        """Events from this number on are on the positive side, whatever they are now, from a
        state and time on.
        """
        last, earlier = self._arrays["last"], self._arrays["earlier"]
        last[first:] = np.maximum(self.values_at(y, t)[first:], 0.0)
        earlier[:] = last
        self._fields.t_last = self._fields.t_earlier = t
        self._arrays["side"][first:] = 1.0
        if (noise := self._arrays.get("noise")) is not None:
            _ESTIMATE(search_library().address("estimate_noise"))(self.address)
            noise[:first] = 0.0

    @property
    def side_before(self) -> FloatArray:
        """On which side of zero each event was when the last step began."""
        return self._arrays["side_before"]

    def arm(self, x: FloatArray, xdot: FloatArray) -> None:
        """Restart from the state x = (q, u, t), where a run begins or an event has just happened.

        What is zero, or as small as rounding makes it, is on the side it is going to; a gap always
        on the open side.
        """
        functions = self.functions
        g, slopes = functions.values.call(x, functions.p), functions.gradients(x)
        rates = slopes @ xdot
        small = (
            np.abs(g)
            <= _ZERO * (np.abs(slopes) @ np.abs(x))
            + _LAST_BITS * math.ulp(x[-1]) * np.abs(rates)
            + _ZERO_ANYWAY
        )
        side = np.where(small, np.sign(rates), np.sign(g))
        gaps = np.array([e.action is EventAction.IMPACT for e in functions.events])
        self._arrays["side"][:] = np.where(small & gaps, 1.0, side)
        # a zero has no neighbours yet
        self._arrays["last"][:] = self._arrays["earlier"][:] = np.where(small, 0.0, g)
        self._fields.t_last = self._fields.t_earlier = float(x[-1])

    def set_sides(
        self, first: int, sides: FloatArray, g: FloatArray, looked_for: BoolArray
    ) -> None:
        """Events from this number on are on these sides, with these values; those that are not
        looked for pass unseen.
        """
        arrays = self._arrays
        arrays["side"][first:] = sides
        arrays["last"][first:] = arrays["earlier"][first:] = g
        arrays["wanted"][first:] = np.where(looked_for, 0.0, np.nan)

    def check(self, x: FloatArray) -> None:
        """Refuse a run that begins inside an obstacle, or where an event has no value."""
        g, slopes = self.functions.values.call(x, self.functions.p), self.functions.gradients(x)
        for e, value, slope in zip(self.functions.events, g, slopes, strict=True):
            if not np.isfinite(value):
                msg = f"event {e.title!r} has no finite value at the start ({value})"
                raise BadEvent(msg)
            if e.action is EventAction.IMPACT and value < -(
                _ZERO * float(np.abs(slope) @ np.abs(x)) + _ZERO_ANYWAY
            ):
                remedy = "start where it is positive, or change its sign"
                msg = (
                    f"impact {e.title!r}: the gap is {value:.6g} at the start, already closed; "
                    f"{remedy}"
                )
                raise BadEvent(msg)
