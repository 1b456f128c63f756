"""y(t₀ + θh) from the rows of a step: the polynomial between two points of a run as native text,
one for Runge and Kutta's method and one for Taylor's.

Every operation is rounded by itself, in every width of registers and in a page, so that all of them
give the same bits.

Source: HNW1 II.6 and II.10.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    Operand,
    ScalarArray,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, DOUBLE4, INT64, POINTER
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS


def dense_polynomial(theta: Value, rows: Sequence[Value], *, powers: bool = False) -> Value:
    """r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))))),  θ̄ = 1 − θ; with `powers`
    Σ r_k θ^k, which is Taylor's method.
    """
    value, other = rows[-1], theta if powers else 1.0 - theta
    for k in range(len(rows) - 2, -1, -1):
        value = rows[k] + value * (other if k % 2 else theta)
    return value


def interpolate_ir(*, exported: bool = False) -> str:
    """int64 interpolate(rows, stride, n_rows, powers, count, theta, y): the first numbers of a
    state; rows begin `stride` numbers after one another, and are eight or powers of θ.
    """
    f = FunctionBuilder(
        "interpolate", INT64, POINTER, *[INT64] * 4, DOUBLE, POINTER, exported=exported
    )
    rows, stride, n_rows, powers, count, theta, y = f.parameters
    groups = f.emit(INT64, f"lshr {count}, 2")
    for kind, first, end in ((DOUBLE4, f.value(0, INT64), groups), (DOUBLE, groups * 4, count)):
        at = f.value(theta, kind)

        def row(k: Operand, kind: str = kind) -> VectorArray:
            start = f.emit(POINTER, f"getelementptr {DOUBLE}, {rows}, {stride * k}")
            return VectorArray(start, kind)

        with f.if_then(~powers.not_equal(0)), f.loop(end - first) as j:
            r = [row(k)[first + j] for k in range(DENSE_ROWS)]
            VectorArray(y, kind)[first + j] = dense_polynomial(at, r)
        with f.if_then(powers.not_equal(0)), f.loop(end - first) as j:
            total = f.variable(row(n_rows - 1)[first + j])
            with f.loop(n_rows - 1) as k:
                total.value = row(n_rows - k - 2)[first + j] + total.value * at
            VectorArray(y, kind)[first + j] = total.value
    f.ret(0)
    return f.text()


def _interpolate_steps() -> str:
    """`interpolate` at many times: the address of the rows of each, and its θ."""
    f = FunctionBuilder(
        "interpolate_steps", INT64, POINTER, *[INT64] * 5, *[POINTER] * 2, INT64, exported=True
    )
    steps, stride, n_rows, powers, count, times, thetas, y, width = f.parameters
    with f.loop(times) as i:
        out = f.emit(POINTER, f"getelementptr {DOUBLE}, {y}, {width * i}")
        rows = VectorArray(steps, POINTER)[i]
        given = (rows, stride, n_rows, powers, count, ScalarArray(thetas)[i], out)
        f.call("interpolate", INT64, *given)
    f.ret(0)
    return f.text()


def module_ir() -> str:
    """The module that evaluates runs in Python."""
    return f"{interpolate_ir()}\n\n{_interpolate_steps()}\n"
