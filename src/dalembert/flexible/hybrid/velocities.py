"""d/dt ∂L/∂q̇ − ∂L/∂q, and the same along quasi-velocities: what a Lagrangian gives to the equations of the rigid variables.

A Lagrangian with an integral over a member is a sum of a part outside and a density inside; both go through the same operator,
which is linear, so the integral sign never has to be differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import Derivative, Rewrite, gradient
from dalembert.geometry.motion import Motion
from dalembert.geometry.vector import Vector
from dalembert.kinematics.full_speeds import FullSpeeds, hamel_coefficients
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.generalized_forces import constraint_force, generalized_forces, multipliers


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

    def lagrange(self, L: int) -> list[int]:
        """d/dt ∂L/∂q̇_k − ∂L/∂q_k"""
        t = self.tape
        p, L_q = gradient(t, {L: t.one}, self.kin.qdot), gradient(t, {L: t.one}, self.kin.q)
        return [t.sub(self.D_t(a), b) for a, b in zip(p, L_q, strict=True)]

    def work(self, seeds: Mapping[int, int]) -> list[int]:
        """Q_k = Σ F·∂v/∂q̇_k, where `seeds` maps components of v to those of F."""
        return gradient(self.tape, seeds, self.kin.qdot)

    @cached_property
    def loads(self) -> list[int]:
        """Q_k of the loads on rigid bodies, and the forces of the rows."""
        t, lam = self.tape, multipliers(self.kin)
        return [t.add(Q, constraint_force(self.kin, lam, k)) for k, Q in enumerate(generalized_forces(self.kin))]

    def constraints_imposed(self, e: int) -> int:
        """What is left after the rows are imposed."""
        return e


class InSpeeds:
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
    def gyroscopic_terms(self) -> list[list[int]]:
        """Σ_k γ^s_rk u_k + γ^s_rt as a table [s][r]; coefficients that are 0 or ±1 are recognised, exactly."""
        t, u = self.tape, self.full.u
        gamma, gamma_t = hamel_coefficients(self.full)
        table = []
        for rows, timed in zip(gamma, gamma_t, strict=True):
            entries = []
            for coefficients, c in zip(rows, timed, strict=True):
                total = self._plain(c)
                for k, g in enumerate(coefficients):
                    total = t.add(total, t.mul(self._plain(g), u[k]))
                entries.append(total)
            table.append(entries)
        return table

    def _plain(self, e: int) -> int:
        t = self.tape
        if t.value(e) is not None:
            return e
        units = [t.zero, t.one, t.neg(t.one)]
        same = shown_zero(t, [t.sub(e, unit) for unit in units])
        return next((unit for unit, equal in zip(units, same, strict=True) if equal), e)

    def lagrange(self, L: int) -> list[int]:
        """The left side of the Boltzmann–Hamel equations for one Lagrangian."""
        t, kin, full = self.tape, self.kin, self.full
        P = gradient(t, {L: t.one}, full.u)
        L_q = gradient(t, {L: t.one}, kin.q)
        found = []
        for r in range(kin.n_u):
            total = self.D_t(P[r])
            for i, (_, Phi_i) in enumerate(full.Phi):
                if r in Phi_i:
                    total = t.sub(total, t.mul(Phi_i[r], L_q[i]))
            for s in range(len(full.u)):
                total = t.add(total, t.mul(P[s], self.gyroscopic_terms[s][r]))
            found.append(total)
        return found

    def work(self, seeds: Mapping[int, int]) -> list[int]:
        """U_r = Σ F·∂v/∂u_r, where `seeds` maps components of v to those of F."""
        return gradient(self.tape, seeds, self.kin.u)

    @cached_property
    def loads(self) -> list[int]:
        """U_r = Σ_k Q_k Φ_kr of the loads on rigid bodies."""
        t = self.tape
        Q = [self._in_u(e) for e in generalized_forces(self.kin)]
        found = []
        for r in range(self.kin.n_u):
            total = t.zero
            for k, (_, Phi_k) in enumerate(self.full.Phi):
                total = t.add(total, t.mul(Q[k], Phi_k.get(r, t.zero)))
            found.append(total)
        return found


def _same(e: int) -> int:
    return e


Velocities = InRates | InSpeeds
