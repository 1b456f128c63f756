"""(1/(γh) − J) k_i = f(…) + Σ_j (C_ij/h) k_j + h d_i ∂f/∂t: the native text of a Rosenbrock step,
for stiff equations.
Keywords: Rosenbrock method.

J = ∂f/∂y is exact and recomputed at every point. A step costs eight evaluations, one elimination
and eight solutions; none is repeated, as by Newton's method. Quadratures are not in W: they follow
from the rest by k = γh (… + J k).

Source: HW96 IV.7 (the method in this form); `rodas5p_coefficients` (Rodas5P).
"""

from __future__ import annotations

import functools

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    ScalarArray,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import (
    DOUBLE,
    DOUBLE4,
    INT32,
    INT64,
    INTRINSICS,
    POINTER,
    padded_size,
)
from dalembert.runtime.ode.integrator_state import ScalarStepBuilder, StepCause, WorkRow
from dalembert.runtime.ode.lu_solver import lu_ir
from dalembert.runtime.ode.rodas5p_coefficients import DENSE, GAMMA, STAGES, TIMES, A, B, C, D, Row
from dalembert.runtime.ode.runge_kutta_step import (
    acceptance_test_ir,
    attempt_ir,
    evaluation_ir,
    step_end_ir,
)
from dalembert.runtime.ode.step_size_control import (
    accept_ir,
    advance_text,
    initialize_ir,
    reject_ir,
)

# of the work space: k_1 … k_8 are in rows 1 … 8, what they are solved from and ∂f/∂t after them
_RIGHT, _BY_TIME, _ROOM = STAGES + 1, STAGES + 2, STAGES + 3
_LIBRARY = "declare double @exp(double)\ndeclare double @log(double)"


@functools.cache
def rosenbrock_ir() -> str:
    """The whole native loop; exports `start` and `advance` as the others do."""
    parts = (
        evaluation_ir(),
        lu_ir(),
        _factor_iteration_matrix(),
        _solve_stage(),
        _stages(),
        _estimate(),
        step_end_ir(),
        _interpolant(),
    )
    attempt = attempt_ir("prepare", "stages", "estimate", "finish", "interpolant", "consent")
    around = (
        acceptance_test_ir(),
        attempt,
        initialize_ir(),
        accept_ir(_fifth_root),
        reject_ir(_fifth_root),
        advance_text(),
    )
    return "\n\n".join((INTRINSICS, _LIBRARY, *parts, *around)) + "\n"


def matrices_size(n_norm: int, size: int) -> int:
    """Numbers that J with ∂f/∂t, the factors and the pivots take."""
    return padded_size(size) * (n_norm + 1) + 2 * n_norm * padded_size(n_norm) + n_norm


def _fifth_root(f: FunctionBuilder, x: Value) -> Value:
    return f.call("exp", DOUBLE, f.call("log", DOUBLE, x) * 0.2)


def _factors(native: ScalarStepBuilder) -> Value:
    """Where W and its factors are: after J, from a multiple of four on."""
    f, run = native.function, native.run
    size = run.groups * 4 * (run.n_norm + 1)
    return f.emit(POINTER, f"getelementptr {DOUBLE}, {run.matrices}, {size}")


def _factor_iteration_matrix() -> str:
    """J and ∂f/∂t, unless they are known from a step that was refused, and W = 1/(γh) − J in
    factors.
    """
    native = ScalarStepBuilder("prepare")
    f, run = native.function, native.run
    J, n, by_time = ScalarArray(run.matrices), run.n_norm, ScalarArray(native.row(_BY_TIME).pointer)
    across = n + 1
    with f.if_then(~(run.streak > 0)):
        code = f.call(
            run.jacobian, INT32, run.t, native.row(WorkRow.Y).pointer, run.matrices, run.context
        )
        with f.if_then(code.not_equal(0)):
            run.code = code
            f.ret(StepCause.RHS)
    factors, width = _factors(native), run.norm_groups * 4
    W = ScalarArray(factors)
    with f.loop(n) as i:
        with f.loop(width) as j:
            W[i * width + j] = 0.0
        with f.loop(n) as j:
            W[i * width + j] = 0.0 - J[i * across + j]
        W[i * width + i] = W[i * width + i] + 1.0 / (run.h_try * GAMMA)
    with f.loop(run.groups * 4) as i:
        by_time[i] = J[i * across + n]
    with f.if_then(f.call("factor", INT64, factors, n, run.norm_groups).not_equal(0)):
        f.ret(StepCause.NOT_FINITE)
    return native.finish()


def _solve_stage() -> str:
    """k from the right-hand side: W k = r for what is in the norm, k = γh (r + J k) for
    quadratures.
    """
    native = ScalarStepBuilder("resolve", POINTER)
    f, run = native.function, native.run
    (pointer,) = native.arguments
    right, k, n = native.row(_RIGHT), VectorArray(pointer), run.n_norm
    J, r, stage = ScalarArray(run.matrices), ScalarArray(right.pointer), ScalarArray(pointer)
    f.call(
        "solve",
        INT64,
        _factors(native),
        n,
        run.norm_groups,
        right.pointer,
        native.row(_ROOM).pointer,
    )
    across = n + 1
    scale = run.h_try * GAMMA
    with f.loop(run.groups) as i:
        k[i] = right[i]
    with f.loop(run.groups * 4 - n) as m:
        i, total = n + m, f.variable(r[n + m])
        with f.loop(n) as j:
            total.value = f.intrinsic("fmuladd", J[i * across + j], stage[j], total.value)
        stage[i] = total.value * scale
    return native.finish()


def _sum(native: ScalarStepBuilder, numbers: Row, i: Value) -> Value:
    """Σ_j a_j k_j of one group."""
    f = native.function
    total = f.value(0.0, DOUBLE4)
    for j, a in enumerate(numbers):
        if a:
            total = f.intrinsic("fmuladd", native.row(j + 1)[i], a, total)
    return total


def _stages() -> str:
    """k₁, …, k₈ and y₁."""
    native = ScalarStepBuilder("stages")
    f, run = native.function, native.run
    y, stage, right, by_time = (native.row(r) for r in (WorkRow.Y, WorkRow.STAGE, _RIGHT, _BY_TIME))
    first, new = native.row(0), native.row(WorkRow.NEW)
    for s in range(STAGES):
        if s:
            with f.loop(run.groups) as i:
                stage[i] = y[i] + _sum(native, A[s], i)
            native.rate(run.t + run.h_try * TIMES[s], stage, right)
        else:
            with f.loop(run.groups) as i:
                right[i] = first[i]
        inverse, part = f.value(1.0 / run.h_try, DOUBLE4), f.value(run.h_try * D[s], DOUBLE4)
        with f.loop(run.groups) as i:
            right[i] = right[i] + _sum(native, C[s], i) * inverse + part * by_time[i]
        native.call("resolve", native.row(s + 1).pointer)
    with native.components() as i:
        new[i] = y[i] + _sum(native, B, i)
    return native.finish()


def _estimate() -> str:
    """err = |k₈|: y₁ less the solution of order 4."""
    native = ScalarStepBuilder("estimate")
    f, y, new, last, scale = (
        native.function,
        native.row(WorkRow.Y),
        native.row(WorkRow.NEW),
        native.row(STAGES),
        native.scale(),
    )

    def square(i: Operand) -> list[Value]:
        e = last[i] / scale(
            f.intrinsic("maxnum", f.intrinsic("fabs", y[i]), f.intrinsic("fabs", new[i])), i
        )
        return [e * e]

    return native.return_error_test(f.intrinsic("sqrt", native.sums(square)[0] / native.count))


def _interpolant() -> str:
    """θθ̄(K₁ + θK₂ + θ²K₃) in the eight rows that all steps have: r₂ = K₁, r₃ = K₂ + K₃, r₄ =
    −K₃, for θ² = θ − θθ̄.
    """
    native = ScalarStepBuilder("interpolant")
    r, y, end = native.dense_output(), native.row(WorkRow.Y), native.row(WorkRow.END)
    with native.components() as i:
        first, second, third = (_sum(native, numbers, i) for numbers in DENSE)
        r[0][i], r[1][i], r[2][i] = y[i], end[i] - y[i], first
        r[3][i], r[4][i] = second + third, 0.0 - third
        for row in r[5:]:
            row[i] = 0.0
    return native.finish()
