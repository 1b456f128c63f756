"""A run is one structure: everything the native loop knows between two steps, and how its functions
are written.

Leaving the loop and entering it again changes nothing in it, so the results of a run do not depend,
to the last bit, on when it was left.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from enum import IntEnum
from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import C_TYPES, DOUBLE, DOUBLE4, INT64, POINTER
from dalembert.runtime.ode.dop853_coefficients import STAGES, A, C, Numbers
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS

# name and kind of each field, in the order of the structure
STATE_FIELDS: Final[tuple[tuple[str, str], ...]] = (
    ("rhs", POINTER),
    ("project", POINTER),
    ("accept", POINTER),
    ("context", POINTER),
    ("work", POINTER),
    ("times", POINTER),
    ("states", POINTER),
    ("dense", POINTER),
    ("groups", INT64),
    ("norm_groups", INT64),
    ("n_norm", INT64),
    ("capacity", INT64),
    ("stored", INT64),
    ("budget", INT64),
    ("steps", INT64),
    ("rejected", INT64),
    ("calls", INT64),
    ("streak", INT64),
    ("cause", INT64),
    ("code", INT64),
    ("t", DOUBLE),
    ("t_new", DOUBLE),
    ("t_end", DOUBLE),
    ("h", DOUBLE),
    ("h_try", DOUBLE),
    ("h_max", DOUBLE),
    ("rtol", DOUBLE),
    ("error", DOUBLE),
    ("events", POINTER),
    ("watch", POINTER),
    # of Taylor's method alone
    ("expand", POINTER),
    ("jets", POINTER),
    ("order", INT64),
    ("unit", DOUBLE),
    ("reach", DOUBLE),
    ("planned", DOUBLE),
    ("learned", DOUBLE),
    # of Rosenbrock's method alone
    ("jacobian", POINTER),
    ("matrices", POINTER),
    # discontinuities ahead: for each the time behind it and the end of the part that follows
    ("breaks", POINTER),
    ("n_breaks", INT64),
)


class IntegratorState(ctypes.Structure):
    """The same structure seen from Python.

    rhs, project, accept, context   addresses of the functions and of what they are given; 0 for
                            none
    work                    the rows of `WorkRow`, each `groups` times four numbers
    times, states, dense    where points are written, with room for `capacity`, `stored` of them
                            used; dense 0 for none
    n_norm, norm_groups     components in the error norm, and groups of four that hold them
    budget                  attempts left before the loop returns
    streak                  rejections since the last accepted step
    cause, code             why the last rejected step was rejected, and what the function concerned
                            had returned
    t, h; t_new, h_try      time and next step size; end and size of the step being tried
    error                   its error estimate, 1 being the tolerance
    expand, jets, order     address of the function that fills the rows of Taylor coefficients
                            behind `jets`, 0 … order
    unit, reach, learned    the time that these are in powers of, the step that follows, and what
                            errors add to it (logarithms)
    planned                 that step, before anything cut it short
    jacobian, matrices      address of the function that gives ∂f/∂y and ∂f/∂t, and room for these
                            and for the factors of W
    events, watch           address of the function that looks for events in a step taken, and of
                            what it is given; 0 for none
    breaks, n_breaks        discontinuities ahead that change no state, two times for each: behind
                            it, and the next end
    """

    _fields_ = tuple((name, C_TYPES[kind]) for name, kind in STATE_FIELDS)


class WorkRow(IntEnum):
    """The rows of the work space after the derivatives k₀, …, k₁₅ of the stages."""

    Y = STAGES  # the state at t
    STAGE = STAGES + 1  # the argument of a stage
    NEW = STAGES + 2  # the end of the step before projection
    END = STAGES + 3  # the end of the step
    END_RATE = STAGES + 4  # f at the end of the step
    ATOL = STAGES + 5
    IN_NORM = STAGES + 6  # 1 for a component in the error norm, otherwise 0
    COMPENSATION = STAGES + 7  # what rounding took from the state at t
    LOST = STAGES + 8  # and takes from the end of the step


ROWS: Final = len(WorkRow) + STAGES


class ExitReason(IntEnum):
    """Why the loop returned."""

    AT_END = 0
    BUFFER_FULL = 1
    BUDGET_SPENT = 2
    STOPPED = 3
    AT_EVENT = 4


class StepCause(IntEnum):
    """Why a step was not taken."""

    NONE = 0
    ERROR = 1  # the error estimate exceeds the tolerance
    NOT_FINITE = 2  # a derivative, a state or the estimate is infinite or NaN
    RHS = 3  # the right-hand side returned a code
    PROJECT = 4  # the projection returned a code
    ACCEPT = 5  # the acceptance test returned a code


class StepBuilder(ABC):
    """A native function of a step, for a single run or for vectorized runs.

    A value of a row is four components of the single run, or one component of every run; a number,
    such as h, is one of the run, or one of
    every run.
    """

    function: FunctionBuilder
    # LLVM's kinds of a value in a row and of a number
    kind: str
    number: str

    @property
    @abstractmethod
    def count(self) -> Operand:
        """How many components are in the error norm."""

    @abstractmethod
    def row(self, number: int) -> VectorArray:
        """A row of the work space; k_j is row j."""

    @abstractmethod
    def __getitem__(self, name: str) -> Value:
        """A number by its name."""

    @abstractmethod
    def components(self) -> AbstractContextManager[Value]:
        """The places in a row of the components that have dense output."""

    @abstractmethod
    def for_each_component(self, body: Callable[[Operand], None]) -> None:
        """For the places of all components."""

    @abstractmethod
    def sums(self, terms: Callable[[Operand], Sequence[Value]], count: int = 1) -> list[Value]:
        """Σ_i of each of the terms over the components in the norm, in an order that does not
        depend on how many others there are.
        """

    @abstractmethod
    def tolerances(self) -> VectorArray:
        """atol"""

    @abstractmethod
    def rate(self, t: Value, y: VectorArray, k: VectorArray) -> None:
        """k = f(t, y), or the end of a single run for which that fails."""

    @abstractmethod
    def return_error_test(self, error: Value) -> str:
        """The error of the step is known: whether it may be taken, and the end of the function."""

    @abstractmethod
    def dense_output(self, rows: int) -> list[VectorArray]:
        """The rows of the dense output of this step."""

    @abstractmethod
    def math_call(self, name: str, x: Value) -> Value:
        """exp or log by the mathematics library."""

    def broadcast(self, x: Operand) -> Value:
        """A number as a value of a row."""
        return self.function.value(x, self.kind)

    def load_forwarded(self, row: VectorArray, i: Operand) -> Value:
        """What another function has left in a row a moment ago."""
        return row[i]

    def scale(self) -> Callable[[Value, Operand], Value]:
        """atol_i + rtol |y_i| as a function of |y_i| and i."""
        atol, rtol = self.tolerances(), self.broadcast(self["rtol"])
        return lambda size, i: self.function.intrinsic(
            "fmuladd", rtol, size, self.broadcast(atol[i])
        )

    def stage_sum(
        self, numbers: Numbers, k: dict[int, VectorArray], i: Operand, latest: int = -1
    ) -> Value:
        """Σ_j a_j k_j, as fused multiply-adds; k_latest has just been written."""
        values = (
            (self.load_forwarded(k[j], i) if j == latest else k[j][i], a)
            for j, a in numbers.items()
        )
        first, a = next(values)
        result = first * a
        for value, a in values:
            result = self.function.intrinsic("fmuladd", value, a, result)
        return result

    def stage(self, s: int) -> None:
        """k_s = f(t + c_s h, y + h Σ_j a_sj k_j)."""
        y, stage, k, h = (
            self.row(WorkRow.Y),
            self.row(WorkRow.STAGE),
            {j: self.row(j) for j in A[s]},
            self.broadcast(self["h_try"]),
        )

        def combine(i: Operand) -> None:
            stage[i] = self.function.intrinsic(
                "fmuladd", h, self.stage_sum(A[s], k, i, max(A[s])), y[i]
            )

        self.for_each_component(combine)
        t = self["t_new"] if C[s] == 1.0 else self["t"] + self["h_try"] * C[s]
        self.rate(t, stage, self.row(s))

    def add_compensated(self, i: Operand, increment: Callable[[Value], Value]) -> None:
        """NEW = Y + d, where d has been given what rounding took from Y; what it takes from NEW is
        kept for the next step.

        Without this the rounding of every step stays, and thousands of them add up to more than a
        tight tolerance allows.
        """
        y, new, carry, lost = (
            self.row(r) for r in (WorkRow.Y, WorkRow.NEW, WorkRow.COMPENSATION, WorkRow.LOST)
        )
        d = increment(carry[i])
        end = y[i] + d
        new[i], lost[i] = end, d - (end - y[i])

    def not_finite(self, y: VectorArray, k: VectorArray) -> Value:
        """Where y or k is not finite: 0·y + 0·k ≠ 0."""
        (total,) = self.sums(lambda i: [y[i] * 0.0 + k[i] * 0.0])
        return total.not_equal(0.0)

    def finish(self) -> str:
        """Return 0; the text."""
        self.function.ret(0)
        return self.function.text()


class ScalarStepBuilder(StepBuilder):
    """A native function of a single run: the function, the run it is given and the rows of its work
    space.
    """

    kind, number = DOUBLE4, DOUBLE

    def __init__(self, name: str, *parameters: str, exported: bool = False) -> None:
        self.function = FunctionBuilder(name, INT64, POINTER, *parameters, exported=exported)
        self.pointer, *self.arguments = self.function.parameters
        self.run = StructView(self.pointer, STATE_FIELDS)

    def row(self, number: int) -> VectorArray:
        return self.block(self.run.work, self.run.groups * number)

    def __getitem__(self, name: str) -> Value:
        return getattr(self.run, name)  # type: ignore[no-any-return]

    @property
    def count(self) -> Value:
        return self.function.value(self.run.n_norm, DOUBLE)

    def block(self, base: Value, groups: Value) -> VectorArray:
        """The address a number of groups of four numbers after another."""
        return VectorArray(
            self.function.emit(POINTER, f"getelementptr {DOUBLE4}, {base}, {groups}")
        )

    def components(self) -> AbstractContextManager[Value]:
        return self.function.loop(self.run.groups)

    def for_each_component(self, body: Callable[[Operand], None]) -> None:
        with self.components() as i:
            body(i)

    def sums(self, terms: Callable[[Operand], Sequence[Value]], count: int = 1) -> list[Value]:
        f, mask = self.function, self.row(WorkRow.IN_NORM)
        totals = [f.variable(f.value(0.0, DOUBLE4)) for _ in range(count)]
        with f.loop(self.run.norm_groups) as i:
            for total, term in zip(totals, terms(i), strict=True):
                # whatever the others are
                total.value = total.value + f.select(mask[i] > 0.0, term, 0.0)
        return [f.sum_lanes(total.value) for total in totals]

    def tolerances(self) -> VectorArray:
        return self.row(WorkRow.ATOL)

    def load_forwarded(self, row: VectorArray, i: Operand) -> Value:
        return row.load_scalars(i)

    def math_call(self, name: str, x: Value) -> Value:
        return self.function.call(name, DOUBLE, x)

    def call(self, name: str, *arguments: Value) -> Value:
        """What another function of the run returns."""
        return self.function.call(name, INT64, self.pointer, *arguments)

    def return_if_failed(self, cause: Value) -> None:
        """Return the cause unless there is none."""
        with self.function.if_then(cause.not_equal(0)):
            self.function.ret(cause)

    def evaluate(self, t: Value, y: VectorArray, k: VectorArray) -> Value:
        """k = f(t, y); the cause for which that fails."""
        return self.call("evaluate", t, y.pointer, k.pointer)

    def rate(self, t: Value, y: VectorArray, k: VectorArray) -> None:
        self.return_if_failed(self.evaluate(t, y, k))

    def finite(self, y: VectorArray, k: VectorArray) -> Value:
        """Whether y and k are finite."""
        return self.call("finite", y.pointer, k.pointer)

    def return_error_test(self, error: Value) -> str:
        self.run.error = error
        return self.verdict()

    def verdict(self) -> str:
        """Return what the error estimate means; the text."""
        f, error = self.function, self.run.error
        with f.if_then(~(error < float("inf"))):
            f.ret(StepCause.NOT_FINITE)
        with f.if_then(error > 1.0):
            f.ret(StepCause.ERROR)
        return self.finish()

    def dense_output(self, rows: int = DENSE_ROWS) -> list[VectorArray]:
        run = self.run
        with self.function.if_then(~run.dense.not_equal(0)):
            self.function.ret(StepCause.NONE)
        return [self.block(run.dense, run.groups * (run.stored * rows + j)) for j in range(rows)]

    def reset_compensation(self) -> None:
        """At a start."""
        carry = self.row(WorkRow.COMPENSATION)
        with self.components() as i:
            carry[i] = 0.0
