"""x = (x₁, …, x_n) and A x: columns and sparse rows of expressions, with the operators that
formulas are written in.

And c + Σ_k a_k z_k = 0 solved, sparsely, with pivots that do not vanish. A pivot is a number if
there is one, else an expression free of the coordinates, else one that depends on them; among
equals the shortest row. Whether an entry vanishes is decided exactly: a monomial does not; anything
else is evaluated at a random point of a prime field.

A pivot that depends on the coordinates may vanish at some of them although the equations can be
solved there, as cos φ does in ẋ cos φ + ẏ sin φ = u, ẏ cos φ − ẋ sin φ = 0. Up to three such
equations in as many unknowns are therefore solved by determinants, which vanish only where the
equations cannot be solved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import combinations, compress
from typing import Final, TypeVar, overload

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints, provably_zero
from dalembert.symbolic.algebra.expression_graph import gradient, is_monomial, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

Key = TypeVar("Key")


class Column:
    """Expressions of one tape, one below the other: `+ - *` as usual, `x @ y` is Σ x_k y_k."""

    __slots__ = ("nodes", "tape")

    def __init__(self, tape: Tape, nodes: Iterable[int]) -> None:
        self.tape, self.nodes = tape, tuple(nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[int]:
        return iter(self.nodes)

    def __add__(self, other: Column) -> Column:
        return self._elementwise(self.tape.add, other)

    def __sub__(self, other: Column) -> Column:
        return self._elementwise(self.tape.sub, other)

    def _elementwise(self, rule: Callable[[int, int], int], other: Column) -> Column:
        return Column(self.tape, [rule(a, b) for a, b in zip(self.nodes, other.nodes, strict=True)])

    def __neg__(self) -> Column:
        return self.map(self.tape.neg)

    def __matmul__(self, other: Column) -> Scalar:
        return Scalar(
            self.tape, sum_of_products(self.tape, zip(self.nodes, other.nodes, strict=True))
        )

    def map(self, rule: Callable[[int], int]) -> Column:
        """The same rule for every entry: a derivative, a substitution."""
        return Column(self.tape, map(rule, self.nodes))

    def first(self, count: int) -> Column:
        """The upper part."""
        return Column(self.tape, self.nodes[:count])


class SparseMatrix:
    """A matrix by its rows {column: entry}, zeros left out: `A @ x`, `A @ B`, `A.T`, `+ -`."""

    __slots__ = ("rows", "tape", "width")

    def __init__(self, tape: Tape, rows: Iterable[Mapping[int, int]], width: int) -> None:
        self.tape, self.rows, self.width = tape, tuple(rows), width

    @classmethod
    def from_dense(cls, tape: Tape, dense: Iterable[Sequence[int]], width: int) -> SparseMatrix:
        """From rows that are written in full."""
        return cls(
            tape, ({k: a for k, a in enumerate(row) if a != tape.zero} for row in dense), width
        )

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __matmul__(self, other: Column) -> Column: ...
    @overload
    def __matmul__(self, other: SparseMatrix) -> SparseMatrix: ...
    def __matmul__(self, other: Column | SparseMatrix) -> Column | SparseMatrix:
        t = self.tape
        if isinstance(other, Column):
            return Column(
                t,
                (
                    sum_of_products(t, ((a, other.nodes[k]) for k, a in row.items()))
                    for row in self.rows
                ),
            )
        turned = other.T
        return SparseMatrix.from_dense(
            t, ((turned @ Column(t, self._full(row))).nodes for row in self.rows), other.width
        )

    @property
    def T(self) -> SparseMatrix:
        """Aᵀ"""
        columns: list[dict[int, int]] = [{} for _ in range(self.width)]
        for i, row in enumerate(self.rows):
            for k, a in row.items():
                columns[k][i] = a
        return SparseMatrix(self.tape, columns, len(self.rows))

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        return self._elementwise(self.tape.add, other)

    def __sub__(self, other: SparseMatrix) -> SparseMatrix:
        return self._elementwise(self.tape.sub, other)

    def _elementwise(self, rule: Callable[[int, int], int], other: SparseMatrix) -> SparseMatrix:
        return SparseMatrix.from_dense(
            self.tape,
            (
                [rule(x, y) for x, y in zip(a, b, strict=True)]
                for a, b in zip(self.dense(), other.dense(), strict=True)
            ),
            self.width,
        )

    def map(self, rule: Callable[[int], int]) -> SparseMatrix:
        """The same rule for every entry; it must leave zeros alone."""
        return SparseMatrix(
            self.tape, ({k: rule(a) for k, a in row.items()} for row in self.rows), self.width
        )

    def first(self, count: int) -> SparseMatrix:
        """The left part."""
        return SparseMatrix(
            self.tape, ({k: a for k, a in row.items() if k < count} for row in self.rows), count
        )

    def _full(self, row: Mapping[int, int]) -> list[int]:
        return [row.get(k, self.tape.zero) for k in range(self.width)]

    def dense(self) -> tuple[tuple[int, ...], ...]:
        """Every entry, zeros too."""
        return tuple(tuple(self._full(row)) for row in self.rows)


def sum_of_products(t: Tape, pairs: Iterable[tuple[int, int]], start: int | None = None) -> int:
    """Σ x y, or c + Σ x y"""
    total = t.zero if start is None else start
    for x, y in pairs:
        total = t.add(total, t.mul(x, y))
    return total


def sum_scalars(tape: Tape, terms: Iterable[Scalar]) -> Scalar:
    """Σ x"""
    return sum(terms, Scalar(tape, tape.zero))


def sum_by_key(t: Tape, pairs: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """{key: Σ of what came with it}"""
    sums: dict[Key, int] = {}
    for key, x in pairs:
        sums[key] = t.add(sums[key], x) if key in sums else x
    return sums


def drop_zero_entries(t: Tape, entries: Mapping[Key, int]) -> dict[Key, int]:
    """The entries but for those that were shown to vanish identically."""
    unclear = [e for e in entries.values() if e != t.zero and not is_monomial(t, e)]
    vanishing = {t.zero, *compress(unclear, provably_zero(t, unclear) if unclear else ())}
    return {key: e for key, e in entries.items() if e not in vanishing}


def gradient_column(e: Scalar, x: Column) -> Column:
    """∂e/∂x"""
    return Column(x.tape, gradient(x.tape, {e.i: x.tape.one}, x.nodes))


def jacobian(c: Column, x: Column) -> SparseMatrix:
    """∂c_i/∂x_k"""
    t = c.tape
    return SparseMatrix.from_dense(t, (gradient(t, {e: t.one}, x.nodes) for e in c.nodes), len(x))


Row = tuple[int, dict[int, int]]
# beyond, determinants have too many terms
LARGEST_BLOCK: Final = 3


@dataclass
class Elimination:
    """Gauss–Jordan elimination; `solved[k]` is the form c + Σ a_j z_j that z_k equals minus of."""

    tape: Tape
    rows: list[Row]
    prefer: Callable[[int], int]
    moving: set[int]
    # divisors that depend on the coordinates: where one vanishes the solution is singular
    moving_pivots: list[int] = field(init=False, default_factory=list)
    # of nodes: every pivot is compared with all others again and again
    _zeros: dict[int, bool] = field(init=False, default_factory=dict)
    _costs: dict[int, int] = field(init=False, default_factory=dict)

    def run(self) -> tuple[dict[int, Row], list[int]]:
        """({unknown: its row with that unknown removed}, indices of rows found dependent)"""
        open_rows = list(range(len(self.rows)))
        solved: dict[int, int] = {}
        dependent: list[int] = []
        while open_rows:
            best = self._pivot(open_rows, solved)
            if best is None:
                dependent = open_rows
                break
            i, k = best
            block = self._find_block(i, k, open_rows) or {k: i}
            for unknown, row in block.items():
                open_rows.remove(row)
                solved[unknown] = row
                self._eliminate(row, unknown)
        return {k: self._without(self.rows[i], k) for k, i in solved.items()}, dependent

    def _pivot(self, open_rows: Sequence[int], solved: dict[int, int]) -> tuple[int, int] | None:
        best: tuple[tuple[int, int, int, int], int, int] | None = None
        for i in open_rows:
            coefficients = self.rows[i][1]
            for k, a in list(coefficients.items()):
                if k in solved:
                    continue
                if self._vanishes(a):
                    del coefficients[k]
                    continue
                rank = (self._pivot_cost(a), self.prefer(k), len(coefficients), i)
                if best is None or rank < best[0]:
                    best = rank, i, k
        return None if best is None else (best[1], best[2])

    def _vanishes(self, a: int) -> bool:
        zero = self._zeros.get(a)
        if zero is None:
            zero = self._zeros[a] = (
                not is_monomial(self.tape, a) and self._trials.at(0, lambda point: point(a)) == 0
            )
        return zero

    @cached_property
    def _trials(self) -> RandomPoints:
        return RandomPoints(self.tape, 1)

    def _pivot_cost(self, a: int) -> int:
        cost = self._costs.get(a)
        if cost is None:
            varies = any(s in self.moving for s in symbols_of(self.tape, (a,)))
            cost = self._costs[a] = 0 if self.tape.value(a) is not None else 2 if varies else 1
        return cost

    def _record_pivot(self, divisor: int) -> None:
        if self._pivot_cost(divisor) == 2:
            self.moving_pivots.append(divisor)

    def _eliminate(self, i: int, k: int) -> None:
        t = self.tape
        c, row = self.rows[i]
        p = row[k]
        self._record_pivot(p)
        if p != t.one:
            c, row = t.div(c, p), {j: t.div(a, p) for j, a in row.items()}
            self.rows[i] = (c, row)
        for other in range(len(self.rows)):
            factor = self.rows[other][1].get(k)
            if other == i or factor is None:
                continue
            d, coefficients = self.rows[other]
            new = dict(coefficients)
            for j, a in row.items():
                if j == k:
                    del new[k]
                    continue
                total = t.sub(new.get(j, t.zero), t.mul(factor, a))
                if total == t.zero or self._vanishes(total):
                    new.pop(j, None)
                else:
                    new[j] = total
            self.rows[other] = (t.sub(d, t.mul(factor, c)), new)

    # ---- by determinants ---------------------------------------------------------------------

    def _find_block(self, i: int, k: int, open_rows: Sequence[int]) -> dict[int, int]:
        """{unknown: its row} of the fewest equations that determine their unknowns together with
        equation i, solved; none if too many.
        """
        if self._pivot_cost(self.rows[i][1][k]) < 2:
            return {}
        short = sorted(self._coupled_rows(self._coupled_rows({i}, open_rows), open_rows) - {i})
        for size in range(2, LARGEST_BLOCK + 1):
            for others in combinations(short, size - 1):
                unknowns = set(self.rows[i][1]).union(*(self.rows[r][1] for r in others))
                if len(unknowns) == size:
                    block = dict(zip(sorted(unknowns), sorted((i, *others)), strict=True))
                    if self._solve_block(block):
                        return block
        return {}

    def _coupled_rows(self, members: set[int], rows: Sequence[int]) -> set[int]:
        """The rows that share an unknown with one of the members, of those with few unknowns."""
        unknowns = {k for r in members for k in self.rows[r][1]}
        return {
            r
            for r in rows
            if len(self.rows[r][1]) <= LARGEST_BLOCK and not unknowns.isdisjoint(self.rows[r][1])
        }

    def _solve_block(self, block: dict[int, int]) -> bool:
        """z = −A⁻¹ c with A⁻¹ = adj A / det A, unless det A vanishes."""
        t = self.tape
        A = [[self.rows[r][1].get(k, t.zero) for k in block] for r in block.values()]
        minors = [[self._cofactor(A, r, k) for k in range(len(A))] for r in range(len(A))]
        det = sum_of_products(t, zip(A[0], minors[0], strict=True))
        if self._vanishes(det):
            return False
        det = next(
            (unit for unit in (t.one, t.neg(t.one)) if provably_zero(t, [t.sub(det, unit)])[0]), det
        )
        self._record_pivot(det)
        c = [self.rows[r][0] for r in block.values()]
        for place, (k, row) in enumerate(block.items()):
            z = t.div(
                sum_of_products(t, ((minor[place], x) for minor, x in zip(minors, c, strict=True))),
                det,
            )
            self.rows[row] = z, {k: t.one}
        return True

    def _cofactor(self, A: list[list[int]], r: int, k: int) -> int:
        """(−1)^(r+k) times the determinant without row r and column k."""
        t = self.tape
        rest = [[a for j, a in enumerate(row) if j != k] for i, row in enumerate(A) if i != r]
        minor = (
            rest[0][0]
            if len(rest) == 1
            else t.sub(t.mul(rest[0][0], rest[1][1]), t.mul(rest[0][1], rest[1][0]))
        )
        return minor if (r + k) % 2 == 0 else t.neg(minor)

    @staticmethod
    def _without(row: Row, k: int) -> Row:
        return row[0], {j: a for j, a in row[1].items() if j != k}


def solve_rows(
    t: Tape, rows: Iterable[Row], prefer: Callable[[int], int] = lambda _: 0
) -> dict[int, int]:
    """z with c + Σ a z = 0 for all rows; what they leave open is zero."""
    solved, _ = Elimination(t, [(c, dict(a)) for c, a in rows], prefer, t.moving).run()
    return {k: t.neg(c) for k, (c, _) in solved.items()}
