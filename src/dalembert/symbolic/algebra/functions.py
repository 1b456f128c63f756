"""The elementary functions of expressions and of numbers; those of numbers stay exact:
da.sqrt(2)**2 == 2.

Piecewise((a, x > 0), (b, True)) = H(x) a + (1 − H(x)) b: pieces of expressions, selected by
inequalities. What switches is made of H, max, min, and these of |·| and sign, so that every route,
the certificate and the search for jumps know it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, Final, TypeVar

from dalembert.errors import BadExpression
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact_number import exact_function, is_zero
from dalembert.symbolic.algebra.scalar import Scalar, apply, as_node, common_tape

X = TypeVar("X", Scalar, float)


def _number_function(function: str, *x: float) -> float:
    """The function of plain numbers, exact; anything else, and what is not defined, is refused
    by name.
    """
    try:
        value = float(getattr(math, function)(*x))
    except (TypeError, ValueError, OverflowError) as problem:
        given = ", ".join(f"{v!r:.60}" for v in x)
        msg = (
            f"{function}({given}): {problem}; give an expression of a system, or a number for "
            f"which it is defined"
        )
        raise BadExpression(msg) from None
    if function == "tan" and is_zero(_number_function("cos", *x)):
        msg = f"tan({x[0]}): the cosine of it is zero"
        raise BadExpression(msg)
    # it stands wherever a float may
    return exact_function(function, value, *x)  # type: ignore[return-value]


def sin(x: X) -> X:
    """sin x"""
    return apply("sin", x) if isinstance(x, Scalar) else _number_function("sin", x)


def cos(x: X) -> X:
    """cos x"""
    return apply("cos", x) if isinstance(x, Scalar) else _number_function("cos", x)


def tan(x: X) -> X:
    """tan x = sin x / cos x"""
    return sin(x) / cos(x) if isinstance(x, Scalar) else _number_function("tan", x)


def exp(x: X) -> X:
    """eˣ"""
    return apply("exp", x) if isinstance(x, Scalar) else _number_function("exp", x)


def log(x: X) -> X:
    """The natural logarithm of x > 0."""
    return apply("log", x) if isinstance(x, Scalar) else _number_function("log", x)


def sqrt(x: X) -> X:
    """√x"""
    return apply("sqrt", x) if isinstance(x, Scalar) else _number_function("sqrt", x)


def sinh(x: X) -> X:
    """sinh x"""
    return apply("sinh", x) if isinstance(x, Scalar) else _number_function("sinh", x)


def cosh(x: X) -> X:
    """cosh x"""
    return apply("cosh", x) if isinstance(x, Scalar) else _number_function("cosh", x)


def tanh(x: X) -> X:
    """tanh x = sinh x / cosh x"""
    return sinh(x) / cosh(x) if isinstance(x, Scalar) else _number_function("tanh", x)


def asin(x: X) -> X:
    """arcsin x"""
    return apply("asin", x) if isinstance(x, Scalar) else _number_function("asin", x)


def acos(x: X) -> X:
    """arccos x"""
    return apply("acos", x) if isinstance(x, Scalar) else _number_function("acos", x)


def atan(x: X) -> X:
    """arctan x"""
    return apply("atan", x) if isinstance(x, Scalar) else _number_function("atan", x)


def sign(x: X) -> X:
    """−1, 0 or 1"""
    return apply("sign", x) if isinstance(x, Scalar) else float((x > 0) - (x < 0))


def atan2(y: Scalar | float, x: Scalar | float) -> Scalar | float:
    """The angle of the point (x, y)."""
    if isinstance(y, Scalar):
        tape = common_tape(y.tape, x.tape) if isinstance(x, Scalar) else y.tape
    elif isinstance(x, Scalar):
        tape = x.tape
    else:
        return _number_function("atan2", y, x)
    return Scalar(tape, tape.atan2(as_node(tape, y), as_node(tape, x)))


# ---- what switches -----------------------------------------------------------------------------


def maximum(a: Any, b: Any) -> Any:
    """max(a, b) = (a + b + |a − b|)/2"""
    return (a + b + abs(a - b)) / 2


def minimum(a: Any, b: Any) -> Any:
    """min(a, b) = (a + b − |a − b|)/2"""
    return (a + b - abs(a - b)) / 2


def step(x: Any) -> Any:
    """0 for x < 0, 1 for x > 0, ½ at the jump (Heaviside's function)."""
    return (1 + sign(x)) / 2


def pulse(x: Any, a: Any, b: Any) -> Any:
    """1 for a < x < b, else 0; ½ at the jumps."""
    return step(x - a) - step(x - b)


def saturate(x: Any, low: Any, high: Any) -> Any:
    """x, but never below `low` nor above `high`."""
    return minimum(maximum(x, low), high)


# ---- pieces ------------------------------------------------------------------------------------

EXAMPLE: Final = "Piecewise((a, x > 0), (b, True))"
JOINED: Final = "write (x > 0) & (x < 1), or 0 < x < 1"


@dataclass(frozen=True)
class Condition:
    """1 where it holds, 0 elsewhere, ½ where it changes."""

    holds: Any

    def both(self, other: Condition) -> Condition:
        """1 where both hold."""
        return Condition(self.holds * other.holds)

    def either(self, other: Condition) -> Condition:
        """1 where one of them holds, or both."""
        return Condition(1 - (1 - self.holds) * (1 - other.holds))


@dataclass(frozen=True)
class ValuePair:
    """(value, condition)"""

    parts: tuple[Any, ...]


def comparison_indicator(operators: Sequence[ast.cmpop], sides: Sequence[Any]) -> Condition:
    """a < b ≤ c …: H(b − a) H(c − b) …"""
    rising = (
        b - a if isinstance(op, ast.Lt | ast.LtE) else a - b
        for op, (a, b) in zip(operators, pairwise(sides), strict=True)
    )
    return reduce(Condition.both, [Condition(step(e)) for e in rising])


def piecewise(*pieces: Any) -> Any:
    """The value of the first piece whose condition holds; zero where none does."""
    total: Any = 0
    for piece in reversed(pieces):
        parts = piece.parts if isinstance(piece, ValuePair) else ()
        if (
            len(parts) != 2
            or isinstance(parts[0], Condition)
            or not isinstance(parts[1], Condition)
        ):
            msg = f"Piecewise takes pairs of a value and a condition, {EXAMPLE}"
            raise BadExpression(msg)
        value, inside = parts[0], parts[1].holds
        total = inside * value + (1 - inside) * total
    return total


def all_of(*conditions: Any) -> Condition:
    """And(…)"""
    return reduce(Condition.both, _require_conditions("And", conditions))


def any_of(*conditions: Any) -> Condition:
    """Or(…)"""
    return reduce(Condition.either, _require_conditions("Or", conditions))


def _require_conditions(name: str, conditions: tuple[Any, ...]) -> tuple[Condition, ...]:
    if not all(isinstance(c, Condition) for c in conditions):
        msg = f"{name} joins comparisons; {JOINED}"
        raise BadExpression(msg)
    return conditions
