"""Random points of one tape, drawn anew where something has no value.

Points come from the seed of the run and their number, never from what they are used for; five bad ones in a row mean that a
denominator vanishes identically.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from random import SystemRandom
from typing import Final, TypeVar

from dalembert.algebra.exact.modular import SIZES, BadPoint, NeverReal, NoRoot
from dalembert.algebra.exact.point import PrimePoint
from dalembert.algebra.tape import Tape
from dalembert.errors import BadExpression, DalembertError

Result = TypeVar("Result")

_ATTEMPTS: Final = 5
_ATTEMPTS_WITH_ROOTS: Final = 400
# so many points keep their values
_KEPT: Final = 4
_DRAWN: Final = SystemRandom().getrandbits(48)
# the seed of an earlier run may be given here, to see the same points again
SEED_VARIABLE: Final = "DALEMBERT_SEED"


class StructurallySingular(DalembertError):
    """An expression whose denominator vanishes identically, or a root of something that is never positive."""


def run_seed() -> int:
    """The seed of this run of Python, from which all points are drawn unless another one is given; drawn once."""
    given = os.environ.get(SEED_VARIABLE)
    if given is None:
        return _DRAWN
    if not given.isdecimal():
        msg = f"{SEED_VARIABLE}={given!r} is no seed: give the whole number that an earlier run has printed"
        raise BadExpression(msg)
    return int(given)


class Trials:
    """Several random points of one tape, kept while it grows; one at which something has no value is drawn anew.

    `outs` are what points are drawn for, if that is known; `check` is called before every draw and may raise, as when time is over.
    """

    def __init__(
        self,
        tape: Tape,
        trials: int = 2,
        seed: int | None = None,
        *,
        outs: Sequence[int] | None = None,
        bits: int = SIZES[0],
        check: Callable[[], None] | None = None,
    ) -> None:
        self.tape, self.trials, self.outs, self.bits = tape, trials, outs, bits
        self.seed = run_seed() if seed is None else seed
        self._check = check
        self._points: dict[int, PrimePoint] = {}
        # how often each point has been drawn anew
        self._again: dict[int, int] = {}

    def each(self, work: Callable[[PrimePoint], Result]) -> list[Result]:
        """work(point) for every point; StructurallySingular if five points in a row are bad."""
        return [self.at(k, work) for k in range(self.trials)]

    def at(self, k: int, work: Callable[[PrimePoint], Result]) -> Result:
        """work(point) at the k-th point, which is replaced while it is bad."""
        left, left_with_roots = _ATTEMPTS, _ATTEMPTS_WITH_ROOTS
        while True:
            try:
                return work(self._point(k))
            except NeverReal as bad:
                msg = f"structurally singular: {bad}"
                raise StructurallySingular(msg) from bad
            except NoRoot as bad:
                left_with_roots -= 1
                reason: BadPoint = bad
            except BadPoint as bad:
                left -= 1
                reason = bad
            if not (left and left_with_roots):
                msg = f"structurally singular: {reason}, and at every other random point tried"
                raise StructurallySingular(msg) from reason
            self._points.pop(k, None)
            self._again[k] = self._again.get(k, 0) + 1

    def _point(self, k: int) -> PrimePoint:
        point = self._points.get(k)
        if point is None:
            if self._check is not None:
                self._check()
            again = self._again.get(k, 0)
            point = PrimePoint(self.tape, (self.seed << 24) + (again << 12) + k, outs=self.outs, bits=self.bits)
            for old in [j for j in self._points if j >= _KEPT]:
                del self._points[old]
            self._points[k] = point
        return point
