"""y(t₀ + θh) = Σ y_k θ^k: the native text of Taylor's method with an error estimate, rejection and dense output.

The order is fixed for a run by the tolerance and by what orders cost; the step follows from the last two coefficients. That it was
right is checked at its end, where the slope of the polynomial must be f: h (P' − f) = −(k + 1) × the first term left out, to leading
order. A step that fails is tried again with the same coefficients, which costs one evaluation. How far steps may go beyond what the
coefficients say is learned from these errors.

Source: JZ05 §3 (order and step from the coefficients); the estimate from the defect, rejection and what is learned are ours.
"""

from __future__ import annotations

import functools
from typing import Final

from dalembert.numerics.llvm_types import CODE, INTRINSICS, LANE, REAL, WHOLE
from dalembert.numerics.llvm_writer import Array, NativeFunction, Operand, Record, Value
from dalembert.ode.coefficients import END_STAGE
from dalembert.ode.control import advance_text, euler_size, norm, step_taken
from dalembert.ode.run import Cause, ExitReason, WorkRow
from dalembert.ode.step import RunFunction, attempt_text, consent_text, evaluation_text, finish_text, give_verdict

# errors count so many times: at the same tolerance a run is then as accurate as by Runge and Kutta's method, whose estimate is a bound
STRICT: Final = 20.0
# of the tolerance, where the error of a step should come to lie
TARGET: Final = 0.2
LARGEST_GROWTH: Final = 10.0
LARGEST_SHRINKAGE: Final = 0.1
SHRINK_AFTER_FAILURE: Final = 0.3
_SHRINK_AFTER_REFUSAL: Final = 0.5
# by how much steps may differ from what coefficients say, as a logarithm
MOST_LEARNED: Final = 0.7
# the unit of time in which coefficients are computed may be so far from the step
UNIT: Final = 1e3
FARTHEST: Final = 1e6
TRIALS: Final = 5
# the logarithm of a step beside its unit, where coefficients overflow
LEAST_REACH: Final = -20.0
_LIBRARY: Final = "declare double @exp(double)\ndeclare double @log(double)"


def dense_rows(run: Record) -> Operand:
    """A row of the dense output for each coefficient."""
    return run.order + 1


@functools.cache
def taylor_text() -> str:
    """The whole native loop; exports `start` and `advance` as the Runge–Kutta loop does."""
    parts = (_start(), _expand(), _predict(), finish_text(), _estimate(), _interpolant(), consent_text(dense_rows), _take(), _reject())
    attempt = attempt_text("predict", "finish", "estimate", "interpolant", "consent")
    return "\n\n".join((INTRINSICS, _LIBRARY, evaluation_text(), *parts, attempt, advance_text(dense_rows))) + "\n"


def _log(f: NativeFunction, x: Value) -> Value:
    return f.call("log", REAL, x)


def _exp(f: NativeFunction, x: Value) -> Value:
    return f.call("exp", REAL, x)


def _order(native: RunFunction) -> Value:
    return native.function.value(native.run.order, REAL)


def _coefficient(native: RunFunction, k: Value) -> Array:
    return native.block(native.run.jets, native.run.groups * k)


def _start() -> str:
    """f(t₀, y₀), the coefficients there and the first step size; returns 0, or `ExitReason.STOPPED`."""
    native = RunFunction("start", exported=True)
    f, run = native.function, native.run
    run.code, run.learned = 0, 0.0
    native.carry_nothing()
    y, k = native.row(WorkRow.Y), native.row(0)
    run.cause = native.evaluate(run.t, y, k)
    with f.when(~run.cause.differs(0)):
        run.cause = native.finite(y, k)
    with f.when(run.cause.differs(0)):
        f.give(ExitReason.STOPPED)
    run.scale = euler_size(native, norm(native, y), norm(native, k))
    # powers of a unit far from the step would leave the range of numbers
    with f.loop(f.value(TRIALS, WHOLE)) as trial:
        native.call("expand")
        ratio = run.h / run.scale
        with f.when(ratio < UNIT), f.when(ratio > 1.0 / UNIT):
            f.give(0)
        with f.when(trial < TRIALS - 1):
            run.scale = run.scale * f.intrinsic("maxnum", f.intrinsic("minnum", ratio, FARTHEST), 1.0 / FARTHEST)
    f.give(0)
    return f.text()


def _expand() -> str:
    """y_k h₀^k up to the order n, and h = h₀ min_k |y_k h₀^k|^(−1/k) over k = n − 1, n, with 1 for the tolerance, and what was learned."""
    native = RunFunction("expand")
    f, run = native.function, native.run
    first, y = Array(run.jets), native.row(WorkRow.Y)
    with f.loop(run.groups) as i:
        first[i] = y[i]
    run.calls = run.calls + 1
    f.call(run.expand, CODE, run.scale, run.order, run.jets, run.groups * 4, run.context)
    least = f.variable(f.value(float("inf"), REAL))
    n = f.value(run.n_norm, REAL)
    with f.loop(f.value(2, WHOLE)) as j:
        k = run.order - j
        size = norm(native, _coefficient(native, k)) / n
        least.value = f.intrinsic("minnum", least.value, _log(f, size) / (f.value(k, REAL) * -2.0))
    # what overflowed says that the step is much smaller
    run.reach = f.intrinsic("maxnum", least.value, LEAST_REACH) + run.learned
    run.h = f.intrinsic("minnum", _exp(f, run.reach) * run.scale, run.h_max)
    run.planned = run.h
    f.give(Cause.NONE)
    return f.text()


def _predict() -> str:
    """P(θ) and P'(θ) at the end of the step, by Horner's scheme; NEW and STAGE."""
    native = RunFunction("predict")
    f, run = native.function, native.run
    slope = native.row(WorkRow.STAGE)
    theta = f.value(run.h_try / run.scale, LANE)
    order, groups, jets = run.order, run.groups, Array(run.jets)
    with f.loop(groups) as i:
        p, d = f.variable(jets[groups * order + i]), f.variable(f.value(0.0, LANE))
        with f.loop(order - 1) as j:
            d.value = f.intrinsic("fmuladd", d.value, theta, p.value)
            p.value = f.intrinsic("fmuladd", p.value, theta, jets[groups * (order - j - 1) + i])
        slope[i] = f.intrinsic("fmuladd", d.value, theta, p.value) * theta
        native.move(i, lambda carry: f.intrinsic("fmuladd", p.value, theta, carry))  # called at once
    f.give(Cause.NONE)
    return f.text()


def _estimate() -> str:
    """err = |P' − h f| / (n + 1): the first term left out, as the slope at the end betrays it."""
    native = RunFunction("estimate")
    f, run = native.function, native.run
    y, new, slope, rate = (native.row(r) for r in (WorkRow.Y, WorkRow.NEW, WorkRow.STAGE, END_STAGE))
    atol, mask = native.row(WorkRow.ATOL), native.row(WorkRow.IN_NORM)
    rtol, h = f.value(run.rtol, LANE), f.value(run.h_try, LANE)
    total = f.variable(f.value(0.0, LANE))
    with f.loop(run.norm_groups) as i:
        largest = f.intrinsic("maxnum", f.intrinsic("fabs", y[i]), f.intrinsic("fabs", new[i]))
        e = (slope[i] - h * rate[i]) / f.intrinsic("fmuladd", rtol, largest, atol[i])
        total.value = total.value + native.in_norm(mask, i, e * e)
    run.error = f.intrinsic("sqrt", f.total(total.value) / f.value(run.n_norm, REAL)) / (_order(native) + 1.0) * STRICT
    give_verdict(native)
    return f.text()


def _interpolant() -> str:
    """r_k = y_k θ^k, with r₂ and r₃ corrected so that the end and the slope there are those of the step: no jump, no kink.

    What is added is 3Δθ² − 2Δθ³ for the difference Δ of the ends, and s(θ³ − θ²) for that of the slopes.
    """
    native = RunFunction("interpolant")
    f, run = native.function, native.run
    with f.when(~run.dense.differs(0)):
        f.give(Cause.NONE)
    groups, jets = run.groups, Array(run.jets)
    here = native.block(run.dense, groups * (run.stored * dense_rows(run)))
    theta, power = f.value(run.h_try / run.scale, LANE), f.variable(f.value(1.0, LANE))
    with f.loop(run.order + 1) as k:
        with f.loop(groups) as i:
            here[groups * k + i] = jets[groups * k + i] * power.value
        power.value = power.value * theta
    new, end, slope, end_rate = (native.row(r) for r in (WorkRow.NEW, WorkRow.END, WorkRow.STAGE, WorkRow.END_RATE))
    h = f.value(run.h_try, LANE)
    with f.loop(groups) as i:
        moved, turned = end[i] - new[i], h * end_rate[i] - slope[i]
        second, third = groups * 2 + i, groups * 3 + i
        here[second] = here[second] + (moved * 3.0 - turned)
        here[third] = here[third] + (turned - moved * 2.0)
    f.give(Cause.NONE)
    return f.text()


def _change(native: RunFunction) -> Value:
    """log(target / err) / (n + 1): by how much the step may change, as a logarithm."""
    return _log(native.function, TARGET / native.run.error) / (_order(native) + 1.0)


def _take() -> str:
    """(t, y) ← (t + h, y₁), stored; what the error has taught; the coefficients at the new point, unless it is the last."""
    native = step_taken()
    f, run = native.function, native.run
    # half of the way to what would have met the target; a step that was cut short teaches nothing
    with f.when(run.h_try >= run.planned):
        learned = f.intrinsic("fmuladd", _change(native), 0.5, run.learned)
        run.learned = f.intrinsic("minnum", f.intrinsic("maxnum", learned, -MOST_LEARNED), MOST_LEARNED)
    run.streak = 0
    with f.when(run.t < run.t_end):
        run.scale = run.h_try
        native.call("expand")
        run.h = f.intrinsic("minnum", run.h, run.scale * LARGEST_GROWTH)
    f.give(Cause.NONE)
    return f.text()


def _reject() -> str:
    """h ← h · max(0.1, (target/err)^(1/(n+1))); after a refusal h/2; after a failure 0.3 h."""
    native = RunFunction("reject")
    f, run = native.function, native.run
    run.rejected, run.streak = run.rejected + 1, run.streak + 1
    change = _change(native)
    with f.when(~run.cause.differs(Cause.ERROR)):
        run.learned = f.intrinsic("maxnum", run.learned + change, -MOST_LEARNED)
    by_error = f.intrinsic("maxnum", LARGEST_SHRINKAGE, _exp(f, change))
    by_cause = f.choose(run.cause.differs(Cause.ACCEPT), f.value(SHRINK_AFTER_FAILURE, REAL), _SHRINK_AFTER_REFUSAL)
    run.h = run.h_try * f.choose(run.cause.differs(Cause.ERROR), by_cause, by_error)
    f.give(Cause.NONE)
    return f.text()
