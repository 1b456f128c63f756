"""q̇ = Φ u + X with **all** n speeds: u_I independent, u_D = A q̇ + b the rows, kept as variables until after differentiation.

Source: Gre03 (4.2)–(4.9).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dalembert.algebra.columns import Column, Rows, jacobian, solution
from dalembert.algebra.folds import Derivative, Linear, Rewrite
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.once import MadeOnce, on_demand


@dataclass
class FullSpeeds:
    """All n speeds of a system: symbols, definitions in q̇, and the rates in terms of them."""

    kin: Kinematics
    # the same on the tape that this one was forked from, where the equations for q̇ are solved
    solved: FullSpeeds | None = None

    @on_demand
    def u_D(self) -> tuple[int, ...]:
        """The dependent speeds: symbols that the rows set to zero."""
        p = self.kin.n_u
        return tuple(self.kin.tape.private_symbol(f"u_D{j}", moving=True, display=f"u_{p + j}") for j in range(1, len(self.kin.rows) + 1))

    @on_demand
    def u(self) -> tuple[int, ...]:
        """u_I, then u_D."""
        return (*self.kin.u, *self.u_D)

    @on_demand
    def definitions(self) -> tuple[int, ...]:
        """u = Ψ q̇ + ψ, as nodes in q̇."""
        return (*self.kin.definitions, *(self.kin.row_in_rates(r) for r in self.kin.rows))

    @on_demand
    def qdot(self) -> list[int]:
        """q̇ = Φ u + X, as nodes in all n speeds."""
        if self.solved is not None:
            return self.solved.qdot
        t, kin = self.kin.tape, self.kin
        linear = Linear(t, kin.qdot)
        # a speed may be a rate itself, so that u is taken from the constant part
        forms = [linear(e) for e in self.definitions]
        solved = solution(t, ((t.sub(c, u), row) for u, (c, row) in zip(self.u, forms, strict=True)))
        return [solved[k] for k in range(kin.n_q)]

    @on_demand
    def Phi(self) -> list[tuple[int, dict[int, int]]]:
        """[(X_i, {r: Φ_ir})]"""
        if self.solved is not None:
            return self.solved.Phi
        linear = Linear(self.kin.tape, self.u)
        return [linear(e) for e in self.qdot]

    @on_demand
    def Psi(self) -> Rows:
        """Ψ_si = ∂u_s/∂q̇_i"""
        t = self.kin.tape
        if self.solved is not None:
            return Rows(t, self.solved.Psi.rows, len(self.u))
        return jacobian(Column(t, self.definitions), Column(t, self.kin.qdot))

    @on_demand
    def transposition(self) -> Rows:
        """dΨ_si/dt − ∂u_s/∂q_i, in q̇: what γ contracts (Bar00 (40), corrected)."""
        t = self.kin.tape
        return self.Psi.map(Derivative(t, t.rate)) - jacobian(Column(t, self.definitions), Column(t, self.kin.q))


_SOLVED: Final = MadeOnce[FullSpeeds]()


def full_speeds(kin: Kinematics) -> FullSpeeds:
    """All n speeds, on a tape of their own; the equations for q̇ are solved once for a description."""

    def solved() -> FullSpeeds:
        full = FullSpeeds(kin.fork())
        # all that is taken from it is on its tape before the first fork of it
        assert len(full.Psi) == len(full.Phi)
        return full

    known = _SOLVED(kin, None, solved)
    return FullSpeeds(kin.fork(known.kin.tape), known)


def hamel_coefficients(full: FullSpeeds) -> tuple[list[list[list[int]]], list[list[int]]]:
    """γ^s_rk = Σ_ij (∂Ψ_si/∂q_j − ∂Ψ_sj/∂q_i) Φ_ir Φ_jk, and γ^s_rt for the time index, as tables [s][r][k] and [s][r].

    γ^s_rt = Σ_ij (∂Ψ_si/∂q_j − ∂Ψ_sj/∂q_i) Φ_ir X_j + Σ_i (∂_tΨ_si − ∂ψ_s/∂q_i) Φ_ir. The transposition relation makes both
    the coefficients, in the speeds, of Σ_i (dΨ_si/dt − ∂u_s/∂q_i) Φ_ir.
    """
    t, kin, n = full.kin.tape, full.kin, len(full.u)
    in_u = Rewrite(t, dict(zip(kin.qdot, full.qdot, strict=True)))
    linear = Linear(t, full.u)
    twist = full.transposition.map(in_u) @ Rows(t, (row for _, row in full.Phi), n)
    forms = [[linear(e) for e in row] for row in twist.dense()]
    return [[[k.get(s, t.zero) for s in range(n)] for _, k in row] for row in forms], [[c for c, _ in row] for row in forms]
