"""Σ (F − m a)·δ₁v + (M − Ḣ)·δ₁ω = 0: Jourdain's principle.

Time and position are held, velocities varied. The virtual power is one scalar, linear in all n variations δ₁q̇; with
δ₁q̇ = W δ₁u the coefficient of each independent δ₁u_r vanishes.

Source: Bar00 (33)–(34), (42).
"""

from __future__ import annotations

from dalembert.algebra.folds import Linear, Rewrite, gradient
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics, linear_parts
from dalembert.kinetics.loads import applied_forces, applied_torques, dissipation, potential, weights
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, NativeForm, Principle, Step, on_fork

PRINCIPLE = Principle(
    "jourdain",
    "Jourdain's principle",
    "Σ (F − m a)·δ₁v + (M − Ḣ)·δ₁ω = 0",
    "Bar00 (34)",
    "velocities",
    "vector",
    "u",
    "Hold time and position and vary the velocities in any way that the constraints allow: the loads and the inertia loads together "
    "do no power on the variation.",
)


def jourdain(system: System | Kinematics) -> Derivation:
    """The coefficients of δ₁u_r in the virtual power      (r = 1, …, p)"""
    kin = on_fork(system)
    t = kin.tape
    vary = [t.private_symbol(f"delta_{kin.name(q)}") for q in kin.q]
    power = _virtual_power(kin, vary)
    independent = [t.private_symbol(f"delta_{kin.name(u)}_") for u in kin.u]
    insert = Rewrite(t, {d: _combination(kin, W, independent) for d, (_, W) in zip(vary, kin.WX, strict=True)})
    _, coefficients = Linear(t, independent)(insert(power))
    residuals = tuple(t.neg(coefficients.get(r, t.zero)) for r in range(kin.n_u))
    steps = (
        Step(
            "Virtual power",
            "Σ (F − m a)·δ₁v + (M − Ḣ)·δ₁ω",
            (Item("δ₁P", power),),
            "Bar00 (34)",
            "One scalar, linear in the variations of all n rates. They are not yet independent.",
        ),
        Step(
            "Variations",
            "δ₁q̇ = W δ₁u",
            tuple(Item(kin.name(d), insert(d)) for d in vary),
            "Bar00 (42)",
            "The rows tie the variations to those of the independent speeds. These are arbitrary, so the coefficient of each must vanish.",
        ),
    )
    return Derivation(PRINCIPLE, kin, steps, NativeForm("u", residuals, kin.udot))


def _virtual_power(kin: Kinematics, vary: list[int]) -> int:
    """Σ (F − m a)·δ₁v + (M − Ḣ)·δ₁ω − V_q·δ₁q̇ − D_q̇·δ₁q̇"""
    t = kin.tape
    motion = kin.motion_in_rates
    linear = Linear(t, kin.qdot)

    def varied(velocity: Vector) -> Vector:
        total = Vector(t, {})
        for k, part in linear_parts(linear, velocity)[0].items():
            total = total + part.scaled(vary[k])
        return total

    power = t.zero
    for _, F, P in (*applied_forces(kin), *weights(kin)):
        power = t.add(power, kin.vector_in_speeds(F).dot_index(varied(motion.v(P))))
    for _, T, B in applied_torques(kin):
        power = t.add(power, kin.vector_in_speeds(T).dot_index(varied(motion.w(B))))
    for body in kin.system.bodies:
        power = t.sub(power, (body.mass * kin.a(body.G)).dot_index(varied(motion.v(body.G))))
        if body.frame is not None and body.inertia is not None:
            H_dot = kin.motion.derivative(body.inertia @ kin.w(body.frame))
            power = t.sub(power, H_dot.dot_index(varied(motion.w(body.frame))))
    slopes = gradient(t, {potential(kin): t.one}, kin.q)
    drags = gradient(t, {dissipation(kin): t.one}, kin.qdot)
    for d, V_k, D_k in zip(vary, slopes, drags, strict=True):
        power = t.sub(power, t.mul(d, t.add(V_k, kin.in_speeds(D_k))))
    return power


def _combination(kin: Kinematics, W: dict[int, int], symbols: list[int]) -> int:
    t = kin.tape
    total = t.zero
    for r, w in W.items():
        total = t.add(total, t.mul(w, symbols[r]))
    return total
