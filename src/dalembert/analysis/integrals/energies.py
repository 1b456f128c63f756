"""K = K₀ + K₁ + K₂, σ_R, σ, 𝒫 and Ż: the quantities from which every energy integral is made.

v = v_R + v_t splits each velocity into the part with the independent speeds and the part without.
The values of K₀, K₁, K₂, σ and σ_R depend on the choice of speeds wherever v_t ≠ 0.

Source: Mit22 (4), (7), (11)–(13), (29)–(30), (56).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from dalembert.analysis.integrals.conservative_terms import LoadSplit, split_loads
from dalembert.errors import BadExpression
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.spatial_fields import (
    applied_loads,
    declared_kinetic_energy,
    potential_energy,
)
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, LinearCoefficients, Substitution
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column, sum_scalars

if TYPE_CHECKING:
    from dalembert.analysis.integrals.classical_potential import ClassicalPotential
    from dalembert.analysis.integrals.conservative_loads import LoadVerdict

# I·
InertiaProduct = Callable[[Vector], Vector]


_NOT_SPLIT: Final = (
    "terms of other loads with the same constants have no potential together with its terms, so it "
    "counts in 𝒫_nc"
)
# speeds beyond which v_R is taken from the recursion of velocities, where v_t vanishes
_MANY_SPEEDS: Final = 12


class Energies:
    """Energies and powers of a system in its p independent speeds, as expressions on one tape."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin = kin.fork()
        self.t = self.kin.tape
        self._split_velocities: dict[Point | Frame, tuple[Vector, Vector]] = {}

    # ---- the two parts of a velocity ---------------------------------------------------------

    def split_velocity(self, X: Point | Frame) -> tuple[Vector, Vector]:
        """(v_R, v_t) of a point, (ω_R, ω_t) of a frame.

        Source: Mit22 (12).
        """
        if X not in self._split_velocities:
            self._split_velocities[X] = self._split(X)
        return self._split_velocities[X]

    def _split(self, X: Point | Frame) -> tuple[Vector, Vector]:
        if len(self.kin.u) > _MANY_SPEEDS:
            # the recursion shares the velocities of parents, which the sum over speeds repeats
            v = self.kin.v(X) if isinstance(X, Point) else self.kin.w(X)
            v_t = v.map(self._without_speeds)
            if not v_t.parts:
                return v, v_t
        partials, rest = self.kin.partial_velocities(X)
        return sum((v_r * self._u(r) for r, v_r in partials.items()), Vector(self.t, {})), rest

    @cached_property
    def _without_speeds(self) -> Substitution:
        """An expression with all speeds at zero: of one that is linear in them the constant part,
        without its coefficients.
        """
        return Substitution(self.t, dict.fromkeys(self.kin.u, self.t.zero))

    def _u(self, r: int) -> Scalar:
        return self.kin.scalar(self.kin.u[r])

    def _sum_over_bodies(
        self,
        linear: Callable[[Vector, Vector], Scalar],
        angular: Callable[[Vector, Vector, InertiaProduct], Scalar],
    ) -> Scalar:
        """Σ m linear(v_R, v_t) + angular(ω_R, ω_t, I·) over all bodies."""
        total = Scalar(self.t, self.t.zero)
        for body in self.kin.system.bodies:
            total += linear(*self.split_velocity(body.G)) * body.mass
            if body.frame is not None and body.inertia is not None:
                total += angular(
                    *self.split_velocity(body.frame), body.inertia.on(self.t).__matmul__
                )
        return total

    # ---- kinetic energies --------------------------------------------------------------------

    @cached_property
    def _declared_energies(self) -> tuple[Scalar, Scalar, Scalar] | None:
        """K₀, K₁, K₂ where T was given; None where there are bodies."""
        return kinetic_energy_by_degree(self.kin)

    @cached_property
    def K2(self) -> Scalar:
        """K₂ = ½ Σ m v_R·v_R + ½ ω_R·I·ω_R"""
        if self._declared_energies is not None:
            return self._declared_energies[2]
        return self._sum_over_bodies(lambda v_R, _: v_R @ v_R, lambda w_R, _, I: w_R @ I(w_R)) / 2

    @cached_property
    def K1(self) -> Scalar:
        """K₁ = Σ m v_t·v_R + ω_t·I·ω_R"""
        if self._declared_energies is not None:
            return self._declared_energies[1]
        return self._sum_over_bodies(lambda v_R, v_t: v_t @ v_R, lambda w_R, w_t, I: w_t @ I(w_R))

    @cached_property
    def K0(self) -> Scalar:
        """K₀ = ½ Σ m v_t·v_t + ½ ω_t·I·ω_t"""
        if self._declared_energies is not None:
            return self._declared_energies[0]
        return self._sum_over_bodies(lambda _, v_t: v_t @ v_t, lambda _, w_t, I: w_t @ I(w_t)) / 2

    @cached_property
    def K(self) -> Scalar:
        """K = K₂ + K₁ + K₀"""
        return self.K2 + self.K1 + self.K0

    # ---- σ_R and σ ---------------------------------------------------------------------------

    @cached_property
    def sigma_R(self) -> Scalar:
        """σ_R = Σ m v_R·dv_t/dt + ω_R·I·(ᴮdω_t/dt) + ω_R·(ω_t × I·ω),   ᴮdω_t/dt = dω_t/dt − ω ×
        ω_t

        Source: Mit22 (4), (29).
        """
        if self._declared_energies is not None:
            # K̇₂ + σ_R is the power of the inertia forces along the speeds, Mit22 (56); v_t holds
            # no speed, so σ_R holds no u̇
            steady = Substitution(self.t, dict.fromkeys(self.kin.udot, self.t.zero))
            return self.kin.scalar(steady((inertia_power(self.kin) - self.rate(self.K2)).i))
        d_dt = self.kin.motion.derivative

        def angular(w_R: Vector, w_t: Vector, I: InertiaProduct) -> Scalar:
            w = w_R + w_t
            return w_R @ (I(d_dt(w_t) - w.cross(w_t)) + w_t.cross(I(w)))

        return self._sum_over_bodies(lambda v_R, v_t: v_R @ d_dt(v_t), angular)

    @cached_property
    def sigma(self) -> Scalar:
        """σ = Σ m v·dv_t/dt + ω·I·dω_t/dt

        Source: Mit22 (7), (30).
        """
        if self._declared_energies is not None:
            return self.sigma_R + self.rate(self.K0)
        d_dt = self.kin.motion.derivative
        return self._sum_over_bodies(
            lambda v_R, v_t: (v_R + v_t) @ d_dt(v_t), lambda w_R, w_t, I: (w_R + w_t) @ I(d_dt(w_t))
        )

    # ---- potentials and powers ---------------------------------------------------------------

    @cached_property
    def loads(self) -> tuple[LoadVerdict, ...]:
        """Which of the loads declared as forces have a potential.

        Source: Mit22 (17)–(19).
        """
        from dalembert.analysis.integrals.conservative_loads import load_verdicts

        if not self.kin.system.loads:
            return ()
        return tuple(
            verdict
            if not verdict.has_potential or self.split.whole.issuperset(verdict.loads)
            else replace(verdict, why=f"{verdict.why}; {_NOT_SPLIT}")
            for verdict in load_verdicts(self.kin)
        )

    @cached_property
    def split(self) -> LoadSplit:
        """The terms of the loads that have a potential, and those that have none.

        Source: Mit22 (18)–(19).
        """
        fields = _virtual_work(self.kin) if self.kin.system.loads else {}
        return split_loads(self.kin, self.kin.q, fields)

    @cached_property
    def V_declared(self) -> Scalar:
        """V(q, t) as described, with gravity and the terms of loads that have a potential."""
        return potential_energy(self.kin) + self.split.V

    @cached_property
    def classical(self) -> ClassicalPotential:
        """U, the potential energy as a function of position, and whether it exists."""
        from dalembert.analysis.integrals.classical_potential import ClassicalPotential

        return ClassicalPotential(self)

    @cached_property
    def V(self) -> Scalar:
        """𝒰 = V(q, t) − h(t), where V_q·X + ∂_tV is a function ḣ of time alone; otherwise V.

        Lifted with x(t), a weight has V = m g (z + x): m g x pushes nothing, and would look like a
        loss in 𝒫_nonconservative.

        Source: Mit22 (21).
        """
        t, V = self.t, self.V_declared
        drift = self._explicit_rate(V)
        if (
            drift == 0
            or provably_zero(t, [drift.i])[0]
            or not all(provably_zero(t, gradient_column(drift, Column(t, self.kin.q)).nodes))
        ):
            return V
        try:
            h = self._time_only_potential(V)
        except BadExpression:
            return V
        return V - h if provably_zero(t, [(h.dot - drift).i])[0] else V

    def _time_only_potential(self, V: Scalar) -> Scalar:
        """V(0, t) − V(0) with every prescribed motion at zero."""
        t, kin = self.t, self.kin
        h = Substitution(t, dict.fromkeys(kin.q, t.zero))(V.i)
        still = dict.fromkeys(
            (s.scalar.i for s in kin.system.symbols.values() if s.kind == "specified"), t.zero
        )
        return kin.scalar(h) - kin.scalar(Substitution(t, {**still, kin.system.t.i: t.zero})(h))

    def _explicit_rate(self, V: Scalar) -> Scalar:
        """V_q·X + ∂_tV: the part of V̇ that holds no speed."""
        return self.kin.scalar(self._without_speeds(self.rate(V).i))

    @cached_property
    def powers(self) -> dict[str, tuple[Scalar, Scalar]]:
        """{load: (classical power F·v + T·ω, generalized power F·v_R + T·ω_R)} of every load,
        without its terms that have a potential; loads of which nothing is left are left out.

        Source: Mit22 (14)–(15) and the table of 34.7.
        """
        t, kin, powers = self.t, self.kin, dict(self.load_powers)
        qdot = Column(t, kin.qdot_of_u)
        along = qdot - qdot.map(LinearCoefficients(t, kin.u).constant)
        for name, conservative in self.split.fields.items():
            Q, (classical, general) = Column(t, conservative), powers[name]
            powers[name] = classical - Q @ qdot, general - Q @ along
        # a load that moves along with v_t has power beyond its potential
        spent = [
            name
            for name in self.split.whole
            if name in powers and provably_zero(t, [powers[name][0].i])[0]
        ]
        return {name: power for name, power in powers.items() if name not in spent}

    @cached_property
    def load_powers(self) -> dict[str, tuple[Scalar, Scalar]]:
        """{load: (F·v + T·ω, F·v_R + T·ω_R)} of every declared load, also of those with a
        potential.

        Source: Mit22 (14)–(15) and the table of 34.7.
        """
        kin, none = self.kin, Scalar(self.t, self.t.zero)
        powers: dict[str, tuple[Scalar, Scalar]] = {}
        for name, load, X in applied_loads(kin):
            v_R, v_t = self.split_velocity(X)
            vector = kin.vector_in_speeds(load)
            general, (a, b) = v_R @ vector, powers.get(name, (none, none))
            powers[name] = a + (general + v_t @ vector), b + general
        for d in kin.system.dissipations:
            powers[d.name] = self._dissipation_power(kin.scalar(kin.in_rates(d.D.i)))
        return powers

    @cached_property
    def P_of_all_loads(self) -> Scalar:
        """Σ F·v + T·ω of all declared loads, with the whole velocities."""
        return sum_scalars(self.t, (classical for classical, _ in self.load_powers.values()))

    def _dissipation_power(self, D: Scalar) -> tuple[Scalar, Scalar]:
        """−∂D/∂q̇·q̇ and −∂D/∂u·u"""
        t, kin = self.t, self.kin
        u, qdot = Column(t, kin.u), Column(t, kin.qdot)
        classical = Column(t, kin.qdot_of_u) @ gradient_column(D, qdot).map(kin.in_speeds)
        return -classical, -(u @ gradient_column(kin.scalar(kin.in_speeds(D.i)), u))

    @cached_property
    def P_nonconservative(self) -> Scalar:
        """𝒫_nc = Σ_nc F_r u_r + V_q·X + ∂_tV − λᵀb: what neither 𝒰 nor K₂ accounts for."""
        return self.explicit_potential_rate + (self.P_of_loads + self.P_of_rows)

    @cached_property
    def P_of_rows(self) -> Scalar:
        """λᵀ(A u − e) = −λᵀb: the power of moving rows in augmented form; e = A u + b vanishes."""
        s = self.kin.scalar
        rows = zip(self.kin.multipliers, self.kin.velocity_rows, strict=True)
        along = [
            (s(lam), sum((s(a) * self._u(r) for r, a in row.A.items()), -s(row.e)))
            for lam, row in rows
        ]
        return sum_scalars(
            self.t, (lam * power for lam, power in along if not provably_zero(self.t, [power.i])[0])
        )

    @cached_property
    def P_of_loads(self) -> Scalar:
        """Σ_nc F_r u_r of the loads without a potential."""
        return sum_scalars(self.t, (general for _, general in self.powers.values()))

    @cached_property
    def explicit_potential_rate(self) -> Scalar:
        """V_q·X + ∂_tV: the part of V̇ that holds no speed; 𝒰 is solely a function of configuration
        where it vanishes.

        Source: Mit22 (28).
        """
        return self._explicit_rate(self.V)

    @cached_property
    def P_in(self) -> Scalar:
        """P_in = K̇ + V̇ − Σ (F·v + T·ω): what prescribed motions, moving rows and a V that changes
        with time feed in.

        V is that of potentials and gravity; all loads count with their power. The whole v stands
        here; the generalized power of the enforcing forces is zero.

        Source: Mit22 34.7, for the forces that enforce a prescribed motion.
        """
        return self.rate(self.K) + self.rate(potential_energy(self.kin)) - self.P_of_all_loads

    @cached_property
    def P_in_by_vectors(self) -> Scalar:
        """P_in = Σ (m a·v_t + Ḣ·ω_t) − Σ (F·v_t + T·ω_t) + V_q·X + ∂_tV

        The same by the vectors alone, without the equations of motion.

        Source: Mit22 (12), (14).
        """
        if self._declared_energies is not None:
            # without bodies there are no vectors
            return self.P_in
        d_dt = self.kin.motion.derivative

        def angular(w_R: Vector, w_t: Vector, I: InertiaProduct) -> Scalar:
            w = w_R + w_t
            return w_t @ (I(d_dt(w)) + w.cross(I(w)))

        inertia = self._sum_over_bodies(lambda v_R, v_t: v_t @ d_dt(v_R + v_t), angular)
        loads = sum_scalars(
            self.t, (classical - general for classical, general in self.load_powers.values())
        )
        return self._explicit_rate(potential_energy(self.kin)) + inertia - loads

    @cached_property
    def P(self) -> Scalar:
        """𝒫 = Σ_r F_r u_r of all active loads.

        Source: Mit22 (22).
        """
        along = LinearCoefficients(self.t, self.kin.u)(self.rate(self.V).i)[1]
        stored = sum_scalars(self.t, (self.kin.scalar(k) * self._u(r) for r, k in along.items()))
        return self.P_of_loads + self.P_of_rows - stored

    @cached_property
    def Z_dot(self) -> Scalar:
        """Ż = σ_R − 𝒫_nc

        Source: Mit22 (3), whose minus sign is lost in print.
        """
        return self.sigma_R - self.P_nonconservative

    @cached_property
    def balance(self) -> tuple[Scalar, Scalar]:
        """K̇₂ + σ_R − 𝒫 − λᵀe, which vanishes on the motion, and the sum of the sizes of its terms.

        λᵀe is what rows that have drifted off e = 0 do; where they hold there is none.

        Source: Mit22 (56).
        """
        t, kin = self.t, self.kin
        rates = zip(
            gradient_column(self.K2, Column(t, (*kin.u, *kin.q))),
            (*kin.udot, *kin.qdot_of_u),
            strict=True,
        )
        size = (
            abs(self.sigma_R)
            + abs(self.P)
            + sum_scalars(t, (abs(kin.scalar(d) * kin.scalar(rate)) for d, rate in rates))
        )
        drifted = Column(t, kin.multipliers) @ Column(t, (row.e for row in kin.velocity_rows))
        return self.rate(self.K2) + self.sigma_R - (self.P + drifted), size

    @cached_property
    def E(self) -> Scalar:
        """E = K₂ + 𝒰, to which Z must be added to make E_Z."""
        return self.K2 + self.V

    def rate(self, e: Scalar) -> Scalar:
        """de/dt along the motion, with u̇ as symbols."""
        return self.kin.scalar(self.kin.rate(e.i))


def kinetic_energy_by_degree(kin: Kinematics) -> tuple[Scalar, Scalar, Scalar] | None:
    """K₀, K₁, K₂ by degrees in the speeds; None where there are bodies.

    Source: Mit22 (11).
    """
    declared, t, u = declared_kinetic_energy(kin), kin.tape, kin.u
    if declared is None:
        return None
    K, still = kin.in_speeds(declared), Substitution(t, dict.fromkeys(u, t.zero))
    whole, K0 = kin.scalar(K), kin.scalar(still(K))
    K1 = Column(t, u) @ gradient_column(whole, Column(t, u)).map(still)
    return K0, K1, whole - (K0 + K1)


def inertia_power(kin: Kinematics) -> Scalar:
    """−Σ_r F_r* u_r = Σ_r u_r W_r·(d/dt ∂T/∂q̇ − ∂T/∂q)

    Source: Mar (12)–(17).
    """
    t, declared = kin.tape, declared_kinetic_energy(kin)
    if declared is None:
        return kin.scalar(t.zero)
    T, qdot_of_u = kin.scalar(declared), Column(t, kin.qdot_of_u)
    accelerations = Substitution(t, dict(zip(kin.qddot, kin.qddot_of_u, strict=True)))
    p_dot = gradient_column(T, Column(t, kin.qdot)).map(Derivative(t, t.rate))
    E = (p_dot - gradient_column(T, Column(t, kin.q))).map(accelerations).map(kin.in_speeds)
    return E @ (qdot_of_u - qdot_of_u.map(LinearCoefficients(t, kin.u).constant))


def _virtual_work(kin: Kinematics) -> dict[str, list[int]]:
    """The coefficients of the virtual work of each load."""
    from dalembert.mechanics.kinetics.generalized_forces import virtual_work_coefficients

    return {
        load.name: virtual_work_coefficients(kin, load.forces, load.torques)
        for load in kin.system.loads
    }
