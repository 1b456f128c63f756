"""A tree written in presentation MathML: <mfrac><mi>a</mi><mi>b</mi></mfrac>.

What comes out is MathML Core, well-formed as XML, with the LaTeX of the same tree as an annotation
to copy.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

from dalembert.symbolic.algebra.printing import print_tree as t
from dalembert.symbolic.algebra.printing.latex_notation import Latex
from dalembert.symbolic.algebra.printing.symbol_names import (
    GREEK,
    NameParts,
    field,
    is_long,
    is_word,
    parts,
)
from dalembert.symbolic.algebra.printing.unicode_notation import RAISED, decimal

NAMESPACE: Final = "http://www.w3.org/1998/Math/MathML"
FUNCTIONS: Final = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
DOTS: Final = {1: "˙", 2: "¨", 3: "\u20db", 4: "\u20dc"}
ACCENTS: Final = {"bar": "¯", "hat": "^"}
THIN: Final = '<mspace width="0.167em"></mspace>'
QUAD: Final = '<mspace width="1em"></mspace>'
APPLIED: Final = "<mo>\u2061</mo>"
# browsers set a dot so low that it touches its letter
ABOVE: Final = 'stretchy="false" style="padding-bottom:0.1em"'
# signs that are printed as they are and are no letters
SIGNS: Final = "…′″‴∂∇∞"
# except tab, line feed and carriage return, all that XML has no character for
_NOT_WRITABLE: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SIDES: Final = (
    'class="left-side" style="text-align:right"',
    'class="right-side" style="text-align:left"',
)
_BRACKETS: Final = ('<mo stretchy="false">[</mo>', '<mo stretchy="false">]</mo>')
# bold e of a unit vector
_UNIT: Final = "<mi>𝐞</mi>"


def math(tree: t.Tree, *, block: bool = False) -> str:
    """A <math> element; block ones stand on lines of their own."""
    return element(row(MathML()(tree)), Latex()(tree), block=block)


def element(presentation: str, latex: str, *, block: bool = False) -> str:
    """A <math> element that carries its LaTeX."""
    display = ' display="block"' if block else ""
    annotation = f'<annotation encoding="application/x-tex">{escape(latex)}</annotation>'
    return (
        f"<math "
        f'xmlns="{NAMESPACE}"{display}><semantics>{presentation}{annotation}</semantics></math>'
    )


def aligned_rows(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells under one another: every second cell begins where the one before it ends."""
    cells = (
        "".join(_tag("mtd", cell, _SIDES[n % 2]) for n, cell in enumerate(row)) for row in rows
    )
    return _tag(
        "mtable", "".join(_tag("mtr", row) for row in cells), 'displaystyle="true" class="aligned"'
    )


def escape(words: str) -> str:
    """Words that mean themselves inside XML and HTML; what XML cannot hold, even escaped, is
    replaced.
    """
    return html.escape(_NOT_WRITABLE.sub("\ufffd", words), quote=True)


def row(elements: Sequence[str]) -> str:
    """Adjacent elements as one."""
    return elements[0] if len(elements) == 1 else _tag("mrow", "".join(elements))


def _tag(name: str, inside: str, attributes: str = "") -> str:
    return f"<{name}{attributes and ' ' + attributes}>{inside}</{name}>"


def sign(glyph: str) -> str:
    """A sign between two parts."""
    return _tag("mo", escape(glyph))


# browsers ignore mathvariant="bold"
BOLD: Final = 'style="font-weight:bold"'


class MathML:
    """Every tree as a list of adjacent elements."""

    def __call__(self, tree: t.Tree) -> list[str]:
        """The elements of one formula."""
        match tree:
            case t.Numeral(value, small):
                return [_number(value, small=small)]
            case t.NamedSymbol(_, shown):
                return [*_symbol(shown)]
            case t.SignedTerms(terms):
                return self._sum(terms)
            case t.Factors(factors):
                return self._product(factors)
            case t.Superscript():
                return self._power(tree)
            case t.Call():
                return self._call(tree)
            case t.Group(inside):
                return [_fence("(", self.one(inside), ")")]
            case t.FractionBar(above, below):
                return [_tag("mfrac", self.one(above) + self.one(below))]
            case t.Equality(left, right):
                return [*self(left), sign("="), *self(right)]
            case _:
                return self._other(tree)

    def one(self, tree: t.Tree) -> str:
        """The formula as one element."""
        return row(self(tree))

    def _other(self, tree: t.Tree) -> list[str]:
        """Nodes of the formulas of the books."""
        match tree:
            case t.Letter():
                return [self._letter(tree)]
            case t.Subscript(base, below):
                *before, last = self(base)
                return [*before, _tag("msub", last + self.one(below))]
            case t.Infix(left, glyph, right):
                return [*self(left), sign(glyph), *self(right)]
            case t.Continuation(glyph, part):
                return [*([words(":"), QUAD] if glyph == ":" else [sign(glyph)]), *self(part)]
            case t.Adjacent(parts_):
                return [x for part in parts_ for x in self(part)]
            case t.CommaList(parts_):
                return [x for part in parts_ for x in (sign(","), *self(part))][1:]
            case t.SummationSign(of, over):
                return [_tag("msub", sign("∑") + _letters(over)) if over else sign("∑"), *self(of)]
            case t.IntegralSign(inside, by, end):
                return [self._integral(end), *self(inside), THIN, _tag("mi", "d"), *self(by)]
            case t.UnitVector(frame, axis):
                name = row(_symbol(frame)) if frame.isidentifier() else words(frame)
                return [_tag("msubsup", _UNIT + _tag("mi", axis) + name)]
            case t.MatrixBrackets(rows):
                return [_fence("[", _tag("mtable", self._cells(rows)), "]")]
            case _:
                return self._surroundings(tree)

    def _surroundings(self, tree: t.Tree) -> list[str]:
        """Nodes of what surrounds expressions: words, notes, definitions."""
        match tree:
            case t.Prose(text):
                return [words(text)] if text else []
            case t.OmittedPart():
                return [sign("…")]
            case t.Annotated(of, note):
                return [*self(of), QUAD, _BRACKETS[0], *self(note), _BRACKETS[1]]
            case t.WithDefinitions(main, definitions):
                rest = [x for d in definitions for x in (sign(","), *self(d))][1:]
                return [*self(main), QUAD, words(f"{tree.words}: "), *rest]
        raise TypeError(tree)

    def _integral(self, end: t.Tree | None) -> str:
        """∫, from 0 to the end if there is one."""
        if end is None:
            return sign("∫")
        return _tag("msubsup", sign("∫") + _tag("mn", "0") + self.one(end))

    def _cells(self, rows: Sequence[Sequence[t.Tree]]) -> str:
        return "".join(_tag("mtr", "".join(_tag("mtd", self.one(x)) for x in row)) for row in rows)

    def _sum(self, terms: Iterable[tuple[bool, t.Tree]]) -> list[str]:
        elements: list[str] = []
        for minus, part in terms:
            if elements:
                elements.append(sign("−" if minus else "+"))
            elif minus:
                # a minus that begins a sum belongs to what follows
                elements.append('<mo form="prefix">−</mo>')
            elements += self(part)
        return elements

    def _product(self, factors: tuple[t.Tree, ...]) -> list[str]:
        elements = self(factors[0])
        for before, factor in pairwise(factors):
            apart = isinstance(factor, t.Call | t.UnitVector) or any(
                isinstance(x, t.NamedSymbol) and is_word(x.shown) for x in (before, factor)
            )
            elements += [THIN] * apart + self(factor)
        return elements

    def _power(self, tree: t.Superscript) -> list[str]:
        exponent = {"T": "<mi>T</mi>"}.get(str(tree.exponent)) or _whole(str(tree.exponent))
        if isinstance(tree.base, t.NamedSymbol):
            return [*_symbol(tree.base.shown, exponent)]
        *before, last = self(tree.base)
        return [*before, _tag("msup", last + exponent)]

    def _call(self, call: t.Call) -> list[str]:
        inside = row([x for a in call.arguments for x in (sign(","), *self(a))][1:])
        power = _tag("mn", str(call.exponent)) if call.exponent != 1 else ""
        if call.function == "abs":
            return [_with_power(_fence("|", inside, "|"), power)]
        if call.function == "sqrt":
            return [_with_power(_tag("msqrt", inside), power)]
        name = _tag("mi", FUNCTIONS.get(call.function, call.function))
        if call.function not in RAISED:
            return [name, APPLIED, _with_power(_fence("(", inside, ")"), power)]
        return [
            _with_power(name, power),
            APPLIED,
            *([THIN, inside] if call.bare else [_fence("(", inside, ")")]),
        ]

    def _letter(self, a: t.Letter) -> str:
        shown = _letters(a.letter)
        shown = shown.replace("<mi>", f"<mi {BOLD}>") if a.bold else shown
        shown = _add_accent(shown, ACCENTS[a.accent]) if a.accent else shown
        shown = _add_accent(shown, DOTS[a.dots]) if a.dots else shown
        below = row([self.one(i) for i in a.below]) if a.below else ""
        above = (
            row([*(self.one(i) for i in a.above), *([sign("∗")] * a.star)])
            if a.above or a.star
            else ""
        )
        return _add_scripts(shown, below, above)


def words(text: str) -> str:
    """Words inside a formula; spaces at their ends do not get lost."""
    bare = text.strip(" ")
    kept = (
        "\u00a0" * text.startswith(" ") + bare + "\u00a0" * text.endswith(" ") if bare else "\u00a0"
    )
    return _tag("mtext", escape(kept))


def _fence(opening: str, inside: str, closing: str) -> str:
    # around letters and indices alone browsers would take the next size for what hangs below the
    # line
    grows = "true" if "<mfrac" in inside or "<mtable" in inside else "false"
    left, right = (
        _tag("mo", glyph, f'fence="true" stretchy="{grows}"') for glyph in (opening, closing)
    )
    return _tag("mrow", left + inside + right)


def _with_power(base: str, power: str) -> str:
    return _tag("msup", base + power) if power else base


def _add_scripts(base: str, below: str, above: str) -> str:
    if not below and not above:
        return base
    return _tag("msubsup" if below and above else "msub" if below else "msup", base + below + above)


def _add_accent(base: str, mark: str) -> str:
    return _tag("mover", base + _tag("mo", mark, ABOVE), 'accent="true"')


def _number(value: Fraction, *, small: bool) -> str:
    shown = None if small else decimal(value)
    if value.denominator == 1 or shown:
        return _tag("mn", shown or str(value))
    return _tag("mfrac", _tag("mn", str(value.numerator)) + _tag("mn", str(value.denominator)))


def _whole(exponent: str) -> str:
    digits = _tag("mn", exponent.lstrip("-"))
    return row([sign("−"), digits]) if exponent.startswith("-") else digits


def _letters(text: str) -> str:
    """Letters of the books: each by itself, a word as one."""
    if text.isdigit():
        return _tag("mn", text)
    if len(text) > 2 and text.isascii() and text.isalpha():
        return _tag("mi", text)
    return row(
        [_tag("mo" if c in SIGNS and c != "∂" else "mi", escape(c), _upright(c)) for c in text]
    )


def _upright(letter: str) -> str:
    """Greek capitals stand upright."""
    return 'mathvariant="normal"' if letter in GREEK.values() and letter.isupper() else ""


@lru_cache(maxsize=4096)
def _symbol(name: str, power: str = "") -> tuple[str, ...]:
    """A name taken apart: θ with its dots, indices, derivatives along a member, place; the power is
    above the index.
    """
    taken = parts(name)
    _, primes, place = field(name)
    slopes = "" if not primes else sign("′" * primes) if primes < 4 else _count(primes)
    shown = _add_scripts(_dotted_letter(taken), _indices(taken), slopes or power)
    shown = _with_power(shown, power) if slopes else shown
    return (shown, words(place)) if place else (shown,)


def _dotted_letter(name: NameParts) -> str:
    shown = _one(name.letters)
    if not name.dots:
        return shown
    if is_long(name.letters):
        # dots of a word would be above its middle
        return _tag("msup", shown + sign("′" * name.dots))
    return (
        _add_accent(shown, DOTS[name.dots])
        if name.dots in DOTS
        else _tag("msup", shown + _count(name.dots))
    )


def _count(k: int) -> str:
    """(5), the number of a derivative."""
    return _tag("mrow", f'<mo stretchy="false">(</mo><mn>{k}</mn><mo stretchy="false">)</mo>')


def _indices(name: NameParts) -> str:
    return (
        row([x for s in name.subscripts for x in (sign(","), _one(s))][1:])
        if name.subscripts
        else ""
    )


def _one(letters: str) -> str:
    if letters.isdigit():
        return _tag("mn", letters)
    shown = GREEK.get(letters, letters)
    return _tag("mi", escape(shown), _upright(shown))
