"""What every contact does, as a coloured band under the plots and in words: open, closed, sticks, slips + or slips −.

Colours are Okabe and Ito's, and each mode has its own place in the band as well, so that it is told apart without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

from dalembert.page.parts.words import table

if TYPE_CHECKING:
    from dalembert.simulation.trajectory import Trajectory

WIDTH: Final = 10_000
# of one contact's band, and the gap below it
HIGH: Final = 10
_GAP: Final = 3
_MOST_ROWS: Final = 60
# the class of a mode, where it stands in its band, and what it is
_MODES: Final = {
    "open": ("open", (8, 2), "open: apart"),
    "closed": ("closed", (3, 7), "closed: pressed, without friction"),
    "sticks": ("sticks", (0, 10), "sticks"),
    "slips +": ("forward", (0, 5), "slips +"),
    "slips −": ("backward", (5, 5), "slips −"),
}


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
    def strip(self) -> str:
        """All bands below one another, for under a plot; the figure holds what is shown here."""
        return (
            f'<svg class="strip" viewBox="0 0 {WIDTH} {self.height}" preserveAspectRatio="none" aria-hidden="true">'
            '<use href="#mode-bands"/></svg>'
        )

    def figure(self) -> str:
        """The bands with their names, a legend, and all of it in words."""
        names = "".join(
            f'<span class="key">{escape(name)} <output data-contact="{k}"></output></span>' for k, name in enumerate(self.spans)
        )
        there = {span.mode for spans in self.spans.values() for span in spans}
        legend = "".join(_swatch(*_MODES[mode]) for mode in _MODES if mode in there)
        drawn = "".join(self._band(k, spans) for k, spans in enumerate(self.spans.values()))
        size = f'viewBox="0 0 {WIDTH} {self.height}" preserveAspectRatio="none" style="height:{0.09 * self.height:.2f}rem"'
        box = f'<svg {size} aria-hidden="true"><g id="mode-bands">{drawn}</g></svg>'
        below = f'<div class="legend">{legend}</div><details><summary>The modes in words</summary>{self._words()}</details>'
        caption = f'<figcaption><span class="title">What the contacts do</span>{names}</figcaption>'
        area = f'<div class="area"><div class="field">{box}<i class="cursor"></i></div></div>'
        return f'<figure class="plot wide modes" data-modes>{caption}{area}{below}</figure>'

    def _band(self, row: int, spans: list[ModeSpan]) -> str:
        """One path for each mode; what is thinner than a unit is not seen."""
        top = (HIGH + _GAP) * row
        paths: dict[str, str] = {}
        for span in spans:
            a, b = (round(WIDTH * (t - self.first) / ((self.last - self.first) or 1.0)) for t in (span.begin, span.end))
            kind, (down, high), _ = _MODES[span.mode]
            if b > a:
                paths[kind] = paths.get(kind, "") + f"M{a} {top + down}h{b - a}v{high}h{a - b}z"
        return "".join(f'<path class="{kind}" d="{d}"/>' for kind, d in paths.items())

    def _words(self) -> str:
        rows = [(escape(name), f"{s.begin:.6g}", f"{s.end:.6g}", s.mode) for name, spans in self.spans.items() for s in spans]
        more = f"<p>{len(rows) - _MOST_ROWS} more follow.</p>" if len(rows) > _MOST_ROWS else ""
        return table(("contact", "from", "to", "what it does"), rows[:_MOST_ROWS]) + more

    def embedded(self) -> list[dict[str, Any]]:
        """Times and modes for the cursor."""
        return [{"t": [s.begin for s in spans], "m": [s.mode for s in spans]} for spans in self.spans.values()]


def _swatch(kind: str, place: tuple[int, int], words: str) -> str:
    down, high = place
    square = f'<svg viewBox="0 0 16 {HIGH}" aria-hidden="true"><path class="{kind}" d="M0 {down}h16v{high}h-16z"/></svg>'
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
