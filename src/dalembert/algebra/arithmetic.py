"""Arithmetics to evaluate a tape in: floats and arrays of floats."""

from __future__ import annotations

import math
import sys
from typing import Any

from dalembert.algebra.tape import Number
from dalembert.errors import BadExpression


class Floats:
    """Double precision, one state at a time."""

    def const(self, value: Number) -> float:
        try:
            return float(value)
        except OverflowError:
            msg = f"a number of more than {sys.float_info.max_10_exp} digits cannot be computed with in floating point"
            raise BadExpression(msg) from None

    def pi(self) -> float:
        return math.pi

    def add(self, a: float, b: float) -> float:
        return a + b

    def sub(self, a: float, b: float) -> float:
        return a - b

    def mul(self, a: float, b: float) -> float:
        return a * b

    def div(self, a: float, b: float) -> float:
        return a / b

    def neg(self, a: float) -> float:
        return -a

    def atan2(self, a: float, b: float) -> float:
        return math.atan2(a, b)

    def call(self, function: str, a: float, node: int) -> float:  # noqa: ARG002 - the angle's identity does not matter here
        if function == "abs":
            return abs(a)
        if function == "sign":
            return math.copysign(1.0, a) if a > 0 or a < 0 else a
        return float(getattr(math, function)(a))


class Arrays(Floats):
    """Double precision, many states at once, by numpy."""

    def __init__(self) -> None:
        import numpy

        self.numpy = numpy

    def atan2(self, a: Any, b: Any) -> Any:
        return self.numpy.arctan2(a, b)

    def call(self, function: str, a: Any, node: int) -> Any:  # noqa: ARG002 - the angle's identity does not matter here
        names = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
        return getattr(self.numpy, names.get(function, function))(a)
