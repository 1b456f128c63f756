r"""∂T/∂q̇ → \frac{\partial T}{\partial \dot{q}}: formulas typed in Unicode, as LaTeX.

The pages state formulas in Unicode, as they are typed; LaTeX is on the way to MathML.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from dalembert.symbolic.algebra.printing.symbol_names import GREEK

SYMBOLS: Final = {
    "Σ": r"\sum", "∂": r"\partial", "·": r"\cdot", "×": r"\times", "−": "-", "√": r"\sqrt",
    "∫": r"\int", "…": r"\dots",
    "≠": r"\neq", "≤": r"\le", "≥": r"\ge", "→": r"\to", "±": r"\pm", "∇": r"\nabla",
    "½": r"\tfrac{1}{2}", "⅓": r"\tfrac{1}{3}",
    "⅔": r"\tfrac{2}{3}", "¼": r"\tfrac{1}{4}", "∈": r"\in", "–": "-", "′": "'", "″": "''",
    "∞": r"\infty",
}  # fmt: skip
LETTERS: Final = {
    letter: f"\\{name}" for name, letter in GREEK.items() if name not in ("lam", "omicron")
} | {"ο": "o"}
ACCENTS: Final = {"\u0307": r"\dot", "\u0308": r"\ddot", "\u0304": r"\bar", "\u0302": r"\hat"}
LOW: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789aehijklmnoprstuvx")
HIGH: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀᴺᴮᴾ", "0123456789-TNBP")
FUNCTIONS: Final = "sin|cos|tan|min|max|det|log|exp"
ESCAPES: Final = {
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "$": r"\$",
    "\\": r"\backslash ",
}

_SIDE: Final = r"(?:∂|[^\W\d_])[\w\u0300-\u036f]*"
_FRACTION: Final = re.compile(rf"({_SIDE})/({_SIDE})")
_LOWS: Final = "₀-₉ₐ-ₜᵢᵣᵤᵥⱼ"
_SHORT: Final = "of|to|if|or|by|at|in|is|on|as|so"
_WORD: Final = rf"(?!(?:{FUNCTIONS})\b)(?:[A-Za-z]{{3,}}|{_SHORT})(?![\u0300-\u036f\w])"
_TOKEN: Final = re.compile(
    rf"(?P<words>{_WORD}(?: "
    rf"+{_WORD})*)|(?P<function>\b(?:{FUNCTIONS})\b)|(?P<low>[{_LOWS}]+)|(?P<high>[⁰¹²³⁴-⁹⁻ᵀᴺᴮᴾ]+)"
    rf"|_(?P<sub>(?:[A-Za-z0-9]+|\w)[{_LOWS}]*(?:,\d+)?(?:_[A-Za-z0-9]+)*)|(?P<letter>[^\W\d_])(?P<accent>[\u0300-\u036f]?)|(?P<other>.)",
    re.DOTALL,
)


def latex_formula(formula: str) -> str:
    """A formula typed in Unicode, in LaTeX."""
    # only letters with marks are taken apart: ½ and ² must stay
    plain = "".join(
        unicodedata.normalize("NFD", c) if unicodedata.category(c).startswith("L") else c
        for c in formula
    )
    out, done = [], 0
    for found in _FRACTION.finditer(plain):
        above, below = (_converted(side).strip() for side in found.groups())
        out += [_converted(plain[done : found.start()]), f"\\frac{{{above}}}{{{below}}}"]
        done = found.end()
    out.append(_converted(plain[done:]))
    return re.sub(r" +", " ", "".join(out)).strip()


def _converted(part: str) -> str:
    return "".join(_token(found) for found in _TOKEN.finditer(part))


def _token(found: re.Match[str]) -> str:
    part = found.groupdict(default="")
    if part["words"]:
        return f"\\text{{ {part['words']} }}"
    if part["function"]:
        return f"\\{part['function']} "
    if part["letter"]:
        # Σ is a sum before it is a letter
        letter = SYMBOLS.get(part["letter"]) or LETTERS.get(part["letter"], part["letter"])
        accent = ACCENTS.get(part["accent"], r"\tilde")
        return f"{accent}{{{letter}}}" if part["accent"] else letter + " " * letter.startswith("\\")
    if part["sub"]:
        return f"_{{{_subscript(part['sub'])}}}"
    if part["low"]:
        return f"_{{{part['low'].translate(LOW)}}}"
    if part["high"]:
        return f"^{{{part['high'].translate(HIGH)}}}"
    other = part["other"]
    if other == "*":
        return "^{*}"
    return f"{SYMBOLS[other]} " if other in SYMBOLS else ESCAPES.get(other, other)


def _subscript(inside: str) -> str:
    """e₀,1 → e_{0},1; finger_joint1 → finger,joint1; words stay upright."""
    if "_" in inside:
        return ",".join(map(_subscript, inside.split("_")))
    if inside.isascii() and inside.isalpha():
        return inside if len(inside) < 3 else f"\\mathrm{{{inside}}}"
    return _converted(inside).strip()
