"""Σ Δt ρⁱ: impacts of several contacts that answer one another, and when they are over.
Keywords: accumulation point, Zeno behaviour.

A box that rocks on two corners hits with one, then with the other; its speeds shrink by a steady
ratio ρ in each cycle, and infinitely many impacts take a finite time. They are passed to their
limit when the heights that are left, v Δt/4, are negligible for the tolerance of the run.
"""

from __future__ import annotations

from collections import deque
from dataclasses import field
from typing import Final, NamedTuple

from dalembert.foundation.deferred_dataclass import dataclass

# negligible heights, relative to the absolute tolerance
_LOW: Final = 0.01
# lengths of a cycle of impacts, and how much its ratio may differ from that of the cycle before
_CYCLES: Final = (1, 2, 3, 4)
_STEADY: Final = 0.1
# without a steady cycle this many impacts, lower still, are enough if they shrink
_IRREGULAR: Final = 16
_LOWER: Final = 1e-3


class BounceImpact(NamedTuple):
    """When, of which contacts, and the largest speed of approach."""

    t: float
    contacts: tuple[int, ...]
    speed: float


class BounceLimit(NamedTuple):
    """Contacts that rest from now on, the time at which their bounces would be over, the largest
    speed of the last ones, and the gap up to which a contact takes part.
    """

    contacts: tuple[int, ...]
    t: float
    speed: float
    height: float


@dataclass
class BounceLimits:
    """The latest impacts of each group of contacts of one run."""

    tolerance: float
    _latest: dict[tuple[int, ...], deque[BounceImpact]] = field(default_factory=dict)

    def add(self, group: tuple[int, ...], impact: BounceImpact) -> BounceLimit | None:
        """One more impact of a group; the limit, if its impacts are as good as over."""
        impacts = self._latest.setdefault(group, deque(maxlen=_IRREGULAR + 1))
        impacts.append(impact)
        over = _time_left(list(impacts), _LOW * self.tolerance)
        if over is None:
            return None
        left, count = over
        last = list(impacts)[-count:]
        impacts.clear()
        taking_part = sorted({k for each in last for k in each.contacts})
        speed = max(each.speed for each in last)
        height = 10.0 * _LOW * self.tolerance
        return BounceLimit(tuple(taking_part), impact.t + left, speed, height)


def _time_left(impacts: list[BounceImpact], low: float) -> tuple[float, int] | None:
    """The time that all further impacts take together, and the number of impacts that show it; None
    where they count.
    """
    t, v = [i.t for i in impacts], [i.speed for i in impacts]
    for p in _CYCLES:
        if len(impacts) < 2 * p + 2:
            break
        now, before = v[-1] / v[-1 - p], v[-1 - p] / v[-1 - 2 * p]
        if not now < 1.0 or abs(now - before) > _STEADY * before:
            continue
        cycle = t[-1] - t[-1 - p]
        if max(v[-p:]) * cycle <= 4.0 * low:
            return cycle * now / (1.0 - now), 2 * p
        return None
    if len(impacts) <= _IRREGULAR:
        return None
    half = _IRREGULAR // 2
    elapsed = t[-1] - t[-1 - half]
    shrinks = max(v[-half:]) < max(v[:half])
    if shrinks and max(v[-half:]) * elapsed <= 4.0 * low * _LOWER:
        return elapsed, half
    return None
