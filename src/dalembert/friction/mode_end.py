"""When a mode ends in a step: the first time at which a monitor falls below zero on the dense output."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.ode.event_search import SAMPLES
from dalembert.simulation.events.locating import Crossing, root

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# samples of an interval in which a monitor may dip below zero and come back
_CLOSE: Final = 64


def first_ends(g: Callable[[float], Numbers], begin: float, end: float, first: int) -> list[Crossing]:
    """The monitors, numbered from `first` on, that fall below zero in the interval between two samples in which one first does."""
    times = [begin + k * (end - begin) / SAMPLES for k in range(SAMPLES + 2)]
    times[SAMPLES] = end
    V = np.array([g(t)[first:].copy() for t in times])
    below = V[1 : SAMPLES + 1] < 0.0
    fallen = below.any(axis=1)
    last = int(np.argmax(fallen)) if fallen.any() else SAMPLES
    for k in range(last):
        # three samples on one side of which the middle is nearest to zero may hide two crossings
        if found := _dips(g, times, V, k + 1, first):
            return found
    if last == SAMPLES:
        return []
    return [Crossing(_root(g, first + j, times[last], times[last + 1]), first + j) for j in np.flatnonzero(below[last]).tolist()]


def _root(g: Callable[[float], Numbers], i: int, a: float, b: float) -> float:
    return root(lambda t: float(g(t)[i]), a, b, 1.0)


def _dips(g: Callable[[float], Numbers], times: list[float], V: Numbers, k: int, first: int) -> list[Crossing]:
    """Crossings about sample k of monitors whose parabola through it and its neighbours reaches zero."""
    left, middle, right = V[k - 1], V[k], V[k + 1]
    bend = left - 2.0 * middle + right
    lowest = middle - (right - left) ** 2 / (8.0 * np.where(bend > 0.0, bend, np.inf))
    suspects = np.flatnonzero((middle <= left) & (middle <= right) & (lowest <= 0.0) & (bend > 0.0) & (left > 0.0) & (right > 0.0))
    found = []
    for j in suspects:
        a = times[k - 1]
        for t in np.linspace(a, times[k + 1], _CLOSE)[1:].tolist():
            if g(t)[first + j] < 0.0:
                found.append(Crossing(_root(g, int(first + j), a, t), int(first + j)))
                break
            a = t
    return found
