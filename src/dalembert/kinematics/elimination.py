"""Solve linear equations on the tape, sparsely, with pivots that do not vanish.

Each equation is c + Σ_k a_k z_k = 0 with nodes c, a_k. A pivot is a number if there is one, else an expression free
of the coordinates, else one that depends on them; among equals the shortest row. Whether an entry vanishes is
decided exactly, at a random point of a prime field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dalembert.algebra.field import Trials
from dalembert.algebra.folds import symbols_of
from dalembert.algebra.tape import Tape

Row = tuple[int, dict[int, int]]


@dataclass
class Elimination:
    """Gauss–Jordan elimination; `solved[k]` is the form c + Σ a_j z_j that z_k equals minus of."""

    tape: Tape
    rows: list[Row]
    prefer: Callable[[int], int]
    moving: set[int]
    trials: Trials = field(init=False)

    def __post_init__(self) -> None:
        self.trials = Trials(self.tape, 1)

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
            open_rows.remove(i)
            solved[k] = i
            self._eliminate(i, k)
        return {k: self._without(self.rows[i], k) for k, i in solved.items()}, dependent

    def _pivot(self, open_rows: Sequence[int], solved: dict[int, int]) -> tuple[int, int] | None:
        best: tuple[tuple[int, int, int, int], int, int] | None = None
        for i in open_rows:
            coefficients = self.rows[i][1]
            for k, a in list(coefficients.items()):
                if k in solved:
                    continue
                if a != self.tape.one and self._vanishes(a):
                    del coefficients[k]
                    continue
                rank = (self._difficulty(a), self.prefer(k), len(coefficients), i)
                if best is None or rank < best[0]:
                    best = rank, i, k
        return None if best is None else (best[1], best[2])

    def _vanishes(self, a: int) -> bool:
        return self.trials.at(0, lambda point: point(a)) == 0

    def _difficulty(self, a: int) -> int:
        if self.tape.value(a) is not None:
            return 0
        return 2 if any(s in self.moving for s in symbols_of(self.tape, (a,))) else 1

    def _eliminate(self, i: int, k: int) -> None:
        t = self.tape
        c, row = self.rows[i]
        p = row[k]
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

    @staticmethod
    def _without(row: Row, k: int) -> Row:
        return row[0], {j: a for j, a in row[1].items() if j != k}
