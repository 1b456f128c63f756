"""Shown to hold, shown not to hold, or undecided with the reason: the one form in which anything is claimed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from dalembert.algebra.exact import bounds
from dalembert.algebra.exact.modular import SIZES
from dalembert.errors import DalembertError
from dalembert.notebook import Shown

SECONDS: Final = 10.0


class Undecided(DalembertError):
    """Neither zero nor not zero, equal nor different, could be shown; the message says why."""


class Clock:
    """The time that a verdict may take, in seconds of this thread's own computing."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds, self._end = seconds, time.thread_time() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return time.thread_time() > self._end

    def check(self) -> None:
        """Undecided when the time is over."""
        if self.is_over:
            msg = f"not decided within {self.seconds:g} s"
            raise Undecided(msg)


@dataclass(frozen=True)
class Verdict(Shown):
    """Whether something holds: True or False where that was shown, None where it is undecided, and then why.

    As a condition, `if verdict:`, it raises Undecided where it is: neither branch may be taken then.
    """

    holds: bool | None
    # how likely it is at most that what is said to hold does not
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
    # where the first row that is not zero was seen: its place, what is left there, and modulo which prime
    witness: tuple[int, object, int] | None = None

    @property
    def bound(self) -> float:
        """How likely it is at most that any row was taken for zero and is not; 1 where something is undecided."""
        return bounds.together(self.chances)

    @property
    def all_zero(self) -> bool | None:
        """Whether every row vanishes; None if that is not known."""
        if False in self.zero:
            return False
        return None if None in self.zero else True

    @property
    def verdict(self) -> Verdict:
        """Whether every row vanishes."""
        return _judged(self.all_zero, self.bound, self.why)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Whether each row vanishes."""
        chances = (*self.chances, *(0.0,) * len(self.zero))
        return tuple(_judged(z, chance, self.why) for z, chance in zip(self.zero, chances, strict=False))


def _judged(zero: bool | None, bound: float, why: str) -> Verdict:
    """A bound is judged before anything is called shown."""
    if zero and not bounds.enough(bound):
        return Verdict(None, bound, f"an error is only known to be less likely than {bound:.0e}")
    return Verdict(zero, bound if zero else 0.0, why if zero is None else "")
