"""Where numbers are in a drawing: the paths of curves and grids in a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass


@dataclass(frozen=True)
class PlotArea:
    """A rectangle of a drawing, x from left to right and y upwards: where numbers are in it, to
    the nearest multiple of `unit`.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    left: float
    top: float
    width: float
    height: float
    unit: float = 0.1

    def x_pixel(self, x: Any) -> Any:
        """How far to the right."""
        return self.left + self.width * (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0)

    def y_pixel(self, y: Any) -> Any:
        """How far down."""
        return self.top + self.height * (self.y[1] - y) / (self.y[1] - self.y[0])

    def grid(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """Lines through these numbers, from edge to edge."""
        level = "".join(
            f"M{self.left:g} {self._snap(self.y_pixel(y)):g}h{self.width:g}" for y in ys
        )
        return level + "".join(
            f"M{self._snap(self.x_pixel(x)):g} {self.top:g}v{self.height:g}" for x in xs
        )

    def _snap(self, place: float) -> float:
        return round(place / self.unit) * self.unit

    def path(self, x: FloatArray, y: FloatArray, *, joined: bool = True) -> str:
        """Steps from point to point, or a dot at each; a gap where there is no number."""
        good = np.isfinite(y)
        down = np.clip(self.y_pixel(np.where(good, y, self.y[0])), self.top - 1e4, self.top + 1e4)
        places = np.rint(np.column_stack([self.x_pixel(x), down]) / self.unit).astype(int)
        whole = np.flatnonzero(good)
        breaks = np.flatnonzero(np.diff(whole) > 1) + 1 if joined else np.arange(1, len(whole))
        template = "%d %d" if self.unit == 1 else "%.1f %.1f"
        parts: list[str] = []
        for part in np.split(places[whole], breaks) if len(whole) else ():
            begin, *steps = [
                template % (a * self.unit, b * self.unit)
                for a, b in (part[0], *np.diff(part, axis=0).tolist())
            ]
            parts.append(
                f"M{begin}"
                + (f"l{' '.join(steps).replace(' -', '-')}" if steps else "h0" * (not joined))
            )
        return "".join(parts)
