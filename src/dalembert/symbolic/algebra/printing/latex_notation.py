r"""A tree written in LaTeX: \frac{1}{4} m r^{2} \left(1 + 5 \cos^{2} \theta\right) \ddot{\phi}

50 % of Aᵀλ → 50 \% of $A^{T}\lambda$: words that mean themselves in LaTeX; what no text font has
becomes mathematics.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Final

from dalembert.symbolic.algebra.printing import print_tree as t
from dalembert.symbolic.algebra.printing.symbol_names import (
    LATEX_DOTS,
    LATEX_LETTERS,
    is_word,
    latex_name,
)
from dalembert.symbolic.algebra.printing.unicode_notation import RAISED, decimal

ESCAPES: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "–": "--", "§": r"\S{}", "…": r"\dots{}",
    "’": "'", "\n": " ",
}  # fmt: skip
# what a letter or a sign of a formula is called
LETTERS: Final = LATEX_LETTERS | {
    "ο": "o", "∂": r"\partial", "∇": r"\nabla", "∞": r"\infty", "…": r"\dots", "′": "'", "″": "''",
    "‴": "'''",
    "𝒰": r"\mathcal{U}", "𝒫": r"\mathcal{P}", "𝓗": r"\mathcal{H}",
}  # fmt: skip
SIGNS: Final = {
    "−": "-", "·": r"\cdot", "×": r"\times", "→": r"\to", "≠": r"\neq", "≤": r"\le", "≥": r"\ge",
    "±": r"\pm", "∈": r"\in",
    "Σ": r"\sum", "√": r"\sqrt{}", "∫": r"\int", "½": r"\tfrac{1}{2}", "⅓": r"\tfrac{1}{3}",
    "⅔": r"\tfrac{2}{3}", "¼": r"\tfrac{1}{4}",
}  # fmt: skip
ACCENTS: Final = {"\u0307": r"\dot", "\u0308": r"\ddot", "\u0304": r"\bar", "\u0302": r"\hat"}
LOW: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789aehijklmnoprstuvx", strict=True))
HIGH: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀᴺᴮᴾ", "0123456789-TNBP", strict=True))


def escape(words: str) -> str:
    """Words as LaTeX text."""
    clusters = list(_clusters(words))
    strange = [_needs_math_mode(c) for c in clusters]
    # Aᵀ: a letter belongs to the index that follows it
    indexed = [following[0] in LOW | HIGH for following in [*clusters, " "][1:]]
    joined = [
        s or (c.isascii() and c.isalpha() and has_index)
        for c, s, has_index in zip(clusters, strange, indexed, strict=True)
    ]
    runs = groupby(zip(clusters, joined, strict=True), key=lambda pair: pair[1])
    return "".join(
        f"${_mathematics([c for c, _ in run])}$"
        if math
        else "".join(ESCAPES.get(c, c) for c, _ in run)
        for math, run in runs
    )


def _clusters(words: str) -> Iterator[str]:
    """Every character with the marks above it; letters that carry one are taken apart, ½ and ²
    are not.
    """
    held = ""
    for c in words:
        for x in (
            unicodedata.normalize("NFD", c)
            if unicodedata.category(c).startswith("L") and not ord(c) < 256
            else c
        ):
            if unicodedata.combining(x):
                held += x
                continue
            if held:
                yield held
            held = x
    if held:
        yield held


def _needs_math_mode(cluster: str) -> bool:
    """Whether no text font has it."""
    known = cluster in LETTERS or cluster in SIGNS or cluster in LOW or cluster in HIGH
    return len(cluster) > 1 or ((known or ord(cluster) > 255) and cluster not in ESCAPES)


def _mathematics(clusters: list[str]) -> str:
    def kind(c: str) -> str:
        return "_" if c in LOW else "^" if c in HIGH else ""

    out = []
    for script, run in groupby(clusters, key=kind):
        if script:
            out.append(f"{script}{{{''.join((LOW | HIGH)[c] for c in run)}}}")
        else:
            out += [_letter(c) for c in run]
    return "".join(x + " " * (x.startswith("\\") and x[-1].isalpha()) for x in out).strip()


def _letter(cluster: str) -> str:
    letter = SIGNS.get(cluster[0]) or LETTERS.get(cluster[0], cluster[0])
    for mark in cluster[1:]:
        letter = f"{ACCENTS.get(mark, chr(92) + 'tilde')}{{{letter}}}"
    return letter


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
            case t.SignedTerms(parts):
                return t.join_signed([(minus, self(part)) for minus, part in parts])
            case t.Factors(factors):
                return self._product(factors)
            case t.Superscript(base, exponent):
                return f"{self(base)}^{{{exponent}}}"
            case t.Call():
                return self._call(tree)
            case t.Group(inside):
                return f"\\left({self(inside)}\\right)"
            case t.FractionBar(above, below):
                return f"\\frac{{{self(above)}}}{{{self(below)}}}"
            case t.Equality(left, right):
                return f"{self(left)} = {self(right)}"
            case _:
                return self._other(tree)

    def _other(self, tree: t.Tree) -> str:
        """Nodes of the formulas of the books."""
        match tree:
            case t.Letter():
                return self._letter(tree)
            case t.Subscript(base, below):
                return f"{self(base)}_{{{self(below)}}}"
            case t.Infix(left, sign, right):
                return f"{self(left)} {SIGNS.get(sign, sign)} {self(right)}"
            case t.Continuation(sign, part):
                return f"{SIGNS.get(sign, sign) if sign != ':' else WORDS_END} {self(part)}"
            case t.Adjacent(parts, spaced):
                return (
                    " ".join(map(self, parts))
                    if spaced
                    else _join_commands([self(x) for x in parts])
                )
            case t.CommaList(parts):
                return ", ".join(map(self, parts))
            case t.SummationSign(of, over):
                return f"\\sum{f'_{{{over}}}' if over else ''} {self(of)}"
            case t.IntegralSign(inside, by, end):
                limits = "" if end is None else f"_{{0}}^{{{self(end)}}}"
                return f"\\int{limits} {self(inside)}\\,d{self(by)}"
            case t.UnitVector(frame, axis):
                name = latex_name(frame) if frame.isidentifier() else f"\\text{{{escape(frame)}}}"
                return f"\\mathbf{{e}}^{{{name}}}_{{{axis}}}"
            case t.MatrixBrackets(rows):
                return self._matrix(rows)
            case _:
                return self._surroundings(tree)

    def _surroundings(self, tree: t.Tree) -> str:
        """Nodes of what surrounds expressions: words, notes, definitions."""
        match tree:
            case t.Prose(text):
                return f"\\text{{{escape(text)}}}" if text else ""
            case t.OmittedPart():
                return r"\dots"
            case t.Annotated(of, note):
                return f"{self(of)}\\quad[{self(note)}]"
            case t.WithDefinitions(main, definitions):
                return f"{self(main)} \\quad\\text{{{tree.words}: }} " + r",\; ".join(
                    map(self, definitions)
                )
        raise TypeError(tree)

    def _matrix(self, rows: Sequence[Sequence[t.Tree]]) -> str:
        """In braces, so that no line is broken inside."""
        entries = " \\\\ ".join(" & ".join(map(self, row)) for row in rows)
        return f"{{\\begin{{bmatrix}} {entries} \\end{{bmatrix}}}}"

    def _product(self, factors: tuple[t.Tree, ...]) -> str:
        written = self(factors[0])
        for before, factor in pairwise(factors):
            # words and unit vectors need a thin space to stay apart; letters do not
            unit = isinstance(factor, t.UnitVector)
            written += (
                "\\," if unit else "\\, " if _is_upright(before) or _is_upright(factor) else " "
            ) + self(factor)
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
            return (
                f"{name}{power} {inside}" if call.bare else f"{name}{power}\\left({inside}\\right)"
            )
        return f"{name}\\left({inside}\\right){power}"

    def _letter(self, a: t.Letter) -> str:
        word = len(a.letter) > 2 and a.letter.isascii() and a.letter.isalpha()
        shown = (
            f"\\mathrm{{{a.letter}}}"
            if word
            else _join_commands([LETTERS.get(c, c) for c in a.letter])
        )
        shown = f"\\boldsymbol{{{shown}}}" if a.bold else shown
        shown = f"\\{a.accent}{{{shown}}}" if a.accent else shown
        shown = f"{LATEX_DOTS[a.dots]}{{{shown}}}" if a.dots else shown
        above = ",".join(map(self, a.above)) + "*" * a.star
        below = ("," if any(isinstance(i, t.NamedSymbol) for i in a.below) else "").join(
            map(self, a.below)
        )
        return shown + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _fraction(k: Fraction, *, small: bool) -> str:
    bar = f"{{{k.numerator}}}{{{k.denominator}}}"
    return f"\\tfrac{bar}" if small else decimal(k) or f"\\frac{bar}"


def _join_commands(parts: list[str]) -> str:
    r"""∂ next to T: \partial T, since \partialT is another command."""
    written = ""
    for part in parts:
        written += " " * (written[-1:].isalpha() and part[:1].isalpha() and "\\" in written) + part
    return written


def _is_upright(tree: t.Tree) -> bool:
    base = tree.base if isinstance(tree, t.Superscript) else tree
    return isinstance(base, t.NamedSymbol) and is_word(base.shown)
