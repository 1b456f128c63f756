"""Joints and shapes: shorthand that builds frames, points, coordinates and inertias."""

from __future__ import annotations

from typing import Any

from dalembert.algebra.scalar import Scalar, on
from dalembert.errors import BadDescription
from dalembert.geometry.dyadic import box_inertia, cylinder_inertia, disk_inertia, rod_inertia, sphere_inertia
from dalembert.geometry.frame import Frame, check_axes
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.model.closures import Closures
from dalembert.model.elements import Body, Shape
from dalembert.model.names import split


class Joints(Closures):
    """A joint takes the point it sits at and returns the same place seen from the moving side."""

    def pin(self, name: str, at: Point, axis: Vector | None = None) -> Point:
        """A hinge: one angle about `axis` (by default the z axis of the frame the point rides on)."""
        self.space.has(at, Point, f"pin {name!r}")
        parent = at.frame
        direction = parent.z if axis is None else axis
        # refused before the coordinate is declared
        parent.unit(direction)
        frame = parent.rotated(self.coordinate(name), direction, name)
        return at.offset(Vector(self.space.tape, {}), name, frame)

    def slide(self, name: str, at: Point, axis: Vector | None = None) -> Point:
        """A slider: one distance along `axis` (by default the x axis of the frame the point rides on)."""
        self.space.has(at, Point, f"slide {name!r}")
        direction = at.frame.x if axis is None else axis
        self.space.own(direction, "slide")
        return at.offset(self.coordinate(name) * direction, name, at.frame)

    def universal(self, names: str, at: Point, axes: str = "xy") -> Point:
        """Two angles about successive axes."""
        return self._turns(names, at, axes, 2)

    def ball(self, names: str, at: Point, axes: str = "zyx") -> Point:
        """A ball joint: three angles about successive axes, or four names for a quaternion."""
        self.space.has(at, Point, f"ball {names!r}")
        if len(split(names)) == 4:
            e = self.coordinates(names)
            frame = at.frame.quaternion(*e, name=split(names)[0])
            return at.offset(Vector(self.space.tape, {}), None, frame)
        return self._turns(names, at, axes, 3)

    def free(self, names: str, at: Point | None = None, axes: str = "zyx") -> Point:
        """Six freedoms: x y z and three angles (or a quaternion: seven names)."""
        place = self.space.O if at is None else at
        single = split(names)
        if len(single) not in (6, 7):
            msg = f"free: six names are needed (x y z and three angles) or seven (x y z and a quaternion), got {len(single)}"
            raise BadDescription(msg)
        self.space.has(place, Point, f"free {names!r}")
        self._free(single, "coordinate")
        if len(single) == 6:
            check_axes(axes, 3)
        x, y, z = self.coordinates(" ".join(single[:3]))
        F = place.frame
        return self.ball(" ".join(single[3:]), place.offset(x * F.x + y * F.y + z * F.z, frame=F), axes)

    def weld(self, at: Point, offset: Vector | None = None) -> Point:
        """No freedom: the same place and frame, shifted by a fixed offset."""
        self.space.has(at, Point, "weld")
        return at.offset(offset if offset is not None else Vector(self.space.tape, {}), None, at.frame)

    def _turns(self, names: str, at: Point, axes: str, count: int) -> Point:
        single = split(names)
        if len(single) != count or (isinstance(axes, str) and len(axes) != count):
            msg = f"this joint takes {count} angles: got the names {names!r} for the axes {axes!r}"
            raise BadDescription(msg)
        self.space.has(at, Point, f"joint {names!r}")
        check_axes(axes, count)
        frame: Frame = at.frame.rotations(axes, *self.coordinates(names))[-1]
        return at.offset(Vector(self.space.tape, {}), None, frame)

    # ---- shapes ------------------------------------------------------------------------------

    def _sizes(self, *sizes: Any) -> tuple[Scalar, ...]:
        tape = self.space.tape
        return tuple(Scalar(tape, on(tape, v)) for v in sizes)

    def rod(self, name: str, at: Point, mass: Any, length: Any) -> Body:
        """A thin uniform rod that hangs from `at` along −y of the frame the point rides on; `.tip` is its end."""
        self.space.has(at, Point, f"rod {name!r}")
        F = at.frame
        (l,) = self._sizes(length)
        body = self.body(name, mass, at.offset(-l / 2 * F.y, frame=F), F, rod_inertia(F.y, mass, l), shape=Shape("rod", (l,), F.y))
        body.points["tip"] = at.offset(-l * F.y, f"tip of {name}", F)
        return body

    def disk(self, name: str, G: Point, frame: Frame, mass: Any, radius: Any, axis: Vector) -> Body:
        """A thin uniform disk with its axis along `axis`."""
        return self.body(name, mass, G, frame, disk_inertia(axis, mass, radius), shape=Shape("disk", self._sizes(radius), axis))

    def sphere(self, name: str, G: Point, frame: Frame, mass: Any, radius: Any) -> Body:
        """A homogeneous sphere."""
        return self.body(name, mass, G, frame, sphere_inertia(frame, mass, radius), shape=Shape("sphere", self._sizes(radius)))

    def cylinder(self, name: str, G: Point, frame: Frame, mass: Any, radius: Any, length: Any, axis: Vector) -> Body:
        """A solid cylinder with its axis along `axis`."""
        shape = Shape("cylinder", self._sizes(radius, length), axis)
        return self.body(name, mass, G, frame, cylinder_inertia(axis, mass, radius, length), shape=shape)

    def box(self, name: str, G: Point, frame: Frame, mass: Any, a: Any, b: Any, c: Any) -> Body:
        """A solid box with sides a, b, c along the axes of its frame."""
        return self.body(name, mass, G, frame, box_inertia(frame, mass, a, b, c), shape=Shape("box", self._sizes(a, b, c)))
