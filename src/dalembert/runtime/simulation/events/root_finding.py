"""g(t*) = 0 in a step: every crossing of every event, in the order of time, to the last bit of
the interpolating polynomial; native code finds them.
Keywords: root finding.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import cached_call
from dalembert.runtime.numerics.jit import Library, load
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.ode.guard_search import (
    EXPORTS,
    MOST_CROSSINGS,
    N_EVENT_POINTS,
    module_ir,
)

if TYPE_CHECKING:
    from dalembert.runtime.ode.integration import DenseStep
    from dalembert.runtime.simulation.events.event_functions import EventMonitor

_STEP: Final = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_double)
_CROSSINGS: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *_STEP, *[ctypes.c_void_p] * 4, ctypes.c_int64)
_FALLS: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *_STEP, *[ctypes.c_void_p] * 3, ctypes.c_int64)


class Crossing(NamedTuple):
    """Event number `event` crosses zero at time t."""

    t: float
    event: int


@cached_call
def search_library() -> Library:
    """The native search for events and guards in a step."""
    return load(module_ir, EXPORTS)


class RootFinder:
    """Looks for events and guards of a monitor in steps, whose rows are padded."""

    def __init__(self, watch: EventMonitor) -> None:
        count = len(watch.functions.events)
        self._watch, self._library = watch, search_library()
        self._table = np.zeros((N_EVENT_POINTS, count))
        self._t = np.zeros(MOST_CROSSINGS * count)
        self._numbers = np.zeros(MOST_CROSSINGS * count, dtype=np.int64)
        self._found = data_address(self._t), self._numbers.ctypes.data
        self._crossings = _CROSSINGS(self._library.address("crossings"))
        self._falls = _FALLS(self._library.address("first_falls"))

    def crossings(self, step: DenseStep, sides: FloatArray, events: int) -> list[Crossing]:
        """Crossings of the first `events` in the wanted direction; `sides` gives on which side of
        zero each was when the step began.
        """
        table = data_address(self._table)
        return self._read(
            self._crossings(*self._at(step), table, data_address(sides), *self._found, events)
        )

    def falls(self, step: DenseStep, first: int) -> list[Crossing]:
        """Guards from number `first` on that fall below zero, in the interval between two samples
        in which one first does.
        """
        return self._read(
            self._falls(*self._at(step), data_address(self._table), *self._found, first)
        )

    def _at(self, step: DenseStep) -> tuple[int, int, float, float]:
        return self._watch.address, data_address(step.rows), step.begin, step.end

    def _read(self, count: int) -> list[Crossing]:
        found = zip(self._t[:count].tolist(), self._numbers[:count].tolist(), strict=True)
        return sorted(Crossing(t, i) for t, i in found)
