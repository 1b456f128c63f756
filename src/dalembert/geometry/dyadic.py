"""I = Σ I_ij f_i f_j: symmetric dyadics, as inertias are."""

from __future__ import annotations

from typing import Any

from dalembert.algebra.scalar import Scalar, join, on
from dalembert.algebra.tape import Tape, Triple
from dalembert.errors import BadDescription
from dalembert.geometry.frame import Frame
from dalembert.geometry.rotation import dot3, plus
from dalembert.geometry.vector import Vector
from dalembert.notebook import Typeset, brief


class Dyadic(Typeset):
    """A symmetric dyadic written in one frame; `I @ w` is a vector."""

    __slots__ = ("frame", "rows", "tape")

    def __init__(self, tape: Tape, frame: Frame, rows: tuple[Triple, Triple, Triple]) -> None:
        self.tape, self.frame, self.rows = tape, frame, rows

    def __str__(self) -> str:
        names = [f"{self.frame.name}.{axis}" for axis in "xyz"]
        terms = [(Scalar(self.tape, e), a, b) for row, a in zip(self.rows, names, strict=True) for e, b in zip(row, names, strict=True)]
        return " + ".join(f"({e}) {a} {b}" for e, a, b in terms if e != 0) or "0"

    def __repr__(self) -> str:
        return brief(str(self))

    def on(self, tape: Tape) -> Dyadic:
        """The same dyadic on another tape of the system."""
        if tape is self.tape:
            return self
        if max(map(max, self.rows)) < tape.shared_length(self.tape):
            return Dyadic(tape, self.frame, self.rows)
        rows = tuple(tuple(on(tape, Scalar(self.tape, i)) for i in row) for row in self.rows)
        return Dyadic(tape, self.frame, rows)  # type: ignore[arg-type]

    def __matmul__(self, w: Vector) -> Vector:
        """I · w"""
        tape = join(self.tape, w.tape)
        me, w = self.on(tape), w.on(tape)
        c = w.components(me.frame)
        return Vector(tape, {me.frame: (dot3(tape, me.rows[0], c), dot3(tape, me.rows[1], c), dot3(tape, me.rows[2], c))})

    def __add__(self, other: Dyadic) -> Dyadic:
        if other.frame is not self.frame:
            other = other.to(self.frame)
        t = self.tape
        return Dyadic(t, self.frame, tuple(plus(t, a, b) for a, b in zip(self.rows, other.rows, strict=True)))  # type: ignore[arg-type]

    def scaled(self, k: Any) -> Dyadic:
        """k I"""
        t = self.tape
        i = on(t, k)
        return Dyadic(t, self.frame, tuple(tuple(t.mul(i, c) for c in row) for row in self.rows))  # type: ignore[arg-type]

    def to(self, F: Frame) -> Dyadic:
        """The same dyadic written in another frame: R I Rᵀ."""
        if F is self.frame:
            return self
        self.frame.space.same(F.space)
        t = self.tape
        half = [F.express(t, row, self.frame) for row in self.rows]
        columns = [(half[0][k], half[1][k], half[2][k]) for k in range(3)]
        turned = [F.express(t, c, self.frame) for c in columns]
        return Dyadic(t, F, tuple((turned[0][k], turned[1][k], turned[2][k]) for k in range(3)))  # type: ignore[arg-type]

    def entries(self) -> tuple[int, ...]:
        """The six different components xx, yy, zz, xy, yz, xz."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.rows
        return xx, yy, zz, xy, yz, xz


def inertia(frame: Frame, xx: Any, yy: Any, zz: Any, xy: Any = 0, yz: Any = 0, xz: Any = 0) -> Dyadic:
    """I = Ixx f₁f₁ + … with tensor entries: the products of inertia are I_xy = −∫ x y dm."""
    given = inertia_tensor(frame, xx, yy, zz, xy, yz, xz)
    typed = [x for i in given.entries()[:3] if (x := given.tape.value(i)) is not None and x > 0]
    # zeros are moments that a motion in the plane does without
    if len(typed) == 3 and 2 * max(typed) > sum(typed):
        moments = ", ".join(f"{float(x):g}" for x in typed)
        msg = f"inertia: no body has the moments {moments}: none exceeds the sum of the other two (a thin disk has 1, 1, 2)"
        raise BadDescription(msg)
    return given


def inertia_tensor(frame: Frame, xx: Any, yy: Any, zz: Any, xy: Any = 0, yz: Any = 0, xz: Any = 0) -> Dyadic:
    """The same of whatever a file says, possible or not."""
    t = _tape(frame)
    a, b, c, d, e, f = (on(t, v) for v in (xx, yy, zz, xy, yz, xz))
    return Dyadic(t, frame, ((a, d, f), (d, b, e), (f, e, c)))


def _tape(frame: Frame) -> Tape:
    if isinstance(frame, Frame):
        return frame.space.tape
    msg = f"inertia: expected a frame first, got {frame!r}"
    raise BadDescription(msg)


def _axis(axis: Vector) -> Tape:
    if isinstance(axis, Vector):
        return axis.tape
    msg = f"inertia about an axis: expected a unit vector such as B.z first, got {axis!r}"
    raise BadDescription(msg)


def outer(n: Vector, frame: Frame) -> Dyadic:
    """n n, written in a frame."""
    t = n.tape
    c = n.components(frame)
    return Dyadic(t, frame, tuple(tuple(t.mul(x, y) for y in c) for x in c))  # type: ignore[arg-type]


def _axial(axis: Vector, along: Any, across: Any) -> Dyadic:
    """across·1 + (along − across) n n for a unit vector n given in one frame."""
    if len(axis.parts) != 1:
        msg = "inertia about an axis: give the axis as a unit vector of one frame, such as B.z"
        raise BadDescription(msg)
    frame = next(iter(axis.parts))
    t = frame.space.tape
    # of any length, as a rotation axis is
    axis = Vector(t, {frame: frame.unit(axis)})
    a, b = Scalar(t, on(t, along)), Scalar(t, on(t, across))
    return inertia(frame, b, b, b) + outer(axis.on(t), frame).scaled(a - b)


def rod_inertia(axis: Vector, mass: Any, length: Any) -> Dyadic:
    """m l²/12 across the rod, 0 along it; about its middle."""
    t = _axis(axis)
    m, length_ = Scalar(t, on(t, mass)), Scalar(t, on(t, length))
    return _axial(axis, 0, m * length_**2 / 12)


def disk_inertia(axis: Vector, mass: Any, radius: Any) -> Dyadic:
    """m r²/2 about the axis of a thin disk, m r²/4 about a diameter."""
    t = _axis(axis)
    m, r = Scalar(t, on(t, mass)), Scalar(t, on(t, radius))
    return _axial(axis, m * r**2 / 2, m * r**2 / 4)


def sphere_inertia(frame: Frame, mass: Any, radius: Any) -> Dyadic:
    """2/5 m r² about every axis of a homogeneous sphere."""
    t = _tape(frame)
    m, r = Scalar(t, on(t, mass)), Scalar(t, on(t, radius))
    k = 2 * m * r**2 / 5
    return inertia(frame, k, k, k)


def cylinder_inertia(axis: Vector, mass: Any, radius: Any, length: Any) -> Dyadic:
    """m r²/2 about the axis of a solid cylinder, m (3 r² + l²)/12 across it."""
    t = _axis(axis)
    m, r, length_ = (Scalar(t, on(t, v)) for v in (mass, radius, length))
    return _axial(axis, m * r**2 / 2, m * (3 * r**2 + length_**2) / 12)


def box_inertia(frame: Frame, mass: Any, a: Any, b: Any, c: Any) -> Dyadic:
    """m (b² + c²)/12, … for a solid box with sides a, b, c along the frame's axes."""
    t = _tape(frame)
    m, x, y, z = (Scalar(t, on(t, v)) for v in (mass, a, b, c))
    return inertia(frame, m * (y**2 + z**2) / 12, m * (x**2 + z**2) / 12, m * (x**2 + y**2) / 12)
