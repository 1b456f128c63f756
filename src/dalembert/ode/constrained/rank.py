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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# singular values of rows of length one: zero at assembled positions, and not to be divided by while assembling
_ZERO: Final = 1e-7
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
    A = rates.rows(x[np.newaxis], p)["A"][0]
    here, involved = _rank(A)
    largest, usual, best = min(m, n), here, involved
    if here < largest:
        for other in (*_around(rates, p, x, A), *_moving(rates, x)):
            rank, names = _rank(rates.rows(other[np.newaxis], p)["A"][0])
            if rank > usual:
                usual, best = rank, names
    return RowRank(here, usual, m, involved if here < usual else best)


def _unit_rows(A: Numbers) -> Numbers:
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    # units differ from row to row, but a row of rounding errors is no row
    floor = _ZERO * (float(lengths.max(initial=0.0)) or 1.0)
    rows: Numbers = A / np.where(lengths > floor, lengths, max(floor, 1.0))
    return rows


def _rank(A: Numbers) -> tuple[int, tuple[int, ...]]:
    """rank A, and the rows that take part in a relation between rows."""
    if not np.isfinite(A).all():
        return 0, ()
    U, s, _ = np.linalg.svd(_unit_rows(A))
    rank = int(np.sum(s > _ZERO))
    return rank, tuple(int(j) for j in np.flatnonzero(np.abs(U[:, rank:]).max(axis=1, initial=0.0) > _COARSE))


def _around(rates: ConstrainedRates, p: Numbers, x: Numbers, A: Numbers) -> list[Numbers]:
    """Positions on the rows at some distance from the start, in directions the rows allow there."""
    n_q, n = rates.layout.n_q, rates.layout.n
    _, s, Vt = np.linalg.svd(_unit_rows(A))
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
