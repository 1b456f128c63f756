"""Arithmetics to evaluate a tape in: floats, arrays of floats, and balls.

x ∈ [m − r, m + r]: a ball carries its own error bound, fifty digits by default. A result whose ball
does not contain zero is certainly not zero. Balls confirm a disagreement where the prime field
cannot keep every relation (logarithms, order), and they decide at states that only exist
numerically.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import BadExpression, Unknown
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of
from dalembert.symbolic.algebra.scalar import exact
from dalembert.symbolic.algebra.tape import Number, Tape

if TYPE_CHECKING:
    from flint import arb

NUMPY_NAMES: Final = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_BALL_NAMES: Final = {"sign": "sgn", "abs": "__abs__"}
_DIGITS: Final = 50
# of what moves, taken in turn, at the states that are tried one after the other
_SIGNS: Final = ((1, 1), (-1, -1), (1, -1), (-1, 1))
# digits beyond those asked for, to pay for rounding along a long tape
_GUARD_DIGITS: Final = 15


class _OperatorArithmetic:
    """Python's operators themselves: a method around each would cost as much as what it does."""

    add, sub, mul, div, neg = (
        staticmethod(rule)
        for rule in (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg)
    )

    def interval(self, a: Any, b: Any) -> Any:
        """The number of knots ≤ a."""
        from dalembert.symbolic.algebra import data_arrays

        return data_arrays.interval(a, b)

    def lookup(self, a: Any, b: Any) -> Any:
        """Entry a of an array."""
        from dalembert.symbolic.algebra import data_arrays

        return data_arrays.lookup(a, b)


class FloatArithmetic(_OperatorArithmetic):
    """Double precision, one state at a time."""

    def const(self, value: Number) -> float:
        try:
            return float(value)
        except OverflowError:
            msg = (
                f"a number of more than {sys.float_info.max_10_exp} digits cannot be computed "
                f"with in floating point"
            )
            raise BadExpression(msg) from None

    def pi(self) -> float:
        return math.pi

    def atan2(self, a: float, b: float) -> float:
        return math.atan2(a, b)

    # the angle's identity does not matter here
    def call(self, function: str, a: float, node: int) -> float:  # noqa: ARG002
        if function == "abs":
            return abs(a)
        if function == "sign":
            return math.copysign(1.0, a) if a > 0 or a < 0 else a
        return float(getattr(math, function)(a))


class ArrayArithmetic(FloatArithmetic):
    """Double precision, many states at once, by numpy."""

    def __init__(self) -> None:
        import numpy

        self.numpy = numpy

    def atan2(self, a: Any, b: Any) -> Any:
        return self.numpy.arctan2(a, b)

    # the angle's identity does not matter here
    def call(self, function: str, a: Any, node: int) -> Any:  # noqa: ARG002
        return getattr(self.numpy, NUMPY_NAMES.get(function, function))(a)


class BallArithmetic(_OperatorArithmetic):
    """Real balls at the precision that flint's context has while they are made."""

    def __init__(self) -> None:
        import flint

        self._arb, self._fmpq = flint.arb, flint.fmpq

    def const(self, value: Number) -> arb:
        return self._arb(self._fmpq(value.numerator, value.denominator))

    def pi(self) -> arb:
        return self._arb.pi()

    def atan2(self, a: arb, b: arb) -> arb:
        return self._arb.atan2(a, b)

    def interval(self, a: arb, b: arb) -> arb:
        """All numbers of knots that lie below a point of the ball."""
        from dalembert.symbolic.algebra import data_arrays

        handle = float(b.mid())
        low, high = (data_arrays.interval(float(x), handle) for x in (a.lower(), a.upper()))
        return self._arb(low).union(self._arb(high))

    def lookup(self, a: arb, b: arb) -> arb:
        """All entries between the ends of the ball."""
        from dalembert.symbolic.algebra import data_arrays

        values = data_arrays.column_values(float(b.mid()))
        if values is None or not a.is_finite():
            return self._arb("nan")
        low, high = (min(max(round(float(x)), 0), len(values) - 1) for x in (a.lower(), a.upper()))
        part = values[low : high + 1]
        return self._arb(float(part.min())).union(self._arb(float(part.max())))

    # the angle's identity does not matter here
    def call(self, function: str, a: arb, node: int) -> arb:  # noqa: ARG002
        value: arb = getattr(a, _BALL_NAMES.get(function, function))()
        return value

    def ball(self, value: Any) -> arb:
        """A number as a ball: exact if it is rational, 9.81 as 981/100; a ball stays as it is."""
        return value if isinstance(value, self._arb) else self.const(exact(value))


def evaluate_balls(
    tape: Tape, outs: Sequence[int], symbol_values: Mapping[int, Any], digits: int = _DIGITS
) -> list[arb]:
    """The values of `outs` as balls, computed with `digits` digits and some to spare.

    A division by a ball that contains zero, or the root of one that may be negative, gives a ball
    of everything (nan).
    """
    import flint

    with flint.ctx.workdps(digits + _GUARD_DIGITS):
        balls = BallArithmetic()

        def symbol(i: int) -> arb:
            if i not in symbol_values:
                msg = f"no value for {tape.nodes[i][1]}"
                raise Unknown(msg)
            return balls.ball(symbol_values[i])

        return evaluate(tape, outs, symbol, balls)


def is_regular_somewhere(tape: Tape, rows: Sequence[Mapping[int, int]]) -> bool:
    """Whether a square matrix, by its rows {column: entry}, is certainly regular at some state;
    nothing is claimed where it is not.

    At a random state the ball of the determinant does not contain zero. What moves is tried with
    either sign: |x| − x vanishes only for x ≥ 0.
    """
    import flint

    nodes = [e for row in rows for e in row.values()]
    from random import Random

    draw = Random(1)  # noqa: S311 - nothing is to be kept secret
    for signs in _SIGNS:
        state = {
            i: Fraction(draw.randrange(1 << 29, 3 << 29), 1 << 30)
            * (signs[k % 2] if i in tape.moving else 1)
            for k, i in enumerate(symbols_of(tape, nodes))
        }
        balls = dict(zip(nodes, evaluate_balls(tape, nodes, state), strict=True))
        with flint.ctx.workdps(_DIGITS + _GUARD_DIGITS):
            M = [[balls[row[k]] if k in row else 0 for k in range(len(rows))] for row in rows]
            det = flint.arb_mat(M).det() if rows else flint.arb(1)
        if det.is_finite() and not det.contains(0):
            return True
    return False
