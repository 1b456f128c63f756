"""Σ (F − m a)·δr + (M − Ḣ)·δθ = 0: d'Alembert's principle, entirely from positions.

r_k = ∂r/∂q_k, [θ_k]ₓ = (∂R/∂q_k) Rᵀ, a = r̈, Ḣ = d(R I Rᵀ ω)/dt with ω from Ṙ Rᵀ: it shares neither ω nor partial
velocities with the recursion.

Source: Bar00 (13), (16); Mei85 (7.28)–(7.29).
"""

from __future__ import annotations

from dalembert.equations import statements
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.from_positions import FromPositions
from dalembert.kinetics.quantities import Quantities
from dalembert.kinetics.quantity import equation, total
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Principle, along_q, on_fork

PRINCIPLE = Principle(
    "dalembert",
    "d'Alembert's principle",
    statements.DALEMBERT,
    "Bar00 (13), (16); Mei85 (7.28)",
    "positions",
    "vector",
    "q̇",
    "What of the applied loads is not used up by inertia does no work on any displacement that the constraints allow: dynamics becomes "
    "statics with the inertia loads added.",
)


def dalembert(system: System | Kinematics) -> Derivation:
    """Σ m a·r_k + Σ Ḣ·θ_k = Q_k + (Aᵀλ)_k      (k = 1, …, n)"""
    x = Quantities(on_fork(system, nonlinear=True))
    at = FromPositions(x)
    r_k = at.r_k().told(
        "Virtual displacements",
        "Bar00 (3), (15)",
        "δr = Σ r_k δq_k. Time is held: a virtual displacement compares neighbouring positions at one instant, so r is differentiated "
        "by q alone.",
    )
    theta_k = at.theta_k().told("Virtual rotations", "Bar00 (15)", "δθ = Σ θ_k δq_k, from how the axes of each body change with q.")
    a = at.a.told("Accelerations", "Bar00 (16)", "The positions differentiated twice.")
    Hdot = (
        at.d_dt(at.H)
        .called("H", dots=1)
        .told(
            "Rates of the angular momenta",
            "Bar00 (16)",
            "H about the mass centre in components along N, which are differentiated as they are.",
        )
    )
    inertia = (
        (total((x.m * a).dot(r_k)) + total(Hdot.dot(theta_k)))
        .called("K", "k")
        .told(
            "Inertia",
            "Bar00 (16)",
            "The rates of the momenta, projected on the displacements.",
        )
    )
    F, M = at.along_N(x.rates.forces), at.along_N(x.rates.moments)
    Q = (
        x.rates.of_all_loads(F, M, r_k, theta_k)
        .called("Q", "k")
        .told(
            "Virtual work",
            "Bar00 (17), Mei85 (7.41)",
            "The work of the applied loads on the same displacements. The rows, if there are any, enter with a multiplier each.",
        )
    )
    told = (r_k, theta_k, a, Hdot, inertia, Q)
    return along_q(PRINCIPLE, x, told, equation(inertia, Q + (x.A.T @ x.lam).indexed("k")))
