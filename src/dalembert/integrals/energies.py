"""K = K₀ + K₁ + K₂, σ_R, σ, 𝒫 and Ż: the quantities from which every energy integral is made.

v = v_R + v_t splits each velocity into the part with the independent speeds and the part without. The values of K₀, K₁,
K₂, σ and σ_R depend on the choice of speeds wherever v_t ≠ 0.

Source: Mit22 (4), (7), (11)–(13), (29)–(30), (56).
"""

from __future__ import annotations

from functools import cached_property

from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import Derivative, Linear, gradient
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.integrals.conservative import LoadVerdict, load_verdicts
from dalembert.integrals.gauge import unmoved, without_gauge
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.loads import applied_forces, applied_torques, gravity_potential, potential
from dalembert.model.elements import Body


class Energies:
    """Energies and powers of a system in its p independent speeds, as nodes of one tape."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin = kin.fork()
        self.t = self.kin.tape

    # ---- the two parts of a velocity ---------------------------------------------------------

    def parts(self, X: Point | Frame) -> tuple[Vector, Vector]:
        """(v_R, v_t) of a point, (ω_R, ω_t) of a frame.

        Source: Mit22 (12).
        """
        partials, rest = self.kin.partials(X)
        moving = Vector(self.t, {})
        for r, v_r in partials.items():
            moving = moving + v_r.scaled(self.kin.u[r])
        return moving, rest

    # ---- kinetic energies --------------------------------------------------------------------

    def _mass_metric(self, first: int, second: int) -> int:
        """Σ m a·b + α·I·β over all bodies, for the parts (0: R, 1: t) of their velocities."""
        t = self.t
        total = t.zero
        for body in self.kin.system.bodies:
            v = self.parts(body.G)
            total = t.add(total, t.mul(body.mass.i, v[first].dot_index(v[second])))
            if body.frame is not None:
                w = self.parts(body.frame)
                total = t.add(total, w[first].dot_index(self._times_inertia(body, w[second])))
        return total

    def _times_inertia(self, body: Body, w: Vector) -> Vector:
        assert body.inertia is not None
        return body.inertia @ w.on(self.t)

    def _half(self, e: int) -> int:
        return self.t.mul(self.t.div(self.t.one, self.t.const(2)), e)

    @cached_property
    def K2(self) -> int:
        """K₂ = ½ Σ m v_R·v_R + ½ ω_R·I·ω_R"""
        return self._half(self._mass_metric(0, 0))

    @cached_property
    def K1(self) -> int:
        """K₁ = Σ m v_t·v_R + ω_t·I·ω_R"""
        return self._mass_metric(1, 0)

    @cached_property
    def K0(self) -> int:
        """K₀ = ½ Σ m v_t·v_t + ½ ω_t·I·ω_t"""
        return self._half(self._mass_metric(1, 1))

    @cached_property
    def K(self) -> int:
        """K = K₂ + K₁ + K₀"""
        return self.t.add(self.t.add(self.K2, self.K1), self.K0)

    # ---- σ_R and σ ---------------------------------------------------------------------------

    @cached_property
    def sigma_R(self) -> int:
        """σ_R = Σ m v_R·dv_t/dt + ω_R·I·(ᴮdω_t/dt) + ω_R·(ω_t × I·ω),   ᴮdω_t/dt = dω_t/dt − ω × ω_t

        Source: Mit22 (4), (29).
        """
        t, motion = self.t, self.kin.motion
        total = t.zero
        for body in self.kin.system.bodies:
            v_R, v_t = self.parts(body.G)
            total = t.add(total, t.mul(body.mass.i, v_R.dot_index(motion.derivative(v_t))))
            if body.frame is not None:
                w_R, w_t = self.parts(body.frame)
                w = w_R + w_t
                in_body = motion.derivative(w_t) - w.cross(w_t)
                turned = self._times_inertia(body, in_body) + w_t.cross(self._times_inertia(body, w))
                total = t.add(total, w_R.dot_index(turned))
        return total

    @cached_property
    def sigma(self) -> int:
        """σ = Σ m v·dv_t/dt + ω·I·dω_t/dt

        Source: Mit22 (7), (30).
        """
        t, motion = self.t, self.kin.motion
        total = t.zero
        for body in self.kin.system.bodies:
            v_R, v_t = self.parts(body.G)
            total = t.add(total, t.mul(body.mass.i, (v_R + v_t).dot_index(motion.derivative(v_t))))
            if body.frame is not None:
                w_R, w_t = self.parts(body.frame)
                total = t.add(total, (w_R + w_t).dot_index(self._times_inertia(body, motion.derivative(w_t))))
        return total

    # ---- potentials and powers ---------------------------------------------------------------

    @cached_property
    def loads(self) -> tuple[LoadVerdict, ...]:
        """Which of the loads declared as forces have a potential.

        Source: Mit22 (17)–(19).
        """
        return tuple(load_verdicts(self.kin))

    @cached_property
    def with_potential(self) -> frozenset[str]:
        """The loads whose potential counts in V, and no longer among those without."""
        return frozenset(name for found in self.loads if found.has_potential for name in found.loads)

    @cached_property
    def V_declared(self) -> int:
        """V(q, t) as described, with gravity and the loads that were found to have a potential."""
        total = self.t.add(potential(self.kin), gravity_potential(self.kin))
        for found in self.loads:
            if found.has_potential and found.potential is not None:
                total = self.t.add(total, self.kin.in_rates(found.potential.i))
        return total

    @cached_property
    def V(self) -> int:
        """𝒰 = V(q, t) − h(t), where h takes away what moves no speed and depends on time alone."""
        return without_gauge(self.kin, self.V_declared)

    @cached_property
    def powers(self) -> dict[str, tuple[int, int]]:
        """{load: (classical power F·v + T·ω, generalized power F·v_R + T·ω_R)} of every load without a potential.

        Source: Mit22 (14)–(15) and the table of 34.7.
        """
        t, kin = self.t, self.kin
        found: dict[str, tuple[int, int]] = {}

        def count(name: str, load: Vector, X: Point | Frame) -> None:
            v_R, v_t = self.parts(X)
            general = v_R.dot_index(load)
            classical = t.add(general, v_t.dot_index(load))
            a, b = found.get(name, (t.zero, t.zero))
            found[name] = (t.add(a, classical), t.add(b, general))

        for name, F, P in applied_forces(kin):
            if name not in self.with_potential:
                count(name, kin.vector_in_speeds(F), P)
        for name, T, B in applied_torques(kin):
            if name not in self.with_potential:
                count(name, kin.vector_in_speeds(T), B)
        for d in kin.system.dissipations:
            found[d.name] = self._drag(kin.in_rates(d.D.i))
        return found

    def _drag(self, D: int) -> tuple[int, int]:
        """−∂D/∂q̇·q̇ and −∂D/∂u·u"""
        t, kin = self.t, self.kin
        classical, general = t.zero, t.zero
        for e, d in zip(kin.qdot_of_u, gradient(t, {D: t.one}, kin.qdot), strict=True):
            classical = t.sub(classical, t.mul(e, kin.in_speeds(d)))
        for u, d in zip(kin.u, gradient(t, {kin.in_speeds(D): t.one}, kin.u), strict=True):
            general = t.sub(general, t.mul(u, d))
        return classical, general

    @cached_property
    def P_nonconservative(self) -> int:
        """𝒫_nc = Σ_nc F_r u_r + V_q·X + ∂_tV − λᵀb: what neither 𝒰 nor K₂ accounts for."""
        return self.t.add(self.drift, self.t.add(self.P_of_loads, self.P_of_rows))

    @cached_property
    def P_of_rows(self) -> int:
        """λᵀ(A u − e) = −λᵀb: what moving rows feed in where they stand beside the equations; e = A u + b vanishes."""
        t, kin = self.t, self.kin
        total = t.zero
        for lam, row in zip(kin.multipliers, kin.velocity_rows, strict=True):
            along = t.neg(row.e)
            for r, a in row.A.items():
                along = t.add(along, t.mul(a, kin.u[r]))
            if not shown_zero(t, [along])[0]:
                total = t.add(total, t.mul(lam, along))
        return total

    @cached_property
    def P_of_loads(self) -> int:
        """Σ_nc F_r u_r of the loads without a potential."""
        t = self.t
        total = t.zero
        for _, general in self.powers.values():
            total = t.add(total, general)
        return total

    @cached_property
    def drift(self) -> int:
        """V_q·X + ∂_tV: the part of V̇ that holds no speed; 𝒰 is solely a function of configuration where it vanishes.

        Source: Mit22 (28).
        """
        return unmoved(self.kin, self.V)

    @cached_property
    def V_of_time(self) -> int:
        """∂_tV, the positions held still; through specified motions too."""
        t, still = self.t, set(self.kin.q)
        return Derivative(t, lambda x: None if x in still or x not in t.moving else t.rate(x))(self.V)

    @cached_property
    def P_classical(self) -> int:
        """Σ_nc F·v + T·ω of the loads without a potential, with the whole velocities.

        Source: Mit22, the table of 34.7.
        """
        t = self.t
        total = t.zero
        for classical, _ in self.powers.values():
            total = t.add(total, classical)
        return total

    @cached_property
    def P_enforcing(self) -> int:
        """P_in − ∂_tV: what the forces that enforce specified motions and moving rows do beyond moving the potential."""
        return self.t.sub(self.P_in, self.V_of_time)

    @cached_property
    def P_in(self) -> int:
        """P_in = K̇ + V̇ − Σ_nonpotential (F·v + T·ω): what specified motions and moving rows feed in.

        The whole v stands here; the generalized power of these forces is zero.

        Source: Mit22 34.7, for the forces that enforce a specified motion.
        """
        t = self.t
        total = t.add(self.rate(self.K), self.rate(self.V_declared))
        for classical, _ in self.powers.values():
            total = t.sub(total, classical)
        return total

    @cached_property
    def P_in_of_vectors(self) -> int:
        """P_in = Σ (m a·v_t + Ḣ·ω_t) − Σ_nonpotential (F·v_t + T·ω_t) + V_q·X + ∂_tV

        The same by the vectors alone, without the equations of motion.

        Source: Mit22 (12), (14).
        """
        t, kin = self.t, self.kin
        total = unmoved(kin, self.V_declared)
        for body in kin.system.bodies:
            total = t.add(total, t.mul(body.mass.i, self.parts(body.G)[1].dot_index(kin.a(body.G))))
            if body.frame is not None:
                w = kin.w(body.frame)
                H_dot = self._times_inertia(body, kin.alpha(body.frame)) + w.cross(self._times_inertia(body, w))
                total = t.add(total, self.parts(body.frame)[1].dot_index(H_dot))
        for classical, general in self.powers.values():
            total = t.sub(total, t.sub(classical, general))
        return total

    @cached_property
    def P(self) -> int:
        """𝒫 = Σ_r F_r u_r of all active loads.

        Source: Mit22 (22).
        """
        t = self.t
        total = t.zero
        for r, k in Linear(t, self.kin.u)(self.kin.rate(self.V))[1].items():
            total = t.sub(total, t.mul(k, self.kin.u[r]))
        return t.add(total, t.add(self.P_of_loads, self.P_of_rows))

    @cached_property
    def Z_dot(self) -> int:
        """Ż = σ_R − 𝒫_nc

        Source: Mit22 (3), whose minus sign is lost in print.
        """
        return self.t.sub(self.sigma_R, self.P_nonconservative)

    @cached_property
    def balance(self) -> tuple[int, int]:
        """K̇₂ + σ_R − 𝒫 − λᵀe, which vanishes on the motion, and the sum of the sizes of its terms.

        λᵀe is what rows that have drifted off e = 0 do; where they hold there is none.

        Source: Mit22 (56).
        """
        t, kin = self.t, self.kin
        size = t.add(t.call("abs", self.sigma_R), t.call("abs", self.P))
        rates = (*kin.udot, *kin.qdot_of_u)
        for d, rate in zip(gradient(t, {self.K2: t.one}, (*kin.u, *kin.q)), rates, strict=True):
            size = t.add(size, t.call("abs", t.mul(d, rate)))
        power = self.P
        for lam, row in zip(kin.multipliers, kin.velocity_rows, strict=True):
            power = t.add(power, t.mul(lam, row.e))
        return t.sub(t.add(self.rate(self.K2), self.sigma_R), power), size

    @cached_property
    def E(self) -> int:
        """E = K₂ + 𝒰, to which Z must be added to make E_Z."""
        return self.t.add(self.K2, self.V)

    def rate(self, e: int) -> int:
        """de/dt along the motion, with u̇ as symbols."""
        return self.kin.rate(e)
