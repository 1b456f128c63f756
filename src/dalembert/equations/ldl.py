"""M = L D Lᵀ on the tape, without pivoting, for matrices that are symmetric and positive wherever the system is regular."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.tape import Tape


class LDL:
    """The factors of a symmetric matrix given by its lower half; `solve(b)` gives M⁻¹ b."""

    def __init__(self, tape: Tape, M: Sequence[Sequence[int]]) -> None:
        t = self.tape = tape
        n = len(M)
        m = [list(row) for row in M]
        self.L = [[t.zero] * n for _ in range(n)]
        self.over_D = [t.zero] * n
        for j in range(n):
            self.over_D[j] = t.div(t.one, m[j][j])
            below = [i for i in range(j + 1, n) if m[i][j] != t.zero]
            for i in below:
                self.L[i][j] = t.mul(m[i][j], self.over_D[j])
            for i in below:
                for k in below:
                    if k <= i:
                        m[i][k] = t.sub(m[i][k], t.mul(self.L[i][j], m[k][j]))

    def solve(self, b: Sequence[int]) -> list[int]:
        """x with M x = b."""
        t, L, n = self.tape, self.L, len(b)
        y = list(b)
        for j in range(n):
            for i in range(j + 1, n):
                y[i] = t.sub(y[i], t.mul(L[i][j], y[j]))
        y = [t.mul(x, d) for x, d in zip(y, self.over_D, strict=True)]
        for j in reversed(range(n)):
            for i in range(j):
                y[i] = t.sub(y[i], t.mul(L[j][i], y[j]))
        return y
