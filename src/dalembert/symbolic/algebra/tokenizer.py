"""m*sin(theta) → a*aaa(aaaaa): an expression's text, checked, with only its structure left.

One pass over the tokens knows every limit on text (length, digits, nesting, operations) and refuses
what is not arithmetic, so nothing dangerous or too deep ever reaches Python's own parser: it sees
rows of a's and 1's.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final, NoReturn

from dalembert.errors import BadExpression
from dalembert.foundation.deferred_dataclass import dataclass

LONGEST_TEXT: Final = 20_000
DEEPEST_NESTING: Final = 100
MOST_OPERATIONS: Final = 1000
MOST_DIGITS: Final = 100
LARGEST_TEN_POWER: Final = 400
PRIMES: Final = "'′"

_TOKEN: Final = re.compile(
    rf"""(?P<space>\s+)
       | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?P<tail>[\w.]*)
       | (?P<name>[^\W\d]\w*[{PRIMES}]*)
       | (?P<symbol>\*\*|//|[<>=!]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_SYMBOLS: Final = frozenset({"+", "-", "*", "/", "**", "(", ")", ",", "."})
# these occur only in the conditions of pieces
_COMPARING: Final = frozenset({"<", "<=", ">", ">=", "&", "|"})
PIECES: Final = "Piecewise"
_PIECES: Final = f"what depends on a condition is written {PIECES}((a, x > 0), (b, True))"
_JOINING: Final = frozenset({"and", "or"})
_REMEDIES: Final = {
    "^": "write ** for a power",
    "=": "write a row as a difference, x - l for x = l",
    "==": "write a row as a difference, x - l for x = l; pieces are selected by inequalities",
    "!=": "pieces are selected by inequalities",
    **dict.fromkeys(_COMPARING, _PIECES),
    "//": "write / for a quotient",
    "'": "a prime must directly follow a name, and text in quotes is no expression",
    "′": "a prime must directly follow a name",
    '"': "text in quotes is no expression",
}


def refuse(what: str, at: int, remedy: str = "") -> NoReturn:
    """Raise BadExpression: what is wrong with the character of index `at`, in one sentence."""
    ending = f": {remedy}" if remedy else ""
    error = BadExpression(f"{what} at column {at + 1}{ending}")
    error.column, error.sentence = at + 1, f"{what}{ending}"
    error.what, error.remedy = what, remedy
    raise error from None


def add_column(error: BadExpression, at: int) -> NoReturn:
    """An operation that was refused, with the place of the operands."""
    again = BadExpression(f"{error} (at column {at + 1})")
    again.column, again.sentence = at + 1, str(error)
    raise again from None


def short(text: str) -> str:
    """The text, or its beginning if a message could not hold it."""
    return text if len(text) <= 40 else text[:37] + "..."


@dataclass
class _Group:
    """An open parenthesis, or the whole text; `waiting` counts the signs and powers whose
    operand has not ended.
    """

    at: int
    commas: bool = False
    waiting: int = 0
    # the pairs of Piecewise are its own groups; conditions stand anywhere inside
    pieces: bool = False
    within: bool = False


@dataclass
class Scan:
    """One pass over the text: checks it against the limits and cuts its skeleton at the
    outermost + and −.
    """

    text: str
    # whether a @ b is allowed in it
    vectors: bool = False
    kind: str = "operator"
    last: str = ""
    groups: list[_Group] = field(default_factory=lambda: [_Group(-1)])
    nesting: int = 0
    operations: int = 0
    skeleton: list[str] = field(default_factory=list)
    terms_read: list[tuple[bool, int, str]] = field(default_factory=list)
    start: int = 0
    minus: bool = False

    def terms(self) -> list[tuple[bool, int, str]]:
        """(is subtracted, position, skeleton) of each outermost term."""
        self._size()
        for token in _TOKEN.finditer(self.text):
            at = token.start()
            if token["space"]:
                self.skeleton.append(" " * len(token[0]))
            elif token["symbol"]:
                self._symbol(token["symbol"], at)
            elif token["name"]:
                self._operand("name", token["name"], at)
            else:
                _check_number(token["number"], token["tail"], at)
                self._operand("number", token["number"], at)
        if self.kind == "operator":
            expected = "dot" if self.last == "." else "a name or number"
            refuse(
                f"the expression ends after '{self.last}'",
                len(self.text.rstrip()) - 1,
                f"{expected} should follow",
            )
        if len(self.groups) > 1:
            refuse("the parenthesis", self.groups[-1].at, "it is never closed")
        self._end_term(len(self.text), minus=False)
        return self.terms_read

    def _size(self) -> None:
        if not isinstance(self.text, str):
            msg = f"expected an expression as text, got {self.text!r}"
            raise BadExpression(msg)
        if len(self.text) > LONGEST_TEXT:
            msg = (
                f"an expression of {len(self.text)} characters is too long: at most {LONGEST_TEXT}"
            )
            raise BadExpression(msg)
        if not self.text.strip():
            msg = "the expression is empty"
            raise BadExpression(msg)

    def _operand(self, kind: str, word: str, at: int) -> None:
        if self.kind != "operator":
            if word in _JOINING and self.groups[-1].within:
                self._operator(word, at)
                self.last = word
                return
            unit = (
                "; a number with a unit is the value of a constant"
                if self.kind == "number" and kind == "name"
                else ""
            )
            refuse(
                f"'{short(word)}'",
                at,
                _PIECES if word in ("if", *_JOINING) else f"an operator is missing before it{unit}",
            )
        if self.last == "." and kind == "number":
            refuse(f"'{short(word)}'", at, "only .dot can follow a point")
        self.skeleton.append(("a" if kind == "name" else "1") * len(word))
        self.kind, self.last = kind, word

    def _symbol(self, symbol: str, at: int) -> None:
        if not (
            symbol in _SYMBOLS
            or (symbol == "@" and self.vectors)
            or (symbol in _COMPARING and self.groups[-1].within)
        ):
            remedy = _REMEDIES.get(
                symbol, "an expression has numbers, names, + - * / ** ( ) and functions such as sin"
            )
            refuse(f"unexpected {symbol!r}", at, remedy)
        if self.kind != "operator":
            self._infix(symbol, at)
        elif self.last == ".":
            refuse(f"'{symbol}'", at, "only .dot can follow a point")
        elif symbol == "(":
            self._opens(at, call=False)
        elif symbol in ("+", "-"):
            self._prefix_sign(at)
        else:
            refuse(f"'{symbol}'", at, "a name or number must come before it")
        self.last = symbol

    def _infix(self, symbol: str, at: int) -> None:
        """A symbol after an operand: ( of a call, ), a comma, a point or an operator."""
        if symbol in ("(", ".") and self.kind != "name":
            refuse(
                f"'{symbol}'",
                at,
                "an operator is missing before it" if symbol == "(" else "only a name has .dot",
            )
        if symbol == "(":
            self._opens(at, call=True)
        elif symbol == ")":
            self._closes(at)
        elif symbol == "," and not self.groups[-1].commas:
            refuse("','", at, "a comma only separates the arguments of a function")
        else:
            self._operator(symbol, at)

    def _opens(self, at: int, *, call: bool) -> None:
        around = self.groups[-1]
        pieces = call and self.last == PIECES
        self.groups.append(
            _Group(at, call or around.pieces, pieces=pieces, within=pieces or around.within)
        )
        self.kind = "operator"
        self.skeleton.append("(")
        self._deeper(at)

    def _closes(self, at: int) -> None:
        if len(self.groups) == 1:
            refuse("')'", at, "no parenthesis is open")
        self.nesting -= 1 + self.groups.pop().waiting
        self.kind = "group"
        self.skeleton.append(")")

    def _prefix_sign(self, at: int) -> None:
        """A prefix sign: Python nests one level for each."""
        self.skeleton.append(self.text[at])
        self.groups[-1].waiting += 1
        self._deeper(at)

    def _operator(self, symbol: str, at: int) -> None:
        self.kind = "operator"
        if symbol not in ("**", "."):
            self.nesting -= self.groups[-1].waiting
            self.groups[-1].waiting = 0
        if symbol in ("+", "-") and len(self.groups) == 1:
            self._end_term(at, minus=symbol == "-")
            return
        self.operations += 1
        if self.operations > MOST_OPERATIONS:
            refuse(
                "too many operations",
                at,
                f"at most {MOST_OPERATIONS} in each term of the outermost sum",
            )
        self.skeleton.append(symbol)
        if symbol == "**":
            self.groups[-1].waiting += 1
            self._deeper(at)

    def _deeper(self, at: int) -> None:
        self.nesting += 1
        if self.nesting > DEEPEST_NESTING:
            refuse(
                "nested too deeply",
                at,
                f"at most {DEEPEST_NESTING} levels of parentheses, signs and powers",
            )

    def _end_term(self, at: int, *, minus: bool) -> None:
        self.terms_read.append((self.minus, self.start, "".join(self.skeleton)))
        self.skeleton.clear()
        self.start, self.minus, self.operations = at + 1, minus, 0


def _check_number(number: str, tail: str, at: int) -> None:
    if tail in ("j", "J"):
        refuse(
            f"complex number '{short(number + tail)}'", at, "dalembert computes with real numbers"
        )
    if tail:
        remedy = (
            "a * is missing after the number"
            if tail[0].isalpha()
            else "write digits and at most one decimal point"
        )
        refuse(f"cannot read '{short(number + tail)}'", at, remedy)
    mantissa, _, power = number.lower().partition("e")
    if (
        len(mantissa) > MOST_DIGITS
        or len(power) > MOST_DIGITS
        or abs(int(power or 0)) > LARGEST_TEN_POWER
    ):
        refuse(
            "too large a number",
            at,
            f"at most {MOST_DIGITS} digits, and powers of ten up to {LARGEST_TEN_POWER}",
        )
