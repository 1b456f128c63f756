"""Quantities over time as SVG curves with their axes in HTML: they stretch with the page, print,
and need no script.

The script of the page adds a cursor, which all plots share with the animation, and the values at
it. What every contact does (open, closed, sticks, slips + or slips −) is a coloured band under the
plots and is listed in words. Colours are Okabe and Ito's, and each mode has its own place in the
band as well, so that colour is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.data_blocks import encode_floats
from dalembert.interface.page.html_elements import table
from dalembert.interface.page.plot_area import PlotArea
from dalembert.runtime.simulation.plotting.chart import (
    Panel,
    ticks,
    ticks_inside,
    value_range,
)
from dalembert.symbolic.algebra.printing.symbol_names import superscript

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory


WIDTH: Final = 10_000
# of one contact's band, and the gap below it
HIGH: Final = 10
_GAP: Final = 3
_MOST_ROWS: Final = 60
# the class of a mode, its position in its band, and what it is
_MODES: Final = {
    "off": ("open", (9, 1), "off: not there"),
    "open": ("open", (8, 2), "open: apart"),
    "closed": ("closed", (3, 7), "closed: pressed, without friction"),
    "sticks": ("sticks", (0, 10), "sticks"),
    "slips": ("forward", (0, 5), "slips"),
    "slips +": ("forward", (0, 5), "slips +"),
    "slips −": ("backward", (5, 5), "slips −"),
}


def band_layout() -> dict[str, Any]:
    """How bands are drawn, for a run in the page."""
    styles = {
        mode: {"kind": kind, "down": down, "high": high, "words": words}
        for mode, (kind, (down, high), words) in _MODES.items()
    }
    return {"width": WIDTH, "step": HIGH + _GAP, "styles": styles}


@dataclass(frozen=True)
class ModeSpan:
    """From one change of a contact to the next."""

    begin: float
    end: float
    mode: str


@dataclass(frozen=True)
class ModeBands:
    """The spans of every contact of a run from `first` to `last`, by its name."""

    first: float
    last: float
    spans: dict[str, list[ModeSpan]]

    @property
    def height(self) -> int:
        """Of all bands together, in the units of the drawing."""
        return (HIGH + _GAP) * len(self.spans) - _GAP

    @property
    def svg_strip(self) -> str:
        """All bands below one another, for under a plot; the figure holds what is shown here."""
        return (
            f'<svg class="strip" viewBox="0 0 {WIDTH} {self.height}" preserveAspectRatio="none" '
            f'aria-hidden="true">'
            '<use href="#mode-bands"/></svg>'
        )

    def figure(self) -> str:
        """The bands with their names, a legend, and all of it in words."""
        names = "".join(
            f'<span class="key">{escape(name)} <output data-contact="{k}"></output></span>'
            for k, name in enumerate(self.spans)
        )
        there = {span.mode for spans in self.spans.values() for span in spans}
        legend = "".join(_legend_entry(*_MODES[mode]) for mode in _MODES if mode in there)
        drawn = "".join(self._band(k, spans) for k, spans in enumerate(self.spans.values()))
        size = (
            f'viewBox="0 0 {WIDTH} {self.height}" preserveAspectRatio="none" '
            f'style="height:{0.09 * self.height:.2f}rem"'
        )
        box = f'<svg {size} aria-hidden="true"><g id="mode-bands">{drawn}</g></svg>'
        below = (
            f'<div class="legend">{legend}</div><details><summary>The modes in '
            f"words</summary>{self._words()}</details>"
        )
        caption = f'<figcaption><span class="title">Contact modes</span>{names}</figcaption>'
        area = f'<div class="area"><div class="field">{box}<i class="cursor"></i></div></div>'
        return f'<figure class="plot wide modes" data-modes>{caption}{area}{below}</figure>'

    def _band(self, row: int, spans: list[ModeSpan]) -> str:
        """One path for each mode; what is thinner than a unit is not seen."""
        top = (HIGH + _GAP) * row
        paths: dict[str, str] = {}
        for span in spans:
            a, b = (
                round(WIDTH * (t - self.first) / ((self.last - self.first) or 1.0))
                for t in (span.begin, span.end)
            )
            kind, (down, high), _ = _MODES[span.mode]
            if b > a:
                paths[kind] = paths.get(kind, "") + f"M{a} {top + down}h{b - a}v{high}h{a - b}z"
        return "".join(f'<path class="{kind}" d="{d}"/>' for kind, d in paths.items())

    def _words(self) -> str:
        rows = [
            (escape(name), f"{s.begin:.6g}", f"{s.end:.6g}", s.mode)
            for name, spans in self.spans.items()
            for s in spans
        ]
        more = f"<p>{len(rows) - _MOST_ROWS} more follow.</p>" if len(rows) > _MOST_ROWS else ""
        return table(("contact", "from", "to", "what it does"), rows[:_MOST_ROWS]) + more

    def json_data(self) -> list[dict[str, Any]]:
        """Times and modes for the cursor."""
        return [
            {"t": [s.begin for s in spans], "m": [s.mode for s in spans]}
            for spans in self.spans.values()
        ]


def _legend_entry(kind: str, place: tuple[int, int], words: str) -> str:
    down, high = place
    square = (
        f'<svg viewBox="0 0 16 {HIGH}" aria-hidden="true"><path class="{kind}" d="M0 '
        f'{down}h16v{high}h-16z"/></svg>'
    )
    return f"<span>{square}{words}</span>"


def mode_bands(run: Trajectory) -> ModeBands | None:
    """The bands of a run; None without contacts."""
    history = run.contact_modes
    if history is None or not history.names:
        return None
    last = float(run.t[-1])
    ends = [*history.times[1:], last]
    spans: dict[str, list[ModeSpan]] = {}
    for k, name in enumerate(history.names):
        merged = spans.setdefault(name, [])
        for begin, end, modes in zip(history.times, ends, history.modes, strict=True):
            if merged and merged[-1].mode == modes[k]:
                merged[-1] = ModeSpan(merged[-1].begin, end, modes[k])
            elif end > begin or not merged:
                merged.append(ModeSpan(begin, end, modes[k]))
    return ModeBands(float(run.t[0]), last, spans)


MOST_POINTS: Final = 601
_HEIGHT: Final = 3_000
_ROOM: Final = 0.08
_THINNING_PASSES: Final = 3


class Plots:
    """All plots of a page: the text of each, and the numbers that go with them."""

    def __init__(
        self, first: float, last: float, modes: ModeBands | None = None, unit: str = ""
    ) -> None:
        self.first, self.last, self.modes, self.unit = first, last, modes, unit
        self.times: list[FloatArray] = []
        self.data: list[dict[str, Any]] = []

    @classmethod
    def of_run(cls, run: Trajectory) -> Plots:
        """Over the time of a run, with what its contacts do."""
        unit = "s" if run.system.has_units else ""
        return cls(float(run.t[0]), float(run.t[-1]), mode_bands(run), unit)

    def grid(self, panels: Iterable[Panel]) -> str:
        """Panels in columns where there is room."""
        return f'<div class="plots">{"".join(map(self.panel, panels))}</div>'

    def panel(self, p: Panel) -> str:
        """A figure with title, axes, curves and a place for the cursor; all curves of a panel
        have the times of its first.
        """
        t, curves = _decimate(p.curves[0].x, [c.values for c in p.curves])
        low, high, exponent = axis_limits(curves)
        # whole numbers are fine enough, and short
        area = PlotArea((self.first, self.last), (low, high), 0, 0, WIDTH, _HEIGHT, unit=1)
        number = len(self.data)
        keys_of = {"k": [c.key for c in p.curves]} if all(c.key for c in p.curves) else {}
        self.data.append(
            {"t": self._time(t), "e": exponent, "v": [encode_floats(c) for c in curves], **keys_of}
        )
        power = f' <span class="power">{f"in 10{superscript(exponent)}" if exponent else ""}</span>'
        keys = "".join(
            f'<span class="key c{k % 6}">{c.name} <output data-curve="{k}"></output></span>'
            for k, c in enumerate(p.curves)
        )
        title = f'<span class="title">{p.title}</span>' if p.title else ""
        kinds = {"wide": p.wide, "coinciding": p.coinciding, "banded": self.modes is not None}
        kind = " ".join(["plot", *(name for name, applies in kinds.items() if applies)])
        paths = "".join(
            f'<path class="curve c{k % 6}" d="{area.path(*_without_straight(t, c, high - low))}"/>'
            for k, c in enumerate(curves)
        )
        caption = f"<figcaption>{title}{power}{keys}</figcaption>"
        return (
            f'<figure class="{kind}" '
            f'data-plot="{number}">{caption}{self._field(area, paths, 10.0**exponent)}</figure>'
        )

    def _field(self, area: PlotArea, paths: str, size: float) -> str:
        """The curves on a grid, with numbers at both axes."""
        ys = ticks(area.y[0] / size, area.y[1] / size, 4)
        xs = ticks_inside(self.first, self.last, 6)
        numbers = "".join(
            f'<span class="y" '
            f'style="top:{100 * area.y_pixel(y * size) / _HEIGHT:.2f}%">{tick_label(y)}</span>'
            for y in ys
        )
        numbers += "".join(
            f'<span class="x" '
            f'style="left:{100 * area.x_pixel(x) / WIDTH:.2f}%">{tick_label(x)}</span>'
            for x in xs
        )
        lines = f'<path class="grid" d="{area.grid(xs, [y * size for y in ys])}"/>'
        box = (
            f'<svg viewBox="0 0 {WIDTH} {_HEIGHT}" preserveAspectRatio="none" '
            f'aria-hidden="true">{lines}{paths}</svg>'
        )
        strip = "" if self.modes is None else self.modes.svg_strip
        unit = f" [{self.unit}]" if self.unit else ""
        return (
            f'<div class="area"><div class="field">{numbers}{box}{strip}'
            f'<span class="axis"><i>t</i>{unit}</span><i class="cursor"></i></div></div>'
        )

    def _time(self, t: FloatArray) -> int:
        for k, known in enumerate(self.times):
            if known.shape == t.shape and np.array_equal(known, t):
                return k
        self.times.append(t)
        return len(self.times) - 1

    def json_data(self) -> dict[str, Any]:
        """The numbers behind the curves."""
        modes = {} if self.modes is None else {"modes": self.modes.json_data()}
        return {
            "first": self.first,
            "last": self.last,
            "times": [encode_floats(t) for t in self.times],
            "plots": self.data,
            **modes,
        }


def _decimate(t: FloatArray, curves: Sequence[FloatArray]) -> tuple[FloatArray, list[FloatArray]]:
    """At most as many points as a screen can show; ends are kept."""
    if len(t) <= 2 * MOST_POINTS:
        return t, list(curves)
    kept = np.unique(np.linspace(0, len(t) - 1, MOST_POINTS).round().astype(int))
    return t[kept], [c[kept] for c in curves]


def _without_straight(t: FloatArray, c: FloatArray, height: float) -> tuple[FloatArray, FloatArray]:
    """The curve without points that lie on the line between their neighbours, to a thousandth of
    the height of the plot.
    """
    for _ in range(_THINNING_PASSES):
        inner = np.arange(1, len(t) - 1, 2)
        part = (t[inner] - t[inner - 1]) / np.maximum(t[inner + 1] - t[inner - 1], 1e-300)
        line = c[inner - 1] + part * (c[inner + 1] - c[inner - 1])
        kept = np.ones(len(t), dtype=bool)
        kept[inner[np.abs(c[inner] - line) <= 1e-3 * height]] = False
        t, c = t[kept], c[kept]
    return t, c


def axis_limits(curves: Sequence[FloatArray]) -> tuple[float, float, int]:
    """The range of the axis with some room, and the power of ten its numbers are printed in.

    What does not move is drawn as a straight line, not as magnified rounding.
    """
    low, high = value_range(curves, _ROOM, smallest=1e-300)
    exponent = int(np.floor(np.log10(max(abs(low), abs(high)))))
    return low, high, exponent if not -3 < exponent < 5 else 0


def tick_label(x: float) -> str:
    """A tick: short, with a real minus sign."""
    return f"{0.0 if abs(x) < 1e-12 else x:.6g}".replace("-", "−")
