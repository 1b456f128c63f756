"""What a quantity of a step is called where its principle says it in words: p_theta, F*_1, v of disk."""

from __future__ import annotations

from collections.abc import Container

from dalembert.algebra.formula import Formula, Name, Negative, Partial, Rate, Symbol
from dalembert.report.blocks import Span
from dalembert.report.writing import Writing

_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def label(text: str | Formula, writing: Writing, names: Container[str], of: str = "") -> tuple[Span, ...]:
    """As a formula where it is one, and whose it is."""
    owner = f" of {of}" if of else ""
    if not isinstance(text, str):
        return (writing.general(text), *([owner] if owner else []))
    head, joint, place = text.partition(" of ")
    found = _formula(head, names)
    tail = f"{joint}{place}{owner}"
    return (head if found is None else writing.general(found), *([tail] if tail else []))


def _formula(head: str, names: Container[str]) -> Formula | None:
    if head in names:
        return Name(head)
    if head.startswith("d/dt "):
        inside = _formula(head.removeprefix("d/dt "), names)
        return None if inside is None else Rate(inside)
    above, slash, below = head.partition("/∂")
    if slash and above.removeprefix("−").startswith("∂") and below in names:
        slope = Partial(_letter(above.removeprefix("−")[1:], names), Name(below))
        return Negative(slope) if above.startswith("−") else slope
    return _letter(head, names) if len(head.partition("_")[0].rstrip("*₀₁₂₃₄₅₆₇₈₉")) == 1 or (head.isalpha() and len(head) == 1) else None


def _letter(head: str, names: Container[str]) -> Symbol:
    letter, underscore, index = head.partition("_")
    bare = letter.rstrip("*").rstrip("₀₁₂₃₄₅₆₇₈₉")
    digits = letter.rstrip("*")[len(bare) :].translate(_DIGITS)
    below = (Name(index) if index in names else index,) if underscore else (digits,) if digits else ()
    return Symbol(bare, below, star=letter.endswith("*"))
