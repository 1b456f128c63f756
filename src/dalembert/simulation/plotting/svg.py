"""A chart as SVG text: panels with axes, curves and names, drawn without a plotting package, which would take longer than the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.simulation.plotting.chart import Chart, Curve, Panel

    Numbers = NDArray[np.float64]

# pixels: the width of one, two and three columns; above, for each, between, below and beside the panels
_WIDTHS: Final = (720, 960, 1200)
_HEAD: Final = 104.0
_PANEL: Final = 112.0
_GAP: Final = 46.0
_FOOT: Final = 52.0
_NUMBERS: Final = 16.0
_LEFT: Final = 72.0
_RIGHT: Final = 26.0
_BETWEEN: Final = 70.0
# the curve keeps away from the upper and the lower edge by this part of its height
_ROOM: Final = 0.06
_LETTER: Final = 0.62
_MOST_DIGITS: Final = 5
_MOST_PER_PIXEL: Final = 4
_PLAIN: Final = "DejaVu Sans, Segoe UI, Helvetica, Arial, sans-serif"
_SYMBOL: Final = "DejaVu Serif, Georgia, Times New Roman, serif"
_STYLE: Final = (
    f"text{{font-family:{_PLAIN};font-size:12px;fill:#444}}.name{{font-size:13px;fill:#222}}"
    f".symbol{{font-family:{_SYMBOL};font-style:italic;font-size:17px;fill:#222}}.title{{font-size:19px;font-weight:bold;fill:#111}}"
    ".grid{stroke:#e6e6e6}.axis{stroke:#999;fill:none}.curve{fill:none;stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}"
)


def svg(chart: Chart) -> str:
    """The whole picture."""
    width = _WIDTHS[chart.columns - 1]
    rows = -(-len(chart.panels) // chart.columns)
    # numbers of the time stand between the last row and the panel below, unless they are its own
    down = _HEAD + rows * (_PANEL + _GAP) + (_NUMBERS if chart.columns > 1 else 0.0)
    height = down + _PANEL + _FOOT
    across = (width - _LEFT - _RIGHT - _BETWEEN * (chart.columns - 1)) / chart.columns
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}">',
        f"<title>{escape(chart.title)}</title><style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height:g}" fill="#fff"/>',
        f'<text class="title" x="26" y="36">{escape(chart.title)}</text>',
        f'<text x="26" y="60" style="font-size:12.5px;fill:{chart.facts_colour}">{escape(chart.facts)}</text>',
    ]
    for k, panel in enumerate(chart.panels):
        row, column = divmod(k, chart.columns)
        area = _Area(chart.times, _LEFT + column * (across + _BETWEEN), _HEAD + row * (_PANEL + _GAP), across)
        parts.append(area.drawn(panel, numbered=chart.columns > 1 and k + chart.columns >= len(chart.panels)))
    below = _Area(chart.times, _LEFT, down, width - _LEFT - _RIGHT)
    parts.append(below.drawn(chart.below, numbered=True))
    parts.append(f'<text class="symbol" x="{below.x + below.width / 2:.1f}" y="{height - 12:g}" text-anchor="middle">t</text></svg>')
    return "\n".join(parts)


class _Area:
    """A place on the picture with the time from left to right."""

    def __init__(self, times: tuple[float, float], x: float, y: float, width: float) -> None:
        self.first, self.last = times
        self.x, self.y, self.width = x, y, width

    def drawn(self, panel: Panel, *, numbered: bool) -> str:
        """Grid, curves and names; numbers below if asked for."""
        low, high = limits(panel)
        inside = [v for v in ticks(low, high, 4) if low <= v <= high]
        heights = enumerate(map(escape, panel.levels), start=1) if panel.levels else zip(inside, labels(inside), strict=True)
        parts = []
        for v, text in heights:
            y = self._down(v, low, high)
            parts.append(f'<path class="grid" d="M{self.x:g} {y:.1f}h{self.width:.1f}"/>')
            parts.append(f'<text x="{self.x - 8:g}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        parts += self._time_axis(numbered=numbered)
        parts.append(f'<path class="axis" d="M{self.x:g} {self.y:g}v{_PANEL:g}h{self.width:.1f}"/>')
        if panel.zero_line and low < 0.0 < high:
            parts.append(f'<path class="axis" d="M{self.x:g} {self._down(0.0, low, high):.1f}h{self.width:.1f}"/>')
        parts += [f'<path class="curve" stroke="{c.colour}" d="{self._path(c, low, high)}"/>' for c in panel.curves]
        return "\n".join([*parts, *self._names(panel)])

    def _time_axis(self, *, numbered: bool) -> list[str]:
        inside = [t for t in ticks(self.first, self.last, 6) if self.first <= t <= self.last]
        parts = [f'<path class="grid" d="M{self._across(t):.1f} {self.y:g}v{_PANEL:g}"/>' for t in inside]
        if numbered:
            down = self.y + _PANEL + 18
            named = zip(inside, labels(inside), strict=True)
            parts += [f'<text x="{self._across(t):.1f}" y="{down:g}" text-anchor="middle">{text}</text>' for t, text in named]
        return parts

    def _names(self, panel: Panel) -> list[str]:
        """The title on the left; where curves share the panel, their names on the right."""
        up = self.y - 11
        parts = [f'<text class="{_class(panel.is_symbol)}" x="{self.x:g}" y="{up:g}">{escape(panel.title)}</text>'] if panel.title else []
        if len(panel.curves) == 1:
            return parts
        right = self.x + self.width
        for c in reversed(panel.curves):
            parts.append(f'<text class="name" x="{right:.1f}" y="{up:g}" text-anchor="end">{escape(c.name)}</text>')
            right -= 13 * _LETTER * _length(c.name) + 8
            parts.append(f'<path class="curve" stroke="{c.colour}" d="M{right - 16:.1f} {up - 4:g}h16"/>')
            right -= 16 + 16
        return parts

    def _across(self, t: float) -> float:
        return self.x + self.width * (t - self.first) / ((self.last - self.first) or 1.0)

    def _down(self, v: float, low: float, high: float) -> float:
        return self.y + _PANEL * (high - v) / (high - low)

    def _path(self, curve: Curve, low: float, high: float) -> str:
        """The points joined by lines, with a gap where a value is not finite."""
        t, v = thinned(curve.t, curve.values, int(self.width))
        x = self.x + (t - self.first) * (self.width / ((self.last - self.first) or 1.0))
        y = np.clip(self.y + (high - v) * (_PANEL / (high - low)), self.y - 1e4, self.y + 1e4)
        pieces, pen = [], "M"
        for a, b in zip(x.tolist(), y.tolist(), strict=True):
            if b != b:  # noqa: PLR0124 - not a number
                pen = "M"
                continue
            pieces.append("%s%.1f %.1f" % (pen, a, b))  # noqa: UP031 - thousands of points, and this is the fastest
            pen = "L"
        return "".join(pieces)


def _class(symbol: bool) -> str:
    return "symbol" if symbol else "name"


def _length(text: str) -> int:
    """Letters that take up room: an accent stands above another."""
    return sum(1 for letter in text if not "\u0300" <= letter <= "\u036f")


def thinned(t: Numbers, v: Numbers, pixels: int) -> tuple[Numbers, Numbers]:
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
    kept = np.unique(np.concatenate([[0], low[~blank], high[~blank], first[blank], np.arange(whole, len(v)), [len(v) - 1]]))
    return t[kept], v[kept]


def limits(panel: Panel) -> tuple[float, float]:
    """The range of the values with some room."""
    if panel.levels:
        return 0.5, len(panel.levels) + 0.5
    return value_range([c.values for c in panel.curves], _ROOM, smallest=1e-12)


def value_range(curves: Sequence[Numbers], room: float, *, smallest: float) -> tuple[float, float]:
    """From the least to the largest and a part of that beyond; what does not move is a straight line, not magnified rounding."""
    finite = np.concatenate([c[np.isfinite(c)] for c in curves]) if len(curves) else np.zeros(0)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or size < smallest:
        half = 0.5 * size if size >= smallest else 0.5
        return low - half, high + half
    return low - room * (high - low), high + room * (high - low)


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from low to high, at most so many and one."""
    span = high - low
    if not (math.isfinite(span) and span > 0.0):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if span / (m * power) <= most)
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def labels(values: list[float]) -> list[str]:
    """All with the same number of decimals, as few as tell them apart; very large and very small ones with powers of ten."""
    largest = max(map(abs, values), default=0.0)
    if largest and not 1e-3 <= largest < 10.0**_MOST_DIGITS:
        return [f"{v + 0.0:.3g}".replace("-", "−") for v in values]
    for decimals in range(_MOST_DIGITS + 2):
        texts = [f"{v + 0.0:.{decimals}f}" for v in values]
        if all(abs(float(text) - v) <= 1e-9 * (largest or 1.0) for text, v in zip(texts, values, strict=True)):
            break
    return [text.replace("-", "−") for text in texts]
