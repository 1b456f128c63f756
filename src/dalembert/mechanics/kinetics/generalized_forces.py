"""F_r along the speeds and Q_k along the rates: what the loads contribute to each equation of
motion.
"""

from __future__ import annotations

from collections.abc import Iterable

from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, split_linear
from dalembert.mechanics.kinetics.spatial_fields import (
    Location,
    applied_loads,
    declared_potential_energy,
    dissipation,
    weights,
)
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column, sum_by_key


def generalized_active_forces(kin: Kinematics) -> Column:
    """F_r = Σ_P v_r^P · R_P + Σ_B ω_r^B · T_B − ∂V/∂q · W_r − ∂D/∂u_r      (r = 1, …, p)

    What the applied loads contribute along each independent speed. Reactions of ideal constraints
    contribute nothing and may be left out.

    Source: Bar00 (30), Mar (9), Mit22 (27).
    """
    return project_loads(
        kin, [(P, R) for _, R, P in weights(kin)]
    ) + generalized_active_forces_without_gravity(kin)


def generalized_active_forces_without_gravity(kin: Kinematics) -> Column:
    """The same without the weights."""
    t = kin.tape
    loads = [(X, L) for _, L, X in applied_loads(kin)]
    # ∂V/∂q · q̇ = Σ_r (∂V/∂q · W_r) u_r + …
    V_r = LinearCoefficients(t, kin.u)(kin.coordinate_rate(declared_potential_energy(kin).i))[1]
    D = kin.scalar(kin.in_speeds(dissipation(kin).i))
    along = Column(t, (V_r.get(r, t.zero) for r in range(kin.n_u)))
    return project_loads(kin, loads) - along - gradient_column(D, Column(t, kin.u))


def project_loads(kin: Kinematics, loads: list[tuple[Location, Vector]]) -> Column:
    """Σ load · v_r (a force at a point) and load · ω_r (a torque on a frame), for every r."""
    t = kin.tape
    parts = (
        (r, part.dot_node(kin.vector_in_speeds(load)))
        for X, load in loads
        for r, part in kin.partial_velocities(X)[0].items()
    )
    sums = sum_by_key(t, parts)
    return Column(t, (sums.get(r, t.zero) for r in range(kin.n_u)))


def generalized_forces(kin: Kinematics) -> Column:
    """Q_k = Σ F·∂v/∂q̇_k + Σ T·∂ω/∂q̇_k − ∂D/∂q̇_k, from the virtual work of the loads that have no
    potential.

    Source: Mei85 (7.40)–(7.41), Bar00 (17).
    """
    Q: Column = Quantities(kin).rates.Q.value
    return Q


def virtual_work_coefficients(
    kin: Kinematics, forces: Iterable[tuple[Vector, Point]], torques: Iterable[tuple[Vector, Frame]]
) -> list[int]:
    """δW = Σ F·δr + Σ T·δθ = Σ Q_k δq_k of some forces and torques.

    Source: Mei85 (7.39)–(7.41).
    """
    t, motion, linear = kin.tape, kin.motion_in_rates, LinearCoefficients(kin.tape, kin.qdot)
    moved = [(F, motion.v(P)) for F, P in forces] + [(T, motion.w(B)) for T, B in torques]
    parts = (
        (k, c.dot_node(kin.vector_in_rates(load)))
        for load, v in moved
        for k, c in split_linear(linear, v)[0].items()
    )
    Q = sum_by_key(t, parts)
    return [Q.get(k, t.zero) for k in range(kin.n_q)]
