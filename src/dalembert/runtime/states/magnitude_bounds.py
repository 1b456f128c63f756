"""|x|: how large an expression could be if its terms did not cancel, as another expression.

    |a ± b| ← |a| + |b|,   |a b| ← |a| |b|,   |a / b| ← |a| / b,   |f(a)| ← |f(a)| + |f′(a)| |a|

A residual is to be measured against this: seven parts in 10¹⁸ of terms of size one are rounding,
not a violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.functions import cosh, sign, sqrt
from dalembert.symbolic.algebra.scalar import Scalar, apply
from dalembert.symbolic.algebra.tape import Number, Tape


class BoundedValue(NamedTuple):
    """An expression and the size of the terms it is made of."""

    value: Scalar
    size: Scalar


def magnitude_bounds(tape: Tape, nodes: Sequence[int]) -> list[int]:
    """The sizes of nodes, on the same tape."""
    arithmetic = MagnitudeArithmetic(tape)
    return [x.size.i for x in evaluate(tape, nodes, arithmetic.symbol, arithmetic)]


def sums_of_terms(tape: Tape, nodes: Sequence[int]) -> list[int]:
    """Σ |term| of nodes, on the same tape; functions count by their values."""
    arithmetic = TermArithmetic(tape)
    return [x.size.i for x in evaluate(tape, nodes, arithmetic.symbol, arithmetic)]


class MagnitudeArithmetic:
    """Arithmetic of expressions with their sizes."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def symbol(self, i: int) -> BoundedValue:
        """A symbol by itself."""
        x = Scalar(self._tape, i)
        return BoundedValue(x, abs(x))

    def const(self, value: Number) -> BoundedValue:
        return self.symbol(self._tape.const(value))

    def pi(self) -> BoundedValue:
        return self.symbol(self._tape.pi)

    def add(self, a: BoundedValue, b: BoundedValue) -> BoundedValue:
        return BoundedValue(a.value + b.value, a.size + b.size)

    def sub(self, a: BoundedValue, b: BoundedValue) -> BoundedValue:
        return BoundedValue(a.value - b.value, a.size + b.size)

    def mul(self, a: BoundedValue, b: BoundedValue) -> BoundedValue:
        return BoundedValue(a.value * b.value, a.size * b.size)

    def div(self, a: BoundedValue, b: BoundedValue) -> BoundedValue:
        # a denominator that nearly vanishes is a singular position, which rounding does not excuse
        return BoundedValue(a.value / b.value, a.size / abs(b.value))

    def neg(self, a: BoundedValue) -> BoundedValue:
        return BoundedValue(-a.value, a.size)

    def atan2(self, a: BoundedValue, b: BoundedValue) -> BoundedValue:
        (y, dy), (x, dx) = a, b
        value, square = Scalar(y.tape, y.tape.atan2(y.i, x.i)), y * y + x * x
        moved = abs(x) * dy + abs(y) * dx
        return BoundedValue(value, abs(value) + moved / (square + (1 - sign(square))))

    def interval(self, a: BoundedValue, b: BoundedValue) -> BoundedValue:
        return self.symbol(self._tape.interval(a.value.i, b.value.i))

    def lookup(self, a: BoundedValue, b: BoundedValue) -> BoundedValue:
        return self.symbol(self._tape.lookup(a.value.i, b.value.i))

    # which angle it is does not matter here
    def call(self, function: str, a: BoundedValue, node: int) -> BoundedValue:  # noqa: ARG002
        value = apply(function, a.value)
        if function in ("abs", "sign"):
            return BoundedValue(
                value, a.size if function == "abs" else Scalar(self._tape, self._tape.one)
            )
        return BoundedValue(
            value, abs(value) + _derivative_bound(function, a.value, value) * a.size
        )


class TermArithmetic(MagnitudeArithmetic):
    """The same for arguments that are exact: |f(a)| is the size of f(a)."""

    def atan2(self, a: BoundedValue, b: BoundedValue) -> BoundedValue:
        value = Scalar(a.value.tape, a.value.tape.atan2(a.value.i, b.value.i))
        return BoundedValue(value, abs(value))

    # which angle it is does not matter here
    def call(self, function: str, a: BoundedValue, node: int) -> BoundedValue:  # noqa: ARG002
        value = apply(function, a.value)
        return BoundedValue(value, abs(value))


def _derivative_bound(function: str, x: Scalar, value: Scalar) -> Scalar | int:
    """|f′(x)|, where f(x) is known; 1 where it is infinite: the size of the value says enough
    there.
    """
    if function in ("sin", "cos"):
        return 1
    if function in ("sinh", "cosh"):
        return cosh(x)
    if function == "exp":
        return value
    if function == "atan":
        return 1 / (1 + x * x)
    # 1/f′²
    squared = {"asin": 1 - x * x, "acos": 1 - x * x, "sqrt": 4 * x, "log": x * x}[function]
    # 1 where it is positive, otherwise 0
    positive = sign(squared) * (1 + sign(squared)) / 2
    return 1 / sqrt(positive * squared + (1 - positive))
