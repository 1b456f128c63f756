"""Where a rounded body touches a plane: the point of its surface that lies farthest in a
direction.
"""

from __future__ import annotations

from typing import Any

from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.functions import sqrt
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.tape import Tape


def ellipsoid_contact(toward: Vector, frame: Frame, a: Any, b: Any, c: Any) -> Vector:
    """(a² n₁, b² n₂, c² n₃)/√(a² n₁² + b² n₂² + c² n₃²): from the centre of an ellipsoid to its
    farthest point towards n.

    The semi-axes a, b, c lie along the frame; n is a unit vector, such as −N.z for the lowest
    point.
    """
    _check("ellipsoid_contact", frame, Frame)
    _check("ellipsoid_contact", toward, Vector)
    n1, n2, n3 = toward.to(frame)
    a, b, c = (_size("ellipsoid_contact", frame.space.tape, e) for e in (a, b, c))
    support: Scalar = sqrt(a**2 * n1**2 + b**2 * n2**2 + c**2 * n3**2)
    gradient: Vector = a**2 * n1 * frame.x + b**2 * n2 * frame.y + c**2 * n3 * frame.z
    return gradient / support


def ring_contact(toward: Vector, axis: Vector, radius: Any, tube: Any = 0) -> Vector:
    """r (n − (n·k) k)/√(1 − (n·k)²) + ρ n: from the centre of a ring about k to its farthest point
    towards n.

    With a `tube` ρ the ring is a torus; without one it is the edge of a thin disk. Where the ring
    lies flat every point is as far as any other, and the formula has no value.
    """
    _check("ring_contact", toward, Vector)
    _check("ring_contact", axis, Vector)
    radius, tube = (_size("ring_contact", toward.tape, e) for e in (radius, tube))
    along = toward @ axis
    farthest: Vector = (radius / sqrt(1 - along**2)) * (toward - along * axis) + tube * toward
    return farthest


def _check(what: str, given: object, kind: type[Frame | Vector]) -> None:
    if not isinstance(given, kind):
        wanted = "a frame" if kind is Frame else "a vector such as -N.z"
        msg = f"{what}: expected {wanted}, got {given!r}"
        raise BadDescription(msg)


def _size(what: str, tape: Tape, size: Any) -> Scalar:
    e = Scalar(tape, as_node(tape, size))
    if e.value is not None and e.value < 0:
        msg = f"{what}: a size is {float(e.value):g}; it must not be negative"
        raise BadDescription(msg)
    return e
