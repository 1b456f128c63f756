"""y₀ → y₁: the native text of one step with its error estimate, its projected end and its dense
output.
Keywords: Dormand–Prince.

The formulas are written once, for a single run and for vectorized runs
(`dalembert.runtime.ode.vectorized`), which are therefore bit-identical. Every function of a single
run returns 0, or the `StepCause` for which the step cannot be taken; the code behind it is then in
run.code.

Source: HNW1 II.5 (the method), II.4 (step size control), II.6 and II.10 (dense output and DOP853).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dalembert.runtime.numerics.ir_builder import Operand, StructView, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, DOUBLE4, INT32, POINTER
from dalembert.runtime.ode.dop853_coefficients import E3, E5, END_STAGE, STAGES, STEP_STAGES, B, D
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.ode.integrator_state import (
    ScalarStepBuilder,
    StepBuilder,
    StepCause,
    WorkRow,
)

_ERROR_OF_ORDER_3: Final = 0.01


def step_ir() -> str:
    """The functions of one step; `attempt` is the whole."""
    own = (
        stages_ir(ScalarStepBuilder("stages")),
        error_estimate_ir(ScalarStepBuilder("estimate")),
        dense_output_ir(ScalarStepBuilder("interpolant")),
    )
    return "\n\n".join(
        (
            evaluation_ir(),
            *own,
            step_end_ir(),
            acceptance_test_ir(),
            attempt_ir("stages", "estimate", "finish", "interpolant", "consent"),
        )
    )


def evaluation_ir() -> str:
    """f, and whether what came out is finite."""
    return f"{_evaluate()}\n\n{_finite()}"


def _evaluate() -> str:
    """k = f(t, y), counted."""
    native = ScalarStepBuilder("evaluate", DOUBLE, POINTER, POINTER)
    f, run, (t, y, k) = native.function, native.run, native.arguments
    run.calls = run.calls + 1
    code = f.call(run.rhs, INT32, t, y, k, run.context)
    with f.if_then(code.not_equal(0)):
        run.code = code
        f.ret(StepCause.RHS)
    return native.finish()


def _finite() -> str:
    """Whether y and k are finite."""
    native = ScalarStepBuilder("finite", POINTER, POINTER)
    f, (y, k) = native.function, map(VectorArray, native.arguments)
    with f.if_then(native.not_finite(y, k)):
        f.ret(StepCause.NOT_FINITE)
    return native.finish()


def stages_ir(native: StepBuilder) -> str:
    """k₁, …, k₁₁ and y₁ = y₀ + h Σ b_j k_j."""
    for s in range(1, STEP_STAGES):
        native.stage(s)
    f, k, h = native.function, {j: native.row(j) for j in B}, native.broadcast(native["h_try"])
    native.for_each_component(
        lambda i: native.add_compensated(
            i, lambda carry: f.intrinsic("fmuladd", h, native.stage_sum(B, k, i, max(B)), carry)
        )
    )
    return native.finish()


def error_estimate_ir(native: StepBuilder) -> str:
    """err = h |e₅|² / √(n (|e₅|² + 0.01 |e₃|²)),  |e|² = Σ (e_i / (atol_i + rtol max(|y₀|, |y₁|)))²

    Source: HNW1 II.10.
    """
    f, y, new, scale = (
        native.function,
        native.row(WorkRow.Y),
        native.row(WorkRow.NEW),
        native.scale(),
    )
    k = {j: native.row(j) for j in B}

    def squares(i: Operand) -> list[Value]:
        size = scale(
            f.intrinsic("maxnum", f.intrinsic("fabs", y[i]), f.intrinsic("fabs", new[i])), i
        )
        errors = [native.stage_sum(numbers, k, i) / size for numbers in (E5, E3)]
        return [e * e for e in errors]

    e5, e3 = native.sums(squares, 2)
    below = e5 + e3 * _ERROR_OF_ORDER_3
    below = f.select(below <= 0.0, 1.0, below) * native.count
    return native.return_error_test(native["h_try"] * e5 / f.intrinsic("sqrt", below))


def step_end_ir() -> str:
    """The end of the step, projected if there is a projection, and f there.

    Only if the projection moves the state is f evaluated once more; the stages keep the f of the
    unprojected end.
    """
    native = ScalarStepBuilder("finish")
    f, run = native.function, native.run
    new, rate, end, end_rate = (
        native.row(r) for r in (WorkRow.NEW, END_STAGE, WorkRow.END, WorkRow.END_RATE)
    )
    native.rate(run.t_new, new, rate)
    native.return_if_failed(native.finite(new, rate))
    with f.loop(run.groups) as i:
        end[i] = new[i]
        end_rate[i] = rate[i]
    moved = f.variable(f.value(0.0, DOUBLE4))
    with f.if_then(run.project.not_equal(0)):
        code = f.call(run.project, INT32, run.t_new, end.pointer, run.context)
        with f.if_then(code.not_equal(0)):
            run.code = code
            f.ret(StepCause.PROJECT)
        with f.loop(run.groups) as i:
            moved.value = moved.value + f.intrinsic("fabs", end[i] - new[i])
        with f.if_then(f.sum_lanes(moved.value).not_equal(0.0)):
            native.rate(run.t_new, end, end_rate)
            native.return_if_failed(native.finite(end, end_rate))
    return native.finish()


def dense_output_ir(native: StepBuilder) -> str:
    """y(t₀ + θh) = r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))))),  θ̄ = 1 − θ

    r₀ to r₃ are the cubic with the values and slopes of both ends of the step, the others vanish
    there with their slopes. The end is the projected one and its slope is f there, so that the
    dense output has no jump and no kink between steps; inside the step the correction fades as this
    cubic does.

    Source: HNW1 II.6 and II.10; the projected end is ours.
    """
    r = native.dense_output(DENSE_ROWS)
    for s in range(END_STAGE + 1, STAGES):
        native.stage(s)
    y, end, end_rate = (native.row(r) for r in (WorkRow.Y, WorkRow.END, WorkRow.END_RATE))
    k, h = {j: native.row(j) for j in range(STAGES)}, native.broadcast(native["h_try"])
    with native.components() as i:
        difference = end[i] - y[i]
        first = h * k[0][i] - difference
        r[0][i], r[1][i], r[2][i] = y[i], difference, first
        r[3][i] = difference - h * end_rate[i] - first
        for j, numbers in enumerate(D):
            r[4 + j][i] = h * native.stage_sum(numbers, k, i)
    return native.finish()


def acceptance_test_ir(dense_rows: Callable[[StructView], Operand] = lambda _: DENSE_ROWS) -> str:
    """Ask the acceptance test, which may raise the error estimate, refuse by a code, or agree by
    0.
    """
    native = ScalarStepBuilder("consent")
    f, run = native.function, native.run
    with f.if_then(~run.accept.not_equal(0)):
        f.ret(StepCause.NONE)
    here = native.block(run.dense, run.groups * (run.stored * dense_rows(run))).pointer
    dense = f.select(run.dense.not_equal(0), here, f.value(0, POINTER))
    y, end = native.row(WorkRow.Y).pointer, native.row(WorkRow.END).pointer
    code = f.call(
        run.accept, INT32, run.t, run.t_new, y, end, dense, run.address("error"), run.context
    )
    with f.if_then(code.not_equal(0)):
        run.code = code
        f.ret(StepCause.ACCEPT)
    return native.verdict()


def attempt_ir(*parts: str) -> str:
    """A whole step from t to t_new, not yet taken."""
    native = ScalarStepBuilder("attempt")
    native.run.code = 0
    for part in parts:
        native.return_if_failed(native.call(part))
    return native.finish()
