"""(d/n)^t and (1 − 2⁻ˢ(1 − d/n))^k: how likely it is at most that something taken for zero is not. All bounds come from here.

A nonzero row whose numerator has the degree d vanishes at a random point with a probability of at most ε = d/n, n being the
number of values of an angle (Schwartz–Zippel). A row with signs is another function in each of their patterns: either every
pattern is run, or patterns are drawn, and then an error that needs s signs to coincide is met with a probability of 2⁻ˢ a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dalembert.algebra.exact.modular import SIZES

# what is printed as shown is wrong with at most this probability, all rows and pairs of a run together
TARGET: Final = 1e-30
# the share of one row in that, so that a million rows may be asked for
SHARE: Final = 1e-36
_MOST_DRAWS: Final = 2000


@dataclass(frozen=True)
class RowDegree:
    """Degrees of numerator and denominator of a row, and log₂ of the number of branches of its roots."""

    above: int
    below: int
    log2_branches: float = 0.0

    def log2_chance(self, values: int) -> float:
        """log₂ ε with so many values of an angle; 0 where nothing can be said."""
        room = values - self.below
        if not self.above or room <= 0:
            return -math.inf if room > 0 else 0.0
        return min(0.0, math.log2(self.above) + self.log2_branches - math.log2(room))

    def chance(self, values: int) -> float:
        """ε"""
        return 2.0 ** max(self.log2_chance(values), -1000.0) if self.above else 0.0


def size_for(rows: Sequence[RowDegree], torsion: int, worst: float) -> int | None:
    """The smallest size of primes, in bits, for which no row vanishes by chance more often than that; None if none is large enough.

    `torsion` is the part of p + 1 that is lost to multiples of π.
    """
    for bits in SIZES:
        values = (1 << bits - 1) // torsion
        if all(row.log2_chance(values) <= math.log2(worst) for row in rows):
            return bits
    return None


def points_for(rows: Sequence[RowDegree], values: int) -> int:
    """t with ε^t ≤ SHARE for every row, two at least."""
    worst = max((row.log2_chance(values) for row in rows), default=-math.inf)
    return max(2, math.ceil(math.log2(SHARE) / worst)) if -math.inf < worst < 0 else 2


def draws_for(signs: int, chance: float) -> int | None:
    """k with (1 − 2⁻ˢ(1 − ε))^k ≤ SHARE; None if that is too many."""
    met = 2.0**-signs * (1.0 - chance)
    k = math.ceil(math.log(SHARE) / math.log1p(-met)) if met < 1 else 1
    return k if k <= _MOST_DRAWS else None


def missed_by_points(row: RowDegree, values: int, points: int) -> float:
    """ε^t"""
    return row.chance(values) ** points


def missed_by_draws(row: RowDegree, values: int, signs: int, draws: int) -> float:
    """(1 − 2⁻ˢ(1 − ε))^k"""
    return float((1.0 - 2.0**-signs * (1.0 - row.chance(values))) ** draws)


def together(chances: Sequence[float]) -> float:
    """The union bound."""
    return min(1.0, math.fsum(chances))


def enough(bound: float) -> bool:
    """Whether a bound may be printed as a proof."""
    return bound <= TARGET
