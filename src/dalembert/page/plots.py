"""Quantities over time as SVG curves with their axes in HTML: they stretch with the page, print, and need no script.

The script of the page adds a cursor, which all plots share with the animation, and the values at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.algebra.printing.names import superscript
from dalembert.page.embedding import floats
from dalembert.page.mode_band import ModeBands, mode_bands
from dalembert.simulation.plotting.svg import ticks, value_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.simulation.trajectory import Trajectory

    Numbers = NDArray[np.float64]

MOST_POINTS: Final = 601
# whole numbers are fine enough, and short
_WIDTH, _HEIGHT = 10_000.0, 3_000.0
_ROOM: Final = 0.08


@dataclass(frozen=True, eq=False)
class PlotCurve:
    """One quantity: its name as HTML, and its values."""

    name: str
    values: Numbers = field(repr=False)
    # what a run in the page calls it; nothing where it has no such quantity
    key: str = ""


@dataclass(frozen=True, eq=False)
class PlotPanel:
    """Curves that share their axes, over the times t; `title` is HTML, as are the names of the curves."""

    title: str
    t: Numbers = field(repr=False)
    curves: tuple[PlotCurve, ...]
    wide: bool = False
    # curves that may lie on one another are dashed
    coinciding: bool = False


class Plots:
    """All plots of a page: the text of each, and the numbers that go with them."""

    def __init__(self, first: float, last: float, modes: ModeBands | None = None) -> None:
        self.first, self.last, self.modes = first, last, modes
        self.times: list[Numbers] = []
        self.data: list[dict[str, Any]] = []

    @classmethod
    def of_run(cls, run: Trajectory) -> Plots:
        """Over the time of a run, with what its contacts do."""
        return cls(float(run.t[0]), float(run.t[-1]), mode_bands(run))

    def grid(self, panels: Sequence[PlotPanel]) -> str:
        """Panels side by side where there is room."""
        return f'<div class="plots">{"".join(self.panel(p) for p in panels)}</div>'

    def panel(self, p: PlotPanel) -> str:
        """A figure with title, axes, curves and a place for the cursor."""
        t, curves = thinned(p.t, [c.values for c in p.curves])
        low, high, exponent = limits(curves)
        number = len(self.data)
        keys_of = {"k": [c.key for c in p.curves]} if all(c.key for c in p.curves) else {}
        self.data.append({"t": self._time(t), "e": exponent, "v": [floats(c) for c in curves], **keys_of})
        power = f' <span class="power">{f"in 10{superscript(exponent)}" if exponent else ""}</span>'
        keys = "".join(f'<span class="key c{k % 6}">{c.name} <output data-curve="{k}"></output></span>' for k, c in enumerate(p.curves))
        title = f'<span class="title">{p.title}</span>' if p.title else ""
        kind = f"plot{' wide' * p.wide}{' coinciding' * p.coinciding}{' banded' * (self.modes is not None)}"
        paths = "".join(f'<path class="curve c{k % 6}" d="{self._path(t, c, low, high)}"/>' for k, c in enumerate(curves))
        caption = f"<figcaption>{title}{power}{keys}</figcaption>"
        return f'<figure class="{kind}" data-plot="{number}">{caption}{self._field(paths, low, high, 10.0**exponent)}</figure>'

    def _field(self, paths: str, low: float, high: float, size: float) -> str:
        """The curves on a grid, with numbers at both axes."""
        ys = ticks(low / size, high / size, 4)
        xs = [x for x in ticks(self.first, self.last, 6) if self.first <= x <= self.last]
        down = {y: _y(y * size, low, high) for y in ys}
        numbers = "".join(f'<span class="y" style="top:{100 * v / _HEIGHT:.2f}%">{label(y)}</span>' for y, v in down.items())
        numbers += "".join(f'<span class="x" style="left:{self._across(x):.2f}%">{label(x)}</span>' for x in xs)
        lines = "".join(f'<path class="grid" d="M0 {v:.0f}H{_WIDTH:g}"/>' for v in down.values())
        lines += "".join(f'<path class="grid" d="M{0.01 * _WIDTH * self._across(x):.0f} 0V{_HEIGHT:g}"/>' for x in xs)
        box = f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" preserveAspectRatio="none" aria-hidden="true">{lines}{paths}</svg>'
        strip = "" if self.modes is None else self.modes.strip
        return f'<div class="area"><div class="field">{numbers}{box}{strip}<i class="cursor"></i></div></div>'

    def _time(self, t: Numbers) -> int:
        for k, known in enumerate(self.times):
            if known.shape == t.shape and np.array_equal(known, t):
                return k
        self.times.append(t)
        return len(self.times) - 1

    def _across(self, x: float) -> float:
        return 100 * (x - self.first) / ((self.last - self.first) or 1.0)

    def _path(self, t: Numbers, y: Numbers, low: float, high: float) -> str:
        """Steps from point to point; a gap where there is no number."""
        x = np.rint(_WIDTH * (t - self.first) / ((self.last - self.first) or 1.0)).astype(int)
        good = np.isfinite(y)
        down = np.rint(_y(np.where(good, y, low), low, high)).astype(int)
        parts: list[str] = []
        for part in np.split(np.flatnonzero(good), np.flatnonzero(np.diff(np.flatnonzero(good)) > 1) + 1):
            if len(part):
                steps = np.column_stack([np.diff(x[part]), np.diff(down[part])]).tolist()
                line = " ".join(f"{dx}{dy}" if dy < 0 else f"{dx} {dy}" for dx, dy in steps)
                parts.append(f"M{x[part[0]]} {down[part[0]]}" + (f"l{line}" if steps else ""))
        return "".join(parts)

    def embedded(self) -> dict[str, Any]:
        """The numbers behind the curves."""
        modes = {} if self.modes is None else {"modes": self.modes.embedded()}
        return {"first": self.first, "last": self.last, "times": [floats(t) for t in self.times], "plots": self.data, **modes}


def thinned(t: Numbers, curves: Sequence[Numbers]) -> tuple[Numbers, list[Numbers]]:
    """At most so many points that a screen can show them; ends are kept."""
    if len(t) <= 2 * MOST_POINTS:
        return t, list(curves)
    kept = np.unique(np.linspace(0, len(t) - 1, MOST_POINTS).round().astype(int))
    return t[kept], [c[kept] for c in curves]


def limits(curves: Sequence[Numbers]) -> tuple[float, float, int]:
    """The range of the axis with some room, and the power of ten its numbers are printed in.

    What does not move is drawn as a straight line, not as magnified rounding.
    """
    low, high = value_range(curves, _ROOM, smallest=1e-300)
    exponent = int(np.floor(np.log10(max(abs(low), abs(high)))))
    return low, high, exponent if not -3 < exponent < 5 else 0


def label(x: float) -> str:
    """A tick: short, with a real minus sign."""
    return f"{0.0 if abs(x) < 1e-12 else x:.6g}".replace("-", "−")


def _y(y: Any, low: float, high: float) -> Any:
    return _HEIGHT * (high - y) / (high - low)
