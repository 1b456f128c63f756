"""u̇ = g(q, u, t): equations solved for the accelerations, for evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.tape import Tape
from dalembert.equations.form import Equations


@dataclass(frozen=True)
class ExplicitEquations:
    """q̇ and u̇ as nodes of one tape."""

    system: str
    tape: Tape
    q: tuple[int, ...]
    u: tuple[int, ...]
    qdot: tuple[int, ...]
    udot: tuple[int, ...]


def solved(equations: Equations) -> ExplicitEquations:
    """u̇ = M⁻¹ f by M = L D Lᵀ on the tape, without pivoting: M is symmetric and positive wherever the system is regular."""
    n = len(equations.u)
    rows, y = equations.M, equations.f
    t = equations.tape.fork()
    M = [[row.get(s, t.zero) for s in range(n)] for row in rows]
    L = [[t.zero] * n for _ in range(n)]
    for j in range(n):
        over_D = t.div(t.one, M[j][j])
        for i in range(j + 1, n):
            L[i][j] = t.mul(M[i][j], over_D)
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                M[i][k] = t.sub(M[i][k], t.mul(L[i][j], M[k][j]))
            y[i] = t.sub(y[i], t.mul(L[i][j], y[j]))
        y[j] = t.mul(y[j], over_D)
    for j in reversed(range(n)):
        for i in range(j):
            y[i] = t.sub(y[i], t.mul(L[j][i], y[j]))
    return ExplicitEquations(equations.system, t, equations.q, equations.u, equations.qdot, tuple(y))
