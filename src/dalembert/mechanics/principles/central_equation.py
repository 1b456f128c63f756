"""d/dt Σ(m v·r_k + H·θ_k) − Σ(m v·∂v/∂q_k + H·(∂ω/∂q_k + ω×θ_k)) = Q_k + (Aᵀλ)_k: Heun's central equation.

Through the vector momenta m v and H: no acceleration is formed and no kinetic energy. It rests on the two identities
d r_k/dt = ∂v/∂q_k and dθ_k/dt = ∂ω/∂q_k + ω × θ_k in components along N.

Source: Mei85 (7.35), Mar (12)–(13); named in Bar00.
"""

from __future__ import annotations

from dalembert.foundation.suggestions import options_by_name
from dalembert.mechanics.equations import principle_statements
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import D, Quantity, equation, total
from dalembert.mechanics.kinetics.spatial_fields import PlaceField
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation, Principle, along_q, on_fork

PRINCIPLE = Principle(
    "central-equation",
    "Central equation",
    principle_statements.CENTRAL_EQUATION,
    "Mei85 (7.35), Mar (12)",
    "momenta",
    "vector",
    "q̇",
    "The virtual power of inertia as a total derivative of momentum less what changes of the velocities with position take: neither an "
    "acceleration nor a kinetic energy is needed.",
)


@options_by_name
def central_equation(system: System | Kinematics) -> Derivation:
    """d/dt p_k − c_k = Q_k + (Aᵀλ)_k      (k = 1, …, n)"""
    x = Quantities(on_fork(system))
    v, w, H = (_along_N(x, a) for a in (x.rates.v, x.rates.w, x.rates.H))
    q, qdot, momentum = x.q.at("k"), x.qdot.at("k"), x.m * v
    v_k, w_k = D(v, qdot), D(w, qdot)
    p = (
        (total(momentum.dot(v_k)) + total(H.dot(w_k)))
        .called("p", "k")
        .told(
            "Momenta",
            "Mar (12)",
            "The momentum vectors projected on the displacements that each coordinate brings.",
        )
    )
    changes = total(momentum.dot(D(v, q))) + total(H.dot(D(w, q))) + total(H.cross(w).dot(w_k))
    c = changes.called("c", "k").told(
        "Changes of velocity",
        "Mar (13)",
        "Because d r_k/dt = ∂v/∂q_k, this is what must be taken from the rate of the momentum so that m a·r_k is left.",
    )
    Q = (
        x.rates.of_all_loads(x.rates.forces, x.rates.moments, v_k, w_k)
        .called("Q", "k")
        .told(
            "Generalized forces",
            "Mei85 (7.41)",
            "The virtual work of all applied loads, weights and springs among them, for each unit of δq_k.",
        )
    )
    return along_q(PRINCIPLE, x, (p, c, Q), equation(x.rates.d_dt(p) - c, Q + (x.A.T @ x.lam).indexed("k")))


def _along_N(x: Quantities, a: Quantity) -> Quantity:
    """The same vectors in components along N, whose axes do not change with q."""
    t, N = x.tape, x.kin.system.N
    along = PlaceField(t, lambda X: Vector(t, {N: a.value(X).components(N)}), a.value.places)
    return Quantity(a.formula, along, a.parts, symbol=a.symbol)
