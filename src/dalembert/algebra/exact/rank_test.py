"""rank [e_ij]: how likely it is at most that random points show a smaller rank than the rows have.

A minor of the rows is a sum of products of one entry from each, so its degree is at most the sum of the largest degrees of the
rows; a rank that was lost at every point means that all minors of the true size have vanished there.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.exact.degree import row_degrees
from dalembert.algebra.exact.field import PrimePoint, Trials
from dalembert.algebra.exact.verdict import RowDegree, enough, missed_by_points
from dalembert.algebra.tape import Tape


def rank_chance(tape: Tape, rows: Sequence[Sequence[int]], points: int) -> float:
    """The bound for the rank of rows of nodes that was read off so many points."""
    nodes = [e for row in rows for e in row]
    if not nodes:
        return 0.0

    def measured(point: PrimePoint) -> float:
        found = iter(row_degrees(tape, nodes, point))
        largest = [max(([next(found) for _ in row]), key=lambda d: d.above + d.below, default=RowDegree(0, 0)) for row in rows]
        # over the product of all denominators of a row every entry has at most this degree
        degree = sum(d.above + len(row) * d.below for d, row in zip(largest, rows, strict=True))
        branches = max(d.log2_branches for d in largest)
        minor = RowDegree(degree, degree, branches * len(rows))
        return missed_by_points(minor, point.generators.spread, points)

    return Trials(tape, 1, outs=nodes).at(0, measured)


def undecided_rank(tape: Tape, rows: Sequence[Sequence[int]], points: int) -> str:
    """Why a rank is not taken for shown, or an empty text."""
    chance = rank_chance(tape, rows, points)
    return "" if enough(chance) else f"undecided: that a rank was lost by chance is only known to be less likely than {chance:.0e}"
