"""Panels with curves: what a picture shows, and the ranges and ticks of its axes.

`matplotlib_figure` draws them for files and notebooks, the page for itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

# Okabe and Ito's colours, which colour-blind readers can distinguish
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY: Final = "#666666"
MOST_PANELS: Final = 24
# of curves that may lie on one another: their dashes, the first is whole
DASHES: Final = ((), (7, 5), (8, 3, 2, 3), (2, 4))
# curves that are this close everywhere, relative to the height of the panel, are seen as one
_INDISTINGUISHABLE: Final = 0.01
_ROUNDING: Final = 1e-14


@dataclass(frozen=True, eq=False)
class Curve:
    """One quantity over its own times, or over another."""

    name: str
    x: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    # by default that of its place in the panel
    colour: str = ""
    # what a run in a page calls it; nothing where it has no such quantity
    key: str = ""


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share their axes. In a page title and names are HTML; in a picture a symbol as
    title is set as a book does.

    levels       names for the heights 1, 2, … where these say which and not how much
    coinciding   curves that may lie on one another are dashed
    dotted       points, not joined
    wide         over the whole width of a page
    """

    title: str
    curves: tuple[Curve, ...]
    is_symbol: bool = False
    zero_line: bool = False
    levels: tuple[str, ...] = ()
    coinciding: bool = False
    dotted: bool = False
    wide: bool = False

    def colour(self, k: int) -> str:
        """Of the k-th curve."""
        return self.curves[k].colour or COLOURS[k % len(COLOURS)]

    def dashes(self, k: int) -> tuple[int, ...]:
        """Of the k-th curve; none where it is whole."""
        return DASHES[k % len(DASHES)] if self.coinciding else ()

    def differences(self, title: str) -> Panel | None:
        """x_k − x_0 of the curves that cannot be distinguished from the first one by eye; None
        where there are none, or where they are equal to rounding.
        """
        first = self.curves[0]
        low, high = value_range([c.values for c in self.curves], 0.0, smallest=1e-300)
        curves = []
        for k, c in enumerate(self.curves[1:], 1):
            apart = c.values - np.interp(c.x, first.x, first.values)
            largest = float(np.abs(apart).max(initial=0.0))
            if _ROUNDING * max(abs(low), abs(high)) < largest <= _INDISTINGUISHABLE * (high - low):
                key = f"d:{c.key}" if c.key else ""
                curves.append(Curve(c.name, c.x, apart, self.colour(k), key))
        return Panel(title, tuple(curves), zero_line=True) if curves else None


@dataclass(frozen=True, eq=False)
class Chart:
    """Panels in columns, perhaps one over the whole width below them, and one horizontal axis, by
    default that of time.
    """

    title: str
    facts: str
    facts_colour: str
    span: tuple[float, float]
    panels: tuple[Panel, ...]
    bottom_panel: Panel | None = None
    x_label: str = "t"

    @property
    def columns(self) -> int:
        """The number of columns."""
        return 1 if len(self.panels) <= 4 else 2 if len(self.panels) <= 10 else 3


def y_limits(panel: Panel) -> tuple[float, float]:
    """The range of the values with some room."""
    if panel.levels:
        return 0.5, len(panel.levels) + 0.5
    zero = [np.zeros(1)] * panel.zero_line
    return value_range([*zero, *(c.values for c in panel.curves)], _ROOM, smallest=1e-12)


def value_range(
    curves: Sequence[FloatArray], room: float, *, smallest: float
) -> tuple[float, float]:
    """From the least to the largest and a part of that beyond; what does not move is a straight
    line, not magnified rounding.
    """
    finite = np.concatenate([c[np.isfinite(c)] for c in curves]) if len(curves) else np.zeros(0)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or size < smallest:
        half = 0.5 * size if size >= smallest else 0.5
        return low - half, high + half
    return low - room * (high - low), high + room * (high - low)


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from low to high, at most the given number and one."""
    span = high - low
    if not (math.isfinite(span) and span > 0.0):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if span / (m * power) <= most)
    return [
        k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


def ticks_inside(low: float, high: float, most: int) -> list[float]:
    """Those of them that are not outside by rounding."""
    return [x for x in ticks(low, high, most) if low <= x <= high]


# pixels: the width of a panel in a single column, its height where several share the picture, and
# where few of them do with none below them
PANEL_WIDTH: Final = 622.0
_PANEL: Final = 112.0
_TALL: Final = {1: 280.0, 2: 180.0}
# the curve keeps away from the upper and the lower edge by this part of its height
_ROOM: Final = 0.06
# pixels of a letter of a name
_LETTER: Final = 8.06


def panel_height(chart: Chart) -> float:
    """Pixels of each of its panels."""
    return _PANEL if chart.bottom_panel is not None else _TALL.get(len(chart.panels), _PANEL)


def legend_rows(panel: Panel, width: float) -> list[list[int]]:
    """Which curves are named in which row; one row, though empty, where there is nothing to
    distinguish.
    """
    rows: list[list[int]] = [[]]
    left = width - _legend_width(panel.title) * bool(panel.title)
    for k, c in enumerate(panel.curves if len(panel.curves) > 1 else ()):
        if c.name:
            left -= _legend_width(c.name)
            if left < 0 and rows[-1]:
                rows.append([])
                left = width - _legend_width(c.name)
            rows[-1].append(k)
    return rows


def _legend_width(name: str) -> float:
    """Pixels of a name with the sample of its curve before it; an accent is above another letter
    and takes none.
    """
    return _LETTER * sum(1 for letter in name if not "\u0300" <= letter <= "\u036f") + 40
