"""d/dt P_r − Σ_i Φ_ir ∂T̄/∂q_i + Σ_s P_s (Σ_k γ^s_rk u_k + γ^s_rt) = U_r: the Boltzmann–Hamel equations.

T̄(q, u, t) of **all** n speeds, the constrained ones included; they are set to zero only after differentiation, and the sum
over s keeps them, because their momenta P_s do not vanish. The time index of γ carries moving frames and rows.

Source: Bar00 (36)–(40), with 𝒵 W in (39) and the partial time derivatives that the affine terms bring.
"""

from __future__ import annotations

from dataclasses import replace

from dalembert.foundation.suggestions import options_by_name
from dalembert.mechanics.equations import principle_statements
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import D, Quantity, equation
from dalembert.mechanics.kinetics.quasi_velocities import AllSpeeds
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation, Principle, along_u, suitable
from dalembert.symbolic.algebra.formula import Partial, Symbol

PRINCIPLE = Principle(
    "boltzmann-hamel",
    "Boltzmann–Hamel equations",
    principle_statements.BOLTZMANN_HAMEL,
    "Bar00 (36)–(40)",
    "kinetic energy",
    "scalar",
    "u",
    "Lagrange's equations in speeds that need not be rates of coordinates. The Hamel coefficients γ say by how much they fail to be: they "
    "mix the momenta of all n speeds, also of those that the constraints hold at zero.",
)


@options_by_name
def boltzmann_hamel(system: System | Kinematics) -> Derivation:
    """Ṗ_r − ∂T̄/∂π_r + Σ_s P_s (Σ_k γ^s_rk u_k + γ^s_rt) = U_r      (r = 1, …, p)"""
    full = AllSpeeds(suitable(system, energies=True))
    x = full.of
    u, Psi, Phi, qdot = speeds = _speeds(full)
    T = (
        full.inserted(x.rates.T.spelled, qdot)
        .called("T", bar=True)
        .told(
            "Kinetic energy in all speeds",
            "Bar00 (36)",
            "Setting the constrained speeds to zero here would lose their momenta, and with them terms of the equations.",
        )
    )
    P, P_dot = _momenta(full, T)
    Gamma = full.transposition(Psi, u, Phi).told(
        "Transpositional relations",
        "Bar00 (40)",
        "By how much the variation of each speed and the rate of its variation differ, along each allowed motion.",
    )
    gamma = full.gamma(Gamma).told(
        "Hamel coefficients",
        "Bar00 (40)",
        "They vanish where the speeds are rates of coordinates. All that are not listed are zero.",
        sparse=True,
    )
    carried = full.carried(P, gamma).told(
        "What the momenta carry",
        "Bar00 (39)",
        "Here the momenta of the constrained speeds do their work: whoever sets these speeds to zero before differentiating loses "
        "what stands beside their P.",
        sparse=True,
    )
    T_r, Q, U = _along_speeds(x, full, T, Phi, qdot)
    told = (*speeds, T, P, P_dot, Gamma, gamma, carried, T_r, Q, U)
    return along_u(PRINCIPLE, x, told, equation(P_dot - T_r + full.summed(carried), U))


def _speeds(full: AllSpeeds) -> tuple[Quantity, Quantity, Quantity, Quantity]:
    u = full.definitions.told(
        "All n speeds",
        "Gre03 (4.5)–(4.6)",
        "The constraint rows are counted as speeds too. On every actual motion they are zero, but they are kept until all is "
        "differentiated.",
    )
    Psi = full.Psi(u).told("Their coefficients", "Gre03 (4.5)–(4.6)", "One row for each speed, one column for each rate.")
    Phi = full.Phi(Psi).told("Inverse", "Gre03 (4.8)", "A column says how the coordinates move when one speed is 1 and all others are 0.")
    qdot = full.qdot(Phi).told("Rates", "Gre03 (4.3)", "The inverse, with all n speeds alive.")
    return u, Psi, Phi, qdot


def _momenta(full: AllSpeeds, T: Quantity) -> tuple[Quantity, Quantity]:
    P = (
        full.imposed(D(T, full.u.at("s")))
        .called("P", "s")
        .told(
            "Momenta",
            "Bar00 (36)",
            "A constrained speed is zero, its momentum need not be: T̄ couples it with the others.",
        )
    )
    P_dot = (
        full.imposed(full.d_dt(D(T, full.u.at("r")).first(full.kin.n_u)))
        .called("P", "r", dots=1)
        .told(
            "Rates of the momenta",
            "Bar00 (36)",
            "Only for the p independent speeds: the other rows would determine the constraint forces.",
        )
    )
    return P, P_dot


def _along_speeds(x: Quantities, full: AllSpeeds, T: Quantity, Phi: Quantity, qdot: Quantity) -> tuple[Quantity, ...]:
    """∂T̄/∂π_r = Σ_i Φ_ir ∂T̄/∂q_i and U_r = Σ_i Φ_ir Q_i"""
    Phi_I = replace(Phi.first(x.kin.n_u), across=x.numbers)
    T_r = (
        full.imposed(Phi_I.T @ D(T, x.q))
        .standing_as(Partial(T.ref, Symbol("π", ("r",))))
        .told(
            "Slopes of the kinetic energy",
            "Bar00 (36)",
            "Along the allowed motion that each speed brings. With speeds along axes of the body they often vanish.",
            sparse=True,
        )
    )
    Q = (
        full.inserted(x.rates.Q.spelled - D(x.V, x.q), qdot)
        .called("Q")
        .told(
            "Generalized forces along the coordinates",
            "Bar00 (38)",
            "Of all applied loads; those with a potential by its slopes.",
        )
    )
    U = (
        full.imposed(Phi_I.T @ Q)
        .called("U", "r")
        .told(
            "Generalized forces",
            "Bar00 (38)",
            "The power of the applied loads for each unit of a speed.",
        )
    )
    return T_r, Q, U
