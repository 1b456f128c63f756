"""Random points, and what may be claimed from them: shown to hold, shown not to hold, or undecided
with the reason.

(d/n)^t and (1 − 2⁻ˢ(1 − d/n))^k: how likely it is at most that something taken for zero is not. All
bounds come from here. A nonzero row whose numerator has the degree d vanishes at a random point
with a probability of at most ε = d/n, n being the number of values of an angle (Schwartz–Zippel). A
row with signs is another function in each of their patterns: either every pattern is run, or
patterns are drawn, and then an error that needs s signs to coincide is met with a probability of
2⁻ˢ a time.

Points come from the seed of the run and their number, never from what they are used for, and are
redrawn where something has no value; five bad ones in a row mean that a denominator vanishes
identically.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from dalembert.errors import BadExpression, DalembertError
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.symbolic.algebra.exact.finite_field import SIZES, BadPoint, NeverReal, NoRoot
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.symbolic.algebra.exact.sample_point import SamplePoint

# what is printed as shown is wrong with at most this probability, all rows and pairs of a run
# together
TARGET: Final = 1e-30
# the share of one row in that, so that a million rows may be asked for
ROW_TARGET: Final = 1e-36
_MOST_DRAWS: Final = 2000


@dataclass(frozen=True)
class DegreeBound:
    """Degrees of numerator and denominator of a row, and log₂ of the number of branches of its
    roots.
    """

    above: int
    below: int
    log2_branches: float = 0.0

    def log2_chance(self, values: int) -> float:
        """log₂ ε with the given number of values of an angle; 0 where no bound is known."""
        room = values - self.below
        if not self.above or room <= 0:
            return -math.inf if room > 0 else 0.0
        return min(0.0, math.log2(self.above) + self.log2_branches - math.log2(room))

    def zero_probability(self, values: int) -> float:
        """ε"""
        return 2.0 ** max(self.log2_chance(values), -1000.0) if self.above else 0.0


def prime_bits_for(rows: Sequence[DegreeBound], torsion: int, worst: float) -> int | None:
    """The smallest size of primes, in bits, for which no row vanishes by chance more often than
    that; None if none is large enough.

    `torsion` is the part of p + 1 that is lost to multiples of π.
    """
    for bits in SIZES:
        values = (1 << bits - 1) // torsion
        if all(row.log2_chance(values) <= math.log2(worst) for row in rows):
            return bits
    return None


def points_for(rows: Sequence[DegreeBound], values: int) -> int:
    """t with ε^t ≤ SHARE for every row, two at least."""
    worst = max((row.log2_chance(values) for row in rows), default=-math.inf)
    return max(2, math.ceil(math.log2(ROW_TARGET) / worst)) if -math.inf < worst < 0 else 2


def draws_for(signs: int, chance: float) -> int | None:
    """k with (1 − 2⁻ˢ(1 − ε))^k ≤ SHARE; None if that is too many."""
    met = 2.0**-signs * (1.0 - chance)
    k = math.ceil(math.log(ROW_TARGET) / math.log1p(-met)) if met < 1 else 1
    return k if k <= _MOST_DRAWS else None


def error_after_points(row: DegreeBound, values: int, points: int) -> float:
    """ε^t"""
    return row.zero_probability(values) ** points


def error_after_draws(row: DegreeBound, values: int, signs: int, draws: int) -> float:
    """(1 − 2⁻ˢ(1 − ε))^k"""
    return float((1.0 - 2.0**-signs * (1.0 - row.zero_probability(values))) ** draws)


def union_bound(chances: Sequence[float]) -> float:
    """The union bound."""
    return min(1.0, math.fsum(chances))


def is_proof(bound: float) -> bool:
    """Whether a bound may be printed as a proof."""
    return bound <= TARGET


SECONDS: Final = 10.0


class Undecided(DalembertError):
    """A question that could not be decided exactly; the message says why."""


class TimeLimit:
    """The time that a verdict may take, in seconds of this thread's own computing."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds, self._end = seconds, time.thread_time() + seconds

    @property
    def is_exceeded(self) -> bool:
        """Whether the time is over."""
        return time.thread_time() > self._end

    def check(self) -> None:
        """Undecided when the time is over."""
        if self.is_exceeded:
            msg = f"not decided within {self.seconds:g} s"
            raise Undecided(msg)


@dataclass(frozen=True)
class Verdict(Displayable):
    """Whether something holds: True or False where that was shown, None where it is undecided, and
    then why.

    As a condition, `if verdict:`, it raises Undecided where it is: neither branch may be taken
    then.
    """

    holds: bool | None
    # upper bound of the probability that a reported identity is false
    bound: float = 0.0
    why: str = ""

    def __bool__(self) -> bool:
        if self.holds is None:
            raise Undecided(self.why)
        return self.holds

    def __str__(self) -> str:
        if self.holds is None:
            return f"undecided: {self.why}"
        return "holds" if self.holds else "does not hold"


@dataclass(frozen=True)
class Decision:
    """For each row True (zero), False (not zero) or None (undecided, and why), and how surely."""

    zero: tuple[bool | None, ...]
    # for each row, how likely it is at most that it was taken for zero and is not
    chances: tuple[float, ...] = ()
    points: int = 0
    bits: int = SIZES[0]
    why: str = ""
    # where the first row that is not zero was seen: its index, its nonzero value, and the prime
    witness: tuple[int, object, int] | None = None

    @property
    def bound(self) -> float:
        """How likely it is at most that any row was taken for zero and is not; 1 where something
        is undecided.
        """
        return union_bound(self.chances)

    @property
    def all_zero(self) -> bool | None:
        """Whether every row vanishes; None if that is not known."""
        if False in self.zero:
            return False
        return None if None in self.zero else True

    @property
    def verdict(self) -> Verdict:
        """Whether every row vanishes."""
        return _verdict_of(self.all_zero, self.bound, self.why)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Whether each row vanishes."""
        chances = (*self.chances, *(0.0,) * len(self.zero))
        return tuple(
            _verdict_of(z, chance, self.why) for z, chance in zip(self.zero, chances, strict=False)
        )


def _verdict_of(zero: bool | None, bound: float, why: str) -> Verdict:
    """A bound is judged before anything is called shown."""
    if zero and not is_proof(bound):
        return Verdict(None, bound, f"an error is only known to be less likely than {bound:.0e}")
    return Verdict(zero, bound if zero else 0.0, why if zero is None else "")


Result = TypeVar("Result")

_ATTEMPTS: Final = 5
_ATTEMPTS_WITH_ROOTS: Final = 400
# number of points that keep their values
_KEPT: Final = 4
_DRAWN: Final = int.from_bytes(os.urandom(6), "big")
# the seed of an earlier run may be given here, to see the same points again
SEED_VARIABLE: Final = "DALEMBERT_SEED"


class StructurallySingular(DalembertError):
    """An expression whose denominator vanishes identically, or a root of something that is never
    positive.
    """


def process_seed() -> int:
    """The seed of this run of Python, from which all points are drawn unless another one is
    given; drawn once.
    """
    given = os.environ.get(SEED_VARIABLE)
    if given is None:
        return _DRAWN
    if not given.isdecimal():
        msg = (
            f"{SEED_VARIABLE}={given!r} is no seed: give the whole number that an earlier run "
            f"has printed"
        )
        raise BadExpression(msg)
    return int(given)


class RandomPoints:
    """Several random points of one tape, kept while it grows; one at which something has no value
    is redrawn.

    `outs` are what points are drawn for, if that is known; `check` is called before every draw and
    may raise, as when time is over.
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
        self.seed = process_seed() if seed is None else seed
        self.check = check
        self._points: dict[int, SamplePoint] = {}
        # how often each point has been drawn again
        self._again: dict[int, int] = {}

    def at_all(self, work: Callable[[SamplePoint], Result]) -> list[Result]:
        """work(point) for every point; StructurallySingular if five points in a row are bad."""
        return [self.at(k, work) for k in range(self.trials)]

    def at(self, k: int, work: Callable[[SamplePoint], Result]) -> Result:
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

    def _point(self, k: int) -> SamplePoint:
        from dalembert.symbolic.algebra.exact.sample_point import SamplePoint

        point = self._points.get(k)
        if point is None:
            if self.check is not None:
                self.check()
            again = self._again.get(k, 0)
            point = SamplePoint(
                self.tape, (self.seed << 24) + (again << 12) + k, outs=self.outs, bits=self.bits
            )
            for old in [j for j in self._points if j >= _KEPT]:
                del self._points[old]
            self._points[k] = point
        return point
