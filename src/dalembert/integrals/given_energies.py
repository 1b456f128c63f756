"""K₀, K₁, K₂ and the power of the inertia forces where T(q, q̇, t) was given and there are no bodies."""

from __future__ import annotations

from dalembert.algebra.columns import Column, slopes
from dalembert.algebra.folds import Derivative, Linear, Rewrite
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.fields import kinetic


def degrees(kin: Kinematics) -> tuple[int, int, int] | None:
    """K₀, K₁, K₂ by degrees in the speeds; None where there are bodies.

    Source: Mit22 (11).
    """
    declared, t, u = kinetic(kin), kin.tape, kin.u
    if declared is None:
        return None
    K, still = kin.in_speeds(declared), Rewrite(t, dict.fromkeys(u, t.zero))
    whole, K0 = kin.scalar(K), kin.scalar(still(K))
    K1 = Column(t, u) @ slopes(whole, Column(t, u)).map(still)
    return K0.i, K1.i, (whole - (K0 + K1)).i


def inertia_power(kin: Kinematics) -> int:
    """−Σ_r F_r* u_r = Σ_r u_r W_r·(d/dt ∂T/∂q̇ − ∂T/∂q)

    Source: Mar (12)–(17).
    """
    t, declared = kin.tape, kinetic(kin)
    if declared is None:
        return t.zero
    T, qdot_of_u = kin.scalar(declared), Column(t, kin.qdot_of_u)
    accelerations = Rewrite(t, dict(zip(kin.qddot, kin.qddot_of_u, strict=True)))
    p_dot = slopes(T, Column(t, kin.qdot)).map(Derivative(t, t.rate))
    E = (p_dot - slopes(T, Column(t, kin.q))).map(accelerations).map(kin.in_speeds)
    return (E @ (qdot_of_u - qdot_of_u.map(Linear(t, kin.u).constant))).i
