"""Joints: shorthand that builds frames, points and coordinates.

A joint takes the point it sits at and returns the same place seen from the moving side.
"""

from __future__ import annotations

from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.frame import Frame, check_axes
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.name_rules import split_names
from dalembert.mechanics.model.registry import Registry
from dalembert.mechanics.model.symbols import check_names, coordinate, coordinates


def pin(s: Registry, name: str, at: Point, axis: Vector | None = None) -> Point:
    """A hinge: one angle about `axis` (by default the z axis of the frame of the point)."""
    s.space.check_element(at, Point, f"pin {name!r}")
    parent = at.frame
    direction = parent.z if axis is None else axis
    # refused before the coordinate is declared
    parent.unit_axis(direction)
    frame = parent.rotated(coordinate(s, name), direction, name)
    return at.offset(Vector(s.space.tape, {}), name, frame)


def slide(s: Registry, name: str, at: Point, axis: Vector | None = None) -> Point:
    """A slider: one distance along `axis` (by default the x axis of the frame of the point)."""
    s.space.check_element(at, Point, f"slide {name!r}")
    direction = at.frame.x if axis is None else at.frame.named_axis(axis)
    s.space.check_vector(direction, "slide")
    return at.offset(coordinate(s, name) * direction, name, at.frame)


def universal(s: Registry, names: str, at: Point, axes: str = "xy") -> Point:
    """Two angles about successive axes."""
    return _rotation_joint(s, names, at, axes, 2)


def ball(s: Registry, names: str, at: Point, axes: str = "zyx") -> Point:
    """A ball joint: three angles about successive axes, or four names for a quaternion."""
    s.space.check_element(at, Point, f"ball {names!r}")
    if len(split_names(names)) == 4:
        e = coordinates(s, names)
        frame = at.frame.quaternion(*e, name=split_names(names)[0])
        return at.offset(Vector(s.space.tape, {}), None, frame)
    return _rotation_joint(s, names, at, axes, 3)


def free(s: Registry, names: str, at: Point | None = None, axes: str = "zyx") -> Point:
    """Six degrees of freedom: x y z and three angles (or a quaternion: seven names)."""
    place = s.space.O if at is None else at
    single = split_names(names)
    if len(single) not in (6, 7):
        msg = (
            f"free: six names are needed (x y z and three angles) or seven (x y z and a "
            f"quaternion), got {len(single)}"
        )
        raise BadDescription(msg)
    s.space.check_element(place, Point, f"free {names!r}")
    check_names(s, single, "coordinate")
    if len(single) == 6:
        check_axes(axes, 3)
    x, y, z = coordinates(s, " ".join(single[:3]))
    F = place.frame
    return ball(s, " ".join(single[3:]), place.offset(x * F.x + y * F.y + z * F.z, frame=F), axes)


def weld(s: Registry, at: Point, offset: Vector | None = None) -> Point:
    """No freedom: the same place and frame, shifted by a fixed offset."""
    s.space.check_element(at, Point, "weld")
    return at.offset(offset if offset is not None else Vector(s.space.tape, {}), None, at.frame)


def _rotation_joint(s: Registry, names: str, at: Point, axes: str, count: int) -> Point:
    single = split_names(names)
    if len(single) != count or (isinstance(axes, str) and len(axes) != count):
        msg = f"this joint takes {count} angles: got the names {names!r} for the axes {axes!r}"
        raise BadDescription(msg)
    s.space.check_element(at, Point, f"joint {names!r}")
    check_axes(axes, count)
    frame: Frame = at.frame.rotations(axes, *coordinates(s, names))[-1]
    return at.offset(Vector(s.space.tape, {}), None, frame)
