"""𝓜 ż = f + Aᵀλ, A ż + γ = 0, q̇ = E z + X: equations in augmented form, nothing eliminated.
Keywords: quaternion normalization.

z are all the rates (spins for quaternions), so no choice of independent speeds can become singular.
The rows may depend on one another wherever they are consistent; what they do to the motion is then
the same, and λ is not unique.

δq = −K⁻¹ Aᵀ (A K⁻¹ Aᵀ)⁻¹ φ, K = M + AᵀA: the projection onto φ(q, t) = 0 in the mass metric. On A
δq = −φ the term AᵀA adds a constant, so this is the projection in the mass metric; and K is regular
whenever the mass matrix is regular on the admissible velocities, quaternions and massless
coordinates included.

Source: Mei85 (7.44), Gre03 (4.14); for rows that are not linear in the rates Chetaev's rule, A =
∂e/∂z.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from dalembert.errors import IllPosed
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import (
    Equations,
    ExplicitEquations,
    RowProjection,
)
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.kinematics.constraint_rows import VelocityRow, position_residuals
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.elimination import factor_symmetric
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, Substitution, symbols_of
from dalembert.symbolic.algebra.functions import sqrt
from dalembert.symbolic.algebra.sparse_matrix import (
    Column,
    SparseMatrix,
    gradient_column,
    jacobian,
    sum_of_products,
    sum_scalars,
)
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.symbolic.algebra.exact.finite_field import Element
    from dalembert.symbolic.algebra.exact.sample_point import SamplePoint

# updates of one elimination up to which λ is eliminated on the tape
_MAX_UPDATES: Final = 4000


@dataclass(frozen=True)
class SaddlePointEquations:
    """M, f, and for every row A, γ, e and φ, as nodes of one tape; `retraction[k]` is q_k + E δz
    with the state's z as δz.
    """

    system: str
    tape: Tape
    q: tuple[int, ...]
    z: tuple[int, ...]
    qdot: tuple[int, ...]
    M: tuple[dict[int, int], ...]
    f: tuple[int, ...]
    rows: tuple[VelocityRow, ...]
    retraction: tuple[int, ...]
    route: str = "M and A, by a Cholesky factor and an orthogonal one"

    @property
    def phi(self) -> tuple[int | None, ...]:
        """φ(q, t) of the holonomic rows, None for the others."""
        return tuple(row.row.phi for row in self.rows)

    @cached_property
    def has_quaternions(self) -> bool:
        """Whether there are norms to be kept."""
        return len(self.q) > len(self.z)

    @cached_property
    def has_singular_mass(self) -> bool:
        """Whether M is singular in every state: some rates move no mass, and only the rows
        determine them.
        """
        from dalembert.symbolic.algebra.exact.linear_algebra import rank_mod

        n = len(self.z)

        def rank(point: SamplePoint) -> int:
            return rank_mod(_matrix_at_point(point, self.M, n), point.prime).rank

        return RandomPoints(self.tape, 1).at(0, rank) < n

    @cached_property
    def has_linear_rows(self) -> bool:
        """Whether every row is linear in the rates."""
        inside = set(self.z)
        return all(inside.isdisjoint(symbols_of(self.tape, row.A.values())) for row in self.rows)


def saddle_point_equations(kin: Kinematics, equations: Equations) -> SaddlePointEquations:
    """The equations of a system without rows, by any principle on `all_rates`, and its rows in
    augmented form.
    """
    augmented = SaddlePointEquations(
        equations.system,
        kin.tape,
        equations.q,
        equations.u,
        equations.qdot,
        tuple(equations.mass_nodes),
        tuple(equations.forcing_nodes),
        kin.velocity_rows,
        tuple(_retraction(kin)),
    )
    _check_regular(augmented)
    return augmented


def _retraction(kin: Kinematics) -> list[int]:
    """q + E z, with every quaternion divided by its length."""
    t = kin.tape
    linear = LinearCoefficients(t, kin.u)
    new = [
        sum_of_products(t, ((c, kin.u[r]) for r, c in linear(e)[1].items()), q)
        for q, e in zip(kin.q, kin.qdot_of_u, strict=True)
    ]
    place = {q: k for k, q in enumerate(kin.q)}
    for F in kin.system.space.frames:
        if isinstance(F.rotation, Quaternion):
            at = [place[e] for e in F.rotation.e]
            length = t.call(
                "sqrt", Substitution(t, {kin.q[k]: new[k] for k in at})(F.rotation.squared_norm(t))
            )
            for k in at:
                new[k] = t.div(new[k], length)
    return new


def _check_regular(equations: SaddlePointEquations) -> None:
    """Refuse rates that neither a mass nor a row determines, by name."""
    from dalembert.symbolic.algebra.exact.linear_algebra import rank_mod

    t, n = equations.tape, len(equations.z)

    def rank(point: SamplePoint) -> int:
        rows = [[point(row.A[k]) if k in row.A else 0 for k in range(n)] for row in equations.rows]
        return rank_mod([*_matrix_at_point(point, equations.M, n), *rows], point.prime).rank

    if equations.has_singular_mass and RandomPoints(t, 1).at(0, rank) < n:
        msg = (
            "the mass matrix is singular in every state, and no constraint determines the motion "
            "without inertia; give the part it moves a mass"
        )
        raise IllPosed(msg)


def _matrix_at_point(
    point: SamplePoint, M: tuple[dict[int, int], ...], n: int
) -> list[list[Element]]:
    return [[point(row[s]) if s in row else 0 for s in range(n)] for row in M]


def eliminate_multipliers(equations: SaddlePointEquations) -> ExplicitEquations | None:
    """ż with λ eliminated on the tape, and a step onto the rows; None where that takes too many
    operations, or where rows are not linear or M is singular.

    Rows that were declared redundant follow from the others wherever these hold.
    """
    from dalembert.mechanics.equations.sparse_saddle_point import factor_saddle_point

    if equations.has_singular_mass or not equations.has_linear_rows:
        return None
    t = equations.tape.fork()
    rows = [row for row in equations.rows if not row.row.redundant]
    saddle = factor_saddle_point(t, equations.M, [row.A for row in rows], _MAX_UPDATES)
    if saddle is None:
        return None
    phi = [t.zero if row.row.phi is None else row.row.phi for row in rows]
    e = [row.e for row in rows]
    zdot, solved = saddle.solution(equations.f, [row.gamma for row in rows])
    # a redundant row carries nothing
    carried = iter(solved)
    lam = tuple(t.zero if row.row.redundant else next(carried) for row in equations.rows)
    left = sum_of_products(t, ((t.one, t.call("abs", x)) for x in (*phi, *e)))
    back = RowProjection(saddle.projection_step(phi), saddle.projection_step(e), left, lam)
    return ExplicitEquations(
        equations.system,
        t,
        equations.q,
        equations.z,
        equations.qdot,
        zdot,
        "all rates, multipliers eliminated",
        projection=back,
    )


# ---- back onto the rows -------------------------------------------------------------------------


@dataclass(frozen=True)
class ProjectionStep:
    """δq and Σ|φ| as nodes of one tape."""

    tape: Tape
    step: tuple[int, ...]
    residual: int


def constraint_projection(kin: Kinematics) -> ProjectionStep | None:
    """One Newton step onto the holonomic rows; None where there are none."""
    kin = kin.fork()
    t, n = kin.tape, kin.n_q
    phi = [kin.scalar(f) for f in position_residuals(t, kin.rows)]
    if not phi:
        return None
    A = jacobian(Column(t, (f.i for f in phi)), Column(t, kin.q))
    residual = sum_scalars(t, map(abs, phi)).i
    if all(r.is_norm for r in kin.rows if r.phi is not None):
        # δe = (1/√(e·e) − 1) e with φ = e·e − 1, A = 2 e: no attitude changes, so where there are
        # no other rows no mass is needed
        factors = ((1 / sqrt(f + 1) - 1) / 2 for f in phi)
        return ProjectionStep(t, (A.T @ Column(t, (k.i for k in factors))).nodes, residual)
    K = factor_symmetric(t, (_mass_matrix(kin) + A.T @ A).dense())
    K_inv_AT = SparseMatrix.from_dense(t, map(K.solve, A.dense()), n)
    lam = factor_symmetric(t, (A @ K_inv_AT.T).dense()).solve([f.i for f in phi])
    return ProjectionStep(t, (-(K_inv_AT.T @ Column(t, lam))).nodes, residual)


def _mass_matrix(kin: Kinematics) -> SparseMatrix:
    """∂²T/∂q̇∂q̇"""
    t, qdot = kin.tape, Column(kin.tape, kin.qdot)
    T = Quantities(kin).rates.T.value
    linear = LinearCoefficients(t, kin.qdot)
    return SparseMatrix(t, (linear(p)[1] for p in gradient_column(T, qdot)), kin.n_q)
