"""rank A where the rows hold: how many rows a motion keeps.

Rows that depend on one another wherever they hold (Bricard's mechanism) are independent a little beside, where the stages of
a step lie; so the rank is taken at positions that satisfy the rows. At a singular start it is less than nearby: the largest
rank of the start and of positions assembled around it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.ode.constrained.rates import ConstrainedRates
from dalembert.ode.row_rank import clearly_independent, rank_of_rows, unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# singular values of rows of length one that are not to be divided by while assembling
_COARSE: Final = 1e-3
_ASSEMBLED: Final = 1e-11
_STEPS: Final = 60
# distances at which positions are assembled, as parts of a unit of the coordinates
_DISTANCES: Final = (0.05, 0.1, 0.2, 0.05, 0.1, 0.2)


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
    """φ = 0 nearby by Gauss–Newton; None where it is not reached."""
    for _ in range(_STEPS):
        rows = rates.rows(x[np.newaxis], p)
        phi, A = rows["phi"][0], rows["A"][0]
        if not (np.isfinite(phi).all() and np.isfinite(A).all()):
            return None
        if float(np.abs(phi).max(initial=0.0)) <= _ASSEMBLED:
            return x
        x = _moved(rates, p, x, -np.linalg.lstsq(A, phi, rcond=_COARSE)[0])
    return None
