"""T, V and A q̇ + b as nodes: what every run is judged by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from dalembert.mechanics.kinematics.constraint_rows import ConstraintRow, position_residuals
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.spatial_fields import potential_energy
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products, sum_scalars

# of a row homogeneous in the rates
_HIGHEST_DEGREE: Final = 4


class EnergyNodes(NamedTuple):
    """T and V, the latter with gravity."""

    T: int
    V: int


def energy_nodes(kin: Kinematics) -> EnergyNodes:
    """T in the speeds; V = Σ declared potentials − Σ m g·r."""
    return EnergyNodes(Quantities(kin).speeds.T.value.i, potential_energy(kin).i)


def conserves_energy(kin: Kinematics, zeros: Iterable[int]) -> bool:
    """d(T + V)/dt = 0: every load has a potential or no power, nothing depends on time, no row
    moves.

    Decided by the description, with the symbols that are zero in a run.
    """
    system, zero = kin.system, kin.tape.zero
    idle = Substitution(kin.tape, dict.fromkeys(zeros, zero))
    if not _loads_do_no_work(kin, idle) or any(idle(d.D.i) != zero for d in system.dissipations):
        return False
    if any(idle(row.b) != zero for row in kin.rows):
        return False
    if not all(_reaction_does_no_work(kin, row) for row in kin.nonlinear):
        return False
    T, V = idle(Quantities(kin).rates.T.value.i), idle(potential_energy(kin).i)
    constants = {s.scalar.i for s in system.symbols.values() if s.kind == "constant"}
    if not constants.union(kin.q, kin.qdot).issuperset(symbols_of(kin.tape, (T, V))):
        return False
    # T₀, what moves while q̇ = 0: on a hoop that is turned evenly T₂ − T₀ + V is constant, not T +
    # V
    T_0 = Substitution(kin.tape, dict.fromkeys(kin.qdot, kin.tape.zero))(T)
    return provably_zero(kin.tape, [T_0])[0]


def _loads_do_no_work(kin: Kinematics, idle: Substitution) -> bool:
    """Σ F·v + T·ω ≡ 0 for each load: Coriolis and magnetic forces do no work."""
    t, motion = kin.tape, kin.motion_in_rates
    powers = []
    for load in kin.system.loads:
        parts = [(F, motion.v(P)) for F, P in load.forces] + [
            (T, motion.w(B)) for T, B in load.torques
        ]
        powers.append(
            idle(
                sum_scalars(
                    t, (velocity @ kin.vector_in_rates(vector) for vector, velocity in parts)
                ).i
            )
        )
    return all(provably_zero(t, powers))


def _reaction_does_no_work(kin: Kinematics, row: ConstraintRow) -> bool:
    """A q̇ = k φ: the reaction Aᵀλ of a row that is homogeneous in the rates has no power where
    the row holds.
    """
    t = kin.tape
    power = kin.scalar(sum_of_products(t, ((a, kin.qdot[k]) for k, a in row.A.items())))
    phi = kin.scalar(t.zero if row.nonlinear is None else row.nonlinear)
    return any(
        provably_zero(t, [(power - degree * phi).i for degree in range(_HIGHEST_DEGREE + 1)])
    )


def constraint_residuals(kin: Kinematics) -> dict[str, int]:
    """Every row as it was declared, φ or A q̇ + b, and φ̇ = A q̇ + b of the holonomic ones, as
    "…, rate".
    """
    t = kin.tape
    residuals: dict[str, int] = {}
    for row in kin.linear_rows:
        residuals.update((row.name, phi) for phi in position_residuals(t, (row,)))
        residuals[row.name if row.phi is None else f"{row.name}, rate"] = kin.row_in_rates(row)
    for row in kin.nonlinear:
        residuals[row.name] = t.zero if row.nonlinear is None else row.nonlinear
    return residuals


def acceleration_residuals(kin: Kinematics) -> dict[str, int]:
    """A q̈ + γ of every row, as its rate along the motion with u̇ as symbols; the norms of
    quaternions hold by construction.
    """
    retained = {row.row.name: kin.rate(row.e) for row in kin.velocity_rows}
    return retained or {
        row.name: kin.rate(kin.in_speeds(kin.row_in_rates(row)))
        for row in kin.rows
        if not row.is_norm
    }
