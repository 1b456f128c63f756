"""d/dt Σ(m v·r_k + H·θ_k) − Σ(m v·∂v/∂q_k + H·(∂ω/∂q_k + ω×θ_k)) = Q_k + (Aᵀλ)_k: Heun's central
equation.

Through the vector momenta m v and H: no acceleration is formed and no kinetic energy. It rests on
the two identities d r_k/dt = ∂v/∂q_k and dθ_k/dt = ∂ω/∂q_k + ω × θ_k in components along N.

Source: Mei85 (7.35), Mar (12)–(13); named in Bar00.
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff, equation, total
from dalembert.mechanics.kinetics.spatial_fields import SpatialField
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    coordinate_derivation,
)

PRINCIPLE = texts.CENTRAL_EQUATION
TEXTS = texts.CENTRAL_EQUATION_STEPS


@check_options
def central_equation(system: System | Kinematics) -> Derivation:
    """d/dt p_k − c_k = Q_k + (Aᵀλ)_k      (k = 1, …, n)"""
    x = Quantities(forked_kinematics(system))
    v, w, H = (_in_inertial_axes(x, a) for a in (x.rates.v, x.rates.w, x.rates.H))
    q, qdot, momentum = x.q.at("k"), x.qdot.at("k"), x.m * v
    v_k, w_k = diff(v, qdot), diff(w, qdot)
    p = (total(momentum.dot(v_k)) + total(H.dot(w_k))).with_letter("p", "k").as_step(*TEXTS["p"])
    changes = (
        total(momentum.dot(diff(v, q))) + total(H.dot(diff(w, q))) + total(H.cross(w).dot(w_k))
    )
    c = changes.with_letter("c", "k").as_step(*TEXTS["c"])
    Q = (
        x.rates.generalized_force(x.rates.forces, x.rates.moments, v_k, w_k)
        .with_letter("Q", "k")
        .as_step(*TEXTS["Q"])
    )
    return coordinate_derivation(
        PRINCIPLE, x, (p, c, Q), equation(x.rates.d_dt(p) - c, Q + (x.A.T @ x.lam).with_index("k"))
    )


def _in_inertial_axes(x: Quantities, a: Quantity) -> Quantity:
    """The same vectors in components along N, whose axes do not change with q."""
    t, N = x.tape, x.kin.system.N
    along = SpatialField(t, lambda X: Vector(t, {N: a.value(X).components(N)}), a.value.support)
    return Quantity(a.formula, along, a.parts, symbol=a.symbol)
