"""A x = b and c + Σ_k a_k z_k = 0 on the tape: the one place where equations are eliminated.
Keywords: Gaussian elimination, L U, L D Lᵀ, Gauss–Jordan.

Both algorithms repeat one operation, row − l · pivot row.

`Factorization`: A = L U of a square matrix with pivots on its diagonal, or A = L D Lᵀ of a
symmetric one with half of the operations, and A x = b by substitution. A function chooses the order
of the pivots while rows are eliminated: as given, fewest entries first, or only those that do not
vanish. Pivots are not compared at run time: who factors knows that they do not vanish, or watches
them.

`Elimination`: Gauss–Jordan for equations that may be fewer than their unknowns or depend on one
another; it expresses what it eliminates by the unknowns that stay free. A pivot is a number if
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
from itertools import combinations
from typing import Final, Literal

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints, provably_zero
from dalembert.symbolic.algebra.expression_graph import is_monomial, symbols_of
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products
from dalembert.symbolic.algebra.tape import Tape

Entries = dict[int, int]
Row = tuple[int, Entries]
# beyond, determinants have too many terms
LARGEST_BLOCK: Final = 3
# the rows as far as they are eliminated → the pivots, one after the other
PivotOrder = Callable[[Sequence[Mapping[int, int]]], Iterable[int]]


def subtract_multiple(t: Tape, row: Entries, factor: int, other: Mapping[int, int]) -> None:
    """a_j − l b_j for every entry b_j of the other row."""
    for j, b in other.items():
        row[j] = t.sub(row.get(j, t.zero), t.mul(factor, b))


# ---- factorization -----------------------------------------------------------------------------


def given_order(rows: Sequence[Mapping[int, int]]) -> Iterable[int]:
    """1, 2, …, n"""
    return range(len(rows))


def fewest_entries_first(rows: Sequence[Mapping[int, int]]) -> Iterator[int]:
    """Least degree: the row with the fewest entries in columns that are not eliminated."""
    waiting = set(range(len(rows)))
    while waiting:
        k = min(waiting, key=lambda k: (len(rows[k]), k))
        waiting.remove(k)
        yield k


def nonvanishing_order(t: Tape) -> PivotOrder:
    """As given, without those that were shown to vanish identically: for A ≥ 0."""

    def order(rows: Sequence[Mapping[int, int]]) -> Iterator[int]:
        for k, row in enumerate(rows):
            if not provably_zero(t, [row.get(k, t.zero)])[0]:
                yield k

    return order


@dataclass
class Factorization:
    """A = L U, or A = L D Lᵀ of a symmetric A, whose full rows {column: node} are given.

    `substitution` is the order of x_k − Σ_j a_kj x_j in the last step: term by term from the first
    or from the last unknown, or the sum first. These differ by rounding alone.
    """

    tape: Tape
    rows: Sequence[Mapping[int, int]]
    symmetric: bool = False
    order: PivotOrder = given_order
    substitution: Literal["first", "last", "sum"] = "first"
    # by the number of what is eliminated: its column of L, its row of U (of Lᵀ), its pivot
    lower: dict[int, Entries] = field(init=False, default_factory=dict)
    upper: dict[int, Entries] = field(init=False, default_factory=dict)
    pivots: Entries = field(init=False, default_factory=dict)
    D_inverse: Entries = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        t = self.tape
        rows = [{k: a for k, a in row.items() if a != t.zero} for row in self.rows]
        if self.symmetric:
            # an entry whose mirror image is the zero node is zero, in whatever way it is written
            rows = [{k: a for k, a in row.items() if j in rows[k]} for j, row in enumerate(rows)]
        open_rows = list(range(len(rows)))
        for k in self.order(rows):
            open_rows.remove(k)
            self._eliminate(rows, k, open_rows)

    def _eliminate(self, rows: list[Entries], k: int, open_rows: Sequence[int]) -> None:
        t = self.tape
        pivot = self.pivots[k] = rows[k].get(k, t.zero)
        across = {j: a for j, a in rows[k].items() if j != k}
        if self.symmetric:
            inverse = self.D_inverse[k] = t.div(t.one, pivot)
            column = {i: t.mul(a, inverse) for i, a in across.items()}
            self.lower[k] = self.upper[k] = column
        else:
            column = {i: t.div(rows[i][k], pivot) for i in open_rows if k in rows[i]}
            self.lower[k], self.upper[k] = column, across
        for i, l in column.items():
            del rows[i][k]
            if not self.symmetric:
                subtract_multiple(t, rows[i], l, across)
                continue
            half = {j: a for j, a in across.items() if j <= i}
            subtract_multiple(t, rows[i], l, half)
            for j in half:
                rows[j][i] = rows[i][j]

    def forward(self, b: Mapping[int, int]) -> Entries:
        """L⁻¹ b"""
        y = dict(b)
        for k, column in self.lower.items():
            if k in y:
                subtract_multiple(self.tape, y, y[k], column)
        return y

    def backward(self, b: Mapping[int, int]) -> Entries:
        """L⁻ᵀ b of a symmetric A, else U⁻¹ b; unknowns without a pivot are zero."""
        t = self.tape
        x = dict.fromkeys(range(len(self.rows)), t.zero)
        for k in reversed(self.pivots):
            x[k] = self._subtract_known(b[k], self.upper[k], x)
            if not self.symmetric:
                x[k] = t.div(x[k], self.pivots[k])
        return x

    def _subtract_known(self, b: int, row: Entries, x: Entries) -> int:
        t = self.tape
        if self.substitution == "sum":
            return t.sub(b, sum_of_products(t, ((a, x[j]) for j, a in row.items())))
        for j in sorted(row, reverse=self.substitution == "last"):
            b = t.sub(b, t.mul(row[j], x[j]))
        return b

    def solve(self, b: Sequence[int]) -> list[int]:
        """x with A x = b."""
        y = self.forward(dict(enumerate(b)))
        if self.symmetric:
            y = {k: self.tape.mul(v, self.D_inverse[k]) for k, v in y.items()}
        x = self.backward(y)
        return [x[k] for k in range(len(b))]


def factor_symmetric(t: Tape, A: Sequence[Sequence[int]]) -> Factorization:
    """A = L D Lᵀ in the given order, from the lower half of A."""
    rows = [{k: A[max(j, k)][min(j, k)] for k in range(len(A))} for j in range(len(A))]
    return Factorization(t, rows, symmetric=True, substitution="last")


def solve_regularized(
    t: Tape, K: Sequence[Sequence[int]], right: Sequence[int], S: Sequence[int]
) -> tuple[list[int], list[int]]:
    """x with K x = r in the given order, and the pivots.

    Rows may depend on one another where several contacts hold (a box on two corners): then
    (K + S) x = r with a small diagonal S first, and the residual of r twice more, which leads to
    the solution that is shortest measured by S.
    """
    rows = [dict(enumerate(row)) for row in K]
    for k, s in enumerate(S):
        rows[k][k] = t.add(rows[k][k], s)
    factor = Factorization(t, rows)
    x = factor.solve(right)
    for _ in range(2 if S else 0):
        residual = dict(enumerate(right))
        for k, row in enumerate(K):
            for a, value in zip(row, x, strict=True):
                residual[k] = t.sub(residual[k], t.mul(a, value))
        step = factor.solve([residual[k] for k in range(len(x))])
        x = [t.add(a, b) for a, b in zip(x, step, strict=True)]
    return x, [factor.pivots[k] for k in range(len(K))]


# ---- Gauss–Jordan ------------------------------------------------------------------------------


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
            new = {j: a for j, a in coefficients.items() if j != k}
            rest = {j: a for j, a in row.items() if j != k}
            subtract_multiple(t, new, factor, rest)
            for j in rest:
                if new[j] == t.zero or self._vanishes(new[j]):
                    del new[j]
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
