"""Exact evaluation as a proof that two derivations say the same.

Both sets of equations are brought to residuals along the independent speeds, functions of (q, u, u̇, t), and evaluated at
random points of random prime fields. Where the residuals coincide row by row the equations are the same; where they do
not, u̇ is taken from one and inserted in the other, which also admits forms that differ by a factor or a combination.
By Schwartz–Zippel a false agreement has at most the stated probability; a disagreement is shown at a state, or not claimed.
"""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.columns import Column
from dalembert.algebra.exact.field import StructurallySingular
from dalembert.algebra.exact.verdict import Clock, Decision, Verdict
from dalembert.algebra.exact.zero_test import ZeroTest
from dalembert.algebra.folds import transplant
from dalembert.equations.form import Equations


@dataclass(frozen=True)
class Difference:
    """Where two derivations part: row, what it leaves there, and modulo which prime."""

    row: int
    residue: object
    prime: int


@dataclass(frozen=True)
class Certificate(Verdict):
    """Whether two sets of equations have the same solutions, how surely, and if not, where they differ."""

    difference: Difference | None = None
    same_rows: bool = True
    points: int = 0
    bits: int = 0


class ReferenceEquations:
    """One set of equations that others are held against, on one tape and at the same points: what they share is evaluated once."""

    def __init__(self, reference: Equations, seed: int | None = None) -> None:
        self.reference = reference
        self.tape = reference.tape.fork()
        self._rows = ZeroTest(self.tape, seed=seed, confirm=False)
        self._inserted = ZeroTest(self.tape, reference.residuals, reference.udot, seed=seed)

    def certificate(self, other: Equations) -> Certificate:
        """Do the two have the same solutions u̇ for every state?"""
        theirs = Column(self.tape, transplant(other.tape, self.tape, other.residuals))
        differences = (Column(self.tape, self.reference.residuals) - theirs).nodes
        self._rows.clock = self._inserted.clock = Clock()
        try:
            same = self._rows.decide(differences)
            if same.all_zero is not False:
                return _verdict(same, same_rows=True)
            return _verdict(self._inserted.decide(theirs.nodes), same_rows=False)
        except StructurallySingular as problem:
            # rows that differ while the mass matrix determines no accelerations to insert: they may still have the same solutions
            return Certificate(holds=None, bound=1.0, why=str(problem), same_rows=False)


def compare(reference: Equations, other: Equations, seed: int | None = None) -> Certificate:
    """Do the two have the same solutions u̇ for every state?"""
    return ReferenceEquations(reference, seed).certificate(other)


def _verdict(found: Decision, *, same_rows: bool) -> Certificate:
    difference = None if found.witness is None else Difference(*found.witness)
    return Certificate(found.all_zero, found.bound, found.why, difference, same_rows, found.points, found.bits)
