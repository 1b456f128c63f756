"""Σ (F − m a)·δr + (M − Ḣ)·δθ = 0: d'Alembert's principle, entirely from positions.

r_k = ∂r/∂q_k, [θ_k]ₓ = (∂R/∂q_k) Rᵀ, a = r̈, Ḣ = d(R I Rᵀ ω)/dt with ω from Ṙ Rᵀ: it shares neither ω nor partial
velocities with the recursion.

Source: Bar00 (13), (16); Mei85 (7.28)–(7.29).
"""

from __future__ import annotations

from dalembert.algebra.folds import gradient
from dalembert.algebra.tape import Triple
from dalembert.geometry.vector import dot3
from dalembert.kinematics.positions import Positions
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.generalized_forces import constraint_force, multipliers
from dalembert.kinetics.loads import applied_forces, applied_torques, dissipation, potential, weights
from dalembert.model.elements import Body
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, NativeForm, Principle, Step, chetaev_step, items, on_fork

PRINCIPLE = Principle(
    "dalembert",
    "d'Alembert's principle",
    "Σ (F − m a)·δr + (M − Ḣ)·δθ = 0",
    "Bar00 (13), (16); Mei85 (7.28)",
    "positions",
    "vector",
    "q̇",
    "What of the applied loads is not used up by inertia does no work on any displacement that the constraints allow: dynamics becomes "
    "statics with the inertia loads added.",
)


def dalembert(system: System | Kinematics) -> Derivation:
    """Σ[(m a − F)·r_k + (Ḣ − M)·θ_k] + ∂V/∂q_k − (Aᵀλ)_k = 0      (k = 1, …, n)"""
    kin = on_fork(system, nonlinear=True)
    t = kin.tape
    at = Positions(kin)
    inertia, work = _inertia(kin, at), _virtual_work(kin, at)
    lam = multipliers(kin)
    residuals = tuple(t.sub(t.sub(inertia[k], work[k]), constraint_force(kin, lam, k)) for k in range(kin.n_q))
    steps = (
        Step(
            "Virtual displacements",
            "δr = Σ r_k δq_k, r_k = ∂r/∂q_k",
            tuple(_displacements(kin, at)),
            "Bar00 (3), (15)",
            "Time is held: a virtual displacement compares neighbouring positions at one instant, so r is differentiated by q alone.",
        ),
        Step(
            "Inertia",
            "Σ m a·r_k + Ḣ·θ_k",
            items(map(kin.name, kin.q), inertia),
            "Bar00 (16)",
            "The accelerations come from differentiating the positions twice, and are projected on the displacements.",
        ),
        Step(
            "Virtual work",
            "Q_k = Σ F·r_k + M·θ_k − ∂V/∂q_k",
            items(map(kin.name, kin.q), work),
            "Bar00 (17), Mei85 (7.41)",
            "The work of the applied loads on the same displacements. The rows, if there are any, enter with a multiplier each.",
        ),
    )
    return Derivation(PRINCIPLE, kin, (*steps, *chetaev_step(kin)), NativeForm("q", residuals, kin.qddot, lam))


def _inertia(kin: Kinematics, at: Positions) -> list[int]:
    t = kin.tape
    total = [t.zero] * kin.n_q
    for body in kin.system.bodies:
        a = at.dt(at.dt(at.r(body.G)))
        m_a: Triple = (t.mul(body.mass.i, a[0]), t.mul(body.mass.i, a[1]), t.mul(body.mass.i, a[2]))
        H_dot = at.dt(_angular_momentum(kin, at, body)) if body.frame is not None else None
        for k in range(kin.n_q):
            total[k] = t.add(total[k], dot3(t, m_a, at.r_k(body.G, k)))
            if H_dot is not None and body.frame is not None:
                total[k] = t.add(total[k], dot3(t, H_dot, at.theta_k(body.frame, k)))
    return total


def _angular_momentum(kin: Kinematics, at: Positions, body: Body) -> Triple:
    """H = R I Rᵀ ω in components along N."""
    t = kin.tape
    assert body.inertia is not None
    assert body.frame is not None
    w = at.w(body.frame)
    R = at.R(body.inertia.frame)
    columns = list(zip(*R, strict=True))
    in_body: Triple = (dot3(t, columns[0], w), dot3(t, columns[1], w), dot3(t, columns[2], w))
    I = body.inertia.on(t).rows
    H: Triple = (dot3(t, I[0], in_body), dot3(t, I[1], in_body), dot3(t, I[2], in_body))
    return dot3(t, R[0], H), dot3(t, R[1], H), dot3(t, R[2], H)


def _virtual_work(kin: Kinematics, at: Positions) -> list[int]:
    t = kin.tape
    Q = [t.neg(d) for d in gradient(t, {potential(kin): t.one}, kin.q)]
    D = gradient(t, {dissipation(kin): t.one}, kin.qdot)
    forces = [(at.in_N(kin.vector_in_rates(F)), P) for _, F, P in (*applied_forces(kin), *weights(kin))]
    torques = [(at.in_N(kin.vector_in_rates(T)), B) for _, T, B in applied_torques(kin)]
    for k in range(kin.n_q):
        Q[k] = t.sub(Q[k], D[k])
        for F, P in forces:
            Q[k] = t.add(Q[k], dot3(t, F, at.r_k(P, k)))
        for T, B in torques:
            Q[k] = t.add(Q[k], dot3(t, T, at.theta_k(B, k)))
    return Q


def _displacements(kin: Kinematics, at: Positions) -> list[Item]:
    """∂r/∂q_k of every mass centre that a coordinate moves, along N."""
    found = []
    for body in kin.system.bodies:
        for k, q in enumerate(kin.q):
            r_k = at.r_k(body.G, k)
            if any(c != kin.tape.zero for c in r_k):
                found += [
                    Item(f"∂{axis}/∂{kin.name(q)} of {body.name}", c) for axis, c in zip("xyz", r_k, strict=True) if c != kin.tape.zero
                ]
    return found
