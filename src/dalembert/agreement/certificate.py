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

from dalembert.algebra.exact.degree import degrees, error_bound
from dalembert.algebra.exact.field import PrimePoint, StructurallySingular, Trials
from dalembert.algebra.folds import transplant
from dalembert.algebra.tape import Tape
from dalembert.equations.form import Equations
from dalembert.equations.pointwise import accelerations

TRIALS: Final = 4


@dataclass(frozen=True)
class Difference:
    """Where two derivations part: row, what it leaves there, and modulo which prime."""

    row: int
    residue: int
    prime: int


@dataclass(frozen=True)
class Verdict:
    """Whether two sets of equations agree, with what probability that is wrong, and if not, where they differ."""

    agrees: bool
    bound: float
    difference: Difference | None = None
    same_rows: bool = True
    # why nothing could be decided
    singular: str = ""


def compare(reference: Equations, other: Equations, trials: int = TRIALS) -> Verdict:
    """Do the two have the same solutions u̇ for every state?"""
    tape = reference.tape.fork()
    theirs = transplant(other.tape, tape, other.residuals)
    differences = [tape.sub(a, b) for a, b in zip(reference.residuals, theirs, strict=True)]
    points = Trials(tape, trials)
    if all(points.is_zero(differences)):
        return Verdict(agrees=True, bound=error_bound(tape, differences, trials))
    try:
        return _by_insertion(tape, points, reference, theirs)
    except StructurallySingular as problem:
        # rows that differ while the mass matrix determines no accelerations to insert
        return Verdict(agrees=False, bound=1.0, same_rows=False, singular=str(problem))


def _by_insertion(tape: Tape, points: Trials, reference: Equations, theirs: Sequence[int]) -> Verdict:
    def left_over(point: PrimePoint) -> Difference | None:
        udot = accelerations(point, reference.residuals, reference.udot)
        values = point.on(tape, dict(zip(reference.udot, udot, strict=True))).values(theirs)
        return next((Difference(r, x, point.prime) for r, x in enumerate(values) if x), None)

    wrong = next((d for d in points.each(left_over) if d is not None), None)
    # u̇ is a quotient of determinants of order p and p − 1
    degree = len(reference.u) * max(sum(d) for d in degrees(tape, reference.residuals))
    bound = error_bound(tape, theirs, points.trials, given=dict.fromkeys(reference.udot, (degree, degree)))
    return Verdict(agrees=wrong is None, bound=bound, difference=wrong, same_rows=False)
