"""d/dt ∂L/∂q̇ − ∂L/∂q, and the same along quasi-velocities: what a Lagrangian gives to the equations of the rigid variables.

A Lagrangian with an integral over a member is a sum of a part outside and a density inside; both go through the same operator,
which is linear, so the integral sign never has to be differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

from dalembert.algebra.columns import Column, Rows, contracted, slopes
from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import Derivative, Rewrite, gradient
from dalembert.algebra.scalar import Scalar
from dalembert.geometry.frame import Motion
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.full_speeds import FullSpeeds, hamel_coefficients
from dalembert.kinetics.generalized_forces import constraint_forces, generalized_forces


class InRates:
    """d/dt ∂L/∂q̇_k − ∂L/∂q_k      (k = 1, …, n), with multipliers where there are rows

    Source: Mei85 (7.44), Gre03 (4.14).
    """

    along: Literal["q", "u"] = "q"

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.tape = kin, kin.tape
        self.motion: Motion = kin.motion_in_rates
        self.D_t = Derivative(kin.tape, self.rate)
        self.names = [kin.name(q) for q in kin.q]
        self.accelerations: Sequence[int] = kin.qddot

    def rate(self, i: int) -> int | None:
        """dx/dt of a symbol."""
        return self.tape.rate(i)

    def written(self, e: int) -> int:
        """An expression of the description in these variables."""
        return self.kin.in_rates(e)

    def vector(self, a: Vector) -> Vector:
        """A vector of the description in these variables."""
        return self.kin.vector_in_rates(a)

    def lagrange(self, L: Scalar) -> Column:
        """d/dt ∂L/∂q̇_k − ∂L/∂q_k"""
        t, kin = self.tape, self.kin
        return slopes(L, Column(t, kin.qdot)).map(self.D_t) - slopes(L, Column(t, kin.q))

    def work(self, seeds: Mapping[int, int]) -> Column:
        """Q_k = Σ F·∂v/∂q̇_k, where `seeds` maps components of v to those of F."""
        return Column(self.tape, gradient(self.tape, seeds, self.kin.qdot))

    @cached_property
    def loads(self) -> Column:
        """Q_k of the loads on rigid bodies, and the forces of the rows."""
        return generalized_forces(self.kin) + constraint_forces(self.kin)

    def constraints_imposed(self, e: int) -> int:
        """What is left after the rows are imposed."""
        return e


class HybridInSpeeds:
    """d/dt ∂L̄/∂u_r − Σ_i Φ_ir ∂L̄/∂q_i + Σ_s (∂L̄/∂u_s) (Σ_k γ^s_rk u_k + γ^s_rt)      (r = 1, …, p)

    With rows, all n speeds are kept until after differentiation, as Boltzmann and Hamel need it.

    Source: Bar00 (36)–(40), corrected.
    """

    along: Literal["q", "u"] = "u"

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.tape = kin, kin.tape
        self.full = FullSpeeds(kin)
        self._rates = dict(zip(kin.q, self.full.qdot if kin.rows else kin.qdot_of_u, strict=True))
        self.D_t = Derivative(kin.tape, self.rate)
        self._in_u = Rewrite(kin.tape, dict(zip(kin.qdot, self._rates.values(), strict=True)))
        # without rows the recursion has every velocity in the speeds themselves, free of the angles
        self.motion: Motion = Motion(kin.tape, self.D_t) if kin.rows else kin.motion
        self.names = [kin.name(u) for u in kin.u]
        self.accelerations: Sequence[int] = kin.udot
        gone = (*self.full.u_D, *(kin.tape.rate(x) or kin.tape.zero for x in self.full.u_D))
        self.constraints_imposed = Rewrite(kin.tape, dict.fromkeys(gone, kin.tape.zero)) if kin.rows else _same

    def rate(self, i: int) -> int | None:
        """q̇ = Φ u + X, u̇ as symbols."""
        found = self._rates.get(i)
        return found if found is not None else self.tape.rate(i)

    def written(self, e: int) -> int:
        """An expression of the description in these variables."""
        return self._in_u(self.kin.in_rates(e)) if self.kin.rows else self.kin.in_speeds(e)

    def vector(self, a: Vector) -> Vector:
        """A vector of the description in these variables."""
        f = self.written
        return Vector(self.tape, {F: (f(x), f(y), f(z)) for F, (x, y, z) in a.on(self.tape).parts.items()})

    @cached_property
    def gyroscopic_terms(self) -> Rows:
        """Σ_k γ^s_rk u_k + γ^s_rt as a matrix [s][r]; coefficients that are 0 or ±1 are recognised, exactly."""
        t, u, plain = self.tape, self.full.u, self._plain
        table = (zip(rows, timed, strict=True) for rows, timed in zip(*hamel_coefficients(self.full), strict=True))
        return Rows.of(t, ([contracted(t, zip(map(plain, g), u, strict=True), plain(c)) for g, c in row] for row in table), len(u))

    def _plain(self, e: int) -> int:
        t = self.tape
        if t.value(e) is not None:
            return e
        units = [t.zero, t.one, t.neg(t.one)]
        same = shown_zero(t, [t.sub(e, unit) for unit in units])
        return next((unit for unit, equal in zip(units, same, strict=True) if equal), e)

    @cached_property
    def _Phi_I(self) -> Rows:
        return Rows(self.tape, (row for _, row in self.full.Phi), len(self.full.u)).first(self.kin.n_u)

    def lagrange(self, L: Scalar) -> Column:
        """The left side of the Boltzmann–Hamel equations for one Lagrangian."""
        t, p = self.tape, self.kin.n_u
        P = slopes(L, Column(t, self.full.u))
        return P.first(p).map(self.D_t) - self._Phi_I.T @ slopes(L, Column(t, self.kin.q)) + self.gyroscopic_terms.first(p).T @ P

    def work(self, seeds: Mapping[int, int]) -> Column:
        """U_r = Σ F·∂v/∂u_r, where `seeds` maps components of v to those of F."""
        return Column(self.tape, gradient(self.tape, seeds, self.kin.u))

    @cached_property
    def loads(self) -> Column:
        """U_r = Σ_k Q_k Φ_kr of the loads on rigid bodies."""
        return self._Phi_I.T @ generalized_forces(self.kin).map(self._in_u)


def _same(e: int) -> int:
    return e


Velocities = InRates | HybridInSpeeds
