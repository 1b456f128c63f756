"""ż = M⁻¹ (f + Aᵀλ), A M⁻¹ Aᵀ λ = −γ − A M⁻¹ f: equations with their rows beside them, solved in a straight line.

Where some rates move no mass, M + Aᵀ P A takes the place of M and f − Aᵀ P γ that of f, which changes nothing where A ż + γ = 0.
The same factors bring a state back onto the rows, the shortest way in the mass metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dalembert.algebra.columns import Column, contracted, total
from dalembert.algebra.folds import Rewrite
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.equations.ldl import LDL
from dalembert.equations.saddle import SaddleEquations


@dataclass(frozen=True)
class Solved:
    """ż, q + E δz with its residual Σ|φ|, and z + δz, as nodes of one tape."""

    tape: Tape
    zdot: tuple[int, ...]
    moved: tuple[int, ...]
    residual: int
    z: tuple[int, ...]


class _Rows:
    """A M⁻¹ Aᵀ of some rows, and the shortest δz with A δz = −g."""

    def __init__(self, tape: Tape, A: Sequence[Sequence[int]], metric: LDL) -> None:
        self.tape, self.A = tape, A
        self.through = [metric.solve(row) for row in A]
        self.G = LDL(tape, [[dot(tape, a, x) for x in self.through] for a in A])

    def along(self, lam: Sequence[int], n: int) -> list[int]:
        """M⁻¹ Aᵀ λ"""
        return [dot(self.tape, lam, [x[k] for x in self.through]) for k in range(n)]

    def correction(self, g: Sequence[int], n: int) -> list[int]:
        """δz = −M⁻¹ Aᵀ (A M⁻¹ Aᵀ)⁻¹ g"""
        return list(-Column(self.tape, self.along(self.G.solve(g), n)))


def solved(equations: SaddleEquations) -> Solved:
    """The equations solved for ż, and one step back onto the rows; rows declared redundant follow from the others and are left out."""
    t, n = equations.tape.fork(), len(equations.z)
    rows = [row for row in equations.rows if not row.row.redundant]
    A = [[row.A.get(k, t.zero) for k in range(n)] for row in rows]
    M = [[row.get(k, t.zero) for k in range(n)] for row in equations.M]
    f, gamma = list(equations.f), [row.gamma for row in rows]
    if equations.massless:
        M, f = _weighed(t, M, f, A, gamma)
    metric = LDL(t, M)
    every = _Rows(t, A, metric)
    free = metric.solve(f)
    lam = every.G.solve([t.neg(t.add(c, dot(t, a, free))) for a, c in zip(A, gamma, strict=True)])
    zdot = Column(t, free) + Column(t, every.along(lam, n))
    # a row that stands on positions is corrected there
    standing = [(a, row.row.phi) for a, row in zip(A, rows, strict=True) if row.row.phi is not None]
    phi = [p for _, p in standing]
    step = _Rows(t, [a for a, _ in standing], metric).correction(phi, n) if standing else [t.zero] * n
    shift = Rewrite(t, dict(zip(equations.z, step, strict=True)))
    residual = total(t, (abs(Scalar(t, p)) for p in phi)).i
    z = Column(t, equations.z) + Column(t, every.correction([row.e for row in rows], n))
    return Solved(t, zdot.nodes, tuple(shift(i) for i in equations.retraction), residual, z.nodes)


def _weighed(t: Tape, M: list[list[int]], f: list[int], A: list[list[int]], gamma: list[int]) -> tuple[list[list[int]], list[int]]:
    """M + Σ ρ a aᵀ and f − Σ ρ γ a, with ρ = tr M / |a|² of each row."""
    n = len(f)
    trace = total(t, (Scalar(t, M[k][k]) for k in range(n))).i
    for a, c in zip(A, gamma, strict=True):
        rho = t.div(t.one if trace == t.zero else trace, dot(t, a, a))
        scaled = [t.mul(rho, x) for x in a]
        M = [[t.add(M[i][k], t.mul(scaled[i], a[k])) for k in range(n)] for i in range(n)]
        f = [t.sub(f[i], t.mul(scaled[i], c)) for i in range(n)]
    return M, f


def dot(t: Tape, a: Sequence[int], b: Sequence[int]) -> int:
    """Σ a b"""
    return contracted(t, zip(a, b, strict=True))
