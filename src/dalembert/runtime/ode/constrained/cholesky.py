"""𝓜 = UᵀU and what is solved with it: native text."""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import FunctionBuilder, ScalarArray, VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, DOUBLE4, GROUP_SIZE, INT64, POINTER
from dalembert.runtime.ode.constrained.workspace_fields import WorkspaceFunction

_EPSILON: Final = 2.0**-52


def cholesky_text() -> str:
    """The functions `dot`, `add`, `cholesky`, `forward`, `back` and `weigh`."""
    parts = (
        mark_inline(_dot()),
        mark_inline(_add()),
        _cholesky(),
        _forward_substitution(),
        _back_substitution(),
        _add_constraint_weight(),
    )
    return "\n\n".join(parts)


def mark_inline(text: str) -> str:
    """A short function written into those that call it."""
    return text.replace("nounwind {", "alwaysinline nounwind {", 1)


def _dot() -> str:
    """Σ a b over groups of four."""
    f = FunctionBuilder("dot", DOUBLE, POINTER, POINTER, INT64)
    a, b, groups = VectorArray(f.parameters[0]), VectorArray(f.parameters[1]), f.parameters[2]
    total = f.variable(f.value(0.0, DOUBLE4))
    with f.loop(groups) as i:
        total.value = f.intrinsic("fmuladd", a[i], b[i], total.value)
    f.ret(f.sum_lanes(total.value))
    return f.text()


def _add() -> str:
    """y += l x over groups of four."""
    f = FunctionBuilder("add", INT64, POINTER, DOUBLE, POINTER, INT64)
    y, l, x, groups = (
        VectorArray(f.parameters[0]),
        f.parameters[1],
        VectorArray(f.parameters[2]),
        f.parameters[3],
    )
    factor = f.value(l, DOUBLE4)
    with f.loop(groups) as i:
        y[i] = f.intrinsic("fmuladd", factor, x[i], y[i])
    f.ret(0)
    return f.text()


def _cholesky() -> str:
    """M = UᵀU in place, 1/u_kk apart and zeros up to the diagonal; a pivot that is only rounding
    makes everything NaN.
    """
    native = WorkspaceFunction("cholesky")
    f, given = native.function, native.given
    inverse, h = native.scalar_field("inverse"), native.scalar_field("h")
    with f.loop(given.n) as k:
        h[k] = ScalarArray(native.row("U", k))[k]
    with f.loop(given.n) as k:
        row = native.row("U", k)
        entries = ScalarArray(row)
        limit = h[k] * f.value(given.n, DOUBLE) * _EPSILON
        d = entries[k]
        over = f.select(d > limit, 1.0 / f.intrinsic("sqrt", d), float("nan"))
        inverse[k] = over
        g = native.first_group(k)
        start = g * GROUP_SIZE
        lanes = VectorArray(native.lanes(row, g))
        with f.loop(given.groups - g) as i:
            lanes[i] = lanes[i] * f.value(over, DOUBLE4)
        with f.loop(k - start + 1) as i:
            entries[start + i] = 0.0
        with f.loop(given.n - k - 1) as i:
            other = i + k + 1
            u = entries[other]
            with f.if_then(u.not_equal(0.0)):
                native.add(native.row("U", other), 0.0 - u, row, other, given.groups)
    return native.finish()


def _forward_substitution() -> str:
    """b = U⁻ᵀ b"""
    native = WorkspaceFunction("forward", POINTER)
    f, given, (b,) = native.function, native.given, native.arguments
    entries, inverse = ScalarArray(b), native.scalar_field("inverse")
    with f.loop(given.n) as k:
        y = entries[k] * inverse[k]
        entries[k] = y
        with f.if_then(y.not_equal(0.0)):
            native.add(b, 0.0 - y, native.row("U", k), k, given.groups)
    return native.finish()


def _back_substitution() -> str:
    """b = U⁻¹ b"""
    native = WorkspaceFunction("back", POINTER)
    f, given, (b,) = native.function, native.given, native.arguments
    entries, inverse = ScalarArray(b), native.scalar_field("inverse")
    with f.loop(given.n) as i:
        k = given.n - 1 - i
        entries[k] = (entries[k] - native.dot(native.row("U", k), b, k, given.groups)) * inverse[k]
    return native.finish()


def _add_constraint_weight() -> str:
    """M += Σ_j ρ_j a_j a_jᵀ over all rows, ρ_j = max m_ii / |a_j|²."""
    native = WorkspaceFunction("weigh")
    f, given = native.function, native.given
    largest = f.variable(f.value(0.0, DOUBLE))
    with f.loop(given.n) as k:
        largest.value = f.intrinsic("maxnum", largest.value, ScalarArray(native.row("U", k))[k])
    # no mass at all along z: any weight will do
    size = f.select(largest.value > 0.0, largest.value, 1.0)
    rho, zero = native.scalar_field("rho"), f.value(0, INT64)
    with f.loop(given.m) as j:
        row = native.row("B", j)
        square = native.dot(row, row, zero, given.groups)
        weight = f.select(square > 0.0, size / square, 0.0)
        rho[j] = weight
        with f.loop(given.n) as k:
            a = ScalarArray(row)[k]
            with f.if_then(a.not_equal(0.0)):
                native.add(native.row("U", k), weight * a, row, k, given.groups)
    return native.finish()
