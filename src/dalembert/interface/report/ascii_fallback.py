"""θ̈ → theta'': output for a terminal or file without Unicode, instead of an error."""

from __future__ import annotations

import codecs
import unicodedata
from typing import Final, TextIO

from dalembert.symbolic.algebra.printing.symbol_names import GREEK

NAME: Final = "dalembert.plain"
LETTERS: Final = {letter: name for name, letter in GREEK.items() if name != "lam"} | {
    "Σ": "Sum", "∫": "int", "∂": "d", "·": ".", "×": "x", "−": "-", "–": "-", "—": "-", "…": "...",
    "½": "1/2", "√": "sqrt", "→": "->",
    "°": " deg", "ᵀ": "^T",
    "═": "=", "─": "-", "│": "|", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "′": "'", "•": "*",
    "≤": "<=", "≥": ">=",
    "\u0307": "'", "\u0308": "''", "\u20db": "'''", "\u20dc": "''''", "\u0304": "_bar", "‘": "'",
    "’": "'", "“": '"', "”": '"',
    "⎡": "[", "⎢": "[", "⎣": "[", "⎤": "]", "⎥": "]", "⎦": "]",
    "\ue000": "_x", "″": "_xx", "‴": "_xxx", "⁗": "_xxxx",
}  # fmt: skip


_LOW: Final = frozenset("₀₁₂₃₄₅₆₇₈₉ₐₑₒₓₔₕₖₗₘₙₚₛₜᵢᵣᵤᵥⱼ")


def _is_spatial_derivative(text: str, k: int) -> bool:
    """v′, v̇₁′: whether the prime at k follows one letter, its marks and indices; it is a
    derivative along a member then, and no rate.
    """
    k -= 1
    while k >= 0 and text[k] in _LOW:
        k -= 1
    while k >= 0 and unicodedata.combining(text[k]):
        k -= 1
    return (
        k >= 0 and text[k].isalpha() and text[k] not in "ij" and not (k and text[k - 1].isalpha())
    )


def to_ascii(text: str, before_it: str = "") -> str:
    """The same in ASCII, as a program would write it; what has no such form is a question mark.

    v″ is v_xx; `before_it` is what stands on the line before this part.
    """
    start, rest = (unicodedata.normalize("NFD", x) for x in (before_it, text))
    out, before = [], ""
    whole = start + rest
    for k, sign in enumerate(rest, len(start)):
        c = "\ue000" if sign == "′" and _is_spatial_derivative(whole, k) else sign
        height = _script_mark(c)
        # z₁₂ → z_12: one mark for a run of small digits
        out.append(height * (height != before) + _ascii_character(c))
        before = height
    return "".join(out)


def _script_mark(c: str) -> str:
    mark = "" if c.isascii() or c in LETTERS else unicodedata.decomposition(c)
    return "^" if mark.startswith("<super>") else "_" if mark.startswith("<sub>") else ""


def _ascii_character(c: str) -> str:
    if c.isascii() or c in LETTERS:
        return LETTERS.get(c, c)
    same = "".join(LETTERS.get(x, x) for x in unicodedata.normalize("NFKD", c))
    if same.isascii():
        return same
    return "" if unicodedata.combining(c) else "?"


def _replacement(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return to_ascii(error.object[error.start : error.end], error.object[: error.start]), error.end


def replace_unencodable(stream: TextIO) -> None:
    """Let a stream replace what its encoding lacks."""
    codecs.register_error(NAME, _replacement)
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=NAME)
