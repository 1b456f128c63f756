"""d/dt ∂L/∂q̇ − ∂L/∂q, and the same along quasi-velocities: what a Lagrangian gives to the
equations of the rigid variables.

A Lagrangian with an integral over a member is a sum of a part outside and a density inside; both go
through the same operator, which is linear, so the integral sign never has to be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal

from dalembert.mechanics.geometry.frame import VelocityRecursion
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff
from dalembert.mechanics.kinetics.quasi_velocities import (
    HamelQuantities,
    QuasiVelocities,
    hamel_coefficients,
)
from dalembert.mechanics.kinetics.system_quantities import Quantities, RateQuantities
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative
from dalembert.symbolic.algebra.formula import Rate
from dalembert.symbolic.algebra.sparse_matrix import SparseMatrix, sum_of_products


class LagrangeOperator:
    """d/dt ∂L/∂q̇_k − ∂L/∂q_k      (k = 1, …, n), with multipliers where there are rows

    Source: Mei85 (7.44), Gre03 (4.14).
    """

    along: Literal["q", "u"] = "q"

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.tape, self.of = kin, kin.tape, Quantities(kin)
        self.motion: VelocityRecursion = kin.motion_in_rates
        self.rate: Callable[[int], int | None] = kin.tape.rate
        self.D_t = Derivative(kin.tape, self.rate)
        self.names = [kin.name(q) for q in kin.q]
        self.accelerations: Sequence[int] = kin.qddot
        self.directions, self.T = self.of.qdot, self.of.rates.T
        # q̇ where it is no variable, and the other terms of the equations than the Lagrangian, for
        # the derivation
        self.rates: tuple[Quantity, ...] = ()
        self.extra_terms: tuple[Quantity, ...] = ()

    def vector(self, a: Vector) -> Vector:
        """A vector of the description in these variables."""
        return self.kin.vector_in_rates(a)

    def lagrange(self, L: Quantity) -> Quantity:
        """d/dt ∂L/∂q̇_k − ∂L/∂q_k"""
        return diff(L, self.of.qdot).map(Rate, self.D_t) - diff(L, self.of.q)

    @cached_property
    def generalized_forces(self) -> Quantity:
        """Q_k of the loads on rigid bodies, and the forces of the rows."""
        Q = self.of.rates.Q
        return Q + self.of.A.T @ self.of.lam if self.kin.rows else Q

    def impose_rows(self, a: Quantity) -> Quantity:
        """The equations after the constraints are imposed."""
        return a


class BoltzmannHamelOperator(HamelQuantities):
    """d/dt ∂L̄/∂u_r − Σ_i Φ_ir ∂L̄/∂q_i + Σ_s (∂L̄/∂u_s) (Σ_k γ^s_rk u_k + γ^s_rt)      (r = 1, …,
    p)

    With rows, all n speeds are kept until after differentiation, as Boltzmann and Hamel need it.

    Source: Bar00 (36)–(40), corrected.
    """

    along: Literal["q", "u"] = "u"

    def __init__(self, kin: Kinematics) -> None:
        # without rows the recursion has every velocity in the speeds themselves, free of the angles
        super().__init__(QuasiVelocities(kin), None if kin.rows else kin.qdot_of_u)
        self.D_t = self._rate
        self.motion: VelocityRecursion = (
            VelocityRecursion(kin.tape, self.D_t) if kin.rows else kin.motion
        )
        self.names = [kin.name(u) for u in kin.u]
        self.accelerations: Sequence[int] = kin.udot
        u = self.definitions
        Psi = self.Psi(u)
        Phi = self.Phi(Psi)
        self.qdot_of_u, self._Phi_I = (
            self.qdot(Phi),
            replace(Phi.first(kin.n_u), column_labels=self.of.speed_labels),
        )
        why = (
            "The difference between the variation of each speed and the rate of its variation; "
            "zero where the speeds are rates."
        )
        Gamma = self.transposition(Psi, u, Phi).as_step(
            "Transpositional relations", "Bar00 (40)", why, sparse=True
        )
        self.Gamma = replace(
            Gamma, value=self.gyroscopic_terms.first(kin.n_u), column_labels=self.of.speed_labels
        )
        self.directions = self.u.first(kin.n_u)
        T = (
            RateQuantities(self.of, self.motion, kin.in_rates, self.vector).T
            if kin.rows
            else self.of.speeds.T
        )
        self.T = (
            self.substitute_rates(T, self.qdot_of_u) if kin.system.given_kinetic_energies else T
        )
        self.rates = (self.qdot_of_u,)
        self.extra_terms = (self.Gamma,) if any(self.Gamma.value.rows) else ()

    def vector(self, a: Vector) -> Vector:
        """A vector of the description in these variables."""
        return a.on(self.tape).map(self._in_speeds)

    def _in_speeds(self, e: int) -> int:
        return self.in_u(self.kin.in_rates(e)) if self.kin.rows else self.kin.in_speeds(e)

    @cached_property
    def gyroscopic_terms(self) -> SparseMatrix:
        """Σ_k γ^s_rk u_k + γ^s_rt as a matrix [s][r]; coefficients that are 0 or ±1 are
        recognised, exactly.
        """
        t, u, plain = self.tape, self.full.u, self._recognise_unit
        table = (
            zip(rows, timed, strict=True)
            for rows, timed in zip(*hamel_coefficients(self.full), strict=True)
        )
        return SparseMatrix.from_dense(
            t,
            (
                [sum_of_products(t, zip(map(plain, g), u, strict=True), plain(c)) for g, c in row]
                for row in table
            ),
            len(u),
        )

    def _recognise_unit(self, e: int) -> int:
        t = self.tape
        if t.value(e) is not None:
            return e
        units = [t.zero, t.one, t.neg(t.one)]
        same = provably_zero(t, [t.sub(e, unit) for unit in units])
        return next((unit for unit, equal in zip(units, same, strict=True) if equal), e)

    def lagrange(self, L: Quantity) -> Quantity:
        """The left side of the Boltzmann–Hamel equations for one Lagrangian."""
        P = diff(L, self.u)
        along = self.d_dt(P.first(self.kin.n_u)) - self._Phi_I.T @ diff(L, self.of.q)
        return along + self.Gamma.T @ P if self.extra_terms else along

    @cached_property
    def generalized_forces(self) -> Quantity:
        """U_r = Σ_k Q_k Φ_kr of the loads on rigid bodies."""
        return self._Phi_I.T @ self.substitute_rates(self.of.rates.Q.by_formula, self.qdot_of_u)


RigidOperator = LagrangeOperator | BoltzmannHamelOperator
