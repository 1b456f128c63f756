"""Σ_i [d/dt ∂T/∂q̇_i − ∂T/∂q_i − Q_i] Φ_ij = 0: Maggi's equations.

T of the **unconstrained** system; the first p columns of Φ project Lagrange's operators onto the
directions the rows leave free, so that no multiplier appears.

Source: Gre03 (4.19), Bar00 (43).
"""

from __future__ import annotations

from dataclasses import replace

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import diff, equation
from dalembert.mechanics.kinetics.quasi_velocities import HamelQuantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    applicable_kinematics,
    speed_derivation,
)

PRINCIPLE = texts.MAGGI
TEXTS = texts.MAGGI_STEPS


@check_options
def maggi(system: System | Kinematics) -> Derivation:
    """Φᵀ (d/dt ∂T/∂q̇ − ∂T/∂q − Q) = 0 for the first p columns of Φ"""
    full = HamelQuantities(applicable_kinematics(system, energies=True))
    x = full.of
    u = full.definitions.as_step(
        "All n speeds",
        "Gre03 (4.5)–(4.6)",
        "There are as many speeds as coordinates."
        + " The last ones are the constraint rows: speeds that are zero on every actual motion."
        * bool(x.kin.rows),
    )
    Psi = full.Psi(u).as_step(*TEXTS["Psi"])
    Phi = full.Phi(Psi).as_step(
        "Inverse",
        "Gre03 (4.8)",
        "Each column is the motion in which one speed is 1 and all others are 0."
        + " The first p columns satisfy the constraint rows: they are the virtual motions."
        * bool(x.kin.rows),
    )
    T = x.rates.T.as_step(
        "Unconstrained kinetic energy",
        "Gre03 (4.43)",
        "In all rates."
        + " The constraint rows are not inserted before T is differentiated: the terms that they "
        "remove have derivatives that count." * bool(x.kin.rows),
    )
    E = (x.rates.d_dt(diff(T, x.qdot)) - diff(T, x.q)).as_step(
        "Lagrangian operators",
        "Gre03 (4.15)",
        "One for each coordinate" + ", as if there were no constraint" * bool(x.kin.rows) + ".",
    )
    Q = (
        (x.rates.Q.by_formula - diff(x.V, x.q))
        .with_letter("Q")
        .as_step(
            "Generalized forces",
            "Gre03 (4.15)",
            "Of the applied loads alone."
            + " Constraint forces are left out, since the next step removes them."
            * bool(x.kin.rows),
        )
    )
    printed = equation(Phi.first(x.kin.n_u).T @ (E - Q)).as_step(*TEXTS["printed"])
    # q̈ = W u̇ + c and q̇ = W u + X turn them into p equations for u̇
    d = speed_derivation(PRINCIPLE, x, (u, Psi, Phi, T, E, Q, printed), x.in_speeds(printed))
    return replace(d, native=replace(d.native, printed=printed.value.nodes))
