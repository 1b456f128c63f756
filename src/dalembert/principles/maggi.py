"""Σ_i [d/dt ∂T/∂q̇_i − ∂T/∂q_i − Q_i] Φ_ij = 0: Maggi's equations.

T of the **unconstrained** system; the first p columns of Φ project Lagrange's operators onto the directions the rows
leave free, so that no multiplier appears.

Source: Gre03 (4.19), Bar00 (43).
"""

from __future__ import annotations

from dalembert.algebra.folds import Derivative, Rewrite, gradient
from dalembert.kinematics.full_speeds import FullSpeeds
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.energies import kinetic_energy
from dalembert.kinetics.generalized_forces import generalized_forces
from dalembert.kinetics.loads import gravity_potential, potential
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, Matrix, NativeForm, Principle, Step, items, on_fork

PRINCIPLE = Principle(
    "maggi",
    "Maggi's equations",
    "Σ_i (d/dt ∂T/∂q̇_i − ∂T/∂q_i − Q_i) Φ_ij = 0",
    "Gre03 (4.19), Bar00 (43)",
    "kinetic energy",
    "scalar",
    "u",
    "Lagrange's operators hold for the unconstrained system, apart from constraint forces. Each of the first p columns of Φ is a motion "
    "that the constraints allow; along it the constraint forces do no work and drop out.",
)


def maggi(system: System | Kinematics) -> Derivation:
    """Σ_i [d/dt ∂T/∂q̇_i − ∂T/∂q_i − Q_i] Φ_ij = 0      (j = 1, …, p)"""
    kin = on_fork(system)
    t = kin.tape
    T = kinetic_energy(kin, kin.motion_in_rates.v, kin.motion_in_rates.w)
    V = t.add(potential(kin), gravity_potential(kin))
    rate = Derivative(t, t.rate)
    p, T_q, V_q = (gradient(t, {f: t.one}, x) for f, x in ((T, kin.qdot), (T, kin.q), (V, kin.q)))
    Q = [t.sub(a, b) for a, b in zip(generalized_forces(kin), V_q, strict=True)]
    operators = [t.sub(rate(p_i), T_i) for p_i, T_i in zip(p, T_q, strict=True)]
    effective = [t.sub(a, b) for a, b in zip(operators, Q, strict=True)]
    printed = _projected(kin, effective)
    # q̈ = W u̇ + c and q̇ = W u + X turn them into p equations for u̇
    insert = Rewrite(t, dict(zip((*kin.qddot, *kin.qdot), (*kin.qddot_of_u, *kin.qdot_of_u), strict=True)))
    residuals = tuple(insert(e) for e in printed)
    return Derivation(PRINCIPLE, kin, _steps(kin, T, operators, Q, printed), NativeForm("u", residuals, kin.udot, printed=tuple(printed)))


def _projected(kin: Kinematics, along_q: list[int]) -> list[int]:
    """Σ_i E_i Φ_ij for the first p columns of Φ, which are those of W."""
    t = kin.tape
    total = [t.zero] * kin.n_u
    for E, (_, W) in zip(along_q, kin.WX, strict=True):
        for j, w in W.items():
            total[j] = t.add(total[j], t.mul(E, w))
    return total


def _steps(kin: Kinematics, T: int, operators: list[int], Q: list[int], printed: list[int]) -> tuple[Step, ...]:
    names = [kin.name(q) for q in kin.q]
    full = FullSpeeds(kin)
    speeds, rates = tuple(map(kin.name, full.u)), tuple(map(kin.name, kin.qdot))
    Psi = Matrix(tuple(tuple(row) for row in full.Psi), speeds, rates)
    zero = kin.tape.zero
    Phi = Matrix(tuple(tuple(row.get(r, zero) for r in range(len(full.u))) for _, row in full.Phi), rates, speeds)
    return (
        Step(
            "All n speeds",
            "u = Ψ q̇ + ψ, the rows last",
            (*items(speeds, full.definitions), Item("Ψ", Psi)),
            "Gre03 (4.5)–(4.6)",
            "There are as many speeds as coordinates. The last ones are the constraint rows: speeds that are zero on every actual motion.",
        ),
        Step(
            "Inverse",
            "Φ = Ψ⁻¹",
            (Item("Φ", Phi),),
            "Gre03 (4.8)",
            "A column says how the coordinates move when one speed is 1 and all others are 0. In the first p columns the rows stay "
            "satisfied: these are the virtual motions.",
        ),
        Step(
            "Unconstrained kinetic energy",
            "T = Σ ½ m v·v + ½ ω·I·ω",
            (Item("T", T),),
            "Gre03 (4.43)",
            "The rows must not be put into T before it is differentiated: T has to know how it would change if they were broken.",
        ),
        Step(
            "Lagrangian operators",
            "d/dt ∂T/∂q̇ − ∂T/∂q",
            items(names, operators),
            "Gre03 (4.15)",
            "One for each coordinate, as if there were no constraint.",
        ),
        Step(
            "Generalized forces",
            "Q_i",
            items(names, Q),
            "Gre03 (4.15)",
            "Of the applied loads alone; the constraint forces are left out, since the next step removes them.",
        ),
        Step(
            "Maggi's equations",
            PRINCIPLE.statement,
            items([kin.name(u) for u in kin.u], printed),
            "Gre03 (4.19)",
            "The operators summed along each allowed motion: p equations without multipliers, still in all n accelerations.",
        ),
    )
