"""q̇ = Φ u + X with **all** n speeds: u_I independent, u_D = A q̇ + b the rows, kept as variables
until after differentiation.
Keywords: Hamel coefficients.

u = Ψ q̇ + ψ, Φ = Ψ⁻¹ and γ as quantities, the constraint rows last.

Source: Gre03 (4.2)–(4.9), Bar00 (36)–(40).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from dalembert.foundation.caching import PerOwnerCache, lazy_property
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, symbol_rate
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.elimination import solve_rows
from dalembert.symbolic.algebra.expression_graph import Derivative, LinearCoefficients, Substitution
from dalembert.symbolic.algebra.formula import Name, Symbol
from dalembert.symbolic.algebra.sparse_matrix import (
    Column,
    SparseMatrix,
    jacobian,
    sum_of_products,
)


@dataclass
class QuasiVelocities:
    """All n speeds of a system: symbols, definitions in q̇, and the rates in terms of them."""

    kin: Kinematics
    # the same on the tape that this one was forked from, where the equations for q̇ are solved
    base: QuasiVelocities | None = None

    @lazy_property
    def u_D(self) -> tuple[int, ...]:
        """The dependent speeds: symbols that the rows set to zero."""
        p = self.kin.n_u
        return tuple(
            self.kin.tape.private_symbol(f"u_D{j}", moving=True, display=f"u_{p + j}")
            for j in range(1, len(self.kin.rows) + 1)
        )

    @lazy_property
    def u(self) -> tuple[int, ...]:
        """u_I, then u_D."""
        return (*self.kin.u, *self.u_D)

    @lazy_property
    def definitions(self) -> tuple[int, ...]:
        """u = Ψ q̇ + ψ, as nodes in q̇."""
        return (*self.kin.definitions, *(self.kin.row_in_rates(r) for r in self.kin.rows))

    @lazy_property
    def qdot(self) -> list[int]:
        """q̇ = Φ u + X, as nodes in all n speeds."""
        if self.base is not None:
            return self.base.qdot
        t, kin = self.kin.tape, self.kin
        linear = LinearCoefficients(t, kin.qdot)
        # a speed may be a rate itself, so that u is taken from the constant part
        forms = [linear(e) for e in self.definitions]
        solved = solve_rows(
            t, ((t.sub(c, u), row) for u, (c, row) in zip(self.u, forms, strict=True))
        )
        return [solved[k] for k in range(kin.n_q)]

    @lazy_property
    def Phi(self) -> list[tuple[int, dict[int, int]]]:
        """[(X_i, {r: Φ_ir})]"""
        if self.base is not None:
            return self.base.Phi
        linear = LinearCoefficients(self.kin.tape, self.u)
        return [linear(e) for e in self.qdot]

    @lazy_property
    def Psi(self) -> SparseMatrix:
        """Ψ_si = ∂u_s/∂q̇_i"""
        t = self.kin.tape
        if self.base is not None:
            return SparseMatrix(t, self.base.Psi.rows, len(self.u))
        return jacobian(Column(t, self.definitions), Column(t, self.kin.qdot))

    @lazy_property
    def transposition(self) -> SparseMatrix:
        """dΨ_si/dt − ∂u_s/∂q_i, in q̇: what γ contracts (Bar00 (40), corrected)."""
        t = self.kin.tape
        return self.Psi.map(Derivative(t, t.rate)) - jacobian(
            Column(t, self.definitions), Column(t, self.kin.q)
        )


_QUASI_VELOCITY_CACHE: Final = PerOwnerCache[QuasiVelocities]()


def quasi_velocities(kin: Kinematics) -> QuasiVelocities:
    """All n speeds, on a tape of their own; the equations for q̇ are solved once for a
    description.
    """

    def solve() -> QuasiVelocities:
        full = QuasiVelocities(kin.fork())
        # all that is taken from it is on its tape before the first fork of it
        assert len(full.Psi) == len(full.Phi)
        return full

    known = _QUASI_VELOCITY_CACHE(kin, None, solve)
    return QuasiVelocities(kin.fork(known.kin.tape), known)


def hamel_coefficients(full: QuasiVelocities) -> tuple[list[list[list[int]]], list[list[int]]]:
    """γ^s_rk = Σ_ij (∂Ψ_si/∂q_j − ∂Ψ_sj/∂q_i) Φ_ir Φ_jk, and γ^s_rt for the time index, as tables
    [s][r][k] and [s][r].

    γ^s_rt = Σ_ij (∂Ψ_si/∂q_j − ∂Ψ_sj/∂q_i) Φ_ir X_j + Σ_i (∂_tΨ_si − ∂ψ_s/∂q_i) Φ_ir. The
    transposition relation makes both the coefficients, in the speeds, of Σ_i (dΨ_si/dt − ∂u_s/∂q_i)
    Φ_ir.
    """
    t, kin, n = full.kin.tape, full.kin, len(full.u)
    in_u = Substitution(t, dict(zip(kin.qdot, full.qdot, strict=True)))
    linear = LinearCoefficients(t, full.u)
    twist = full.transposition.map(in_u) @ SparseMatrix(t, (row for _, row in full.Phi), n)
    forms = [[linear(e) for e in row] for row in twist.dense()]
    return [[[k.get(s, t.zero) for s in range(n)] for _, k in row] for row in forms], [
        [c for c, _ in row] for row in forms
    ]


class HamelQuantities:
    """The n speeds of a system, those of the rows kept alive until all is differentiated."""

    def __init__(self, of: Kinematics | QuasiVelocities, qdot: Sequence[int] | None = None) -> None:
        self.full = of if isinstance(of, QuasiVelocities) else quasi_velocities(of)
        self.kin, self.tape, self.of = self.full.kin, self.full.kin.tape, Quantities(self.full.kin)
        self._qdot = self.full.qdot if qdot is None else qdot
        # q̇ = Φ u + X while u̇ are symbols
        self.rate: Callable[[int], int | None] = partial(
            symbol_rate, self.tape, dict(zip(self.kin.q, self._qdot, strict=True))
        )
        self._rate = Derivative(self.tape, self.rate)
        self.in_u = Substitution(self.tape, dict(zip(self.kin.qdot, self._qdot, strict=True)))
        self._zero_dependent_speeds = Substitution(
            self.tape,
            dict.fromkeys(
                (*self.full.u_D, *(self.tape.rate(x) or x for x in self.full.u_D)), self.tape.zero
            ),
        )

    @lazy_property
    def index_labels(self) -> tuple[str, ...]:
        """1, …, n"""
        return tuple(map(str, range(1, len(self.full.u) + 1)))

    @lazy_property
    def u(self) -> Quantity:
        """u, all of them"""
        return self.of.variables(Symbol("u"), self.full.u, self.index_labels)

    @lazy_property
    def definitions(self) -> Quantity:
        """u = Ψ q̇ + ψ, the rows last"""
        psi = self.of.declared_quantity(
            "ψ",
            Column(
                self.tape,
                map(LinearCoefficients(self.tape, self.kin.qdot).constant, self.full.definitions),
            ),
        )
        tree = Symbol("Ψ") * self.of.qdot.ref + psi.ref
        parts = (self.u, self.of.qdot, psi)
        return Quantity(
            tree,
            Column(self.tape, self.full.definitions),
            parts,
            symbol=self.u.ref,
            row_labels=self.index_labels,
        )

    def Psi(self, u: Quantity) -> Quantity:
        """Ψ = ∂u/∂q̇"""
        names, rates = (
            tuple(Name(self.kin.name(i)) for i in symbols)
            for symbols in (self.full.u, self.kin.qdot)
        )
        return Quantity(
            f.Partial(u.ref, self.of.qdot.ref),
            self.full.Psi,
            (u, self.of.qdot),
            Symbol("Ψ"),
            names,
            rates,
        )

    def Phi(self, Psi: Quantity) -> Quantity:
        """Φ = Ψ⁻¹"""
        Phi = SparseMatrix(self.tape, (row for _, row in self.full.Phi), len(self.full.u))
        return Quantity(
            f.Inverse(Psi.ref), Phi, (Psi,), Symbol("Φ"), Psi.column_labels, Psi.row_labels
        )

    def qdot(self, Phi: Quantity) -> Quantity:
        """q̇ = Φ u + X"""
        X = self.of.declared_quantity("X", Column(self.tape, (X for X, _ in self.full.Phi)))
        tree, parts = Phi.ref * self.u.ref + X.ref, (Phi, self.u, X, self.of.qdot)
        return Quantity(
            tree,
            Column(self.tape, self._qdot),
            parts,
            symbol=self.of.qdot.ref,
            row_labels=self.of.coordinates,
        )

    # ---- while all speeds live -----------------------------------------------------------------

    def substitute_rates(self, a: Quantity, qdot: Quantity) -> Quantity:
        """The same with q̇ = Φ u + X"""
        substituted = a.map(
            lambda tree: f.With(tree, (f.Equation(qdot.ref, qdot.formula),)), self.in_u
        )
        return substituted.with_parts(a, qdot)

    def d_dt(self, a: Quantity) -> Quantity:
        """da/dt with all speeds alive"""
        return a.map(f.Rate, self._rate)

    def impose_rows(self, a: Quantity) -> Quantity:
        """The same where the rows hold: u_D = 0"""
        if not self.full.u_D:
            return a
        u_D = self.of.variables(
            Symbol("u", ("D",)), self.full.u_D, self.index_labels[self.kin.n_u :]
        )
        imposed = a.map(
            lambda tree: f.With(tree, (f.Equation(u_D.ref, f.ZERO),)), self._zero_dependent_speeds
        )
        return imposed.with_parts(a, u_D)

    # ---- Hamel coefficients --------------------------------------------------------------------

    def transposition(self, Psi: Quantity, u: Quantity, Phi: Quantity) -> Quantity:
        """Γ = (Ψ̇ − ∂u/∂q) Φ, for the first p columns of Φ, in the speeds"""
        G = self.full.transposition.map(self.in_u)
        tree = f.Rate(Psi.ref) - f.Partial(u.ref, self.of.q.ref)
        Gamma = Quantity(tree, G, (Psi, u, self.of.q), row_labels=Psi.row_labels) @ Phi.first(
            self.kin.n_u
        )
        return Gamma.with_letter("Γ")

    def gamma(self, Gamma: Quantity) -> Quantity:
        """γ^s_rk = ∂Γ_sr/∂u_k and γ^s_rt = Γ_sr at rest: only those that do not vanish"""
        linear = LinearCoefficients(self.tape, self.full.u)
        coefficients: dict[Symbol, int] = {}
        for r in range(self.kin.n_u):
            for s, row in enumerate(Gamma.value.rows):
                at_rest, slopes = linear(row.get(r, self.tape.zero))
                coefficients |= {_gamma(s, r, str(k + 1)): c for k, c in sorted(slopes.items())}
                coefficients |= {_gamma(s, r, "t"): at_rest} if at_rest != self.tape.zero else {}
        symbol = Symbol("γ", ("r", "k"), ("s",))
        tree = f.Partial(Symbol("Γ", ("s", "r")), self.u.at("k").ref)
        return Quantity(
            tree,
            Column(self.tape, coefficients.values()),
            (Gamma, self.u),
            symbol,
            tuple(coefficients),
        )

    def momentum_coupling(self, P: Quantity, gamma: Quantity) -> Quantity:
        """P_s (Σ_k γ^s_rk u_k + γ^s_rt), for every r and s"""
        t, p, n = self.tape, self.kin.n_u, len(self.full.u)
        twist = [[t.zero] * n for _ in range(p)]
        for symbol, c in zip(gamma.row_labels, gamma.value, strict=True):
            # a symbol of _gamma
            s, (r, k) = int(symbol.above[0]) - 1, symbol.below  # type: ignore[union-attr]
            twist[int(r) - 1][s] = t.add(
                twist[int(r) - 1][s], c if k == "t" else t.mul(c, self.full.u[int(k) - 1])
            )
        terms = [
            t.mul(P.value.nodes[s], self._zero_dependent_speeds(twist[r][s]))
            for r in range(p)
            for s in range(n)
        ]
        labels = tuple(
            f"from P{str(s + 1).translate(SUBSCRIPT_DIGITS)} in equation {r + 1}"
            for r in range(p)
            for s in range(n)
        )
        tree = P.ref * (
            f.Summation(gamma.ref * self.u.at("k").ref, "k") + Symbol("γ", ("r", "t"), ("s",))
        )
        return Quantity(tree, Column(t, terms), (P, gamma, self.u), row_labels=labels)

    def sum_coupling(self, carried: Quantity) -> Quantity:
        """Σ_s of what is carried into equation r"""
        n, nodes, t = len(self.full.u), carried.value.nodes, self.tape
        sums = [
            sum_of_products(t, ((t.one, x) for x in nodes[r * n : (r + 1) * n]))
            for r in range(self.kin.n_u)
        ]
        return Quantity(
            f.Summation(carried.ref, "s"),
            Column(t, sums),
            (carried,),
            row_labels=self.of.speed_labels,
        )


SUBSCRIPT_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _gamma(s: int, r: int, k: str) -> Symbol:
    """γ³₁₂"""
    return Symbol("γ", (str(r + 1), k), (str(s + 1),))
