"""q̇ = ∂H/∂p, ṗ = −∂H/∂q + Q + Aᵀλ: Hamilton's canonical equations.

T = ½ q̇ᵀ M q̇ + Bᵀ q̇ + T₀, p = M q̇ + B. The Legendre step stays an unsolved linear system, taken together with the rows,
M q̇ − Aᵀμ = p − B, A q̇ = −b, because M alone may be singular; and
−∂H/∂q_k at fixed p = ½ q̇ᵀ(∂M/∂q_k) q̇ + (∂B/∂q_k)·q̇ + ∂T₀/∂q_k − ∂V/∂q_k.

Source: Mei85 (7.45) for L; the Legendre transformation with rows is written out above.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.folds import Derivative, Linear, Rewrite, gradient
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.energies import kinetic_energy
from dalembert.kinetics.generalized_forces import constraint_force, generalized_forces, multipliers
from dalembert.kinetics.loads import gravity_potential, potential
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, NativeForm, Principle, Step, items, on_fork

PRINCIPLE = Principle(
    "hamilton",
    "Hamilton's equations",
    "q̇ = ∂H/∂p, ṗ = −∂H/∂q + Q + Aᵀλ",
    "Mei85 (7.45)",
    "kinetic energy",
    "scalar",
    "q, p",
    "Coordinates and momenta as equals: 2n equations of the first order, all from one function H(q, p, t).",
)


@dataclass(frozen=True)
class QuadraticForm:
    """T = ½ q̇ᵀ M q̇ + Bᵀ q̇ + T₀"""

    M: list[dict[int, int]]
    B: list[int]
    T0: int


def hamilton(system: System | Kinematics) -> Derivation:
    """ṗ_k + ∂H/∂q_k − Q_k − (Aᵀλ)_k = 0 with p = M q̇ + B      (k = 1, …, n)"""
    kin = on_fork(system)
    t = kin.tape
    form = _quadratic_form(kin)
    V = t.add(potential(kin), gravity_potential(kin))
    rate = Derivative(t, t.rate)
    p = [t.add(_row(kin, form.M[k]), form.B[k]) for k in range(kin.n_q)]
    minus_H_q = [t.sub(a, b) for a, b in zip(_held_momenta(kin, form), gradient(t, {V: t.one}, kin.q), strict=True)]
    Q, lam = generalized_forces(kin), multipliers(kin)
    residuals = tuple(t.sub(rate(p[k]), t.add(minus_H_q[k], t.add(Q[k], constraint_force(kin, lam, k)))) for k in range(kin.n_q))
    H = t.add(t.sub(_half_square(kin, form), form.T0), V)
    names = [kin.name(q) for q in kin.q]
    steps = (
        Step(
            "Momenta",
            "p = ∂T/∂q̇ = M q̇ + B",
            items((f"p_{n}" for n in names), p),
            "Mei85 (7.44)",
            "They take the place of the rates. T is quadratic in the rates, so this is linear and can be turned round.",
        ),
        Step(
            "Hamiltonian",
            "H = p·q̇ − T + V, with q̇ from M q̇ − Aᵀμ = p − B, A q̇ = −b",
            (Item("H", H),),
            "Mei85 (7.45)",
            "Legendre's transformation. It is shown in the rates: written in p it would hold the inverse of M, which may not even exist.",
        ),
        Step(
            "Canonical equations",
            "ṗ = −∂H/∂q + Q + Aᵀλ",
            items((f"−∂H/∂{n}" for n in names), minus_H_q),
            "",
            "∂H/∂q is taken with p held, so the rates change with q; what results is the slope of T at held rates less that of V.",
        ),
    )
    return Derivation(PRINCIPLE, kin, steps, NativeForm("q", residuals, kin.qddot, lam))


def _quadratic_form(kin: Kinematics) -> QuadraticForm:
    t = kin.tape
    T = kinetic_energy(kin, kin.motion_in_rates.v, kin.motion_in_rates.w)
    linear = Linear(t, kin.qdot)
    forms = [linear(p) for p in gradient(t, {T: t.one}, kin.qdot)]
    rest = _at_rest(kin, T)
    return QuadraticForm([M for _, M in forms], [B for B, _ in forms], rest)


def _at_rest(kin: Kinematics, T: int) -> int:
    """T₀ = T at q̇ = 0."""
    return Rewrite(kin.tape, dict.fromkeys(kin.qdot, kin.tape.zero))(T)


def _row(kin: Kinematics, M_k: dict[int, int]) -> int:
    t = kin.tape
    total = t.zero
    for j, m in M_k.items():
        total = t.add(total, t.mul(m, kin.qdot[j]))
    return total


def _half_square(kin: Kinematics, form: QuadraticForm) -> int:
    """½ q̇ᵀ M q̇, which is ½ (p − B)ᵀ M⁻¹ (p − B)"""
    t = kin.tape
    total = t.zero
    for k, M_k in enumerate(form.M):
        total = t.add(total, t.mul(kin.qdot[k], _row(kin, M_k)))
    return t.mul(t.div(t.one, t.const(2)), total)


def _held_momenta(kin: Kinematics, form: QuadraticForm) -> list[int]:
    """½ q̇ᵀ(∂M/∂q_k) q̇ + (∂B/∂q_k)·q̇ + ∂T₀/∂q_k, the rates held while M, B and T₀ are differentiated."""
    t = kin.tape
    half = t.div(t.one, t.const(2))
    seeds = {form.T0: t.one}
    for i, M_i in enumerate(form.M):
        seeds[form.B[i]] = t.add(seeds.get(form.B[i], t.zero), kin.qdot[i])
        for j, m in M_i.items():
            seeds[m] = t.add(seeds.get(m, t.zero), t.mul(half, t.mul(kin.qdot[i], kin.qdot[j])))
    return gradient(t, seeds, kin.q)
