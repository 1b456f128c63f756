"""r_P − g n: the planes and curves that contacts touch, as strips in the scene; belts and ropes.

A level plane is the floor of the scene. Every other plane that does not rotate, a belt and a curved
ground are strips: a line in the plane of the motion, as wide as the scene is large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.page.kinematics_arrays import Poses
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import UnilateralContact

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

_STILL: Final = 1e-9
# how far a strip goes beyond what touches it, and half its width, relative to the system's size
_BEYOND: Final = 0.25
_HALF_WIDTH: Final = 0.18
_CURVE_POINTS: Final = 61


@dataclass(frozen=True, eq=False)
class SurfaceStrip:
    """A surface between line − across and line + across, its solid side along −normal."""

    name: str
    line: FloatArray = field(repr=False)
    across: FloatArray = field(repr=False)
    normal: FloatArray
    # displacement of the whole surface over the times, and of a belt along its line
    shift: FloatArray = field(repr=False)
    travel: FloatArray | None = field(repr=False, default=None)

    @property
    def corners(self) -> FloatArray:
        """Points that the picture must hold."""
        ends = self.line[[0, -1]]
        return np.concatenate([ends - self.across, ends + self.across])


class RopeEnds(NamedTuple):
    """The points that a rope joins in order, and its length at the start."""

    points: tuple[Point, ...]
    length: float


class _Touch(NamedTuple):
    """A contact with its place, normal, and where the surface is below that place."""

    contact: UnilateralContact
    feet: FloatArray
    normal: FloatArray


class ContactSurfaces:
    """Everything that the contacts of a system touch; balls are drawn as bodies."""

    def __init__(self, contacts: Sequence[UnilateralContact]) -> None:
        shown = [(c, c.geometry) for c in contacts if c.geometry is not None]
        self._ropes = [g for _, g in shown if g.kind == "rope"]
        self._contacts = [
            c
            for c, g in shown
            if g.kind in ("plane", "curve") and c.force_location is not None and c.gap is not None
        ]

    @property
    def points(self) -> list[Point]:
        """Points of the contacts, and those that a rope joins."""
        touched = [c.force_location[0] for c in self._contacts if c.force_location is not None]
        return touched + [P for g in self._ropes for P in g.points]

    @property
    def plane_points(self) -> list[Point]:
        """Points of the planes, with which these move."""
        return [P for c in self._contacts if c.geometry is not None for P in c.geometry.points]

    @property
    def vectors(self) -> list[Vector]:
        """Normals of the surfaces, and velocities of belts."""
        normals = [c.force_location[1] for c in self._contacts if c.force_location is not None]
        belts = [c.geometry.belt for c in self._contacts if c.geometry is not None]
        return [v for v in normals + belts if v is not None]

    def ropes(self, run: Trajectory) -> list[RopeEnds]:
        """Every rope of the system."""
        lengths = run.rows([g.length for g in self._ropes if g.length is not None])
        return [RopeEnds(g.points, float(x[0])) for g, x in zip(self._ropes, lengths, strict=True)]

    def _touches(self, run: Trajectory, poses: Poses) -> Iterator[_Touch]:
        gaps = run.rows([c.gap for c in self._contacts if c.gap is not None])
        for c, gap in zip(self._contacts, gaps, strict=True):
            assert c.force_location is not None
            P, n, _ = c.force_location
            if n is not None:
                normal = poses.vector(n)
                yield _Touch(c, poses.point(P) - np.asarray(gap)[:, None] * normal, normal)

    def level_points(
        self, run: Trajectory, poses: Poses, up: FloatArray | None
    ) -> list[FloatArray]:
        """Feet on level planes at rest, which are the floor."""
        return [
            t.feet for t in self._touches(run, poses) if _is_level(t, up) and _is_plane_at_rest(t)
        ]

    def strips(
        self, run: Trajectory, poses: Poses, up: FloatArray | None, size: float
    ) -> Iterator[SurfaceStrip]:
        """Walls, slopes, belts, moving tables and curved grounds."""
        level = self.level_points(run, poses, up)
        floor = (
            -np.inf if up is None else min((float((p @ up).min()) for p in level), default=-np.inf)
        )
        for t in self._touches(run, poses):
            geometry = t.contact.geometry
            assert geometry is not None
            if geometry.kind == "curve":
                yield _curve_strip(t, poses, size)
                continue
            if np.ptp(t.normal, axis=0).max() > _STILL:
                continue  # it rotates with the body that carries it
            belt = None if geometry.belt is None else poses.vector(geometry.belt)
            is_floor = (
                up is not None
                and _is_level(t, up)
                and _is_plane_at_rest(t)
                and float((t.feet @ up).max()) <= floor + _STILL * (size + abs(floor))
            )
            if belt is not None or not is_floor:
                strip = _plane_strip(t, poses.point(geometry.points[0]), belt, run.t, size)
                yield strip if up is None else _above_floor(strip, up, floor)


def _is_level(touch: _Touch, up: FloatArray | None) -> bool:
    return up is not None and float(touch.normal[0] @ up) > 1.0 - _STILL


def _is_plane_at_rest(touch: _Touch) -> bool:
    height = touch.feet @ touch.normal[0]
    return bool(
        touch.contact.geometry is not None
        and touch.contact.geometry.kind == "plane"
        and np.ptp(touch.normal, axis=0).max() <= _STILL
        and np.ptp(height) <= 1e-6 * (1.0 + np.abs(height).max())
    )


def _plane_strip(
    touch: _Touch, through: FloatArray, belt: FloatArray | None, t: FloatArray, size: float
) -> SurfaceStrip:
    """Along the belt where there is one, else in the plane of N.x and N.y where it can be."""
    n, shift = touch.normal[0], through - through[0]
    along = np.cross(n, np.eye(3)[2 if abs(n[2]) < 0.9 else 0])
    if belt is not None and (fastest := np.linalg.norm(belt, axis=1)).max() > 0:
        along = belt[int(np.argmax(fastest))]
    along = along / np.linalg.norm(along)
    feet = touch.feet - shift
    s = (feet - feet[0]) @ along
    ends = [s.min() - _BEYOND * size, s.max() + _BEYOND * size]
    line = feet[0] + np.outer(ends, along)
    across = _away_from_viewer(np.cross(along, n))
    middle = (feet - feet[0]) @ across
    line = line + 0.5 * (middle.min() + middle.max()) * across
    width = _HALF_WIDTH * size + 0.5 * float(np.ptp(middle))
    travel = None if belt is None else _integral(belt @ along, t)
    return SurfaceStrip(touch.contact.name, line, width * across, n, shift, travel)


def _away_from_viewer(across: FloatArray) -> FloatArray:
    """Plane motions are seen against N.z: the hatched edge line − across is the near one."""
    return -across if across[2] > 0 else across


def _above_floor(strip: SurfaceStrip, up: FloatArray, floor: float) -> SurfaceStrip:
    """A wall that stands on the floor ends there."""
    way = strip.line[-1] - strip.line[0]
    rise = float(way @ up)
    if abs(rise) <= _STILL * float(np.linalg.norm(way)):
        return strip
    part = (floor - float(strip.line[0] @ up)) / rise
    if not 0 < part < 1:
        return strip
    foot = strip.line[0] + part * way
    line = np.stack([foot, strip.line[-1]] if rise > 0 else [strip.line[0], foot])
    return replace(strip, line=line)


def _curve_strip(touch: _Touch, poses: Poses, size: float) -> SurfaceStrip:
    """y = h(x) over the x that the point passes: h = y_P − g/(n·N.y)."""
    assert touch.contact.force_location is not None
    r = poses.point(touch.contact.force_location[0])
    gap = np.sum((r - touch.feet) * touch.normal, axis=1)
    order = np.argsort(r[:, 0])
    x, y = r[order, 0], (r[:, 1] - gap / touch.normal[:, 1])[order]
    at = np.linspace(x[0], x[-1], _CURVE_POINTS)
    line = np.column_stack([at, np.interp(at, x, y), np.full(_CURVE_POINTS, r[0, 2])])
    across = np.array([0.0, 0.0, -_HALF_WIDTH * size])
    return SurfaceStrip(
        touch.contact.name, line, across, np.array([0.0, 1.0, 0.0]), np.zeros_like(r)
    )


def _integral(v: FloatArray, t: FloatArray) -> FloatArray:
    """∫ v dt by the trapezoidal rule, from 0."""
    return np.concatenate([[0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(t))])
