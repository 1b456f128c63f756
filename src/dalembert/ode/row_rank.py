"""rank A of rows in different units: how many of them are independent, and which take part in a relation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# singular values of rows of length one; positions that satisfy rows to 1e-14 leave the square root of that where these touch
ZERO: Final = 1e-7
# of a relation between rows of length one, what counts as a part of it
_PART: Final = 1e-3
# squares of singular values, and of the lengths of rows as parts of the largest, that no rounding makes doubtful
_CLEAR: Final = 1e-9
_ALIKE: Final = 1e-10


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
