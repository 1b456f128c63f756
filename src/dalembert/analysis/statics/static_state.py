"""q̇ = 0, q̈ = 0: what the loads and the energies are while the coordinates do not change.

Speeds are u = Ψ q̇ + ψ, so that at rest u = ψ and u̇ = ∂ψ/∂t. Prescribed motions keep running.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from dalembert.analysis.integrals.conservative_loads import LoadVerdict, load_verdicts
from dalembert.errors import NotApplicable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.generalized_forces import generalized_active_forces
from dalembert.mechanics.kinetics.spatial_fields import (
    applied_forces,
    applied_torques,
    potential_energy,
)
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.principles.kane import generalized_inertia_forces
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero, provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix, gradient_column


def refuse_nonlinear_rows(kin: Kinematics) -> None:
    """∂φ/∂q̇ at q̇ = 0 does not determine φ(q, q̇, t) = 0 in general."""
    if kin.nonlinear:
        name = kin.nonlinear[0].name
        msg = (
            f"equilibrium: {name!r} is not linear in the velocities, so that at rest it does not "
            f"determine which displacements it allows"
        )
        raise NotApplicable(msg)


def speeds_at_rest(kin: Kinematics) -> dict[int, int]:
    """{u: ψ, u̇: ∂ψ/∂t} of every speed u = Ψ q̇ + ψ, while q̇ = 0."""
    psi = Column(kin.tape, kin.definitions).map(
        Substitution(kin.tape, dict.fromkeys(kin.qdot, kin.tape.zero))
    )
    return dict(
        zip((*kin.u, *kin.udot), (*psi, *psi.map(explicit_time_derivative(kin))), strict=True)
    )


def explicit_time_derivative(kin: Kinematics) -> Derivative:
    """∂/∂t, at constant coordinates and running prescribed motions."""
    return Derivative(kin.tape, lambda i: None if i in kin.q else kin.tape.rate(i))


class StaticState:
    """A system whose coordinates are held, on a tape of its own; `zero` lists symbols that are
    zero, such as idle inputs.
    """

    def __init__(self, kin: Kinematics, zero: Iterable[int] = ()) -> None:
        self.kin = kin = kin.fork()
        t = self.tape = kin.tape
        self._drop_zero_inputs = Substitution(t, dict.fromkeys(zero, t.zero))
        self._still = Substitution(t, dict.fromkeys(kin.qdot, t.zero))
        self._at_rest = Substitution(t, dict.fromkeys(kin.qdot, t.zero) | speeds_at_rest(kin))

    def at_zero_rates(self, e: int) -> int:
        """A node in q̇ with the rates zero."""
        return self._still(e)

    @cached_property
    def T0(self) -> int:
        """T₀(q, t), the kinetic energy at q̇ = 0."""
        return self._still(Quantities(self.kin).rates.T.value.i)

    @cached_property
    def has_prescribed_motion(self) -> bool:
        """Whether prescribed motions carry the masses along while q is held."""
        return not provably_zero(self.tape, [self.T0])[0]

    @cached_property
    def conservative_loads(self) -> tuple[LoadVerdict, ...]:
        """The loads declared as forces that have a potential."""
        return (
            tuple(load for load in load_verdicts(self.kin) if load.has_potential)
            if self.kin.system.loads
            else ()
        )

    @cached_property
    def V(self) -> int:
        """V(q, t), with gravity and the loads that were found to have a potential."""
        return sum(
            (load.potential for load in self.conservative_loads if load.potential is not None),
            potential_energy(self.kin),
        ).i

    @cached_property
    def virtual_work(self) -> list[int]:
        """F_r (r = 1, …, p): the coefficients of the virtual work; with F_r* where prescribed
        motions run.

        Source: Mei85 (7.19).
        """
        F = generalized_active_forces(self.kin)
        if self.has_prescribed_motion and self.kin.system.given_kinetic_energies:
            # T₀ is all that the inertia forces at rest are made of where nothing changes its pace
            self.check_steady_motion()
            F = F + self._project_gradient(self.kin.scalar(self.T0))
        elif self.has_prescribed_motion:
            F = F + Column(self.tape, generalized_inertia_forces(self.kin))
        return [self._at_rest(f) for f in F]

    @cached_property
    def potential_gradient(self) -> list[int]:
        """−Σ_k W_kr ∂(V − T₀)/∂q_k (r = 1, …, p): stationary potential, along the independent
        speeds.

        Source: Mei85 (7.23).
        """
        self.check_potential()
        kin = self.kin
        return list(
            (-self._project_gradient(kin.scalar(self.V) - kin.scalar(self.T0))).map(self._at_rest)
        )

    def _project_gradient(self, f: Scalar) -> Column:
        """Σ_k W_kr ∂f/∂q_k"""
        t, kin = self.tape, self.kin
        W = SparseMatrix(t, (row for _, row in kin.WX), kin.n_u)
        return W.T @ gradient_column(f, Column(t, kin.q))

    def check_rows_at_rest(self) -> None:
        """Refuse rows that do not let the coordinates rest, by name: A q̇ + b = 0 with b ≠ 0."""
        refuse_nonlinear_rows(self.kin)
        rows = [(repr(row.name), self._still(row.b)) for row in self.kin.rows]
        if moving := [
            name
            for name, b in rows
            if not decide_all_zero(self.tape, [b], f"equilibrium: whether {name} moves with time")
        ]:
            msg = (
                f"equilibrium: {', '.join(moving)} moves with time, so that the coordinates "
                f"cannot rest"
            )
            raise NotApplicable(msg)

    def check_potential(self) -> None:
        """Refuse loads that act at rest without a potential, by name."""
        kin, t = self.kin, self.tape
        acting = []
        conservative_names = {name for verdict in self.conservative_loads for name in verdict.loads}
        for name, load, _ in (*applied_forces(kin), *applied_torques(kin)):
            if name in conservative_names:
                continue
            parts = [
                self._drop_zero_inputs(self._still(x))
                for c in kin.vector_in_rates(load).parts.values()
                for x in c
            ]
            if not decide_all_zero(t, parts, f"stationary potential: whether {name} acts at rest"):
                acting.append(name)
        if acting:
            names = ", ".join(dict.fromkeys(acting))
            msg = (
                f"stationary potential: {names} acts at rest and has no potential; virtual work "
                f"applies"
            )
            raise NotApplicable(msg)

    def check_steady_motion(self) -> None:
        """Refuse prescribed motions whose changing pace loads the masses: no potential gives
        these inertia forces.
        """
        if self.has_prescribed_motion and not decide_all_zero(
            self.tape,
            self._unsteady_inertia(),
            "stationary potential: whether prescribed motions load the masses",
        ):
            what = "prescribed motions that change their pace load the masses they carry"
            msg = (
                f"stationary potential: {what}, and these inertia forces are not declared as a "
                f"potential; virtual work applies"
            )
            raise NotApplicable(msg)

    def _unsteady_inertia(self) -> list[int]:
        """∂(∂T₁/∂q̇)/∂t: the value of d/dt ∂T/∂q̇ at constant q."""
        t, kin = self.tape, self.kin
        p = gradient_column(Quantities(kin).rates.T.value, Column(t, kin.qdot))
        return list(p.map(self._still).map(explicit_time_derivative(kin)))
