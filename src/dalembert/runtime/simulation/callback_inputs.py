"""A run with inputs that programs and tables give: set at its start, at their times, or wherever
the equations are evaluated.
Keywords: sample-and-hold.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.numerics.llvm_types import padded_size
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.states.initial_conditions import InitialState
from dalembert.runtime.states.inputs import CallbackInput, RunState
from dalembert.runtime.states.run_values import RunValues

# a right-hand side that Python computes, and what it returns where it has raised
RHS_TYPE: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
CALLBACK_FAILED: Final = -(2**31)
LocatedInputs: TypeAlias = tuple[tuple[CallbackInput, slice], ...]


def append_input_values(chosen: RunValues, start: InitialState) -> InitialState:
    """The start with the first values of such inputs, of which there are some, behind the
    first-order states.
    """
    start = replace(start, x=np.concatenate([start.x, np.zeros(len(chosen.kin.sampled_inputs))]))
    y = start.y
    _write_inputs(chosen, _located(chosen, chosen.callback_inputs), start.t, y)
    return replace(start, x=y[chosen.kin.layout.x_and_inputs])


def _located(chosen: RunValues, inputs: Iterable[CallbackInput]) -> LocatedInputs:
    """Inputs with their places in the state, which are neighbours."""
    place = {i: k for k, i in enumerate(chosen.kin.state)}
    return tuple((each, slice(place[each.nodes[0]], place[each.nodes[-1]] + 1)) for each in inputs)


def _write_inputs(chosen: RunValues, inputs: LocatedInputs, t: float, y: FloatArray) -> None:
    """Put the values of these inputs at time t into the state."""
    now = RunState(chosen.evaluator, y, t)
    for each, places in inputs:
        y[places] = each.at(now)


class CallbackInputs:
    """What a run does for its inputs; `raised` is what one of their functions raised."""

    def __init__(self, chosen: RunValues) -> None:
        self._chosen, self._evaluator = chosen, chosen.evaluator
        own = chosen.callback_inputs
        self._continuous = _located(chosen, (each for each in own if each.is_continuous))
        self._sampled = _located(chosen, (each for each in own if not each.is_continuous))
        self.exception: BaseException | None = None

    def wrap(self, problem: InitialValueProblem) -> InitialValueProblem:
        """The problem with steps that end where an input changes, and with functions called
        where they are wanted.
        """
        changes = [each.update_times(problem.t0, problem.t1) for each, _ in self._sampled]
        times = np.unique(np.concatenate([problem.discontinuities, *changes]))
        changed = replace(
            problem,
            discontinuities=tuple(times.tolist()),
            on_discontinuity=self._update_function() if self._sampled else None,
        )
        return replace(changed, rhs=self._callback_rhs(problem)) if self._continuous else changed

    def state_filler(self) -> Callable[[float, FloatArray], None] | None:
        """What puts the values of functions into a state, for integrators that evaluate the
        equations in Python.
        """
        return self._write_callbacks if self._continuous else None

    def _update_function(self) -> Callable[[float, FloatArray], None]:
        """What writes new values at a break; of a single input, the usual case, in one call."""
        if self._continuous or len(self._sampled) > 1:
            return self._at_break
        [(only, places)] = self._sampled
        return only.writer(self._evaluator, places)

    def _at_break(self, t: float, y: FloatArray) -> None:
        if self._continuous:
            self._write_callbacks(t, y)
        now = RunState(self._evaluator, y, t)
        for each, places in self._sampled:
            y[places] = each.at(now)

    def _write_callbacks(self, t: float, y: FloatArray) -> None:
        _write_inputs(self._chosen, self._continuous, t, y)

    def _callback_rhs(self, problem: InitialValueProblem) -> int:
        """The address of a right-hand side that asks the functions first."""
        native, width = RHS_TYPE(problem.rhs), padded_size(problem.size)
        scratch = np.zeros(width)

        def rhs(t: float, y: int, dy: int, context: int) -> int:
            ctypes.memmove(data_address(scratch), y, 8 * width)
            try:
                self._write_callbacks(t, scratch)
            # an exception cannot pass through native code, so it waits here
            except BaseException as error:  # noqa: BLE001
                self.exception = error
                return CALLBACK_FAILED
            return int(native(t, data_address(scratch), dy, context))

        self._kept = RHS_TYPE(rhs)
        return ctypes.cast(self._kept, ctypes.c_void_p).value or 0


def fill_callback_values(chosen: RunValues, t: FloatArray, y: FloatArray) -> FloatArray:
    """States of a run in rows, with the values that functions have there."""
    continuous = _located(chosen, (each for each in chosen.callback_inputs if each.is_continuous))
    if not continuous:
        return y
    rows = y.copy()
    for time, row in zip(t.tolist(), rows, strict=True):
        _write_inputs(chosen, continuous, time, row)
    return rows
