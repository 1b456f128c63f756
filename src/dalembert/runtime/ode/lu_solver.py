"""W x = b: native elimination with partial pivots, four numbers at a time.

`factor` leaves U in place of W, row by row; the multipliers of rows are kept with it, column by
column, and pivots as numbers. The room is W (n rows), L (n rows) and the pivots, each row padded to
a multiple of four.
"""

from __future__ import annotations

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    ScalarArray,
    StackVariable,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, DOUBLE4, INT64, POINTER


def lu_ir() -> str:
    """`factor` and `solve`."""
    return f"{_factor()}\n\n{_solve()}"


def _rows(
    f: FunctionBuilder, base: Value, n: Value, groups: Value
) -> tuple[VectorArray, VectorArray, ScalarArray]:
    """W, L and the pivots."""
    multipliers = f.emit(POINTER, f"getelementptr {DOUBLE4}, {base}, {n * groups}")
    pivots = f.emit(POINTER, f"getelementptr {DOUBLE4}, {multipliers}, {n * groups}")
    return VectorArray(base), VectorArray(multipliers), ScalarArray(pivots)


def _group_after(f: FunctionBuilder, k: Value) -> Value:
    """The group that holds k + 1."""
    return f.emit(INT64, f"lshr {k + 1}, 2")


def _largest_below(W: ScalarArray, n: Value, width: Value, k: Value) -> Value:
    """The row of the largest number of column k from row k on; the function ends with 1 where all
    are zero.
    """
    f = k.function
    best, place = f.variable(f.value(0.0, DOUBLE)), f.variable(k)
    with f.loop(n - k) as r:
        size = f.intrinsic("fabs", W[(k + r) * width + k])
        with f.if_then(size > best.value):
            best.value, place.value = size, k + r
    with f.if_then(~(best.value > 0.0)):
        f.ret(1)
    return place.value


def _subtract_row(
    W: VectorArray, rows: tuple[Value, Value], factor: Value, groups: Value, first: Value
) -> None:
    """W_i ← W_i − factor W_k, from a group on."""
    (i, k), f = rows, factor.function
    spread = f.value(0.0 - factor, DOUBLE4)
    with f.loop(groups - first) as j:
        g = first + j
        W[i * groups + g] = f.intrinsic("fmuladd", spread, W[k * groups + g], W[i * groups + g])


def _factor() -> str:
    """0, or 1 where W is singular."""
    f = FunctionBuilder("factor", INT64, POINTER, INT64, INT64)
    base, n, groups = f.parameters
    W, L, pivots = _rows(f, base, n, groups)
    one_by_one, below, width = ScalarArray(base), ScalarArray(L.pointer), groups * 4
    with f.loop(n * groups) as i:
        L[i] = f.value(0.0, DOUBLE4)
    with f.loop(n) as k:
        p = _largest_below(one_by_one, n, width, k)
        pivots[k] = f.value(p, DOUBLE)
        with f.if_then(p.not_equal(k)), f.loop(groups) as j:
            upper, lower = W[k * groups + j], W[p * groups + j]
            W[k * groups + j] = lower
            W[p * groups + j] = upper
        inverse = 1.0 / one_by_one[k * width + k]
        first = _group_after(f, k)
        with f.loop(n - k - 1) as r:
            i = k + 1 + r
            factor = one_by_one[i * width + k] * inverse
            below[k * width + i] = factor
            with f.if_then(factor.not_equal(0.0)):
                _subtract_row(W, (i, k), factor, groups, first)
    f.ret(0)
    return f.text()


def _solve_lower(L: VectorArray, pivots: ScalarArray, b: Value, n: Value, groups: Value) -> None:
    """b ← L⁻¹ P b"""
    f, single, row = b.function, ScalarArray(b), VectorArray(b)
    with f.loop(n) as k:
        p = f.emit(INT64, f"fptosi {pivots[k]} to i64")
        here, there = single[k], single[p]
        single[k] = there
        single[p] = here
        spread, first = f.value(0.0 - there, DOUBLE4), _group_after(f, k)
        with f.loop(groups - first) as j:
            g = first + j
            row[g] = f.intrinsic("fmuladd", spread, L[k * groups + g], row[g])


def _row_product(W: VectorArray, x: VectorArray, k: Value, groups: Value) -> StackVariable:
    """Σ W_kj x_j over the groups from that of k + 1 on, in lanes."""
    f = k.function
    total, first = f.variable(f.value(0.0, DOUBLE4)), _group_after(f, k)
    with f.loop(groups - first) as j:
        g = first + j
        total.value = f.intrinsic("fmuladd", W[k * groups + g], x[g], total.value)
    return total


def _solve() -> str:
    """b becomes x; `room` takes a row."""
    f = FunctionBuilder("solve", INT64, POINTER, INT64, INT64, POINTER, POINTER)
    base, n, groups, b, room = f.parameters
    W, L, pivots = _rows(f, base, n, groups)
    one_by_one, width = ScalarArray(base), groups * 4
    single, x, answer = ScalarArray(b), VectorArray(room), ScalarArray(room)
    _solve_lower(L, pivots, b, n, groups)
    with f.loop(groups) as g:
        x[g] = f.value(0.0, DOUBLE4)
    with f.loop(n) as r:
        k = n - r - 1
        # what is not known yet is zero in x
        total = _row_product(W, x, k, groups)
        answer[k] = (single[k] - f.sum_lanes(total.value)) / one_by_one[k * width + k]
    with f.loop(n) as i:
        single[i] = answer[i]
    f.ret(0)
    return f.text()
