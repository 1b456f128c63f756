"""ẍ → x'', ² → ^2, θ₁ → θ_1, − → -: one spelling of characters, each with its source column.

Answers are typed, pasted from documents, or copied from LaTeX. This file replaces typographic
characters by plain ones and keeps the source position of each, so that an error can point at it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass

_PLAIN: Final = {
    **dict.fromkeys("−–—‐‑", "-"),
    **dict.fromkeys("·⋅×∙∗•", "*"),
    **dict.fromkeys("′’ʹ‘´`", "'"),
    "″": "''",
    "÷": "/",
    "∕": "/",
    "⁄": "/",
    "½": "(1/2)",
    "¼": "(1/4)",
    "¾": "(3/4)",
    "⅓": "(1/3)",
    "⅔": "(2/3)",
    "⅛": "(1/8)",
    "\u00a0": " ",
    "\u2009": " ",
    "\u202f": " ",
    "\t": " ",
    "ϕ": "φ",
    "ϑ": "θ",
    "µ": "μ",
}
_SUPERSCRIPTS: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
# a line of this length is not read twice
LONGEST_KEPT: Final = 1000
_DOT: Final = "\u0307"
_TWO_DOTS: Final = "\u0308"
GREEK: Final = {
    c: unicodedata.name(c).rpartition(" ")[2].lower() for c in "αβγδεζηθικμνξπρστυφχψω"
} | {"λ": "lambda", "Ω": "Omega", "Φ": "Phi", "Θ": "Theta", "Ψ": "Psi", "Γ": "Gamma", "Λ": "Lambda"}
_AFTER_MARKS: Final = re.compile(r"([^\W\d_])('+)(_\{[^{}]*\}|_\w+|\d+)(?!')")


@dataclass(frozen=True)
class Characters:
    """A line in plain characters, and the source column that each of them comes from."""

    source: str
    text: str
    columns: tuple[int, ...]

    def column(self, k: int) -> int:
        """The source column of a character; behind the last one, the end."""
        return self.columns[k] if k < len(self.columns) else len(self.source)

    def replace(self, pattern: str, new: str) -> Characters:
        """Each match of a pattern replaced; the new characters have the column of the match."""
        text: list[str] = []
        columns: list[int] = []
        end = 0
        for match in re.finditer(pattern, self.text):
            inserted = match.expand(new)
            text += [self.text[end : match.start()], inserted]
            columns += [*self.columns[end : match.start()], *(self._origins(match, inserted))]
            end = match.end()
        text.append(self.text[end:])
        columns += self.columns[end:]
        return Characters(self.source, "".join(text), tuple(columns))

    def _origins(self, match: re.Match[str], inserted: str) -> list[int]:
        """The columns of what is inserted: that of the first group where the text has it."""
        start, stop = match.span(1) if match.re.groups else match.span()
        body = self.text[start:stop]
        at = inserted.find(body) if body else -1
        columns = [self.column(match.start())] * len(inserted)
        if at >= 0:
            columns[at : at + len(body)] = self.columns[start:stop]
        return columns


def plain_characters(source: str) -> Characters:
    """The line in plain characters."""
    return _kept(source) if len(source) <= LONGEST_KEPT else _plain(source)


@lru_cache(maxsize=4096)
def _kept(source: str) -> Characters:
    return _plain(source)


def _plain(source: str) -> Characters:
    text: list[str] = []
    columns: list[int] = []

    before = ""
    for column, c in enumerate(source):
        for part in c if c.isascii() else unicodedata.normalize("NFD", c):
            new = _spelling(part, before)
            text.append(new)
            columns += [column] * len(new)
            before = part
    # θ̇₁ is the rate of θ₁
    return _rates_last(Characters(source, "".join(text), tuple(columns)))


@lru_cache(maxsize=4096)
def _spelling(c: str, before: str) -> str:
    if c == _DOT:
        return "'"
    if c == _TWO_DOTS:
        return "''"
    if c in _SUPERSCRIPTS:
        return _SUPERSCRIPTS[c] if before in _SUPERSCRIPTS else f"^{_SUPERSCRIPTS[c]}"
    if _is_index(c):
        index = unicodedata.normalize("NFKD", c)
        return index if before == "_" or (before and _is_index(before)) else f"_{index}"
    return _PLAIN.get(c, c)


def _is_index(c: str) -> bool:
    return unicodedata.decomposition(c).startswith("<sub>")


def _rates_last(line: Characters) -> Characters:
    """x'_1 and x'1 as x_1', wherever a mark stands on a letter that has an index."""
    text, columns = line.text, list(line.columns)
    while (match := _AFTER_MARKS.search(text)) is not None:
        (a, b), (c, d) = match.span(2), match.span(3)
        text = text[:a] + match[3] + match[2] + text[d:]
        columns[a:d] = [*columns[c:d], *columns[a:b]]
    return Characters(line.source, text, tuple(columns))
