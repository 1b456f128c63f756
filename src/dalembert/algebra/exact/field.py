"""An expression that vanishes at random points of prime fields vanishes identically (Schwartz–Zippel).

A nonzero rational function of degree d vanishes at a random point of a field with p elements with a probability of at
most d/p. So "is it zero?" and "do these agree?" need no simplification: draw a prime and a point, evaluate, draw again.
A point at which something is divided by zero is replaced; five in a row mean that the denominator vanishes identically.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from dalembert.algebra.exact.matrices import Rank, nullspace_mod, rank_mod, solve_mod
from dalembert.algebra.exact.modular import BadPoint, NoRoot, random_prime
from dalembert.algebra.exact.point import PrimePoint
from dalembert.algebra.folds import needed
from dalembert.algebra.tape import Tape
from dalembert.errors import DalembertError

__all__ = [
    "BadPoint",
    "NoRoot",
    "PrimePoint",
    "Rank",
    "StructurallySingular",
    "Trials",
    "is_zero",
    "nullspace_mod",
    "random_prime",
    "rank_mod",
    "solve_mod",
    "zero",
]

Result = TypeVar("Result")

_ATTEMPTS: Final = 5
_ATTEMPTS_WITH_ROOTS: Final = 500
_BRANCHING: Final = frozenset({"sign", "abs", "sqrt"})
_TRIALS_WITH_BRANCHES: Final = 32


class StructurallySingular(DalembertError):
    """An expression whose denominator vanishes identically, or a root of something that is never positive."""


class Trials:
    """Several random points of one tape, kept while it grows; one at which something has no value is drawn anew."""

    def __init__(self, tape: Tape, trials: int = 4, seed: int = 0, until: int | None = None) -> None:
        self.tape, self.trials, self.seed, self.until = tape, trials, seed, until
        self._points: list[PrimePoint] = []
        self._drawn = 0

    def each(self, work: Callable[[PrimePoint], Result]) -> list[Result]:
        """work(point) for every point; StructurallySingular if five points in a row are bad."""
        return [self.at(k, work) for k in range(self.trials)]

    def at(self, k: int, work: Callable[[PrimePoint], Result]) -> Result:
        """work(point) at the k-th point, which is replaced while it is bad."""
        while len(self._points) <= k:
            self._points.append(self._draw())
        left, left_with_roots = _ATTEMPTS, _ATTEMPTS_WITH_ROOTS
        while True:
            try:
                return work(self._points[k])
            except NoRoot as bad:
                left_with_roots -= 1
                reason: BadPoint = bad
            except BadPoint as bad:
                left -= 1
                reason = bad
            if not (left and left_with_roots):
                msg = f"structurally singular: {reason}, and at every other random point tried"
                raise StructurallySingular(msg) from reason
            self._points[k] = self._draw()

    def _draw(self) -> PrimePoint:
        self._drawn += 1
        # a point drawn again knows the tape as it has grown by then
        return PrimePoint(self.tape, self.seed * 1_000_003 + self._drawn, until=self.until if self._drawn <= self.trials else None)

    def is_zero(self, outs: Sequence[int]) -> list[bool]:
        """Which of the expressions vanish identically (wrong with the probability that `degree.error_bound` states)."""
        suspects = self._vanishing(list(dict.fromkeys(outs)), range(self.trials))
        # |x| = x holds at half of all points
        if suspects and any(self._branches(i) for i in needed(self.tape, suspects)):
            suspects = self._vanishing(suspects, range(self.trials, _TRIALS_WITH_BRANCHES))
        zeros = set(suspects)
        return [i in zeros for i in outs]

    def _branches(self, i: int) -> bool:
        op, a, _ = self.tape.nodes[i]
        return op in _BRANCHING and self.tape.value(a) is None

    def _vanishing(self, suspects: list[int], trials: Iterable[int]) -> list[int]:
        for k in trials:
            if not suspects:
                break
            values = self.at(k, lambda point, outs=suspects: point.values(outs))  # type: ignore[misc]
            suspects = [i for i, v in zip(suspects, values, strict=True) if not v]
        return suspects

    def zero(self, i: int) -> bool:
        """Does this expression vanish identically?"""
        return self.is_zero((i,))[0]


def is_zero(tape: Tape, outs: Sequence[int], trials: int = 4, seed: int = 0) -> list[bool]:
    """Which of the expressions vanish identically, by evaluation at random points of random prime fields."""
    return Trials(tape, trials, seed, max(outs, default=0) + 1).is_zero(outs)


def zero(tape: Tape, i: int, trials: int = 4, seed: int = 0) -> bool:
    """Does this expression vanish identically?"""
    return is_zero(tape, (i,), trials, seed)[0]
