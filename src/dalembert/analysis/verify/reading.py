"""(M + m) x'' = F → rows on the tape, left side minus right side.

Every written term outside functions, exponents and denominators is multiplied by a symbol of value
1,
its mark. Marks keep like terms apart and give the source columns of each term.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import IntEnum
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Final

from dalembert.analysis.verify.characters import Characters, plain_characters
from dalembert.analysis.verify.grammar import (
    CallNode,
    NumberNode,
    Parser,
    PowerNode,
    ProductNode,
    SlopeNode,
    SumNode,
    SymbolNode,
    Tree,
)
from dalembert.analysis.verify.lines import Section, answer_lines, sections
from dalembert.analysis.verify.names import Names
from dalembert.analysis.verify.tokens import CannotRead, Token, refuse, tokens
from dalembert.errors import BadExpression
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution, symbols_of
from dalembert.symbolic.algebra.parser import FUNCTIONS
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import LARGEST_POWER, Tape

LONGEST_ANSWER: Final = 400_000
MOST_ROWS: Final = 400
MARK: Final = "written_"
# marks of the terms of definitions, and a term of value 0 that stands for a missing one
INNER: Final = "inner_"
ADDED: Final = "added_"
_MAYBE_NUMBERED: Final = re.compile(r"(?<=[\w)]) (\(\d{1,3}[a-z]?\))[ .]*$")
_INDEX: Final = re.compile(r"_\{(\w{1,8})\}")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_DEFINES: Final = re.compile(r"\s*(?:let|where|with)\s+")
_DEFINITION: Final = re.compile(
    r"\s*(?:let\s+|where\s+|with\s+)?([^\W\d]\w*(?:\{\w{1,6}\})?)\s*:?=(?!=)"
)


@dataclass(frozen=True)
class Decimal:
    """A number that was written with a point, and the digits behind it."""

    value: Fraction
    digits: int


@dataclass(frozen=True)
class Definition:
    """z = a + b as [added] + [mark] a + [mark] b, with the source columns of its terms."""

    name: str
    text: str
    value: Scalar
    marked: Scalar
    # the same with the names of intermediates in it
    named: Callable[[], Scalar]
    marks: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    added: int


@dataclass(frozen=True)
class Row:
    """One equation of an answer: left − right, the same with its marks, and where each mark was
    written.
    """

    text: str
    value: Scalar
    marked: Scalar
    spans: tuple[tuple[int, int], ...] = ()
    # the first mark of the right side
    right: int = 0
    # whether the left side is one symbol, so that terms belong to the right one
    is_about_left: bool = False
    decimals: tuple[Decimal, ...] = ()
    is_equation: bool = True
    # the virtual displacement that some of its terms lack
    lacks: str = ""
    # the row with the marks of its definitions alone, and those definitions
    deep: Scalar | None = None
    definitions: tuple[Definition, ...] = ()


@dataclass(frozen=True)
class Side:
    """One side of an equation, with its source columns."""

    tree: Tree
    start: int
    stop: int


def _side(parser: Parser) -> Side:
    first = parser.token
    tree = parser.sum()
    last = parser.tokens[parser.at - 1]
    return Side(tree, first.start if first else last.start, last.stop)


@dataclass
class Reader:
    """Texts of answers as rows on one tape."""

    tape: Tape
    names: Names
    quantity: Callable[[str], int | None]
    slope: Callable[[int, str], int]
    rate: Derivative
    # {decimal as written: the fraction that is tried for it}
    instead: Mapping[Fraction, Fraction] = field(default_factory=dict)
    # {name: its definition}
    defined: dict[str, Definition] = field(default_factory=dict)
    _numbers: list[str] = field(default_factory=list)

    def rows(self, text: str) -> list[Row]:
        """Every equation of a text; lines that define a name serve the others."""
        if len(text) > LONGEST_ANSWER:
            msg = f"the answer has {len(text)} characters; at most {LONGEST_ANSWER} are read"
            raise CannotRead(msg)
        lines = answer_lines(text)
        parts = sections(lines, self._defined_name)
        if not any(part.equations for part in parts):
            # names on the left sides alone: rows with unknown names
            parts = [Section(lines)]
        rows = [row for part in parts for row in self._section(part)]
        if len(rows) > MOST_ROWS:
            msg = f"the answer has {len(rows)} equations; at most {MOST_ROWS} are read"
            raise CannotRead(msg)
        return rows

    # ---- lines ---------------------------------------------------------------------------------

    def _section(self, section: Section) -> Iterator[Row]:
        """The rows of a section; `c = cos(theta)`, c being no symbol, defines c."""
        waiting = [(line, name) for name, line in section.definitions.items()]
        while waiting:
            late, problem = [], None
            for line, name in waiting:
                try:
                    self._define(line, name)
                except CannotRead as reason:
                    late.append((line, name))
                    problem = problem or reason
            if problem is not None and len(late) == len(waiting):
                raise problem
            waiting = late
        self._check_used(section)
        for line in section.equations:
            yield from self._line(line)

    def _check_used(self, section: Section) -> None:
        """A name that is defined and used nowhere is a misspelling."""
        own = (
            plain_characters(line).text.partition("=")[2] for line in section.definitions.values()
        )
        texts = [*(plain_characters(line).text for line in section.equations), *own]
        plain = [_INDEX.sub(r"_\1", text) for text in texts]
        words = {word for text in plain for word in _WORD.findall(text)}
        for name, line in section.definitions.items():
            used = name in words or any(
                re.search(rf"(?<!\w){re.escape(name)}(?![^\W\d])", text) for text in plain
            )
            if not used:
                # it is no hint for itself
                self.names.known.pop(name, None)
                refuse(line, max(line.find(name), 0), self.names.unknown(name))

    def _defined_name(self, line: str) -> str:
        """The name on the left side of a line, where it is neither symbol nor quantity."""
        match = _DEFINITION.match(plain_characters(line).text[:120].replace("&", ""))
        if match is None:
            return ""
        name = re.sub(r"[{}]", "", match[1])
        known = self.names.word(name, 0) is not None or self.names.is_quantity(name)
        return "" if known or name in ("d", "dt") else name

    def _define(self, line: str, name: str) -> None:
        source, words = tokens(_DEFINES.sub("", line))
        sign = next(k for k, token in enumerate(words) if token.text in ("=", ":="))
        tree = self._whole(source, words[sign + 1 :])
        number = len(self._numbers)
        self._numbers.append(name)
        value = Writer(self, source).value(tree)
        added = self.tape.symbol(f"{ADDED}{number}")
        span = words[sign + 1].start, words[-1].stop
        mode, prefix = Intermediates.MARKED, f"{INNER}{number}_"
        writer = Writer(self, source, marks=[], prefix=prefix, intermediates=mode)
        marked = writer.marked(tree, span)
        left = len(source.source) - len(source.source.lstrip())
        whole = Definition(
            name,
            source.source.strip(),
            value,
            marked + Scalar(self.tape, added),
            partial(self._named, source, tree, span, prefix),
            tuple(writer.nodes),
            tuple((a - left, b - left) for a, b in writer.marks or ()),
            added,
        )
        self.names.define(name, value.i)
        self.defined[self.names.name(name) or name] = whole

    def _named(self, source: Characters, tree: Tree, span: tuple[int, int], prefix: str) -> Scalar:
        mode = Intermediates.NAMED
        return Writer(self, source, [], prefix=prefix, intermediates=mode).marked(tree, span)

    def _whole(self, source: Characters, words: list[Token]) -> Tree:
        parser = Parser(source, words, self.names)
        tree = parser.sum()
        if parser.token is not None and parser.text() not in (".", ","):
            parser.refuse_sign()
        return tree

    def _line(self, text: str) -> Iterator[Row]:
        """a = b = c gives two rows; equations of one line are separated by commas."""
        maybe = _MAYBE_NUMBERED.search(text)
        if maybe is not None and "=" in text:
            refuse(
                text,
                maybe.start(1),
                "a factor or the number of the equation? Remove it, or write *",
                maybe.end(1),
            )
        source, words = tokens(text)
        parser = Parser(source, [token for token in words if token.text != "&"], self.names)
        while parser.token is not None:
            sides = [_side(parser)]
            while parser.text() in ("=", "=="):
                parser.take()
                sides.append(_side(parser))
            if parser.text() in (",", "."):
                parser.take()
            elif parser.token is not None:
                parser.refuse_sign()
            yield from self._equation(source, sides)

    def _equation(self, source: Characters, sides: list[Side]) -> Iterator[Row]:
        start, stop = sides[0].start, sides[-1].stop
        text = source.source[start:stop]
        zero = Side(NumberNode(Fraction(0)), stop, stop)
        for left, right in pairwise(sides if len(sides) > 1 else (sides[0], zero)):
            equation = len(sides) > 1 or self._has_rates(left.tree)
            writer = Writer(self, source, marks=[])
            above = writer.marked(left.tree, (left.start, left.stop))
            split = len(writer.marks or ())
            marked = above - writer.marked(right.tree, (right.start, right.stop))
            one = Substitution(self.tape, dict.fromkeys(writer.nodes, self.tape.one))
            spans = tuple((max(a - start, 0), min(b, stop) - start) for a, b in writer.marks or ())
            yield Row(
                text,
                Scalar(self.tape, one(marked.i)),
                marked,
                spans,
                split,
                isinstance(left.tree, SymbolNode | SlopeNode),
                tuple(writer.decimals),
                equation,
                deep=self._deep(source, left.tree, right.tree),
                definitions=tuple(self.defined.values()),
            )

    def _deep(self, source: Characters, left: Tree, right: Tree) -> Scalar | None:
        """The row with marks on the terms of its definitions; None where it uses none."""
        if not self.defined:
            return None
        writer = Writer(self, source, intermediates=Intermediates.MARKED)
        return writer.value(left) - writer.value(right)

    def _has_rates(self, tree: Tree) -> bool:
        """Whether an expression without = may be meant as … = 0: it contains rates."""
        node = Writer(self, plain_characters("")).value(tree)
        rates = set(self.tape.rates.values())
        return any(x in rates for x in symbols_of(self.tape, (node.i,)))


class Intermediates(IntEnum):
    """How the names of definitions are written on the tape."""

    PLAIN = 0
    # with marks on the terms of the definitions
    MARKED = 1
    # as symbols of their own
    NAMED = 2


class Writer:
    """A tree on the tape."""

    def __init__(
        self,
        reader: Reader,
        source: Characters,
        marks: list[tuple[int, int]] | None = None,
        *,
        prefix: str = MARK,
        intermediates: Intermediates = Intermediates.PLAIN,
    ) -> None:
        self.reader, self.tape, self.source = reader, reader.tape, source
        self.prefix, self.intermediates = prefix, intermediates
        # the source columns of the marks so far; None where no marks are wanted
        self.marks = marks
        self.decimals: list[Decimal] = []

    @property
    def nodes(self) -> list[int]:
        """The symbols of the marks."""
        return [self.tape.symbol(f"{self.prefix}{k}") for k in range(len(self.marks or ()))]

    def marked(self, tree: Tree, span: tuple[int, int]) -> Scalar:
        """The value with a mark on every addend."""
        if isinstance(tree, SumNode) or self.marks is None:
            return self.value(tree)
        return self._mark(*span) * self.value(tree)

    def _mark(self, start: int, stop: int) -> Scalar:
        assert self.marks is not None
        self.marks.append((start, stop))
        return Scalar(self.tape, self.tape.symbol(f"{self.prefix}{len(self.marks) - 1}"))

    def bare(self, tree: Tree) -> Scalar:
        """The value without marks, inside functions and denominators."""
        marks, self.marks = self.marks, None
        value = self.value(tree)
        self.marks = marks
        return value

    def value(self, tree: Tree) -> Scalar:
        """The value of a tree, with marks on the addends of its sums where they are wanted."""
        match tree:
            case NumberNode(value, decimal):
                return self._number(value, decimal=decimal)
            case SymbolNode(name, dots, start):
                return self._symbol(name, dots, start)
            case SumNode(addends):
                return self._sum(addends)
            case ProductNode(factors, divisors):
                return self._product(factors, divisors)
            case PowerNode(base, exponent, start):
                return self._power(base, exponent, start)
            case CallNode(function, arguments, start):
                return self._call(function, arguments, start)
            case SlopeNode():
                return self._slope(tree)

    def _number(self, value: Fraction, *, decimal: bool) -> Scalar:
        if decimal:
            digits = 0
            while (value * 10**digits).denominator > 1 and digits < 60:
                digits += 1
            self.decimals.append(Decimal(value, digits))
            value = self.reader.instead.get(value, value)
        return Scalar(self.tape, self.tape.const(value))

    def _symbol(self, name: str, dots: int, start: int) -> Scalar:
        known = self.reader.names.known.get(name)
        if self.intermediates and name in self.reader.defined:
            marked = self.intermediates is Intermediates.MARKED
            definition = self.reader.defined[name]
            known = definition.marked.i if marked else self.tape.private_symbol(name)
        node = self.reader.quantity(name) if known is None else known
        if node is None:
            refuse(self.source, start, self.reader.names.unknown(name))
        if dots > 2:
            refuse(self.source, start, f"{name} with {dots} dots: at most two time derivatives")
        for _ in range(dots):
            node = self._checked(partial(self._rate, node), start).i
        if dots and node == self.tape.zero:
            refuse(self.source, start, f"{name} is constant: it has no rate")
        return Scalar(self.tape, node)

    def _rate(self, node: int) -> Scalar:
        return Scalar(self.tape, self.reader.rate(node))

    def _checked(self, make: Callable[[], Scalar], start: int) -> Scalar:
        try:
            return make()
        except CannotRead:
            raise
        except BadExpression as problem:
            refuse(self.source, start, str(problem))

    def _sum(self, addends: tuple[object, ...]) -> Scalar:
        total = Scalar(self.tape, self.tape.zero)
        for addend in addends:
            sign, tree = addend.sign, addend.value  # type: ignore[attr-defined]
            start, stop = addend.start, addend.stop  # type: ignore[attr-defined]
            own = self._mark(start, stop) if self.marks is not None else None
            value = self.value(tree)
            value = value if own is None else own * value
            total = total + value if sign > 0 else total - value
        return total

    def _product(self, factors: tuple[Tree, ...], divisors: tuple[Tree, ...]) -> Scalar:
        value = Scalar(self.tape, self.tape.one)
        for factor in factors:
            value = value * self.value(factor)
        for divisor in divisors:
            below = self.bare(divisor)
            if below.i == self.tape.zero:
                refuse(self.source, 0, "a division by zero")
            value = value / below
        return value

    def _power(self, base: Tree, exponent: Tree, start: int) -> Scalar:
        r = self.bare(exponent).value
        if r is None:
            refuse(self.source, start, "an exponent must be a number")
        r = Fraction(r)
        if abs(r.numerator) > LARGEST_POWER or r.denominator > 2:
            refuse(
                self.source,
                start,
                f"the exponent {r}: only integers up to {LARGEST_POWER} and their halves",
            )
        below = self.bare(base)
        if below.value is not None and abs(r) * max(below.value.numerator.bit_length(), 8) > 10_000:
            refuse(self.source, start, "a number too large")
        return self._checked(lambda: below**r, start)

    def _call(self, function: str, arguments: tuple[Tree, ...], start: int) -> Scalar:
        rule = FUNCTIONS[function][2]
        values = [self.bare(a) for a in arguments]
        return self._checked(lambda: Scalar(self.tape, self.tape.zero) + rule(*values), start)

    def _slope(self, tree: SlopeNode) -> Scalar:
        of = self.bare(tree.of)
        if tree.by is None:
            return self._checked(lambda: self._rate(of.i), tree.start)
        by = tree.by.name + "'" * tree.by.dots
        return self._checked(lambda: Scalar(self.tape, self.reader.slope(of.i, by)), tree.start)
