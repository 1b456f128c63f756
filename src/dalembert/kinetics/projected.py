"""Q_k: every load but gravity along each rate q̇_k, by one sweep backwards through the velocity it acts on."""

from __future__ import annotations

from dalembert.algebra.folds import gradient
from dalembert.kinematics.kinematics import Kinematics
from dalembert.kinetics.loads import applied_forces, applied_torques, dissipation, potential


def loads_along_rates(kin: Kinematics) -> list[int]:
    """Q_k = Σ F·∂v/∂q̇_k + Σ T·ω_k − ∂V/∂q_k − ∂D/∂q̇_k of every load but gravity, in q̇.

    Each load is contracted with the velocity it acts on and swept backwards once: no partial velocity is formed.
    """
    t = kin.tape
    motion = kin.motion_in_rates
    Q = [t.neg(d) for d in gradient(t, {potential(kin): t.one}, kin.q)]
    pairs = [(F, motion.v(P)) for _, F, P in applied_forces(kin)] + [(T, motion.w(B)) for _, T, B in applied_torques(kin)]
    for load, velocity in pairs:
        seeds: dict[int, int] = {}
        for F, c in velocity.parts.items():
            for x, y in zip(c, kin.vector_in_rates(load).components(F), strict=True):
                seeds[x] = t.add(seeds.get(x, t.zero), y)
        Q = [t.add(a, b) for a, b in zip(Q, gradient(t, seeds, kin.qdot), strict=True)]
    D = gradient(t, {dissipation(kin): t.one}, kin.qdot)
    return [t.sub(a, b) for a, b in zip(Q, D, strict=True)]
