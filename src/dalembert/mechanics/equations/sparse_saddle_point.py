"""ż and λ of M ż = f + Aᵀλ, A ż + γ = 0, and the shortest δz with A δz = −g, by unrolled sparse
elimination.

    M = L D Lᵀ,  W = L⁻¹ Aᵀ,  S = Wᵀ D⁻¹ W = L' D' L'ᵀ,  S λ = −γ − Wᵀ D⁻¹ L⁻¹ f,  Lᵀ ż = D⁻¹ (L⁻¹ f
    + W λ) S μ = −g,  Lᵀ δz = D⁻¹ W μ

The order is that of least degree: what has the fewest neighbours left is eliminated next, so that a
row of n loops takes O(n) operations. Nothing is exchanged at run time. The size of each reduced
pivot shows where that is unsafe, and another solver must be used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from dalembert.symbolic.algebra.elimination import Factorization, fewest_entries_first
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products
from dalembert.symbolic.algebra.tape import Tape

# this number of unrolled operations takes less time than loops over full rows, zeros or not
_MIN_BUDGET: Final = 500
# more must save so much
_MIN_SAVINGS: Final = 8


class _TooManyOperations(Exception):
    """A matrix with too few zeros."""


class MassFactor(Protocol):
    """M = L D Lᵀ with rows and columns of L in the order of the elimination."""

    D_inverse: dict[int, int]

    def forward(self, b: Mapping[int, int]) -> dict[int, int]:
        """L⁻¹ b"""
        ...

    def backward(self, b: Mapping[int, int]) -> dict[int, int]:
        """L⁻ᵀ b"""
        ...


class SaddleSolution(NamedTuple):
    """ż and λ, −A⁺φ and −A⁺e, s_jj, and what shows where these are unsafe: 1/d'_j and
    Σ (M_kk/d_k)².
    """

    zdot: tuple[int, ...]
    multipliers: tuple[int, ...]
    position_step: tuple[int, ...]
    velocity_step: tuple[int, ...]
    row_norms_squared: tuple[int, ...]
    safety: tuple[int, ...]


def _factor_sparse(t: Tape, rows: Sequence[Mapping[int, int]], budget: int) -> Factorization:
    """L D Lᵀ of a symmetric matrix in the order of least degree; at most the given number of
    updates.
    """

    def order(remaining: Sequence[Mapping[int, int]]) -> Iterator[int]:
        left = budget
        for k in fewest_entries_first(remaining):
            neighbours = len(remaining[k]) - (k in remaining[k])
            left -= neighbours * (neighbours + 1) // 2
            if left < 0:
                raise _TooManyOperations
            yield k

    return Factorization(t, rows, symmetric=True, order=order, substitution="sum")


def factor_saddle_point(
    tape: Tape,
    M: Sequence[Mapping[int, int]],
    A: Sequence[Mapping[int, int]],
    budget: int | None = None,
) -> SparseSaddlePoint | None:
    """The factors on the tape; None where there are no rows, or many unknowns and few zeros."""
    if not A:
        return None
    budget = _operation_budget(len(M), len(A)) if budget is None else budget
    try:
        factor = _factor_sparse(tape, M, budget)
        return SparseSaddlePoint(tape, factor, _diagonal(M), A, budget)
    except _TooManyOperations:
        return None


def saddle_point_of_factor(
    tape: Tape, factor: MassFactor, diagonal: Sequence[int], A: Sequence[Mapping[int, int]]
) -> SparseSaddlePoint | None:
    """The same with a factor of M that is known, and the diagonal of M."""
    try:
        return SparseSaddlePoint(
            tape, factor, diagonal, A, _operation_budget(len(diagonal), len(A))
        )
    except _TooManyOperations:
        return None


def _operation_budget(n: int, m: int) -> int:
    return max(_MIN_BUDGET, (n**3 // 6 + n * n * m // 2 + m * m * n) // _MIN_SAVINGS)


def _diagonal(M: Sequence[Mapping[int, int]]) -> list[int]:
    return [row[k] for k, row in enumerate(M)]


class SparseSaddlePoint:
    """M = L D Lᵀ and S = A M⁻¹ Aᵀ = L' D' L'ᵀ, and what is solved with them.

    lengths      s_jj, the squares of the rows in the metric of M
    over_pivots  1/d'_j, infinite where rows depend on those eliminated before them or vanish
    mass_lost    Σ (M_kk/d_k)²
    """

    def __init__(
        self,
        t: Tape,
        mass_factor: MassFactor,
        diagonal: Sequence[int],
        A: Sequence[Mapping[int, int]],
        budget: int,
    ) -> None:
        self.tape, self._mass_factor = t, mass_factor
        W = [self._mass_factor.forward(row) for row in _without_zeros(t, A)]
        if sum(len(row) for row in W) > budget:
            raise _TooManyOperations
        V = self._V = [_divide_by_D(t, mass_factor, row) for row in W]
        S: list[dict[int, int]] = [{} for _ in A]
        for i, j in _coupled_row_pairs(W):
            S[i][j] = S[j][i] = sum_of_products(
                t, ((w, V[j][k]) for k, w in W[i].items() if k in V[j])
            )
        self._schur_factor = _factor_sparse(t, S, budget)
        self.row_norms_squared = tuple(row.get(j, t.zero) for j, row in enumerate(S))
        self.inverse_pivots = _as_tuple(self._schur_factor.D_inverse)
        lost = _divide_by_D(t, mass_factor, dict(enumerate(diagonal))).values()
        self.mass_cancellation = sum_of_products(t, ((x, x) for x in lost))

    def solution(
        self, f: Sequence[int], gamma: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """ż and λ"""
        t, h = self.tape, self._mass_factor.forward(dict(enumerate(f)))
        right = [
            t.neg(sum_of_products(t, ((v, h[k]) for k, v in row.items()), gamma[j]))
            for j, row in enumerate(self._V)
        ]
        lam = self._schur_factor.solve(right)
        zdot = self._apply_multipliers(lam, _divide_by_D(t, self._mass_factor, h))
        return _as_tuple(zdot), tuple(lam)

    def solve_all(
        self, f: Sequence[int], gamma: Sequence[int], phi: Sequence[int], e: Sequence[int]
    ) -> SaddleSolution:
        """All that a run needs."""
        return SaddleSolution(
            *self.solution(f, gamma),
            self.projection_step(phi),
            self.projection_step(e),
            self.row_norms_squared,
            (*self.inverse_pivots, self.mass_cancellation),
        )

    def projection_step(self, g: Sequence[int]) -> tuple[int, ...]:
        """δz"""
        t = self.tape
        mu = self._schur_factor.solve([t.neg(x) for x in g])
        return _as_tuple(
            self._apply_multipliers(
                mu, dict.fromkeys(range(len(self._mass_factor.D_inverse)), t.zero)
            )
        )

    def _apply_multipliers(self, lam: Sequence[int], y: dict[int, int]) -> dict[int, int]:
        """L⁻ᵀ (y + D⁻¹ W λ)"""
        t = self.tape
        for j, row in enumerate(self._V):
            for k, v in row.items():
                y[k] = t.add(y[k], t.mul(lam[j], v))
        return self._mass_factor.backward(y)


def _divide_by_D(t: Tape, factor: MassFactor, b: Mapping[int, int]) -> dict[int, int]:
    """D⁻¹ b"""
    return {k: t.mul(x, factor.D_inverse[k]) for k, x in b.items()}


def _as_tuple(values: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(values[k] for k in range(len(values)))


def _without_zeros(t: Tape, rows: Sequence[Mapping[int, int]]) -> list[dict[int, int]]:
    return [{k: node for k, node in row.items() if node != t.zero} for row in rows]


def _coupled_row_pairs(W: Sequence[Mapping[int, int]]) -> set[tuple[int, int]]:
    """The pairs j ≤ i of rows that share a column."""
    users: dict[int, list[int]] = {}
    for j, row in enumerate(W):
        for k in row:
            users.setdefault(k, []).append(j)
    return {(i, j) for rows in users.values() for i in rows for j in rows if j <= i}
