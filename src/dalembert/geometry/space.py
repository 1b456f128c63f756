"""The space of one system: its tape, its inertial frame and fixed point, and everything that hangs on them."""

from __future__ import annotations

from dalembert.algebra.folds import Derivative
from dalembert.algebra.tape import Tape
from dalembert.errors import BadDescription
from dalembert.geometry.frame import Frame, Motion
from dalembert.geometry.journal import Journal
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector


class Space:
    """One tape, one inertial frame N, one fixed point O; frames and points in order of creation."""

    def __init__(self) -> None:
        self.tape = Tape()
        self.frames: list[Frame] = []
        self.points: list[Point] = []
        self.journal = Journal()
        self.N = Frame(self, "N", None, None)
        self.O = Point(self, "O", None, Vector(self.tape, {}), self.N)
        self.motion = Motion(self.tape, Derivative(self.tape, self.tape.rate))

    def own(self, v: object, what: str) -> None:
        """Refuse what is not a vector of this space."""
        if not isinstance(v, Vector):
            msg = f"{what}: expected a vector such as a*N.x, got {v!r}{_vector_hint(v)}"
            raise BadDescription(msg)
        if v.tape.root is not self.tape.root:
            msg = f"{what}: this vector belongs to another system; it can only be used in the system that made it"
            raise BadDescription(msg)

    def has(self, element: object, kind: type[Point | Frame], what: str) -> None:
        """Refuse what is not a point (or a frame) of this space."""
        if not isinstance(element, kind):
            own = "a frame that moves, or s.N" if kind is Frame else "its point, particle.G"
            hint = f" (a particle has no frame; name {own})" if element is None else _element_hint(element, kind)
            msg = f"{what}: expected a {kind.__name__.lower()}, got {element!r}{hint}"
            raise BadDescription(msg)
        self.same(element.space)

    def same(self, other: Space) -> None:
        """Refuse to mix systems."""
        if other is not self:
            msg = "this frame or point belongs to another system; it can only be used in the system that made it"
            raise BadDescription(msg)

    def frame_name(self, name: str | None) -> str:
        """The given name, or the next free letter-number one."""
        return _text(name, "frame") or f"F{len(self.frames)}"

    def point_name(self, name: str | None) -> str:
        """The given name, or the next free letter-number one."""
        return _text(name, "point") or f"P{len(self.points)}"


def _text(name: object, what: str) -> str:
    """A name that was given, or nothing."""
    if name is not None and not isinstance(name, str):
        more = ", and the frame a point rides on with frame=" if what == "point" else ""
        msg = f"{what}: expected a name, got {name!r}; give names as texts{more}"
        raise BadDescription(msg)
    return name or ""


def _vector_hint(v: object) -> str:
    """How components, texts and numbers are written as a vector."""
    if isinstance(v, str):
        return "; write it without quotes"
    # lists, tuples and arrays of three
    if getattr(v, "__len__", None) is not None and len(v) == 3:  # type: ignore[arg-type]
        return "; components are written 1*N.x + 2*N.y + 3*N.z"
    return ""


def _element_hint(element: object, kind: type[Point | Frame]) -> str:
    if isinstance(element, str):
        return "; give the object, without quotes"
    if kind is Point and isinstance(getattr(element, "G", None), Point):
        return "; its mass centre is .G, the end of a rod .tip"
    return ""
