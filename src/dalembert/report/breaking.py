"""Where a long formula may be broken: before a plus, a minus or an equals sign that stands in no parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

_MARK: Final = re.compile(r"\\left\||\\right\||[(\[{]|[)\]}]| (?=[+−=-] )")
_OPENING: Final = frozenset({"\\left|", "(", "[", "{"})


def pieces(written: str, depth: int = 0) -> list[str]:
    """The formula cut before every sign at most `depth` parentheses deep; joined by spaces the pieces give it back."""
    found, start, level = [], 0, 0
    for mark in _MARK.finditer(written):
        if mark[0] == " ":
            if level <= depth:
                found.append(written[start : mark.start()])
                start = mark.end()
        else:
            level += 1 if mark[0] in _OPENING else -1
    return [*found, written[start:]]


def is_sum(written: str) -> bool:
    """Whether it needs parentheses as a factor."""
    return len(pieces(written)) > 1


def filled(parts: Sequence[str], width: float, measure: Callable[[str], int]) -> list[str]:
    """The parts on as few lines as will hold them; one that is too long for itself gets a line of its own."""
    lines: list[str] = []
    for part in parts:
        if lines and measure(lines[-1]) + 1 + measure(part) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


def broken(written: str, width: float, measure: Callable[[str], int] = len, *, deepest: int = 3) -> list[str]:
    """The formula on lines of at most `width`, broken as near to the outside as possible, between words at worst."""
    if measure(written) <= width:
        return [written]
    for depth in range(deepest):
        parts = pieces(written, depth)
        if all(measure(p) <= width for p in parts):
            return filled(parts, width, measure)
    return filled(written.split(" "), width, measure)
