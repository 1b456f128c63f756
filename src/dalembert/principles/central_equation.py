"""d/dt Σ(m v·r_k + H·θ_k) − Σ(m v·∂v/∂q_k + H·(∂ω/∂q_k + ω×θ_k)) = Q_k + (Aᵀλ)_k: Heun's central equation.

Through the vector momenta m v and H: no acceleration is formed and no kinetic energy. It rests on the two identities
d r_k/dt = ∂v/∂q_k and dθ_k/dt = ∂ω/∂q_k + ω × θ_k in components along N.

Source: Mei85 (7.35), Mar (12)–(13); named in Bar00.
"""

from __future__ import annotations

from dalembert.algebra.folds import Derivative, Linear, gradient
from dalembert.algebra.tape import Triple
from dalembert.geometry.vector import Vector, cross3, dot3
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.generalized_forces import constraint_force, generalized_forces, multipliers
from dalembert.kinetics.loads import gravity_potential, potential
from dalembert.model.system import System
from dalembert.principles.base import Derivation, NativeForm, Principle, Step, items, on_fork

PRINCIPLE = Principle(
    "central-equation",
    "Central equation",
    "d/dt Σ(m v·r_k + H·θ_k) − Σ(m v·∂v/∂q_k + H·(∂ω/∂q_k + ω×θ_k)) = Q_k + (Aᵀλ)_k",
    "Mei85 (7.35), Mar (12)",
    "momenta",
    "vector",
    "q̇",
    "The virtual power of inertia as a total derivative of momentum less what changes of the velocities with position take: neither an "
    "acceleration nor a kinetic energy is needed.",
)


def central_equation(system: System | Kinematics) -> Derivation:
    """d/dt (momentum along q_k) − (momenta times the change of velocities with q_k) = Q_k + (Aᵀλ)_k"""
    kin = on_fork(system)
    t = kin.tape
    momenta, changes = [t.zero] * kin.n_q, [t.zero] * kin.n_q
    for body in kin.system.bodies:
        v = _in_N(kin, kin.motion_in_rates.v(body.G))
        m_v: Triple = (t.mul(body.mass.i, v[0]), t.mul(body.mass.i, v[1]), t.mul(body.mass.i, v[2]))
        _collect(kin, momenta, changes, m_v, v, None)
        if body.frame is not None and body.inertia is not None:
            omega = kin.motion_in_rates.w(body.frame)
            H = _in_N(kin, body.inertia @ omega)
            _collect(kin, momenta, changes, H, _in_N(kin, omega), H)
    V = t.add(potential(kin), gravity_potential(kin))
    V_q = gradient(t, {V: t.one}, kin.q)
    Q, lam = generalized_forces(kin), multipliers(kin)
    rate = Derivative(t, t.rate)
    residuals = []
    for k in range(kin.n_q):
        inertia = t.sub(rate(momenta[k]), changes[k])
        residuals.append(t.sub(t.add(inertia, V_q[k]), t.add(Q[k], constraint_force(kin, lam, k))))
    names = [kin.name(q) for q in kin.q]
    steps = (
        Step(
            "Momenta",
            "p_k = Σ m v·r_k + H·θ_k",
            items(names, momenta),
            "Mar (12)",
            "The momentum vectors projected on the displacements that each coordinate brings.",
        ),
        Step(
            "Changes of velocity",
            "Σ m v·∂v/∂q_k + H·(∂ω/∂q_k + ω×θ_k)",
            items(names, changes),
            "Mar (13)",
            "Because d r_k/dt = ∂v/∂q_k, this is what must be taken from the rate of the momentum so that m a·r_k is left.",
        ),
    )
    return Derivation(PRINCIPLE, kin, steps, NativeForm("q", tuple(residuals), kin.qddot, lam))


def _in_N(kin: Kinematics, v: Vector) -> Triple:
    return v.on(kin.tape).components(kin.system.N)


def _collect(kin: Kinematics, momenta: list[int], changes: list[int], momentum: Triple, velocity: Triple, turning: Triple | None) -> None:
    """Add momentum · velocity_k and momentum · ∂velocity/∂q_k (for a rotation also H·(ω × θ_k))."""
    t = kin.tape
    linear = Linear(t, kin.qdot)
    forms = [linear(c)[1] for c in velocity]
    # momentum held fixed, velocity swept backwards once
    seeds: dict[int, int] = {}
    for c, m in zip(velocity, momentum, strict=True):
        seeds[c] = t.add(seeds.get(c, t.zero), m)
    for k, change in enumerate(gradient(t, seeds, kin.q)):
        along: Triple = tuple(f.get(k, t.zero) for f in forms)  # type: ignore[assignment]
        momenta[k] = t.add(momenta[k], dot3(t, momentum, along))
        changes[k] = t.add(changes[k], change)
        if turning is not None:
            changes[k] = t.add(changes[k], dot3(t, turning, cross3(t, velocity, along)))
