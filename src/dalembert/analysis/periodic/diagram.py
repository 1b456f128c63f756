"""Points of a Poincaré section over a parameter: what motions settle to, by an ensemble.

Crossings are located on the sampled motion by a cubic through four samples; their error falls
with the fourth power of the sampling interval.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.runtime.simulation.events.event import SIGNS

_ITERATIONS: Final = 40


@dataclass(frozen=True, eq=False, repr=False)
class BifurcationDiagram(Displayable):
    """Section points over a parameter: `parameter` and `values` in pairs, one for each crossing."""

    name: str
    quantity: str
    section: str
    parameter: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    # parameters whose runs failed, with the reason
    failed: tuple[tuple[float, str], ...] = ()

    def at(self, value: float) -> FloatArray:
        """The section points of the run whose parameter is nearest to a value."""
        if not len(self.parameter):
            return np.zeros(0)
        nearest = self.parameter[int(np.argmin(np.abs(self.parameter - value)))]
        return np.asarray(self.values[self.parameter == nearest])

    def plot(self, path: Any = None) -> Any:
        """The points over the parameter."""
        from dalembert.analysis.periodic.plotting import diagram_plot

        return diagram_plot(self, path)

    def __str__(self) -> str:
        count = len(np.unique(self.parameter))
        lines = [
            (
                f"{len(self.values)} crossings of {self.section} = 0 in {count} runs "
                f"over {self.name}, {self.quantity} at each"
            )
        ]
        lines += [f"  {self.name} = {p:g} failed: {why}" for p, why in self.failed]
        return "\n".join(lines)

    __repr__ = __str__


def section_values(t: FloatArray, g: FloatArray, y: FloatArray, direction: str) -> FloatArray:
    """y where g crosses zero, both sampled at equal intervals, by cubics through four samples."""
    sign = SIGNS[direction]
    up, down = (g[:-1] < 0.0) & (g[1:] >= 0.0), (g[:-1] > 0.0) & (g[1:] <= 0.0)
    crossing = up if sign > 0 else down if sign < 0 else up | down
    k = np.flatnonzero(crossing)
    k = k[(k >= 1) & (k + 2 < len(t))]
    if not k.size:
        return np.zeros(0)
    G, Y = (np.stack([values[k - 1], values[k], values[k + 1], values[k + 2]]) for values in (g, y))
    low, high = np.zeros(len(k)), np.ones(len(k))
    for _ in range(_ITERATIONS):
        middle = (low + high) / 2
        same = _cubic(G, middle) * G[1] > 0.0
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return _cubic(Y, (low + high) / 2)


def _cubic(F: FloatArray, s: FloatArray) -> FloatArray:
    """The cubic through F at s = −1, 0, 1, 2."""
    a = -s * (s - 1) * (s - 2) / 6
    b = (s + 1) * (s - 1) * (s - 2) / 2
    c = -(s + 1) * s * (s - 2) / 2
    d = (s + 1) * s * (s - 1) / 6
    return np.asarray(a * F[0] + b * F[1] + c * F[2] + d * F[3])
