"""Σ_i [d/dt ∂T/∂q̇_i − ∂T/∂q_i − Q_i] Φ_ij = 0: Maggi's equations.

T of the **unconstrained** system; the first p columns of Φ project Lagrange's operators onto the
directions the rows leave free, so that no multiplier appears.

Source: Gre03 (4.19), Bar00 (43).
"""

from __future__ import annotations

from dataclasses import replace

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import applicable_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import diff, equation
from dalembert.mechanics.kinetics.quasi_velocities import HamelQuantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    speed_derivation,
)

PRINCIPLE = texts.MAGGI
TEXTS, ROW_TEXTS = texts.MAGGI_STEPS, texts.MAGGI_ROW_STEPS


@check_options
def maggi(system: System | Kinematics) -> Derivation:
    """Φᵀ (d/dt ∂T/∂q̇ − ∂T/∂q − Q) = 0 for the first p columns of Φ"""
    full = HamelQuantities(applicable_kinematics(system, energies=True))
    x = full.of
    rows = bool(x.kin.rows)
    text = {key: texts.reason_with_rows(step, rows=rows) for key, step in ROW_TEXTS.items()}
    u = full.definitions.as_step(*text["u"])
    Psi = full.Psi(u).as_step(*TEXTS["Psi"])
    Phi = full.Phi(Psi).as_step(*text["Phi"])
    T = x.rates.T.as_step(*text["T"])
    E = (x.rates.d_dt(diff(T, x.qdot)) - diff(T, x.q)).as_step(*text["E"])
    Q = (x.rates.Q.by_formula - diff(x.V, x.q)).with_letter("Q").as_step(*text["Q"])
    printed = equation(Phi.first(x.kin.n_u).T @ (E - Q)).as_step(*TEXTS["printed"])
    # q̈ = W u̇ + c and q̇ = W u + X turn them into p equations for u̇
    d = speed_derivation(PRINCIPLE, x, (u, Psi, Phi, T, E, Q, printed), x.in_speeds(printed))
    return replace(d, native=replace(d.native, printed=printed.value.nodes))
