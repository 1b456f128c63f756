"""rank A of rows in different units at a point: how many are independent and how many a motion
keeps; which rates they are solved for.

Rows that depend on one another wherever they hold (Bricard's mechanism) are independent at nearby
positions, where the stages of a step lie; so the rank that a motion keeps is taken at positions
that satisfy the rows. At a singular start it is less than nearby: the largest rank of the start and
of positions assembled around it counts.

det A_D ≠ 0: where no speeds are declared, the rows are solved for m of the rates z, A_D z_D = −b −
A_I z_I, and z_I are the speeds. The choice that serves in general may be singular at one position;
there another one is made, by the largest pivots.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import (
    Kinematics,
    kinematics_with_dependent,
    unreduced_kinematics,
)
from dalembert.runtime.states.assembly import gauss_newton
from dalembert.runtime.states.evaluator import Evaluator

if TYPE_CHECKING:
    from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates

# singular values of rows of length one; positions that satisfy rows to 1e-14 leave the square root
# of that where these touch
ZERO: Final = 1e-7
# of a relation between rows of length one, the smallest coefficient that counts
_PART: Final = 1e-3
# squares of singular values, and of the lengths of rows as parts of the largest, that no rounding
# makes doubtful
_CLEARLY_INDEPENDENT: Final = 1e-9
_ALIKE: Final = 1e-10
# singular values of rows of length one along which the rows do not allow a motion
_COARSE: Final = 1e-3
_ASSEMBLED: Final = 1e-11
# distances at which positions are assembled, as parts of a unit of the coordinates
_DISTANCES: Final = (0.05, 0.1, 0.2, 0.05, 0.1, 0.2)
# smallest over largest singular value of A_D, rows of unit length, below which another choice is
# looked for
_SINGULAR: Final = 1e-6


class RowDependence(NamedTuple):
    """rank A, and the rows that take part in relations between rows."""

    rank: int
    involved: tuple[int, ...]


def normalize_rows(A: FloatArray) -> FloatArray:
    """Rows of length one: units differ from row to row, but a row of rounding errors is no row."""
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    largest = float(lengths.max(initial=0.0)) or 1.0
    rows: FloatArray = A / np.where(lengths > ZERO * largest, lengths, largest)
    return rows


def clearly_independent(A: FloatArray) -> bool:
    """Whether all rows are independent by far, shown by det G of G = Â Âᵀ, Â with rows of length
    one: σ² ≥ λ_min(G) ≥ det G/e.

    The eigenvalues of G have the sum m, so all but the smallest have a product of at most (m/(m −
    1))^(m − 1) < e.
    """
    # where there is something that is no number the comparisons fail
    with np.errstate(all="ignore"):
        G = A @ A.T
        squares = G.diagonal().tolist()
        alike = math.isfinite(sum(squares)) and min(squares) > _ALIKE * max(squares)
        return alike and bool(
            np.linalg.det(G) > math.e * _CLEARLY_INDEPENDENT * math.prod(squares) > 0.0
        )


def rank_of_rows(A: FloatArray) -> RowDependence:
    """How many rows are independent; none where there is no number."""
    if not A.size or not np.isfinite(A).all():
        return RowDependence(0, ())
    U, s, _ = np.linalg.svd(normalize_rows(A))
    rank = int(np.sum(s > ZERO))
    return RowDependence(
        rank,
        tuple(int(j) for j in np.flatnonzero(np.abs(U[:, rank:]).max(axis=1, initial=0.0) > _PART)),
    )


@dataclass(frozen=True)
class ConstraintRank:
    """The rank at the start, the usual one, and the rows that are involved where these fall
    short.
    """

    at_start: int
    generic: int
    n_rows: int
    involved: tuple[int, ...]


def constraint_rank(rates: ConstrainedRates, p: FloatArray, x: FloatArray) -> ConstraintRank:
    """rank A at the state x = (q, z, t) and around it on the rows."""
    m, n = rates.layout.m, rates.layout.n
    if not m:
        return ConstraintRank(0, 0, 0, ())
    A = rates.constraint_matrix(x, p)
    if clearly_independent(A):
        return ConstraintRank(m, m, m, ())
    here, involved = rank_of_rows(A)
    largest, usual, best = min(m, n), here, involved
    if here < largest:
        for other in (*_nearby_states(rates, p, x, A), *_with_random_speeds(rates, x)):
            rank, names = rank_of_rows(rates.constraint_matrix(other, p))
            if rank > usual:
                usual, best = rank, names
    return ConstraintRank(here, usual, m, involved if here < usual else best)


def _nearby_states(
    rates: ConstrainedRates, p: FloatArray, x: FloatArray, A: FloatArray
) -> list[FloatArray]:
    """Positions on the rows at some distance from the start, in directions the rows allow there."""
    n_q, n = rates.layout.n_q, rates.layout.n
    _, s, Vt = np.linalg.svd(normalize_rows(A))
    free = Vt[int(np.sum(s > _COARSE)) :]
    random = np.random.default_rng(0)
    positions = []
    for distance in _DISTANCES:
        direction = free.T @ random.normal(size=len(free))
        step = distance * direction / (float(np.linalg.norm(direction)) or 1.0)
        other = _project_position(rates, p, _retract(rates, p, x, step))
        if other is not None:
            positions.append(other)
    return [np.concatenate([o[:n_q], np.zeros(n), x[-1:]]) for o in positions]


def _with_random_speeds(rates: ConstrainedRates, x: FloatArray) -> list[FloatArray]:
    """The start with other speeds: at rest a row that is not linear in the rates has no
    direction.
    """
    if not rates.kind.nonlinear_velocities:
        return []
    n_q, n = rates.layout.n_q, rates.layout.n
    return [np.concatenate([x[:n_q], np.random.default_rng(1).uniform(-1.0, 1.0, n), x[-1:]])]


def _retract(rates: ConstrainedRates, p: FloatArray, x: FloatArray, step: FloatArray) -> FloatArray:
    """(q + E δz, …)"""
    n_q, n = rates.layout.n_q, rates.layout.n
    q = rates.retraction.call(np.concatenate([x[:n_q], step, x[-1:]]), p)
    return np.concatenate([q, np.zeros(n), x[-1:]])


def _project_position(rates: ConstrainedRates, p: FloatArray, x: FloatArray) -> FloatArray | None:
    """φ = 0 nearby, along E δz; None where it is not reached."""

    def at(step: FloatArray) -> tuple[FloatArray, FloatArray]:
        rows = rates.rows(_retract(rates, p, x, step)[np.newaxis], p)
        return rows["phi"][0], rows["A"][0]

    layout = rates.layout
    step, _, phi, _ = gauss_newton(
        at,
        np.zeros(layout.n),
        np.ones(layout.m, dtype=bool),
        np.ones(layout.n, dtype=bool),
        unit=1.0,
    )
    return (
        _retract(rates, p, x, step) if float(np.abs(phi).max(initial=0.0)) <= _ASSEMBLED else None
    )


def regular_kinematics(
    kin: Kinematics, q: FloatArray, numbers: Mapping[int, float], t: float, *, other: bool = False
) -> Kinematics:
    """The same system with speeds that are regular at q; kin itself where its own are, or where
    speeds were declared.

    With `other`, a choice that solves for as few as possible of the rates that kin solves for: its
    own may be singular nearby.
    """
    if not kin.state_dependent_pivots or kin.system.speed_list or kin.redundant or kin.nonlinear:
        return kin
    A, z = _unit_constraint_matrix(kin, q, numbers, t)
    if not np.isfinite(A).all():
        return kin
    own = {kin.name(u) for u in (*kin.u, *_dominant_rates(kin, q, numbers, t))}
    dependent = [k for k, name in enumerate(z) if name not in own]
    if not other and _relative_min_singular(A, dependent) > _SINGULAR:
        return kin
    weights = np.where(np.isin(np.arange(len(z)), dependent), _SINGULAR if other else 1.0, 1.0)
    pivots = _pivot_columns(A * weights)
    return (
        kin
        if _relative_min_singular(A, pivots) <= _SINGULAR
        else kinematics_with_dependent(kin, tuple(z[k] for k in pivots))
    )


def _unit_constraint_matrix(
    kin: Kinematics, q: FloatArray, numbers: Mapping[int, float], t: float
) -> tuple[FloatArray, list[str]]:
    """A at q in all rates z, rows of unit length, and the names of z."""
    rates = unreduced_kinematics(kin)
    evaluator = Evaluator(rates, numbers)
    state: dict[Any, float] = dict(zip(rates.q, q.tolist(), strict=True)) | {evaluator.time: t}
    state |= dict.fromkeys((*rates.u, *rates.x), 0.0)
    A = np.zeros((len(rates.velocity_rows), rates.n_u))
    for j, row in enumerate(evaluator.kin.velocity_rows):
        A[j, list(row.A)] = evaluator.values_at(
            [evaluator.in_state(a) for a in row.A.values()], state
        )
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    return A / np.where(lengths > 0.0, lengths, 1.0), [rates.name(u) for u in rates.u]


def _dominant_rates(
    kin: Kinematics, q: FloatArray, numbers: Mapping[int, float], t: float
) -> list[int]:
    """For each speed v = b ẋ − a ẏ along an edge the one of its two rates that is most like it
    at q.
    """
    evaluator = Evaluator(kin, numbers)
    state: dict[Any, float] = dict(zip(kin.q, q.tolist(), strict=True)) | {evaluator.time: t}
    rates = []
    for v, parts in kin.edge_coefficients.items():
        sizes = evaluator.values_at([evaluator.in_state(a) for a in parts.values()], state)
        rates += [list(parts)[int(np.argmax(np.abs(sizes)))]] if v in kin.u else []
    return rates


def _relative_min_singular(A: FloatArray, columns: list[int]) -> float:
    """The smallest singular value of A_D relative to the largest of A."""
    if len(columns) != len(A):
        return 0.0
    sizes = np.linalg.svd(A[:, columns], compute_uv=False)
    return (
        float(sizes.min(initial=np.inf) / max(np.linalg.norm(A, 2), np.finfo(float).tiny))
        if len(A)
        else 1.0
    )


def _pivot_columns(A: FloatArray) -> list[int]:
    """Columns by Gauss's elimination with complete pivoting; among equals the rate declared last
    depends on the others.
    """
    A, columns = A.copy(), []
    for k in range(len(A)):
        size = np.abs(A[k:])
        if not (largest := size.max(initial=0.0)) > 0.0:
            break
        row, column = max(
            map(tuple, np.argwhere(size >= (1 - 1e-6) * largest)),
            key=lambda place: (place[1], -place[0]),
        )
        A[[k, k + row]] = A[[k + row, k]]
        A[k + 1 :] -= np.outer(A[k + 1 :, column] / A[k, column], A[k])
        columns.append(int(column))
    return sorted(columns)
