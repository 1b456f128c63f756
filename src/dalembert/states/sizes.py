"""(x, |x|): what an expression is worth, and how large it could be if its terms did not cancel.

    |a ± b| ← |a| + |b|,   |a b| ← |a| |b|,   |a / b| ← |a| / b,   |f(a)| ← |f(a)| + |f′(a)| |a|

A residual is to be measured against this: seven parts in 10¹⁸ of terms of size one are rounding, not a violation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.tape import Number


class Sized(NamedTuple):
    """A value and the size of the terms it is made of."""

    value: float
    size: float


class SymbolSizes:
    """Arithmetic of values with their sizes."""

    def __init__(self) -> None:
        self._floats = Floats()

    def const(self, value: Number) -> Sized:
        return sized(self._floats.const(value))

    def pi(self) -> Sized:
        return sized(math.pi)

    def add(self, a: Sized, b: Sized) -> Sized:
        return Sized(a.value + b.value, a.size + b.size)

    def sub(self, a: Sized, b: Sized) -> Sized:
        return Sized(a.value - b.value, a.size + b.size)

    def mul(self, a: Sized, b: Sized) -> Sized:
        return Sized(a.value * b.value, a.size * b.size)

    def div(self, a: Sized, b: Sized) -> Sized:
        # a denominator that nearly vanishes is a singular position, which rounding does not excuse
        return Sized(a.value / b.value, a.size / abs(b.value))

    def neg(self, a: Sized) -> Sized:
        return Sized(-a.value, a.size)

    def atan2(self, a: Sized, b: Sized) -> Sized:
        value, square = math.atan2(a.value, b.value), a.value**2 + b.value**2
        return Sized(value, abs(value) + (abs(b.value) * a.size + abs(a.value) * b.size) / (square or 1.0))

    def call(self, function: str, a: Sized, node: int) -> Sized:
        value = self._floats.call(function, a.value, node)
        if function in ("abs", "sign"):
            return Sized(value, a.size if function == "abs" else 1.0)
        return Sized(value, abs(value) + abs(_slope(function, a.value, value)) * a.size)


def sized(x: float) -> Sized:
    """A number by itself."""
    return Sized(x, abs(x))


def _slope(function: str, x: float, value: float) -> float:
    """f′(x), where f(x) is known; 1 where it is infinite: the size of the value says enough there."""
    if function in ("sin", "cos"):
        return 1.0
    if function in ("sinh", "cosh"):
        return math.cosh(x)
    if function == "exp":
        return value
    squared = {"asin": 1.0 - x * x, "acos": 1.0 - x * x, "sqrt": 4.0 * x, "log": x * x, "atan": (1.0 + x * x) ** 2}[function]
    return 1.0 / math.sqrt(squared) if squared > 0.0 else 1.0
