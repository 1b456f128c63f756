"""The native text around the step: the first step size, and the loop that tries, takes or rejects steps.

Source: HNW1 II.4 (step size control, starting step size) and the program DOP853.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, NativeFunction, NumberArray, Operand, Record, Value
from dalembert.runtime.numerics.llvm_types import CODE, INTRINSICS
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.ode.integrator_state import ExitReason, RunFunction, StepCause, StepFunction, WorkRow
from dalembert.runtime.ode.runge_kutta_step import step_text

EXPORTS: Final = ("start", "advance")

# h_new = h · min(6, max(1/3, 0.75 err^(−1/8))). DOP853 has 0.9; 0.75 rejects a third as often and is cheaper at equal error
_SAFETY: Final = 0.75
_LARGEST_GROWTH: Final = 6.0
_LARGEST_SHRINKAGE: Final = 3.0
# what is not finite, or no state of the system, is far outside the reach of the step
_SHRINK_AFTER_FAILURE: Final = 0.1
_SHRINK_AFTER_REFUSAL: Final = 0.5
LONGEST_STREAK: Final = 100
ROUNDING: Final = 2.0**-52
_FIRST_GUESS: Final = 1e-6
_NEGLIGIBLE: Final = 1e-10
_NO_SLOPE: Final = 1e-15
# x (2⁴⁵ + 1) leaves 8 of the 53 digits of x
_FINE_DIGITS: Final = 2.0**45 + 1.0


@functools.cache
def loop_text() -> str:
    """The whole native loop; exports `start` and `advance`."""
    parts = (INTRINSICS, step_text(), start_text(), take_text(eighth_root), reject_text(eighth_root), advance_text())
    return "\n\n".join(parts) + "\n"


def start_text() -> str:
    """Where a run begins."""
    return f"{_start()}\n\n{_first_size()}"


def eighth_root(f: NativeFunction, x: Value) -> Value:
    """x^(1/8) by three square roots, which every processor rounds alike."""
    for _ in range(3):
        x = f.intrinsic("sqrt", x)
    return x


def coarse(h: Value) -> Value:
    """h to eight binary digits, the nearest such number.

    Rounding in an error estimate then hardly ever reaches the step: processors that fuse operations and those that do not take the same
    steps, where otherwise one estimate that happens to be small would lead them apart, and their errors with them.
    """
    c = h * _FINE_DIGITS
    return c - (c - h)


def _start() -> str:
    """k₀ = f(t₀, y₀) and the first step size; returns 0, or `ExitReason.STOPPED`."""
    native = RunFunction("start", exported=True)
    f, run = native.function, native.run
    run.code = 0
    native.carry_nothing()
    y, k = native.row(WorkRow.Y), native.row(0)
    run.cause = native.evaluate(run.t, y, k)
    with f.when(~run.cause.differs(0)):
        run.cause = native.finite(y, k)
    with f.when(~run.cause.differs(0)):
        run.cause = native.call("first_size")
    with f.when(run.cause.differs(0)):
        f.give(ExitReason.STOPPED)
    f.give(0)
    return f.text()


def norm(native: StepFunction, x: Array, less: Array | None = None) -> Value:
    """Σ (x_i / (atol_i + rtol |y_i|))² over the components in the norm; of x − less if given."""
    f, y, scale = native.function, native.row(WorkRow.Y), native.scale()

    def square(i: Operand) -> list[Value]:
        e = (x[i] if less is None else x[i] - less[i]) / scale(f.intrinsic("fabs", y[i]), i)
        return [e * e]

    return native.sums(square)[0]


def _first_size() -> str:
    """The first step size; if f cannot be had after the Euler step, h is a thousandth of it."""
    native = RunFunction("first_size")
    f, run = native.function, native.run
    slope, euler = euler_step(native)
    run.h = euler * 1e-3
    stage, after = native.row(WorkRow.STAGE), native.row(1)
    cause = native.evaluate(run.t + euler, stage, after)
    with f.when(run.code < 0):
        f.give(cause)
    h = first_size(native, slope, euler)
    with f.when(~cause.differs(0)), f.when(~native.finite(stage, after).differs(0)):
        run.h = h
    run.code = 0
    return native.done()


def euler_step(native: StepFunction) -> tuple[Value, Value]:
    """|f|² and an Euler step of size 0.01 |y| / |f|, into the stage."""
    y, k, stage = (native.row(r) for r in (WorkRow.Y, 0, WorkRow.STAGE))
    slope = norm(native, k)
    euler = euler_size(native, norm(native, y), slope)
    h = native.wide(euler)

    def step(i: Operand) -> None:
        stage[i] = native.function.intrinsic("fmuladd", h, k[i], y[i])

    native.each(step)
    return slope, euler


def euler_size(native: StepFunction, size: Value, slope: Value) -> Value:
    """0.01 |y| / |f|, if there is such a thing; otherwise a millionth of the run or of the unit of time, whichever is less."""
    f = native.function
    guess = f.intrinsic("minnum", (native["t_end"] - native["t"]) * _FIRST_GUESS, _FIRST_GUESS)
    known = f.intrinsic("minnum", size, slope) > _NEGLIGIBLE
    return f.intrinsic("minnum", f.choose(known, f.intrinsic("sqrt", size / slope) * 0.01, guess), native["h_max"])


def first_size(native: StepFunction, slope: Value, euler: Value) -> Value:
    """h^8 max(|f|, |df/dt|) = 0.01, with df/dt from k₁ = f after the Euler step, and h at most 100 times that step.

    Source: HNW1 II.4 (starting step size); DOP853's HINIT.
    """
    f, change = native.function, norm(native, native.row(1), native.row(0))
    steepest = f.intrinsic("maxnum", f.intrinsic("sqrt", slope), f.intrinsic("sqrt", change) / euler)
    h = eighth_root(f, 0.01 / steepest)
    h = f.choose(steepest <= _NO_SLOPE, f.intrinsic("maxnum", _FIRST_GUESS, euler * 1e-3), h)
    return f.intrinsic("minnum", coarse(f.intrinsic("minnum", euler * 100.0, h)), native["h_max"])


def step_taken() -> RunFunction:
    """The beginning of every `take`: (t, y) ← (t + h, y₁), stored."""
    native = RunFunction("take")
    f, run = native.function, native.run
    end, end_rate, y, k = (native.row(r) for r in (WorkRow.END, WorkRow.END_RATE, WorkRow.Y, 0))
    carry, lost, new = native.row(WorkRow.CARRY), native.row(WorkRow.LOST), native.row(WorkRow.NEW)
    stored = native.block(run.states, run.groups * run.stored)
    with f.loop(run.groups) as i:
        # what was projected has a rounding of its own
        carry[i] = f.choose(end[i].differs(new[i]), 0.0, lost[i])
        y[i] = end[i]
        k[i] = end_rate[i]
        stored[i] = end[i]
    NumberArray(run.times)[run.stored] = run.t_new
    run.t, run.stored, run.steps = run.t_new, run.stored + 1, run.steps + 1
    return native


Root = Callable[[NativeFunction, Value], Value]


def size_after_step(native: StepFunction, root: Root) -> Value:
    """h · min(6, max(1/3, 0.75 err^(−1/8))), but no larger right after a rejection"""
    f = native.function
    growth = _SAFETY / root(f, native["error"])
    growth = f.intrinsic("minnum", _LARGEST_GROWTH, f.intrinsic("maxnum", growth, 1.0 / _LARGEST_SHRINKAGE))
    growth = f.choose(native["streak"] > 0, f.intrinsic("minnum", growth, 1.0), growth)
    return f.intrinsic("minnum", coarse(native["h_try"] * growth), native["h_max"])


def size_after_rejection(native: StepFunction, root: Root) -> Value:
    """h · max(1/3, 0.75 err^(−1/8)); after a refusal h/2; after a failure h/10"""
    f, h = native.function, native["h_try"]
    by_error = f.intrinsic("maxnum", 1.0 / _LARGEST_SHRINKAGE, _SAFETY / root(f, native["error"]))
    by_cause = f.choose(native["cause"].differs(StepCause.ACCEPT), h * _SHRINK_AFTER_FAILURE, h * _SHRINK_AFTER_REFUSAL)
    return f.choose(native["cause"].differs(StepCause.ERROR), by_cause, coarse(h * by_error))


def take_text(root: Root) -> str:
    """(t, y) ← (t + h, y₁), stored, and the next step size."""
    native = step_taken()
    native.run.h = size_after_step(native, root)
    native.run.streak = 0
    return native.done()


def step_rejected() -> RunFunction:
    """The beginning of every `reject`."""
    native = RunFunction("reject")
    native.run.rejected, native.run.streak = native.run.rejected + 1, native.run.streak + 1
    return native


def reject_text(root: Root) -> str:
    """A shorter step."""
    native = step_rejected()
    native.run.h = size_after_rejection(native, root)
    return native.done()


def _leave(native: RunFunction) -> None:
    """Return if there is nothing to try, no room, no hope or no budget."""
    f, run = native.function, native.run
    collapsed = run.h * 0.1 <= f.intrinsic("fabs", run.t) * ROUNDING
    for condition, left in (
        (run.t >= run.t_end, ExitReason.AT_END),
        (run.stored >= run.capacity, ExitReason.BUFFER_FULL),
        (collapsed, ExitReason.STOPPED),
        (run.streak >= LONGEST_STREAK, ExitReason.STOPPED),
        (run.budget <= 0, ExitReason.BUDGET_SPENT),
    ):
        with f.when(condition):
            f.give(left)


def advance_text(dense_rows: Callable[[Record], Operand] = lambda _: DENSE_ROWS) -> str:
    """Steps until the end of the run, a full buffer, a spent budget, a step with an event in it or a stop; returns `ExitReason`.

    A step smaller than the rounding of t, or a long streak of rejections, is a collapse: the last cause is the reason.
    """
    native = RunFunction("advance", exported=True)
    f, run = native.function, native.run
    with f.forever():
        _leave(native)
        run.budget = run.budget - 1
        # the last two steps are made equal, lest the last be tiny
        rest, last = run.t_end - run.t, run.t + run.h >= run.t_end
        run.t_new = f.choose(last, run.t_end, run.t + f.intrinsic("minnum", run.h, rest * 0.5))
        # as long as the clock says, lest its rounding add up
        run.h_try = run.t_new - run.t
        begin = run.t
        cause = native.call("attempt")
        with f.when(~cause.differs(0)):
            native.call("take")
            with f.when(run.events.differs(0)):
                dense = native.block(run.dense, run.groups * ((run.stored - 1) * dense_rows(run))).pointer
                with f.when(f.call(run.events, CODE, begin, run.t, dense, run.watch).differs(0)):
                    f.give(ExitReason.AT_EVENT)
        with f.when(cause.differs(0)):
            run.cause = cause
            with f.when(run.code < 0):
                f.give(ExitReason.STOPPED)
            native.call("reject")
    return f.text()
