"""m*g*sin(theta) → m g sin θ: expressions from text, without running any of it.

The skeleton of the text holds a row of a's for each name and a row of 1's for each number. Python's
`ast` reads only that, for precedence; names and digits are looked up by their position in the text,
so `theta'`, `m₁` and `lambda` are ordinary names, 9.81 is 981/100, and columns are those the user
sees.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any, Final

from dalembert.errors import BadExpression
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import suggest_name
from dalembert.symbolic.algebra import functions
from dalembert.symbolic.algebra.exact_number import multiple_of_pi
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.tape import LARGEST_POWER, Number, Tape
from dalembert.symbolic.algebra.tokenizer import PIECES, PRIMES, Scan, add_column, refuse, short

MOST_BITS: Final = 10_000
MOST_DOTS: Final = 2
_DIGITS_OF_A_DOUBLE: Final = 15


def _of_many(of_two: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """max(a, b, c) = max(max(a, b), c)"""
    return lambda *x: reduce(of_two, x)


_OF_ONE: Final = (
    "sin",
    "cos",
    "tan",
    "exp",
    "log",
    "sqrt",
    "sinh",
    "cosh",
    "tanh",
    "asin",
    "acos",
    "atan",
    "sign",
)
_ANY: Final = 100
# how many arguments they take, at least and at most
FUNCTIONS: Final[dict[str, tuple[int, int, Callable[..., Any]]]] = {
    **{name: (1, 1, getattr(functions, name)) for name in _OF_ONE},
    "abs": (1, 1, abs),
    "atan2": (2, 2, functions.atan2),
    "max": (2, _ANY, _of_many(functions.maximum)),
    "min": (2, _ANY, _of_many(functions.minimum)),
    "step": (1, 1, functions.step),
    "pulse": (3, 3, functions.pulse),
    "saturate": (3, 3, functions.saturate),
    # as SymPy calls them
    "Abs": (1, 1, abs),
    "Max": (2, _ANY, _of_many(functions.maximum)),
    "Min": (2, _ANY, _of_many(functions.minimum)),
    # what it is at 0, which a second argument may say, is the mean of both sides here
    "Heaviside": (1, 2, lambda x, *_: functions.step(x)),
    "cot": (1, 1, lambda x: functions.cos(x) / functions.sin(x)),
    "sec": (1, 1, lambda x: 1 / functions.cos(x)),
    "csc": (1, 1, lambda x: 1 / functions.sin(x)),
    PIECES: (1, _ANY, functions.piecewise),
    "And": (1, _ANY, functions.all_of),
    "Or": (1, _ANY, functions.any_of),
}
# what they are called elsewhere
_ELSEWHERE: Final = {
    **{
        f"{arc}{name}": f"a{name}"
        for name in ("sin", "cos", "tan", "tan2")
        for arc in ("arc", "arcus", "Arc")
    },
    **dict.fromkeys(("where", "piecewise", "cases"), functions.EXAMPLE),
    **dict.fromkeys(("radians", "deg2rad"), "x*pi/180"),
    **dict.fromkeys(("clip", "sat"), "saturate(x, low, high)"),
    "ln": "log",
    "fabs": "abs",
    "heaviside": "step",
    "sgn": "sign",
    "pow": "a**b",
    "hypot": "sqrt(x**2 + y**2)",
    "log10": "log(x)/log(10)",
}


Known = Mapping[str, tuple[int, int, Callable[..., Any]]]


def parse(text: str, names: Mapping[str, Scalar], tape: Tape, more: Known | None = None) -> Scalar:
    """The expression that `text` says, on `tape`; `names` gives the symbols it may contain, `more`
    further functions.

    Numbers are exact, `theta.dot` and `theta'` are rates, `pi` is π. Exponents are integers up to
    1000 in size or halves of such. Anything else, and anything too large, is refused with its
    column.
    """
    terms = Scan(text).terms()
    read = TermBuilder(text, names, tape, {**FUNCTIONS, **(more or {})})
    total = Scalar(tape, tape.zero)
    for minus, at, skeleton in terms:
        e = read.term(at, skeleton)
        total = read.check_size(total - e if minus else total + e, at)
    return total


@dataclass(frozen=True)
class TermBuilder:
    """Terms of the text on the tape, each read from its skeleton."""

    text: str
    names: Mapping[str, Scalar]
    tape: Tape
    functions: Known

    def _suggest_symbol(self, name: str) -> str:
        """theta_dot and thetadot are meant as rates, otherwise as the last of some functions."""
        if name in ("otherwise", "true", "else"):
            return "write True"
        stem = name.removesuffix("dot").removesuffix("_")
        return (
            f"did you mean '{stem}.dot'?"
            if stem != name and name.endswith("dot") and stem in self.names
            else ""
        )

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
        self._refuse_conditions(values, at)
        return values[0]

    def _refuse_conditions(self, args: list[Any], at: int) -> None:
        """Refuse conditions and pieces where a value is meant."""
        if any(isinstance(e, functions.Condition | functions.ValuePair) for e in args):
            refuse(
                "a condition where a value is meant",
                at,
                f"conditions belong in {functions.EXAMPLE}",
            )

    def _condition(self, node: ast.expr, args: list[Any], at: int) -> Any:
        """x > 0, a < x < b, (x > 0) & (y > 0), and pairs of a value and a condition."""
        match node:
            case ast.Tuple():
                return functions.ValuePair(tuple(args))
            case ast.Compare():
                if not all(isinstance(e, Scalar) for e in args):
                    refuse("a comparison", at, f"numbers are compared; {functions.JOINED}")
                return self._apply(
                    lambda *sides: functions.comparison_indicator(node.ops, sides), args, at
                )
        both = isinstance(node.op, ast.And | ast.BitAnd)  # type: ignore[attr-defined]
        return self._apply(functions.all_of if both else functions.any_of, args, at)

    def _value(self, node: ast.expr, args: list[Any], offset: int) -> Any:
        start, stop = node.col_offset + offset, (node.end_col_offset or 0) + offset
        if is_condition(node):
            return self._condition(node, args, start)
        if not isinstance(node, ast.Call):
            self._refuse_conditions(args, start)
        match node:
            case ast.Constant():
                return Scalar(self.tape, _literal(self.tape, self.text[start:stop]))
            case ast.Name() | ast.Attribute():
                return self._symbol_or_rate(self.text[start:stop], start)
            case ast.UnaryOp():
                return -args[0] if isinstance(node.op, ast.USub) else args[0]
            case ast.BinOp(op=ast.Pow()):
                return self._power(args[0], args[1], node.right.col_offset + offset)
            case ast.BinOp():
                return self._apply(_OPERATORS[type(node.op)], args, node.right.col_offset + offset)
            case ast.Call():
                return self._call(
                    self.text[start : (node.func.end_col_offset or 0) + offset], args, start
                )
        return refuse("not an expression", start)

    def _symbol_or_rate(self, word: str, at: int) -> Any:
        """A symbol or one of its rates: theta, theta.dot, theta''."""
        base, *attributes = (part.strip() for part in word.split("."))
        for attribute in attributes:
            if attribute.rstrip(PRIMES) != "dot":
                refuse(f"'{short(word)}'", at, "the only attribute is .dot")
        name = base.rstrip(PRIMES)
        e = self.names.get(name)
        if e is None and name == "pi":
            e = Scalar(self.tape, self.tape.pi)
        if e is None and word == "True":
            return functions.Condition(Scalar(self.tape, self.tape.one))
        if e is None and name in self.functions:
            refuse(f"the function '{name}' without an argument", at, f"write {name}(...)")
        if e is None:
            refuse(
                f"unknown name '{short(name)}'",
                at,
                self._suggest_symbol(name) or suggest_name(name, [*self.names, "pi"]),
            )
        dots = len(attributes) + sum(word.count(prime) for prime in PRIMES)
        if dots > MOST_DOTS:
            refuse(f"'{short(word)}'", at, f"at most {MOST_DOTS} time derivatives")
        return self._apply(lambda: _rate(Scalar(self.tape, as_node(self.tape, e)), dots), [], at)

    def _call(self, name: str, args: list[Any], at: int) -> Any:
        if name.partition(".")[0].rstrip(PRIMES) in self.names:
            refuse(
                f"'{short(name)}' is not a function", at, "a * is missing before the parenthesis"
            )
        if name not in self.functions:
            refuse(f"unknown function '{short(name)}'", at, _suggest_function(name, self.functions))
        least, most, function = self.functions[name]
        if not least <= len(args) <= most:
            wanted = (
                f"{least}"
                if least == most
                else f"{least} or more"
                if most == _ANY
                else f"{least} to {most}"
            )
            refuse(f"{name} with {len(args)} arguments", at, f"it takes {wanted}")
        if name not in (PIECES, "And", "Or"):
            self._refuse_conditions(args, at)
        return self._apply(function, args, at)

    def _power(self, base: Scalar, exponent: Scalar, at: int) -> Any:
        if exponent.value is None:
            refuse("the exponent", at, "it must be a number; for x**y write exp(y*log(x))")
        r = Fraction(exponent.value)
        if abs(r.numerator) > LARGEST_POWER:
            refuse("too large an exponent", at, f"at most {LARGEST_POWER} in size")
        if r.denominator > 2:
            refuse(
                f"the exponent {r}",
                at,
                "only integers and their halves; for others write exp(r*log(x))",
            )
        if base.value is not None and _bits(base.value) * abs(r) > MOST_BITS:
            refuse("too large a number", at)
        return self._apply(lambda: base**r, [], at)

    def _apply(self, rule: Callable[..., Any], args: list[Any], at: int) -> Any:
        try:
            e = rule(*args)
        except BadExpression as error:
            add_column(error, at)
        return self.check_size(e, at) if isinstance(e, Scalar) else e

    def check_size(self, e: Scalar, at: int) -> Scalar:
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


def is_condition(node: ast.expr) -> bool:
    """Whether it is a piece of Piecewise."""
    joins = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr)
    return joins or isinstance(node, ast.Compare | ast.BoolOp | ast.Tuple)


def _suggest_function(name: str, known: Known) -> str:
    """What a function that does not exist was meant to be: rates, names of other programs,
    np.sin.
    """
    last = name.rpartition(".")[2].strip()
    if last.lower() in ("diff", "derivative", "dot", "d"):
        return "rates are written theta.dot and theta.dot.dot"
    if last in _ELSEWHERE or (last != name and last in known):
        return f"write {_ELSEWHERE.get(last, last)}"
    return suggest_name(name, known)


def _parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.BoolOp():
            return node.values
        case ast.Tuple():
            return node.elts
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
    typed = (
        sum(c.isdigit() for c in text.lower().partition("e")[0].lstrip("0.")) >= _DIGITS_OF_A_DOUBLE
    )
    return (
        as_node(tape, float(text))
        if typed and multiple_of_pi(float(text)) is not None
        else tape.const(Fraction(text))
    )
