"""δq = −K⁻¹ Aᵀ (A K⁻¹ Aᵀ)⁻¹ φ, K = M + AᵀA: the shortest way back onto φ(q, t) = 0, measured by the mass matrix.

On A δq = −φ the term AᵀA adds a constant, so this is the projection in the mass metric; and K is regular whenever the
mass matrix is regular on the freedoms, quaternions and massless coordinates included.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.folds import Linear, gradient
from dalembert.algebra.tape import Tape
from dalembert.equations.ldl import LDL
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.energies import kinetic_energy


@dataclass(frozen=True)
class Projection:
    """δq and Σ|φ| as nodes of one tape."""

    tape: Tape
    step: tuple[int, ...]
    residual: int


def projection(kin: Kinematics) -> Projection | None:
    """One Newton step onto the holonomic rows; None where there are none."""
    kin = kin.fork()
    t = kin.tape
    # a quaternion keeps the norm one
    phi = [t.sub(r.phi, t.one) if r.is_norm else r.phi for r in kin.rows if r.phi is not None]
    if not phi:
        return None
    A = [gradient(t, {f: t.one}, kin.q) for f in phi]
    residual = t.zero
    for f in phi:
        residual = t.add(residual, t.call("abs", f))
    if all(r.is_norm for r in kin.rows if r.phi is not None):
        return Projection(t, tuple(_normalised(t, phi, A)), residual)
    K = LDL(t, _metric(kin, A))
    through = [K.solve(row) for row in A]
    G = [[_dot(t, a, x) for x in through] for a in A]
    lam = LDL(t, G).solve(phi)
    step = [t.neg(_dot(t, lam, [x[k] for x in through])) for k in range(kin.n_q)]
    return Projection(t, tuple(step), residual)


def _normalised(t: Tape, phi: list[int], A: list[list[int]]) -> list[int]:
    """δe = (1/√(e·e) − 1) e with φ = e·e − 1, A = 2 e: no attitude changes, so where there are no other rows no mass is asked."""
    step = [t.zero] * len(A[0])
    half = t.div(t.one, t.const(2))
    for f, row in zip(phi, A, strict=True):
        factor = t.mul(half, t.sub(t.div(t.one, t.call("sqrt", t.add(f, t.one))), t.one))
        step = [t.add(x, t.mul(factor, a)) for x, a in zip(step, row, strict=True)]
    return step


def _metric(kin: Kinematics, A: list[list[int]]) -> list[list[int]]:
    t = kin.tape
    T = kinetic_energy(kin, kin.motion_in_rates.v, kin.motion_in_rates.w)
    linear = Linear(t, kin.qdot)
    M = [linear(p)[1] for p in gradient(t, {T: t.one}, kin.qdot)]
    n = kin.n_q
    return [[t.add(M[i].get(k, t.zero), _dot(t, [a[i] for a in A], [a[k] for a in A])) for k in range(n)] for i in range(n)]


def _dot(t: Tape, a: list[int], b: list[int]) -> int:
    total = t.zero
    for x, y in zip(a, b, strict=True):
        total = t.add(total, t.mul(x, y))
    return total
