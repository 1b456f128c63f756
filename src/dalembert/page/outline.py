"""A body as the bars, or the plate, between the points that are fixed in it: its joints and its mass centre."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.folds import symbols_of
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# what is nearer than this part of the largest distance is the same, in line or in plane
_NEAR: Final = 1e-6


@dataclass(frozen=True, eq=False)
class Outline:
    """Bars (m × 2 × 3) and the corners of a plate (k × 3, none where there is none), from the mass centre in the frame."""

    bars: Numbers = field(repr=False)
    plate: Numbers = field(repr=False)


def attached(G: Point, frame: Frame, points: Iterable[Point]) -> list[Point]:
    """G and the points that keep their places against it in a frame, for every motion: c = const. along the axes of the frame."""
    found = {G: None}
    P = G
    while P.parent is not None and _is_fixed(P, frame):
        P = P.parent
        found[P] = None
    # parents stand before their children
    for Q in sorted(dict.fromkeys(points), key=lambda Q: Q.depth):
        if Q.parent in found and _is_fixed(Q, frame):
            found[Q] = None
    return list(found)


def _is_fixed(P: Point, frame: Frame) -> bool:
    """Whether the offset of a point from its parent is constant in a frame."""
    tape = P.r.tape
    if any(F is not frame for F in P.r.parts):
        return False
    return not any(i in tape.moving for i in symbols_of(tape, [c for triple in P.r.parts.values() for c in triple]))


def outline(corners: Numbers) -> Outline | None:
    """Between points of a line one bar, of a plane the edge of a plate, of space the shortest net; None for a single point."""
    size = float(np.linalg.norm(np.ptp(corners, axis=0)))
    if not np.isfinite(size) or size <= 0:
        return None
    points = _distinct(corners, _NEAR * size)
    _, spread, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=True)
    flat = [*spread, 0.0, 0.0, 0.0]
    if flat[1] <= _NEAR * flat[0]:
        along = points @ axes[0]
        return Outline(points[[[int(along.argmin()), int(along.argmax())]]], np.zeros((0, 3)))
    if flat[2] <= _NEAR * flat[0]:
        edge = points[_hull(points @ axes[:2].T)]
        return Outline(np.stack([edge, np.roll(edge, -1, axis=0)], axis=1), edge)
    return Outline(points[_net(points)], np.zeros((0, 3)))


def _distinct(points: Numbers, near: float) -> Numbers:
    kept: list[Numbers] = []
    for p in points:
        if all(float(np.linalg.norm(p - other)) > near for other in kept):
            kept.append(p)
    return np.array(kept)


def _hull(flat: Numbers) -> list[int]:
    """The corners of the convex polygon around points of a plane, in order (Andrew's chain)."""
    order = np.lexsort((flat[:, 1], flat[:, 0])).tolist()
    least = _NEAR * float(np.ptp(flat, axis=0).max()) ** 2
    halves = []
    for way in (order, order[::-1]):
        chain: list[int] = []
        for k in way:
            while len(chain) > 1 and _area(flat[chain[-2]], flat[chain[-1]], flat[k]) <= least:
                chain.pop()
            chain.append(k)
        halves += chain[:-1]
    return halves


def _area(a: Numbers, b: Numbers, c: Numbers) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _net(points: Numbers) -> list[list[int]]:
    """The bars of least total length that join all points: from those that are joined to the nearest that is not (Prim)."""
    joined, bars = [0], []
    while len(joined) < len(points):
        rest = [k for k in range(len(points)) if k not in joined]
        a, b = min(((a, b) for a in joined for b in rest), key=lambda pair: float(np.linalg.norm(points[pair[0]] - points[pair[1]])))
        bars.append([a, b])
        joined.append(b)
    return bars
