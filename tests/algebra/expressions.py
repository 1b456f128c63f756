"""Random expressions, made once as trees and then built on a tape, for SymPy or as text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
from hypothesis import strategies as st

from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Number, Tape

NAMES = ("x", "y", "z")

# smooth everywhere: each argument is brought into the function's domain first
SMOOTH = {
    "-": "-({0})",
    "square": "({0})**2",
    "cube": "({0})**3",
    "inverse": "(1 + ({0})**2)**(-1)",
    "sin": "sin({0})",
    "cos": "cos({0})",
    "tan": "tan(sin({0}))",
    "exp": "exp(sin({0}))",
    "log": "log(1 + ({0})**2)",
    "sqrt": "sqrt(1 + ({0})**2)",
    "sinh": "sinh(sin({0}))",
    "cosh": "cosh(sin({0}))",
    "tanh": "tanh({0})",
    "asin": "asin(sin({0})/2)",
    "acos": "acos(sin({0})/2)",
    "atan": "atan({0})",
    "+": "({0}) + ({1})",
    "sub": "({0}) - ({1})",
    "*": "({0})*({1})",
    "/": "({0})/(2 + sin({1}))",
    "atan2": "atan2({0}, 2 + cos({1}))",
}
RATIONAL = {name: SMOOTH[name] for name in ("-", "square", "cube", "inverse", "+", "sub", "*")} | {
    "/": "({0})/(1 + ({1})**2)"
}


def texts(forms: dict[str, str] = SMOOTH, max_leaves: int = 6) -> st.SearchStrategy[str]:
    """Expressions in x, y and z as text, in the language of the parser."""
    leaves = (
        st.sampled_from(NAMES)
        | st.integers(1, 5).map(str)
        | st.sampled_from(["0.5", "1.25", "3/7"])
    )
    one = [form for form in forms.values() if "{1}" not in form]
    two = [form for form in forms.values() if "{1}" in form]

    def extend(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.builds(str.format, st.sampled_from(one), parts) | st.builds(
            str.format, st.sampled_from(two), parts, parts
        )

    return st.recursive(leaves, extend, max_leaves=max_leaves)


def fresh() -> tuple[Tape, dict[str, Scalar]]:
    """A tape with the moving symbols x, y, z."""
    tape = Tape()
    return tape, {name: Scalar(tape, tape.moving_symbol(name)) for name in NAMES}


class Digits:
    """Fifty digits, by mpmath."""

    def __init__(self) -> None:
        self.mp = mpmath.mp.clone()
        self.mp.dps = 50

    def const(self, value: Number) -> Any:
        return self.mp.mpf(value.numerator) / value.denominator

    def pi(self) -> Any:
        return self.mp.mpf(self.mp.pi)

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def sub(self, a: Any, b: Any) -> Any:
        return a - b

    def mul(self, a: Any, b: Any) -> Any:
        return a * b

    def div(self, a: Any, b: Any) -> Any:
        return a / b

    def neg(self, a: Any) -> Any:
        return -a

    def atan2(self, a: Any, b: Any) -> Any:
        return self.mp.atan2(a, b)

    def call(self, function: str, a: Any, node: int) -> Any:
        return abs(a) if function == "abs" else getattr(self.mp, function)(a)


class Rationals(Digits):
    """Exact rational numbers; elementary functions have no place here."""

    def const(self, value: Number) -> Fraction:
        return Fraction(value)


DIGITS = Digits()


def at(e: Scalar, point: dict[str, Any], arithmetic: Digits = DIGITS) -> Any:
    """The value of an expression at a point, which names the symbols."""
    nodes = e.tape.nodes
    return evaluate(
        e.tape, (e.i,), lambda i: arithmetic.const(Fraction(point[nodes[i][1]])), arithmetic
    )[0]


def close(expected: Any, actual: Any, digits: int = 12) -> bool:
    return bool(abs(expected - actual) <= (1 + abs(expected)) * Fraction(1, 10**digits))


rationals = st.builds(Fraction, st.integers(-30, 30), st.sampled_from([7, 11, 13]))
points = st.fixed_dictionaries(dict.fromkeys(NAMES, rationals))
