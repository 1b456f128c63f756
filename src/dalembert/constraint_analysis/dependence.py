"""Σ c_i (A_i, b_i) = 0: rows that repeat others wherever the system may be, decided exactly.

At a random point of a prime field every row that depends on earlier ones is a combination of some of them in one way only;
these are the rows it repeats. The first rows in order are kept, so that a velocity row is found to repeat a position row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dalembert.algebra.exact.field import Trials, rank_mod
from dalembert.algebra.exact.quadratic import Element
from dalembert.algebra.exact.rank_test import undecided_rank
from dalembert.constraint_analysis.rows import SystemRows

POINTS: Final = 2


@dataclass(frozen=True)
class Dependence:
    """Row `row` is a combination of `others`; `consistent` unless the parts without rates say otherwise."""

    row: int
    others: tuple[int, ...]
    consistent: bool = True


def dependences(rows: SystemRows) -> tuple[Dependence, ...]:
    """The rows that depend on others at every position."""
    if not rows.linear:
        return ()
    found = Trials(rows.tape, POINTS).each(lambda point: _at(rows.matrix(point), point.prime))
    # a random point can only lose rank
    return min(found, key=len)


def undecided(rows: SystemRows, fields: Sequence[Sequence[int]] = ()) -> str:
    """Why the ranks of the rows, or of fields on their tape, are not taken for shown; an empty text where they are."""
    zero = rows.tape.zero
    entries = [[r.A.get(k, zero) for k in range(rows.n)] for r in rows.linear]
    return undecided_rank(rows.tape, entries, POINTS) or undecided_rank(rows.tape, fields, 1)


def _at(matrix: Sequence[Sequence[Element]], p: int) -> tuple[Dependence, ...]:
    A = [row[:-1] for row in matrix]
    dependent = rank_mod(A, p).dependent
    found = []
    for i, others in dependent.items():
        together = [matrix[k] for k in (*others, i)]
        found.append(Dependence(i, tuple(others), rank_mod(together, p).rank == len(others)))
    return tuple(found)
