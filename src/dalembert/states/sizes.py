"""|x|: how large an expression could be if its terms did not cancel, as another expression.

    |a ± b| ← |a| + |b|,   |a b| ← |a| |b|,   |a / b| ← |a| / b,   |f(a)| ← |f(a)| + |f′(a)| |a|

A residual is to be measured against this: seven parts in 10¹⁸ of terms of size one are rounding, not a violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dalembert.algebra.folds import evaluate
from dalembert.algebra.tape import Number, Tape


class Sized(NamedTuple):
    """A node and the size of the terms it is made of, a node too."""

    value: int
    size: int


def sizes(tape: Tape, nodes: Sequence[int]) -> list[int]:
    """The sizes of nodes, on the same tape."""
    arithmetic = SymbolSizes(tape)
    return [x.size for x in evaluate(tape, nodes, arithmetic.symbol, arithmetic)]


class SymbolSizes:
    """Arithmetic of nodes with their sizes."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def symbol(self, i: int) -> Sized:
        """A symbol by itself."""
        return Sized(i, self._tape.call("abs", i))

    def const(self, value: Number) -> Sized:
        i = self._tape.const(value)
        return Sized(i, self._tape.call("abs", i))

    def pi(self) -> Sized:
        return Sized(self._tape.pi, self._tape.pi)

    def add(self, a: Sized, b: Sized) -> Sized:
        return Sized(self._tape.add(a.value, b.value), self._tape.add(a.size, b.size))

    def sub(self, a: Sized, b: Sized) -> Sized:
        return Sized(self._tape.sub(a.value, b.value), self._tape.add(a.size, b.size))

    def mul(self, a: Sized, b: Sized) -> Sized:
        return Sized(self._tape.mul(a.value, b.value), self._tape.mul(a.size, b.size))

    def div(self, a: Sized, b: Sized) -> Sized:
        # a denominator that nearly vanishes is a singular position, which rounding does not excuse
        return Sized(self._tape.div(a.value, b.value), self._tape.div(a.size, self._tape.call("abs", b.value)))

    def neg(self, a: Sized) -> Sized:
        return Sized(self._tape.neg(a.value), a.size)

    def atan2(self, a: Sized, b: Sized) -> Sized:
        t = self._tape
        value, square = t.atan2(a.value, b.value), t.add(t.mul(a.value, a.value), t.mul(b.value, b.value))
        whole = t.add(square, t.sub(t.one, t.call("sign", square)))
        moved = t.add(t.mul(t.call("abs", b.value), a.size), t.mul(t.call("abs", a.value), b.size))
        return Sized(value, t.add(t.call("abs", value), t.div(moved, whole)))

    def call(self, function: str, a: Sized, node: int) -> Sized:  # noqa: ARG002 - which angle it is does not matter here
        t = self._tape
        value = t.call(function, a.value)
        if function in ("abs", "sign"):
            return Sized(value, a.size if function == "abs" else t.one)
        return Sized(value, t.add(t.call("abs", value), t.mul(_slope(t, function, a.value, value), a.size)))


def _slope(t: Tape, function: str, x: int, value: int) -> int:
    """|f′(x)|, where f(x) is known; 1 where it is infinite: the size of the value says enough there."""
    if function in ("sin", "cos"):
        return t.one
    if function in ("sinh", "cosh"):
        return t.call("cosh", x)
    if function == "exp":
        return value
    square = t.mul(x, x)
    if function == "atan":
        return t.div(t.one, t.add(t.one, square))
    squared = {"asin": t.sub(t.one, square), "acos": t.sub(t.one, square), "sqrt": t.mul(t.const(4), x), "log": square}[function]
    # 1 where it is positive, otherwise 0
    sign = t.call("sign", squared)
    positive = t.div(t.mul(sign, t.add(t.one, sign)), t.const(2))
    return t.div(t.one, t.call("sqrt", t.add(t.mul(positive, squared), t.sub(t.one, positive))))
