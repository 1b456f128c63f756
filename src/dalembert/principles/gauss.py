"""min G(q̈) subject to A q̈ + γ = 0: Gauss's principle of least constraint.

G = Σ ½ m |a − F/m|² + …, that is S − ΣF·a − ΣM·α up to terms free of q̈. The minimum's conditions are
∂G/∂q̈ = Aᵀλ with the rows.

Source: Bar00, the text before (31) and footnote 2.
"""

from __future__ import annotations

from dalembert.algebra.folds import gradient
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.generalized_forces import constraint_force, multipliers
from dalembert.kinetics.gibbs import gibbs_function
from dalembert.kinetics.loads import applied_forces, applied_torques, dissipation, potential, weights
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, NativeForm, Principle, Step, chetaev_step, items, on_fork

PRINCIPLE = Principle(
    "gauss",
    "Gauss's least constraint",
    "min Σ ½ m |a − F/m|² subject to A q̈ + γ = 0",
    "Bar00 §2, footnote 2",
    "accelerations",
    "both",
    "q̇",
    "Of all accelerations that the constraints allow, the true ones differ least, in the metric of the masses, from those of the same "
    "masses without constraints.",
)


def gauss(system: System | Kinematics) -> Derivation:
    """∂G/∂q̈_k − (Aᵀλ)_k = 0      (k = 1, …, n)"""
    kin = on_fork(system, nonlinear=True)
    t = kin.tape
    G = _constraint_measure(kin)
    lam = multipliers(kin)
    slopes = gradient(t, {G: t.one}, kin.qddot)
    residuals = tuple(t.sub(g, constraint_force(kin, lam, k)) for k, g in enumerate(slopes))
    steps = (
        Step(
            "Gauss's constraint",
            "G = S − ΣF·a − ΣM·α + V_q·q̈",
            (Item("G", G),),
            "Bar00 §2",
            "A quadratic function of the accelerations. Terms free of them do not move its minimum, and some are left out.",
        ),
        Step(
            "Its slopes",
            "∂G/∂q̈_k",
            items(map(kin.name, kin.q), slopes),
            "Bar00 §2",
            "At the minimum the slope of G is a combination of the rows, with multipliers as coefficients; without rows it vanishes.",
        ),
    )
    return Derivation(PRINCIPLE, kin, (*steps, *chetaev_step(kin)), NativeForm("q", residuals, kin.qddot, lam))


def _constraint_measure(kin: Kinematics) -> int:
    """G up to terms free of q̈, in q, q̇, q̈."""
    t = kin.tape
    motion = kin.motion_in_rates

    def a(P: Point) -> Vector:
        return motion.derivative(motion.v(P))

    def alpha(F: Frame) -> Vector:
        return motion.derivative(motion.w(F))

    G = gibbs_function(kin, a, motion.w, alpha)
    for _, F, P in (*applied_forces(kin), *weights(kin)):
        G = t.sub(G, kin.vector_in_rates(F).dot_index(a(P)))
    for _, T, B in applied_torques(kin):
        G = t.sub(G, kin.vector_in_rates(T).dot_index(alpha(B)))
    V_q = gradient(t, {potential(kin): t.one}, kin.q)
    D_q = gradient(t, {dissipation(kin): t.one}, kin.qdot)
    for x, V_k, D_k in zip(kin.qddot, V_q, D_q, strict=True):
        G = t.add(G, t.mul(x, t.add(V_k, D_k)))
    return G
