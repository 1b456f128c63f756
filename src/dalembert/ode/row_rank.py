"""rank A of rows in different units: how many of them are independent, and which take part in a relation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# singular values of rows of length one; positions that satisfy rows to 1e-14 leave the square root of that where these touch
ZERO: Final = 1e-7
# of a relation between rows of length one, what counts as a part of it
_PART: Final = 1e-3


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


def rank_of_rows(A: Numbers) -> RankOfRows:
    """How many rows are independent; none where there is no number."""
    if not A.size or not np.isfinite(A).all():
        return RankOfRows(0, ())
    U, s, _ = np.linalg.svd(unit_rows(A))
    rank = int(np.sum(s > ZERO))
    return RankOfRows(rank, tuple(int(j) for j in np.flatnonzero(np.abs(U[:, rank:]).max(axis=1, initial=0.0) > _PART)))
