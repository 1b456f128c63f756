"""Where to look from: up against gravity, along the normal of a plane motion, otherwise from a
corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

if TYPE_CHECKING:
    from dalembert.interface.page.body_shapes import DrawnBody

_FLAT: Final = 1e-6
# degrees: from the side for plane motions, from above for those on a floor, from a corner for all
# others
_SIDE: Final = (18.0, 12.0)
_FLOOR: Final = (-60.0, 38.0)
_CORNER: Final = (-52.0, 20.0)
# a motion that goes this many times farther than the system is large
_FOLLOW_RATIO: Final = 3.0
# room around, and pictures are at least this much wider than high
_MARGIN: Final = 1.18
_ASPECT: Final = 1.35
# degrees of the picture's shorter side
FIELD_OF_VIEW: Final = 28.0
# what is seen around a system that the eye follows
_AROUND: Final = 1.7


@dataclass(frozen=True, eq=False)
class Camera:
    """Axes right, forward and up of the scene (rows), the first look at it, and what must fit
    into the picture.
    """

    axes: FloatArray = field(repr=False)
    azimuth: float
    elevation: float
    # the ball that holds the whole motion, and the radius of the one that holds the system at any
    # time
    centre: FloatArray
    far: float
    near: float
    # whether the motion goes so far that the eye must go with it
    follow: bool
    # the height of the floor along up; None where nothing touches one
    ground: float | None


def fit_camera(
    up: FloatArray | None,
    bodies: Sequence[DrawnBody],
    points: Sequence[FloatArray],
    contacts: Sequence[FloatArray],
    *,
    masses: Sequence[FloatArray],
    is_stationary: bool,
) -> Camera:
    """The natural view of a motion; `points` are the places to be seen, `is_stationary` says that
    the motion happens at one place.
    """
    normal, flat = _motion_plane(np.stack(list(masses or points)), bodies)
    vertical, floor = _vertical(
        up, normal if normal is not None else flat, tied=is_stationary and normal is not None
    )
    axes = _axes(vertical, normal if not floor else None)
    azimuth, elevation = (
        _FLOOR if floor and normal is not None else _CORNER if normal is None else _SIDE
    )
    inside = np.concatenate([_bounding_points(b) for b in bodies] + [p[None] for p in points])
    eye = camera_axes(axes, azimuth, elevation)
    centre, far = _frame_points(inside.reshape(-1, 3), *eye)
    near = max(_frame_points(inside[:, k], *eye)[1] for k in _some_times(inside))
    follow = not is_stationary and far > _FOLLOW_RATIO * near
    travels = far > 1.2 * near or normal is not None
    ground = _ground(vertical, bodies, contacts, floor=floor and travels)
    around = _moving_radius(near, inside, bodies, eye) if follow else near
    return Camera(axes, azimuth, elevation, centre, far, around, follow, ground)


def _some_times(inside: FloatArray) -> range:
    """About forty of the times."""
    return range(0, inside.shape[1], max(1, inside.shape[1] // 40))


def _moving_radius(
    near: float,
    inside: FloatArray,
    bodies: Sequence[DrawnBody],
    eye: tuple[FloatArray, FloatArray, FloatArray],
) -> float:
    """What an eye that follows the motion must see around its middle."""
    around = _AROUND * near
    if not bodies:
        return around
    # the eye goes with the middle of the bodies, which need not be that of the picture
    middle = np.mean([b.r for b in bodies], axis=0)
    return max(around, *(_half_height(inside[:, k] - middle[k], *eye) for k in _some_times(inside)))


def camera_axes(
    axes: FloatArray, azimuth: float, elevation: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """To the right and up in the picture, and towards the eye."""
    a, e = np.radians([azimuth, elevation])
    right, forward, up = axes
    back = np.sin(a) * np.cos(e) * right - np.cos(a) * np.cos(e) * forward + np.sin(e) * up
    side = np.cos(a) * right + np.sin(a) * forward
    return side, np.cross(back, side), back


def _motion_plane(
    r: FloatArray, bodies: Sequence[DrawnBody]
) -> tuple[FloatArray | None, FloatArray | None]:
    """The axis of N at right angles to which all mass centres move: if frames turn about it
    alone, and in any case.
    """
    size = max(
        float(np.ptp(r.reshape(-1, 3), axis=0).max()),
        max((max(b.solid.sizes) for b in bodies), default=0.0),
        1e-9,
    )
    flat = None
    for k in (2, 1, 0):
        if np.ptp(r[:, :, k], axis=1).max() > _FLAT * size:
            continue
        flat = np.asarray(np.eye(3)[k]) if flat is None else flat
        if (
            all(
                b.frame is None or np.allclose(np.abs(b.frame[:, k]).max(axis=1), 1.0, atol=1e-6)
                for b in bodies
            )
            and np.ptp(r[:, :, k]) <= _FLAT * size
        ):
            return np.asarray(np.eye(3)[k]), flat
    return None, flat


def _vertical(
    up: FloatArray | None, normal: FloatArray | None, *, tied: bool
) -> tuple[FloatArray, bool]:
    """The direction that is up in the picture, and whether the motion lies on a floor; what is
    held somewhere does not.
    """
    if up is None and tied and normal is not None:
        return np.eye(3)[1 if normal[2] else 2], False
    if up is None:
        return (np.array([0.0, 0.0, 1.0]) if normal is None else normal), normal is not None
    return up, normal is not None and abs(float(normal @ up)) > 0.99


def _axes(up: FloatArray, normal: FloatArray | None) -> FloatArray:
    """right, forward (away from the eye at azimuth 0), up."""
    if normal is not None:
        towards = normal
    else:
        first = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
        right = first - up * (up @ first)
        towards = np.cross(right / np.linalg.norm(right), up)
    forward = -towards
    return np.stack([np.cross(forward, up), forward, up])


def _bounding_points(body: DrawnBody) -> FloatArray:
    """Corners of a ball around the body, and of its outline, over the times."""
    half = max(body.solid.sizes)
    corners = half * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    ball = np.asarray(body.r[None] + corners[:, None])
    if body.outline is None or body.frame is None:
        return ball
    return np.concatenate(
        [
            ball,
            body.r[None] + np.einsum("nij,kj->kni", body.frame, body.outline.bars.reshape(-1, 3)),
        ]
    )


def _frame_points(
    inside: FloatArray, side: FloatArray, head: FloatArray, back: FloatArray
) -> tuple[FloatArray, float]:
    """The middle of a cloud of points as the eye sees it, and the half height of a picture that
    holds it.
    """
    along = [inside @ e for e in (side, head, back)]
    middle = [(x.min() + x.max()) / 2 for x in along]
    centre = middle[0] * side + middle[1] * head + middle[2] * back
    return centre, _half_height(inside - centre, side, head, back)


def _half_height(away: FloatArray, side: FloatArray, head: FloatArray, back: FloatArray) -> float:
    """|y| ≤ h − d tan ½α: the half height h of a picture that holds what is d nearer to the eye
    than its middle.
    """
    x, y, d = np.abs(away @ side), np.abs(away @ head), away @ back
    needed = float((np.maximum(y, x / _ASPECT) + d * np.tan(np.radians(FIELD_OF_VIEW) / 2)).max())
    return max(_MARGIN * needed, _MARGIN * 0.35 * float(np.ptp(d)) / 2, 1e-6)


def robot_ground(bodies: Sequence[DrawnBody], up: FloatArray) -> FloatArray:
    """A point of the ground below a robot: the level of its file's origin, or of its lowest link
    at the start where that is lower.
    """
    lowest = min((float((b.r @ up - _depth(b, up))[0]) for b in bodies), default=0.0)
    return min(lowest, 0.0) * up[None]


def _ground(
    up: FloatArray, bodies: Sequence[DrawnBody], contacts: Sequence[FloatArray], *, floor: bool
) -> float | None:
    """At the points of contact, or below everything that moves on a floor."""
    if contacts:
        return float(min((p @ up).min() for p in contacts))
    return (
        float(min((b.r @ up - _depth(b, up)).min() for b in bodies)) if floor and bodies else None
    )


def _depth(body: DrawnBody, up: FloatArray) -> FloatArray:
    """How far a solid reaches below its centre."""
    x, y, z = (np.abs(body.R[:, :, k] @ up) * body.solid.sizes[k] for k in range(3))
    if body.solid.kind in ("box", "mesh"):
        return np.asarray(x + y + z)
    return np.asarray(
        np.hypot(x, y) + z if body.solid.kind == "cylinder" else np.sqrt(x**2 + y**2 + z**2)
    )
