"""Where a rounded body touches a plane: the point of its surface that lies farthest in a direction."""

from __future__ import annotations

from typing import Any

from dalembert.algebra.functions import sqrt
from dalembert.algebra.scalar import Scalar
from dalembert.geometry.frame import Frame
from dalembert.geometry.vector import Vector


def ellipsoid_contact(toward: Vector, frame: Frame, a: Any, b: Any, c: Any) -> Vector:
    """(a² n₁, b² n₂, c² n₃)/√(a² n₁² + b² n₂² + c² n₃²): from the centre of an ellipsoid to its farthest point towards n.

    The semi-axes a, b, c lie along the frame; n is a unit vector, such as −N.z for the lowest point.
    """
    n1, n2, n3 = toward.to(frame)
    support: Scalar = sqrt(a**2 * n1**2 + b**2 * n2**2 + c**2 * n3**2)
    gradient: Vector = a**2 * n1 * frame.x + b**2 * n2 * frame.y + c**2 * n3 * frame.z
    return gradient / support


def ring_contact(toward: Vector, axis: Vector, radius: Any, tube: Any = 0) -> Vector:
    """r (n − (n·k) k)/√(1 − (n·k)²) + ρ n: from the centre of a ring about k to its farthest point towards n.

    With a `tube` ρ the ring is a torus; without one it is the edge of a thin disk. Where the ring lies flat every point is
    as far as any other, and the formula has no value.
    """
    along = toward @ axis
    farthest: Vector = (radius / sqrt(1 - along**2)) * (toward - along * axis) + tube * toward
    return farthest
