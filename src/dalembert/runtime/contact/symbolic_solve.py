"""K⁻¹ r on the tape, in the given order of the rows."""

from __future__ import annotations

from dalembert.symbolic.algebra.tape import Tape


def lu_solve(
    t: Tape, K: list[list[int]], right: list[int], regularization: list[int]
) -> tuple[list[int], list[int]]:
    """K⁻¹ r by elimination in the given order, and the pivots.

    Rows may depend on one another where several contacts hold (a box on two corners): then x solves
    (K + S) x = r with a small diagonal S first, and the residual of r twice more, which leads to
    the solution that is shortest measured by S.
    """
    n, add, sub, mul, div = len(K), t.add, t.sub, t.mul, t.div
    L: dict[tuple[int, int], int] = {}
    U = [
        [add(x, regularization[k]) if regularization and j == k else x for j, x in enumerate(row)]
        for k, row in enumerate(K)
    ]
    for k in range(n):
        for i in range(k + 1, n):
            if U[i][k] == t.zero:
                continue
            part = L[i, k] = div(U[i][k], U[k][k])
            for j in range(k + 1, n):
                U[i][j] = sub(U[i][j], mul(part, U[k][j]))

    def substitute(r: list[int]) -> list[int]:
        y = r[:]
        for i, k in sorted(L):
            y[i] = sub(y[i], mul(L[i, k], y[k]))
        for k in range(n - 1, -1, -1):
            for j in range(k + 1, n):
                y[k] = sub(y[k], mul(U[k][j], y[j]))
            y[k] = div(y[k], U[k][k])
        return y

    x = substitute(right)
    for _ in range(2 if regularization else 0):
        left = right[:]
        for k in range(n):
            for j in range(n):
                left[k] = sub(left[k], mul(K[k][j], x[j]))
        x = [add(a, b) for a, b in zip(x, substitute(left), strict=True)]
    return x, [U[k][k] for k in range(n)]
