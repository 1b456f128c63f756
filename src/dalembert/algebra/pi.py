"""π as a number: a + b π with rational a and b, exact wherever an expression takes it up.

`math.pi / 2` is a decimal like any other, a little off. So a typed number that lies within four units in the last place of
k π/n, n dividing 360, is read as that (`k * math.pi / 180` misses the nearest double for a third of all degrees).
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from dalembert.algebra.exact_number import ExactNumber, ReadByValue, applied, combined, operators
from dalembert.errors import BadExpression

# forty digits, which is more than four units in the last place of a double need
_PI: Final = Fraction("3.141592653589793238462643383279502884197")
_PARTS: Final = 360
_ULPS: Final = 4
# beyond, multiples of π/360 are no longer far apart compared with what doubles resolve
_LARGEST: Final = 1000.0


class PiNumber(ReadByValue):
    """a + b π"""

    __slots__ = ("a", "b")

    def __init__(self, a: Fraction, b: Fraction) -> None:
        self.a, self.b = a, b

    def __add__(self, other: object) -> PiNumber:
        x = _taken(other)
        return NotImplemented if x is None else PiNumber(self.a + x.a, self.b + x.b)

    __radd__ = __add__

    def __neg__(self) -> PiNumber:
        return PiNumber(-self.a, -self.b)

    def __pos__(self) -> PiNumber:
        return self

    def __abs__(self) -> PiNumber:
        return self if float(self) >= 0 else -self

    def __sub__(self, other: object) -> PiNumber:
        x = _taken(other)
        return NotImplemented if x is None else PiNumber(self.a - x.a, self.b - x.b)

    def __rsub__(self, other: object) -> PiNumber:
        return -self + other

    def __mul__(self, other: object) -> Any:
        x = _taken(other)
        if x is None:
            return NotImplemented
        if x.b and self.b:
            return applied("*", float(self) * float(x), self, x)
        return PiNumber(self.a * x.a, self.a * x.b + self.b * x.a)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        x = _taken(other)
        if x is None:
            return NotImplemented
        if x == 0:
            msg = f"({self})/({other}): divide π by a number other than zero"
            raise BadExpression(msg)
        if x.b:
            return applied("/", float(self) / float(x), self, x)
        return PiNumber(self.a / x.a, self.b / x.a)

    def __rtruediv__(self, other: object) -> Any:
        x = _taken(other)
        return NotImplemented if x is None else combined("/", x, self)

    __pow__, __rpow__ = operators("power")

    def __format__(self, form: str) -> str:
        return format(float(self), form) if form else repr(self)

    def __float__(self) -> float:
        return float(self.a + self.b * _PI)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ExactNumber):
            return other == self
        return (self.a, self.b) == (other.a, other.b) if isinstance(other, PiNumber) else not self.b and self.a == other

    def __hash__(self) -> int:
        return hash((self.a, self.b)) if self.b else hash(self.a)

    def __repr__(self) -> str:
        times = "" if abs(self.b) == 1 else f"{abs(self.b.numerator)} " if abs(self.b.numerator) != 1 else ""
        part = f"{times}π" + (f"/{self.b.denominator}" if self.b.denominator != 1 else "")
        if not self.a and self.b:
            return f"{'−' * (self.b < 0)}{part}"
        return f"{self.a} {'−' if self.b < 0 else '+'} {part}" if self.b else str(self.a)


# numbers like this may stand wherever a float may
numbers.Real.register(PiNumber)

pi: Final = PiNumber(Fraction(0), Fraction(1))


def _taken(x: object) -> PiNumber | None:
    """A number in an exact sum or product; None for what is no number, such as an expression."""
    from dalembert.algebra.scalar import exact

    if isinstance(x, PiNumber):
        return x
    if isinstance(x, bool | ExactNumber) or not isinstance(x, numbers.Real | Decimal):
        return None
    return PiNumber(Fraction(exact(x)), Fraction(0))


def multiple_of_pi(x: float) -> Fraction | None:
    """k/n where x is k π/n for an n that divides 360, within four units in the last place; None for any other number."""
    if not 0 < abs(x) <= _LARGEST:
        return None
    k = round(x * _PARTS / math.pi)
    off = Fraction(x) - _PI * k / _PARTS
    return Fraction(k, _PARTS) if k and abs(off) <= _ULPS * Fraction(math.ulp(x)) else None
