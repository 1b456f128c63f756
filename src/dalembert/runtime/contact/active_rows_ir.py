"""K λ = r over the rows that act, by loops: native text whose length does not grow with the rows.

    K = h A + (1 − h) 1 + E,   A = J H,   u̇ = c + H λ

h is 1 where a row holds, E has the friction of what slips. Rows of open contacts have neither, and
λ = 0. The elimination keeps the given order of the rows, as `solve_regularized` does: its pivots
are guards.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dalembert.runtime.numerics.ir_builder import FunctionBuilder, ScalarArray, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER

# a part of A_kk by which rows that depend on one another give way, and how often r − K λ is solved
REGULARIZATION: Final = 1e-9
_REFINEMENTS: Final = 2
# a table begins with these numbers: rows, speeds, entries of E, coordinates, numbers before the
# speeds in the state, entries of W; then come the places of its patterns
HEADER: Final = ("m", "n_u", "n_e", "n_q", "n_first", "n_w")
PATTERNS: Final = (
    "j_first", "j_speed", "h_first", "h_speed", "e_row", "e_column", "a_first", "a_row",
    "w_row", "w_speed",
)  # fmt: skip
# blocks of entries, in their order
BLOCKS: Final = {
    "rates": ("J", "H", "hold", "right", "E", "first", "c"),
    "projection": ("J", "H", "hold", "right", "closed", "gap", "W", "first", "residual"),
    "quantities": ("J", "H", "b", "v", "contacts"),
}
_PER_CONTACT: Final = 4


def module_ir(prefix: str, kind: str) -> str:
    """`prefix.apply(table, entries, results, room)` of rates, the projection or the quantities."""
    shared = (_scatter, _product)
    solver = (_eliminate, _substitute, _find_active, _build, _solve)
    own = {"rates": _rates, "projection": _projection, "quantities": _quantities}[kind]
    parts = (*shared, *(() if kind == "quantities" else solver), own)
    return "\n\n".join(part(prefix) for part in parts)


class _Room(NamedTuple):
    """The numbers of the rows that act, a column of H, K and its L and U, λ, and the residual
    r − K λ.
    """

    active: VectorArray
    column: ScalarArray
    K: ScalarArray
    U: ScalarArray
    b: ScalarArray
    x: ScalarArray
    left: ScalarArray


class _RowFunction(FunctionBuilder):
    """A native function whose first argument is the table of patterns."""

    def __init__(self, prefix: str, name: str, *parameters: str) -> None:
        super().__init__(f"{prefix}.{name}", INT64, POINTER, *parameters)
        self.prefix, self.table, self.arguments = prefix, self.parameters[0], self.parameters[1:]
        table = VectorArray(self.table, INT64)
        numbers = (table[k] for k in range(len(HEADER)))
        self.m, self.n_u, self.n_e, self.n_q, self.n_first, self.n_w = numbers
        self.patterns = {
            pattern: VectorArray(self.place(self.table, table[len(HEADER) + k]), INT64)
            for k, pattern in enumerate(PATTERNS)
        }

    def place(self, base: Value, n: Value) -> Value:
        return self.emit(POINTER, f"getelementptr {DOUBLE}, {base}, {n}")

    def numbers(self, *places: Value) -> list[ScalarArray]:
        return [ScalarArray(x) for x in places]

    def room(self, work: Value) -> _Room:
        """The parts of the work space."""
        m, at, arrays = self.m, self.m, {}
        sizes = {"column": self.n_u, "K": m * m, "U": m * m, "b": m, "x": m, "left": m}
        for name, size in sizes.items():
            arrays[name] = ScalarArray(self.place(work, at))
            at = at + size
        return _Room(VectorArray(work, INT64), **arrays)

    def blocks(self, kind: str, entries: Value, **sizes: Value) -> dict[str, Value]:
        """The address of each block of entries."""
        known = {
            "J": self.patterns["j_first"][self.m],
            "H": self.patterns["h_first"][self.m],
            "E": self.n_e,
            "W": self.n_w,
            "first": self.n_first,
        }
        found, at = {}, entries
        for name in BLOCKS[kind]:
            found[name] = at
            at = self.place(at, sizes.get(name) or known.get(name) or self.m)
        return found

    def own(self, name: str, *arguments: Value) -> Value:
        return self.call(f"{self.prefix}.{name}", INT64, self.table, *arguments)

    def finish(self, value: Value | int = 0) -> str:
        self.ret(value)
        return self.text()


def room_size(m: int, n_u: int) -> int:
    """Numbers that `solve_rows` needs."""
    return 6 * m + n_u + 2 * m * m


def _eliminate(prefix: str) -> str:
    """U ← L and U of n rows, in their order."""
    f = _RowFunction(prefix, "eliminate", POINTER, INT64)
    U, n = ScalarArray(f.arguments[0]), f.arguments[1]
    with f.loop(n) as k, f.loop(n - k - 1) as below:
        i = k + 1 + below
        with f.if_then(U[i * n + k].not_equal(0.0)):
            part = U[i * n + k] / U[k * n + k]
            U[i * n + k] = part
            with f.loop(n - k - 1) as right:
                j = k + 1 + right
                U[i * n + j] = U[i * n + j] - part * U[k * n + j]
    return f.finish()


def _substitute(prefix: str) -> str:
    """y ← U⁻¹ L⁻¹ y"""
    f = _RowFunction(prefix, "substitute", POINTER, POINTER, INT64)
    (U, y), n = f.numbers(*f.arguments[:2]), f.arguments[2]
    with f.loop(n) as i, f.loop(i) as k:
        y[i] = y[i] - U[i * n + k] * y[k]
    with f.loop(n) as back:
        k = n - 1 - back
        with f.loop(back) as right:
            j = k + 1 + right
            y[k] = y[k] - U[k * n + j] * y[j]
        y[k] = y[k] / U[k * n + k]
    return f.finish()


def _scatter(prefix: str) -> str:
    """The column of H of one row, zero elsewhere."""
    f = _RowFunction(prefix, "scatter", POINTER, INT64, POINTER)
    (H, column), j = f.numbers(f.arguments[0], f.arguments[2]), f.arguments[1]
    with f.loop(f.n_u) as k:
        column[k] = 0.0
    first, speed = f.patterns["h_first"], f.patterns["h_speed"]
    with f.loop(first[j + 1] - first[j]) as k:
        column[speed[first[j] + k]] = H[first[j] + k]
    return f.finish()


def _product(prefix: str) -> str:
    """Row i of J times a column; the result is bit-cast to a whole number."""
    f = _RowFunction(prefix, "product", POINTER, INT64, POINTER)
    (J, column), i = f.numbers(f.arguments[0], f.arguments[2]), f.arguments[1]
    first, speed = f.patterns["j_first"], f.patterns["j_speed"]
    total = f.variable(f.value(0.0, DOUBLE))
    with f.loop(first[i + 1] - first[i]) as k:
        at = first[i] + k
        total.value = total.value + J[at] * column[speed[at]]
    return f.finish(f.emit(INT64, f"bitcast {total.value} to {INT64}"))


def _find_active(prefix: str) -> str:
    """The rows that act, in their order; their number."""
    f = _RowFunction(prefix, "find_active", POINTER, POINTER, POINTER, POINTER)
    hold, r, extra, work = f.arguments
    (h, right, E), active = f.numbers(hold, r, extra), f.room(work).active
    row, zero = f.patterns["e_row"], f.value(0, INT64)
    n_e = f.select(extra.not_equal(0), f.n_e, zero)
    with f.loop(f.m) as i:
        acts = h[i].not_equal(0.0) | right[i].not_equal(0.0)
        active[i] = f.emit(INT64, f"zext {acts} to {INT64}")
    with f.loop(n_e) as k, f.if_then(E[k].not_equal(0.0)):
        active[row[k]] = 1
    count = f.variable(zero)
    with f.loop(f.m) as i, f.if_then(active[i].not_equal(0)):
        active[count.value] = i
        count.value = count.value + 1
    return f.finish(count.value)


def _build(prefix: str) -> str:
    """K and U = K + ε h A_kk of n rows that act; the place of each in `left` until it is needed."""
    f = _RowFunction(prefix, "build", *[POINTER] * 5, INT64)
    J, H, hold, extra, work, n = f.arguments
    room = f.room(work)
    active, K, U = room.active, room.K, room.U
    place, h = VectorArray(room.left.pointer, INT64), ScalarArray(hold)
    with f.loop(f.m) as i:
        place[i] = -1
    with f.loop(n) as b:
        place[active[b]] = b
        f.own("scatter", H, active[b], room.column.pointer)
        with f.loop(n) as a:
            i = active[a]
            bits = f.own("product", J, i, room.column.pointer)
            K[a * n + b] = h[i] * f.emit(DOUBLE, f"bitcast {bits} to {DOUBLE}")
    with f.loop(n * n) as k:
        U[k] = K[k]
    with f.loop(n) as a:
        at = a * n + a
        free = 1.0 - h[active[a]]
        U[at] = K[at] * (1.0 + REGULARIZATION) + free
        K[at] = K[at] + free
    _add_friction(f, extra, place, n, (K, U))
    return f.finish()


def _add_friction(
    f: _RowFunction,
    extra: Value,
    place: VectorArray,
    n: Value,
    matrices: tuple[ScalarArray, ScalarArray],
) -> None:
    """K ← K + E, U ← U + E, at the places of the rows that act."""
    E, row, column = ScalarArray(extra), f.patterns["e_row"], f.patterns["e_column"]
    n_e = f.select(extra.not_equal(0), f.n_e, f.value(0, INT64))
    with f.loop(n_e) as k, f.if_then(E[k].not_equal(0.0)):
        a, b = place[row[k]], place[column[k]]
        with f.if_then(b >= 0):
            for X in matrices:
                X[a * n + b] = X[a * n + b] + E[k]


def _solve(prefix: str) -> str:
    """λ of all rows, the pivots of the elimination (1 where a row does not act), u + H λ."""
    f = _RowFunction(prefix, "solve_rows", *[POINTER] * 9)
    J, H, hold, r, extra, lam_at, pivot_at, u_at, work = f.arguments
    room, right = f.room(work), ScalarArray(r)
    n = f.own("find_active", hold, r, extra, work)
    f.own("build", J, H, hold, extra, work, n)
    f.own("eliminate", room.U.pointer, n)
    with f.loop(n) as a:
        room.x[a] = right[room.active[a]]
    f.own("substitute", room.U.pointer, room.x.pointer, n)
    with f.loop(f.value(_REFINEMENTS, INT64)):
        _refine(f, room, right, n)
    lam, pivot, u, h_of = f.numbers(lam_at, pivot_at, u_at, H)
    with f.loop(f.m) as i:
        lam[i] = 0.0
        pivot[i] = 1.0
    with f.loop(n) as a:
        i = room.active[a]
        lam[i] = room.x[a]
        pivot[i] = room.U[a * n + a]
        _add_motion(f, room, (a, i), h_of, u)
    return f.finish()


def _refine(f: _RowFunction, room: _Room, right: ScalarArray, n: Value) -> None:
    """λ ← λ + U⁻¹ L⁻¹ (r − K λ)"""
    K, x, left = room.K, room.x, room.left
    with f.loop(n) as a:
        left[a] = right[room.active[a]]
        with f.loop(n) as b:
            left[a] = left[a] - K[a * n + b] * x[b]
    f.own("substitute", room.U.pointer, left.pointer, n)
    with f.loop(n) as a:
        x[a] = x[a] + left[a]


def _add_motion(
    f: _RowFunction, room: _Room, row: tuple[Value, Value], H: ScalarArray, u: ScalarArray
) -> None:
    """u ← u + H_i λ_i of a row: its place among those that act, and its number i."""
    a, i = row
    first, speed = f.patterns["h_first"], f.patterns["h_speed"]
    with f.loop(first[i + 1] - first[i]) as k:
        at = first[i] + k
        u[speed[at]] = u[speed[at]] + H[at] * room.x[a]


def _rates(prefix: str) -> str:
    """q̇ and what else precedes the speeds, u̇ = c + H λ, λ, and the pivots."""
    f = _RowFunction(prefix, "apply", *[POINTER] * 3)
    entries, y_at, work = f.arguments
    at = f.blocks("rates", entries)
    y, first, c = f.numbers(y_at, at["first"], at["c"])
    with f.loop(f.n_first) as i:
        y[i] = first[i]
    u = f.place(y_at, f.n_first)
    lam = f.place(u, f.n_u)
    with f.loop(f.n_u) as i:
        y[f.n_first + i] = c[i]
    given = (at[name] for name in ("J", "H", "hold", "right", "E"))
    f.own("solve_rows", *given, lam, f.place(lam, f.m), u, work)
    return f.finish()


def _projection(prefix: str) -> str:
    """δq = δq₀ + W H ν with A ν = −g of closed gaps, δu = H ν with A ν = −v of rows that hold, and
    the residual.
    """
    f = _RowFunction(prefix, "apply", *[POINTER] * 3)
    entries, y_at, work = f.arguments
    at = f.blocks("projection", entries, residual=f.value(1, INT64))
    y, first, W, residual = f.numbers(y_at, at["first"], at["W"], at["residual"])
    u_at, lam = f.place(y_at, f.n_first), f.place(work, f.value(0, INT64))
    room = f.place(lam, f.m * 2)
    u, none = ScalarArray(u_at), f.value(0, POINTER)
    with f.loop(f.n_first) as i:
        y[i] = first[i]

    def solve(hold: str, right: str) -> None:
        with f.loop(f.n_u) as i:
            u[i] = 0.0
        pivots = f.place(lam, f.m)
        f.own("solve_rows", at["J"], at["H"], at[hold], at[right], none, lam, pivots, u_at, room)

    solve("closed", "gap")
    row, speed = f.patterns["w_row"], f.patterns["w_speed"]
    with f.loop(f.n_w) as k:
        y[row[k]] = y[row[k]] + W[k] * u[speed[k]]
    solve("hold", "right")
    y[f.n_first + f.n_u] = residual[0]
    return f.finish()


def _quantities(prefix: str) -> str:
    """A, b, H, v, four numbers of each contact, and zeros for normal forces of constraint rows."""
    f = _RowFunction(prefix, "apply", *[POINTER] * 3)
    entries, y_at, column = f.arguments
    m, contacts = f.m, f.n_q
    at = f.blocks("quantities", entries)
    A, H, b, v, rest = f.numbers(y_at, at["H"], at["b"], at["v"], at["contacts"])
    H_at = m * m + m
    v_at = H_at + f.n_u * m
    end = v_at + m + contacts * _PER_CONTACT
    with f.loop(end + contacts * m) as k:
        A[k] = 0.0
    with f.loop(m) as j:
        f.own("scatter", at["H"], j, column)
        _write_column(f, j, at["J"], column, A)
        A[m * m + j] = b[j]
        A[v_at + j] = v[j]
        _write_motion(f, j, H, A, H_at)
    with f.loop(contacts * _PER_CONTACT) as k:
        A[v_at + m + k] = rest[k]
    return f.finish()


def _write_column(f: _RowFunction, j: Value, J: Value, column: Value, A: ScalarArray) -> None:
    """A_ij = J_i H_j for the rows i that interact with row j."""
    first, row = f.patterns["a_first"], f.patterns["a_row"]
    with f.loop(first[j + 1] - first[j]) as k:
        i = row[first[j] + k]
        bits = f.own("product", J, i, column)
        A[i * f.m + j] = f.emit(DOUBLE, f"bitcast {bits} to {DOUBLE}")


def _write_motion(f: _RowFunction, j: Value, H: ScalarArray, y: ScalarArray, start: Value) -> None:
    """The entries of H of one row, in their places of the full matrix."""
    first, speed = f.patterns["h_first"], f.patterns["h_speed"]
    with f.loop(first[j + 1] - first[j]) as k:
        place = first[j] + k
        y[start + speed[place] * f.m + j] = H[place]
