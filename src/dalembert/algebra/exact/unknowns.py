"""M x = f at one point: unknowns that enter linearly, found from residuals r(x) = M x − f without a symbolic inverse."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.exact.matrices import solve_mod
from dalembert.algebra.exact.point import PrimePoint
from dalembert.algebra.exact.quadratic import Element, neg, sub
from dalembert.algebra.folds import depends_on


def solve_unknowns(point: PrimePoint, residuals: Sequence[int], unknowns: Sequence[int]) -> list[Element]:
    """x with r(x) = 0, from r(0) and r at the unit vectors."""
    p, n = point.prime, len(unknowns)
    dependent = depends_on(point.tape, residuals, unknowns)
    at_rest = point.on(point.tape, dict.fromkeys(unknowns, 0))
    minus_f = at_rest.values(residuals)
    columns = []
    for s in range(n):
        there = at_rest.moved({unknowns[s]: 1}, dependent).values(residuals)
        columns.append([sub(x, c, p) for x, c in zip(there, minus_f, strict=True)])
    return solve_mod([list(row) for row in zip(*columns, strict=True)], [neg(c, p) for c in minus_f], p)
