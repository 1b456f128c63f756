"""d/dt P_r − Σ_i Φ_ir ∂T̄/∂q_i + Σ_s P_s (Σ_k γ^s_rk u_k + γ^s_rt) = U_r: the Boltzmann–Hamel
equations.

T̄(q, u, t) of **all** n speeds, the constrained ones included; they are set to zero only after
differentiation, and the sum over s keeps them, because their momenta P_s do not vanish. The time
index of γ carries moving frames and rows.

Source: Bar00 (36)–(40), with 𝒵 W in (39) and the partial time derivatives that the affine terms
bring.
"""

from __future__ import annotations

from dataclasses import replace

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import applicable_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff, equation
from dalembert.mechanics.kinetics.quasi_velocities import HamelQuantities
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    speed_derivation,
)
from dalembert.symbolic.algebra.formula import Partial, Symbol

PRINCIPLE = texts.BOLTZMANN_HAMEL
TEXTS = texts.BOLTZMANN_HAMEL_STEPS


@check_options
def boltzmann_hamel(system: System | Kinematics) -> Derivation:
    """Ṗ_r − ∂T̄/∂π_r + Σ_s P_s (Σ_k γ^s_rk u_k + γ^s_rt) = U_r      (r = 1, …, p)"""
    full = HamelQuantities(applicable_kinematics(system, energies=True))
    x = full.of
    u, Psi, Phi, qdot = speeds = _speed_steps(full)
    T = (
        full.substitute_rates(x.rates.T.by_formula, qdot)
        .with_letter("T", bar=True)
        .as_step(
            "Kinetic energy in all speeds",
            "Bar00 (36)",
            "All n speeds stay in T̄."
            + " Setting those of the constraint rows to zero here would lose their momenta, and "
            "with them terms of the equations." * bool(x.kin.rows),
        )
    )
    P, P_dot = _momenta(full, T)
    Gamma = full.transposition(Psi, u, Phi).as_step(*TEXTS["Gamma"])
    gamma = full.gamma(Gamma).as_step(
        *TEXTS["gamma"],
        sparse=True,
    )
    coupling = full.momentum_coupling(P, gamma).as_step(
        "Terms of the momenta with Hamel coefficients",
        "Bar00 (39)",
        "The momenta of all n speeds times the Hamel coefficients."
        + " The momenta of the constraint rows contribute: setting their speeds to zero before "
        "differentiating loses these terms." * bool(x.kin.rows),
        sparse=True,
    )
    T_r, Q, U = _force_steps(x, full, T, Phi, qdot)
    steps = (*speeds, T, P, P_dot, Gamma, gamma, coupling, T_r, Q, U)
    return speed_derivation(
        PRINCIPLE, x, steps, equation(P_dot - T_r + full.sum_coupling(coupling), U)
    )


def _speed_steps(full: HamelQuantities) -> tuple[Quantity, Quantity, Quantity, Quantity]:
    u = full.definitions.as_step(
        "All n speeds",
        "Gre03 (4.5)–(4.6)",
        "There are as many speeds as coordinates."
        + " The constraint rows are the last ones. They are zero on every actual motion, and are "
        "kept until everything is differentiated." * bool(full.kin.rows),
    )
    Psi = full.Psi(u).as_step(*TEXTS["Psi"])
    Phi = full.Phi(Psi).as_step(*TEXTS["Phi"])
    qdot = full.qdot(Phi).as_step(*TEXTS["qdot"])
    return u, Psi, Phi, qdot


def _momenta(full: HamelQuantities, T: Quantity) -> tuple[Quantity, Quantity]:
    P = (
        full.impose_rows(diff(T, full.u.at("s")))
        .with_letter("P", "s")
        .as_step(
            "Momenta",
            "Bar00 (36)",
            "One for each of the n speeds."
            + " The speed of a constraint row is zero, but its momentum need not be: T̄ couples it "
            "with the others." * bool(full.kin.rows),
        )
    )
    P_dot = (
        full.impose_rows(full.d_dt(diff(T, full.u.at("r")).first(full.kin.n_u)))
        .with_letter("P", "r", dots=1)
        .as_step(
            "Rates of the momenta",
            "Bar00 (36)",
            "For the independent speeds."
            + " The equations of the other speeds would give the constraint forces."
            * bool(full.kin.rows),
        )
    )
    return P, P_dot


def _force_steps(
    x: Quantities, full: HamelQuantities, T: Quantity, Phi: Quantity, qdot: Quantity
) -> tuple[Quantity, ...]:
    """∂T̄/∂π_r = Σ_i Φ_ir ∂T̄/∂q_i and U_r = Σ_i Φ_ir Q_i"""
    Phi_I = replace(Phi.first(x.kin.n_u), column_labels=x.speed_labels)
    T_r = (
        full.impose_rows(Phi_I.T @ diff(T, x.q))
        .with_symbol(Partial(T.ref, Symbol("π", ("r",))))
        .as_step(
            *TEXTS["T_r"],
            sparse=True,
        )
    )
    Q = (
        full.substitute_rates(x.rates.Q.by_formula - diff(x.V, x.q), qdot)
        .with_letter("Q")
        .as_step(*TEXTS["Q"])
    )
    U = full.impose_rows(Phi_I.T @ Q).with_letter("U", "r").as_step(*TEXTS["U"])
    return T_r, Q, U
