"""d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q + Aᵀλ: Lagrange's equations, with multipliers where there are
rows.

T and V of the system without the rows; the rows enter through A alone. Unknowns are q̈ and λ
together, so the mass matrix in q may be singular (quaternions, massless coordinates) while the
system is regular.

Source: Mei85 (7.44), Bar00 (35), Gre03 (4.14).
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff, equation
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.kinetics.virtual_displacements import (
    koenig_parts,
    variation_symbols,
    virtual_work,
)
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    constraint_row_step,
    coordinate_derivation,
)
from dalembert.symbolic.algebra.formula import Variation, letter

PRINCIPLE = texts.LAGRANGE
TEXTS = texts.LAGRANGE_STEPS


@check_options
def lagrange(system: System | Kinematics) -> Derivation:
    """d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q + Aᵀλ"""
    x = Quantities(forked_kinematics(system, nonlinear=True, energies=True))
    T = x.rates.T.as_step(
        "Kinetic energy",
        "Gre03 (4.43)",
        _kinetic_energy_reason(x),
    )
    V = x.V.as_step(*TEXTS["V"])
    p = diff(T, x.qdot).with_letter("p").as_step(*TEXTS["p"])
    p_dot = x.rates.d_dt(p.by_formula).as_step(*TEXTS["p_dot"])
    T_q = diff(T, x.q).as_step(*TEXTS["T_q"])
    V_q = diff(V, x.q).as_step(*TEXTS["V_q"])
    Q = x.rates.Q.as_step(*TEXTS["Q"])
    statement = equation(p_dot - T_q + V_q, Q + x.A.T @ x.lam)
    L = (T - V).with_letter("L").as_step(*TEXTS["L"])
    shown = (*_koenig_steps(x), T, V, L, p, p_dot, T_q, V_q, Q, *_virtual_work_step(x, Q))
    return coordinate_derivation(PRINCIPLE, x, (*shown, *constraint_row_step(x)), statement)


def _kinetic_energy_reason(x: Quantities) -> str:
    summed = "The sum over all bodies, in the rates."
    rows = " T is that of the system without its constraint rows; the multipliers bring them in."
    return summed + rows * bool(x.kin.rows)


def _koenig_steps(x: Quantities) -> tuple[Quantity, ...]:
    """½ m v·v and ½ ω·I·ω of each body; nothing where there is no rigid body."""
    if x.kin.system.given_kinetic_energies or all(b.inertia is None for b in x.kin.system.bodies):
        return ()
    translation, rotation = koenig_parts(x, x.rates.v, x.rates.w_in_inertia_axes)
    return translation.as_step(*TEXTS["kinetic_energy_of_translation"]), rotation.as_step(
        *TEXTS["kinetic_energy_of_rotation"]
    )


def _virtual_work_step(x: Quantities, Q: Quantity) -> tuple[Quantity, ...]:
    """δW = Σ Q_k δq_k; nothing where no load is left."""
    if all(node == x.tape.zero for node in Q.value):
        return ()
    dq = variation_symbols(x, x.q)
    work = virtual_work(Q, dq, Variation(letter("W")))
    return (work.as_step(*TEXTS["virtual_work"]),)
