"""rank A of rows in different units at a point: how many are independent and how many a motion keeps; which rates they are solved for.

Rows that depend on one another wherever they hold (Bricard's mechanism) are independent a little beside, where the stages of
a step lie; so the rank that a motion keeps is taken at positions that satisfy the rows. At a singular start it is less than nearby:
the largest rank of the start and of positions assembled around it counts.

det A_D ≠ 0: where nobody declared speeds, the rows are solved for m of the rates z, A_D z_D = −b − A_I z_I, and z_I are the speeds. The
choice that serves in general may be singular at one position; there another one is made, by the largest pivots.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import Numbers
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, all_rates, with_dependent
from dalembert.runtime.states.assembly import gauss_newton
from dalembert.runtime.states.evaluator import Evaluator

if TYPE_CHECKING:
    from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates

# singular values of rows of length one; positions that satisfy rows to 1e-14 leave the square root of that where these touch
ZERO: Final = 1e-7
# of a relation between rows of length one, what counts as a part of it
_PART: Final = 1e-3
# squares of singular values, and of the lengths of rows as parts of the largest, that no rounding makes doubtful
_CLEAR: Final = 1e-9
_ALIKE: Final = 1e-10
# singular values of rows of length one along which the rows do not allow a motion
_COARSE: Final = 1e-3
_ASSEMBLED: Final = 1e-11
# distances at which positions are assembled, as parts of a unit of the coordinates
_DISTANCES: Final = (0.05, 0.1, 0.2, 0.05, 0.1, 0.2)
# smallest over largest singular value of A_D, rows of unit length, below which another choice is looked for
_SINGULAR: Final = 1e-6


class RankOfRows(NamedTuple):
    """rank A, and the rows that take part in relations between rows."""

    rank: int
    involved: tuple[int, ...]


def unit_rows(A: Numbers) -> Numbers:
    """Rows of length one: units differ from row to row, but a row of rounding errors is no row."""
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    largest = float(lengths.max(initial=0.0)) or 1.0
    rows: Numbers = A / np.where(lengths > ZERO * largest, lengths, largest)
    return rows


def clearly_independent(A: Numbers) -> bool:
    """Whether all rows are independent by far, shown by det G of G = Â Âᵀ, Â with rows of length one: σ² ≥ λ_min(G) ≥ det G/e.

    The eigenvalues of G have the sum m, so those beside the smallest have a product of at most (m/(m − 1))^(m − 1) < e.
    """
    # where there is something that is no number the comparisons fail
    with np.errstate(all="ignore"):
        G = A @ A.T
        squares = G.diagonal().tolist()
        alike = math.isfinite(sum(squares)) and min(squares) > _ALIKE * max(squares)
        return alike and bool(np.linalg.det(G) > math.e * _CLEAR * math.prod(squares) > 0.0)


def rank_of_rows(A: Numbers) -> RankOfRows:
    """How many rows are independent; none where there is no number."""
    if not A.size or not np.isfinite(A).all():
        return RankOfRows(0, ())
    U, s, _ = np.linalg.svd(unit_rows(A))
    rank = int(np.sum(s > ZERO))
    return RankOfRows(rank, tuple(int(j) for j in np.flatnonzero(np.abs(U[:, rank:]).max(axis=1, initial=0.0) > _PART)))


@dataclass(frozen=True)
class RowRank:
    """The rank at the start, the usual one, and the rows that are involved where these fall short."""

    at_start: int
    usual: int
    n_rows: int
    involved: tuple[int, ...]


def usual_rank(rates: ConstrainedRates, p: Numbers, x: Numbers) -> RowRank:
    """rank A at the state x = (q, z, t) and around it on the rows."""
    m, n = rates.layout.m, rates.layout.n
    if not m:
        return RowRank(0, 0, 0, ())
    A = rates.row_matrix(x, p)
    if clearly_independent(A):
        return RowRank(m, m, m, ())
    here, involved = rank_of_rows(A)
    largest, usual, best = min(m, n), here, involved
    if here < largest:
        for other in (*_around(rates, p, x, A), *_moving(rates, x)):
            rank, names = rank_of_rows(rates.row_matrix(other, p))
            if rank > usual:
                usual, best = rank, names
    return RowRank(here, usual, m, involved if here < usual else best)


def _around(rates: ConstrainedRates, p: Numbers, x: Numbers, A: Numbers) -> list[Numbers]:
    """Positions on the rows at some distance from the start, in directions the rows allow there."""
    n_q, n = rates.layout.n_q, rates.layout.n
    _, s, Vt = np.linalg.svd(unit_rows(A))
    free = Vt[int(np.sum(s > _COARSE)) :]
    random = np.random.default_rng(0)
    found = []
    for distance in _DISTANCES:
        direction = free.T @ random.normal(size=len(free))
        step = distance * direction / (float(np.linalg.norm(direction)) or 1.0)
        other = _assembled(rates, p, _moved(rates, p, x, step))
        if other is not None:
            found.append(other)
    return [np.concatenate([o[:n_q], np.zeros(n), x[-1:]]) for o in found]


def _moving(rates: ConstrainedRates, x: Numbers) -> list[Numbers]:
    """The start with other speeds: at rest a row that is not linear in the rates has no direction."""
    if not rates.kind.curved:
        return []
    n_q, n = rates.layout.n_q, rates.layout.n
    return [np.concatenate([x[:n_q], np.random.default_rng(1).uniform(-1.0, 1.0, n), x[-1:]])]


def _moved(rates: ConstrainedRates, p: Numbers, x: Numbers, step: Numbers) -> Numbers:
    """(q + E δz, …)"""
    n_q, n = rates.layout.n_q, rates.layout.n
    q = rates.move.call(np.concatenate([x[:n_q], step, x[-1:]]), p)
    return np.concatenate([q, np.zeros(n), x[-1:]])


def _assembled(rates: ConstrainedRates, p: Numbers, x: Numbers) -> Numbers | None:
    """φ = 0 nearby, along E δz; None where it is not reached."""

    def at(step: Numbers) -> tuple[Numbers, Numbers]:
        rows = rates.rows(_moved(rates, p, x, step)[np.newaxis], p)
        return rows["phi"][0], rows["A"][0]

    layout = rates.layout
    step, _, phi, _ = gauss_newton(at, np.zeros(layout.n), np.ones(layout.m, dtype=bool), np.ones(layout.n, dtype=bool), unit=1.0)
    return _moved(rates, p, x, step) if float(np.abs(phi).max(initial=0.0)) <= _ASSEMBLED else None


def regular_kinematics(kin: Kinematics, q: Numbers, numbers: Mapping[int, float], t: float, *, other: bool = False) -> Kinematics:
    """The same system with speeds that are regular at q; kin itself where its own are, or where speeds were declared.

    With `other`, a choice that solves for as few as possible of the rates that kin solves for: its own may be singular nearby.
    """
    if not kin.moving_pivots or kin.system.speed_list or kin.redundant or kin.nonlinear:
        return kin
    A, z = _rows(kin, q, numbers, t)
    if not np.isfinite(A).all():
        return kin
    own = {kin.name(u) for u in (*kin.u, *_nearest_rates(kin, q, numbers, t))}
    dependent = [k for k, name in enumerate(z) if name not in own]
    if not other and _quality(A, dependent) > _SINGULAR:
        return kin
    weights = np.where(np.isin(np.arange(len(z)), dependent), _SINGULAR if other else 1.0, 1.0)
    pivots = _largest_pivots(A * weights)
    return kin if _quality(A, pivots) <= _SINGULAR else with_dependent(kin, tuple(z[k] for k in pivots))


def _rows(kin: Kinematics, q: Numbers, numbers: Mapping[int, float], t: float) -> tuple[Numbers, list[str]]:
    """A at q in all rates z, rows of unit length, and the names of z."""
    rates = all_rates(kin)
    evaluator = Evaluator(rates, numbers)
    state: dict[Any, float] = dict(zip(rates.q, q.tolist(), strict=True)) | {evaluator.time: t}
    state |= dict.fromkeys((*rates.u, *rates.x), 0.0)
    A = np.zeros((len(rates.velocity_rows), rates.n_u))
    for j, row in enumerate(evaluator.kin.velocity_rows):
        A[j, list(row.A)] = evaluator.floats([evaluator.reduced(a) for a in row.A.values()], state)
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    return A / np.where(lengths > 0.0, lengths, 1.0), [rates.name(u) for u in rates.u]


def _nearest_rates(kin: Kinematics, q: Numbers, numbers: Mapping[int, float], t: float) -> list[int]:
    """For each speed v = b ẋ − a ẏ along an edge the one of its two rates that is most like it at q."""
    evaluator = Evaluator(kin, numbers)
    state: dict[Any, float] = dict(zip(kin.q, q.tolist(), strict=True)) | {evaluator.time: t}
    found = []
    for v, parts in kin.along_edges.items():
        sizes = evaluator.floats([evaluator.reduced(a) for a in parts.values()], state)
        found += [list(parts)[int(np.argmax(np.abs(sizes)))]] if v in kin.u else []
    return found


def _quality(A: Numbers, columns: list[int]) -> float:
    """The smallest singular value of A_D as a part of the largest of A."""
    if len(columns) != len(A):
        return 0.0
    sizes = np.linalg.svd(A[:, columns], compute_uv=False)
    return float(sizes.min(initial=np.inf) / max(np.linalg.norm(A, 2), np.finfo(float).tiny)) if len(A) else 1.0


def _largest_pivots(A: Numbers) -> list[int]:
    """Columns by Gauss's elimination with complete pivoting; among equals the rate declared last depends on the others."""
    A, found = A.copy(), []
    for k in range(len(A)):
        size = np.abs(A[k:])
        if not (largest := size.max(initial=0.0)) > 0.0:
            break
        row, column = max(map(tuple, np.argwhere(size >= (1 - 1e-6) * largest)), key=lambda place: (place[1], -place[0]))
        A[[k, k + row]] = A[[k + row, k]]
        A[k + 1 :] -= np.outer(A[k + 1 :, column] / A[k, column], A[k])
        found.append(int(column))
    return sorted(found)
