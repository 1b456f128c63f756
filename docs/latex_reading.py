r"""\frac{a}{b} → <mfrac><mi>a</mi><mi>b</mi></mfrac>: MathML of the LaTeX that is typed in these
pages.

Only the commands that occur are known; any other is an error. What comes out is MathML Core with
its LaTeX as an annotation.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from dalembert.errors import BadExpression
from dalembert.symbolic.algebra.printing.symbol_names import GREEK

NAMESPACE: Final = "http://www.w3.org/1998/Math/MathML"
LETTERS: Final = {name: letter for name, letter in GREEK.items() if name != "lam"} | {
    "ell": "ℓ",
    "partial": "∂",
    "nabla": "∇",
    "infty": "∞",
}
OPERATORS: Final = {
    "sum": "∑", "int": "∫", "cdot": "·", "times": "×", "to": "→", "neq": "≠", "le": "≤", "ge": "≥",
    "pm": "±", "in": "∈",
    "dots": "…", "vert": "|", "mid": "|", "backslash": "\\", "approx": "≈", "equiv": "≡",
    "ldots": "…", "cdots": "⋯", "vdots": "⋮",
}  # fmt: skip
FUNCTIONS: Final = frozenset({
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "exp", "log", "min",
    "max", "det",
})  # fmt: skip
ACCENTS: Final = {
    "dot": "˙",
    "ddot": "¨",
    "dddot": "\u20db",
    "ddddot": "\u20dc",
    "bar": "¯",
    "hat": "^",
    "tilde": "~",
}
SPACES: Final = {
    ",": "0.167em",
    ";": "0.278em",
    ":": "0.222em",
    " ": "0.25em",
    "quad": "1em",
    "qquad": "2em",
    "!": "0em",
}
FENCES: Final = {"bmatrix": "[]", "pmatrix": "()", "matrix": "", "aligned": "", "align*": ""}
TEXT_COMMANDS: Final = {
    "textbackslash": "\\",
    "textasciicircum": "^",
    "textasciitilde": "~",
    "S": "§",
    "dots": "…",
}
THIN: Final = '<mspace width="0.167em"></mspace>'
# browsers set a dot so low that it touches its letter
ABOVE: Final = 'stretchy="false" style="padding-bottom:0.1em"'
BOLD_CAPITAL, BOLD_SMALL = 0x1D400, 0x1D41A

_TOKEN: Final = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
# what XML cannot hold, even escaped
_UNWRITABLE: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def math(latex: str, *, block: bool = False) -> str:
    """A <math> element; block ones stand on lines of their own."""
    display = ' display="block"' if block else ""
    annotation = f'<annotation encoding="application/x-tex">{escaped(latex)}</annotation>'
    return (
        f"<math "
        f'xmlns="{NAMESPACE}"{display}>'
        f"<semantics>{presentation(latex)}{annotation}</semantics></math>"
    )


def presentation(latex: str) -> str:
    """The same formula as one MathML element."""
    return _Reader(latex).whole()


def escaped(words: str) -> str:
    """Words that mean themselves inside XML and HTML."""
    return html.escape(_UNWRITABLE.sub("\ufffd", words), quote=True)


def _element(tag: str, inside: str, attributes: str = "") -> str:
    return f"<{tag}{attributes and ' ' + attributes}>{inside}</{tag}>"


def _row(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else _element("mrow", "".join(parts))


def _primes(before: str) -> str:
    """′, ″, ‴ for one mark more."""
    return _element("mo", "′" * (1 + before.count("′")))


def _fence(sign: str) -> str:
    return _element("mo", escaped(sign), 'fence="true" stretchy="true"')


class _Reader:
    """LaTeX read from left to right; each method takes what it needs and returns an element."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = _TOKEN.findall(latex)
        self.at = 0

    # ---- tokens ------------------------------------------------------------------------------

    def _skip(self) -> str:
        """The next token that is not a space, without taking it; empty at the end."""
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._skip()
        if not token:
            self._refuse("it ends too early")
        self.at += 1
        return token

    def _expect(self, token: str) -> None:
        found = self._take()
        if found != token:
            self._refuse(f"{token} is missing before {found}")

    def _refuse(self, why: str) -> NoReturn:
        msg = f"LaTeX that cannot be read, {why}: {self.latex}"
        raise BadExpression(msg)

    # ---- rows and groups ---------------------------------------------------------------------

    def whole(self) -> str:
        row = self._until(())
        if self._skip():
            self._refuse(f"{self._skip()} closes nothing")
        return row

    def _until(self, ends: tuple[str, ...]) -> str:
        """Everything up to one of the ends, which stays."""
        parts: list[str] = []
        while (
            (sign := self._skip())
            and sign not in ends
            and sign not in ("}", "\\right", "&", "\\\\", "\\end")
        ):
            # sin and cos stand a little apart from the factor before them
            if (
                sign[:1] == "\\"
                and sign[1:] in FUNCTIONS
                and parts
                and not parts[-1].startswith("<mo>")
            ):
                parts.append(THIN)
            # a minus that begins a sum belongs to what follows
            if sign == "-" and (not parts or parts[-1].startswith("<mo>")):
                self._take()
                parts.append('<mo form="prefix">−</mo>')
                continue
            parts += self._scripted()
        return _row(parts)

    def _group(self) -> str:
        """{…}, or one token as LaTeX takes it."""
        if self._skip() != "{":
            return self._atom()
        self._take()
        inside = self._until(("}",))
        self._expect("}")
        return inside

    def _raw_group(self) -> str:
        """What stands between braces, as written; spaces count."""
        self._expect("{")
        start, depth = self.at, 1
        while depth:
            if self.at == len(self.tokens):
                self._refuse("a brace is not closed")
            depth += {"{": 1, "}": -1}.get(self.tokens[self.at], 0)
            self.at += 1
        return "".join(self.tokens[start : self.at - 1])

    def _scripted(self) -> list[str]:
        """An atom with what stands below and above it; a function is applied to what follows."""
        name = self._skip()
        base = self._atom()
        low = high = ""
        while (mark := self._skip()) in ("_", "^", "'"):
            self._take()
            if mark == "'":
                high = _primes(high)
            elif mark == "_" and not low:
                low = self._group()
            elif mark == "^" and not high:
                high = self._group()
            else:
                self._refuse(f"two {mark} follow one another")
        if low or high:
            tag = "msubsup" if low and high else "msub" if low else "msup"
            base = _element(tag, base + low + high)
        if not (name.startswith("\\") and name[1:] in FUNCTIONS):
            return [base]
        return [base, "<mo>\u2061</mo>"] + [THIN] * (self._skip() not in ("\\left", "("))

    # ---- atoms -------------------------------------------------------------------------------

    def _atom(self) -> str:
        sign = self._take()
        if sign.startswith("\\"):
            return self._command(sign[1:])
        if sign == "{":
            self.at -= 1
            return self._group()
        if sign in "_^}&$#%~":
            self._refuse(f"{sign} stands where it cannot")
        if sign[0].isdigit():
            return _element("mn", sign)
        if sign.isalpha():
            return _element("mi", escaped(sign))
        if sign in "()[]|":
            return _element("mo", sign, 'stretchy="false"')
        return _element("mo", escaped({"-": "−", "'": "′", "*": "∗"}.get(sign, sign)))

    def _command(self, name: str) -> str:
        if name in LETTERS:
            return _element(
                "mi", LETTERS[name], 'mathvariant="normal"' if name[0].isupper() else ""
            )
        if name in OPERATORS:
            return _element("mo", escaped(OPERATORS[name]))
        if name in FUNCTIONS:
            return _element("mi", name)
        if name in ACCENTS:
            return _element(
                "mover", self._group() + _element("mo", ACCENTS[name], ABOVE), 'accent="true"'
            )
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"></mspace>'
        if len(name) == 1 and not name.isalpha():
            return _element("mo", escaped(name))
        build: dict[str, Callable[[], str]] = {
            "frac": self._fraction, "tfrac": self._fraction, "sqrt": lambda: _element("msqrt",
            self._group()), "left": self._fenced,
            "begin": self._array, "text": lambda: _text(self._raw_group()), "mathrm": self._upright,
            "operatorname": self._upright,
            "mathbf": self._bold,
        }  # fmt: skip
        if name not in build:
            self._refuse(f"\\{name} is unknown")
        return build[name]()

    def _fraction(self) -> str:
        above = self._group()
        return _element("mfrac", above + self._group())

    def _upright(self) -> str:
        word = _plain(self._raw_group())
        return _element("mi", escaped(word), 'mathvariant="normal"' if len(word) == 1 else "")

    def _bold(self) -> str:
        word = self._raw_group()
        return _element("mi", "".join(_bold_letter(c) for c in word))

    def _fenced(self) -> str:
        opening = self._take()
        inside = self._until(("\\right",))
        self._expect("\\right")
        return _element("mrow", _fence(opening) + inside + _fence(self._take()))

    def _array(self) -> str:
        """Rows of cells; in an alignment every second cell begins where the one before ends."""
        name = self._raw_group()
        if name not in FENCES:
            self._refuse(f"the environment {name} is unknown")
        rows, cells = [], [self._until(())]
        while (mark := self._take()) != "\\end":
            if mark == "\\\\":
                rows.append(cells)
                cells = []
            elif mark != "&":
                self._refuse(f"{mark} stands where it cannot")
            cells.append(self._until(()))
        if self._raw_group() != name:
            self._refuse(f"{name} does not end")
        return _table([*rows, cells], FENCES[name], aligned="align" in name)


def _table(rows: Sequence[Sequence[str]], fences: str, *, aligned: bool) -> str:
    sides = (
        'class="left-side" style="text-align:right"',
        'class="right-side" style="text-align:left"',
    )
    written = "".join(
        _element(
            "mtr",
            "".join(
                _element("mtd", cell, sides[n % 2] if aligned else "") for n, cell in enumerate(row)
            ),
        )
        for row in rows
    )
    table = _element("mtable", written, 'displaystyle="true" class="aligned"' if aligned else "")
    return _element("mrow", _fence(fences[0]) + table + _fence(fences[1])) if fences else table


def _text(words: str) -> str:
    r"""\text{…}, where mathematics may stand between dollar signs."""
    spans = re.split(r"(?<!\\)\$", words)
    parts = [
        presentation(span) if n % 2 else _element("mtext", escaped(_kept(_plain(span))))
        for n, span in enumerate(spans)
        if span
    ]
    return _row(parts)


def _kept(words: str) -> str:
    """Spaces at the ends do not get lost."""
    bare = words.strip(" ")
    before, after = len(words) - len(words.lstrip(" ")), len(words) - len(words.rstrip(" "))
    return "\u00a0" * min(before, 1) + bare + "\u00a0" * min(after, 1) if bare else "\u00a0"


def _plain(words: str) -> str:
    r"""\_ → _, -- → –: the words that LaTeX text stands for."""
    named = re.sub(
        r"\\([A-Za-z]+)(?:\{\}| ?)", lambda found: TEXT_COMMANDS.get(found[1], found[0]), words
    )
    return re.sub(r"\\([{}$&#%_])", r"\1", named.replace("--", "–"))


def _bold_letter(c: str) -> str:
    if "a" <= c <= "z":
        return chr(BOLD_SMALL + ord(c) - ord("a"))
    return chr(BOLD_CAPITAL + ord(c) - ord("A")) if "A" <= c <= "Z" else escaped(c)
