"""Σ (F − m a)·δr + (M − Ḣ)·δθ = 0: d'Alembert's principle, entirely from positions.

r_k = ∂r/∂q_k, [θ_k]ₓ = (∂R/∂q_k) Rᵀ, a = r̈, Ḣ = d(R I Rᵀ ω)/dt with ω from Ṙ Rᵀ: it shares neither
ω nor partial velocities with the recursion.

Source: Bar00 (13), (16); Mei85 (7.28)–(7.29).
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.position_quantities import PositionQuantities
from dalembert.mechanics.kinetics.quantity import Quantity, equation, total
from dalembert.mechanics.kinetics.system_quantities import (
    Quantities,
)
from dalembert.mechanics.kinetics.virtual_displacements import (
    admissible_displacements,
    displacement,
    resultant_force,
    resultant_moment,
    resultant_obstacle,
    variation_symbols,
)
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    Step,
    StepItem,
    coordinate_derivation,
)

PRINCIPLE = texts.DALEMBERT
TEXTS = texts.DALEMBERT_STEPS


@check_options
def dalembert(system: System | Kinematics) -> Derivation:
    """Σ m a·r_k + Σ Ḣ·θ_k = Q_k + (Aᵀλ)_k      (k = 1, …, n)"""
    x = Quantities(forked_kinematics(system, nonlinear=True))
    at = PositionQuantities(x)
    r_k = at.r_k().as_step(*TEXTS["r_k"])
    theta_k = at.theta_k().as_step(*TEXTS["theta_k"])
    a = at.a.as_step(*TEXTS["a"])
    Hdot = at.d_dt(at.H).with_letter("H", dots=1).as_step(*TEXTS["Hdot"])
    inertia = (
        (total((x.m * a).dot(r_k)) + total(Hdot.dot(theta_k)))
        .with_letter("K", "k")
        .as_step(*TEXTS["inertia"])
    )
    F, M = at.in_inertial_axes(x.rates.forces), at.in_inertial_axes(x.rates.moments)
    Q = x.rates.generalized_force(F, M, r_k, theta_k).with_letter("Q", "k").as_step(*TEXTS["Q"])
    statement = equation(inertia, Q + (x.A.T @ x.lam).with_index("k"))
    dq = variation_symbols(x, x.q)
    shown = (
        *admissible_displacements(x, dq),
        *(r_k, theta_k),
        *_displacements(dq, r_k, theta_k),
        *_resultants(x),
        *(a, Hdot, inertia, Q),
        _collected_work(x, Q, inertia, dq),
    )
    return coordinate_derivation(PRINCIPLE, x, shown, statement)


def _displacements(dq: Quantity, r_k: Quantity, theta_k: Quantity) -> tuple[Quantity, Quantity]:
    """δr = Σ r_k δq_k and δθ = Σ θ_k δq_k"""
    return displacement(dq, r_k).as_step(*TEXTS["virtual_displacements"]), displacement(
        dq, theta_k
    ).as_step(*TEXTS["virtual_rotations"])


def _resultants(x: Quantities) -> tuple[Quantity | Step, ...]:
    """F_i and M_Ci, or why they are not shown"""
    obstacle = resultant_obstacle(x)
    if obstacle:
        reason = StepItem("F_i, M_Ci", f"not shown ({obstacle})")
        why = "The generalized forces below contain every load."
        title = "Resultant forces and moments"
        return (Step(title, "of each body", (reason,), "Mei85 (7.29)", why),)
    return resultant_force(x).as_step(*TEXTS["resultant_forces"]), resultant_moment(x).as_step(
        *TEXTS["resultant_moments"]
    )


def _collected_work(x: Quantities, Q: Quantity, inertia: Quantity, dq: Quantity) -> Quantity:
    """(Q − K)·δq = 0"""
    why = (
        "The δq_k are arbitrary, so each coefficient vanishes."
        if not x.kin.rows
        else "The δq_k satisfy the rows. With λ times each row added, all coefficients vanish."
    )
    return equation((Q - inertia) @ dq).as_step(
        "Collected on the virtual displacements", "Mei85 (7.43)", why
    )
