"""Ω̇ = 0 and b = 0: the fewest coefficients that must vanish for an integral to be constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from dalembert.algebra.folds import symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.errors import DalembertError
from dalembert.integrals.decide import OnTheMotion
from dalembert.kinematics.system_kinematics import Kinematics

_LARGEST_SET: Final = 3
_MOST_SETS: Final = 400


@dataclass(frozen=True)
class Coefficient:
    """A constant, an input or a rate of a specified motion that may vanish, and with it all higher rates."""

    symbol: str
    order: int
    shown: str
    zeros: tuple[int, ...] = field(repr=False)

    def implies(self, other: Coefficient) -> bool:
        """x = 0 implies ẋ = 0."""
        return self.symbol == other.symbol and self.order <= other.order


Condition = tuple[Coefficient, ...]


def text(condition: Condition) -> str:
    """Ω̇ = 0 and b = 0"""
    return " and ".join(f"{c.shown} = 0" for c in condition)


def coefficients(kin: Kinematics, wanted: Sequence[Scalar], causes: Sequence[Scalar]) -> list[Coefficient]:
    """What could vanish: rates of specified motions, the highest first, then the constants and inputs of the causes."""
    inside = set(symbols_of(kin.tape, (e.i for e in causes)))
    anywhere = inside.union(symbols_of(kin.tape, (e.i for e in wanted)))
    motions: list[list[Coefficient]] = []
    constants = []
    for s in kin.system.symbols.values():
        if s.kind == "specified":
            jets = _jets(kin, s.scalar.i)
            motions.append([_rate(kin, s.name, jets, k) for k in reversed(range(len(jets))) if anywhere.intersection(jets[k:])])
        elif s.kind in ("constant", "input", "state") and s.scalar.i in inside:
            constants.append(Coefficient(s.name, 0, str(s.scalar), (s.scalar.i,)))
    return [c for motion in motions for c in motion] + constants


def _rate(kin: Kinematics, name: str, jets: list[int], k: int) -> Coefficient:
    return Coefficient(name, k, str(Scalar(kin.tape, jets[k])), tuple(jets[k:]))


def _jets(kin: Kinematics, x: int) -> list[int]:
    """x, ẋ, ẍ, … as far as the tape knows them."""
    found = [x]
    while (rate := kin.tape.rates.get(found[-1])) is not None:
        found.append(rate)
    return found


def conditions(kin: Kinematics, motion: OnTheMotion, wanted: Sequence[Scalar], causes: Sequence[Scalar]) -> tuple[Condition, ...]:
    """The smallest sets of coefficients whose vanishing makes all that is wanted vanish on the motion.

    The coefficients are those of the `causes`, powers that say the same without u̇. A set that costs the system its mass
    matrix is none; one that another implies is left out.
    """
    choice = coefficients(kin, wanted, causes)
    zero, clock = kin.tape.zero, motion.clock
    for size in range(1, _LARGEST_SET + 1):
        found: list[Condition] = []
        for tried, condition in enumerate(_sets(choice, size)):
            if tried >= _MOST_SETS:
                break
            if clock.is_over:
                motion.why = motion.why or f"not all conditions could be tried within {clock.seconds:g} s"
                return tuple(found)
            where = {i: zero for c in condition for i in c.zeros}
            if not _implied(condition, found) and _holds(motion, wanted, where):
                found.append(condition)
        if found:
            return tuple(found)
    return ()


def _sets(choice: Sequence[Coefficient], size: int) -> Iterator[Condition]:
    for condition in combinations(choice, size):
        if len({c.symbol for c in condition}) == size:
            yield condition


def _implied(condition: Condition, found: Sequence[Condition]) -> bool:
    """Whether the condition contains one that was found before, or something stronger."""
    return any(all(any(c.implies(d) for c in condition) for d in earlier) for earlier in found)


def _holds(motion: OnTheMotion, wanted: Sequence[Scalar], where: Mapping[int, int]) -> bool:
    try:
        return all(motion.vanish(wanted, where)) and motion.admits(where)
    except DalembertError:
        return False
