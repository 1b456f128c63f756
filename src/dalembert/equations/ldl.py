"""M = L D Lᵀ on the tape, without pivoting, for matrices that are symmetric and positive wherever the system is regular."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape


class LDL:
    """The factors of a symmetric matrix given by its lower half; `solve(b)` gives M⁻¹ b."""

    def __init__(self, tape: Tape, M: Sequence[Sequence[int]]) -> None:
        self.tape = tape
        n = len(M)
        m = [[Scalar(tape, a) for a in row] for row in M]
        self.L = [[Scalar(tape, tape.zero)] * n for _ in range(n)]
        self.over_D: list[Scalar] = []
        for j in range(n):
            self.over_D.append(1 / m[j][j])
            below = [i for i in range(j + 1, n) if m[i][j].i != tape.zero]
            for i in below:
                self.L[i][j] = m[i][j] * self.over_D[j]
            for i in below:
                for k in below:
                    if k <= i:
                        m[i][k] -= self.L[i][j] * m[k][j]

    def solve(self, b: Sequence[int]) -> list[int]:
        """x with M x = b."""
        L, n = self.L, len(b)
        y = [Scalar(self.tape, e) for e in b]
        for j in range(n):
            for i in range(j + 1, n):
                y[i] -= L[i][j] * y[j]
        y = [x * d for x, d in zip(y, self.over_D, strict=True)]
        for j in reversed(range(n)):
            for i in range(j):
                y[i] -= L[j][i] * y[j]
        return [x.i for x in y]
