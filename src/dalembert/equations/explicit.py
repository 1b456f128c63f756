"""u̇ = g(q, u, t): equations solved for the accelerations, for evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dalembert.algebra.folds import needed, symbols_of
from dalembert.algebra.tape import LEAVES, Tape
from dalembert.equations.form import Equations
from dalembert.equations.ldl import LDL
from dalembert.kinematics.elimination import solution
from dalembert.notebook import Shown


@dataclass(frozen=True)
class ExplicitEquations(Shown):
    """q̇ and u̇ as nodes of one tape, and the route by which u̇ was found."""

    system: str
    tape: Tape
    q: tuple[int, ...]
    u: tuple[int, ...]
    qdot: tuple[int, ...]
    udot: tuple[int, ...]
    route: str
    # M u̇ = f with a symmetric M, where u̇ was found by solving these
    solved: Equations | None = None

    def __str__(self) -> str:
        count = sum(self.tape.nodes[i][0] not in LEAVES for i in needed(self.tape, (*self.qdot, *self.udot)))
        return f"{self.system}: q̇ and u̇ for {len(self.q)} coordinates and {len(self.u)} speeds by {self.route}, {count} operations"

    @cached_property
    def symbols(self) -> tuple[int, ...]:
        """The symbols that q̇ and u̇ contain, in order of creation."""
        return tuple(symbols_of(self.tape, (*self.qdot, *self.udot)))


def solved(equations: Equations) -> ExplicitEquations:
    """u̇ = M⁻¹ f by M = L D Lᵀ on the tape; by elimination where M is not symmetric."""
    rows, f = equations.M, equations.f
    t = equations.tape.fork()
    n = len(equations.u)
    if not equations.symmetric:
        found = solution(t, ((t.neg(b), row) for row, b in zip(rows, f, strict=True)))
        eliminated = tuple(found[k] for k in range(n))
        return ExplicitEquations(equations.system, t, equations.q, equations.u, equations.qdot, eliminated, "elimination")
    M = [[row.get(s, t.zero) for s in range(n)] for row in rows]
    udot = LDL(t, M).solve(f)
    return ExplicitEquations(equations.system, t, equations.q, equations.u, equations.qdot, tuple(udot), "M = L D Lᵀ", equations)
