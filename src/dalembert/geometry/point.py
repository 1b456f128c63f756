"""Points hang on points: r_P = r_parent + offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.errors import BadExpression
from dalembert.geometry.journal import recorded
from dalembert.geometry.vector import Vector

if TYPE_CHECKING:
    from dalembert.geometry.frame import Frame
    from dalembert.geometry.space import Space


class Point:
    """A point of the system, given by its offset from another point. `P - Q` is the vector from Q to P."""

    def __init__(self, space: Space, name: str, parent: Point | None, r: Vector, frame: Frame) -> None:
        self.space, self.name, self.parent, self.r, self.frame = space, name, parent, r, frame
        self.depth: int = 0 if parent is None else parent.depth + 1
        space.points.append(self)

    @recorded
    def offset(self, r: Vector, name: str | None = None, frame: Frame | None = None) -> Point:
        """The point at r from this one. It rides on `frame`, by default the deepest frame r is written in."""
        space = self.space
        space.own(r, "offset")
        if frame is None:
            frame = max(r.parts, key=lambda f: (f.depth, f.number), default=self.frame)
        return Point(space, space.point_name(name), self, r.on(space.tape), frame)

    @property
    def v(self) -> Vector:
        """The velocity in the inertial frame, in the rates q'."""
        return self.space.motion.v(self)

    @property
    def a(self) -> Vector:
        """The acceleration in the inertial frame, in q' and q''."""
        return self.space.motion.derivative(self.v)

    def v_in(self, frame: Frame, origin: Point | None = None) -> Vector:
        """ᶠv = ᶠd/dt (P − origin): the velocity that an observer on `frame` sees; `origin` is a point fixed in the frame.

        Without one it is the point where the frame is attached: the first, on the way to the ground, that does not ride on it.
        """
        return self.space.motion.seen(self - (origin or self._attachment(frame)), frame)

    def a_in(self, frame: Frame, origin: Point | None = None) -> Vector:
        """ᶠa = ᶠd/dt ᶠv: the acceleration that an observer on `frame` sees."""
        return self.space.motion.seen(self.v_in(frame, origin), frame)

    def _attachment(self, frame: Frame) -> Point:
        """Where a frame that carries this point is attached."""
        if frame is self.space.N:
            return self.space.O
        if not frame.carries(self.frame):
            msg = f"{self.name} seen from {frame.name}: {self.name} does not ride on it; name a point that is fixed in it, origin=Q"
            raise BadExpression(msg)
        P = self
        while frame.carries(P.frame) and P.parent is not None:
            P = P.parent
        return P

    def __add__(self, other: object) -> Point:
        if not isinstance(other, Vector):
            msg = f"{self.name} + {other}: points are not added; the vector from one to another is {self.name} - Q"
            raise BadExpression(msg)
        msg = f"{self.name} + vector: the point at a vector from {self.name} is written {self.name}.offset(vector)"
        raise BadExpression(msg)

    def __mul__(self, other: object) -> Point:
        msg = f"{self.name} * {other}: a point has no multiples; its place from O is the vector {self.name} - s.O"
        raise BadExpression(msg)

    __rmul__ = __mul__

    def __sub__(self, other: Point) -> Vector:
        """The vector from `other` to this point."""
        if not isinstance(other, Point):
            msg = f"{self.name} - {other}: subtract a point, {self.name} - Q, which gives the vector from Q to {self.name}"
            raise BadExpression(msg)
        self.space.same(other.space)
        here, there = Vector(self.space.tape, {}), Vector(self.space.tape, {})
        p: Point | None = self
        q: Point | None = other
        while p is not q:
            if q is None or (p is not None and p.depth >= q.depth):
                here = p.r + here  # type: ignore[union-attr]
                p = p.parent  # type: ignore[union-attr]
            else:
                there = q.r + there
                q = q.parent
        return here - there

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Point({self.name!r})"
