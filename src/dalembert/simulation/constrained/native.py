"""ż and λ from 𝓜 ż = f + Aᵀλ, A ż + γ = 0, and the way back onto the rows: native text, written once for any system.

    𝓜 = UᵀU,  B = U⁻ᵀAᵀ with columns scaled to length one,  B = Q R by reflections
    ż = U⁻¹ [ (1 − QQᵀ) U⁻ᵀ f − Q R⁻ᵀ γ ],   R λ = −Qᵀ U⁻ᵀ f − R⁻ᵀ γ

B is never multiplied with itself, so that its condition does not enter squared. Where a coordinate moves no mass 𝓜 is
replaced by 𝓜 + Σ_j ρ_j a_j a_jᵀ, which changes nothing on A ż + γ = 0 but λ, by ρ_j a_j·ż. Rows are kept up to a given rank;
which of them is decided by pivoting at the ends of steps, and stays so within a step.

Matrices are kept by rows of a multiple of four numbers, zero beyond the last. A column of B is such a row; where a
reflection has made it a column of R, its first numbers move there and leave zeros behind.
"""

from __future__ import annotations

import functools
from typing import Final

from dalembert.simulation.integrator.kinds import CODE, INTRINSICS, LANE, LANES, POINTER, REAL, TRUTH, WHOLE
from dalembert.simulation.integrator.writer import Array, Column, Function, Operand, Record, Value

EXPORTS: Final = ("rates", "batch", "project", "choose_rows")

# name and kind of each field, in the order of the structure
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    # f(x, p, outs, work), and where each number it gives belongs
    ("fill", POINTER),
    ("fill_work", POINTER),
    ("outs", POINTER),
    ("index", POINTER),
    ("count", WHOLE),
    # q + E δz as a function of (q, δz, t)
    ("move", POINTER),
    ("move_work", POINTER),
    ("p", POINTER),
    ("n_q", WHOLE),
    ("n", WHOLE),
    ("m", WHOLE),
    # groups of four that hold n and m numbers
    ("groups", WHOLE),
    ("row_groups", WHOLE),
    # how many rows may be kept, and how many were
    ("cap", WHOLE),
    ("rank", WHOLE),
    # whether to choose rows anew at every call of `rates`
    ("choosing", WHOLE),
    ("massless", WHOLE),
    ("quaternions", WHOLE),
    ("curved", WHOLE),
    # whether to move the ends of steps onto the rows
    ("holding", WHOLE),
    # Baumgarte's α: γ + 2 α e + α² φ
    ("alpha", REAL),
    ("block", POINTER),
    ("block_groups", WHOLE),
    # parts of the block
    ("qdot", POINTER),
    ("f", POINTER),
    ("gamma", POINTER),
    ("phi", POINTER),
    ("e", POINTER),
    ("U", POINTER),
    ("B", POINTER),
    ("R", POINTER),
    # scratch
    ("x", POINTER),
    ("h", POINTER),
    ("inverse", POINTER),
    ("w", POINTER),
    ("c", POINTER),
    ("diagonal", POINTER),
    ("tau", POINTER),
    ("scale", POINTER),
    ("lengths", POINTER),
    ("rho", POINTER),
    ("order", POINTER),
    ("keep", POINTER),
    ("multipliers", POINTER),
)

_EPSILON: Final = 2.0**-52
# sine of the angle between a row and those before it: none at all, and too small to correct along
_NOTHING: Final = 1e-13
_NEARLY_NOTHING: Final = 1e-5
# residuals of φ: rounding, and what no smaller step can be blamed for
_SMALL: Final = 1e-14
_LARGE: Final = 1e-7
_ROUNDS: Final = 8
# rounding errors of the coordinates as the rows feel them, in units of the last place, and the sine below which they matter
_NOISE: Final = 64.0 * _EPSILON
_WEAK: Final = 0.1
_SPEED_ROUNDS: Final = 3


@functools.cache
def text() -> str:
    """All functions; exports `rates`, `batch`, `project` and `choose_rows`."""
    parts = (
        INTRINSICS,
        _dot(),
        _add(),
        _fill(),
        _cholesky(),
        _forward(),
        _back(),
        _weigh(),
        _columns(),
        _largest(),
        _factor(),
        _reflect(),
        _reflect_back(),
        _size(),
        _speed(),
        _through_R(),
        _prepare(),
        _rates(),
        _batch(),
        _residual(),
        _correction(),
        _positions(),
        _speeds(),
        _project(),
        _choose_rows(),
    )
    return "\n\n".join(parts) + "\n"


class _Whole:
    """a[i]: the i-th whole number behind an address."""

    def __init__(self, pointer: Value) -> None:
        self.pointer = pointer

    def _at(self, i: Value) -> Value:
        return self.pointer.function.emit(POINTER, f"getelementptr i64, {self.pointer}, {i}")

    def __getitem__(self, i: Value) -> Value:
        return self.pointer.function.emit(WHOLE, f"load i64, {self._at(i)}, align 8")

    def __setitem__(self, i: Value, value: Value) -> None:
        self.pointer.function.line(f"store {value}, {self._at(i)}, align 8")


class _Native:
    """A function of a problem in memory: what it is given, its fields, its rows."""

    def __init__(self, name: str, *parameters: str, result: str = WHOLE, exported: bool = False) -> None:
        self.function = Function(name, result, *parameters, POINTER, exported=exported)
        *self.arguments, self.pointer = self.function.parameters
        self.given = Record(self.pointer, FIELDS)

    def column(self, name: str) -> Column:
        """Numbers one by one."""
        return Column(getattr(self.given, name))

    def whole(self, name: str) -> _Whole:
        """Whole numbers one by one."""
        return _Whole(getattr(self.given, name))

    def row(self, name: str, i: Value) -> Value:
        """Row i of U or B."""
        return self.lanes(getattr(self.given, name), i * self.given.groups)

    def column_of_R(self, j: Value) -> Value:
        """The column of R that belongs to row j of A."""
        return self.lanes(self.given.R, j * self.given.row_groups)

    def lanes(self, base: Value, groups: Value) -> Value:
        """So many groups of four further on."""
        return self.function.emit(POINTER, f"getelementptr {LANE}, {base}, {groups}")

    def first_group(self, k: Value) -> Value:
        """The group that holds number k."""
        return self.function.emit(WHOLE, f"lshr {k}, {LANES.bit_length() - 1}")

    def call(self, name: str, *arguments: Operand, kinds: str = "") -> Value:
        """Another of these functions; `kinds` tells apart constants: r a real, otherwise whole."""
        values = [self.function.value(a, REAL if k == "r" else WHOLE) if not isinstance(a, Value) else a for a, k in _paired(arguments, kinds)]
        return self.function.call(name, WHOLE, *values, self.pointer)

    def dot(self, a: Value, b: Value, k: Value, groups: Value) -> Value:
        """Σ a b from the group of number k on."""
        g = self.first_group(k)
        return self.function.call("dot", REAL, self.lanes(a, g), self.lanes(b, g), groups - g)

    def add(self, y: Value, factor: Value, x: Value, k: Value, groups: Value) -> None:
        """y += factor x from the group of number k on."""
        g = self.first_group(k)
        self.function.call("add", WHOLE, self.lanes(y, g), factor, self.lanes(x, g), groups - g)

    def copy(self, count: Value, source: Column, target: Column) -> None:
        """target = source."""
        with self.function.loop(count) as i:
            target[i] = source[i]

    def minus(self, x: Value) -> Value:
        """−x"""
        return self.function.value(0.0, REAL) - x

    def either(self, a: Value, b: Value) -> Value:
        """a or b"""
        return self.function.emit(TRUTH, f"or {a}, {b.name}")

    def done(self) -> str:
        """Return 0; the text."""
        self.function.give(0)
        return self.function.text()


def _paired(arguments: tuple[Operand, ...], kinds: str) -> list[tuple[Operand, str]]:
    return list(zip(arguments, kinds.ljust(len(arguments)), strict=True))


def _dot() -> str:
    """Σ a b over groups of four."""
    f = Function("dot", REAL, POINTER, POINTER, WHOLE)
    a, b, groups = Array(f.parameters[0]), Array(f.parameters[1]), f.parameters[2]
    total = f.variable(f.value(0.0, LANE))
    with f.loop(groups) as i:
        total.value = f.intrinsic("fmuladd", a[i], b[i], total.value)
    f.give(f.total(total.value))
    return f.text()


def _add() -> str:
    """y += l x over groups of four."""
    f = Function("add", WHOLE, POINTER, REAL, POINTER, WHOLE)
    y, l, x, groups = Array(f.parameters[0]), f.parameters[1], Array(f.parameters[2]), f.parameters[3]
    factor = f.value(l, LANE)
    with f.loop(groups) as i:
        y[i] = f.intrinsic("fmuladd", factor, x[i], y[i])
    f.give(0)
    return f.text()


def _fill() -> str:
    """q̇, f, γ, φ, e, the upper half of M and A at x, each in its place; γ with Baumgarte's terms."""
    native = _Native("fill", POINTER)
    f, given, (x,) = native.function, native.given, native.arguments
    f.line(f"call void {given.fill.name}({x}, {given.p}, {given.outs}, {given.fill_work})")
    block, lanes = Column(given.block), Array(given.block)
    with f.loop(given.block_groups) as i:
        lanes[i] = f.value(0.0, LANE)
    outs, index = native.column("outs"), native.whole("index")
    with f.loop(given.count) as s:
        block[index[s]] = outs[s]
    with f.when(given.alpha.differs(0.0)):
        gamma, e, phi = native.column("gamma"), native.column("e"), native.column("phi")
        with f.loop(given.m) as j:
            gamma[j] = gamma[j] + given.alpha * (e[j] * 2.0 + given.alpha * phi[j])
    return native.done()


def _cholesky() -> str:
    """M = UᵀU in place, 1/u_kk apart and zeros up to the diagonal; a pivot that is only rounding makes everything NaN."""
    native = _Native("cholesky")
    f, given = native.function, native.given
    inverse, h = native.column("inverse"), native.column("h")
    with f.loop(given.n) as k:
        h[k] = Column(native.row("U", k))[k]
    with f.loop(given.n) as k:
        row = native.row("U", k)
        entries = Column(row)
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
                native.add(native.row("U", other), native.minus(u), row, other, given.groups)
    return native.done()


def _forward() -> str:
    """b = U⁻ᵀ b"""
    native = _Native("forward", POINTER)
    f, given, (b,) = native.function, native.given, native.arguments
    entries, inverse = Column(b), native.column("inverse")
    with f.loop(given.n) as k:
        y = entries[k] * inverse[k]
        entries[k] = y
        with f.when(y.differs(0.0)):
            native.add(b, native.minus(y), native.row("U", k), k, given.groups)
    return native.done()


def _back() -> str:
    """b = U⁻¹ b"""
    native = _Native("back", POINTER)
    f, given, (b,) = native.function, native.given, native.arguments
    entries, inverse = Column(b), native.column("inverse")
    with f.loop(given.n) as i:
        k = given.n - 1 - i
        entries[k] = (entries[k] - native.dot(native.row("U", k), b, k, given.groups)) * inverse[k]
    return native.done()


def _weigh() -> str:
    """M += Σ_j ρ_j a_j a_jᵀ over all rows, ρ_j = max m_ii / |a_j|²."""
    native = _Native("weigh")
    f, given = native.function, native.given
    largest = f.variable(f.value(0.0, REAL))
    with f.loop(given.n) as k:
        largest.value = f.intrinsic("maxnum", largest.value, Column(native.row("U", k))[k])
    # no mass at all along z: any weight will do
    size = f.choose(largest.value > 0.0, largest.value, 1.0)
    rho, zero = native.column("rho"), f.value(0, WHOLE)
    with f.loop(given.m) as j:
        row = native.row("B", j)
        square = native.dot(row, row, zero, given.groups)
        weight = f.choose(square > 0.0, size / square, 0.0)
        rho[j] = weight
        with f.loop(given.n) as k:
            a = Column(row)[k]
            with f.when(a.differs(0.0)):
                native.add(native.row("U", k), weight * a, row, k, given.groups)
    return native.done()


def _columns() -> str:
    """b_j = s_j U⁻ᵀ a_j for the first `limit` rows in order, 1/s_j being the largest length seen at the ends of steps.

    By its own length a row that vanishes at a singular position would look as strong as any other.
    """
    native = _Native("columns", WHOLE, WHOLE)
    f, given, (limit, choose) = native.function, native.given, native.arguments
    lengths = native.column("lengths")
    scale, zero = native.column("scale"), f.value(0, WHOLE)
    with f.loop(limit) as place:
        j = native.whole("order")[place]
        row = native.row("B", j)
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


def _largest() -> str:
    """Bring the row with the most left over, among those from `place` on, to this place in the order."""
    native = _Native("largest", WHOLE, WHOLE)
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
    native = _Native("factor", WHOLE, WHOLE)
    f, given, (limit, choose) = native.function, native.given, native.arguments
    order, keep = native.whole("order"), native.whole("keep")
    diagonal, tau = native.column("diagonal"), native.column("tau")
    rank = f.variable(f.value(0, WHOLE))
    with f.loop(limit) as place, f.when(rank.value < given.cap):
        with f.when(choose.differs(0)):
            native.call("largest", place, rank.value)
        r = rank.value
        j = order[place]
        v = native.row("B", j)
        square = native.dot(v, v, r, given.groups)
        with f.when(square > _NOTHING * _NOTHING):
            entries = Column(v)
            head, length = entries[r], f.intrinsic("sqrt", square)
            alpha = f.choose(head > 0.0, native.minus(length), length)
            entries[r] = head - alpha
            t = 1.0 / (alpha * (alpha - head))
            diagonal[r] = alpha
            tau[r] = t
            keep[r] = j
            with f.loop(limit - place - 1) as i:
                other = order[place + 1 + i]
                row = native.row("B", other)
                native.add(row, native.minus(t * native.dot(v, row, r, given.groups)), v, r, given.groups)
                Column(native.column_of_R(other))[r] = Column(row)[r]
                Column(row)[r] = 0.0
            rank.value = r + 1
    given.rank = rank.value
    f.give(rank.value)
    return f.text()


def _reflect() -> str:
    """h = Qᵀ h, all n numbers of it."""
    native = _Native("reflect", POINTER)
    f, given, (h,) = native.function, native.given, native.arguments
    with f.loop(given.rank) as k:
        _one_reflection(native, h, k)
    return native.done()


def _reflect_back() -> str:
    """h = Q h"""
    native = _Native("reflect_back", POINTER)
    f, given, (h,) = native.function, native.given, native.arguments
    with f.loop(given.rank) as i:
        _one_reflection(native, h, given.rank - 1 - i)
    return native.done()


def _one_reflection(native: _Native, h: Value, k: Value) -> None:
    v = native.row("B", native.whole("keep")[k])
    t = native.column("tau")[k] * native.dot(v, h, k, native.given.groups)
    native.add(h, native.minus(t), v, k, native.given.groups)


def _size() -> str:
    """max |x_k| of so many numbers behind an address."""
    f = Function("size", REAL, POINTER, WHOLE)
    x, count = f.parameters
    most = f.variable(f.value(0.0, REAL))
    with f.loop(count) as k:
        most.value = f.intrinsic("maxnum", most.value, f.intrinsic("fabs", Column(x)[k]))
    f.give(most.value)
    return f.text()


def _noise(native: _Native, x: Value) -> Value:
    """ε (1 + max |q|) |U z| at x = (q, z, t): what rounding errors of the coordinates do to e."""
    f, given = native.function, native.given
    reach = f.call("size", REAL, x, given.n_q) + 1.0
    return reach * f.call("speed", REAL, x, native.pointer) * _NOISE


def _speed() -> str:
    """|U z| = √(zᵀ𝓜z) at x = (q, z, t), by way of h"""
    native = _Native("speed", POINTER, result=REAL)
    f, given, (x,) = native.function, native.given, native.arguments
    h, inverse, lanes = native.column("h"), native.column("inverse"), Array(given.h)
    with f.loop(given.groups) as i:
        lanes[i] = f.value(0.0, LANE)
    with f.loop(given.n) as k:
        h[k] = Column(x)[given.n_q + k]
    total = f.variable(f.value(0.0, REAL))
    with f.loop(given.n) as k:
        y = h[k] / inverse[k] + native.dot(native.row("U", k), given.h, k, given.groups)
        total.value = total.value + y * y
    f.give(f.intrinsic("sqrt", total.value))
    return f.text()


def _through_R() -> str:
    """w = −R⁻ᵀ (s g) for the numbers g of the kept rows, as far as the diagonal of R exceeds `least`; zero beyond.

    Near a singular position a row is weak: its diagonal d in R is small, and rounding errors of the state, amplified by d⁻¹ in
    e and by d⁻² in γ, would be divided by d once more. What is not above this noise β = noise / d^power is faded out,
    g → g g²/(g² + β²), so that the motion goes straight on through the singular position.
    """
    native = _Native("through_R", POINTER, REAL, REAL, WHOLE)
    f, given, (values, least, noise, power) = native.function, native.given, native.arguments
    w, scale, diagonal = native.column("w"), native.column("scale"), native.column("diagonal")
    g, zero, lanes = Column(values), f.value(0, WHOLE), Array(given.w)
    with f.loop(given.row_groups) as i:
        lanes[i] = f.value(0.0, LANE)
    with f.loop(given.rank) as k:
        j = native.whole("keep")[k]
        d = diagonal[k]
        with f.when(f.intrinsic("fabs", d) > least):
            inside = f.call("dot", REAL, native.column_of_R(j), native.lanes(given.w, zero), native.first_group(k + LANES - 1))
            value = f.variable(g[j] * scale[j] + inside)
            size = f.intrinsic("fabs", d)
            with f.when(size < _WEAK):
                beta = f.variable(noise)
                with f.loop(power):
                    beta.value = beta.value / size
                v, b = value.value, beta.value
                square = v * v
                value.value = f.choose(b > 0.0, v * (square / (square + b * b)), v)
            w[k] = native.minus(value.value) / d
    return native.done()


def _prepare() -> str:
    """The factors of M and of the rows at x, with rows chosen anew or as they are; returns the rank."""
    native = _Native("prepare", POINTER, WHOLE)
    f, given, (x, choose) = native.function, native.given, native.arguments
    native.call("fill", x)
    with f.when(given.massless.differs(0)):
        native.call("weigh")
    native.call("cholesky")
    limit = f.choose(choose.differs(0), given.m, given.cap)
    native.call("columns", limit, choose)
    f.give(native.call("factor", limit, choose))
    return f.text()


def _rates() -> str:
    """q̇, ż into y and λ into the multipliers, at x = (q, z, t)."""
    f = Function("rates", "void", POINTER, POINTER, POINTER, POINTER, exported=True)
    native = _Native.__new__(_Native)
    native.function, (x, p, y, native.pointer) = f, f.parameters
    given = native.given = Record(native.pointer, FIELDS)
    given.p = p
    rank = native.call("prepare", x, given.choosing)
    native.copy(given.n_q, native.column("qdot"), Column(y))
    # U⁻ᵀ f, turned by Qᵀ
    h = given.f
    native.call("forward", h)
    native.call("reflect", h)
    z = f.emit(POINTER, f"getelementptr {REAL}, {x}, {given.n_q}")
    noise = _noise(native, x) * f.call("size", REAL, z, given.n)
    native.call("through_R", given.gamma, 0.0, noise, 2, kinds=" r")
    entries, w, c = Column(h), native.column("w"), native.column("c")
    with f.loop(rank) as k:
        c[k] = w[k] - entries[k]
        entries[k] = w[k]
    native.call("reflect_back", h)
    native.call("back", h)
    native.copy(given.n, entries, Column(f.emit(POINTER, f"getelementptr {REAL}, {y}, {given.n_q}")))
    _multipliers(native, rank)
    f.line("ret void")
    return f.text()


def _multipliers(native: _Native, rank: Value) -> None:
    """λ = s R⁻¹ c; of rows that are not kept zero; less ρ_j a_j·ż, which is −ρ_j γ_j, where there are massless coordinates."""
    f, given = native.function, native.given
    lam, c, scale = native.column("multipliers"), native.column("c"), native.column("scale")
    with f.loop(given.m) as j:
        lam[j] = native.column("rho")[j] * native.column("gamma")[j]
    with f.loop(rank) as i:
        k = rank - 1 - i
        j = native.whole("keep")[k]
        value = c[k] / native.column("diagonal")[k]
        column = native.column_of_R(j)
        with f.loop(k) as s:
            c[s] = c[s] - value * Column(column)[s]
        lam[j] = lam[j] + value * scale[j]


def _batch() -> str:
    """q̇, ż and λ of many states (q, z, t) in rows."""
    f = Function("batch", WHOLE, POINTER, POINTER, POINTER, WHOLE, POINTER, exported=True)
    X, p, Y, count, pointer = f.parameters
    given = Record(pointer, FIELDS)
    n_in, n_out = given.n_q + given.n + 1, given.n_q + given.n
    width = n_out + given.m
    before = given.multipliers
    with f.loop(count) as i:
        x = f.emit(POINTER, f"getelementptr {REAL}, {X}, {n_in * i}")
        y = f.emit(POINTER, f"getelementptr {REAL}, {Y}, {width * i}")
        given.multipliers = f.emit(POINTER, f"getelementptr {REAL}, {y}, {n_out}")
        f.line(f"call void @rates({x}, {p}, {y}, {pointer})")
    given.multipliers = before
    f.give(0)
    return f.text()


def _residual() -> str:
    """max |φ_j| over the kept rows, or over all."""
    native = _Native("residual", WHOLE, result=REAL)
    f, given, (every,) = native.function, native.given, native.arguments
    phi, most = native.column("phi"), f.variable(f.value(0.0, REAL))

    def widen(j: Value) -> None:
        size = f.intrinsic("fabs", phi[j])
        # a NaN is the largest of all
        most.value = f.choose(size <= most.value, most.value, size)

    with f.when(every.differs(0)):
        with f.loop(given.m) as j:
            widen(j)
        f.give(most.value)
    diagonal = native.column("diagonal")
    with f.loop(given.rank) as k, f.when(f.intrinsic("fabs", diagonal[k]) > _NEARLY_NOTHING):
        widen(native.whole("keep")[k])
    f.give(most.value)
    return f.text()


def _correction() -> str:
    """δz = −U⁻¹ Q R⁻ᵀ g into h: the shortest δz with A δz = −g, where the rows are clearly independent."""
    native = _Native("correction", POINTER, REAL, WHOLE)
    f, given, (g, noise, power) = native.function, native.given, native.arguments
    native.call("through_R", g, _NEARLY_NOTHING, noise, power, kinds=" r")
    lanes, h, w = Array(given.h), native.column("h"), native.column("w")
    with f.loop(given.groups) as i:
        lanes[i] = f.value(0.0, LANE)
    native.copy(given.rank, w, h)
    native.call("reflect_back", given.h)
    native.call("back", given.h)
    return native.done()


def _load_state(native: _Native, t: Value, y: Value) -> Column:
    """x = (q, z, t)"""
    given = native.given
    x, width = native.column("x"), given.n_q + given.n
    native.copy(width, Column(y), x)
    x[width] = t
    return x


def _shift(native: _Native, y: Value, *, by_h: bool) -> None:
    """q = q + E δz with the δz in h, or with none, which leaves quaternions of length one."""
    f, given = native.function, native.given
    x, h = native.column("x"), native.column("h")
    with f.loop(given.n) as r:
        x[given.n_q + r] = h[r] if by_h else f.value(0.0, REAL)
    f.line(f"call void {given.move.name}({given.x}, {given.p}, {y}, {given.move_work})")


def _positions() -> str:
    """φ(q, t) = 0 by Newton steps; 0, or 1 where there is no such place nearby."""
    native = _Native("positions", REAL, POINTER)
    f, given, (t, y) = native.function, native.given, native.arguments
    before = f.variable(f.value(float("inf"), REAL))
    rounds = f.variable(f.value(0, WHOLE))
    with f.forever():
        _load_state(native, t, y)
        native.call("prepare", given.x, 1)
        r = f.call("residual", REAL, f.value(0, WHOLE), native.pointer)
        # as small as rounding allows: no Newton step halves it
        settled = native.either(r <= _SMALL, native.either(r * 2.0 >= before.value, rounds.value >= _ROUNDS))
        with f.when(settled):
            every = f.call("residual", REAL, f.value(1, WHOLE), native.pointer)
            with f.when(every <= _LARGE):
                f.give(0)
            f.give(1)
        with f.when(~(r < float("inf"))):
            f.give(1)
        before.value = r
        rounds.value = rounds.value + 1
        native.call("correction", given.phi, 0.0, 0, kinds=" r")
        _shift(native, y, by_h=True)
    return f.text()


def _speeds() -> str:
    """z = z + δz so that e(q, z, t) = 0, with the factors at hand."""
    native = _Native("speeds", REAL, POINTER)
    f, given, (t, y) = native.function, native.given, native.arguments
    z = Column(f.emit(POINTER, f"getelementptr {REAL}, {y}, {given.n_q}"))
    h = native.column("h")
    noise = _noise(native, given.x)
    native.call("correction", given.e, noise, 1)
    with f.loop(given.n) as r:
        z[r] = z[r] + h[r]
    # a row that is curved in z takes more than one step
    with f.when(given.curved.differs(0)), f.loop(f.value(_SPEED_ROUNDS, WHOLE)):
        _load_state(native, t, y)
        native.call("prepare", given.x, 0)
        native.call("correction", given.e, noise, 1)
        with f.loop(given.n) as r:
            z[r] = z[r] + h[r]
    return native.done()


def _project() -> str:
    """The end of a step: rows chosen anew, and if they are to be held, positions and speeds brought back onto them."""
    native = _Native("project", REAL, POINTER, result=CODE, exported=True)
    f, given, (t, y) = native.function, native.given, native.arguments
    with f.when(~given.holding.differs(0)):
        _load_state(native, t, y)
        native.call("prepare", given.x, 1)
        f.give(0)
    code = native.call("positions", t, y)
    with f.when(code.differs(0)):
        f.give(1)
    native.call("speeds", t, y)
    with f.when(given.quaternions.differs(0)):
        _load_state(native, t, y)
        _shift(native, y, by_h=False)
    f.give(0)
    return f.text()


def _choose_rows() -> str:
    """Choose rows at a state (q, z, t); returns the rank."""
    native = _Native("choose_rows", POINTER, exported=True)
    f, (x,) = native.function, native.arguments
    f.give(native.call("prepare", x, 1))
    return f.text()
