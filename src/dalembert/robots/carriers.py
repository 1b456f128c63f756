"""Where a body is: on which moving frame it rides, and how it stands there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.robots.poses import Pose, exact_rotation

# what is smaller than this part of the largest component is rounding
_ROUNDING: Final = 1e-14


@dataclass(frozen=True)
class Carrier:
    """A frame that moves, a point of it, and the constant pose of a body seen from there."""

    frame: Frame
    point: Point
    pose: Pose

    def moved(self, further: Pose) -> Carrier:
        """A body that stands still on the same frame."""
        return Carrier(self.frame, self.point, self.pose @ further)

    def vector(self, x: Any) -> Vector:
        """A vector given in the axes of the body."""
        return vector(self.frame, self.pose.R @ np.asarray(x, dtype=float))

    def at(self, x: Any, name: str | None = None) -> Point:
        """The point of the body at x, riding on the moving frame."""
        return self.point.offset(vector(self.frame, self.pose.point(x)), name, self.frame)

    def axes(self, further: Any = None, name: str | None = None) -> Frame:
        """A frame along the axes of the body (turned further), fixed in the moving frame."""
        R = self.pose.R if further is None else self.pose.R @ further
        exact = exact_rotation(R)
        return self.frame if exact == _ONE else self.frame.oriented(exact, name)


_ZERO: Final = Fraction(0)
_ONE: Final = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]


def decimals(x: Any) -> list[Fraction]:
    """Numbers by 15 decimals, as far as floats mean anything; what is rounding of the largest is zero."""
    values = np.asarray(x, dtype=float).ravel()
    largest = float(np.max(np.abs(values), initial=0.0))
    return [_decimal(v) if abs(v) > _ROUNDING * largest else _ZERO for v in values.tolist()]


def _decimal(v: float) -> Fraction:
    """15 digits as an integer over a power of ten."""
    digits, exponent = f"{v:.14e}".replace(".", "").split("e")
    power = int(exponent) - 14
    return Fraction(int(digits) * 10**power) if power >= 0 else Fraction(int(digits), 10**-power)


def vector(F: Frame, x: Any) -> Vector:
    """x₁ f₁ + x₂ f₂ + x₃ f₃"""
    a, b, c = decimals(x)
    return a * F.x + b * F.y + c * F.z
