"""The letters of a sketch: angles as arcs from where a frame begins to where it is, lengths along links, coordinates along slides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.printing.names import displayed, unicode_name
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.rotation import AboutAxis, AboutBasis
from dalembert.geometry.vector import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.page.geometry import Poses
    from dalembert.simulation.trajectory import Trajectory

    Numbers = NDArray[np.float64]

# radians, and parts of the system's size, below which nothing is to be seen
_LEAST_ANGLE: Final = 0.06
_LEAST_LENGTH: Final = 0.08
# radius of an arc against what it turns and against the system; further arcs about one point are larger
_ARC: Final = 0.5
_MOST_ARC: Final = 0.3
_NEXT_ARC: Final = 0.35
# the same letter at several links is written so often
_OFTEN: Final = 2


@dataclass(frozen=True, eq=False)
class DimensionLine:
    """A letter and its line at the start of a motion: an arc with the legs of its angle, or the way along a length."""

    text: str
    line: Numbers = field(repr=False)
    # from the corner of an angle to where it is counted from; nothing for a length
    leg: Numbers | None = field(repr=False, default=None)
    # a length that a link already shows needs no line of its own
    drawn: bool = True


def dimension_lines(run: Trajectory, poses: Poses, points: Iterable[Point], scale: float) -> tuple[DimensionLine, ...]:
    """All of them that are large enough to be seen, angles first."""
    letters = _Letters(run)
    placed = list(points)
    found = [*_angles(letters, poses, placed, scale), *_lengths(letters, poses, placed, scale)]
    often: Counter[str] = Counter()
    kept = []
    for each in found:
        often[each.text] += 1
        if often[each.text] <= _OFTEN:
            kept.append(each)
    return tuple(kept)


class _Letters:
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
        return unicode_name(displayed(str(self.tape.nodes[node][1]), self.tape.displays))


# ---- angles ----------------------------------------------------------------------------------


def _angles(letters: _Letters, poses: Poses, points: list[Point], scale: float) -> Iterator[DimensionLine]:
    about: Counter[bytes] = Counter()
    for F in letters.system.space.frames:
        if F.parent is None or not isinstance(F.rotation, AboutBasis | AboutAxis):
            continue
        symbol = letters.symbol(F.rotation.angle)
        if symbol is None or symbol not in letters.moving:
            continue
        axis, angle = _turn(poses.frame(F.parent)[0], poses.frame(F)[0])
        if angle < _LEAST_ANGLE:
            continue
        corner, leg = _leg(F, poses, points, axis, scale)
        if corner is None:
            continue
        radius = min(_ARC * float(np.linalg.norm(leg)), _MOST_ARC * scale)
        radius *= 1.0 + _NEXT_ARC * about[corner.round(6).tobytes()]
        about[corner.round(6).tobytes()] += 1
        to = leg / np.linalg.norm(leg)
        ways = np.linspace(-angle, 0.0, 25)
        arc = np.array([corner + radius * (np.cos(w) * to + np.sin(w) * np.cross(axis, to)) for w in ways])
        yield DimensionLine(letters.text(symbol), arc, np.array([corner, corner + 1.3 * (arc[0] - corner)]))


def _turn(R_parent: Numbers, R: Numbers) -> tuple[Numbers, float]:
    """Axis and angle, at most π, of R Rᵀ_parent."""
    local = R @ R_parent.T
    skew = np.array([local[2, 1] - local[1, 2], local[0, 2] - local[2, 0], local[1, 0] - local[0, 1]])
    size = float(np.linalg.norm(skew))
    angle = float(np.arctan2(size, np.trace(local) - 1.0))
    return (skew / size if size > 1e-9 else np.zeros(3)), (angle if size > 1e-9 else 0.0)


def _leg(F: Frame, poses: Poses, points: list[Point], axis: Numbers, scale: float) -> tuple[Numbers | None, Numbers]:
    """The corner of an angle, and the way from there that turns with the frame: to a point of its own, or across the axis."""
    ways = [(P, poses.vector(Vector(P.r.tape, {F: P.r.parts[F]}))[0]) for P in points if P.parent is not None and F in P.r.parts]
    across = [(P, way - (way @ axis) * axis) for P, way in ways]
    far = [(P, way) for P, way in across if np.linalg.norm(way) > 0.02 * scale]
    if far:
        P, way = max(far, key=lambda each: float(np.linalg.norm(each[1])))
        assert P.parent is not None
        return poses.point(P.parent)[0], way
    carried = [P for P in points if P.parent is not None and any(F.carries(E) for E in P.r.parts)]
    bodies = [b.G for b in poses.run.system.bodies if b.frame is not None and F.carries(b.frame)]
    place = carried[0].parent if carried else bodies[0] if bodies else None
    if place is None:
        return None, axis
    R = poses.frame(F)[0]
    e = R[:, int(np.argmin(np.abs(axis @ R)))]
    way = e - (e @ axis) * axis
    return poses.point(place)[0], 0.5 * scale * way / np.linalg.norm(way)


# ---- lengths ---------------------------------------------------------------------------------


def _lengths(letters: _Letters, poses: Poses, points: list[Point], scale: float) -> Iterator[DimensionLine]:
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
            if symbol is not None and (symbol in letters.moving or alone) and abs(way[k]) > _LEAST_LENGTH * scale:
                yield DimensionLine(letters.text(symbol), np.array([here, here + step]), drawn=symbol in letters.moving)
            here = here + step
