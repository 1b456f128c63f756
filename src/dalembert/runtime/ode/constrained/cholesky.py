"""𝓜 = UᵀU and what is solved with it: native text."""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, NativeFunction, NumberArray
from dalembert.runtime.numerics.llvm_types import LANE, LANES, POINTER, REAL, WHOLE
from dalembert.runtime.ode.constrained.workspace_fields import ProblemFunction

_EPSILON: Final = 2.0**-52


def cholesky_text() -> str:
    """The functions `dot`, `add`, `cholesky`, `forward`, `back` and `weigh`."""
    parts = (inlined(_dot()), inlined(_add()), _cholesky(), _forward(), _back(), _weigh())
    return "\n\n".join(parts)


def inlined(text: str) -> str:
    """A short function written into those that call it."""
    return text.replace("nounwind {", "alwaysinline nounwind {", 1)


def _dot() -> str:
    """Σ a b over groups of four."""
    f = NativeFunction("dot", REAL, POINTER, POINTER, WHOLE)
    a, b, groups = Array(f.parameters[0]), Array(f.parameters[1]), f.parameters[2]
    total = f.variable(f.value(0.0, LANE))
    with f.loop(groups) as i:
        total.value = f.intrinsic("fmuladd", a[i], b[i], total.value)
    f.give(f.total(total.value))
    return f.text()


def _add() -> str:
    """y += l x over groups of four."""
    f = NativeFunction("add", WHOLE, POINTER, REAL, POINTER, WHOLE)
    y, l, x, groups = Array(f.parameters[0]), f.parameters[1], Array(f.parameters[2]), f.parameters[3]
    factor = f.value(l, LANE)
    with f.loop(groups) as i:
        y[i] = f.intrinsic("fmuladd", factor, x[i], y[i])
    f.give(0)
    return f.text()


def _cholesky() -> str:
    """M = UᵀU in place, 1/u_kk apart and zeros up to the diagonal; a pivot that is only rounding makes everything NaN."""
    native = ProblemFunction("cholesky")
    f, given = native.function, native.given
    inverse, h = native.column("inverse"), native.column("h")
    with f.loop(given.n) as k:
        h[k] = NumberArray(native.row("U", k))[k]
    with f.loop(given.n) as k:
        row = native.row("U", k)
        entries = NumberArray(row)
        limit = h[k] * f.value(given.n, REAL) * _EPSILON
        d = entries[k]
        over = f.choose(d > limit, 1.0 / f.intrinsic("sqrt", d), float("nan"))
        inverse[k] = over
        g = native.first_group(k)
        start = g * LANES
        lanes = Array(native.lanes(row, g))
        with f.loop(given.groups - g) as i:
            lanes[i] = lanes[i] * f.value(over, LANE)
        with f.loop(k - start + 1) as i:
            entries[start + i] = 0.0
        with f.loop(given.n - k - 1) as i:
            other = i + k + 1
            u = entries[other]
            with f.when(u.differs(0.0)):
                native.add(native.row("U", other), 0.0 - u, row, other, given.groups)
    return native.done()


def _forward() -> str:
    """b = U⁻ᵀ b"""
    native = ProblemFunction("forward", POINTER)
    f, given, (b,) = native.function, native.given, native.arguments
    entries, inverse = NumberArray(b), native.column("inverse")
    with f.loop(given.n) as k:
        y = entries[k] * inverse[k]
        entries[k] = y
        with f.when(y.differs(0.0)):
            native.add(b, 0.0 - y, native.row("U", k), k, given.groups)
    return native.done()


def _back() -> str:
    """b = U⁻¹ b"""
    native = ProblemFunction("back", POINTER)
    f, given, (b,) = native.function, native.given, native.arguments
    entries, inverse = NumberArray(b), native.column("inverse")
    with f.loop(given.n) as i:
        k = given.n - 1 - i
        entries[k] = (entries[k] - native.dot(native.row("U", k), b, k, given.groups)) * inverse[k]
    return native.done()


def _weigh() -> str:
    """M += Σ_j ρ_j a_j a_jᵀ over all rows, ρ_j = max m_ii / |a_j|²."""
    native = ProblemFunction("weigh")
    f, given = native.function, native.given
    largest = f.variable(f.value(0.0, REAL))
    with f.loop(given.n) as k:
        largest.value = f.intrinsic("maxnum", largest.value, NumberArray(native.row("U", k))[k])
    # no mass at all along z: any weight will do
    size = f.choose(largest.value > 0.0, largest.value, 1.0)
    rho, zero = native.column("rho"), f.value(0, WHOLE)
    with f.loop(given.m) as j:
        row = native.row("B", j)
        square = native.dot(row, row, zero, given.groups)
        weight = f.choose(square > 0.0, size / square, 0.0)
        rho[j] = weight
        with f.loop(given.n) as k:
            a = NumberArray(row)[k]
            with f.when(a.differs(0.0)):
                native.add(native.row("U", k), weight * a, row, k, given.groups)
    return native.done()
