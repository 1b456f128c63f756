"""Σ c_i (A_i, b_i) = 0: rows that repeat others wherever the system may be, decided exactly.

At a random point of a prime field every row that depends on earlier ones is a combination of some of them in one way only;
these are the rows it repeats. The first rows in order are kept, so that a velocity row is found to repeat a position row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.exact.field import Trials, rank_mod
from dalembert.algebra.exact.quadratic import Element
from dalembert.algebra.exact.rank_test import undecided_rank
from dalembert.constraint_analysis.configurations import SMALL, Situation, position_rows, velocity_residual
from dalembert.constraint_analysis.rows import SystemRows
from dalembert.errors import IllPosed
from dalembert.kinematics.rows import ConstraintRow
from dalembert.states.assembly import Assembler

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


if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def refuse_without_numbers(rows: SystemRows, everywhere: Sequence[Dependence]) -> None:
    """Rows on velocities that contradict each other whatever the numbers."""
    for d in everywhere:
        if not d.consistent:
            raise IllPosed(_contradiction(rows, d.row, d.others))


def refuse_contradictions(place: Situation, everywhere: Sequence[Dependence], q: Numbers) -> None:
    """Rows that depend on others everywhere, at a position where these hold."""
    rows = place.rows
    for d in everywhere:
        row = rows.linear[d.row]
        if row.phi is not None:
            assembler = Assembler.of_rows(place, position_rows([row]), place.t)
            residual = float(assembler(q)[0][0])
            # x = 1 and x = 2 have the same rates; only their positions contradict each other
            if all(rows.linear[k].phi is not None for k in d.others) and not assembler.satisfied(q, SMALL)[0]:
                raise IllPosed(_contradiction(rows, d.row, d.others, residual))
        if not d.consistent:
            refuse_velocity(place, d.row, d.others, q)


def refuse_velocity(place: Situation, i: int, others: Sequence[int], q: Numbers) -> None:
    """A row whose rates are a combination of those of others, but not the part without rates."""
    A, b = place.A_and_b(q)
    residual = velocity_residual(A, b, i, others)
    if abs(residual) > SMALL * max(1.0, float(np.abs(b).max(initial=0.0))):
        raise IllPosed(_contradiction(place.rows, i, others, residual))


def _contradiction(rows: SystemRows, i: int, others: Sequence[int], residual: float | None = None) -> str:
    first, rest = rows.linear[i].name, names(rows.linear, others)
    hold = "this holds" if len(rest) == 1 else "these hold"
    left = "" if residual is None else f": where {hold}, the residual of `{first}` is {residual:.6g}"
    return f"`{first}` contradicts {listed(rest)}{left}; remove one of them or make them agree"


def names(rows: Sequence[ConstraintRow], which: Sequence[int]) -> tuple[str, ...]:
    """The names of some of the rows."""
    return tuple(rows[k].name for k in which)


def listed(labels: Sequence[str]) -> str:
    """`a`, `b` and `c`"""
    quoted = [f"`{label}`" for label in labels]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
