"""min G(q̈) subject to A q̈ + γ = 0: Gauss's principle of least constraint.

G = Σ ½ m |a − F/m|² + …, that is S − ΣF·a − ΣM·α up to terms free of q̈. The minimum's conditions are
∂G/∂q̈ = Aᵀλ with the rows.

Source: Bar00, the text before (31) and footnote 2.
"""

from __future__ import annotations

from dalembert.foundation.suggestions import options_by_name
from dalembert.mechanics.equations import principle_statements
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import D, Quantity, equation, total
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation, Principle, along_q, on_fork

PRINCIPLE = Principle(
    "gauss",
    "Gauss's least constraint",
    principle_statements.GAUSS,
    "Bar00 §2, footnote 2",
    "accelerations",
    "both",
    "q̇",
    "Of all accelerations that the constraints allow, the true ones differ least, in the metric of the masses, from those of the same "
    "masses without constraints.",
)


@options_by_name
def gauss(system: System | Kinematics) -> Derivation:
    """∂G/∂q̈ = Aᵀλ"""
    x = Quantities(on_fork(system, nonlinear=True))
    G = _constraint_measure(x).told(
        "Gauss's constraint",
        "Bar00 §2",
        "A quadratic function of the accelerations. Terms free of them do not move its minimum, and some are left out.",
    )
    G_q = D(G, x.qddot).told(
        "Its slopes",
        "Bar00 §2",
        "At the minimum the slope of G is a combination of the rows, with multipliers as coefficients; without rows it vanishes.",
    )
    return along_q(PRINCIPLE, x, (G, G_q), equation(G_q, x.A.T @ x.lam))


def _constraint_measure(x: Quantities) -> Quantity:
    """G = S − Σ F·a − Σ M·α, and what loads known along the coordinates do: (∂D/∂q̇)·q̈, (∂V/∂q)·q̈"""
    of = x.rates
    G = of.S.spelled - total(of.forces.dot(of.a)) - total(of.moments.dot(of.alpha))
    if x.kin.system.dissipations:
        G = G + D(of.dissipation, x.qdot) @ x.qddot
    if of.placeless is not None:
        G = G + D(of.placeless, x.q) @ x.qddot
    return G.called("G")
