"""q̇ = Φ u + X with **all** n speeds: u_I independent, u_D = A q̇ + b the rows, kept as variables until after differentiation.

Source: Gre03 (4.2)–(4.9).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dalembert.algebra.folds import Derivative, Linear, Rewrite, gradient
from dalembert.kinematics.elimination import Elimination
from dalembert.kinematics.system_kinematics import Kinematics


@dataclass
class FullSpeeds:
    """All n speeds of a system: symbols, definitions in q̇, and the rates in terms of them."""

    kin: Kinematics

    @cached_property
    def u_D(self) -> tuple[int, ...]:
        """The dependent speeds: symbols that the rows set to zero."""
        p = self.kin.n_u
        return tuple(self.kin.tape.private_symbol(f"u_D{j}", moving=True, display=f"u_{p + j}") for j in range(1, len(self.kin.rows) + 1))

    @cached_property
    def u(self) -> tuple[int, ...]:
        """u_I, then u_D."""
        return (*self.kin.u, *self.u_D)

    @cached_property
    def definitions(self) -> tuple[int, ...]:
        """u = Ψ q̇ + ψ, as nodes in q̇."""
        return (*self.kin.definitions, *(self.kin.row_in_rates(r) for r in self.kin.rows))

    @cached_property
    def qdot(self) -> list[int]:
        """q̇ = Φ u + X, as nodes in all n speeds."""
        t, kin = self.kin.tape, self.kin
        linear = Linear(t, kin.qdot)
        equations = []
        for u, e in zip(self.u, self.definitions, strict=True):
            c, k = linear(e)
            equations.append((t.sub(c, u), dict(k)))
        solved, _ = Elimination(t, equations, lambda _: 0, t.moving).run()
        return [t.neg(solved[k][0]) for k in range(kin.n_q)]

    @cached_property
    def Phi(self) -> list[tuple[int, dict[int, int]]]:
        """[(X_i, {r: Φ_ir})]"""
        linear = Linear(self.kin.tape, self.u)
        return [linear(e) for e in self.qdot]

    @cached_property
    def Psi(self) -> list[list[int]]:
        """Ψ_si = ∂u_s/∂q̇_i"""
        t = self.kin.tape
        return [gradient(t, {e: t.one}, self.kin.qdot) for e in self.definitions]

    @cached_property
    def transposition(self) -> list[list[int]]:
        """dΨ_si/dt − ∂u_s/∂q_i, in q̇: what γ contracts (Bar00 (40), corrected)."""
        t, kin = self.kin.tape, self.kin
        rate = Derivative(t, t.rate)
        held = [gradient(t, {e: t.one}, kin.q) for e in self.definitions]
        return [[t.sub(rate(p), h) for p, h in zip(row, fixed, strict=True)] for row, fixed in zip(self.Psi, held, strict=True)]


def hamel_coefficients(full: FullSpeeds) -> tuple[list[list[list[int]]], list[list[int]]]:
    """γ^s_rk = Σ_ij (∂Ψ_si/∂q_j − ∂Ψ_sj/∂q_i) Φ_ir Φ_jk, and γ^s_rt for the time index, as tables [s][r][k] and [s][r].

    γ^s_rt = Σ_ij (∂Ψ_si/∂q_j − ∂Ψ_sj/∂q_i) Φ_ir X_j + Σ_i (∂_tΨ_si − ∂ψ_s/∂q_i) Φ_ir. The transposition relation makes both
    the coefficients, in the speeds, of Σ_i (dΨ_si/dt − ∂u_s/∂q_i) Φ_ir.
    """
    t, kin = full.kin.tape, full.kin
    in_u = Rewrite(t, dict(zip(kin.qdot, full.qdot, strict=True)))
    linear = Linear(t, full.u)
    gamma: list[list[list[int]]] = []
    gamma_t: list[list[int]] = []
    for row in full.transposition:
        forms = []
        for r in range(len(full.u)):
            total = t.zero
            for g, (_, Phi_i) in zip(row, full.Phi, strict=True):
                if r in Phi_i:
                    total = t.add(total, t.mul(in_u(g), Phi_i[r]))
            forms.append(linear(total))
        gamma.append([[k.get(s, t.zero) for s in range(len(full.u))] for _, k in forms])
        gamma_t.append([c for c, _ in forms])
    return gamma, gamma_t
