"""x ∈ [m − r, m + r]: arithmetic that carries its own error bound, fifty digits by default.

A result whose ball does not contain zero is certainly not zero. Balls confirm a disagreement where the prime field
cannot keep every relation (logarithms, order), and they decide at states that only exist numerically.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dalembert.algebra.folds import evaluate
from dalembert.algebra.scalar import exact
from dalembert.algebra.tape import Number, Tape
from dalembert.errors import Unknown

if TYPE_CHECKING:
    from flint import arb

_NAMES: Final = {"sign": "sgn", "abs": "__abs__"}
# digits beyond those asked for, to pay for rounding along a long tape
_GUARD_DIGITS: Final = 15


class Balls:
    """Real balls at the precision that flint's context has while they are made."""

    def __init__(self) -> None:
        import flint

        self._arb, self._fmpq = flint.arb, flint.fmpq

    def const(self, value: Number) -> arb:
        return self._arb(self._fmpq(value.numerator, value.denominator))

    def pi(self) -> arb:
        return self._arb.pi()

    # the operators themselves: a method around each would cost as much as what it does
    add, sub, mul, div, neg = (staticmethod(rule) for rule in (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg))

    def atan2(self, a: arb, b: arb) -> arb:
        return self._arb.atan2(a, b)

    def call(self, function: str, a: arb, node: int) -> arb:  # noqa: ARG002 - the angle's identity does not matter here
        value: arb = getattr(a, _NAMES.get(function, function))()
        return value

    def ball(self, value: Any) -> arb:
        """A number as a ball: exact if it is rational, 9.81 as 981/100; a ball stays as it is."""
        return value if isinstance(value, self._arb) else self.const(exact(value))


def evaluate_balls(tape: Tape, outs: Sequence[int], symbol_values: Mapping[int, Any], digits: int = 50) -> list[arb]:
    """The values of `outs` as balls, computed with `digits` digits and some to spare.

    A division by a ball that contains zero, or the root of one that may be negative, gives a ball of everything (nan).
    """
    import flint

    with flint.ctx.workdps(digits + _GUARD_DIGITS):
        balls = Balls()

        def symbol(i: int) -> arb:
            if i not in symbol_values:
                msg = f"no value for {tape.nodes[i][1]}"
                raise Unknown(msg)
            return balls.ball(symbol_values[i])

        return evaluate(tape, outs, symbol, balls)


def contains_zero(ball: arb) -> bool:
    """Is zero possible? If not, the number is certainly not zero."""
    return bool(ball.contains(0))


def vanish(tape: Tape, outs: Sequence[int], symbol_values: Mapping[int, Any], digits: int = 50) -> list[bool | None]:
    """Whether each expression is zero at a state, as far as balls can tell.

    False: certainly not zero. True: zero to half of the digits at least. None: undecided, try more digits.
    """
    balls = evaluate_balls(tape, outs, symbol_values, digits)
    small = 10.0 ** -(digits // 2)
    return [None if contains_zero(x) and not x.abs_upper() < small else contains_zero(x) for x in balls]
