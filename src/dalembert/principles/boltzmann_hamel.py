"""d/dt P_r − Σ_i Φ_ir ∂T̄/∂q_i + Σ_s P_s (Σ_k γ^s_rk u_k + γ^s_rt) = U_r: the Boltzmann–Hamel equations.

T̄(q, u, t) of **all** n speeds, the constrained ones included; they are set to zero only after differentiation, and the sum
over s keeps them, because their momenta P_s do not vanish. The time index of γ carries moving frames and rows.

Source: Bar00 (36)–(40), with 𝒵 W in (39) and the partial time derivatives that the affine terms bring.
"""

from __future__ import annotations

from dalembert.algebra.folds import Derivative, Rewrite, gradient
from dalembert.kinematics.full_speeds import FullSpeeds
from dalembert.kinematics.kinematics import Kinematics
from dalembert.kinetics.energies import kinetic_energy
from dalembert.kinetics.generalized_forces import along_rates
from dalembert.kinetics.loads import gravity_potential, potential
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, NativeForm, Principle, Step, items, on_fork

PRINCIPLE = Principle(
    "boltzmann-hamel",
    "Boltzmann–Hamel equations",
    "d/dt ∂T̄/∂u_r − Σ_i Φ_ir ∂T̄/∂q_i + Σ_s P_s (Σ_k γ^s_rk u_k + γ^s_rt) = U_r",
    "Bar00 (36)–(40)",
    "kinetic energy",
    "scalar",
    "u",
)


def boltzmann_hamel(system: System | Kinematics) -> Derivation:
    """d/dt P_r − Σ_i Φ_ir ∂T̄/∂q_i + Σ_s P_s Σ_i (Ψ̇_si − ∂u_s/∂q_i) Φ_ir − U_r = 0      (r = 1, …, p)"""
    kin = on_fork(system)
    t = kin.tape
    full = FullSpeeds(kin)
    in_u = Rewrite(t, dict(zip(kin.qdot, full.qdot, strict=True)))
    T = in_u(kinetic_energy(kin, kin.motion_in_rates.v, kin.motion_in_rates.w))
    P = gradient(t, {T: t.one}, full.u)
    T_q = gradient(t, {T: t.one}, kin.q)
    V_q = gradient(t, {t.add(potential(kin), gravity_potential(kin)): t.one}, kin.q)
    Q = [t.sub(in_u(a), b) for a, b in zip(along_rates(kin), V_q, strict=True)]
    rate = Derivative(t, _Rates(kin, full))
    # Σ_s P_s (Ψ̇_si − ∂u_s/∂q_i), one number for each coordinate
    gyration = [_contracted(kin, P, [in_u(row[i]) for row in full.turning]) for i in range(kin.n_q)]
    along_q = [t.sub(t.sub(g, a), b) for g, a, b in zip(gyration, T_q, Q, strict=True)]
    released = Rewrite(t, dict.fromkeys((*full.u_D, *(t.rate(x) or t.zero for x in full.u_D)), t.zero))
    residuals = []
    for r in range(kin.n_u):
        projected = _contracted(kin, along_q, [Phi_i.get(r, t.zero) for _, Phi_i in full.Phi])
        residuals.append(released(t.add(rate(P[r]), projected)))
    return Derivation(PRINCIPLE, kin, _steps(kin, full, T, P, released), NativeForm("u", tuple(residuals), kin.udot))


class _Rates:
    """dx/dt with all n speeds alive: q̇ = Φ u + X, u̇ as symbols."""

    def __init__(self, kin: Kinematics, full: FullSpeeds) -> None:
        self.tape = kin.tape
        self.known = dict(zip(kin.q, full.qdot, strict=True))

    def __call__(self, i: int) -> int | None:
        found = self.known.get(i)
        return found if found is not None else self.tape.rate(i)


def _contracted(kin: Kinematics, a: list[int], b: list[int]) -> int:
    t = kin.tape
    total = t.zero
    for x, y in zip(a, b, strict=True):
        total = t.add(total, t.mul(x, y))
    return total


def _steps(kin: Kinematics, full: FullSpeeds, T: int, P: list[int], released: Rewrite) -> tuple[Step, ...]:
    names = [kin.name(u) for u in full.u]
    return (
        Step("All n speeds", "u = Ψ q̇ + ψ, the rows last", items(names, full.definitions), "Gre03 (4.5)–(4.6)"),
        Step("Rates", "q̇ = Φ u + X", items([kin.name(x) for x in kin.qdot], full.qdot), "Gre03 (4.3)"),
        Step("Kinetic energy in all speeds", "T̄(q, u, t) = T(q, Φ u + X, t)", (Item("T̄", T),), "Bar00 (36)"),
        Step("Momenta after u_D = 0", "P_s = ∂T̄/∂u_s", items([f"P_{n}" for n in names], [released(p) for p in P]), "Bar00 (36)"),
    )
