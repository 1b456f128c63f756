"""B = Q R by reflections, row after row of A, and what is solved with it: native text.

A row that is weak against those before it, or as such, marks a singular position nearby.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    ScalarArray,
    StackVariable,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, DOUBLE4, GROUP_SIZE, INT64, POINTER
from dalembert.runtime.ode.constrained.workspace_fields import WorkspaceFunction

# sine of the angle between a row and those before it: none at all
_ZERO_ROW: Final = 1e-13
# rounding errors of the coordinates as the rows feel them, and the sine below which they matter
_NOISE: Final = 16.0 * 2.0**-52
WEAK: Final = 0.1


def qr_ir() -> str:
    """The functions `columns`, `largest`, `factor`, `reflect`, `reflect_back`, `size`, `speed`
    and `through_R`.
    """
    parts = (
        _scale_rows(),
        _select_pivot_row(),
        _householder_factor(),
        _apply_Q_transposed(),
        _apply_Q(),
        _row_rotation_rate(),
        max_abs_ir(),
        _mass_norm(),
        _solve_R_transposed(),
    )
    return "\n\n".join(parts)


def _scale_rows() -> str:
    """b_j = s_j U⁻ᵀ a_j for the first `limit` rows in order, 1/s_j being the largest length seen at
    the ends of steps.

    By its own length a row that vanishes at a singular position would look as strong as any other.
    """
    native = WorkspaceFunction("columns", INT64, INT64)
    f, given, (limit, choose) = native.function, native.given, native.arguments
    lengths = native.scalar_field("lengths")
    scale, zero = native.scalar_field("scale"), f.value(0, INT64)
    with f.loop(limit) as place:
        j = native.int_field("order")[place]
        row = native.row("B", j)
        with f.if_then(choose.not_equal(0)):
            _update_row_sums(native, row, j)
        native.call("forward", row)
        square = native.dot(row, row, zero, given.groups)
        with f.if_then(choose.not_equal(0)):
            own = f.intrinsic("sqrt", square)
            lengths[j] = f.select(
                given.choosing.not_equal(0), own, f.intrinsic("maxnum", own, lengths[j])
            )
        factor = f.select(lengths[j] > 0.0, 1.0 / lengths[j], 0.0)
        scale[j] = factor
        lanes = VectorArray(row)
        with f.loop(given.groups) as i:
            lanes[i] = lanes[i] * f.value(factor, DOUBLE4)
    return native.finish()


def _update_row_sums(native: WorkspaceFunction, row: Value, j: Value) -> None:
    """The largest Σ_k |a_jk| so far: what an error of the coordinates does to φ_j at most."""
    f, sizes = native.function, native.scalar_field("sizes")
    total = f.variable(f.value(0.0, DOUBLE))
    with f.loop(native.given.n) as k:
        total.value = total.value + f.intrinsic("fabs", ScalarArray(row)[k])
    native.scalar_field("slopes")[j] = total.value
    sizes[j] = f.intrinsic("maxnum", sizes[j], total.value)


def _select_pivot_row() -> str:
    """Bring the row with the most left over, among those from `place` on, to this place in the
    order.
    """
    native = WorkspaceFunction("largest", INT64, INT64)
    f, given, (place, rank) = native.function, native.given, native.arguments
    order = native.int_field("order")
    best, most = f.variable(place), f.variable(f.value(-1.0, DOUBLE))
    with f.loop(given.m - place) as i:
        row = native.row("B", order[place + i])
        square = native.dot(row, row, rank, given.groups)
        # a row must be better by more than rounding to go before another: the order stays as it is
        # where it does not matter
        with f.if_then(square > most.value * (1.0 + 1e-9)):
            best.value = place + i
            most.value = square
    first, second = order[place], order[best.value]
    order[place] = second
    order[best.value] = first
    return native.finish()


def _reflection(v: ScalarArray, r: Value, square: Value) -> tuple[Value, Value, Value]:
    """v ← v − α e_r with α = ∓|v|; α, 2/|v|² and the length before."""
    f = r.function
    head, length = v[r], f.intrinsic("sqrt", square)
    alpha = f.select(head > 0.0, 0.0 - length, length)
    v[r] = head - alpha
    return alpha, 1.0 / (alpha * (alpha - head)), length


def _reflect_row(native: WorkspaceFunction, other: Value, v: Value, t: Value, r: Value) -> None:
    """A later row of B after the reflection along v, its number r in R."""
    given, row = native.given, native.row("B", other)
    native.add(row, 0.0 - t * native.dot(v, row, r, given.groups), v, r, given.groups)
    ScalarArray(native.column_of_R(other))[r] = ScalarArray(row)[r]
    ScalarArray(row)[r] = 0.0


def _householder_factor() -> str:
    """B = Q R by reflections, row after row in order, or the one with the most left over if
    `choose`; at most `cap` of them.

    A row that lies in the span of those before it is skipped. Returns the rank.
    """
    native = WorkspaceFunction("factor", INT64, INT64)
    f, given, (limit, choose) = native.function, native.given, native.arguments
    order, keep = native.int_field("order"), native.int_field("keep")
    diagonal, tau = native.scalar_field("diagonal"), native.scalar_field("tau")
    rank, weakest = f.variable(f.value(0, INT64)), f.variable(f.value(1.0, DOUBLE))
    with f.loop(limit) as place, f.if_then(rank.value < given.cap):
        with f.if_then(choose.not_equal(0)):
            native.call("largest", place, rank.value)
        r = rank.value
        j = order[place]
        v = native.row("B", j)
        square = native.dot(v, v, r, given.groups)
        with f.if_then(square > _ZERO_ROW * _ZERO_ROW):
            alpha, t, length = _reflection(ScalarArray(v), r, square)
            diagonal[r] = alpha
            weakest.value = f.intrinsic("minnum", weakest.value, length)
            tau[r] = t
            keep[r] = j
            with f.loop(limit - place - 1) as i:
                _reflect_row(native, order[place + 1 + i], v, t, r)
            rank.value = r + 1
    given.rank, given.weakest = rank.value, weakest.value
    f.ret(rank.value)
    return f.text()


def _apply_Q_transposed() -> str:
    """h = Qᵀ h, all n numbers of it."""
    native = WorkspaceFunction("reflect", POINTER)
    f, given, (h,) = native.function, native.given, native.arguments
    with f.loop(given.rank) as k:
        _one_reflection(native, h, k)
    return native.finish()


def _apply_Q() -> str:
    """h = Q h"""
    native = WorkspaceFunction("reflect_back", POINTER)
    f, given, (h,) = native.function, native.given, native.arguments
    with f.loop(given.rank) as i:
        _one_reflection(native, h, given.rank - 1 - i)
    return native.finish()


def _one_reflection(native: WorkspaceFunction, h: Value, k: Value) -> None:
    v = native.row("B", native.int_field("keep")[k])
    t = native.scalar_field("tau")[k] * native.dot(v, h, k, native.given.groups)
    native.add(h, 0.0 - t, v, k, native.given.groups)


def max_abs_ir() -> str:
    """max |x_k| of the numbers at an address."""
    f = FunctionBuilder("size", DOUBLE, POINTER, INT64)
    x, count = f.parameters
    most = f.variable(f.value(0.0, DOUBLE))
    with f.loop(count) as k:
        most.value = f.intrinsic("maxnum", most.value, f.intrinsic("fabs", ScalarArray(x)[k]))
    f.ret(most.value)
    return f.text()


def _row_rotation_rate() -> str:
    """κ = max_j |b_j(t) − b_j(t₀)| / |t − t₀|, t₀ being the end of the step before: how fast the
    rows turn.
    """
    native = WorkspaceFunction("turn", DOUBLE)
    f, given, (t,) = native.function, native.given, native.arguments
    passed = f.intrinsic("fabs", t - given.seen_at)
    with f.if_then(~(passed > 0.0)):
        f.ret(0)
    most = f.variable(f.value(0.0, DOUBLE))
    with f.loop(given.m) as j:
        now, then = VectorArray(native.row("B", j)), VectorArray(native.row("seen", j))
        total = f.variable(f.value(0.0, DOUBLE4))
        with f.loop(given.groups) as i:
            change = now[i] - then[i]
            total.value = f.intrinsic("fmuladd", change, change, total.value)
            then[i] = now[i]
        most.value = f.intrinsic("maxnum", most.value, f.sum_lanes(total.value))
    given.turning, given.seen_at = f.intrinsic("sqrt", most.value) / passed, t
    return native.finish()


def roundoff_level(native: WorkspaceFunction, x: Value, *, accelerations: bool = False) -> Value:
    """ε (1 + κ max |q| / max |z|) |U z| at x = (q, z, t), in γ times κ: what rounding errors of the
    coordinates do to a weak row.

    max |z|/κ is what counts as one unit of the coordinates: a radian, or the length of a bar.
    """
    f, given = native.function, native.given
    level = f.variable(f.value(0.0, DOUBLE))
    with f.if_then(given.weakest < WEAK):
        z = native.scalars_from(x, given.n_q).pointer
        fastest = f.call("size", DOUBLE, z, given.n)
        # before the first step the coordinates count as angles
        turning = f.select(given.turning > 0.0, given.turning, fastest)
        reach = (
            f.select(fastest > 0.0, f.call("size", DOUBLE, x, given.n_q) * turning / fastest, 0.0)
            + 1.0
        )
        level.value = reach * f.call("speed", DOUBLE, x, native.pointer) * _NOISE
        if accelerations:
            level.value = level.value * turning
    return level.value


def _mass_norm() -> str:
    """|U z| = √(zᵀ𝓜z) at x = (q, z, t), by way of h"""
    native = WorkspaceFunction("speed", POINTER, result=DOUBLE)
    f, given, (x,) = native.function, native.given, native.arguments
    h, inverse = native.scalar_field("h"), native.scalar_field("inverse")
    native.clear(given.h, given.groups)
    with f.loop(given.n) as k:
        h[k] = ScalarArray(x)[given.n_q + k]
    total = f.variable(f.value(0.0, DOUBLE))
    with f.loop(given.n) as k:
        y = h[k] / inverse[k] + native.dot(native.row("U", k), given.h, k, given.groups)
        total.value = total.value + y * y
    f.ret(f.intrinsic("sqrt", total.value))
    return f.text()


def _fade_out(value: StackVariable, size: Value, noise: Value, power: Value) -> None:
    """g → g g²/(g² + β²),  β = noise / size^power"""
    f = size.function
    beta = f.variable(noise)
    with f.loop(power):
        beta.value = beta.value / size
    v, b = value.value, beta.value
    square = v * v
    value.value = f.select(b > 0.0, v * (square / (square + b * b)), v)


def _solve_R_transposed() -> str:
    """w = −R⁻ᵀ (s g) for the numbers g of the kept rows, as far as the diagonal of R exceeds
    `least`; zero beyond.

    Near a singular position a row is weak: its diagonal d in R is small, and rounding errors of the
    state, which enter e as they are and γ up to d⁻² times, would be divided by d. What is not above
    this noise β = noise / d^power is faded out, g → g g²/(g² + β²), so that the motion goes
    straight on through the singular position.
    """
    native = WorkspaceFunction("through_R", POINTER, DOUBLE, DOUBLE, INT64)
    f, given, (values, least, noise, power) = native.function, native.given, native.arguments
    w, scale, diagonal = (
        native.scalar_field("w"),
        native.scalar_field("scale"),
        native.scalar_field("diagonal"),
    )
    g, zero = ScalarArray(values), f.value(0, INT64)
    native.clear(given.w, given.row_groups)
    with f.loop(given.rank) as k:
        j = native.int_field("keep")[k]
        d = diagonal[k]
        with f.if_then(f.intrinsic("fabs", d) > least):
            inside = f.call(
                "dot",
                DOUBLE,
                native.column_of_R(j),
                native.lanes(given.w, zero),
                native.first_group(k + GROUP_SIZE - 1),
            )
            value = f.variable(g[j] * scale[j] + inside)
            size = f.intrinsic("fabs", d)
            with f.if_then(size < WEAK):
                _fade_out(value, size, noise, power)
            w[k] = (0.0 - value.value) / d
    return native.finish()
