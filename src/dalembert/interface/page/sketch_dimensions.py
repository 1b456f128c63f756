"""The letters of a sketch: angles as arcs from where a frame begins to where it is, lengths
along links, coordinates along slides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import AxisRotation, BasisRotation
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.printing.symbol_names import display_name, unicode_name

if TYPE_CHECKING:
    from dalembert.interface.page.kinematics_arrays import Poses
    from dalembert.runtime.simulation.trajectory import Trajectory

    Projection = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

# radians, and parts of the system's size, below which nothing is to be seen
_LEAST_ANGLE: Final = 0.06
_LEAST_LENGTH: Final = 0.08
# radius of an arc against what it turns and against the system; further arcs about one point are
# larger
_ARC: Final = 0.5
_MOST_ARC: Final = 0.3
_NEXT_ARC: Final = 0.35
# the same letter at several links is written so often
_OFTEN: Final = 2


@dataclass(frozen=True, eq=False)
class DimensionLine:
    """A letter and its line at the start of a motion: an arc with the legs of its angle, or the
    way along a length.
    """

    text: str
    line: FloatArray = field(repr=False)
    # from the corner of an angle to where it is counted from; nothing for a length
    leg: FloatArray | None = field(repr=False, default=None)
    # a length that a link already shows needs no line of its own
    drawn: bool = True


def dimension_lines(
    run: Trajectory, poses: Poses, points: Iterable[Point], scale: float
) -> tuple[DimensionLine, ...]:
    """All of them that are large enough to be seen, angles first."""
    letters = _SymbolLabels(run)
    placed = list(points)
    candidates = [*_angles(letters, poses, placed, scale), *_lengths(letters, poses, placed, scale)]
    often: Counter[str] = Counter()
    kept = []
    for each in candidates:
        often[each.text] += 1
        if often[each.text] <= _OFTEN:
            kept.append(each)
    return tuple(kept)


class _SymbolLabels:
    """Which nodes are symbols, up to their sign, and how a book prints them."""

    def __init__(self, run: Trajectory) -> None:
        self.system = run.system
        # a fork, so that looking for signs leaves nothing behind
        self.tape = run.system.space.tape.fork()
        self.moving = {q.i for q in run.system.q}

    def symbol(self, node: int) -> int | None:
        """The symbol that a node is, or is the opposite of."""
        for i in (node, self.tape.neg(node)):
            if self.tape.nodes[i][0] == "symbol":
                return i
        return None

    def text(self, node: int) -> str:
        """theta_1 → θ₁"""
        return unicode_name(display_name(str(self.tape.nodes[node][1]), self.tape.displays))


# ---- angles ----------------------------------------------------------------------------------


def _angles(
    letters: _SymbolLabels, poses: Poses, points: list[Point], scale: float
) -> Iterator[DimensionLine]:
    about: Counter[bytes] = Counter()
    for F in letters.system.space.frames:
        if F.parent is None or not isinstance(F.rotation, BasisRotation | AxisRotation):
            continue
        symbol = letters.symbol(F.rotation.angle)
        if symbol is None or symbol not in letters.moving:
            continue
        axis, angle = _axis_angle(poses.frame(F.parent)[0], poses.frame(F)[0])
        if angle < _LEAST_ANGLE:
            continue
        corner, leg = _angle_leg(F, poses, points, axis, scale)
        if corner is None:
            continue
        radius = min(_ARC * float(np.linalg.norm(leg)), _MOST_ARC * scale)
        radius *= 1.0 + _NEXT_ARC * about[corner.round(6).tobytes()]
        about[corner.round(6).tobytes()] += 1
        to = leg / np.linalg.norm(leg)
        ways = np.linspace(-angle, 0.0, 25)
        arc = np.array(
            [corner + radius * (np.cos(w) * to + np.sin(w) * np.cross(axis, to)) for w in ways]
        )
        yield DimensionLine(
            letters.text(symbol), arc, np.array([corner, corner + 1.3 * (arc[0] - corner)])
        )


def _axis_angle(R_parent: FloatArray, R: FloatArray) -> tuple[FloatArray, float]:
    """Axis and angle, at most π, of R Rᵀ_parent."""
    local = R @ R_parent.T
    skew = np.array(
        [local[2, 1] - local[1, 2], local[0, 2] - local[2, 0], local[1, 0] - local[0, 1]]
    )
    size = float(np.linalg.norm(skew))
    angle = float(np.arctan2(size, np.trace(local) - 1.0))
    return (skew / size if size > 1e-9 else np.zeros(3)), (angle if size > 1e-9 else 0.0)


def _angle_leg(
    F: Frame, poses: Poses, points: list[Point], axis: FloatArray, scale: float
) -> tuple[FloatArray | None, FloatArray]:
    """The corner of an angle, and the way from there that turns with the frame: to a point of
    its own, or across the axis.
    """
    ways = [
        (P, poses.vector(Vector(P.r.tape, {F: P.r.parts[F]}))[0])
        for P in points
        if P.parent is not None and F in P.r.parts
    ]
    across = [(P, way - (way @ axis) * axis) for P, way in ways]
    far = [(P, way) for P, way in across if np.linalg.norm(way) > 0.02 * scale]
    if far:
        P, way = max(far, key=lambda each: float(np.linalg.norm(each[1])))
        assert P.parent is not None
        return poses.point(P.parent)[0], way
    carried = [
        P for P in points if P.parent is not None and any(F.is_ancestor_of(E) for E in P.r.parts)
    ]
    bodies = [
        b.G for b in poses.run.system.bodies if b.frame is not None and F.is_ancestor_of(b.frame)
    ]
    place = carried[0].parent if carried else bodies[0] if bodies else None
    if place is None:
        return None, axis
    R = poses.frame(F)[0]
    e = R[:, int(np.argmin(np.abs(axis @ R)))]
    way = e - (e @ axis) * axis
    return poses.point(place)[0], 0.5 * scale * way / np.linalg.norm(way)


# ---- lengths ---------------------------------------------------------------------------------


def _lengths(
    letters: _SymbolLabels, poses: Poses, points: list[Point], scale: float
) -> Iterator[DimensionLine]:
    for P in points:
        if P.parent is None or len(P.r.parts) != 1:
            continue
        ((F, triple),) = P.r.parts.items()
        zero, here, R = P.r.tape.zero, poses.point(P.parent)[0], poses.frame(F)[0]
        way = R.T @ (poses.point(P)[0] - here)
        alone = sum(c != zero for c in triple) == 1
        for k, c in enumerate(triple):
            step = way[k] * R[:, k]
            symbol = letters.symbol(c) if c != zero else None
            if (
                symbol is not None
                and (symbol in letters.moving or alone)
                and abs(way[k]) > _LEAST_LENGTH * scale
            ):
                yield DimensionLine(
                    letters.text(symbol),
                    np.array([here, here + step]),
                    drawn=symbol in letters.moving,
                )
            here = here + step


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

    def overlaps(self, other: SketchLabel) -> bool:
        """Whether two texts lie on one another."""
        a, b = self.box, other.box
        return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]

    @property
    def svg(self) -> str:
        """As an element, with a rim that keeps it readable on any body."""
        style = (
            f'class="letter" font-size="{self.size:.1f}" text-anchor="middle" '
            f'dominant-baseline="central"'
        )
        letter, _, index = self.text.partition("_")
        below = (
            f'<tspan dy="{0.28 * self.size:.1f}" '
            f'font-size="{0.72 * self.size:.1f}">{escape(index)}</tspan>'
            if letter and index
            else ""
        )
        return (
            f'<text x="{self.x:.1f}" y="{self.y:.1f}" '
            f"{style}>{escape(letter if below else self.text)}{below}</text>"
        )


def place_labels(
    dimensions: Sequence[DimensionLine], project: Projection, width: float, height: float
) -> Iterator[tuple[DimensionLine, SketchLabel]]:
    """Every dimension whose letter has a free place, and the letter there."""
    size, placed = _SIZE * height, list[SketchLabel]()
    for each in dimensions:
        for x, y in _label_candidates(each, project, size):
            label = SketchLabel(each.text, x, y, size)
            left, top, right, bottom = label.box
            inside = left >= 0 and top >= 0 and right <= width and bottom <= height
            if inside and not any(label.overlaps(other) for other in placed):
                placed.append(label)
                yield each, label
                break
        if len(placed) >= _MOST:
            return


def _label_candidates(
    each: DimensionLine, project: Projection, size: float
) -> Iterator[tuple[float, float]]:
    """Outside of an arc, next to a length: first at its middle, then along it and farther away."""
    line, _ = project(each.line)
    for away in (_AWAY, 1.25 * _AWAY, 1.8 * _AWAY):
        for part in (0.5, 0.35, 0.65, 0.2, 0.8):
            middle = _point_along(line, part)
            if each.leg is not None:
                corner = project(each.leg[:1])[0][0]
                yield from _offsets(middle, middle - corner, away * size, both=False)
            else:
                way = line[-1] - line[0]
                yield from _offsets(middle, np.array([way[1], -way[0]]), away * size, both=True)


def _offsets(
    place: FloatArray, way: FloatArray, far: float, *, both: bool
) -> Iterator[tuple[float, float]]:
    length = float(np.linalg.norm(way))
    unit = way / length if length > 1e-9 else np.array([0.0, -1.0])
    for sign in (1.0, -1.0) if both else (1.0,):
        x, y = place + sign * far * unit
        yield float(x), float(y)


def _point_along(line: FloatArray, part: float) -> FloatArray:
    if len(line) == 2:
        return np.asarray(line[0] + part * (line[1] - line[0]))
    return np.asarray(line[round(part * (len(line) - 1))])
