"""d/dt P_r − Σ_i Φ_ir ∂T̄/∂q_i + Σ_s P_s (Σ_k γ^s_rk u_k + γ^s_rt) = U_r: the Boltzmann–Hamel equations.

T̄(q, u, t) of **all** n speeds, the constrained ones included; they are set to zero only after differentiation, and the sum
over s keeps them, because their momenta P_s do not vanish. The time index of γ carries moving frames and rows.

Source: Bar00 (36)–(40), with 𝒵 W in (39) and the partial time derivatives that the affine terms bring.
"""

from __future__ import annotations

from dalembert.algebra.folds import Derivative, Linear, Rewrite, gradient
from dalembert.kinematics.full_speeds import FullSpeeds
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.energies import kinetic_energy
from dalembert.kinetics.generalized_forces import generalized_forces
from dalembert.kinetics.loads import gravity_potential, potential
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Item, Matrix, NativeForm, Principle, Step, items, on_fork

# indices above and below a γ
HIGH = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LOW = str.maketrans("0123456789t", "₀₁₂₃₄₅₆₇₈₉ₜ")

PRINCIPLE = Principle(
    "boltzmann-hamel",
    "Boltzmann–Hamel equations",
    "d/dt ∂T̄/∂u_r − Σ_i Φ_ir ∂T̄/∂q_i + Σ_s P_s (Σ_k γ^s_rk u_k + γ^s_rt) = U_r",
    "Bar00 (36)–(40)",
    "kinetic energy",
    "scalar",
    "u",
    "Lagrange's equations in speeds that need not be rates of coordinates. The Hamel coefficients γ say by how much they fail to be: they "
    "mix the momenta of all n speeds, also of those that the constraints hold at zero.",
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
    Q = [t.sub(in_u(a), b) for a, b in zip(generalized_forces(kin), V_q, strict=True)]
    rate = Derivative(t, _Rates(kin, full))
    # Σ_s P_s (Ψ̇_si − ∂u_s/∂q_i), one number for each coordinate
    transposition = [[in_u(e) for e in row] for row in full.transposition]
    gyroscopic_terms = [_contracted(kin, P, [row[i] for row in transposition]) for i in range(kin.n_q)]
    along_q = [t.sub(t.sub(g, a), b) for g, a, b in zip(gyroscopic_terms, T_q, Q, strict=True)]
    constraints_imposed = Rewrite(t, dict.fromkeys((*full.u_D, *(t.rate(x) or t.zero for x in full.u_D)), t.zero))
    residuals = []
    for r in range(kin.n_u):
        projected = _contracted(kin, along_q, [Phi_i.get(r, t.zero) for _, Phi_i in full.Phi])
        residuals.append(constraints_imposed(t.add(rate(P[r]), projected)))
    steps = (
        *_speeds(kin, full),
        *_momenta(kin, full, T, P, [rate(P_r) for P_r in P[: kin.n_u]], constraints_imposed),
        *_gyroscopic_terms(kin, full, P, transposition, constraints_imposed),
        *_along_speeds(kin, full, T_q, Q, constraints_imposed),
    )
    return Derivation(PRINCIPLE, kin, steps, NativeForm("u", tuple(residuals), kin.udot))


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


def _speeds(kin: Kinematics, full: FullSpeeds) -> tuple[Step, ...]:
    names, rates = tuple(map(kin.name, full.u)), tuple(map(kin.name, kin.qdot))
    Psi = Matrix(tuple(tuple(row) for row in full.Psi), names, rates)
    return (
        Step(
            "All n speeds",
            "u = Ψ q̇ + ψ, the rows last",
            (*items(names, full.definitions), Item("Ψ", Psi)),
            "Gre03 (4.5)–(4.6)",
            "The constraint rows are counted as speeds too. On every actual motion they are zero, but they are kept until all is "
            "differentiated.",
        ),
        Step(
            "Rates",
            "q̇ = Φ u + X",
            items(rates, full.qdot),
            "Gre03 (4.3)",
            "The inverse, with all n speeds alive.",
        ),
    )


def _momenta(kin: Kinematics, full: FullSpeeds, T: int, P: list[int], P_dot: list[int], constraints_imposed: Rewrite) -> tuple[Step, ...]:
    numbers = range(1, len(full.u) + 1)
    return (
        Step(
            "Kinetic energy in all speeds",
            "T̄(q, u, t) = T(q, Φ u + X, t)",
            (Item("T̄", T),),
            "Bar00 (36)",
            "Setting the constrained speeds to zero here would lose their momenta, and with them terms of the equations.",
        ),
        Step(
            "Momenta",
            "P_s = ∂T̄/∂u_s, then u_s = 0 for the rows",
            items((f"P_{s}" for s in numbers), [constraints_imposed(p) for p in P]),
            "Bar00 (36)",
            "A constrained speed is zero, its momentum need not be: T̄ couples it with the others.",
        ),
        Step(
            "Rates of the momenta",
            "d/dt P_r",
            items((f"d/dt P{_low(r)}" for r in numbers[: kin.n_u]), [constraints_imposed(p) for p in P_dot]),
            "Bar00 (36)",
            "Only for the p independent speeds: the other rows would determine the constraint forces.",
        ),
    )


def _gyroscopic_terms(
    kin: Kinematics, full: FullSpeeds, P: list[int], transposition: list[list[int]], constraints_imposed: Rewrite
) -> tuple[Step, ...]:
    """γ^s_rk and what P_s carries into the r-th equation, for the p equations that are kept."""
    linear = Linear(kin.tape, full.u)
    coefficients: list[Item] = []
    carried: list[Item] = []
    for r in range(kin.n_u):
        Phi_r = [Phi_i.get(r, kin.tape.zero) for _, Phi_i in full.Phi]
        for s, row in enumerate(transposition):
            total = _contracted(kin, row, Phi_r)
            at_rest, gamma = linear(total)
            coefficients += [Item(_gamma(s, r, str(k + 1)), c) for k, c in sorted(gamma.items())]
            coefficients += [Item(_gamma(s, r, "t"), at_rest)] if at_rest != kin.tape.zero else []
            carried.append(Item(f"from P{_low(s + 1)} in equation {r + 1}", constraints_imposed(kin.tape.mul(P[s], total))))
    return (
        Step(
            "Hamel coefficients",
            "Σ_i (Ψ̇_si − ∂u_s/∂q_i) Φ_ir = Σ_k γ^s_rk u_k + γ^s_rt",
            tuple(coefficients),
            "Bar00 (40)",
            "They vanish where the speeds are rates of coordinates. All that are not listed are zero.",
            sparse=True,
        ),
        Step(
            "What the momenta carry",
            "P_s (Σ_k γ^s_rk u_k + γ^s_rt)",
            tuple(carried),
            "Bar00 (39)",
            "Here the momenta of the constrained speeds do their work: whoever sets these speeds to zero before differentiating loses "
            "what stands beside their P.",
            sparse=True,
        ),
    )


def _low(number: int) -> str:
    return str(number).translate(LOW)


def _gamma(s: int, r: int, k: str) -> str:
    """γ³₁₂, with commas where an index has two digits"""
    low = f"{r + 1}{k}" if r < 9 and len(k) == 1 else f"{r + 1},{k}"
    return f"γ{str(s + 1).translate(HIGH)}{low.translate(LOW)}"


def _along_speeds(kin: Kinematics, full: FullSpeeds, T_q: list[int], Q: list[int], constraints_imposed: Rewrite) -> tuple[Step, ...]:
    columns = [[Phi_i.get(r, kin.tape.zero) for _, Phi_i in full.Phi] for r in range(kin.n_u)]
    numbers = range(1, kin.n_u + 1)
    slopes, U = ([constraints_imposed(_contracted(kin, along_q, Phi_r)) for Phi_r in columns] for along_q in (T_q, Q))
    return (
        Step(
            "Slopes of the kinetic energy",
            "Σ_i Φ_ir ∂T̄/∂q_i",
            items((f"Σ Φᵢ{_low(r)} ∂T̄/∂qᵢ" for r in numbers), slopes),
            "Bar00 (36)",
            "Summed over i, along the allowed motion that each speed brings. With speeds along axes of the body they often vanish.",
            sparse=True,
        ),
        Step(
            "Generalized forces",
            "U_r = Σ_i Q_i Φ_ir",
            items((f"U_{r}" for r in numbers), U),
            "Bar00 (38)",
            "The power of the applied loads for each unit of a speed.",
        ),
    )
