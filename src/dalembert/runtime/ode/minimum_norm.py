"""x of least norm with A x = b, A of any rank: native text.

The rows of (A, b) are turned in pairs until those of A are orthogonal (Hestenes): then s_k = |a_k| are the singular values of A, and

    x = Σ_k b_k a_k / (s_k² + μ)      over s_k > rcond · max s

with the least μ that keeps |x| within a radius. Where the rows are well enough independent, A = L Q by Gram and Schmidt says the same
sooner: x = Qᵀ L⁻¹ b, and 1/|L⁻¹| is a lower bound of the singular values.
Source: Golub and Van Loan, Matrix Computations, §8.6.3 (one-sided Jacobi), §5.2.8 (modified Gram–Schmidt).
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, NativeFunction, NumberArray, Value
from dalembert.runtime.numerics.llvm_types import POINTER, REAL, WHOLE

# |A| |L⁻¹| below which rows count as independent without their singular values
_WELL: Final = 1e6
_MOST_SWEEPS: Final = 40
# sine of the angle between two rows that are orthogonal
_ORTHOGONAL: Final = 2.0**-51
_SMALLEST: Final = 1e-12
_GROWTH: Final = 3.0


def least_norm_text() -> str:
    """`rank(A, B, m, n, rcond)` and `least(A, B, m, n, rcond, radius, x)`: rows of A have n + 1 numbers, b the last; B is room."""
    parts = (_product(), _mask(), _triangular(), _turn(), _sweep(), _orthogonal(), _largest(), _rank(), _combine(), _least())
    return "\n\n".join(parts)


def row(f: NativeFunction, A: Value, k: Value, width: Value) -> Value:
    """The address of row k."""
    return f.emit(POINTER, f"getelementptr {REAL}, {A}, {k * width}")


def _product() -> str:
    """a · b"""
    f = NativeFunction("product", REAL, POINTER, POINTER, WHOLE)
    a, b, n = f.parameters
    total = f.variable(f.value(0.0, REAL))
    with f.loop(n) as i:
        total.value = total.value + NumberArray(a)[i] * NumberArray(b)[i]
    f.give(total.value)
    return f.text()


def _mask() -> str:
    """A bit for every 2^s numbers of a row that are not all zero, with the least s for which 64 bits are enough."""
    f = NativeFunction("mask", WHOLE, POINTER, WHOLE)
    a, n = f.parameters
    last, shift, mask = f.emit(WHOLE, f"lshr {n}, 6"), f.variable(f.value(0, WHOLE)), f.variable(f.value(0, WHOLE))
    with f.loop(last), f.when(f.emit(WHOLE, f"lshr {last}, {shift.value.name}").differs(0)):
        shift.value = shift.value + 1
    with f.loop(n) as i, f.when(NumberArray(a)[i].differs(0.0)):
        mask.value = mask.value | f.emit(WHOLE, f"shl i64 1, {f.emit(WHOLE, f'lshr {i}, {shift.value.name}').name}")
    f.give(mask.value)
    return f.text()


def _triangular() -> str:
    """A = L Q: rows (q_k, y_k, row k of L⁻¹) of n + 1 + m numbers in B with L y = b; |A| |L⁻¹|, at least the condition of A.

    Rows without a column in common are orthogonal as they are. Beside row k of L⁻¹ stands the mask of q_k, where L⁻¹ has nothing.
    """
    f = NativeFunction("triangular", REAL, POINTER, POINTER, WHOLE, WHOLE)
    A, B, m, n = f.parameters
    width = n + 1 + m
    size, inverse = f.variable(f.value(0.0, REAL)), f.variable(f.value(0.0, REAL))
    with f.loop(m) as k:
        here = row(f, B, k, width)
        a, b = NumberArray(row(f, A, k, n + 1)), NumberArray(here)
        with f.loop(n + 1) as i:
            b[i] = a[i]
        with f.loop(m) as i:
            b[n + 1 + i] = 0.0
        b[n + 1 + k] = 1.0
        size.value = size.value + f.call("product", REAL, here, here, n)
        mask = f.variable(f.call("mask", WHOLE, here, n))
        with f.loop(k) as j:
            before = row(f, B, j, width)
            with f.when((mask.value & Array(before, WHOLE)[n + 2 + j]).differs(0)):
                part = f.call("product", REAL, here, before, n)
                with f.when(part.differs(0.0)):
                    with f.loop(n + 2 + j) as i:
                        b[i] = b[i] - part * NumberArray(before)[i]
                    mask.value = mask.value | Array(before, WHOLE)[n + 2 + j]
        scale = 1.0 / f.intrinsic("sqrt", f.call("product", REAL, here, here, n))
        with f.loop(n + 2 + k) as i:
            b[i] = b[i] * scale
        own = f.emit(POINTER, f"getelementptr {REAL}, {here}, {n + 1}")
        inverse.value = inverse.value + f.call("product", REAL, own, own, k + 1)
        with f.when(k + 1 < m):
            Array(here, WHOLE)[n + 2 + k] = mask.value
    f.give(f.intrinsic("sqrt", size.value * inverse.value))
    return f.text()


def _turn() -> str:
    """Rows a and b of n + 1 numbers made orthogonal in the first n; 1 where they were not."""
    f = NativeFunction("turn_rows", WHOLE, POINTER, POINTER, WHOLE)
    a, b, n = f.parameters
    inside = f.call("product", REAL, a, b, n)
    first, second = f.call("product", REAL, a, a, n), f.call("product", REAL, b, b, n)
    with f.when(~(f.intrinsic("fabs", inside) > f.intrinsic("sqrt", first * second) * _ORTHOGONAL)):
        f.give(0)
    zeta = (second - first) / (inside * 2.0)
    size = 1.0 / (f.intrinsic("fabs", zeta) + f.intrinsic("sqrt", zeta * zeta + 1.0))
    tangent = f.choose(zeta >= 0.0, size, 0.0 - size)
    cosine = 1.0 / f.intrinsic("sqrt", tangent * tangent + 1.0)
    sine = cosine * tangent
    left, right = NumberArray(a), NumberArray(b)
    with f.loop(n + 1) as i:
        x, y = left[i], right[i]
        left[i] = cosine * x - sine * y
        right[i] = sine * x + cosine * y
    f.give(1)
    return f.text()


def _sweep() -> str:
    """Every pair of rows once; how many of them were turned."""
    f = NativeFunction("sweep", WHOLE, POINTER, WHOLE, WHOLE)
    A, m, n = f.parameters
    turned = f.variable(f.value(0, WHOLE))
    with f.loop(m) as j, f.loop(j) as i:
        turned.value = turned.value + f.call("turn_rows", WHOLE, row(f, A, i, n + 1), row(f, A, j, n + 1), n)
    f.give(turned.value)
    return f.text()


def _orthogonal() -> str:
    f = NativeFunction("orthogonal", WHOLE, POINTER, WHOLE, WHOLE)
    A, m, n = f.parameters
    with f.loop(f.value(_MOST_SWEEPS, WHOLE)), f.when(~f.call("sweep", WHOLE, A, m, n).differs(0)):
        f.give(0)
    f.give(1)
    return f.text()


def _largest() -> str:
    """max s_k² of orthogonal rows"""
    f = NativeFunction("largest_square", REAL, POINTER, WHOLE, WHOLE)
    A, m, n = f.parameters
    most = f.variable(f.value(0.0, REAL))
    with f.loop(m) as k:
        a = row(f, A, k, n + 1)
        most.value = f.intrinsic("maxnum", most.value, f.call("product", REAL, a, a, n))
    f.give(most.value)
    return f.text()


def _rank() -> str:
    """The number of s_k > rcond · max s, or of s_k > −rcond where rcond is negative; the rows are made orthogonal first."""
    f = NativeFunction("rank", WHOLE, POINTER, POINTER, WHOLE, WHOLE, REAL)
    A, B, m, n, rcond = f.parameters
    with f.when(f.call("triangular", REAL, A, B, m, n) < _WELL):
        f.give(m)
    f.call("orthogonal", WHOLE, A, m, n)
    most = f.call("largest_square", REAL, A, m, n)
    limit = rcond * rcond * f.choose(rcond < 0.0, 1.0, most)
    count = f.variable(f.value(0, WHOLE))
    with f.loop(m) as k:
        a = row(f, A, k, n + 1)
        with f.when(f.call("product", REAL, a, a, n) > limit):
            count.value = count.value + 1
    f.give(count.value)
    return f.text()


def _combine() -> str:
    """x = Σ_k b_k a_k / (s_k² + μ) over s_k² > limit, and |x|, for rows of n numbers, b and others."""
    f = NativeFunction("combine", REAL, POINTER, WHOLE, WHOLE, WHOLE, REAL, REAL, POINTER)
    A, m, n, width, limit, mu, found = f.parameters
    x = NumberArray(found)
    with f.loop(n) as i:
        x[i] = 0.0
    with f.loop(m) as k:
        a = row(f, A, k, width)
        square = f.call("product", REAL, a, a, n)
        with f.when(square > limit):
            factor = NumberArray(a)[n] / (square + mu)
            with f.loop(n) as i:
                x[i] = x[i] + factor * NumberArray(a)[i]
    f.give(f.intrinsic("sqrt", f.call("product", REAL, found, found, n)))
    return f.text()


def _least() -> str:
    """The length of x; a radius below zero sets no bound."""
    f = NativeFunction("least", REAL, POINTER, POINTER, WHOLE, WHOLE, REAL, REAL, POINTER)
    A, B, m, n, rcond, radius, x = f.parameters
    nothing = f.value(0.0, REAL)
    with f.when(f.call("triangular", REAL, A, B, m, n) < _WELL):
        whole = f.call("combine", REAL, B, m, n, n + 1 + m, nothing, nothing, x)
        with f.when((whole <= radius) | (radius < 0.0)):
            f.give(whole)
    f.call("orthogonal", WHOLE, A, m, n)
    most = f.call("largest_square", REAL, A, m, n)
    limit = rcond * rcond * most
    length = f.variable(f.call("combine", REAL, A, m, n, n + 1, limit, nothing, x))
    mu = f.variable(most * _SMALLEST)
    with f.forever():
        with f.when(~((length.value > radius) & (radius >= 0.0))):
            f.give(length.value)
        length.value = f.call("combine", REAL, A, m, n, n + 1, limit, mu.value, x)
        mu.value = mu.value * _GROWTH
    return f.text()
