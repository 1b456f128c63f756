"""u̇ = g(q, u, t): equations solved for the accelerations, for evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.tape import Tape
from dalembert.equations.form import Equations
from dalembert.equations.ldl import LDL


@dataclass(frozen=True)
class ExplicitEquations:
    """q̇ and u̇ as nodes of one tape, and the route by which u̇ was found."""

    system: str
    tape: Tape
    q: tuple[int, ...]
    u: tuple[int, ...]
    qdot: tuple[int, ...]
    udot: tuple[int, ...]
    route: str


def solved(equations: Equations) -> ExplicitEquations:
    """u̇ = M⁻¹ f by M = L D Lᵀ on the tape."""
    rows, f = equations.M, equations.f
    t = equations.tape.fork()
    n = len(equations.u)
    M = [[row.get(s, t.zero) for s in range(n)] for row in rows]
    udot = LDL(t, M).solve(f)
    return ExplicitEquations(equations.system, t, equations.q, equations.u, equations.qdot, tuple(udot), "M = L D Lᵀ")
