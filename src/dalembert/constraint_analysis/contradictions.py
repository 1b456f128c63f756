"""x = 1 and x = 2: rows that cannot hold together, refused with what is left of one where the others hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dalembert.constraint_analysis.configurations import SMALL, Situation, position_rows, velocity_residual
from dalembert.constraint_analysis.dependence import Dependence
from dalembert.constraint_analysis.rows import SystemRows
from dalembert.errors import IllPosed
from dalembert.kinematics.rows import ConstraintRow
from dalembert.states.assembly import Assembler

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
