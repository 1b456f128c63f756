"""B = Q R by reflections, row after row of A, and what is solved with it: native text.

A row that is weak against those before it, or as such, marks a singular position nearby.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, NativeFunction, NumberArray, Value
from dalembert.runtime.numerics.llvm_types import LANE, LANES, POINTER, REAL, WHOLE
from dalembert.runtime.ode.constrained.workspace_fields import ProblemFunction

# sine of the angle between a row and those before it: none at all
_NOTHING: Final = 1e-13
# rounding errors of the coordinates as the rows feel them, and the sine below which they matter
_NOISE: Final = 16.0 * 2.0**-52
WEAK: Final = 0.1


def orthogonal_text() -> str:
    """The functions `columns`, `largest`, `factor`, `reflect`, `reflect_back`, `size`, `speed` and `through_R`."""
    parts = (_columns(), _largest(), _factor(), _reflect(), _reflect_back(), _turn(), size(), _speed(), _through_R())
    return "\n\n".join(parts)


def _columns() -> str:
    """b_j = s_j U⁻ᵀ a_j for the first `limit` rows in order, 1/s_j being the largest length seen at the ends of steps.

    By its own length a row that vanishes at a singular position would look as strong as any other.
    """
    native = ProblemFunction("columns", WHOLE, WHOLE)
    f, given, (limit, choose) = native.function, native.given, native.arguments
    lengths = native.column("lengths")
    scale, zero = native.column("scale"), f.value(0, WHOLE)
    with f.loop(limit) as place:
        j = native.whole("order")[place]
        row = native.row("B", j)
        with f.when(choose.differs(0)):
            _widest(native, row, j)
        native.call("forward", row)
        square = native.dot(row, row, zero, given.groups)
        with f.when(choose.differs(0)):
            own = f.intrinsic("sqrt", square)
            lengths[j] = f.choose(given.choosing.differs(0), own, f.intrinsic("maxnum", own, lengths[j]))
        factor = f.choose(lengths[j] > 0.0, 1.0 / lengths[j], 0.0)
        scale[j] = factor
        lanes = Array(row)
        with f.loop(given.groups) as i:
            lanes[i] = lanes[i] * f.value(factor, LANE)
    return native.done()


def _widest(native: ProblemFunction, row: Value, j: Value) -> None:
    """The largest Σ_k |a_jk| so far: what an error of the coordinates does to φ_j at most."""
    f, sizes = native.function, native.column("sizes")
    total = f.variable(f.value(0.0, REAL))
    with f.loop(native.given.n) as k:
        total.value = total.value + f.intrinsic("fabs", NumberArray(row)[k])
    native.column("slopes")[j] = total.value
    sizes[j] = f.intrinsic("maxnum", sizes[j], total.value)


def _largest() -> str:
    """Bring the row with the most left over, among those from `place` on, to this place in the order."""
    native = ProblemFunction("largest", WHOLE, WHOLE)
    f, given, (place, rank) = native.function, native.given, native.arguments
    order = native.whole("order")
    best, most = f.variable(place), f.variable(f.value(-1.0, REAL))
    with f.loop(given.m - place) as i:
        row = native.row("B", order[place + i])
        square = native.dot(row, row, rank, given.groups)
        # a row must be better by more than rounding to go before another: the order stays as it is where it does not matter
        with f.when(square > most.value * (1.0 + 1e-9)):
            best.value = place + i
            most.value = square
    first, second = order[place], order[best.value]
    order[place] = second
    order[best.value] = first
    return native.done()


def _factor() -> str:
    """B = Q R by reflections, row after row in order, or the one with the most left over if `choose`; at most `cap` of them.

    A row that lies in the span of those before it is passed over. Returns the rank.
    """
    native = ProblemFunction("factor", WHOLE, WHOLE)
    f, given, (limit, choose) = native.function, native.given, native.arguments
    order, keep = native.whole("order"), native.whole("keep")
    diagonal, tau = native.column("diagonal"), native.column("tau")
    rank, weakest = f.variable(f.value(0, WHOLE)), f.variable(f.value(1.0, REAL))
    with f.loop(limit) as place, f.when(rank.value < given.cap):
        with f.when(choose.differs(0)):
            native.call("largest", place, rank.value)
        r = rank.value
        j = order[place]
        v = native.row("B", j)
        square = native.dot(v, v, r, given.groups)
        with f.when(square > _NOTHING * _NOTHING):
            entries = NumberArray(v)
            head, length = entries[r], f.intrinsic("sqrt", square)
            alpha = f.choose(head > 0.0, 0.0 - length, length)
            entries[r] = head - alpha
            t = 1.0 / (alpha * (alpha - head))
            diagonal[r] = alpha
            weakest.value = f.intrinsic("minnum", weakest.value, length)
            tau[r] = t
            keep[r] = j
            with f.loop(limit - place - 1) as i:
                other = order[place + 1 + i]
                row = native.row("B", other)
                native.add(row, 0.0 - t * native.dot(v, row, r, given.groups), v, r, given.groups)
                NumberArray(native.column_of_R(other))[r] = NumberArray(row)[r]
                NumberArray(row)[r] = 0.0
            rank.value = r + 1
    given.rank, given.weakest = rank.value, weakest.value
    f.give(rank.value)
    return f.text()


def _reflect() -> str:
    """h = Qᵀ h, all n numbers of it."""
    native = ProblemFunction("reflect", POINTER)
    f, given, (h,) = native.function, native.given, native.arguments
    with f.loop(given.rank) as k:
        _one_reflection(native, h, k)
    return native.done()


def _reflect_back() -> str:
    """h = Q h"""
    native = ProblemFunction("reflect_back", POINTER)
    f, given, (h,) = native.function, native.given, native.arguments
    with f.loop(given.rank) as i:
        _one_reflection(native, h, given.rank - 1 - i)
    return native.done()


def _one_reflection(native: ProblemFunction, h: Value, k: Value) -> None:
    v = native.row("B", native.whole("keep")[k])
    t = native.column("tau")[k] * native.dot(v, h, k, native.given.groups)
    native.add(h, 0.0 - t, v, k, native.given.groups)


def size() -> str:
    """max |x_k| of so many numbers behind an address."""
    f = NativeFunction("size", REAL, POINTER, WHOLE)
    x, count = f.parameters
    most = f.variable(f.value(0.0, REAL))
    with f.loop(count) as k:
        most.value = f.intrinsic("maxnum", most.value, f.intrinsic("fabs", NumberArray(x)[k]))
    f.give(most.value)
    return f.text()


def _turn() -> str:
    """κ = max_j |b_j(t) − b_j(t₀)| / |t − t₀|, t₀ being the end of the step before: how fast the rows turn."""
    native = ProblemFunction("turn", REAL)
    f, given, (t,) = native.function, native.given, native.arguments
    passed = f.intrinsic("fabs", t - given.seen_at)
    with f.when(~(passed > 0.0)):
        f.give(0)
    most = f.variable(f.value(0.0, REAL))
    with f.loop(given.m) as j:
        now, then = Array(native.row("B", j)), Array(native.row("seen", j))
        total = f.variable(f.value(0.0, LANE))
        with f.loop(given.groups) as i:
            change = now[i] - then[i]
            total.value = f.intrinsic("fmuladd", change, change, total.value)
            then[i] = now[i]
        most.value = f.intrinsic("maxnum", most.value, f.total(total.value))
    given.turning, given.seen_at = f.intrinsic("sqrt", most.value) / passed, t
    return native.done()


def noise(native: ProblemFunction, x: Value, *, accelerations: bool = False) -> Value:
    """ε (1 + κ max |q| / max |z|) |U z| at x = (q, z, t), in γ times κ: what rounding errors of the coordinates do to a weak row.

    max |z|/κ is what counts as one unit of the coordinates: a radian, or the length of a bar.
    """
    f, given = native.function, native.given
    found = f.variable(f.value(0.0, REAL))
    with f.when(given.weakest < WEAK):
        z = native.numbers_from(x, given.n_q).pointer
        fastest = f.call("size", REAL, z, given.n)
        # before the first step the coordinates count as angles
        turning = f.choose(given.turning > 0.0, given.turning, fastest)
        reach = f.choose(fastest > 0.0, f.call("size", REAL, x, given.n_q) * turning / fastest, 0.0) + 1.0
        found.value = reach * f.call("speed", REAL, x, native.pointer) * _NOISE
        if accelerations:
            found.value = found.value * turning
    return found.value


def _speed() -> str:
    """|U z| = √(zᵀ𝓜z) at x = (q, z, t), by way of h"""
    native = ProblemFunction("speed", POINTER, result=REAL)
    f, given, (x,) = native.function, native.given, native.arguments
    h, inverse = native.column("h"), native.column("inverse")
    native.clear(given.h, given.groups)
    with f.loop(given.n) as k:
        h[k] = NumberArray(x)[given.n_q + k]
    total = f.variable(f.value(0.0, REAL))
    with f.loop(given.n) as k:
        y = h[k] / inverse[k] + native.dot(native.row("U", k), given.h, k, given.groups)
        total.value = total.value + y * y
    f.give(f.intrinsic("sqrt", total.value))
    return f.text()


def _through_R() -> str:
    """w = −R⁻ᵀ (s g) for the numbers g of the kept rows, as far as the diagonal of R exceeds `least`; zero beyond.

    Near a singular position a row is weak: its diagonal d in R is small, and rounding errors of the state, which stand in e as
    they are and in γ as much as d⁻² times, would be divided by d. What is not above this noise β = noise / d^power is faded
    out, g → g g²/(g² + β²), so that the motion goes straight on through the singular position.
    """
    native = ProblemFunction("through_R", POINTER, REAL, REAL, WHOLE)
    f, given, (values, least, noise, power) = native.function, native.given, native.arguments
    w, scale, diagonal = native.column("w"), native.column("scale"), native.column("diagonal")
    g, zero = NumberArray(values), f.value(0, WHOLE)
    native.clear(given.w, given.row_groups)
    with f.loop(given.rank) as k:
        j = native.whole("keep")[k]
        d = diagonal[k]
        with f.when(f.intrinsic("fabs", d) > least):
            inside = f.call("dot", REAL, native.column_of_R(j), native.lanes(given.w, zero), native.first_group(k + LANES - 1))
            value = f.variable(g[j] * scale[j] + inside)
            size = f.intrinsic("fabs", d)
            with f.when(size < WEAK):
                beta = f.variable(noise)
                with f.loop(power):
                    beta.value = beta.value / size
                v, b = value.value, beta.value
                square = v * v
                value.value = f.choose(b > 0.0, v * (square / (square + b * b)), v)
            w[k] = (0.0 - value.value) / d
    return native.done()
