"""y₀ → y₁: the native text of one step with its error estimate, its projected end and its dense output.

The formulas are written once, for a run alone and for runs side by side (`dalembert.runtime.ode.vectorized`), whose bits are therefore the same.
Every function of a run alone returns 0, or the `StepCause` for which the step cannot be taken; the code behind it is then in run.code.

Source: HNW1 II.5 (the method), II.4 (step size control), II.6 and II.10 (dense output and DOP853).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, Operand, Record, Value
from dalembert.runtime.numerics.llvm_types import CODE, LANE, POINTER, REAL
from dalembert.runtime.ode.dop853_coefficients import E3, E5, END_STAGE, STAGES, STEP_STAGES, B, D
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.ode.integrator_state import RunFunction, StepCause, StepFunction, WorkRow

_ERROR_OF_ORDER_3: Final = 0.01


def step_text() -> str:
    """The functions of one step; `attempt` is the whole."""
    own = (stages_text(RunFunction("stages")), estimate_text(RunFunction("estimate")), interpolant_text(RunFunction("interpolant")))
    return "\n\n".join(
        (evaluation_text(), *own, finish_text(), consent_text(), attempt_text("stages", "estimate", "finish", "interpolant", "consent"))
    )


def evaluation_text() -> str:
    """f, and whether what came out is finite."""
    return f"{_evaluate()}\n\n{_finite()}"


def _evaluate() -> str:
    """k = f(t, y), counted."""
    native = RunFunction("evaluate", REAL, POINTER, POINTER)
    f, run, (t, y, k) = native.function, native.run, native.arguments
    run.calls = run.calls + 1
    code = f.call(run.rhs, CODE, t, y, k, run.context)
    with f.when(code.differs(0)):
        run.code = code
        f.give(StepCause.RHS)
    return native.done()


def _finite() -> str:
    """Whether y and k are finite."""
    native = RunFunction("finite", POINTER, POINTER)
    f, (y, k) = native.function, map(Array, native.arguments)
    with f.when(native.not_finite(y, k)):
        f.give(StepCause.NOT_FINITE)
    return native.done()


def stages_text(native: StepFunction) -> str:
    """k₁, …, k₁₁ and y₁ = y₀ + h Σ b_j k_j."""
    for s in range(1, STEP_STAGES):
        native.stage(s)
    f, k, h = native.function, {j: native.row(j) for j in B}, native.wide(native["h_try"])
    native.each(lambda i: native.move(i, lambda carry: f.intrinsic("fmuladd", h, native.weighted(B, k, i, max(B)), carry)))
    return native.done()


def estimate_text(native: StepFunction) -> str:
    """err = h |e₅|² / √(n (|e₅|² + 0.01 |e₃|²)),  |e|² = Σ (e_i / (atol_i + rtol max(|y₀|, |y₁|)))²

    Source: HNW1 II.10.
    """
    f, y, new, scale = native.function, native.row(WorkRow.Y), native.row(WorkRow.NEW), native.scale()
    k = {j: native.row(j) for j in B}

    def squares(i: Operand) -> list[Value]:
        size = scale(f.intrinsic("maxnum", f.intrinsic("fabs", y[i]), f.intrinsic("fabs", new[i])), i)
        errors = [native.weighted(numbers, k, i) / size for numbers in (E5, E3)]
        return [e * e for e in errors]

    e5, e3 = native.sums(squares, 2)
    below = e5 + e3 * _ERROR_OF_ORDER_3
    below = f.choose(below <= 0.0, 1.0, below) * native.count
    return native.judge(native["h_try"] * e5 / f.intrinsic("sqrt", below))


def finish_text() -> str:
    """The end of the step, projected if there is a projection, and f there.

    Only if the projection moves the state is f evaluated once more; the stages keep the f of the unprojected end.
    """
    native = RunFunction("finish")
    f, run = native.function, native.run
    new, rate, end, end_rate = (native.row(r) for r in (WorkRow.NEW, END_STAGE, WorkRow.END, WorkRow.END_RATE))
    native.rate(run.t_new, new, rate)
    native.propagate(native.finite(new, rate))
    with f.loop(run.groups) as i:
        end[i] = new[i]
        end_rate[i] = rate[i]
    moved = f.variable(f.value(0.0, LANE))
    with f.when(run.project.differs(0)):
        code = f.call(run.project, CODE, run.t_new, end.pointer, run.context)
        with f.when(code.differs(0)):
            run.code = code
            f.give(StepCause.PROJECT)
        with f.loop(run.groups) as i:
            moved.value = moved.value + f.intrinsic("fabs", end[i] - new[i])
        with f.when(f.total(moved.value).differs(0.0)):
            native.rate(run.t_new, end, end_rate)
            native.propagate(native.finite(end, end_rate))
    return native.done()


def interpolant_text(native: StepFunction) -> str:
    """y(t₀ + θh) = r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))))),  θ̄ = 1 − θ

    r₀ to r₃ are the cubic with the values and slopes of both ends of the step, the others vanish there with their slopes.
    The end is the projected one and its slope is f there, so that the dense output has no jump and no kink between
    steps; inside the step the correction fades as this cubic does.

    Source: HNW1 II.6 and II.10; the projected end is ours.
    """
    r = native.dense_output(DENSE_ROWS)
    for s in range(END_STAGE + 1, STAGES):
        native.stage(s)
    y, end, end_rate = (native.row(r) for r in (WorkRow.Y, WorkRow.END, WorkRow.END_RATE))
    k, h = {j: native.row(j) for j in range(STAGES)}, native.wide(native["h_try"])
    with native.components() as i:
        difference = end[i] - y[i]
        first = h * k[0][i] - difference
        r[0][i], r[1][i], r[2][i] = y[i], difference, first
        r[3][i] = difference - h * end_rate[i] - first
        for j, numbers in enumerate(D):
            r[4 + j][i] = h * native.weighted(numbers, k, i)
    return native.done()


def consent_text(dense_rows: Callable[[Record], Operand] = lambda _: DENSE_ROWS) -> str:
    """Ask the acceptance test, which may raise the error estimate, refuse by a code, or agree by 0."""
    native = RunFunction("consent")
    f, run = native.function, native.run
    with f.when(~run.accept.differs(0)):
        f.give(StepCause.NONE)
    here = native.block(run.dense, run.groups * (run.stored * dense_rows(run))).pointer
    dense = f.choose(run.dense.differs(0), here, f.value(0, POINTER))
    y, end = native.row(WorkRow.Y).pointer, native.row(WorkRow.END).pointer
    code = f.call(run.accept, CODE, run.t, run.t_new, y, end, dense, run.address("error"), run.context)
    with f.when(code.differs(0)):
        run.code = code
        f.give(StepCause.ACCEPT)
    return native.verdict()


def attempt_text(*parts: str) -> str:
    """A whole step from t to t_new, not yet taken."""
    native = RunFunction("attempt")
    native.run.code = 0
    for part in parts:
        native.propagate(native.call(part))
    return native.done()
