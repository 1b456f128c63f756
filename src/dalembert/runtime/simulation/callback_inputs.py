"""A run with inputs that programs and tables give: set at its start, at their times, or wherever the equations are evaluated."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from dalembert.foundation.array_types import Numbers
from dalembert.runtime.numerics.llvm_types import padded
from dalembert.runtime.numerics.python_binding import address
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.states.initial_conditions import Start
from dalembert.runtime.states.inputs import LiveInput, RunState
from dalembert.runtime.states.run_values import Values

# a right-hand side that Python computes, and what it returns where it has raised
RHS_TYPE: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
RAISED: Final = -(2**31)


def with_inputs(chosen: Values, start: Start, t1: float) -> Start:
    """The start with the first values of such inputs, of which there are some, behind the first-order states."""
    for each in chosen.live:
        each.check_span(start.t, t1)
    start = replace(start, x=np.concatenate([start.x, np.zeros(len(chosen.kin.held))]))
    y = start.y
    _set(chosen, chosen.live, start.t, y)
    return replace(start, x=y[len(start.q) : chosen.kin.first_speed])


def _set(chosen: Values, inputs: tuple[LiveInput, ...], t: float, y: Numbers) -> None:
    """Put the values of these inputs at time t into the state."""
    state = chosen.kin.state
    for each in inputs:
        y[[state.index(i) for i in each.nodes]] = each.at(RunState(chosen.evaluator, y, t))


class LiveRun:
    """What a run does for its inputs; `raised` is what one of their functions raised."""

    def __init__(self, chosen: Values) -> None:
        self._chosen = chosen
        self._continuous = tuple(each for each in chosen.live if each.is_continuous)
        self._stepped = tuple(each for each in chosen.live if not each.is_continuous)
        self.raised: BaseException | None = None

    def watched(self, problem: InitialValueProblem) -> InitialValueProblem:
        """The problem with steps that end where an input changes, and with functions called where they are wanted."""
        times = sorted({*problem.breaks, *(t for each in self._stepped for t in each.times(problem.t0, problem.t1))})
        changed = replace(problem, breaks=tuple(times), at_break=self._at_break if self._stepped else None)
        return replace(changed, rhs=self._wrapped(problem)) if self._continuous else changed

    def filled(self) -> Callable[[float, Numbers], None] | None:
        """What puts the values of functions into a state, for integrators that evaluate the equations in Python."""
        return self._fill if self._continuous else None

    def _at_break(self, t: float, y: Numbers) -> None:
        if self._continuous:
            self._fill(t, y)
        _set(self._chosen, self._stepped, t, y)

    def _fill(self, t: float, y: Numbers) -> None:
        _set(self._chosen, self._continuous, t, y)

    def _wrapped(self, problem: InitialValueProblem) -> int:
        """The address of a right-hand side that asks the functions first."""
        native, width = RHS_TYPE(problem.rhs), padded(problem.size)
        scratch = np.zeros(width)

        def rhs(t: float, y: int, dy: int, context: int) -> int:
            ctypes.memmove(address(scratch), y, 8 * width)
            try:
                self._fill(t, scratch)
            except BaseException as error:  # noqa: BLE001 - an exception cannot pass through native code, so it waits here
                self.raised = error
                return RAISED
            return int(native(t, address(scratch), dy, context))

        self._kept = RHS_TYPE(rhs)
        return ctypes.cast(self._kept, ctypes.c_void_p).value or 0


def filled_rows(chosen: Values, t: Numbers, y: Numbers) -> Numbers:
    """States of a run in rows, with the values that functions have there."""
    continuous = tuple(each for each in chosen.live if each.is_continuous)
    if not continuous:
        return y
    rows = y.copy()
    for time, row in zip(t.tolist(), rows, strict=True):
        _set(chosen, continuous, time, row)
    return rows
