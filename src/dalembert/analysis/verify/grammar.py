"""sum → product → power → atom: an answer's expression as a tree, with implied products.

`2x`, `m g`, `m(x + y)`, `sin θ`, `sin^2 θ`, `½ m v²` are read as written by hand. Where two
readings
are common (`g/2l`, `sin θ/2`) the line is refused with both.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NoReturn

from dalembert.analysis.verify.characters import Characters
from dalembert.analysis.verify.names import Names
from dalembert.analysis.verify.tokens import Token, refuse
from dalembert.foundation.deferred_dataclass import dataclass

DEEPEST: Final = 60
MOST_DIGITS: Final = 60
LARGEST_EXPONENT: Final = 300
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}
_POWERS: Final = ("^", "**")
_CLOSING: Final = (")", "]", "}")
_FOREIGN: Final = ("<", ">", "≤", "≥", "≈", "~", "!", "≠", "→", "⇒")
# what functions are called
FUNCTIONS: Final = {
    **{name: name for name in ("sin", "cos", "tan", "cot", "sec", "csc", "exp", "log", "sqrt")},
    **{name: name for name in ("sinh", "cosh", "tanh", "abs", "sign", "atan2")},
    **{name: name for name in ("asin", "acos", "atan")},
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan")},
    **{name.capitalize(): name for name in ["sin", "cos", "tan", "exp", "log", "sqrt", "abs"]},
    "ln": "log",
    "sgn": "sign",
    "√": "sqrt",
}


@dataclass(frozen=True, slots=True)
class NumberNode:
    """A number, exact."""

    value: Fraction
    decimal: bool = False


@dataclass(frozen=True, slots=True)
class SymbolNode:
    """A name of the system or of a quantity, differentiated `dots` times."""

    name: str
    dots: int
    start: int


@dataclass(frozen=True, slots=True)
class Addend:
    """A term of a sum, with its sign and its source columns."""

    sign: int
    value: Tree
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class SumNode:
    """Σ ± term"""

    addends: tuple[Addend, ...]


@dataclass(frozen=True, slots=True)
class ProductNode:
    """Π factor / Π divisor"""

    factors: tuple[Tree, ...]
    divisors: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class PowerNode:
    """base^exponent"""

    base: Tree
    exponent: Tree
    start: int


@dataclass(frozen=True, slots=True)
class CallNode:
    """f(a, b)"""

    function: str
    arguments: tuple[Tree, ...]
    start: int


@dataclass(frozen=True, slots=True)
class SlopeNode:
    """∂a/∂x; the total rate da/dt where `by` is None."""

    of: Tree
    by: SymbolNode | None
    start: int


Tree = NumberNode | SymbolNode | SumNode | ProductNode | PowerNode | CallNode | SlopeNode


class Parser:
    """The tokens of one line as a tree, by recursive descent."""

    def __init__(self, line: Characters, tokens: list[Token], names: Names) -> None:
        self.line, self.tokens, self.names = line, tokens, names
        self.at = 0
        self.depth = 0
        self.depth_of_calls = 0
        # how many |…| are open
        self.bars = 0

    # ---- tokens --------------------------------------------------------------------------------

    @property
    def token(self) -> Token | None:
        """The next token."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def text(self, ahead: int = 0) -> str:
        """The text of a token, empty at the end."""
        k = self.at + ahead
        return self.tokens[k].text if k < len(self.tokens) else ""

    def take(self) -> Token:
        """The next token, which is used up."""
        token = self.token
        if token is None:
            end = len(self.line.source.rstrip())
            refuse(self.line, max(end - 1, 0), "something is missing at the end of the line")
        self.at += 1
        return token

    def refuse(self, sentence: str, token: Token | None = None) -> NoReturn:
        """Refuse the line at a token."""
        where = token or self.token
        start = where.start if where else len(self.line.source)
        refuse(self.line, start, sentence, where.stop if where else None)

    def refuse_sign(self) -> NoReturn:
        """Refuse the next token, where no term can stand."""
        sign = self.text()
        known = sign in _CLOSING or sign in _FOREIGN
        self.refuse(_odd_sign(sign) if known else f"'{sign}' is not expected here")

    # ---- sums and products ---------------------------------------------------------------------

    def sum(self) -> Tree:
        """± product ± product …"""
        self.depth += 1
        if self.depth > DEEPEST:
            self.refuse(f"more than {DEEPEST} brackets inside one another")
        addends: list[Addend] = []
        while True:
            sign = self._signs()
            first = self.token
            start = first.start if first else len(self.line.source)
            value = self.product()
            addends.append(Addend(sign, value, start, self.tokens[self.at - 1].stop))
            if self.text() not in ("+", "-"):
                break
        self.depth -= 1
        only = addends[0]
        return only.value if len(addends) == 1 and only.sign > 0 else SumNode(tuple(addends))

    def _signs(self) -> int:
        sign = 1
        while self.text() in ("+", "-"):
            sign = -sign if self.take().text == "-" else sign
        return sign

    def product(self) -> Tree:
        """factor * factor / factor, with implied products."""
        factors, divisors = [self.factor()], list[Tree]()
        while True:
            sign = self.text()
            if sign == "*":
                self.take()
                factors.append(self.factor())
            elif sign == "/":
                self.take()
                divisors.append(self._divisor(factors))
            elif self._begins_factor():
                factors.append(self.factor())
            else:
                break
        return (
            factors[0]
            if len(factors) == 1 and not divisors
            else ProductNode(tuple(factors), tuple(divisors))
        )

    def _begins_factor(self) -> bool:
        token = self.token
        if token is None:
            return False
        if token.kind in ("number", "word"):
            return True
        opens = token.text == "|" and not self.bars
        return opens or token.text in ("(", "[", "{", "√") or token.kind == "command"

    def _divisor(self, factors: list[Tree]) -> Tree:
        """What stands behind a stroke; `g/2l` has two readings and is refused."""
        before = self.token
        divisor = self.factor()
        after = self.token
        numbers = isinstance(factors[-1], NumberNode) and isinstance(divisor, NumberNode)
        if isinstance(divisor, ProductNode) and before is not None and before.kind == "word":
            self.refuse(
                f"a/{before.text} has two readings: put brackets around the denominator", before
            )
        joined = after is not None and not after.spaced and self._begins_factor()
        if joined and not numbers and before is not None and before.text not in _OPENING:
            self.refuse("a/b c has two readings: write a/(b*c) or (a/b)*c", after)
        return divisor

    def factor(self) -> Tree:
        """A sign, an atom, and its powers."""
        if self.text() in ("+", "-"):
            plus = self.take().text == "+"
            inner = self.factor()
            return inner if plus else ProductNode((NumberNode(Fraction(-1)), inner))
        token = self.token
        base = self.atom()
        if self.text() not in _POWERS:
            return base
        # x y^2 squares y alone
        if isinstance(base, ProductNode) and token is not None and token.kind == "word":
            *first, last = base.factors
            return ProductNode((*first, self.power(last)))
        return self.power(base)

    def power(self, base: Tree) -> Tree:
        """base^exponent, from the right."""
        sign = self.take()
        if self.text() == "{" or self.text() == "(":
            exponent = self.atom()
        else:
            minus = self._signs()
            inner = self.atom()
            exponent = inner if minus > 0 else ProductNode((NumberNode(Fraction(-1)), inner))
        if self.text() in _POWERS:
            self.refuse("a power of a power: put brackets around one of them")
        return PowerNode(base, exponent, sign.start)

    # ---- atoms ---------------------------------------------------------------------------------

    def atom(self) -> Tree:
        """A number, a symbol, a bracket, a function of something, or a derivative."""
        token = self.take()
        if token.kind == "number":
            return self._number(token)
        if token.kind == "command":
            return self._command(token)
        if token.text in _OPENING:
            return self._bracket(token)
        if token.text == "|":
            return self._absolute(token)
        if token.text == "√":
            return CallNode("sqrt", (self.atom(),), token.start)
        if token.kind == "word":
            return self._word(token)
        return self.refuse(_odd_sign(token.text), token)

    def _number(self, token: Token) -> Tree:
        if len(token.text) > MOST_DIGITS:
            self.refuse(f"a number with more than {MOST_DIGITS} digits", token)
        mantissa, _, exponent = token.text.lower().partition("e")
        if exponent and abs(int(exponent)) > LARGEST_EXPONENT:
            self.refuse("a power of ten that large is not supported", token)
        following = self.token
        if following is not None and following.text == "," and self._is_decimal_comma():
            self.refuse("write a decimal number with a point, as 9.81", following)
        decimal = "." in mantissa or bool(exponent)
        return NumberNode(Fraction(token.text), decimal)

    def _is_decimal_comma(self) -> bool:
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        return (
            after is not None
            and after.kind == "number"
            and not after.spaced
            and not self.depth_of_calls
        )

    def _bracket(self, token: Token) -> Tree:
        inner = self.sum()
        self._close(token)
        return inner

    def _absolute(self, token: Token) -> Tree:
        """|a|"""
        self.bars += 1
        inner = self.sum()
        if self.text() != "|":
            self.refuse("this | has no partner", token)
        self.take()
        self.bars -= 1
        return CallNode("abs", (inner,), token.start)

    def _close(self, opening: Token) -> None:
        wanted = _OPENING[opening.text]
        if self.text() != wanted:
            if self.token is None:
                self.refuse(f"this {opening.text} is not closed", opening)
            self.refuse(f"'{self.text()}' appears where the '{opening.text}' should be closed")
        self.take()

    def _command(self, token: Token) -> Tree:
        if token.text == "frac":
            derivative = self._latex_derivative(token)
            if derivative is not None:
                return derivative
            above, below = self._group(), self._group()
            return ProductNode((above,), (below,))
        if token.text == "sqrt":
            if self.text() == "[":
                self.refuse("only square roots are read")
            return CallNode("sqrt", (self._group(),), token.start)
        dotted = self._mark(token)
        return self._resolve(dotted)

    def _latex_derivative(self, token: Token) -> Tree | None:
        r"""\frac{d}{dt} a and \frac{\partial L}{\partial \dot x}."""
        ahead = [self.text(k) for k in range(8)]
        length = next((k for k in range(1, 9) if "".join(ahead[:k]) == "{d}{dt}"), 0)
        if length and self.names.name("dt") is None:
            self.at += length
            return SlopeNode(self.factor(), None, token.start)
        if ahead[:2] != ["{", "∂"]:
            return None
        self.at += 2
        of = self.atom()
        for sign in ("}", "{", "∂"):
            if self.take().text != sign:
                self.refuse("\\frac{\\partial a}{\\partial x} is meant", token)
        by = self.atom()
        if self.take().text != "}" or not isinstance(by, SymbolNode):
            self.refuse(
                "\\frac{\\partial a}{\\partial x} is a derivative with respect to one symbol", token
            )
        return SlopeNode(of, by, token.start)

    def _group(self) -> Tree:
        """{…}, or the one token that TeX would take."""
        token = self.token
        if (
            token is not None
            and token.kind == "number"
            and len(token.text) > 1
            and token.text.isdigit()
        ):
            # \frac12 is a half
            self.tokens[self.at] = Token("number", token.text[1:], token.start + 1, token.stop)
            return NumberNode(Fraction(int(token.text[0])))
        return self.atom()

    def _mark(self, token: Token) -> Token:
        r"""\dot{\theta}_1, \dot\theta_1, \dot{\theta_1}: the word with its dots."""
        braced = self.text() == "{"
        if braced:
            self.take()
        word = self.take()
        if word.kind != "word":
            self.refuse(f"a \\{token.text} needs a symbol below it", word)
        if braced and self.text() != "}":
            self.refuse(f"a \\{token.text} applies to one symbol")
        if braced:
            self.take()
        name = word.text
        if self.text() == "_" and "_" not in name:
            self.take()
            name = f"{name}_{self._below()}"
        return Token(
            "word",
            name,
            token.start,
            self.tokens[self.at - 1].stop,
            token.spaced,
            word.dots + token.dots,
        )

    def _below(self) -> str:
        """The index behind a symbol with dots: 1, {12}, {e_{7} z}."""
        index, depth = "", 0
        while True:
            token = self.take()
            depth += (token.text == "{") - (token.text == "}")
            index += "" if token.text in ("{", "}", ",") else token.text
            if depth == 0:
                return index.replace("_", "")

    # ---- words ---------------------------------------------------------------------------------

    def _word(self, token: Token) -> Tree:
        if token.text == "∂":
            return self._partial(token)
        if token.text[0] == "δ" or token.text == "delta":
            virtual = self._virtual(token)
            if virtual is not None:
                return virtual
        function = FUNCTIONS.get(token.text)
        if function is not None and not token.dots and self.names.name(token.text) is None:
            return self._call(token, function)
        if (
            token.text == "d"
            and self.text() == "/"
            and self.text(1) == "dt"
            and self.names.name("dt") is None
        ):
            self.take()
            self.take()
            return SlopeNode(self.atom(), None, token.start)
        vector = self._vector(token) if self.text() == "(" else None
        if vector is not None:
            return vector
        slope = self._slope(token)
        return slope if slope is not None else self._resolve(token)

    def _vector(self, token: Token) -> Tree | None:
        """v(bob).x, ω(disk).B.z: a component of a vector."""
        close = next(
            (k for k in range(self.at, len(self.tokens)) if self.tokens[k].text == ")"), None
        )
        if close is None or close + 2 >= len(self.tokens):
            return None
        of = self.line.source[self.tokens[self.at].stop : self.tokens[close].start].strip()
        words = [t.text for t in self.tokens[close + 1 : close + 5]]
        ends = [2] if words[1] in "xyz" else [4] if len(words) == 4 else []
        for end in ends:
            name = f"{token.text}({of})" + "".join(words[:end])
            if words[0] == "." and self.names.is_quantity(name):
                self.at = close + 1 + end
                return SymbolNode(name, 0, token.start)
        return None

    def _virtual(self, token: Token) -> Tree | None:
        r"""δx, \delta x: a virtual displacement of a coordinate."""
        if self.names.name(token.text) is not None:
            return None
        following = self.token
        if token.text in ("δ", "delta"):
            if following is None or following.kind not in ("word", "command"):
                return None
            word = self.take()
            word = self._mark(word) if word.kind == "command" else word
            name, dots = word.text, word.dots
        else:
            name, dots = token.text[1:], token.dots
        single = self.names.single(name)
        if single is None or single[1] + dots:
            self.refuse("δ must precede a coordinate", token)
        return SymbolNode(f"δ{single[0]}", 0, token.start)

    def _slope(self, token: Token) -> Tree | None:
        """dL/dθ̇, typed with d's."""
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        of = token.text[1:]
        if token.text[0] != "d" or self.text() != "/" or after is None or after.text[:1] != "d":
            return None
        by = self.names.word(after.text[1:], after.dots) if len(after.text) > 1 else None
        if not self.names.is_quantity(of) or by is None or len(by) != 1:
            return None
        self.take()
        self.take()
        return SlopeNode(
            SymbolNode(of, token.dots, token.start), SymbolNode(*by[0], after.start), token.start
        )

    def _partial(self, token: Token) -> Tree:
        """∂L/∂θ̇, and the same as a LaTeX fraction."""
        of = self.atom()
        if self.take().text != "/" or self.take().text != "∂":
            self.refuse("∂ a/∂ x is meant", token)
        by = self.atom()
        if not isinstance(by, SymbolNode):
            self.refuse("∂ a/∂ x is a derivative with respect to one symbol", token)
        return SlopeNode(of, by, token.start)

    def _resolve(self, token: Token) -> Tree:
        """A symbol, or a product of symbols written together; `x(t)` is x."""
        factors = self.names.word(token.text, token.dots)
        if factors is None:
            self.refuse(self.names.unknown(token.text), token)
        if (
            self.text() == "("
            and self.text(1) == "t"
            and self.text(2) == ")"
            and self.names.is_moving(factors[-1][0])
        ):
            self.at += 3
        parts = [SymbolNode(name, dots, token.start) for name, dots in factors]
        return parts[0] if len(parts) == 1 else ProductNode(tuple(parts))

    def _call(self, token: Token, function: str) -> Tree:
        exponent: Tree | None = None
        if self.text() in _POWERS:
            sign = self.take()
            exponent = self.atom() if self.text() != "-" else None
            if exponent is None:
                self.refuse(
                    f"{token.text}^-1 has two readings: write 1/{token.text}(…) or "
                    f"a{token.text}(…)",
                    sign,
                )
        opening = self.token
        if opening is not None and opening.text in ("(", "[", "{"):
            self.take()
            arguments = self._arguments(opening)
        else:
            arguments = (self._bare_argument(token),)
        if (function == "atan2") != (len(arguments) == 2):
            self.refuse(f"{token.text} with {len(arguments)} arguments", token)
        call = CallNode(function, arguments, token.start)
        return call if exponent is None else PowerNode(call, exponent, token.start)

    def _arguments(self, opening: Token) -> tuple[Tree, ...]:
        self.depth_of_calls += 1
        arguments = [self.sum()]
        while self.text() == ",":
            self.take()
            arguments.append(self.sum())
        self.depth_of_calls -= 1
        self._close(opening)
        return tuple(arguments)

    def _bare_argument(self, function: Token) -> Tree:
        r"""sin θ, sin 2θ, sin \theta_1; sin θ/2 has two readings."""
        token = self.token
        if token is None or (token.kind not in ("number", "word") and token.kind != "command"):
            self.refuse(f"{function.text} has no argument", function)
        factors = [self.atom()]
        if isinstance(factors[0], NumberNode):
            following = self.token
            if following is not None and (
                following.kind == "word" or following.text in ("dot", "ddot")
            ):
                factors.append(self.atom())
        if self.text() == "/" and not self.tokens[self.at].spaced:
            self.refuse(
                f"{function.text} a/b has two readings: put brackets around its argument", function
            )
        return factors[0] if len(factors) == 1 else ProductNode(tuple(factors))


def _odd_sign(sign: str) -> str:
    if sign in _CLOSING:
        return f"'{sign}' closes a bracket that was not opened"
    if sign in ("*", "/", "^", "**"):
        return f"'{sign}' has nothing on its left side, or stands twice"
    if sign in _FOREIGN:
        return f"'{sign}' is no part of an equation"
    if sign == ",":
        return "a comma appears where a term is expected"
    if sign in ("'", '"'):
        return "a prime must directly follow a symbol"
    return f"'{sign}' is not read here"
