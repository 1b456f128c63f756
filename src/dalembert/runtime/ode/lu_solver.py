"""W x = b: native elimination with partial pivots, four numbers at a time.

`factor` leaves U in place of W, row by row; what it multiplies rows with is kept beside it, column by column, and pivots as numbers.
The room is W (n rows), L (n rows) and the pivots, each row padded to a multiple of four.
"""

from __future__ import annotations

from dalembert.runtime.numerics.ir_builder import Array, NativeFunction, NumberArray, Value
from dalembert.runtime.numerics.llvm_types import LANE, POINTER, REAL, WHOLE


def solver_text() -> str:
    """`factor` and `solve`."""
    return f"{_factor()}\n\n{_solve()}"


def _rows(f: NativeFunction, base: Value, n: Value, groups: Value) -> tuple[Array, Array, NumberArray]:
    """W, L and the pivots."""
    multipliers = f.emit(POINTER, f"getelementptr {LANE}, {base}, {n * groups}")
    pivots = f.emit(POINTER, f"getelementptr {LANE}, {multipliers}, {n * groups}")
    return Array(base), Array(multipliers), NumberArray(pivots)


def _half_open(f: NativeFunction, k: Value) -> Value:
    """The group that holds k + 1."""
    return f.emit(WHOLE, f"lshr {k + 1}, 2")


def _factor() -> str:
    """0, or 1 where W is singular."""
    f = NativeFunction("factor", WHOLE, POINTER, WHOLE, WHOLE)
    base, n, groups = f.parameters
    W, L, pivots = _rows(f, base, n, groups)
    one_by_one, below, width = NumberArray(base), NumberArray(L.pointer), groups * 4
    with f.loop(n * groups) as i:
        L[i] = f.value(0.0, LANE)
    with f.loop(n) as k:
        best, place = f.variable(f.value(0.0, REAL)), f.variable(k)
        with f.loop(n - k) as r:
            size = f.intrinsic("fabs", one_by_one[(k + r) * width + k])
            with f.when(size > best.value):
                best.value, place.value = size, k + r
        with f.when(~(best.value > 0.0)):
            f.give(1)
        p = place.value
        pivots[k] = f.value(p, REAL)
        with f.when(p.differs(k)), f.loop(groups) as j:
            upper, lower = W[k * groups + j], W[p * groups + j]
            W[k * groups + j] = lower
            W[p * groups + j] = upper
        inverse = 1.0 / one_by_one[k * width + k]
        first = _half_open(f, k)
        with f.loop(n - k - 1) as r:
            i = k + 1 + r
            factor = one_by_one[i * width + k] * inverse
            below[k * width + i] = factor
            with f.when(factor.differs(0.0)):
                spread = f.value(0.0 - factor, LANE)
                with f.loop(groups - first) as j:
                    g = first + j
                    W[i * groups + g] = f.intrinsic("fmuladd", spread, W[k * groups + g], W[i * groups + g])
    f.give(0)
    return f.text()


def _solve() -> str:
    """b becomes x; `room` takes a row."""
    f = NativeFunction("solve", WHOLE, POINTER, WHOLE, WHOLE, POINTER, POINTER)
    base, n, groups, b, room = f.parameters
    W, L, pivots = _rows(f, base, n, groups)
    one_by_one, width = NumberArray(base), groups * 4
    single, row, x, answer = NumberArray(b), Array(b), Array(room), NumberArray(room)
    with f.loop(n) as k:
        p = f.emit(WHOLE, f"fptosi {pivots[k]} to i64")
        here, there = single[k], single[p]
        single[k] = there
        single[p] = here
        spread, first = f.value(0.0 - there, LANE), _half_open(f, k)
        with f.loop(groups - first) as j:
            g = first + j
            row[g] = f.intrinsic("fmuladd", spread, L[k * groups + g], row[g])
    with f.loop(groups) as g:
        x[g] = f.value(0.0, LANE)
    with f.loop(n) as r:
        k = n - r - 1
        # what is not known yet is zero in x
        total, first = f.variable(f.value(0.0, LANE)), _half_open(f, k)
        with f.loop(groups - first) as j:
            g = first + j
            total.value = f.intrinsic("fmuladd", W[k * groups + g], x[g], total.value)
        answer[k] = (single[k] - f.total(total.value)) / one_by_one[k * width + k]
    with f.loop(n) as i:
        single[i] = answer[i]
    f.give(0)
    return f.text()
