"""u̇ = g(q, u, t): equations solved for the accelerations, for evaluation.

By M = L D Lᵀ on the tape, without pivoting, where M is symmetric: it is positive wherever the system is regular, and det WᵀMW ≢ 0,
every independent speed resisted by some inertia, is checked first. x → x(t), ẋ → dx/dt, … puts specified motions and inputs in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dalembert.algebra.columns import solution
from dalembert.algebra.exact.field import PrimePoint, Trials, nullspace_mod
from dalembert.algebra.exact.quadratic import Element
from dalembert.algebra.folds import Derivative, Rewrite, needed, symbols_of
from dalembert.algebra.scalar import Scalar, on
from dalembert.algebra.tape import LEAVES, Tape
from dalembert.equations.form import Equations
from dalembert.errors import IllPosed
from dalembert.notebook import Shown


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


def check_regular(equations: Equations) -> None:
    """Refuse equations whose mass matrix is singular in every state, naming the speeds that nothing resists."""
    t, n, rows = equations.tape, len(equations.u), equations.M

    def free_motion(point: PrimePoint) -> list[list[Element]]:
        return nullspace_mod([[point(row[s]) if s in row else 0 for s in range(n)] for row in rows], point.prime)

    free = Trials(t, 1).at(0, free_motion)
    if free:
        names = [str(t.nodes[u][1]) for u, x in zip(equations.u, free[0], strict=True) if x]
        what = f"the speed {names[0]}" if len(names) == 1 else f"a combination of the speeds {', '.join(names)}"
        remedy = "give the part it moves a mass, or remove the coordinate"
        msg = f"the mass matrix is singular in every state: no inertia resists {what}; {remedy}"
        raise IllPosed(msg)


def jets(tape: Tape, bindings: Mapping[int, Scalar]) -> dict[int, int]:
    """{x: x(t), x': dx/dt, …} for every rate of a bound symbol that the tape knows."""
    rate = Derivative(tape, tape.rate)
    found: dict[int, int] = {}
    for x, motion in bindings.items():
        symbol: int | None = x
        value = on(tape, motion)
        while symbol is not None:
            found[symbol] = value
            symbol = tape.rates.get(symbol)
            value = rate(value) if symbol is not None else value
    return found


def bound(equations: ExplicitEquations, bindings: Mapping[int, Scalar]) -> ExplicitEquations:
    """The equations with specified motions and inputs given as expressions."""
    if not bindings:
        return equations
    t = equations.tape.fork()
    insert = Rewrite(t, jets(t, bindings))
    return replace(equations, tape=t, qdot=tuple(insert(e) for e in equations.qdot), udot=tuple(insert(e) for e in equations.udot))
