"""The native text around the step: the first step size, and the loop that tries, takes or rejects
steps.
Keywords: step size control.

Source: HNW1 II.4 (step size control, starting step size) and the program DOP853.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    ScalarArray,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import INT32, INTRINSICS, POINTER
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.ode.integrator_state import (
    ExitReason,
    ScalarStepBuilder,
    StepBuilder,
    StepCause,
    WorkRow,
)
from dalembert.runtime.ode.runge_kutta_step import step_ir

# h_new = h · min(6, max(1/3, 0.75 err^(−1/8))). DOP853 has 0.9; 0.75 rejects a third as often and
# is cheaper at equal error
_SAFETY: Final = 0.75
_LARGEST_GROWTH: Final = 6.0
_LARGEST_SHRINKAGE: Final = 3.0
# what is not finite, or no state of the system, is far outside the reach of the step
_SHRINK_AFTER_FAILURE: Final = 0.1
_SHRINK_AFTER_REFUSAL: Final = 0.5
MAX_REJECTIONS: Final = 100
ROUNDING: Final = 2.0**-52
_FIRST_GUESS: Final = 1e-6
_NEGLIGIBLE: Final = 1e-10
_NEGLIGIBLE_RATE: Final = 1e-15
# x (2⁴⁵ + 1) leaves 8 of the 53 digits of x
_FINE_DIGITS: Final = 2.0**45 + 1.0


@functools.cache
def loop_ir() -> str:
    """The whole native loop; exports `start` and `advance`."""
    parts = (
        INTRINSICS,
        step_ir(),
        initialize_ir(),
        accept_ir(eighth_root),
        reject_ir(eighth_root),
        advance_text(),
    )
    return "\n\n".join(parts) + "\n"


def initialize_ir() -> str:
    """Where a run begins."""
    return f"{_initialize()}\n\n{_initial_slope_ir()}\n\n{_initial_step_ir()}"


def eighth_root(f: FunctionBuilder, x: Value) -> Value:
    """x^(1/8) by three square roots, which every processor rounds alike."""
    for _ in range(3):
        x = f.intrinsic("sqrt", x)
    return x


def round_to_eight_bits(h: Value) -> Value:
    """h to eight binary digits, the nearest such number.

    Rounding in an error estimate then hardly ever reaches the step: processors that fuse operations
    and those that do not take the same steps, where otherwise one estimate that happens to be small
    would lead them apart, and their errors with them.
    """
    c = h * _FINE_DIGITS
    return c - (c - h)


def _initialize() -> str:
    """k₀ = f(t₀, y₀) and the first step size; returns 0, or `ExitReason.STOPPED`."""
    native = ScalarStepBuilder("start", exported=True)
    f, run = native.function, native.run
    run.cause = native.call("first_slope")
    with f.if_then(~run.cause.not_equal(0)):
        run.cause = native.call("first_size")
    with f.if_then(run.cause.not_equal(0)):
        f.ret(ExitReason.STOPPED)
    f.ret(0)
    return f.text()


def _initial_slope_ir() -> str:
    """k₀ = f(t₀, y₀)"""
    native = ScalarStepBuilder("first_slope")
    f, run = native.function, native.run
    run.code = 0
    native.reset_compensation()
    y, k = native.row(WorkRow.Y), native.row(0)
    cause = native.evaluate(run.t, y, k)
    with f.if_then(cause.not_equal(0)):
        f.ret(cause)
    f.ret(native.finite(y, k))
    return f.text()


def squared_error_norm(
    native: StepBuilder, x: VectorArray, less: VectorArray | None = None
) -> Value:
    """Σ (x_i / (atol_i + rtol |y_i|))² over the components in the norm; of x − less if given."""
    f, y, scale = native.function, native.row(WorkRow.Y), native.scale()

    def square(i: Operand) -> list[Value]:
        e = (x[i] if less is None else x[i] - less[i]) / scale(f.intrinsic("fabs", y[i]), i)
        return [e * e]

    return native.sums(square)[0]


def _initial_step_ir() -> str:
    """The first step size; if f has no value after the Euler step, h is a thousandth of it."""
    native = ScalarStepBuilder("first_size")
    f, run = native.function, native.run
    slope, euler = euler_step(native)
    run.h = euler * 1e-3
    stage, after = native.row(WorkRow.STAGE), native.row(1)
    cause = native.evaluate(run.t + euler, stage, after)
    with f.if_then(run.code < 0):
        f.ret(cause)
    h = initial_step_size(native, slope, euler)
    with f.if_then(~cause.not_equal(0)), f.if_then(~native.finite(stage, after).not_equal(0)):
        run.h = h
    run.code = 0
    return native.finish()


def euler_step(native: StepBuilder) -> tuple[Value, Value]:
    """|f|² and an Euler step of size 0.01 |y| / |f|, into the stage."""
    y, k, stage = (native.row(r) for r in (WorkRow.Y, 0, WorkRow.STAGE))
    slope = squared_error_norm(native, k)
    euler = euler_step_size(native, squared_error_norm(native, y), slope)
    h = native.broadcast(euler)

    def step(i: Operand) -> None:
        stage[i] = native.function.intrinsic("fmuladd", h, k[i], y[i])

    native.for_each_component(step)
    return slope, euler


def euler_step_size(native: StepBuilder, size: Value, slope: Value) -> Value:
    """0.01 |y| / |f|, if there is such a thing; otherwise a millionth of the run or of the unit
    of time, whichever is less.
    """
    f = native.function
    guess = f.intrinsic("minnum", (native["t_end"] - native["t"]) * _FIRST_GUESS, _FIRST_GUESS)
    known = f.intrinsic("minnum", size, slope) > _NEGLIGIBLE
    return f.intrinsic(
        "minnum", f.select(known, f.intrinsic("sqrt", size / slope) * 0.01, guess), native["h_max"]
    )


def initial_step_size(native: StepBuilder, slope: Value, euler: Value) -> Value:
    """h^8 max(|f|, |df/dt|) = 0.01, with df/dt from k₁ = f after the Euler step, and h at most 100
    times that step.

    Source: HNW1 II.4 (starting step size); DOP853's HINIT.
    """
    f, change = native.function, squared_error_norm(native, native.row(1), native.row(0))
    steepest = f.intrinsic(
        "maxnum", f.intrinsic("sqrt", slope), f.intrinsic("sqrt", change) / euler
    )
    h = eighth_root(f, 0.01 / steepest)
    h = f.select(steepest <= _NEGLIGIBLE_RATE, f.intrinsic("maxnum", _FIRST_GUESS, euler * 1e-3), h)
    return f.intrinsic(
        "minnum", round_to_eight_bits(f.intrinsic("minnum", euler * 100.0, h)), native["h_max"]
    )


def begin_accept() -> ScalarStepBuilder:
    """The beginning of every `take`: (t, y) ← (t + h, y₁), stored."""
    native = ScalarStepBuilder("take")
    f, run = native.function, native.run
    end, end_rate, y, k = (native.row(r) for r in (WorkRow.END, WorkRow.END_RATE, WorkRow.Y, 0))
    carry, lost, new = (
        native.row(WorkRow.COMPENSATION),
        native.row(WorkRow.LOST),
        native.row(WorkRow.NEW),
    )
    stored = native.block(run.states, run.groups * run.stored)
    with f.loop(run.groups) as i:
        # what was projected has a rounding of its own
        carry[i] = f.select(end[i].not_equal(new[i]), 0.0, lost[i])
        y[i] = end[i]
        k[i] = end_rate[i]
        stored[i] = end[i]
    ScalarArray(run.times)[run.stored] = run.t_new
    run.t, run.stored, run.steps = run.t_new, run.stored + 1, run.steps + 1
    return native


Root = Callable[[FunctionBuilder, Value], Value]


def size_after_step(native: StepBuilder, root: Root) -> Value:
    """h · min(6, max(1/3, 0.75 err^(−1/8))), but no larger right after a rejection"""
    f = native.function
    growth = _SAFETY / root(f, native["error"])
    growth = f.intrinsic(
        "minnum", _LARGEST_GROWTH, f.intrinsic("maxnum", growth, 1.0 / _LARGEST_SHRINKAGE)
    )
    growth = f.select(native["streak"] > 0, f.intrinsic("minnum", growth, 1.0), growth)
    return f.intrinsic("minnum", round_to_eight_bits(native["h_try"] * growth), native["h_max"])


def size_after_rejection(native: StepBuilder, root: Root) -> Value:
    """h · max(1/3, 0.75 err^(−1/8)); after a refusal h/2; after a failure h/10"""
    f, h = native.function, native["h_try"]
    by_error = f.intrinsic("maxnum", 1.0 / _LARGEST_SHRINKAGE, _SAFETY / root(f, native["error"]))
    by_cause = f.select(
        native["cause"].not_equal(StepCause.ACCEPT),
        h * _SHRINK_AFTER_FAILURE,
        h * _SHRINK_AFTER_REFUSAL,
    )
    return f.select(
        native["cause"].not_equal(StepCause.ERROR), by_cause, round_to_eight_bits(h * by_error)
    )


def accept_ir(root: Root) -> str:
    """(t, y) ← (t + h, y₁), stored, and the next step size."""
    native = begin_accept()
    native.run.h = size_after_step(native, root)
    native.run.streak = 0
    return native.finish()


def begin_reject() -> ScalarStepBuilder:
    """The beginning of every `reject`."""
    native = ScalarStepBuilder("reject")
    native.run.rejected, native.run.streak = native.run.rejected + 1, native.run.streak + 1
    return native


def reject_ir(root: Root) -> str:
    """A shorter step."""
    native = begin_reject()
    native.run.h = size_after_rejection(native, root)
    return native.finish()


def _return_if_done(native: ScalarStepBuilder) -> None:
    """Return if there is nothing to try, no room, no hope or no budget."""
    f, run = native.function, native.run
    collapsed = run.h * 0.1 <= f.intrinsic("fabs", run.t) * ROUNDING
    for condition, left in (
        (run.t >= run.t_end, ExitReason.AT_END),
        (run.stored >= run.capacity, ExitReason.BUFFER_FULL),
        (collapsed, ExitReason.STOPPED),
        (run.streak >= MAX_REJECTIONS, ExitReason.STOPPED),
        (run.budget <= 0, ExitReason.BUDGET_SPENT),
    ):
        with f.if_then(condition):
            f.ret(left)


def _cross_discontinuity(native: ScalarStepBuilder, *, keep_step: bool) -> None:
    """From just before a discontinuity to just behind it: the rates may jump, the state does not.

    With `keep_step` the next step is at least as long as the last one would have allowed; if that
    is the whole way to the next discontinuity, no first step is estimated.
    """
    f, run = native.function, native.run
    with f.if_then(run.t >= run.t_end), f.if_then(run.n_breaks > 0):
        planned, times = run.h, ScalarArray(run.breaks)
        run.t, run.t_end = times[0], times[1]
        run.breaks = f.emit(POINTER, f"getelementptr double, {run.breaks}, i64 2")
        run.n_breaks = run.n_breaks - 1
        if not keep_step:
            with f.if_then(native.call("start").not_equal(0)):
                f.ret(ExitReason.STOPPED)
            return
        is_whole = run.t + planned >= run.t_end
        with f.if_then(is_whole):
            run.cause = native.call("first_slope")
            with f.if_then(run.cause.not_equal(0)):
                f.ret(ExitReason.STOPPED)
        with f.if_then(~is_whole):
            with f.if_then(native.call("start").not_equal(0)):
                f.ret(ExitReason.STOPPED)
            run.h = f.intrinsic("maxnum", run.h, planned)


def advance_text(
    dense_rows: Callable[[StructView], Operand] = lambda _: DENSE_ROWS, *, keep_step: bool = True
) -> str:
    """Steps until the end of the run, a full buffer, a spent budget, a step with an event in it or
    a stop; returns `ExitReason`.

    A step smaller than the rounding of t, or a long streak of rejections, is a collapse: the last
    cause is the reason.
    """
    native = ScalarStepBuilder("advance", exported=True)
    f, run = native.function, native.run
    with f.loop_forever():
        _cross_discontinuity(native, keep_step=keep_step)
        _return_if_done(native)
        run.budget = run.budget - 1
        # the last two steps are made equal, so that the last is not tiny
        rest, last = run.t_end - run.t, run.t + run.h >= run.t_end
        run.t_new = f.select(last, run.t_end, run.t + f.intrinsic("minnum", run.h, rest * 0.5))
        # as long as the clock says, so that its rounding does not add up
        run.h_try = run.t_new - run.t
        begin = run.t
        cause = native.call("attempt")
        with f.if_then(~cause.not_equal(0)):
            native.call("take")
            with f.if_then(run.events.not_equal(0)):
                dense = native.block(
                    run.dense, run.groups * ((run.stored - 1) * dense_rows(run))
                ).pointer
                with f.if_then(
                    f.call(run.events, INT32, begin, run.t, dense, run.watch).not_equal(0)
                ):
                    f.ret(ExitReason.AT_EVENT)
        with f.if_then(cause.not_equal(0)):
            run.cause = cause
            with f.if_then(run.code < 0):
                f.ret(ExitReason.STOPPED)
            native.call("reject")
    return f.text()
