"""δq = −K⁻¹ Aᵀ (A K⁻¹ Aᵀ)⁻¹ φ, K = M + AᵀA: the shortest way back onto φ(q, t) = 0, measured by the mass matrix.

On A δq = −φ the term AᵀA adds a constant, so this is the projection in the mass metric; and K is regular whenever the
mass matrix is regular on the freedoms, quaternions and massless coordinates included.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.columns import Column, Rows, jacobian, slopes, total
from dalembert.algebra.folds import Linear
from dalembert.algebra.functions import sqrt
from dalembert.algebra.tape import Tape
from dalembert.equations.form import LDL
from dalembert.kinematics.rows import position_residuals
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.quantities import Quantities


@dataclass(frozen=True)
class Projection:
    """δq and Σ|φ| as nodes of one tape."""

    tape: Tape
    step: tuple[int, ...]
    residual: int


def projection(kin: Kinematics) -> Projection | None:
    """One Newton step onto the holonomic rows; None where there are none."""
    kin = kin.fork()
    t, n = kin.tape, kin.n_q
    phi = [kin.scalar(f) for f in position_residuals(t, kin.rows)]
    if not phi:
        return None
    A = jacobian(Column(t, (f.i for f in phi)), Column(t, kin.q))
    residual = total(t, map(abs, phi)).i
    if all(r.is_norm for r in kin.rows if r.phi is not None):
        # δe = (1/√(e·e) − 1) e with φ = e·e − 1, A = 2 e: no attitude changes, so where there are no other rows no mass is asked
        factors = ((1 / sqrt(f + 1) - 1) / 2 for f in phi)
        return Projection(t, (A.T @ Column(t, (k.i for k in factors))).nodes, residual)
    K = LDL(t, (_mass_matrix(kin) + A.T @ A).dense())
    through = Rows.of(t, map(K.solve, A.dense()), n)
    lam = LDL(t, (A @ through.T).dense()).solve([f.i for f in phi])
    return Projection(t, (-(through.T @ Column(t, lam))).nodes, residual)


def _mass_matrix(kin: Kinematics) -> Rows:
    """∂²T/∂q̇∂q̇"""
    t, qdot = kin.tape, Column(kin.tape, kin.qdot)
    T = Quantities(kin).rates.T.value
    linear = Linear(t, kin.qdot)
    return Rows(t, (linear(p)[1] for p in slopes(T, qdot)), kin.n_q)
