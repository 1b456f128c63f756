"""A tree written on one line of Unicode, or as a program reads it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from dalembert.symbolic.algebra.printing import print_tree as t
from dalembert.symbolic.algebra.printing.symbol_names import (
    DOTS,
    GREEK,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    superscript,
    unicode_name,
)

# functions whose power stands after their name: cos² θ
RAISED: Final = frozenset({"sin", "cos", "sinh", "cosh"})
FRACTIONS: Final = {
    Fraction(1, 2): "½",
    Fraction(1, 3): "⅓",
    Fraction(2, 3): "⅔",
    Fraction(1, 4): "¼",
}
ACCENTS: Final = {"bar": "\u0304", "hat": "\u0302", "": ""}
HIGH: Final = {"T": "ᵀ", "-1": "⁻¹"}
_ENDS: Final = str.maketrans("L0123456789abdehiklmprst", "ᴸ⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᵈᵉʰⁱᵏˡᵐᵖʳˢᵗ")
# stands before a sign at which a line may be broken
_BREAK: Final = "\x1e"
# a longer number was not typed: it is a product of measured ones
_MOST_BITS: Final = 256


def decimal(k: Fraction) -> str | None:
    """9.81 for 981/100: a fraction that is shorter, and better known, as a decimal number;
    0.123456789012… for one of many digits.
    """
    if k.denominator < 20:
        return None
    if k.numerator.bit_length() + k.denominator.bit_length() > _MOST_BITS:
        return f"{Decimal(k.numerator) / k.denominator:.12g}…"
    places, left = 0, k.denominator
    while left % 10 == 0 or left % 5 == 0 or left % 2 == 0:
        left //= 10 if left % 10 == 0 else 5 if left % 5 == 0 else 2
        places += 1
    if left != 1:
        return None
    whole, part = divmod(k * 10**places, 10**places)
    shown = f"{whole}.{int(part):0{places}d}".rstrip("0")
    return shown if len(shown) < len(str(k)) else None


def is_single(tree: t.Tree) -> bool:
    """Whether a tree needs no parentheses below a slash."""
    if isinstance(tree, t.Numeral):
        return tree.value.denominator == 1
    return not isinstance(
        tree, t.Factors | t.SignedTerms | t.FractionBar | t.Infix | t.Equality | t.SummationSign
    )


class Text:
    """Unicode on one line: 1/4 m r² (1 + 5 cos² θ) φ̈"""

    def __init__(self, depth: int = -1) -> None:
        # a line may be broken at signs at most this number of parentheses deep
        self.depth = depth

    def __call__(self, tree: t.Tree) -> str:
        """The formula on one line; a matrix takes several."""
        return self._write(tree, 0)

    def _write(self, tree: t.Tree, level: int, *, closed: bool = False) -> str:
        """`level` counts parentheses; `closed` functions have some, so that sin θ/r is not read
        as sin(θ/r).
        """
        match tree:
            case t.Numeral(value, small):
                return FRACTIONS.get(value, str(value)) if small else decimal(value) or str(value)
            case t.NamedSymbol(_, shown):
                return unicode_name(shown)
            case t.SignedTerms(parts):
                return self._sum(parts, level)
            case t.Factors(factors):
                return " ".join(self._write(x, level, closed=closed) for x in factors)
            case t.Superscript(base, exponent):
                return self._write(base, level, closed=closed) + (
                    HIGH[exponent] if isinstance(exponent, str) else superscript(exponent)
                )
            case t.Call():
                return self._call(tree, level, closed=closed)
            case t.Group(inside):
                return f"({self._write(inside, level + 1)})"
            case t.FractionBar(above, below):
                return self._quotient(above, below, level)
            case t.Equality(left, right):
                return (
                    f"{self._write(left, level)}{self._joint(level)}= {self._write(right, level)}"
                )
            case _:
                return self._other(tree, level)

    def _other(self, tree: t.Tree, level: int) -> str:
        """Nodes of the formulas of the books, and of what surrounds expressions."""
        match tree:
            case t.Letter():
                return self._letter(tree, level)
            case t.Subscript(base, below):
                return f"{self._write(base, level)}_{self._write(below, level)}"
            case t.Prose(text):
                return text
            case t.Infix(left, sign, right):
                space = "" if sign == "·" else " "
                return f"{self._write(left, level)}{space}{sign}{space}{self._write(right, level)}"
            case t.Continuation(sign, part):
                return f"{sign} {self._write(part, level)}"
            case t.Adjacent(parts, spaced):
                return (" " if spaced else "").join(self._write(x, level) for x in parts)
            case t.CommaList(parts):
                return ", ".join(self._write(x, level) for x in parts)
            case t.SummationSign(of, over):
                return f"Σ{f'_{over}' if over else ''} {self._write(of, level)}"
            case t.IntegralSign():
                return self._integral(tree, level)
            case t.UnitVector(frame, axis):
                return f"{GREEK.get(frame, frame)}.{axis}"
            case t.MatrixBrackets(rows):
                return _matrix_lines([[self(x) for x in row] for row in rows])
            case t.OmittedPart():
                return "…"
            case t.Annotated(of, note):
                return f"{self._write(of, level)}    [{self._write(note, level + 1)}]"
            case t.WithDefinitions(main, definitions):
                return f"{self._write(main, level)}, {tree.words}: " + "; ".join(
                    self._write(d, level) for d in definitions
                )
        raise TypeError(tree)

    def _joint(self, level: int) -> str:
        return _BREAK if level <= self.depth else " "

    def _sum(self, parts: tuple[tuple[bool, t.Tree], ...], level: int) -> str:
        (negative, first), *rest = parts
        joint = self._joint(level)
        written = ("−" if negative else "") + self._write(first, level)
        return written + "".join(
            f"{joint}{'−' if minus else '+'} {self._write(part, level)}" for minus, part in rest
        )

    def _call(self, call: t.Call, level: int, *, closed: bool) -> str:
        function, k = call.function, call.exponent
        inside = ", ".join(self._write(x, level + 1) for x in call.arguments)
        power = superscript(k) if k != 1 else ""
        bare = call.bare and not closed
        if function == "abs":
            return f"|{inside}|{power}"
        if function == "sqrt":
            root = f"√{inside}" if bare else f"√({inside})"
            return f"({root}){power}" if power else root
        if function in RAISED:
            return f"{function}{power} {inside}" if bare else f"{function}{power}({inside})"
        return f"{function}({inside}){power}"

    def _quotient(self, above: t.Tree, below: t.Tree, level: int) -> str:
        several = isinstance(above, t.SignedTerms)
        top = (
            f"({self._write(above, level + 1)})"
            if several
            else self._write(above, level, closed=True)
        )
        single = is_single(below)
        bottom = self._write(below, level if single else level + 1, closed=True)
        return f"{top}/{bottom}" if single else f"{top}/({bottom})"

    def _letter(self, a: t.Letter, level: int) -> str:
        """F₁, p_θ, γ³₁₂: small indices where all of them are digits, or a short name."""
        marked = unicodedata.normalize("NFC", a.letter + ACCENTS[a.accent] + DOTS.get(a.dots, ""))
        below, above = ([self._write(i, level) for i in indices] for indices in (a.below, a.above))
        lowered = not below or below[0].isdigit() or not isinstance(a.below[0], t.Letter)
        small = lowered and all(ord(c) in SUBSCRIPTS for i in below for c in i)
        shown = _digits(below).translate(SUBSCRIPTS) if small else "".join(f"_{i}" for i in below)
        high = all(ord(c) in SUPERSCRIPTS for i in above for c in i)
        raised = _digits(above).translate(SUPERSCRIPTS) if high else "".join(f"^{i}" for i in above)
        return marked + raised + shown + "*" * a.star

    def _integral(self, a: t.IntegralSign, level: int) -> str:
        inside, by = self._write(a.inside, level), self._write(a.by, level)
        if a.end is None:
            return f"∫{inside} d{by}"
        end = self._write(a.end, level)
        raised = end.translate(_ENDS)
        limits = (
            f"∫₀{raised}"
            if all(x != y for x, y in zip(end, raised, strict=True))
            else f"∫[0, {end}]"
        )
        return f"{limits} {inside} d{by}"

    @classmethod
    def breakable_parts(cls, tree: t.Tree, depth: int) -> list[str]:
        """The formula cut before every sign at most `depth` parentheses deep; joined by spaces
        the pieces give it back.
        """
        return cls(depth)(tree).split(_BREAK)


def _digits(indices: list[str]) -> str:
    """12, or 1,12 where an index has two digits."""
    return ("," if any(len(i) > 1 for i in indices) else "").join(indices)


def _matrix_lines(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(entry.center(width) for entry, width in zip(row, widths, strict=True))
        for row in rows
    ]
    if len(lines) == 1:
        return f"[ {lines[0]} ]"
    left, right = (
        top + middle * (len(lines) - 2) + bottom for top, middle, bottom in ("⎡⎢⎣", "⎤⎥⎦")
    )
    return "\n".join(f"{a} {line} {b}" for a, line, b in zip(left, lines, right, strict=True))


class SourceNotation:
    """What `s.expression` reads: 1/4*m*r**2*(1 + 5*cos(theta)**2)*phi''"""

    def __call__(self, tree: t.Tree) -> str:
        """The expression as a program reads it."""
        match tree:
            case t.Numeral(value):
                return str(value)
            case t.NamedSymbol(name):
                return name
            case t.Letter("π"):
                return "pi"
            case t.SignedTerms(parts):
                return t.join_signed([(minus, self(part)) for minus, part in parts])
            case t.Factors(factors):
                return "*".join(self(x) for x in factors)
            case t.Superscript(base, exponent):
                return f"{self(base)}**{exponent}"
            case t.Call(function, arguments, exponent):
                return f"{function}({', '.join(map(self, arguments))})" + (
                    f"**{exponent}" if exponent != 1 else ""
                )
            case t.Group(inside):
                return f"({self(inside)})"
            case t.FractionBar(above, below):
                top = f"({self(above)})" if isinstance(above, t.SignedTerms) else self(above)
                return f"{top}/{self(below)}" if is_single(below) else f"{top}/({self(below)})"
            case t.Equality(left, right):
                return self(left) if right == t.ZERO else f"{self(left)} - ({self(right)})"
        raise NotImplementedError(tree)
