"""Points are defined relative to points, r_P = r_parent + offset, in the space of one system.

A space has a tape, an inertial frame and a fixed point, and everything defined relative to them.
"""

from __future__ import annotations

from typing import Any, Final

from dalembert.errors import BadDescription, BadExpression
from dalembert.foundation.suggestions import attribute_error
from dalembert.mechanics.geometry.declaration_log import DeclarationLog, record_declaration
from dalembert.mechanics.geometry.frame import Frame, VelocityRecursion
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.expression_graph import Derivative
from dalembert.symbolic.algebra.scalar import is_python_function
from dalembert.symbolic.algebra.tape import Tape

# what other libraries call it
_PLACE: Final = "its position from Q is the vector P - Q, whose components are (P - Q).to(N)"
_VELOCITY: Final = "velocities follow from positions: P.v, and P.v_in(B) as a frame sees it"
_ELSEWHERE: Final = {
    **dict.fromkeys(
        ("pos_from", "position", "pos", "x", "y", "z", "to", "r_from", "coordinates"), _PLACE
    ),
    **dict.fromkeys(
        ("vel", "velocity", "set_vel", "v2pt_theory", "v1pt_theory", "dt", "dot", "speed"),
        _VELOCITY,
    ),
    **dict.fromkeys(
        ("acc", "acceleration", "set_acc", "a2pt_theory", "a1pt_theory"),
        "accelerations follow from positions: P.a",
    ),
    **dict.fromkeys(
        ("locatenew", "set_pos", "locate_new", "add", "translated"),
        "the point at a vector from P is P.offset(vector)",
    ),
    **dict.fromkeys(
        ("distance", "distance_to", "norm"), "the distance of P and Q is da.sqrt((P - Q) @ (P - Q))"
    ),
    "tip": "it is a point already; a rod has .tip and .G",
    "mass": "a point has no mass; s.particle(name, mass, P) puts one there",
}


class Point:
    """A point of the system, given by its offset from another point. `P - Q` is the vector from
    Q to P.
    """

    def __init__(
        self, space: Space, name: str, parent: Point | None, r: Vector, frame: Frame
    ) -> None:
        self.space, self.name, self.parent, self.r, self.frame = space, name, parent, r, frame
        self.depth: int = 0 if parent is None else parent.depth + 1
        space.points.append(self)

    @record_declaration
    def offset(self, r: Vector, name: str | None = None, frame: Frame | None = None) -> Point:
        """The point at r from this one. It is attached to `frame`, by default the deepest frame r
        is written in.
        """
        space = self.space
        space.check_vector(r, "offset")
        if frame is not None:
            space.check_element(frame, Frame, "offset, frame=")
        else:
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
        """ᶠv = ᶠd/dt (P − origin): the velocity that an observer on `frame` sees; `origin` is a
        point fixed in the frame.

        Without one it is the point where the frame is attached: the first, on the way to the
        ground, that is not attached to it.
        """
        return self.space.motion.derivative_in(self - (origin or self._frame_origin(frame)), frame)

    def a_in(self, frame: Frame, origin: Point | None = None) -> Vector:
        """ᶠa = ᶠd/dt ᶠv: the acceleration that an observer on `frame` sees."""
        return self.space.motion.derivative_in(self.v_in(frame, origin), frame)

    def _frame_origin(self, frame: Frame) -> Point:
        """Where a frame that carries this point is attached."""
        if frame is self.space.N:
            return self.space.O
        if not frame.is_ancestor_of(self.frame):
            msg = (
                f"{self.name} seen from {frame.name}: {self.name} is not attached to it; name a "
                f"point that is fixed in it, origin=Q"
            )
            raise BadExpression(msg)
        P = self
        while frame.is_ancestor_of(P.frame) and P.parent is not None:
            P = P.parent
        return P

    def __add__(self, other: object) -> Point:
        if not isinstance(other, Vector):
            msg = (
                f"{self.name} + {other}: points are not added; the vector from one to another "
                f"is "
                f"{self.name} - Q"
            )
            raise BadExpression(msg)
        msg = (
            f"{self.name} + vector: the point at a vector from {self.name} is written "
            f"{self.name}.offset(vector)"
        )
        raise BadExpression(msg)

    def __getattr__(self, name: str) -> Any:
        """Only for what is not there."""
        raise attribute_error(self, name, _ELSEWHERE.get(name, ""))

    def __neg__(self) -> Point:
        msg = (
            f"-{self.name}: a point has no multiples; its position from O is the vector "
            f"{self.name} "
            f"- s.O"
        )
        raise BadExpression(msg)

    def __mul__(self, other: object) -> Point:
        msg = (
            f"{self.name} * {other}: a point has no multiples; its position from O is the vector "
            f"{self.name} - s.O"
        )
        raise BadExpression(msg)

    __rmul__ = __mul__

    def __sub__(self, other: Point) -> Vector:
        """The vector from `other` to this point."""
        if not isinstance(other, Point):
            msg = (
                f"{self.name} - {other}: subtract a point, {self.name} - Q, which gives the "
                f"vector from Q to {self.name}"
            )
            raise BadExpression(msg)
        self.space.check_same_system(other.space)
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


class Space:
    """One tape, one inertial frame N, one fixed point O; frames and points in order of creation."""

    def __init__(self) -> None:
        self.tape = Tape()
        self.frames: list[Frame] = []
        self.points: list[Point] = []
        self.journal = DeclarationLog()
        self.N = Frame(self, "N", None, None)
        self.O = Point(self, "O", None, Vector(self.tape, {}), self.N)
        self.motion = VelocityRecursion(self.tape, Derivative(self.tape, self.tape.rate))

    def check_vector(self, v: object, what: str) -> None:
        """Refuse what is not a vector of this space."""
        if not isinstance(v, Vector):
            msg = f"{what}: expected a vector such as a*N.x, got {_describe(v)}{_vector_hint(v)}"
            raise BadDescription(msg)
        if v.tape.root is not self.tape.root:
            msg = (
                f"{what}: this vector belongs to another system; it can only be used in the "
                f"system that made it"
            )
            raise BadDescription(msg)

    def check_element(self, element: object, kind: type[Point | Frame], what: str) -> None:
        """Refuse what is not a point (or a frame) of this space."""
        if not isinstance(element, kind):
            own = "a frame that moves, or s.N" if kind is Frame else "its point, particle.G"
            hint = (
                f" (a particle has no frame; name {own})"
                if element is None
                else _element_hint(element, kind)
            )
            msg = f"{what}: expected a {kind.__name__.lower()}, got {element!r}{hint}"
            raise BadDescription(msg)
        self.check_same_system(element.space)

    def check_same_system(self, other: Space) -> None:
        """Refuse to mix systems."""
        if other is not self:
            msg = (
                "this frame or point belongs to another system; it can only be used in the "
                "system that made it"
            )
            raise BadDescription(msg)

    def frame_name(self, name: str | None) -> str:
        """The given name, or the next free letter-number one."""
        return _check_name(name, "frame") or f"F{len(self.frames)}"

    def point_name(self, name: str | None) -> str:
        """The given name, or the next free letter-number one."""
        return _check_name(name, "point") or f"P{len(self.points)}"


def _check_name(name: object, what: str) -> str:
    """A name that was given, or nothing."""
    if name is not None and not isinstance(name, str):
        more = ", and the frame a point is attached to with frame=" if what == "point" else ""
        msg = f"{what}: expected a name, got {name!r}; give names as texts{more}"
        raise BadDescription(msg)
    return name or ""


def _describe(v: object) -> str:
    """The given value as text, without an address."""
    return (
        "a Python function; a function of the time goes to an input, s.input('F')*N.x, and "
        "inputs={'F': f}"
        if is_python_function(v)
        else repr(v)
    )


def _vector_hint(v: object) -> str:
    """How components, texts and numbers are written as a vector."""
    if isinstance(v, str):
        return "; write it without quotes"
    # lists, tuples and arrays of three
    has_length = not isinstance(v, type) and getattr(v, "__len__", None) is not None
    if has_length and len(v) == 3:  # type: ignore[arg-type]
        return "; components are written 1*N.x + 2*N.y + 3*N.z"
    return ""


def _element_hint(element: object, kind: type[Point | Frame]) -> str:
    if isinstance(element, str):
        return "; give the object, without quotes"
    if kind is Point and isinstance(getattr(element, "G", None), Point):
        return "; its mass centre is .G, the end of a rod .tip"
    return ""
