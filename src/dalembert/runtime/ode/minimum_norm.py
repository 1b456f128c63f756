"""x of least norm with A x = b, A of any rank: native text.
Keywords: minimum norm.

The rows of (A, b) are turned in pairs until those of A are orthogonal (Hestenes): then s_k = |a_k|
are the singular values of A, and

    x = Σ_k b_k a_k / (s_k² + μ)      over s_k > rcond · max s

with the least μ that keeps |x| within a radius. Where the rows are well enough independent, A = L Q
by Gram and Schmidt says the same sooner: x = Qᵀ L⁻¹ b, and 1/|L⁻¹| is a lower bound of the singular
values.
Source: Golub and Van Loan, Matrix Computations, §8.6.3 (one-sided Jacobi), §5.2.8 (modified
Gram–Schmidt).
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import FunctionBuilder, ScalarArray, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER

# |A| |L⁻¹| below which rows count as independent without their singular values
_WELL_CONDITIONED: Final = 1e6
_MOST_SWEEPS: Final = 40
# sine of the angle between two rows that are orthogonal
_ORTHOGONAL: Final = 2.0**-51
_SMALLEST: Final = 1e-12
_GROWTH: Final = 3.0


def minimum_norm_ir() -> str:
    """`rank(A, B, m, n, rcond)` and `least(A, B, m, n, rcond, radius, x)`: rows of A have n + 1
    numbers, b the last; B is room.
    """
    parts = (
        _dot(),
        _sparsity_mask(),
        _lq_factor(),
        _jacobi_rotation(),
        _sweep(),
        _orthogonalize_rows(),
        _largest(),
        _rank(),
        _combine_rows(),
        _minimum_norm(),
    )
    return "\n\n".join(parts)


def row(f: FunctionBuilder, A: Value, k: Value, width: Value) -> Value:
    """The address of row k."""
    return f.emit(POINTER, f"getelementptr {DOUBLE}, {A}, {k * width}")


def _dot() -> str:
    """a · b"""
    f = FunctionBuilder("product", DOUBLE, POINTER, POINTER, INT64)
    a, b, n = f.parameters
    total = f.variable(f.value(0.0, DOUBLE))
    with f.loop(n) as i:
        total.value = total.value + ScalarArray(a)[i] * ScalarArray(b)[i]
    f.ret(total.value)
    return f.text()


def _sparsity_mask() -> str:
    """A bit for every 2^s numbers of a row that are not all zero, with the least s for which 64
    bits are enough.
    """
    f = FunctionBuilder("mask", INT64, POINTER, INT64)
    a, n = f.parameters
    last, shift, mask = (
        f.emit(INT64, f"lshr {n}, 6"),
        f.variable(f.value(0, INT64)),
        f.variable(f.value(0, INT64)),
    )
    with f.loop(last), f.if_then(f.emit(INT64, f"lshr {last}, {shift.value.name}").not_equal(0)):
        shift.value = shift.value + 1
    with f.loop(n) as i, f.if_then(ScalarArray(a)[i].not_equal(0.0)):
        mask.value = mask.value | f.emit(
            INT64, f"shl i64 1, {f.emit(INT64, f'lshr {i}, {shift.value.name}').name}"
        )
    f.ret(mask.value)
    return f.text()


def _lq_factor() -> str:
    """A = L Q: rows (q_k, y_k, row k of L⁻¹) of n + 1 + m numbers in B with L y = b; |A| |L⁻¹|, at
    least the condition of A.

    Rows without a column in common are orthogonal as they are. The unused part of row k of L⁻¹
    stores the mask of q_k.
    """
    f = FunctionBuilder("triangular", DOUBLE, POINTER, POINTER, INT64, INT64)
    A, B, m, n = f.parameters
    width = n + 1 + m
    size, inverse = f.variable(f.value(0.0, DOUBLE)), f.variable(f.value(0.0, DOUBLE))
    with f.loop(m) as k:
        here = row(f, B, k, width)
        a, b = ScalarArray(row(f, A, k, n + 1)), ScalarArray(here)
        with f.loop(n + 1) as i:
            b[i] = a[i]
        with f.loop(m) as i:
            b[n + 1 + i] = 0.0
        b[n + 1 + k] = 1.0
        size.value = size.value + f.call("product", DOUBLE, here, here, n)
        mask = f.variable(f.call("mask", INT64, here, n))
        with f.loop(k) as j:
            before = row(f, B, j, width)
            with f.if_then((mask.value & VectorArray(before, INT64)[n + 2 + j]).not_equal(0)):
                part = f.call("product", DOUBLE, here, before, n)
                with f.if_then(part.not_equal(0.0)):
                    with f.loop(n + 2 + j) as i:
                        b[i] = b[i] - part * ScalarArray(before)[i]
                    mask.value = mask.value | VectorArray(before, INT64)[n + 2 + j]
        scale = 1.0 / f.intrinsic("sqrt", f.call("product", DOUBLE, here, here, n))
        with f.loop(n + 2 + k) as i:
            b[i] = b[i] * scale
        own = f.emit(POINTER, f"getelementptr {DOUBLE}, {here}, {n + 1}")
        inverse.value = inverse.value + f.call("product", DOUBLE, own, own, k + 1)
        with f.if_then(k + 1 < m):
            VectorArray(here, INT64)[n + 2 + k] = mask.value
    f.ret(f.intrinsic("sqrt", size.value * inverse.value))
    return f.text()


def _jacobi_rotation() -> str:
    """Rows a and b of n + 1 numbers made orthogonal in the first n; 1 where they were not."""
    f = FunctionBuilder("turn_rows", INT64, POINTER, POINTER, INT64)
    a, b, n = f.parameters
    inside = f.call("product", DOUBLE, a, b, n)
    first, second = f.call("product", DOUBLE, a, a, n), f.call("product", DOUBLE, b, b, n)
    with f.if_then(
        ~(f.intrinsic("fabs", inside) > f.intrinsic("sqrt", first * second) * _ORTHOGONAL)
    ):
        f.ret(0)
    zeta = (second - first) / (inside * 2.0)
    size = 1.0 / (f.intrinsic("fabs", zeta) + f.intrinsic("sqrt", zeta * zeta + 1.0))
    tangent = f.select(zeta >= 0.0, size, 0.0 - size)
    cosine = 1.0 / f.intrinsic("sqrt", tangent * tangent + 1.0)
    sine = cosine * tangent
    left, right = ScalarArray(a), ScalarArray(b)
    with f.loop(n + 1) as i:
        x, y = left[i], right[i]
        left[i] = cosine * x - sine * y
        right[i] = sine * x + cosine * y
    f.ret(1)
    return f.text()


def _sweep() -> str:
    """Every pair of rows once; how many of them were turned."""
    f = FunctionBuilder("sweep", INT64, POINTER, INT64, INT64)
    A, m, n = f.parameters
    turned = f.variable(f.value(0, INT64))
    with f.loop(m) as j, f.loop(j) as i:
        turned.value = turned.value + f.call(
            "turn_rows", INT64, row(f, A, i, n + 1), row(f, A, j, n + 1), n
        )
    f.ret(turned.value)
    return f.text()


def _orthogonalize_rows() -> str:
    f = FunctionBuilder("orthogonal", INT64, POINTER, INT64, INT64)
    A, m, n = f.parameters
    with (
        f.loop(f.value(_MOST_SWEEPS, INT64)),
        f.if_then(~f.call("sweep", INT64, A, m, n).not_equal(0)),
    ):
        f.ret(0)
    f.ret(1)
    return f.text()


def _largest() -> str:
    """max s_k² of orthogonal rows"""
    f = FunctionBuilder("largest_square", DOUBLE, POINTER, INT64, INT64)
    A, m, n = f.parameters
    most = f.variable(f.value(0.0, DOUBLE))
    with f.loop(m) as k:
        a = row(f, A, k, n + 1)
        most.value = f.intrinsic("maxnum", most.value, f.call("product", DOUBLE, a, a, n))
    f.ret(most.value)
    return f.text()


def _rank() -> str:
    """The number of s_k > rcond · max s, or of s_k > −rcond where rcond is negative; the rows
    are made orthogonal first.
    """
    f = FunctionBuilder("rank", INT64, POINTER, POINTER, INT64, INT64, DOUBLE)
    A, B, m, n, rcond = f.parameters
    with f.if_then(f.call("triangular", DOUBLE, A, B, m, n) < _WELL_CONDITIONED):
        f.ret(m)
    f.call("orthogonal", INT64, A, m, n)
    most = f.call("largest_square", DOUBLE, A, m, n)
    limit = rcond * rcond * f.select(rcond < 0.0, 1.0, most)
    count = f.variable(f.value(0, INT64))
    with f.loop(m) as k:
        a = row(f, A, k, n + 1)
        with f.if_then(f.call("product", DOUBLE, a, a, n) > limit):
            count.value = count.value + 1
    f.ret(count.value)
    return f.text()


def _combine_rows() -> str:
    """x = Σ_k b_k a_k / (s_k² + μ) over s_k² > limit, and |x|, for rows of n numbers, b and
    others.
    """
    f = FunctionBuilder("combine", DOUBLE, POINTER, INT64, INT64, INT64, DOUBLE, DOUBLE, POINTER)
    A, m, n, width, limit, mu, solution = f.parameters
    x = ScalarArray(solution)
    with f.loop(n) as i:
        x[i] = 0.0
    with f.loop(m) as k:
        a = row(f, A, k, width)
        square = f.call("product", DOUBLE, a, a, n)
        with f.if_then(square > limit):
            factor = ScalarArray(a)[n] / (square + mu)
            with f.loop(n) as i:
                x[i] = x[i] + factor * ScalarArray(a)[i]
    f.ret(f.intrinsic("sqrt", f.call("product", DOUBLE, solution, solution, n)))
    return f.text()


def _minimum_norm() -> str:
    """The length of x; a radius below zero sets no bound."""
    parameters = (POINTER, POINTER, INT64, INT64, DOUBLE, DOUBLE, POINTER)
    f = FunctionBuilder("least", DOUBLE, *parameters, exported=True)
    A, B, m, n, rcond, radius, x = f.parameters
    nothing = f.value(0.0, DOUBLE)
    with f.if_then(f.call("triangular", DOUBLE, A, B, m, n) < _WELL_CONDITIONED):
        whole = f.call("combine", DOUBLE, B, m, n, n + 1 + m, nothing, nothing, x)
        with f.if_then((whole <= radius) | (radius < 0.0)):
            f.ret(whole)
    f.call("orthogonal", INT64, A, m, n)
    most = f.call("largest_square", DOUBLE, A, m, n)
    limit = rcond * rcond * most
    length = f.variable(f.call("combine", DOUBLE, A, m, n, n + 1, limit, nothing, x))
    mu = f.variable(most * _SMALLEST)
    with f.loop_forever():
        with f.if_then(~((length.value > radius) & (radius >= 0.0))):
            f.ret(length.value)
        length.value = f.call("combine", DOUBLE, A, m, n, n + 1, limit, mu.value, x)
        mu.value = mu.value * _GROWTH
    return f.text()
