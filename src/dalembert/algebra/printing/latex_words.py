r"""50 % of Aᵀλ → 50 \% of $A^{T}\lambda$: words that mean themselves in LaTeX; what no text font has becomes mathematics."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from dalembert.algebra.printing.names import GREEK

ESCAPES: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "–": "--", "§": r"\S{}", "…": r"\dots{}", "’": "'", "\n": " ",
}  # fmt: skip
# what a letter or a sign of a formula is called
LETTERS: Final = {letter: f"\\{name}" for name, letter in GREEK.items() if name not in ("lam", "omicron")} | {
    "ο": "o", "ℓ": r"\ell", "∂": r"\partial", "∇": r"\nabla", "∞": r"\infty", "…": r"\dots", "′": "'", "″": "''", "‴": "'''",
    "𝒰": r"\mathcal{U}", "𝒫": r"\mathcal{P}", "𝓗": r"\mathcal{H}",
}  # fmt: skip
SIGNS: Final = {
    "−": "-", "·": r"\cdot", "×": r"\times", "→": r"\to", "≠": r"\neq", "≤": r"\le", "≥": r"\ge", "±": r"\pm", "∈": r"\in",
    "Σ": r"\sum", "√": r"\sqrt{}", "∫": r"\int", "½": r"\tfrac{1}{2}", "⅓": r"\tfrac{1}{3}", "⅔": r"\tfrac{2}{3}", "¼": r"\tfrac{1}{4}",
}  # fmt: skip
ACCENTS: Final = {"\u0307": r"\dot", "\u0308": r"\ddot", "\u0304": r"\bar", "\u0302": r"\hat"}
LOW: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789aehijklmnoprstuvx", strict=True))
HIGH: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀᴺᴮᴾ", "0123456789-TNBP", strict=True))


def escaped(words: str) -> str:
    """Words as LaTeX text."""
    clusters = list(_clusters(words))
    strange = [_is_strange(c) for c in clusters]
    # Aᵀ: a letter belongs to the index that follows it
    joined = [s or (c.isascii() and c.isalpha() and n + 1 < len(clusters) and clusters[n + 1][0] in LOW | HIGH)
              for n, (c, s) in enumerate(zip(clusters, strange, strict=True))]  # fmt: skip
    runs = groupby(zip(clusters, joined, strict=True), key=lambda pair: pair[1])
    return "".join(f"${_mathematics([c for c, _ in run])}$" if math else "".join(ESCAPES.get(c, c) for c, _ in run) for math, run in runs)


def _clusters(words: str) -> Iterator[str]:
    """Every character with the marks above it; letters that carry one are taken apart, ½ and ² are not."""
    held = ""
    for c in words:
        for x in unicodedata.normalize("NFD", c) if unicodedata.category(c).startswith("L") and not ord(c) < 256 else c:
            if unicodedata.combining(x):
                held += x
                continue
            if held:
                yield held
            held = x
    if held:
        yield held


def _is_strange(cluster: str) -> bool:
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
