"""Panels with curves: what a picture shows, where every number is in it, and the picture as SVG
text, drawn without a plotting package.

A page draws the same panels with the same places; `matplotlib_figure` hands them to matplotlib, for
PNG and everything else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field
from html import escape
from typing import Any, Final

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


# ---- where numbers are -----------------------------------------------------------------------


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


def decimate(t: FloatArray, v: FloatArray, pixels: int) -> tuple[FloatArray, FloatArray]:
    """Of many points to a pixel the lowest and the highest, in their order: the same picture."""
    size = len(v) // (pixels * 2)
    if size <= _MOST_PER_PIXEL // 2:
        return t, v
    whole = len(v) // size * size
    first = np.arange(0, whole, size)
    with np.errstate(invalid="ignore"):
        blocks = np.where(np.isfinite(v[:whole]), v[:whole], np.nan).reshape(-1, size)
        blank = np.isnan(blocks).all(axis=1)
        low = first + np.nan_to_num(blocks, nan=np.inf).argmin(axis=1)
        high = first + np.nan_to_num(blocks, nan=-np.inf).argmax(axis=1)
    kept = np.unique(
        np.concatenate(
            [[0], low[~blank], high[~blank], first[blank], np.arange(whole, len(v)), [len(v) - 1]]
        )
    )
    return t[kept], v[kept]


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


def tick_labels(values: list[float]) -> list[str]:
    """All with the same number of decimals, as few as distinguish them; very large and very small
    ones with powers of ten.
    """
    largest = max(map(abs, values), default=0.0)
    if largest and not 1e-3 <= largest < 10.0**_MOST_DIGITS:
        return [f"{v + 0.0:.3g}".replace("-", "−") for v in values]
    for decimals in range(_MOST_DIGITS + 2):
        texts = [f"{v + 0.0:.{decimals}f}" for v in values]
        if all(
            abs(float(text) - v) <= 1e-9 * (largest or 1.0)
            for text, v in zip(texts, values, strict=True)
        ):
            break
    return [text.replace("-", "−") for text in texts]


# ---- as SVG ----------------------------------------------------------------------------------

# pixels: the width of one, two and three columns; above, for each, between, below and next to the
# panels
_WIDTHS: Final = (720, 960, 1200)
_HEAD: Final = 104.0
_PANEL: Final = 112.0
# where few panels share the picture with none below them
_TALL: Final = {1: 280.0, 2: 180.0}
_GAP: Final = 46.0
_FOOT: Final = 52.0
_NUMBERS: Final = 16.0
_LEFT: Final = 72.0
_RIGHT: Final = 26.0
_BETWEEN: Final = 70.0
PANEL_WIDTH: Final = _WIDTHS[0] - _LEFT - _RIGHT
_NAMES: Final = 19.0
# the curve keeps away from the upper and the lower edge by this part of its height
_ROOM: Final = 0.06
_LETTER: Final = 0.62
_MOST_DIGITS: Final = 5
_MOST_PER_PIXEL: Final = 4
_PLAIN: Final = "DejaVu Sans, Segoe UI, Helvetica, Arial, sans-serif"
_SYMBOL: Final = "DejaVu Serif, Georgia, Times New Roman, serif"
_STYLE: Final = (
    f"text{{font-family:{_PLAIN};font-size:12px;fill:#444}}.name{{font-size:13px;fill:#222}}"
    f".symbol{{font-family:{_SYMBOL};font-style:italic;font-size:17px;fill:#222}}"
    ".title{font-size:19px;font-weight:bold;fill:#111}"
    ".grid{stroke:#e6e6e6}.axis{stroke:#999;fill:none}"
    ".curve{fill:none;stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}"
    ".dots{stroke-width:3.4}"
)


def svg(chart: Chart) -> str:
    """The whole picture."""
    width, columns = _WIDTHS[chart.columns - 1], chart.columns
    across = (width - _LEFT - _RIGHT - _BETWEEN * (columns - 1)) / columns
    parts, y = [], _HEAD
    for first in range(0, len(chart.panels), columns):
        row, last = chart.panels[first : first + columns], first + columns >= len(chart.panels)
        # numbers are printed below the last of several columns, and below the lowest panel
        y += _NAMES * (max(len(legend_rows(panel, across)) for panel in row) - 1)
        for k, panel in enumerate(row):
            numbered = (columns > 1 and first + k + columns >= len(chart.panels)) or (
                last and chart.bottom_panel is None
            )
            area = PlotArea(
                chart.span,
                y_limits(panel),
                _LEFT + k * (across + _BETWEEN),
                y,
                across,
                panel_height(chart),
            )
            parts.append(_panel_svg(area, panel, numbered=numbered))
        y += area.height + _GAP
    y += _NUMBERS if columns > 1 else 0.0
    if chart.bottom_panel is not None:
        area = PlotArea(
            chart.span, y_limits(chart.bottom_panel), _LEFT, y, width - _LEFT - _RIGHT, _PANEL
        )
        parts.append(_panel_svg(area, chart.bottom_panel, numbered=True))
        y += area.height + _GAP
    height = y - _GAP + _FOOT
    below = (
        f'class="{"symbol" if len(chart.x_label) == 1 else "name"}" '
        f'x="{(width + _LEFT - _RIGHT) / 2:.1f}" y="{height - 12:g}"'
    )
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" '
                f'width="{width}" height="{height:g}">'
            ),
            f"<title>{escape(chart.title)}</title><style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height:g}" fill="#fff"/>',
            f'<text class="title" x="26" y="36">{escape(chart.title)}</text>',
            (
                f'<text x="26" y="60" '
                f'style="font-size:12.5px;fill:{chart.facts_colour}">{escape(chart.facts)}</text>'
            ),
            *parts,
            f'<text {below} text-anchor="middle">{escape(chart.x_label)}</text></svg>',
        ]
    )


def panel_height(chart: Chart) -> float:
    """Pixels of each of its panels."""
    return _PANEL if chart.bottom_panel is not None else _TALL.get(len(chart.panels), _PANEL)


def _panel_svg(area: PlotArea, panel: Panel, *, numbered: bool) -> str:
    """Grid, curves and names; numbers below if asked for."""
    ys: list[float] = [*range(1, len(panel.levels) + 1)] or ticks_inside(*area.y, 4)
    xs = ticks_inside(*area.x, 6)
    parts = [f'<path class="grid" d="{area.grid(xs, ys)}"/>']
    heights = zip(ys, map(escape, panel.levels) if panel.levels else tick_labels(ys), strict=True)
    parts += [
        f'<text x="{area.left - 8:g}" y="{area.y_pixel(v) + 4:.1f}" text-anchor="end">{text}</text>'
        for v, text in heights
    ]
    if numbered:
        y = area.top + area.height + 18
        named = zip(xs, tick_labels(xs), strict=True)
        parts += [
            f'<text x="{area.x_pixel(x):.1f}" y="{y:g}" text-anchor="middle">{text}</text>'
            for x, text in named
        ]
    parts.append(
        f'<path class="axis" d="M{area.left:g} {area.top:g}v{area.height:g}h{area.width:.1f}"/>'
    )
    if panel.zero_line and area.y[0] < 0.0 < area.y[1]:
        parts.append(
            f'<path class="axis" d="M{area.left:g} {area.y_pixel(0.0):.1f}h{area.width:.1f}"/>'
        )
    for k, c in enumerate(panel.curves):
        points = (c.x, c.values) if panel.dotted else decimate(c.x, c.values, int(area.width))
        parts.append(_curve_svg(panel, k, area.path(*points, joined=not panel.dotted)))
    return "\n".join([*parts, *_title_and_legend(area, panel)])


def _curve_svg(panel: Panel, k: int, path: str) -> str:
    """A curve, or its sample in the legend."""
    dashes = f' stroke-dasharray="{" ".join(map(str, panel.dashes(k)))}"' if panel.dashes(k) else ""
    return (
        f'<path class="curve{" dots" * panel.dotted}" stroke="{panel.colour(k)}"{dashes} '
        f'd="{path}"/>'
    )


def _title_and_legend(area: PlotArea, panel: Panel) -> list[str]:
    """The title on the left; where curves share the panel, their names on the right, in as many
    rows as they take.
    """
    rows = legend_rows(panel, area.width)
    up, kind = area.top - 11 - _NAMES * (len(rows) - 1), "symbol" if panel.is_symbol else "name"
    parts = (
        [f'<text class="{kind}" x="{area.left:g}" y="{up:g}">{escape(panel.title)}</text>']
        if panel.title
        else []
    )
    for row in rows:
        right = area.left + area.width
        for k in reversed(row):
            parts.append(
                f'<text class="name" x="{right:.1f}" y="{up:g}" '
                f'text-anchor="end">{escape(panel.curves[k].name)}</text>'
            )
            right -= _legend_width(panel.curves[k].name)
            parts.append(_curve_svg(panel, k, f"M{right + 11:.1f} {up - 4:g}h21"))
        up += _NAMES
    return parts


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
    return 13 * _LETTER * sum(1 for letter in name if not "\u0300" <= letter <= "\u036f") + 40
