"""θ̈ → theta'': what a terminal or file that knows no Unicode gets to see, instead of an error."""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Final, TextIO

from dalembert.algebra.printing.names import GREEK

NAME: Final = "dalembert.plain"
LETTERS: Final = {letter: name for name, letter in GREEK.items() if name != "lam"} | {
    "Σ": "Sum", "∫": "int", "∂": "d", "·": ".", "×": "x", "−": "-", "–": "-", "—": "-", "…": "...", "½": "1/2", "√": "sqrt", "→": "->",
    "°": " deg", "ᵀ": "^T",
    "═": "=", "─": "-", "│": "|", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "′": "'", "•": "*", "≤": "<=", "≥": ">=",
    "\u0307": "'", "\u0308": "''", "\u20db": "'''", "\u20dc": "''''", "\u0304": "_bar", "‘": "'", "’": "'", "“": '"', "”": '"',
    "⎡": "[", "⎢": "[", "⎣": "[", "⎤": "]", "⎥": "]", "⎦": "]",
    "\ue000": "_x", "″": "_xx", "‴": "_xxx", "⁗": "_xxxx",
}  # fmt: skip


# v′, v̇₁′: a prime after one letter is a derivative along a member, and no rate
_SLOPE: Final = re.compile(r"((?<![^\W\d_])[^\W\d_ij][\u0300-\u036f\u20db\u20dc]*[₀-₉ₐ-ₜᵢᵣᵤᵥⱼ]*)′")


def plain(text: str, before_it: str = "") -> str:
    """The same in ASCII, as a program would write it; what has no such form is a question mark.

    v″ is v_xx; `before_it` is what stands on the line before this part.
    """
    start, rest = (unicodedata.normalize("NFD", x) for x in (before_it, text))
    out, before = [], ""
    for c in _SLOPE.sub("\\1\ue000", start + rest)[len(start) :]:
        height = _height(c)
        # z₁₂ → z_12: one mark for a run of small digits
        out.append(height * (height != before) + _plain(c))
        before = height
    return "".join(out)


def _height(c: str) -> str:
    mark = "" if c.isascii() or c in LETTERS else unicodedata.decomposition(c)
    return "^" if mark.startswith("<super>") else "_" if mark.startswith("<sub>") else ""


def _plain(c: str) -> str:
    if c.isascii() or c in LETTERS:
        return LETTERS.get(c, c)
    same = "".join(LETTERS.get(x, x) for x in unicodedata.normalize("NFKD", c))
    if same.isascii():
        return same
    return "" if unicodedata.combining(c) else "?"


def _replacement(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end], error.object[: error.start]), error.end


def make_safe(stream: TextIO) -> None:
    """Let a stream replace what its encoding lacks."""
    codecs.register_error(NAME, _replacement)
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=NAME)
