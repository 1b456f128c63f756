"""Exact evaluation as a proof that two derivations say the same.

Both sets of equations are brought to residuals along the independent speeds, functions of (q, u, u̇, t), and evaluated at
random points of random prime fields. Where the residuals coincide row by row the equations are the same; where they do
not, u̇ is taken from one and inserted in the other, which also admits forms that differ by a factor or a combination.
By Schwartz–Zippel a false agreement has at most the stated probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dalembert.algebra.degree import error_bound
from dalembert.algebra.field import Point, Trials, solve_mod
from dalembert.equations.form import Equations

TRIALS: Final = 4


@dataclass(frozen=True)
class Verdict:
    """Whether two sets of equations agree, with what certainty, and if not, where."""

    agrees: bool
    bound: float
    # (row, value of the first, value of the second, prime) at the first point of disagreement
    difference: tuple[int, int, int, int] | None = None
    same_rows: bool = True


def compare(reference: Equations, other: Equations, trials: int = TRIALS) -> Verdict:
    """Do the two have the same solutions u̇ for every state?"""
    points = Trials(reference.tape, trials)
    same = points.each(lambda point: _first_difference(point, reference, other))
    found = next((d for d in same if d is not None), None)
    if found is None:
        return Verdict(agrees=True, bound=_bound(reference, other, trials, 1))
    left = points.each(lambda point: _inserted(point, reference, other))
    wrong = next((d for d in left if d is not None), None)
    bound = _bound(reference, other, trials, len(reference.u) + 1)
    return Verdict(agrees=wrong is None, bound=bound, difference=wrong, same_rows=False)


def _bound(reference: Equations, other: Equations, trials: int, power: int) -> float:
    """Rows × (degree/p)^trials, the degree taken of what is actually evaluated."""
    return error_bound(reference.tape, reference.residuals, trials, power) + error_bound(other.tape, other.residuals, trials, power)


def _first_difference(point: Point, reference: Equations, other: Equations) -> tuple[int, int, int, int] | None:
    a = point.values(reference.residuals)
    b = point.on(other.tape).values(other.residuals)
    rows = zip(range(len(a)), a, b, strict=True)
    return next(((r, x, y, point.prime) for r, x, y in rows if x != y), None)


def _inserted(point: Point, reference: Equations, other: Equations) -> tuple[int, int, int, int] | None:
    """The first row of `other` that u̇ of the reference does not satisfy."""
    udot = accelerations(point, reference)
    residuals = point.on(other.tape, dict(zip(other.udot, udot, strict=True))).values(other.residuals)
    return next(((r, 0, x, point.prime) for r, x in enumerate(residuals) if x), None)


def accelerations(point: Point, equations: Equations) -> list[int]:
    """u̇ from M u̇ = f at a point of the field."""
    p = point.prime
    constant = _residuals_at(point, equations, [0] * len(equations.u))
    columns = []
    for s in range(len(equations.u)):
        unit = [int(r == s) for r in range(len(equations.u))]
        columns.append([(x - c) % p for x, c in zip(_residuals_at(point, equations, unit), constant, strict=True)])
    M = [list(row) for row in zip(*columns, strict=True)]
    return solve_mod(M, [-c % p for c in constant], p)


def _residuals_at(point: Point, equations: Equations, udot: Sequence[int]) -> list[int]:
    return point.on(equations.tape, dict(zip(equations.udot, udot, strict=True))).values(equations.residuals)
