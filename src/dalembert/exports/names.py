"""theta.dot → theta_dot: names that a language accepts, each once, and which of them had to change."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from dalembert.algebra.printing.names import GREEK

LETTERS: Final = {letter: name for name, letter in GREEK.items() if name != "lam"}


def plain(name: str) -> str:
    """Letters, digits and underscores that say the same: θ₁.dot → theta1_dot."""
    text = name.replace("''", "_ddot").replace("'", "_dot").replace(".dot.dot", "_ddot").replace(".dot", "_dot")
    text = "".join(LETTERS.get(c, c) for c in text)
    text = unicodedata.normalize("NFKD", text)
    text = re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_") or "x"
    return f"x{text}" if text[0].isdigit() else text


def words(text: str) -> frozenset[str]:
    """The words of a text, such as the keywords of a language."""
    return frozenset(text.split())


def file_name(title: str) -> str:
    """Double pendulum → double_pendulum"""
    return plain(title).lower()


def identifiers(wanted: Iterable[str], reserved: Iterable[str], *, folded: bool = False) -> dict[str, str]:
    """{name: identifier}: each identifier once and none of the reserved; `folded` where a language knows no capitals."""

    def key(text: str) -> str:
        return text.lower() if folded else text

    taken = {key(r) for r in reserved}
    found: dict[str, str] = {}
    for name in wanted:
        candidate = plain(name)
        while key(candidate) in taken:
            candidate += "_"
        taken.add(key(candidate))
        found[name] = candidate
    return found


def changed(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The names that a language could not take as they are (theta.dot as theta_dot goes without saying)."""
    return [
        (name, new)
        for name, new in names.items()
        if new != plain(name) or plain(name) != name.replace(".dot.dot", "_ddot").replace(".dot", "_dot")
    ]
