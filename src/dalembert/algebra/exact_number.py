"""√2, sin 3/10, π²: numbers that stay exact wherever an expression takes them up.

They are trees that belong to no system, with their value beside them, and are written on the tape of the system that uses them.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from dalembert.algebra.tape import Tape
from dalembert.errors import BadExpression
from dalembert.once import MAKING

# digits that are the same for numbers that are equal, however they were reached
_HASHED: Final = 12
# values further apart, relative to their size, are not equal
_APART: Final = 1e-9
# a sum that a program goes on adding to is a float from so many operations on
_LARGEST: Final = 200
_POWER: Final = "power"
_QUOTIENTS: Final = {"tan": ("sin", "cos"), "tanh": ("sinh", "cosh")}


class ExactNumber:
    """A real number made of rationals, π and elementary functions; `==` is decided exactly, `<` by value.

    What is made of more than 200 operations, such as a sum that grows along a run, is a float.
    """

    __slots__ = ("operands", "operation", "size", "value")

    def __init__(self, operation: str, operands: tuple[Any, ...], value: float, size: int = 1) -> None:
        self.operation, self.operands, self.value, self.size = operation, operands, value, size

    def on(self, tape: Tape) -> int:
        """The same number on the tape of a system."""
        from dalembert.algebra.scalar import Scalar, on

        given = [on(tape, x) for x in self.operands]
        if self.operation == _POWER:
            return (Scalar(tape, given[0]) ** Scalar(tape, given[1])).i
        if self.operation in _RULES:
            return _RULES[self.operation][0](tape, *given)
        if self.operation in _QUOTIENTS:
            above, below = _QUOTIENTS[self.operation]
            return tape.div(tape.call(above, *given), tape.call(below, *given))
        return tape.call(self.operation, *given)

    def __add__(self, other: object) -> Any:
        return _combined("+", self, other)

    def __radd__(self, other: object) -> Any:
        return _combined("+", other, self)

    def __sub__(self, other: object) -> Any:
        return _combined("-", self, other)

    def __rsub__(self, other: object) -> Any:
        return _combined("-", other, self)

    def __mul__(self, other: object) -> Any:
        return _combined("*", self, other)

    def __rmul__(self, other: object) -> Any:
        return _combined("*", other, self)

    def __truediv__(self, other: object) -> Any:
        return _combined("/", self, other)

    def __rtruediv__(self, other: object) -> Any:
        return _combined("/", other, self)

    def __pow__(self, k: Any) -> Any:
        return _combined(_POWER, self, k)

    def __rpow__(self, a: Any) -> Any:
        return _combined(_POWER, a, self)

    def __neg__(self) -> Any:
        return _combined("-", 0, self)

    def __pos__(self) -> ExactNumber:
        return self

    def __abs__(self) -> Any:
        return self if self.value >= 0 else -self

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        return int(self.value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """NumPy computes with its value."""
        import numpy as np

        return np.asarray(self.value, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        if not is_number(other):
            return False
        x, y = self.value, float(other)  # type: ignore[arg-type]
        return abs(x - y) <= _APART * max(abs(x), abs(y), 1.0) and _equal(self, other)

    def __hash__(self) -> int:
        return hash(round(self.value, _HASHED))

    def __lt__(self, other: Any) -> bool:
        return self.value < float(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > float(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= float(other)

    def __bool__(self) -> bool:
        return self != 0

    def __str__(self) -> str:
        from dalembert.algebra.scalar import Scalar

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


def applied(function: str, value: float, *x: Any) -> ExactNumber:
    """function(x) of numbers, whose value is known."""
    return ExactNumber(function, x, value, 1 + sum(_size(each) for each in x))


def is_number(x: object) -> bool:
    """Whether it is a real number of any kind, which an expression is not."""
    return isinstance(x, numbers.Real | Decimal) and not isinstance(x, bool) and math.isfinite(x)


def _size(x: object) -> int:
    return x.size if isinstance(x, ExactNumber) else 1


def _combined(operation: str, a: Any, b: Any) -> Any:
    if not (is_number(a) and is_number(b)):
        return NotImplemented
    try:
        value = _RULES[operation][1](float(a), float(b))
    except ArithmeticError as problem:
        msg = f"{a} {operation} {b}: {problem}"
        raise BadExpression(msg) from None
    if isinstance(value, complex):
        msg = f"({a})**({b}) is complex: dalembert computes with real numbers"
        raise BadExpression(msg)
    return applied(operation, value, a, b) if _size(a) + _size(b) < _LARGEST else value


def _equal(a: Any, b: Any) -> bool:
    """Decided as for expressions."""
    from dalembert.algebra.exact.field import shown_zero
    from dalembert.algebra.scalar import on

    tape = Tape()
    with MAKING:
        return bool(shown_zero(tape, [tape.sub(on(tape, a), on(tape, b))])[0])
