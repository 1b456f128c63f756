"""d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q + Aᵀλ: Lagrange's equations, with multipliers where there are
rows.

T and V of the system without the rows; the rows enter through A alone. Unknowns are q̈ and λ
together, so the mass matrix in q may be singular (quaternions, massless coordinates) while the
system is regular.

Source: Mei85 (7.44), Bar00 (35), Gre03 (4.14).
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations import principle_statements
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import diff, equation
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import (
    Derivation,
    Principle,
    constraint_row_step,
    coordinate_derivation,
    forked_kinematics,
)

PRINCIPLE = Principle(
    "lagrange",
    "Lagrange's equations",
    principle_statements.LAGRANGE,
    "Mei85 (7.44), Bar00 (35), Gre03 (4.14)",
    "kinetic energy",
    "scalar",
    "q̇",
    "Two scalar functions, T and V, hold all of the inertia and of the conservative loads; "
    "differentiating them gives one equation for "
    "each coordinate.",
)


@check_options
def lagrange(system: System | Kinematics) -> Derivation:
    """d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q + Aᵀλ"""
    x = Quantities(forked_kinematics(system, nonlinear=True, energies=True))
    T = x.rates.T.as_step(
        "Kinetic energy",
        "Gre03 (4.43)",
        "The only place where velocities are needed. If there are constraint rows, T is that of "
        "the system without them.",
    )
    V = x.V.as_step(
        "Potential energy",
        "Mei85 (7.42)",
        "Loads that have a potential need not be looked at one by one.",
    )
    p = (
        diff(T, x.qdot)
        .with_letter("p")
        .as_step(
            "Generalized momenta",
            "Mei85 (7.44)",
            "They are linear in the rates, since T is quadratic; the mass matrix stands beside the "
            "rates.",
        )
    )
    p_dot = x.rates.d_dt(p.by_formula).as_step(
        "Their rates",
        "Mei85 (7.44)",
        "Here the accelerations appear, and with them terms from the change of the mass matrix "
        "along the motion.",
    )
    T_q = diff(T, x.q).as_step(
        "Slopes of the kinetic energy",
        "Mei85 (7.44)",
        "The rates are held. A coordinate that T does not contain has no part here.",
    )
    V_q = diff(V, x.q).as_step(
        "Slopes of the potential energy",
        "Mei85 (7.42), (7.44)",
        "The conservative loads along each coordinate, with the sign turned.",
    )
    Q = x.rates.Q.as_step(
        "Generalized forces",
        "Mei85 (7.41)",
        "The virtual work of the other loads for each unit of δq_k; weights are in V already.",
    )
    return coordinate_derivation(
        PRINCIPLE,
        x,
        (T, V, p, p_dot, T_q, V_q, Q, *constraint_row_step(x)),
        equation(p_dot - T_q + V_q, Q + x.A.T @ x.lam),
    )
