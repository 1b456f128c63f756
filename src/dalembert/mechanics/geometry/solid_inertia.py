"""m l²/12, m r²/2, …: the inertias of rods, disks, spheres, cylinders and boxes, and of whatever
six numbers say.
"""

from __future__ import annotations

from typing import Any

from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.vector import Dyadic, Vector, outer_square
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.tape import Tape


def inertia(
    frame: Frame, xx: Any, yy: Any, zz: Any, xy: Any = 0, yz: Any = 0, xz: Any = 0
) -> Dyadic:
    """I = Ixx f₁f₁ + … with tensor entries: the products of inertia are I_xy = −∫ x y dm."""
    given = inertia_tensor(frame, xx, yy, zz, xy, yz, xz)
    typed = [x for i in given.entries()[:3] if (x := given.tape.value(i)) is not None and x > 0]
    # zeros are moments that a motion in the plane does without
    if len(typed) == 3 and 2 * max(typed) > sum(typed):
        moments = ", ".join(f"{float(x):g}" for x in typed)
        msg = (
            f"inertia: no body has the moments {moments}: none exceeds the sum of the other two "
            f"(a thin disk has 1, 1, 2)"
        )
        raise BadDescription(msg)
    return given


def inertia_tensor(
    frame: Frame, xx: Any, yy: Any, zz: Any, xy: Any = 0, yz: Any = 0, xz: Any = 0
) -> Dyadic:
    """The same of whatever a file says, possible or not."""
    t = _tape(frame)
    a, b, c, d, e, f = (as_node(t, v) for v in (xx, yy, zz, xy, yz, xz))
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


def _axial(axis: Vector, along: Any, across: Any) -> Dyadic:
    """across·1 + (along − across) n n for a unit vector n given in one frame."""
    if len(axis.parts) != 1:
        msg = "inertia about an axis: give the axis as a unit vector of one frame, such as B.z"
        raise BadDescription(msg)
    frame = next(iter(axis.parts))
    t = frame.space.tape
    # of any length, as a rotation axis is
    axis = Vector(t, {frame: frame.unit_axis(axis)})
    a, b = Scalar(t, as_node(t, along)), Scalar(t, as_node(t, across))
    return inertia(frame, b, b, b) + outer_square(axis.on(t), frame).scale(a - b)


def rod_inertia(axis: Vector, mass: Any, length: Any) -> Dyadic:
    """m l²/12 across the rod, 0 along it; about its middle."""
    t = _axis(axis)
    m, length_ = Scalar(t, as_node(t, mass)), Scalar(t, as_node(t, length))
    return _axial(axis, 0, m * length_**2 / 12)


def disk_inertia(axis: Vector, mass: Any, radius: Any) -> Dyadic:
    """m r²/2 about the axis of a thin disk, m r²/4 about a diameter."""
    t = _axis(axis)
    m, r = Scalar(t, as_node(t, mass)), Scalar(t, as_node(t, radius))
    return _axial(axis, m * r**2 / 2, m * r**2 / 4)


def sphere_inertia(frame: Frame, mass: Any, radius: Any) -> Dyadic:
    """2/5 m r² about every axis of a homogeneous sphere."""
    t = _tape(frame)
    m, r = Scalar(t, as_node(t, mass)), Scalar(t, as_node(t, radius))
    k = 2 * m * r**2 / 5
    return inertia(frame, k, k, k)


def cylinder_inertia(axis: Vector, mass: Any, radius: Any, length: Any) -> Dyadic:
    """m r²/2 about the axis of a solid cylinder, m (3 r² + l²)/12 across it."""
    t = _axis(axis)
    m, r, length_ = (Scalar(t, as_node(t, v)) for v in (mass, radius, length))
    return _axial(axis, m * r**2 / 2, m * (3 * r**2 + length_**2) / 12)


def box_inertia(frame: Frame, mass: Any, a: Any, b: Any, c: Any) -> Dyadic:
    """m (b² + c²)/12, … for a solid box with sides a, b, c along the frame's axes."""
    t = _tape(frame)
    m, x, y, z = (Scalar(t, as_node(t, v)) for v in (mass, a, b, c))
    return inertia(frame, m * (y**2 + z**2) / 12, m * (x**2 + z**2) / 12, m * (x**2 + y**2) / 12)
