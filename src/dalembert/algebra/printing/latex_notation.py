r"""A tree written in LaTeX: \frac{1}{4} m r^{2} \left(1 + 5 \cos^{2} \theta\right) \ddot{\phi}"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Final

from dalembert.algebra.printing import tree as t
from dalembert.algebra.printing.latex_words import LETTERS, SIGNS, escaped
from dalembert.algebra.printing.names import LATEX_DOTS, is_word, latex_name
from dalembert.algebra.printing.notation import RAISED, decimal

FUNCTIONS: Final = {
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "atan": r"\arctan",
    "sign": r"\operatorname{sign}",
    "atan2": r"\operatorname{atan2}",
}
# between words and what they announce
WORDS_END: Final = r"\text{:}\quad"


class Latex:
    """LaTeX for one formula; amsmath is needed for matrices and words."""

    def __call__(self, tree: t.Tree) -> str:
        """The formula as it stands between dollar signs."""
        match tree:
            case t.Numeral(value, small):
                return _fraction(value, small=small) if value.denominator > 1 else str(value)
            case t.NamedSymbol(_, shown):
                return latex_name(shown)
            case t.SignedTerms(((negative, first), *rest)):
                return ("-" if negative else "") + self(first) + "".join((" - " if minus else " + ") + self(part) for minus, part in rest)
            case t.Factors(factors):
                return self._product(factors)
            case t.Raised(base, exponent):
                return f"{self(base)}^{{{exponent}}}"
            case t.Call():
                return self._call(tree)
            case t.Group(inside):
                return f"\\left({self(inside)}\\right)"
            case t.FractionBar(above, below):
                return f"\\frac{{{self(above)}}}{{{self(below)}}}"
            case t.Sides(left, right):
                return f"{self(left)} = {self(right)}"
            case _:
                return self._other(tree)

    def _other(self, tree: t.Tree) -> str:
        """What stands in formulas of the books, or around expressions."""
        match tree:
            case t.Letter():
                return self._letter(tree)
            case t.Indexed(base, below):
                return f"{self(base)}_{{{self(below)}}}"
            case t.Prose(text):
                return f"\\text{{{escaped(text)}}}" if text else ""
            case t.Infix(left, sign, right):
                return f"{self(left)} {SIGNS.get(sign, sign)} {self(right)}"
            case t.Led(sign, part):
                return f"{SIGNS.get(sign, sign) if sign != ':' else WORDS_END} {self(part)}"
            case t.Adjacent(parts, spaced):
                return " ".join(map(self, parts)) if spaced else _touching([self(x) for x in parts])
            case t.Listed(parts):
                return ", ".join(map(self, parts))
            case t.SummationSign(of, over):
                return f"\\sum{f'_{{{over}}}' if over else ''} {self(of)}"
            case t.IntegralSign(inside, by, end):
                limits = "" if end is None else f"_{{0}}^{{{self(end)}}}"
                return f"\\int{limits} {self(inside)}\\,d{self(by)}"
            case t.UnitVector(frame, axis):
                name = latex_name(frame) if frame.isidentifier() else f"\\text{{{escaped(frame)}}}"
                return f"\\mathbf{{e}}^{{{name}}}_{{{axis}}}"
            case t.Bracketed(rows):
                # in braces, so that no line is broken inside
                return "{\\begin{bmatrix} " + " \\\\ ".join(" & ".join(map(self, row)) for row in rows) + " \\end{bmatrix}}"
            case t.TooLongToWrite():
                return r"\dots"
            case t.Noted(of, note):
                return f"{self(of)}\\quad[{self(note)}]"
            case t.Defined(main, definitions):
                return f"{self(main)} \\quad\\text{{{tree.words}: }} " + r",\; ".join(map(self, definitions))
        raise TypeError(tree)

    def _product(self, factors: tuple[t.Tree, ...]) -> str:
        written = self(factors[0])
        for before, factor in pairwise(factors):
            # words and unit vectors need a thin space to stay apart; letters do not
            unit = isinstance(factor, t.UnitVector)
            written += ("\\," if unit else "\\, " if _is_upright(before) or _is_upright(factor) else " ") + self(factor)
        return written

    def _call(self, call: t.Call) -> str:
        function, k = call.function, call.exponent
        inside = ", ".join(map(self, call.arguments))
        power = f"^{{{k}}}" if k != 1 else ""
        if function == "abs":
            return f"\\left|{inside}\\right|{power}"
        if function == "sqrt":
            return f"\\sqrt{{{inside}}}{power}"
        name = FUNCTIONS.get(function, f"\\{function}")
        if function in RAISED:
            return f"{name}{power} {inside}" if call.bare else f"{name}{power}\\left({inside}\\right)"
        return f"{name}\\left({inside}\\right){power}"

    def _letter(self, a: t.Letter) -> str:
        word = len(a.letter) > 2 and a.letter.isascii() and a.letter.isalpha()
        shown = f"\\mathrm{{{a.letter}}}" if word else _touching([LETTERS.get(c, c) for c in a.letter])
        shown = f"\\{a.accent}{{{shown}}}" if a.accent else shown
        shown = f"{LATEX_DOTS[a.dots]}{{{shown}}}" if a.dots else shown
        above = ",".join(map(self, a.above)) + "*" * a.star
        below = ("," if any(isinstance(i, t.NamedSymbol) for i in a.below) else "").join(map(self, a.below))
        return shown + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _fraction(k: Fraction, *, small: bool) -> str:
    bar = f"{{{k.numerator}}}{{{k.denominator}}}"
    return f"\\tfrac{bar}" if small else decimal(k) or f"\\frac{bar}"


def _touching(parts: list[str]) -> str:
    r"""∂ and T side by side: \partial T, since \partialT is another command."""
    written = ""
    for part in parts:
        written += " " * (written[-1:].isalpha() and part[:1].isalpha() and "\\" in written) + part
    return written


def _is_upright(tree: t.Tree) -> bool:
    base = tree.base if isinstance(tree, t.Raised) else tree
    return isinstance(base, t.NamedSymbol) and is_word(base.shown)
