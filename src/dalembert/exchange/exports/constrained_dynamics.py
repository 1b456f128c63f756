"""ż = M⁻¹ (f + Aᵀλ), A M⁻¹ Aᵀ λ = −γ − A M⁻¹ f: equations in augmented form, solved by unrolled
elimination.

Where some rates move no mass, M + Aᵀ P A takes the place of M and f − Aᵀ P γ that of f, which
changes nothing where A ż + γ = 0. The same factors bring a state back onto the rows, the shortest
way in the mass metric.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.symbolic.algebra.elimination import Factorization, factor_symmetric
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix, sum_scalars
from dalembert.symbolic.algebra.tape import Tape


@dataclass(frozen=True)
class ConstrainedDynamics:
    """ż, q + E δz with its residual Σ|φ|, and z + δz, as nodes of one tape."""

    tape: Tape
    zdot: tuple[int, ...]
    projected_q: tuple[int, ...]
    residual: int
    z: tuple[int, ...]


class _ConstraintSolver:
    """A M⁻¹ Aᵀ of some rows, and the shortest δz with A δz = −g."""

    def __init__(self, A: SparseMatrix, metric: Factorization) -> None:
        self.tape = A.tape
        self.weighted_rows = SparseMatrix.from_dense(A.tape, map(metric.solve, A.dense()), A.width)
        self.G = factor_symmetric(A.tape, (A @ self.weighted_rows.T).dense())

    def constraint_acceleration(self, lam: Sequence[int]) -> Column:
        """M⁻¹ Aᵀ λ"""
        return self.weighted_rows.T @ Column(self.tape, lam)

    def correction(self, g: Sequence[int]) -> Column:
        """δz = −M⁻¹ Aᵀ (A M⁻¹ Aᵀ)⁻¹ g"""
        return -self.constraint_acceleration(self.G.solve(g))


def solve_constrained(equations: SaddlePointEquations) -> ConstrainedDynamics:
    """The equations solved for ż, and one step back onto the rows; rows declared redundant
    follow from the others and are left out.
    """
    t, n = equations.tape.fork(), len(equations.z)
    rows = [row for row in equations.rows if not row.row.redundant]
    A = SparseMatrix(t, (row.A for row in rows), n)
    M, f, gamma = (
        SparseMatrix(t, equations.M, n),
        Column(t, equations.f),
        Column(t, (row.gamma for row in rows)),
    )
    if equations.has_singular_mass:
        M, f = _augment_mass(M, f, A, gamma)
    metric = factor_symmetric(t, M.dense())
    held = _ConstraintSolver(A, metric)
    free = Column(t, metric.solve(f.nodes))
    lam = held.G.solve((-(gamma + A @ free)).nodes)
    # a position constraint is corrected at position level
    holonomic = [row for row in rows if row.row.phi is not None]
    phi = [row.row.phi for row in holonomic if row.row.phi is not None]
    solver = _ConstraintSolver(SparseMatrix(t, (row.A for row in holonomic), n), metric)
    shift = Substitution(t, dict(zip(equations.z, solver.correction(phi), strict=True)))
    residual = sum_scalars(t, (abs(Scalar(t, p)) for p in phi)).i
    z = Column(t, equations.z) + held.correction([row.e for row in rows])
    return ConstrainedDynamics(
        t,
        (free + held.constraint_acceleration(lam)).nodes,
        tuple(shift(i) for i in equations.retraction),
        residual,
        z.nodes,
    )


def _augment_mass(
    M: SparseMatrix, f: Column, A: SparseMatrix, gamma: Column
) -> tuple[SparseMatrix, Column]:
    """M + Aᵀ P A and f − Aᵀ P γ, with tr M / |a|² of each row on the diagonal of P."""
    t = M.tape
    trace = sum_scalars(t, (Scalar(t, row[k]) for k, row in enumerate(M.dense())))
    weight = 1 if trace.i == t.zero else trace
    lengths = (Column(t, a) @ Column(t, a) for a in A.dense())
    P = SparseMatrix(t, ({j: (weight / square).i} for j, square in enumerate(lengths)), len(A))
    return M + A.T @ (P @ A), f - A.T @ (P @ gamma)
