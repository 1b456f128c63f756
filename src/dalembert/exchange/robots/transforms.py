"""R and p of one body in another as numbers, and on which moving frame it rides; the exact rotation
that stands for a measured one.

A rotation in floats is orthogonal only to rounding. R_h(e)/(e·e) is orthogonal for every quaternion
e, so the quaternion's decimals are taken as they are: every entry is a fraction, and R Rᵀ = 1
exactly. Right angles written as 1.5707963 or 0.70710678 become right angles where they are meant to
rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dalembert.exchange.robots.robot_record import Quaternion4, Vector3
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector

Numbers = NDArray[np.float64]

# a quaternion that is this near to one with entries 0 and ±1 (before normalising) is that one
_FRACTION_TOLERANCE: Final = 1e-10
_DIGITS: Final = 17
# what is smaller than this part of the largest component is rounding
_ROUNDING: Final = 1e-14
_ONE: Final = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]


@dataclass(frozen=True)
class Pose:
    """x_parent = p + R x"""

    R: Numbers
    p: Numbers

    def __matmul__(self, other: Pose) -> Pose:
        """First `other`, then this."""
        return Pose(self.R @ other.R, self.p + self.R @ other.p)

    def point(self, x: Any) -> Numbers:
        """The place of a point of the child, in the parent."""
        return np.asarray(self.p + self.R @ np.asarray(x, dtype=float))


IDENTITY: Final = Pose(np.eye(3), np.zeros(3))


def pose(pos: Vector3, quat: Quaternion4) -> Pose:
    """The pose that a file gives by position and quaternion; right angles are right angles."""
    e0, e1, e2, e3 = (
        float(_nearest_fraction(x)) for x in _scale_to_unit_max(np.array(quat, dtype=float))
    )
    return Pose(rotation((e0, e1, e2, e3)), np.asarray(pos, dtype=float))


def rotation(quat: Quaternion4) -> Numbers:
    """R_h(e)/(e·e)"""
    e0, e1, e2, e3 = (float(x) for x in quat)
    return np.array(_rotation_numerator(e0, e1, e2, e3)) / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)


def _rotation_numerator(e0: Any, e1: Any, e2: Any, e3: Any) -> list[list[Any]]:
    """R_h(e), whose entries are of degree two, in floats or whole numbers."""
    return [
        [e0 * e0 + e1 * e1 - e2 * e2 - e3 * e3, 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
        [2 * (e1 * e2 + e0 * e3), e0 * e0 - e1 * e1 + e2 * e2 - e3 * e3, 2 * (e2 * e3 - e0 * e1)],
        [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3],
    ]


def rotation_zyx(z: float, y: float, x: float) -> Numbers:
    """R_z R_y R_x: successive turns about z, y and x, or roll x, pitch y, yaw z about fixed
    axes.
    """
    (cz, cy, cx), (sz, sy, sx) = np.cos([z, y, x]), np.sin([z, y, x])
    Rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    Ry = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    Rx = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    return np.asarray(Rz @ Ry @ Rx)


def quaternion(R: Numbers) -> Quaternion4:
    """e with R_h(e)/(e·e) = R, its largest entry positive (Shepperd's choice of the safest
    root).
    """
    diagonal = np.append(np.trace(R), np.diag(R))
    k = int(np.argmax(diagonal))
    e = np.zeros(4)
    if k == 0:
        e[:] = 1 + diagonal[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        e[0] = R[l, j] - R[j, l]
        e[1 + i] = 1 + R[i, i] - R[j, j] - R[l, l]
        e[1 + j], e[1 + l] = R[j, i] + R[i, j], R[l, i] + R[i, l]
    w, x, y, z = (float(v) for v in e / np.linalg.norm(e))
    return w, x, y, z


def exact_rotation(R: Numbers) -> list[list[Fraction]]:
    """The rotation nearest to R whose entries are fractions, orthogonal exactly."""
    entries = [_nearest_fraction(x) for x in _scale_to_unit_max(np.array(quaternion(R)))]
    # whole numbers in the same proportion
    common = math.lcm(*(x.denominator for x in entries))
    e = [x.numerator * (common // x.denominator) for x in entries]
    n = sum(x * x for x in e)
    return [[Fraction(x, n) for x in row] for row in _rotation_numerator(*e)]


def exact_axis(axis: Any) -> list[Fraction]:
    """The unit vector of fractions nearest to an axis: the last column of an exact rotation that
    takes z there.
    """
    n = np.asarray(axis, dtype=float)
    n = n / np.linalg.norm(n)
    k = int(np.argmax(np.abs(n)))
    if abs(n[k]) == 1:
        return [Fraction(int(x)) for x in n]
    # through the half-way direction between the nearest coordinate axis and n
    start = np.zeros(3)
    start[k] = np.sign(n[k])
    turn = np.array([1 + start @ n, *np.cross(start, n)])
    R = exact_rotation(rotation((turn[0], turn[1], turn[2], turn[3])))
    return [row[k] * int(start[k]) for row in R]


def _scale_to_unit_max(e: Numbers) -> Numbers:
    """e with its largest entry 1: right angles are then quaternions of 0 and ±1."""
    return np.asarray(e / e[int(np.argmax(np.abs(e)))])


def _nearest_fraction(x: float) -> Fraction:
    near = round(x)
    return Fraction(near) if abs(x - near) < _FRACTION_TOLERANCE else Fraction(f"{x:.{_DIGITS}g}")


@dataclass(frozen=True)
class BodyAttachment:
    """A frame that moves, a point of it, and the constant pose of a body seen from there."""

    frame: Frame
    point: Point
    pose: Pose

    def compose(self, offset: Pose) -> BodyAttachment:
        """A body that stands still on the same frame."""
        return BodyAttachment(self.frame, self.point, self.pose @ offset)

    def vector(self, x: Any) -> Vector:
        """A vector given in the axes of the body."""
        return vector(self.frame, self.pose.R @ np.asarray(x, dtype=float))

    def at(self, x: Any, name: str | None = None) -> Point:
        """The point of the body at x, riding on the moving frame."""
        return self.point.offset(vector(self.frame, self.pose.point(x)), name, self.frame)

    def body_frame(self, further: Any = None) -> Frame:
        """A frame along the axes of the body (turned further), fixed in the moving frame."""
        R = self.pose.R if further is None else self.pose.R @ further
        exact = exact_rotation(R)
        return self.frame if exact == _ONE else self.frame.oriented(exact)


def to_fractions(x: Any) -> list[Fraction]:
    """Numbers by 15 decimals, as far as floats mean anything; what is rounding of the largest is
    zero.
    """
    values = np.asarray(x, dtype=float).ravel()
    largest = float(np.max(np.abs(values), initial=0.0))
    return [
        to_fraction(v) if abs(v) > _ROUNDING * largest else Fraction(0) for v in values.tolist()
    ]


def to_fraction(v: float) -> Fraction:
    """A number by its first 15 digits, as an integer over a power of ten."""
    digits, exponent = f"{v:.14e}".replace(".", "").split("e")
    power = int(exponent) - 14
    return Fraction(int(digits) * 10**power) if power >= 0 else Fraction(int(digits), 10**-power)


def vector(F: Frame, x: Any) -> Vector:
    """x₁ f₁ + x₂ f₂ + x₃ f₃"""
    a, b, c = to_fractions(x)
    return a * F.x + b * F.y + c * F.z
