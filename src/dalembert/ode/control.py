"""The native text around the step: the first step size, and the loop that tries, takes or rejects steps.

Source: HNW1 II.4 (step size control, starting step size) and the program DOP853.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from dalembert.numerics.llvm_types import CODE, INTRINSICS, LANE, REAL
from dalembert.numerics.llvm_writer import Array, NativeFunction, NumberArray, Operand, Record, Value
from dalembert.ode.problem import DENSE_ROWS
from dalembert.ode.run import Cause, ExitReason, WorkRow
from dalembert.ode.step import RunFunction, step_text

EXPORTS: Final = ("start", "advance")

# h_new = h · min(6, max(1/3, 0.75 err^(−1/8))). DOP853 has 0.9; 0.75 rejects a third as often and is cheaper at equal error
SAFETY: Final = 0.75
LARGEST_GROWTH: Final = 6.0
LARGEST_SHRINKAGE: Final = 3.0
# what is not finite, or no state of the system, is far outside the reach of the step
SHRINK_AFTER_FAILURE: Final = 0.1
_SHRINK_AFTER_REFUSAL: Final = 0.5
LONGEST_STREAK: Final = 100
ROUNDING: Final = 2.0**-52
FIRST_GUESS: Final = 1e-6
NEGLIGIBLE: Final = 1e-10
NO_SLOPE: Final = 1e-15
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


def norm(native: RunFunction, x: Array, less: Array | None = None) -> Value:
    """Σ (x_i / (atol_i + rtol |y_i|))² over the components in the norm; of x − less if given."""
    f, rtol = native.function, native.function.value(native.run.rtol, LANE)
    y, atol, mask = (native.row(r) for r in (WorkRow.Y, WorkRow.ATOL, WorkRow.IN_NORM))
    total = f.variable(f.value(0.0, LANE))
    with f.loop(native.run.norm_groups) as i:
        e = (x[i] if less is None else x[i] - less[i]) / f.intrinsic("fmuladd", rtol, f.intrinsic("fabs", y[i]), atol[i])
        total.value = total.value + native.in_norm(mask, i, e * e)
    return f.total(total.value)


def _first_size() -> str:
    """h^8 max(|f|, |df/dt|) = 0.01, with df/dt from an Euler step of size 0.01 |y| / |f|, and h at most 100 times that.

    Where |y| or |f| vanishes the Euler step is a millionth of the run or of the unit of time, whichever is less.
    If f cannot be had after the Euler step, h is a thousandth of it.

    Source: HNW1 II.4 (starting step size); DOP853's HINIT.
    """
    native = RunFunction("first_size")
    f, run = native.function, native.run
    y, k, stage, after = (native.row(r) for r in (WorkRow.Y, 0, WorkRow.STAGE, 1))
    slope = norm(native, k)
    euler = euler_size(native, norm(native, y), slope)
    with f.loop(run.groups) as i:
        stage[i] = f.intrinsic("fmuladd", f.value(euler, LANE), k[i], y[i])
    run.h = euler * 1e-3
    cause = native.evaluate(run.t + euler, stage, after)
    with f.when(run.code < 0):
        f.give(cause)
    steepest = f.intrinsic("maxnum", f.intrinsic("sqrt", slope), f.intrinsic("sqrt", norm(native, after, k)) / euler)
    with f.when(~cause.differs(0)), f.when(~native.finite(stage, after).differs(0)):
        h = eighth_root(f, 0.01 / steepest)
        h = f.choose(steepest <= NO_SLOPE, f.intrinsic("maxnum", FIRST_GUESS, euler * 1e-3), h)
        run.h = f.intrinsic("minnum", coarse(f.intrinsic("minnum", euler * 100.0, h)), run.h_max)
    run.code = 0
    f.give(Cause.NONE)
    return f.text()


def euler_size(native: RunFunction, size: Value, slope: Value) -> Value:
    """0.01 |y| / |f|, if there is such a thing."""
    f, run = native.function, native.run
    guess = f.intrinsic("minnum", (run.t_end - run.t) * FIRST_GUESS, FIRST_GUESS)
    known = f.intrinsic("minnum", size, slope) > NEGLIGIBLE
    return f.intrinsic("minnum", f.choose(known, f.intrinsic("sqrt", size / slope) * 0.01, guess), run.h_max)


def step_taken() -> RunFunction:
    """The beginning of every `take`: (t, y) ← (t + h, y₁), stored."""
    native = RunFunction("take")
    f, run = native.function, native.run
    end, end_rate, y, k = (native.row(r) for r in (WorkRow.END, WorkRow.END_RATE, WorkRow.Y, 0))
    carry, lost, new = native.row(WorkRow.CARRY), native.row(WorkRow.LOST), native.row(WorkRow.NEW)
    stored = native.block(run.states, run.groups * run.stored)
    with f.loop(run.groups) as i:
        # what was projected has a rounding of its own
        carry[i] = f.choose(end[i].differs(new[i]), f.value(0.0, LANE), lost[i])
        y[i] = end[i]
        k[i] = end_rate[i]
        stored[i] = end[i]
    NumberArray(run.times)[run.stored] = run.t_new
    run.t, run.stored, run.steps = run.t_new, run.stored + 1, run.steps + 1
    return native


def take_text(root: Callable[[NativeFunction, Value], Value]) -> str:
    """(t, y) ← (t + h, y₁), stored; the next step is h · min(6, 0.75 err^(−1/8)), but no larger right after a rejection."""
    native = step_taken()
    f, run = native.function, native.run
    growth = SAFETY / root(f, run.error)
    growth = f.intrinsic("minnum", LARGEST_GROWTH, f.intrinsic("maxnum", growth, 1.0 / LARGEST_SHRINKAGE))
    growth = f.choose(run.streak > 0, f.intrinsic("minnum", growth, 1.0), growth)
    run.h = f.intrinsic("minnum", coarse(run.h_try * growth), run.h_max)
    run.streak = 0
    f.give(Cause.NONE)
    return f.text()


def reject_text(root: Callable[[NativeFunction, Value], Value]) -> str:
    """h ← h · max(1/3, 0.75 err^(−1/8)); after a refusal h/2; after a failure h/10."""
    native = RunFunction("reject")
    f, run = native.function, native.run
    run.rejected, run.streak = run.rejected + 1, run.streak + 1
    by_error = f.intrinsic("maxnum", 1.0 / LARGEST_SHRINKAGE, SAFETY / root(f, run.error))
    by_cause = f.choose(run.cause.differs(Cause.ACCEPT), f.value(SHRINK_AFTER_FAILURE, REAL), _SHRINK_AFTER_REFUSAL)
    run.h = f.choose(run.cause.differs(Cause.ERROR), run.h_try * by_cause, coarse(run.h_try * by_error))
    f.give(Cause.NONE)
    return f.text()


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
