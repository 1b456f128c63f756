"""ż and λ of M ż = f + Aᵀλ, A ż + γ = 0 in a straight line, eliminated in an order that keeps the zeros.

    M = L D Lᵀ,  W = L⁻¹ Aᵀ,  S = Wᵀ D⁻¹ W = L' D' L'ᵀ,  S λ = −γ − Wᵀ D⁻¹ L⁻¹ f,  Lᵀ ż = D⁻¹ (L⁻¹ f + W λ)

The order is that of least degree: what has the fewest neighbours left is eliminated next, so that a row of n loops takes O(n) operations.
Nothing is exchanged at run time. What is left of each pivot tells where that is unsafe, and others must solve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dalembert.algebra.columns import contracted
from dalembert.algebra.tape import Tape

# fewer unknowns are solved as fast by loops over full rows
_FEW: Final = 20
# a straight line must save so much
_SAVING: Final = 8


@dataclass(frozen=True)
class SparseSolution:
    """ż, λ, the 1/s_j of S, which are infinite where rows depend on those before them or vanish, and Σ (M_kk/d_k)²."""

    zdot: tuple[int, ...]
    multipliers: tuple[int, ...]
    over_pivots: tuple[int, ...]
    mass_lost: int


class _TooManyOperations(Exception):
    """A matrix with too few zeros."""


class SparseLDL:
    """L D Lᵀ of a symmetric matrix given by full rows {column: node}; at most so many updates."""

    def __init__(self, tape: Tape, rows: Sequence[Mapping[int, int]], budget: int) -> None:
        self.tape = tape
        left = [dict(row) for row in rows]
        # by the number of what is eliminated: its column of L, and 1/d
        self.L: dict[int, dict[int, int]] = {}
        self.over: dict[int, int] = {}
        waiting = set(range(len(rows)))
        while waiting:
            j = min(waiting, key=lambda k: (len(left[k]), k))
            waiting.remove(j)
            column = {k: node for k, node in left[j].items() if k != j}
            budget -= len(column) * (len(column) + 1) // 2
            if budget < 0:
                raise _TooManyOperations
            self._eliminate(left, j, column)

    def _eliminate(self, left: list[dict[int, int]], j: int, column: Mapping[int, int]) -> None:
        t = self.tape
        over = self.over[j] = t.div(t.one, left[j].get(j, t.zero))
        self.L[j] = {k: t.mul(node, over) for k, node in column.items()}
        for k in column:
            del left[k][j]
        for i, l in self.L[j].items():
            for k, node in column.items():
                if k <= i:
                    new = t.sub(left[i].get(k, t.zero), t.mul(l, node))
                    left[i][k] = left[k][i] = new

    def forward(self, b: Mapping[int, int]) -> dict[int, int]:
        """L⁻¹ b"""
        t, y = self.tape, dict(b)
        for j, column in self.L.items():
            if j in y:
                for k, l in column.items():
                    y[k] = t.sub(y.get(k, t.zero), t.mul(l, y[j]))
        return y

    def back(self, b: Mapping[int, int]) -> dict[int, int]:
        """L⁻ᵀ b"""
        t, x = self.tape, dict(b)
        for j in reversed(self.L):
            x[j] = t.sub(x[j], contracted(t, ((l, x[k]) for k, l in self.L[j].items())))
        return x

    def solve(self, b: Mapping[int, int]) -> dict[int, int]:
        """x with L D Lᵀ x = b."""
        return self.back(self.divided(self.forward(b)))

    def divided(self, b: Mapping[int, int]) -> dict[int, int]:
        """D⁻¹ b"""
        return {k: self.tape.mul(x, self.over[k]) for k, x in b.items()}


def sparse_solution(
    tape: Tape, M: Sequence[Mapping[int, int]], f: Sequence[int], A: Sequence[Mapping[int, int]], gamma: Sequence[int]
) -> SparseSolution | None:
    """The straight line on the tape; None where there are few unknowns, or few zeros."""
    n, m = len(f), len(A)
    if not m or n + m < _FEW:
        return None
    try:
        return _solution(tape, M, f, A, gamma, (n**3 // 6 + n * n * m // 2 + m * m * n) // _SAVING)
    except _TooManyOperations:
        return None


def _solution(
    t: Tape, M: Sequence[Mapping[int, int]], f: Sequence[int], A: Sequence[Mapping[int, int]], gamma: Sequence[int], budget: int
) -> SparseSolution:
    metric = SparseLDL(t, _without_zeros(t, M), budget)
    W = [metric.forward(row) for row in _without_zeros(t, A)]
    V = [metric.divided(row) for row in W]
    if sum(len(row) for row in W) > budget:
        raise _TooManyOperations
    S: list[dict[int, int]] = [{} for _ in A]
    for i, j in _touching(W):
        S[i][j] = S[j][i] = contracted(t, ((w, V[j][k]) for k, w in W[i].items() if k in V[j]))
    h = metric.forward(dict(enumerate(f)))
    rows = SparseLDL(t, S, budget)
    right = {j: t.neg(contracted(t, ((v, h[k]) for k, v in V[j].items()), gamma[j])) for j in range(len(A))}
    lam = rows.solve(right)
    y = metric.divided(h)
    for j, row in enumerate(V):
        for k, v in row.items():
            y[k] = t.add(y[k], t.mul(lam[j], v))
    zdot = metric.back(y)
    lost = metric.divided({k: row[k] for k, row in enumerate(M)}).values()
    return SparseSolution(_listed(zdot), _listed(lam), _listed(rows.over), contracted(t, ((x, x) for x in lost)))


def _listed(values: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(values[k] for k in range(len(values)))


def _without_zeros(t: Tape, rows: Sequence[Mapping[int, int]]) -> list[dict[int, int]]:
    return [{k: node for k, node in row.items() if node != t.zero} for row in rows]


def _touching(W: Sequence[Mapping[int, int]]) -> set[tuple[int, int]]:
    """The pairs j ≤ i of rows that share a column."""
    users: dict[int, list[int]] = {}
    for j, row in enumerate(W):
        for k in row:
            users.setdefault(k, []).append(j)
    return {(i, j) for rows in users.values() for i in rows for j in rows if j <= i}
