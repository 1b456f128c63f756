"""√2, sin 3/10, π²: numbers that stay exact wherever an expression takes them up.

They are trees that belong to no system, that carry their value, and are written on the tape of the
system that uses them; a + b π with rational a and b is a kind of its own.

`math.pi / 2` is a decimal like any other, a little off. So a typed number that lies within four
units in the last place of k π/n, n dividing 360, is read as that (`k * math.pi / 180` misses the
nearest double for a third of all degrees).
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from dalembert.errors import BadExpression
from dalembert.foundation.caching import COMPUTE_LOCK
from dalembert.symbolic.algebra.tape import Tape

# digits that are the same for numbers that are equal, however they were reached
_HASHED: Final = 12
# values further apart, relative to their size, are not equal
_EQUAL_RTOL: Final = 1e-9
# a sum to which a program keeps adding becomes a float after this number of operations
_LARGEST: Final = 200
_POWER: Final = "power"
_QUOTIENTS: Final = {"tan": ("sin", "cos"), "tanh": ("sinh", "cosh")}


def _by_value(rule: Callable[[float, float], Any]) -> Callable[[Any, object], Any]:
    """The method that computes with the values of two real numbers."""

    def answer(a: Any, b: Any) -> Any:
        real = all(isinstance(x, numbers.Real | Decimal) for x in (a, b))
        return rule(float(a), float(b)) if real else NotImplemented

    return answer


class _FloatComparisons:
    """What Python needs of a real number in addition to its arithmetic: order, parts, rounding;
    answered by its value.
    """

    __slots__ = ()

    def __int__(self) -> int:
        return int(float(self))  # type: ignore[arg-type]

    __trunc__ = __int__

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)  # type: ignore[arg-type]

    __floordiv__ = _by_value(operator.floordiv)
    __rfloordiv__ = _by_value(lambda a, b: b // a)
    __mod__ = _by_value(operator.mod)
    __rmod__ = _by_value(lambda a, b: b % a)
    __divmod__ = _by_value(divmod)
    __lt__ = _by_value(operator.lt)
    __le__ = _by_value(operator.le)
    __gt__ = _by_value(operator.gt)
    __ge__ = _by_value(operator.ge)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """NumPy computes with its value."""
        import numpy as np

        return np.asarray(float(self), dtype=dtype)  # type: ignore[arg-type]


def operators(operation: str) -> tuple[Callable[[Any, object], Any], Callable[[Any, object], Any]]:
    """The methods x + y and y + x."""
    return lambda x, y: exact_operation(operation, x, y), lambda x, y: exact_operation(
        operation, y, x
    )


class ExactNumber(_FloatComparisons):
    """A real number made of rationals, π and elementary functions; `==` is true where equality was
    shown exactly, `<` is by value.

    Values of arcus functions are not known by heart: da.atan(1) == da.pi/4 was not shown, and is
    false.

    What is made of more than 200 operations, such as a sum that grows along a run, is a float.
    """

    __slots__ = ("operands", "operation", "size", "value")

    def __init__(
        self, operation: str, operands: tuple[Any, ...], value: float, size: int = 1
    ) -> None:
        self.operation, self.operands, self.value, self.size = operation, operands, value, size

    def on(self, tape: Tape) -> int:
        """The same number on the tape of a system."""
        from dalembert.symbolic.algebra.scalar import Scalar, as_node

        given = [as_node(tape, x) for x in self.operands]
        if self.operation == _POWER:
            return (Scalar(tape, given[0]) ** Scalar(tape, given[1])).i
        if self.operation in _RULES:
            return _RULES[self.operation][0](tape, *given)
        if self.operation in _QUOTIENTS:
            above, below = _QUOTIENTS[self.operation]
            return tape.div(tape.call(above, *given), tape.call(below, *given))
        return tape.call(self.operation, *given)

    __add__, __radd__ = operators("+")
    __sub__, __rsub__ = operators("-")
    __mul__, __rmul__ = operators("*")
    __truediv__, __rtruediv__ = operators("/")
    __pow__, __rpow__ = operators(_POWER)

    def __neg__(self) -> Any:
        return exact_operation("-", 0, self)

    def __pos__(self) -> ExactNumber:
        return self

    def __abs__(self) -> Any:
        return self if self.value >= 0 else -self

    def __float__(self) -> float:
        return self.value

    def __eq__(self, other: object) -> bool:
        if not is_number(other):
            return NotImplemented
        x, y = self.value, float(other)  # type: ignore[arg-type]
        return abs(x - y) <= _EQUAL_RTOL * max(abs(x), abs(y), 1.0) and _equal(self, other)

    def __hash__(self) -> int:
        return hash(round(self.value, _HASHED))

    def __bool__(self) -> bool:
        return self != 0

    def __str__(self) -> str:
        from dalembert.symbolic.algebra.scalar import Scalar

        tape = Tape()
        return str(Scalar(tape, self.on(tape)))

    __repr__ = __str__

    def __format__(self, form: str) -> str:
        return format(self.value, form) if form else str(self)


# numbers like this may stand wherever a float may
numbers.Real.register(ExactNumber)

# on a tape, and of values
_RULES: Final[dict[str, tuple[Callable[..., int], Callable[..., float]]]] = {
    "+": (Tape.add, lambda a, b: a + b),
    "-": (Tape.sub, lambda a, b: a - b),
    "*": (Tape.mul, lambda a, b: a * b),
    "/": (Tape.div, lambda a, b: a / b),
    _POWER: (Tape.power, lambda a, b: a**b),
    "atan2": (Tape.atan2, math.atan2),
}


def exact_function(function: str, value: float, *x: Any) -> ExactNumber:
    """function(x) of numbers, whose value is known."""
    return ExactNumber(function, x, value, 1 + sum(_size(each) for each in x))


def is_number(x: object) -> bool:
    """Whether it is a real number of any kind, which an expression is not."""
    return isinstance(x, numbers.Real | Decimal) and not isinstance(x, bool) and math.isfinite(x)


def _size(x: object) -> int:
    return x.size if isinstance(x, ExactNumber) else 1


def exact_operation(operation: str, a: Any, b: Any) -> Any:
    """a + b, a·b, a/b, aᵇ of numbers one of which is exact."""
    for x in (a, b):
        if isinstance(x, float) and not math.isfinite(x):
            msg = f"{x} is not a finite number"
            raise BadExpression(msg)
    if not (is_number(a) and is_number(b)):
        return NotImplemented
    if operation == _POWER and float(b) > 0 and is_zero(a):
        return 0
    divisor = b if operation == "/" else a if operation == _POWER and float(b) < 0 else 1
    if is_zero(divisor):
        msg = (
            f"({a})/({b}): division by zero"
            if operation == "/"
            else f"({a})**({b}): a power of zero that divides by it"
        )
        raise BadExpression(msg)
    try:
        value = _RULES[operation][1](float(a), float(b))
    except ArithmeticError as problem:
        msg = f"{a} {operation} {b}: {problem}"
        raise BadExpression(msg) from None
    if math.isinf(value.real):
        msg = f"{float(a):g} {operation} {float(b):g} is larger than any floating-point number"
        raise BadExpression(msg)
    if isinstance(value, complex):
        msg = f"({a})**({b}) is complex: dalembert computes with real numbers"
        raise BadExpression(msg)
    return exact_function(operation, value, a, b) if _size(a) + _size(b) < _LARGEST else value


def is_zero(x: Any) -> bool:
    """Whether a number is zero: an exact one exactly."""
    return abs(float(x)) <= _EQUAL_RTOL and bool(x == 0)


def _equal(a: Any, b: Any) -> bool:
    """Decided as for expressions."""
    from dalembert.symbolic.algebra.exact.zero_test import provably_zero
    from dalembert.symbolic.algebra.scalar import as_node

    tape = Tape()
    with COMPUTE_LOCK:
        return bool(provably_zero(tape, [tape.sub(as_node(tape, a), as_node(tape, b))])[0])


# ---- π -------------------------------------------------------------------------------------------

# forty digits, which is more than four units in the last place of a double need
_PI: Final = Fraction("3.141592653589793238462643383279502884197")
_PARTS: Final = 360
_ULPS: Final = 4
# beyond, multiples of π/360 are no longer far apart compared with what doubles resolve
_LARGEST_ANGLE: Final = 1000.0


class PiNumber(_FloatComparisons):
    """a + b π"""

    __slots__ = ("a", "b")

    def __init__(self, a: Fraction, b: Fraction) -> None:
        self.a, self.b = a, b

    def __add__(self, other: object) -> PiNumber:
        x = _as_pi_number(other)
        return NotImplemented if x is None else PiNumber(self.a + x.a, self.b + x.b)

    __radd__ = __add__

    def __neg__(self) -> PiNumber:
        return PiNumber(-self.a, -self.b)

    def __pos__(self) -> PiNumber:
        return self

    def __abs__(self) -> PiNumber:
        return self if float(self) >= 0 else -self

    def __sub__(self, other: object) -> PiNumber:
        x = _as_pi_number(other)
        return NotImplemented if x is None else PiNumber(self.a - x.a, self.b - x.b)

    def __rsub__(self, other: object) -> PiNumber:
        return -self + other

    def __mul__(self, other: object) -> Any:
        x = _as_pi_number(other)
        if x is None:
            return NotImplemented
        if x.b and self.b:
            return exact_function("*", float(self) * float(x), self, x)
        return PiNumber(self.a * x.a, self.a * x.b + self.b * x.a)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        x = _as_pi_number(other)
        if x is None:
            return NotImplemented
        if x == 0:
            msg = f"({self})/({other}): divide π by a number other than zero"
            raise BadExpression(msg)
        if x.b:
            return exact_function("/", float(self) / float(x), self, x)
        return PiNumber(self.a / x.a, self.b / x.a)

    def __rtruediv__(self, other: object) -> Any:
        x = _as_pi_number(other)
        return NotImplemented if x is None else exact_operation("/", x, self)

    __pow__, __rpow__ = operators("power")

    def __format__(self, form: str) -> str:
        return format(float(self), form) if form else repr(self)

    def __float__(self) -> float:
        return float(self.a + self.b * _PI)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ExactNumber):
            return other == self
        return (
            (self.a, self.b) == (other.a, other.b)
            if isinstance(other, PiNumber)
            else not self.b and self.a == other
        )

    def __hash__(self) -> int:
        return hash((self.a, self.b)) if self.b else hash(self.a)

    def __repr__(self) -> str:
        times = (
            ""
            if abs(self.b) == 1
            else f"{abs(self.b.numerator)} "
            if abs(self.b.numerator) != 1
            else ""
        )
        part = f"{times}π" + (f"/{self.b.denominator}" if self.b.denominator != 1 else "")
        if not self.a and self.b:
            return f"{'−' * (self.b < 0)}{part}"
        return f"{self.a} {'−' if self.b < 0 else '+'} {part}" if self.b else str(self.a)


# numbers like this may stand wherever a float may
numbers.Real.register(PiNumber)

pi: Final = PiNumber(Fraction(0), Fraction(1))


def _as_pi_number(x: object) -> PiNumber | None:
    """A number in an exact sum or product; None for what is no number, such as an expression."""
    from dalembert.symbolic.algebra.scalar import exact

    if isinstance(x, PiNumber):
        return x
    if isinstance(x, bool | ExactNumber) or not isinstance(x, numbers.Real | Decimal):
        return None
    return PiNumber(Fraction(exact(x)), Fraction(0))


def multiple_of_pi(x: float) -> Fraction | None:
    """k/n where x is k π/n for an n that divides 360, within four units in the last place; None
    for any other number.
    """
    if not 0 < abs(x) <= _LARGEST_ANGLE:
        return None
    k = round(x * _PARTS / math.pi)
    off = Fraction(x) - _PI * k / _PARTS
    return Fraction(k, _PARTS) if k and abs(off) <= _ULPS * Fraction(math.ulp(x)) else None
