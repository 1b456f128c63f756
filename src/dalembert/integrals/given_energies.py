"""K₀, K₁, K₂ and the power of the inertia forces where T(q, q̇, t) was given and there are no bodies."""

from __future__ import annotations

from dalembert.algebra.folds import Derivative, Linear, Rewrite, gradient
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.loads import kinetic


def degrees(kin: Kinematics) -> tuple[int, int, int] | None:
    """K₀, K₁, K₂ by degrees in the speeds; None where there are bodies.

    Source: Mit22 (11).
    """
    declared, t, u = kinetic(kin), kin.tape, kin.u
    if declared is None:
        return None
    K, still = kin.in_speeds(declared), Rewrite(t, dict.fromkeys(u, t.zero))
    K0, K1 = still(K), t.zero
    for x, p in zip(u, gradient(t, {K: t.one}, u), strict=True):
        K1 = t.add(K1, t.mul(x, still(p)))
    return K0, K1, t.sub(K, t.add(K0, K1))


def inertia_power(kin: Kinematics) -> int:
    """−Σ_r F_r* u_r = Σ_r u_r W_r·(d/dt ∂T/∂q̇ − ∂T/∂q)

    Source: Mar (12)–(17).
    """
    t, T = kin.tape, kinetic(kin)
    if T is None:
        return t.zero
    rate, total, by_u = Derivative(t, t.rate), t.zero, Linear(t, kin.u)
    accelerations = Rewrite(t, dict(zip(kin.qddot, kin.qddot_of_u, strict=True)))
    slopes = gradient(t, {T: t.one}, kin.q)
    for p, slope, qdot in zip(gradient(t, {T: t.one}, kin.qdot), slopes, kin.qdot_of_u, strict=True):
        E = kin.in_speeds(accelerations(t.sub(rate(p), slope)))
        total = t.add(total, t.mul(E, t.sub(qdot, by_u(qdot)[0])))
    return total
