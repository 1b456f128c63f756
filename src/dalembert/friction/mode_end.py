"""When a mode ends in a step: the first time at which a monitor falls below zero on the dense output."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.numerics.jit import Library, load
from dalembert.ode.event_search import SAMPLES
from dalembert.ode.fall_search import EXPORTS, PLACES, text
from dalembert.ode.points import address
from dalembert.once import made_once
from dalembert.simulation.events.locating import Crossing

if TYPE_CHECKING:
    from dalembert.ode.loop import DenseStep
    from dalembert.simulation.events.watching import Watch

# samples of an interval in which a monitor may dip below zero and come back
_CLOSE: Final = 64
_STEP: Final = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_double)
_SAMPLES: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *_STEP, ctypes.c_void_p, ctypes.c_int64)
_FALL: Final = ctypes.CFUNCTYPE(ctypes.c_double, *_STEP, ctypes.c_int64, ctypes.c_double, ctypes.c_double)


@made_once
def _library() -> Library:
    return load(text(), EXPORTS)


class ModeEnds:
    """Looks for the ends of modes in steps: the events of a watch from number `first` on stay positive while a mode lasts."""

    def __init__(self, watch: Watch, first: int) -> None:
        self._watch, self._first = watch, first
        self._table = np.zeros((PLACES, len(watch.functions.events)))
        self._at, self._library = address(self._table), _library()
        self._samples, self._fall = _SAMPLES(self._library.address("samples")), _FALL(self._library.address("fall"))

    def in_step(self, step: DenseStep) -> list[Crossing]:
        """Monitors that fall below zero, in a padded step, in the interval between two samples in which one first does."""
        begin, length, first = step.begin, step.end - step.begin, self._first
        at = self._watch.address, address(step.rows), begin, length
        if not (suspicious := self._samples(*at, self._at, first)):
            return []
        V = self._table.tolist()
        times = [begin + k * length / SAMPLES for k in range(PLACES)]
        times[SAMPLES] = step.end
        for k in range(suspicious, SAMPLES + 1):
            left, here, right = V[k - 1 : k + 2]
            if below := [i for i in range(first, len(here)) if here[i] < 0.0]:
                return [Crossing(self._fall(*at, i, times[k - 1], times[k]), i) for i in below]
            suspects = [i for i in range(first, len(here)) if left[i] >= here[i] <= right[i] and _dips(left[i], here[i], right[i])]
            if suspects and (found := self._in_dips(at, suspects, times[k - 1], times[k + 1])):
                return found
        return []

    def _in_dips(self, at: tuple[int, int, float, float], suspects: list[int], begin: float, end: float) -> list[Crossing]:
        """Where monitors that may dip below zero do."""
        g, found = self._watch.sampled(*at[1:]), []
        for i in suspects:
            a = begin
            for t in np.linspace(begin, end, _CLOSE)[1:].tolist():
                if g(t)[i] < 0.0:
                    found.append(Crossing(self._fall(*at, i, a, t), i))
                    break
                a = t
        return found


def _dips(left: float, middle: float, right: float) -> bool:
    """Whether the parabola through three positive samples reaches zero."""
    bend = left - 2.0 * middle + right
    return bend > 0.0 and left > 0.0 and right > 0.0 and middle <= (right - left) ** 2 / (8.0 * bend)
