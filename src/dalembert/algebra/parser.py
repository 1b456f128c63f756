"""m*g*sin(theta) → m g sin θ: expressions from text, without running any of it.

The skeleton of the text holds a row of a's for each name and a row of 1's for each number. Python's `ast` reads only
that, for precedence; names and digits are looked up by their position in the text, so `theta'`, `m₁` and `lambda` are
ordinary names, 9.81 is 981/100, and columns are those the user sees.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dalembert.algebra import functions
from dalembert.algebra.pi import multiple_of_pi
from dalembert.algebra.scalar import Scalar, on
from dalembert.algebra.skeleton import PRIMES, Scan, refuse, refuse_again, short
from dalembert.algebra.tape import LARGEST_POWER, Number, Tape
from dalembert.errors import BadExpression
from dalembert.nearest_name import nearest

MOST_BITS: Final = 10_000
MOST_DOTS: Final = 2
_DIGITS_OF_A_DOUBLE: Final = 15

_OF_ONE: Final = ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "asin", "acos", "atan", "sign")
FUNCTIONS: Final[dict[str, tuple[int, Callable[..., Any]]]] = {
    **{name: (1, getattr(functions, name)) for name in _OF_ONE},
    "abs": (1, abs),
    "atan2": (2, functions.atan2),
    "max": (2, functions.maximum),
    "min": (2, functions.minimum),
    "step": (1, functions.step),
    # as SymPy calls them
    "Max": (2, functions.maximum),
    "Min": (2, functions.minimum),
    "Heaviside": (1, functions.step),
    "pulse": (3, functions.pulse),
    "saturate": (3, functions.saturate),
}


Known = Mapping[str, tuple[int, Callable[..., Any]]]


def parse(text: str, names: Mapping[str, Scalar], tape: Tape, more: Known | None = None) -> Scalar:
    """The expression that `text` says, on `tape`; `names` gives the symbols it may contain, `more` further functions.

    Numbers are exact, `theta.dot` and `theta'` are rates, `pi` is π. Exponents are integers up to 1000 in size
    or halves of such. Anything else, and anything too large, is refused with its column.
    """
    terms = Scan(text).terms()
    read = TermReader(text, names, tape, {**FUNCTIONS, **(more or {})})
    total = Scalar(tape, tape.zero)
    for minus, at, skeleton in terms:
        e = read.term(at, skeleton)
        total = read.small(total - e if minus else total + e, at)
    return total


@dataclass(frozen=True, slots=True)
class TermReader:
    """Terms of the text on the tape, each read from its skeleton."""

    text: str
    names: Mapping[str, Scalar]
    tape: Tape
    functions: Known

    def _rate(self, name: str) -> str:
        """theta_dot and thetadot are meant as rates."""
        stem = name.removesuffix("dot").removesuffix("_")
        return f"did you mean '{stem}.dot'?" if stem != name and name.endswith("dot") and stem in self.names else ""

    def term(self, at: int, skeleton: str) -> Scalar:
        """The value of one term, operands first, without recursion."""
        # the added parenthesis allows leading spaces and moves columns by one
        offset = at - 1
        try:
            stack = [ast.parse(f"({skeleton})", mode="eval").body]
        except RecursionError:
            refuse("too many operations", at, "the program that asks is itself nested very deeply")
        order: list[tuple[ast.expr, int]] = []
        while stack:
            node = stack.pop()
            parts = _parts(node)
            order.append((node, len(parts)))
            stack.extend(parts)
        values: list[Scalar] = []
        for node, n in reversed(order):
            args = values[len(values) - n :]
            del values[len(values) - n :]
            values.append(self._value(node, args, offset))
        return values[0]

    def _value(self, node: ast.expr, args: list[Scalar], offset: int) -> Scalar:
        start, stop = node.col_offset + offset, (node.end_col_offset or 0) + offset
        match node:
            case ast.Constant():
                return Scalar(self.tape, _literal(self.tape, self.text[start:stop]))
            case ast.Name() | ast.Attribute():
                return self._named(self.text[start:stop], start)
            case ast.UnaryOp():
                return -args[0] if isinstance(node.op, ast.USub) else args[0]
            case ast.BinOp(op=ast.Pow()):
                return self._power(args[0], args[1], node.right.col_offset + offset)
            case ast.BinOp():
                return self._made(_OPERATORS[type(node.op)], args, node.right.col_offset + offset)
            case ast.Call():
                return self._call(self.text[start : (node.func.end_col_offset or 0) + offset], args, start)
        return refuse("not an expression", start)

    def _named(self, word: str, at: int) -> Scalar:
        """A symbol or one of its rates: theta, theta.dot, theta''."""
        base, *attributes = (part.strip() for part in word.split("."))
        for attribute in attributes:
            if attribute.rstrip(PRIMES) != "dot":
                refuse(f"'{short(word)}'", at, "the only attribute is .dot")
        name = base.rstrip(PRIMES)
        e = self.names.get(name)
        if e is None and name == "pi":
            e = Scalar(self.tape, self.tape.pi)
        if e is None and name in self.functions:
            refuse(f"the function '{name}' without an argument", at, f"write {name}(...)")
        if e is None:
            refuse(f"unknown name '{short(name)}'", at, self._rate(name) or nearest(name, [*self.names, "pi"]))
        dots = len(attributes) + sum(word.count(prime) for prime in PRIMES)
        if dots > MOST_DOTS:
            refuse(f"'{short(word)}'", at, f"at most {MOST_DOTS} time derivatives")
        return self._made(lambda: _rate(Scalar(self.tape, on(self.tape, e)), dots), [], at)

    def _call(self, name: str, args: list[Scalar], at: int) -> Scalar:
        if name.partition(".")[0].rstrip(PRIMES) in self.names:
            refuse(f"'{short(name)}' is not a function", at, "a * is missing before the parenthesis")
        if name not in self.functions:
            rate = "rates are written theta.dot and theta.dot.dot" if name.lower() in ("diff", "derivative", "dot", "d") else ""
            refuse(f"unknown function '{short(name)}'", at, rate or nearest(name, self.functions))
        arity, function = self.functions[name]
        if len(args) != arity:
            refuse(f"{name} with {len(args)} arguments", at, f"it takes {arity}")
        return self._made(function, args, at)

    def _power(self, base: Scalar, exponent: Scalar, at: int) -> Scalar:
        if exponent.value is None:
            refuse("the exponent", at, "it must be a number; for x**y write exp(y*log(x))")
        r = Fraction(exponent.value)
        if abs(r.numerator) > LARGEST_POWER:
            refuse("too large an exponent", at, f"at most {LARGEST_POWER} in size")
        if r.denominator > 2:
            refuse(f"the exponent {r}", at, "only integers and their halves; for others write exp(r*log(x))")
        if base.value is not None and _bits(base.value) * abs(r) > MOST_BITS:
            refuse("too large a number", at)
        return self._made(lambda: base**r, [], at)

    def _made(self, rule: Callable[..., Scalar], args: list[Scalar], at: int) -> Scalar:
        try:
            e = rule(*args)
        except BadExpression as error:
            refuse_again(error, at)
        return self.small(e, at)

    def small(self, e: Scalar, at: int) -> Scalar:
        """The expression, unless it is a number too large to be meant."""
        if e.value is not None and _bits(e.value) > MOST_BITS:
            refuse("too large a number", at)
        return e


_OPERATORS: Final[dict[type[ast.operator], Callable[[Scalar, Scalar], Scalar]]] = {
    ast.Add: Scalar.__add__,
    ast.Sub: Scalar.__sub__,
    ast.Mult: Scalar.__mul__,
    ast.Div: Scalar.__truediv__,
}


def _parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.Call():
            return node.args
    return []


def _rate(e: Scalar, dots: int) -> Scalar:
    for _ in range(dots):
        e = e.dot
    return e


def _bits(value: Number) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _literal(tape: Tape, text: str) -> int:
    """A number as it is written; with all the digits of a double it may be a multiple of π."""
    typed = sum(c.isdigit() for c in text.lower().partition("e")[0].lstrip("0.")) >= _DIGITS_OF_A_DOUBLE
    return on(tape, float(text)) if typed and multiple_of_pi(float(text)) is not None else tape.const(Fraction(text))
