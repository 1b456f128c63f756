"""min G(q̈) subject to A q̈ + γ = 0: Gauss's principle of least constraint.

G = Σ ½ m |a − F/m|² + …, that is S − ΣF·a − ΣM·α up to terms free of q̈. The minimum's conditions
are ∂G/∂q̈ = Aᵀλ with the rows.

Source: Bar00, the text before (31) and footnote 2.
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff, equation, total
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    coordinate_derivation,
)

PRINCIPLE = texts.GAUSS
TEXTS = texts.GAUSS_STEPS


@check_options
def gauss(system: System | Kinematics) -> Derivation:
    """∂G/∂q̈ = Aᵀλ"""
    x = Quantities(forked_kinematics(system, nonlinear=True))
    G = _gauss_function(x).as_step(*TEXTS["G"])
    G_q = diff(G, x.qddot).as_step(
        "Its slopes",
        "Bar00 §2",
        "At the minimum the slope of G is a combination of the constraint rows, with multipliers "
        "as coefficients."
        if x.kin.rows_with_multipliers
        else "At the minimum the slope of G vanishes.",
    )
    return coordinate_derivation(PRINCIPLE, x, (G, G_q), equation(G_q, x.A.T @ x.lam))


def _gauss_function(x: Quantities) -> Quantity:
    """G = S − Σ F·a − Σ M·α, and what loads known along the coordinates do: (∂D/∂q̇)·q̈,
    (∂V/∂q)·q̈
    """
    of = x.rates
    G = of.S.by_formula - total(of.forces.dot(of.a)) - total(of.moments.dot(of.alpha))
    if x.kin.system.dissipations:
        G = G + diff(of.dissipation, x.qdot) @ x.qddot
    if of.unlocated_potential is not None:
        G = G + diff(of.unlocated_potential, x.q) @ x.qddot
    return G.with_letter("G")
