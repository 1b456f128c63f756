"""U_r along the speeds and Q_k along the rates: what the loads contribute to each equation of motion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dalembert.algebra.folds import Linear, gradient
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics, linear_parts
from dalembert.kinetics.loads import applied_forces, applied_torques, dissipation, potential, weights


def generalized_active_forces(kin: Kinematics) -> list[int]:
    """F_r = Σ_P v_r^P · R_P + Σ_B ω_r^B · T_B − ∂V/∂q · W_r − ∂D/∂u_r      (r = 1, …, p)

    What the applied loads contribute along each independent speed. Reactions of ideal constraints contribute
    nothing and may be left out.

    Source: Bar00 (30), Mar (9), Mit22 (27).
    """
    t = kin.tape
    F = [t.zero] * kin.n_u
    for _, R, P in (*applied_forces(kin), *weights(kin)):
        project(kin, F, P, kin.vector_in_speeds(R))
    for _, T, B in applied_torques(kin):
        project(kin, F, B, kin.vector_in_speeds(T))
    # ∂V/∂q · q̇ = Σ_r (∂V/∂q · W_r) u_r + …
    for r, k in Linear(t, kin.u)(kin.along_q(potential(kin)))[1].items():
        F[r] = t.sub(F[r], k)
    D = kin.in_speeds(dissipation(kin))
    for r, k in enumerate(gradient(t, {D: t.one}, kin.u)):
        F[r] = t.sub(F[r], k)
    return F


def project(kin: Kinematics, total: list[int], X: Point | Frame, load: Vector) -> None:
    """Add load · v_r (a force at a point) or load · ω_r (a torque on a frame) to every r."""
    for r, partial in kin.partials(X)[0].items():
        total[r] = kin.tape.add(total[r], partial.dot_index(load))


def generalized_forces(kin: Kinematics) -> list[int]:
    """Q_k = Σ F·∂v/∂q̇_k + Σ T·∂ω/∂q̇_k − ∂D/∂q̇_k, from the virtual work of the loads that have no potential.

    Source: Mei85 (7.40)–(7.41), Bar00 (17).
    """
    t = kin.tape
    Q = virtual_work_of(kin, [(F, P) for _, F, P in applied_forces(kin)], [(T, B) for _, T, B in applied_torques(kin)])
    D = dissipation(kin)
    for k, d in enumerate(gradient(t, {D: t.one}, kin.qdot)):
        Q[k] = t.sub(Q[k], d)
    return Q


def virtual_work_of(kin: Kinematics, forces: Iterable[tuple[Vector, Point]], torques: Iterable[tuple[Vector, Frame]]) -> list[int]:
    """δW = Σ F·δr + Σ T·δθ = Σ Q_k δq_k of some forces and torques.

    Source: Mei85 (7.39)–(7.41).
    """
    t = kin.tape
    linear = Linear(t, kin.qdot)
    motion = kin.motion_in_rates
    Q = [t.zero] * kin.n_q
    projected = [(F, motion.v(P)) for F, P in forces] + [(T, motion.w(B)) for T, B in torques]
    for load, velocity in projected:
        vector = kin.vector_in_rates(load)
        for k, coefficient in linear_parts(linear, velocity)[0].items():
            Q[k] = t.add(Q[k], coefficient.dot_index(vector))
    return Q


def multipliers(kin: Kinematics) -> tuple[int, ...]:
    """λ_1, …, λ_m: one symbol for each row."""
    return tuple(kin.tape.private_symbol(f"lambda_{j}") for j in range(1, len(kin.acting_rows) + 1))


def constraint_force(kin: Kinematics, lam: Sequence[int], k: int) -> int:
    """(Aᵀλ)_k

    Source: Gre03 (4.14).
    """
    t = kin.tape
    total = t.zero
    for j, row in enumerate(kin.acting_rows):
        if k in row.A:
            total = t.add(total, t.mul(lam[j], row.A[k]))
    return total


def generalized_forces_by_sweep(kin: Kinematics) -> list[int]:
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
