"""y(t₀ + θh) = Σ y_k θ^k: the native text of Taylor's method with an error estimate, rejection and
dense output.
Keywords: Taylor method.

The order is fixed for a run by the tolerance and by what orders cost; the step follows from the
last two coefficients. That it was right is checked at its end, where the slope of the polynomial
must be f: h (P' − f) = −(k + 1) × the first term left out, to leading order. A step that fails is
tried again with the same coefficients, which costs one evaluation. How far steps may go beyond what
the coefficients say is learned from these errors.

Source: JZ05 §3 (order and step from the coefficients); the estimate from the defect, rejection and
what is learned are ours.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from dalembert.runtime.numerics.ir_builder import Operand, StructView, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE4, INT32, INT64, INTRINSICS
from dalembert.runtime.ode.dop853_coefficients import END_STAGE
from dalembert.runtime.ode.integrator_state import (
    ExitReason,
    ScalarStepBuilder,
    StepBuilder,
    StepCause,
    WorkRow,
)
from dalembert.runtime.ode.runge_kutta_step import (
    acceptance_test_ir,
    attempt_ir,
    evaluation_ir,
    step_end_ir,
)
from dalembert.runtime.ode.step_size_control import (
    advance_text,
    begin_accept,
    begin_reject,
    euler_step_size,
    squared_error_norm,
)

# errors are multiplied by this factor: at the same tolerance a run is then as accurate as by Runge
# and Kutta's method, whose estimate is a bound
_STRICT: Final = 20.0
# of the tolerance, where the error of a step should come to lie
_TARGET: Final = 0.2
LARGEST_GROWTH: Final = 10.0
_LARGEST_SHRINKAGE: Final = 0.1
_SHRINK_AFTER_FAILURE: Final = 0.3
_SHRINK_AFTER_REFUSAL: Final = 0.5
# by how much steps may differ from what coefficients say, as a logarithm
_MOST_LEARNED: Final = 0.7
# the unit of time in which coefficients are computed may be so far from the step
UNIT: Final = 1e3
MAX_TIME_SCALE: Final = 1e6
TRIALS: Final = 5
# the logarithm of a step relative to its unit, where coefficients overflow
_LEAST_REACH: Final = -20.0
_LIBRARY: Final = "declare double @exp(double)\ndeclare double @log(double)"


def dense_rows(run: StructView) -> Operand:
    """A row of the dense output for each coefficient."""
    return run.order + 1


@functools.cache
def taylor_ir() -> str:
    """The whole native loop; exports `start` and `advance` as the Runge–Kutta loop does."""
    native = ScalarStepBuilder("estimate")
    estimate = estimate_text(native, native.run.order)
    parts = (
        _start(),
        _expand(),
        _predict(),
        step_end_ir(),
        estimate,
        _interpolant(),
        acceptance_test_ir(dense_rows),
        _take(),
        _reject(),
    )
    attempt = attempt_ir("predict", "finish", "estimate", "interpolant", "consent")
    return (
        "\n\n".join(
            (
                INTRINSICS,
                _LIBRARY,
                evaluation_ir(),
                *parts,
                attempt,
                advance_text(dense_rows, keep_step=False),
            )
        )
        + "\n"
    )


def _start() -> str:
    """f(t₀, y₀), the coefficients there and the first step size; returns 0, or
    `ExitReason.STOPPED`.
    """
    native = ScalarStepBuilder("start", exported=True)
    f, run = native.function, native.run
    run.code, run.learned = 0, 0.0
    native.reset_compensation()
    y, k = native.row(WorkRow.Y), native.row(0)
    run.cause = native.evaluate(run.t, y, k)
    with f.if_then(~run.cause.not_equal(0)):
        run.cause = native.finite(y, k)
    with f.if_then(run.cause.not_equal(0)):
        f.ret(ExitReason.STOPPED)
    run.unit = euler_step_size(native, squared_error_norm(native, y), squared_error_norm(native, k))
    # powers of a unit far from the step would leave the range of numbers
    with f.loop(f.value(TRIALS, INT64)) as trial:
        native.call("expand")
        ratio = run.h / run.unit
        with f.if_then(ratio < UNIT), f.if_then(ratio > 1.0 / UNIT):
            f.ret(0)
        with f.if_then(trial < TRIALS - 1):
            run.unit = run.unit * f.intrinsic(
                "maxnum", f.intrinsic("minnum", ratio, MAX_TIME_SCALE), 1.0 / MAX_TIME_SCALE
            )
    f.ret(0)
    return f.text()


def _expand() -> str:
    """y_k h₀^k up to the order n, and the step that follows."""
    native = ScalarStepBuilder("expand")
    f, run = native.function, native.run
    first, y = VectorArray(run.jets), native.row(WorkRow.Y)
    with f.loop(run.groups) as i:
        first[i] = y[i]
    run.calls = run.calls + 1
    f.call(run.expand, INT32, run.unit, run.order, run.jets, run.groups * 4, run.context)
    run.reach = log_step_from_coefficients(
        native, run.order, lambda k: native.block(run.jets, run.groups * k)
    )
    run.h = step_size(native, run.reach)
    run.planned = run.h
    return native.finish()


def log_step_from_coefficients(
    native: StepBuilder, order: Operand, coefficient: Callable[[Operand], VectorArray]
) -> Value:
    """log of min_k |y_k h₀^k|^(−1/k) over k = n − 1, n, with 1 for the tolerance, and what was
    learned.
    """
    f, least = native.function, native.function.value(float("inf"), native.number)
    for k in (order, order - 1):
        size = squared_error_norm(native, coefficient(k)) / native.count
        least = f.intrinsic(
            "minnum", least, native.math_call("log", size) / (f.value(k, native.number) * -2.0)
        )
    # what overflowed says that the step is much smaller
    return f.intrinsic("maxnum", least, _LEAST_REACH) + native["learned"]


def step_size(native: StepBuilder, reached: Value) -> Value:
    """h₀ times what was reached, as a logarithm."""
    return native.function.intrinsic(
        "minnum", native.math_call("exp", reached) * native["unit"], native["h_max"]
    )


def _predict() -> str:
    """P(θ) and P'(θ) at the end of the step, by Horner's scheme; NEW and STAGE."""
    native = ScalarStepBuilder("predict")
    f, run = native.function, native.run
    slope = native.row(WorkRow.STAGE)
    theta = f.value(run.h_try / run.unit, DOUBLE4)
    order, groups, jets = run.order, run.groups, VectorArray(run.jets)
    with f.loop(groups) as i:
        p, d = f.variable(jets[groups * order + i]), f.variable(f.value(0.0, DOUBLE4))
        with f.loop(order - 1) as j:
            d.value = f.intrinsic("fmuladd", d.value, theta, p.value)
            p.value = f.intrinsic("fmuladd", p.value, theta, jets[groups * (order - j - 1) + i])
        slope[i] = f.intrinsic("fmuladd", d.value, theta, p.value) * theta
        native.add_compensated(
            i, lambda carry: f.intrinsic("fmuladd", p.value, theta, carry)
        )  # called at once
    return native.finish()


def estimate_text(native: StepBuilder, order: Operand) -> str:
    """err = |P' − h f| / (n + 1): the first term left out, as the slope at the end betrays it."""
    f, scale, h = native.function, native.scale(), native.broadcast(native["h_try"])
    y, new, slope, rate = (
        native.row(r) for r in (WorkRow.Y, WorkRow.NEW, WorkRow.STAGE, END_STAGE)
    )

    def square(i: Operand) -> list[Value]:
        size = scale(
            f.intrinsic("maxnum", f.intrinsic("fabs", y[i]), f.intrinsic("fabs", new[i])), i
        )
        e = (slope[i] - h * rate[i]) / size
        return [e * e]

    mean = native.sums(square)[0] / native.count
    return native.return_error_test(f.intrinsic("sqrt", mean) / _terms(native, order) * _STRICT)


def _terms(native: StepBuilder, order: Operand) -> Value:
    return native.function.value(order, native.number) + 1.0


def _interpolant() -> str:
    """r_k = y_k θ^k, with r₂ and r₃ corrected."""
    native = ScalarStepBuilder("interpolant")
    f, run = native.function, native.run
    with f.if_then(~run.dense.not_equal(0)):
        f.ret(StepCause.NONE)
    groups, jets = run.groups, VectorArray(run.jets)
    here = native.block(run.dense, groups * (run.stored * dense_rows(run)))
    theta, power = f.value(run.h_try / run.unit, DOUBLE4), f.variable(f.value(1.0, DOUBLE4))
    with f.loop(run.order + 1) as k:
        with f.loop(groups) as i:
            here[groups * k + i] = jets[groups * k + i] * power.value
        power.value = power.value * theta
    match_end_state(
        native, native.block(here.pointer, groups * 2), native.block(here.pointer, groups * 3)
    )
    return native.finish()


def match_end_state(native: StepBuilder, second: VectorArray, third: VectorArray) -> None:
    """r₂ and r₃ such that the end and the slope there are those of the step: no jump, no kink.

    What is added is 3Δθ² − 2Δθ³ for the difference Δ of the ends, and s(θ³ − θ²) for that of the
    slopes.
    """
    new, end, slope, end_rate = (
        native.row(r) for r in (WorkRow.NEW, WorkRow.END, WorkRow.STAGE, WorkRow.END_RATE)
    )
    h = native.broadcast(native["h_try"])
    with native.components() as i:
        moved, turned = end[i] - new[i], h * end_rate[i] - slope[i]
        second[i] = second[i] + (moved * 3.0 - turned)
        third[i] = third[i] + (turned - moved * 2.0)


def _log_step_change(native: StepBuilder, order: Operand) -> Value:
    """log(target / err) / (n + 1): by how much the step may change, as a logarithm."""
    return native.math_call("log", _TARGET / native["error"]) / _terms(native, order)


def updated_step_bias(native: StepBuilder, order: Operand) -> Value:
    """Half of the way to what would have met the target."""
    f = native.function
    learned = f.intrinsic("fmuladd", _log_step_change(native, order), 0.5, native["learned"])
    return f.intrinsic("minnum", f.intrinsic("maxnum", learned, -_MOST_LEARNED), _MOST_LEARNED)


def rejected_step_size(native: StepBuilder, order: Operand) -> tuple[Value, Value]:
    """What an error teaches, and h · max(0.1, (target/err)^(1/(n+1))); after a refusal h/2;
    after a failure 0.3 h.
    """
    f, h, change = native.function, native["h_try"], _log_step_change(native, order)
    by_error = f.intrinsic("maxnum", _LARGEST_SHRINKAGE, native.math_call("exp", change))
    by_cause = f.select(
        native["cause"].not_equal(StepCause.ACCEPT),
        h * _SHRINK_AFTER_FAILURE,
        h * _SHRINK_AFTER_REFUSAL,
    )
    learned = f.intrinsic("maxnum", native["learned"] + change, -_MOST_LEARNED)
    return learned, f.select(native["cause"].not_equal(StepCause.ERROR), by_cause, h * by_error)


def _take() -> str:
    """(t, y) ← (t + h, y₁), stored; what the error has taught; the coefficients at the new
    point, unless it is the last.
    """
    native = begin_accept()
    f, run = native.function, native.run
    # a step that was cut short teaches nothing
    with f.if_then(run.h_try >= run.planned):
        run.learned = updated_step_bias(native, run.order)
    run.streak = 0
    with f.if_then(run.t < run.t_end):
        run.unit = run.h_try
        native.call("expand")
        run.h = f.intrinsic("minnum", run.h, run.unit * LARGEST_GROWTH)
    return native.finish()


def _reject() -> str:
    """A shorter step."""
    native = begin_reject()
    f, run = native.function, native.run
    learned, h = rejected_step_size(native, run.order)
    with f.if_then(~run.cause.not_equal(StepCause.ERROR)):
        run.learned = learned
    run.h = h
    return native.finish()
