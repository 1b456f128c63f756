"""d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q + Aᵀλ: Lagrange's equations, with multipliers where there are rows.

T and V of the system without the rows; the rows enter through A alone. Unknowns are q̈ and λ together, so the mass
matrix in q may be singular (quaternions, massless coordinates) while the system is regular.

Source: Mei85 (7.44), Bar00 (35), Gre03 (4.14).
"""

from __future__ import annotations

from dalembert.algebra.folds import Derivative, gradient
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.energies import kinetic_energy
from dalembert.kinetics.generalized_forces import constraint_force, generalized_forces, multipliers
from dalembert.kinetics.loads import gravity_potential, potential
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, NativeForm, Principle, Step, chetaev_step, items, on_fork

PRINCIPLE = Principle(
    "lagrange",
    "Lagrange's equations",
    "d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q + Aᵀλ",
    "Mei85 (7.44), Bar00 (35), Gre03 (4.14)",
    "kinetic energy",
    "scalar",
    "q̇",
    "Two scalar functions, T and V, hold all of the inertia and of the conservative loads; differentiating them gives one equation for "
    "each coordinate.",
)


def lagrange(system: System | Kinematics) -> Derivation:
    """d/dt ∂T/∂q̇_k − ∂T/∂q_k + ∂V/∂q_k − Q_k − Σ_j λ_j A_jk = 0      (k = 1, …, n)"""
    kin = on_fork(system, nonlinear=True)
    t = kin.tape
    T = kinetic_energy(kin, kin.motion_in_rates.v, kin.motion_in_rates.w)
    V = t.add(potential(kin), gravity_potential(kin))
    p = gradient(t, {T: t.one}, kin.qdot)
    dT_dq = gradient(t, {T: t.one}, kin.q)
    dV_dq = gradient(t, {V: t.one}, kin.q)
    Q = generalized_forces(kin)
    lam = multipliers(kin)
    # q̇ and q̈ are symbols of their own here
    rate = Derivative(t, t.rate)
    p_dot = [rate(x) for x in p]
    residuals = []
    for k in range(kin.n_q):
        inertia = t.sub(p_dot[k], dT_dq[k])
        residuals.append(t.sub(t.add(inertia, dV_dq[k]), t.add(Q[k], constraint_force(kin, lam, k))))
    native = NativeForm("q", tuple(residuals), kin.qddot, lam)
    slopes = zip(p_dot, dT_dq, dV_dq, strict=True)
    return Derivation(PRINCIPLE, kin, (*_steps(kin, T, V, p, list(slopes), Q), *chetaev_step(kin)), native)


def _steps(kin: Kinematics, T: int, V: int, p: list[int], slopes: list[tuple[int, int, int]], Q: list[int]) -> tuple[Step, ...]:
    names = [kin.name(q) for q in kin.q]
    rows = tuple(Item(r.name, kin.row_in_rates(r)) for r in kin.rows)
    return (
        Step(
            "Kinetic energy",
            "T = Σ ½ m v·v + ½ ω·I·ω",
            (Item("T", T),),
            "Gre03 (4.43)",
            "The only place where velocities are needed. If there are constraint rows, T is that of the system without them.",
        ),
        Step(
            "Potential energy",
            "V = V(q, t)",
            (Item("V", V),),
            "Mei85 (7.45)",
            "Loads that have a potential need not be looked at one by one.",
        ),
        Step(
            "Generalized momenta",
            "p = ∂T/∂q̇",
            items((f"p_{n}" for n in names), p),
            "Mei85 (7.44)",
            "They are linear in the rates, since T is quadratic; the mass matrix stands beside the rates.",
        ),
        Step(
            "Their rates",
            "d/dt ∂T/∂q̇",
            items((f"d/dt ∂T/∂{kin.name(x)}" for x in kin.qdot), (d for d, _, _ in slopes)),
            "Mei85 (7.44)",
            "Here the accelerations appear, and with them terms from the change of the mass matrix along the motion.",
        ),
        Step(
            "Slopes of the kinetic energy",
            "∂T/∂q",
            items((f"∂T/∂{n}" for n in names), (T_q for _, T_q, _ in slopes)),
            "Mei85 (7.44)",
            "The rates are held. A coordinate that T does not contain has no part here.",
        ),
        Step(
            "Slopes of the potential energy",
            "∂V/∂q",
            items((f"∂V/∂{n}" for n in names), (V_q for _, _, V_q in slopes)),
            "Mei85 (7.45)",
            "The conservative loads along each coordinate, with the sign turned.",
        ),
        Step(
            "Generalized forces",
            "Q_k = Σ F·∂v/∂q̇_k",
            items((f"Q_{n}" for n in names), Q),
            "Mei85 (7.41)",
            "The virtual work of the other loads for each unit of δq_k; weights are in V already.",
        ),
        Step(
            "Constraint rows",
            "A q̇ + b = 0",
            rows,
            "Gre03 (4.4)",
            "Each row brings a constraint force along its own coefficients, with a multiplier λ for its size.",
        ),
    )
