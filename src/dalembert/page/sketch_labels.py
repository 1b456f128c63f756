"""Letters beside the lines of a sketch, each where it lies on no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.page.dimension_lines import DimensionLine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Projection = Callable[[Numbers], tuple[Numbers, Numbers]]

# of the height of a picture
_SIZE: Final = 0.058
# width of a letter against its height, and how far from its line it stands
_WIDE: Final = 0.62
_AWAY: Final = 0.8
_MOST: Final = 16


@dataclass(frozen=True)
class SketchLabel:
    """A text around a place in the picture, of a size."""

    text: str
    x: float
    y: float
    size: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        half = 0.5 * _WIDE * self.size * max(len(self.text), 1)
        return self.x - half, self.y - 0.55 * self.size, self.x + half, self.y + 0.55 * self.size

    def meets(self, other: SketchLabel) -> bool:
        """Whether two texts lie on one another."""
        a, b = self.box, other.box
        return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]

    @property
    def svg(self) -> str:
        """As an element, with a rim that keeps it readable on any body."""
        style = f'class="letter" font-size="{self.size:.1f}" text-anchor="middle" dominant-baseline="central"'
        letter, _, index = self.text.partition("_")
        below = f'<tspan dy="{0.28 * self.size:.1f}" font-size="{0.72 * self.size:.1f}">{escape(index)}</tspan>' if letter and index else ""
        return f'<text x="{self.x:.1f}" y="{self.y:.1f}" {style}>{escape(letter if below else self.text)}{below}</text>'


def labels(found: Sequence[DimensionLine], project: Projection, width: float, height: float) -> Iterator[tuple[DimensionLine, SketchLabel]]:
    """Every dimension whose letter has a free place, and the letter there."""
    size, placed = _SIZE * height, list[SketchLabel]()
    for each in found:
        for x, y in _places(each, project, size):
            label = SketchLabel(each.text, x, y, size)
            left, top, right, bottom = label.box
            inside = left >= 0 and top >= 0 and right <= width and bottom <= height
            if inside and not any(label.meets(other) for other in placed):
                placed.append(label)
                yield each, label
                break
        if len(placed) >= _MOST:
            return


def _places(each: DimensionLine, project: Projection, size: float) -> Iterator[tuple[float, float]]:
    """Outside of an arc, beside a length: first at its middle, then along it and farther away."""
    line, _ = project(each.line)
    for away in (_AWAY, 1.25 * _AWAY, 1.8 * _AWAY):
        for part in (0.5, 0.35, 0.65, 0.2, 0.8):
            middle = _along(line, part)
            if each.leg is not None:
                corner = project(each.leg[:1])[0][0]
                yield from _moved(middle, middle - corner, away * size, both=False)
            else:
                way = line[-1] - line[0]
                yield from _moved(middle, np.array([way[1], -way[0]]), away * size, both=True)


def _moved(place: Numbers, way: Numbers, far: float, *, both: bool) -> Iterator[tuple[float, float]]:
    length = float(np.linalg.norm(way))
    unit = way / length if length > 1e-9 else np.array([0.0, -1.0])
    for sign in (1.0, -1.0) if both else (1.0,):
        x, y = place + sign * far * unit
        yield float(x), float(y)


def _along(line: Numbers, part: float) -> Numbers:
    if len(line) == 2:
        return np.asarray(line[0] + part * (line[1] - line[0]))
    return np.asarray(line[round(part * (len(line) - 1))])
