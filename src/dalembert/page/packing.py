"""Long fragments travel compressed and are unfolded where they are asked for."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from dalembert.algebra.printing.tree import Factors, Group, Sides, SignedTerms, TooLongToWrite, Tree
from dalembert.principles.base import Derivation, Step
from dalembert.report.blocks import Block, Display, FormulaSpan, words
from dalembert.report.html import formulas, html

# shorter ones stand in the page as they are
_SHORT: Final = 12_000
# formulas of one display, and intermediates below it, beyond which a page is no place to read them
MOST_LINES: Final = 60
MOST_DEFINITIONS: Final = 120
# quantities of one step of a derivation
MOST_ITEMS: Final = 24


class Packing:
    """Counts the packed fragments of a page, and remembers displays that stand in several places."""

    def __init__(self) -> None:
        self.count = 0
        # displays are kept, so that none is taken for another
        self._written: dict[int, tuple[Display, tuple[str, str]]] = {}

    def written(self, display: Display) -> tuple[str, str]:
        """The lines of a display and its intermediates, written once."""
        if id(display) not in self._written:
            self._written[id(display)] = display, formulas(display)
        return self._written[id(display)][1]

    def html(self, blocks: Iterable[Block]) -> str:
        """Blocks with their lists of intermediates folded; what is long is left to the script."""
        return self._packed(html(blocks, self._folded, self.written))

    def _folded(self, count: str, below: str) -> str:
        """with 12 intermediates, and the formulas below it"""
        return f'<details class="with"><summary>{count}</summary>{self._packed(below)}</details>'

    def _packed(self, html: str) -> str:
        """The fragment itself, or a place that the script fills from a compressed block."""
        if len(html) <= _SHORT:
            return html
        self.count += 1
        packed = base64.b64encode(zlib.compress(html.encode(), 9)).decode("ascii")
        waiting = '<p class="quiet">A long formula: it is unfolded by the script of this page.</p>'
        block = f'<script type="application/octet-stream" id="packed-{self.count}">{packed}</script>'
        return f'<div data-packed="packed-{self.count}">{waiting}</div>{block}'


class Trimming:
    """Steps with at most so many quantities as a page can show, and how many each of them lacks, by its title."""

    def __init__(self) -> None:
        self.missing: dict[str, int] = {}

    def step(self, step: Step) -> Step:
        """The first quantities of a step."""
        if len(step.items) > MOST_ITEMS:
            self.missing[step.title] = len(step.items) - MOST_ITEMS
        return replace(step, items=step.items[:MOST_ITEMS])

    def derivation(self, d: Derivation) -> Derivation:
        """The same for every step of a derivation."""
        return replace(d, told=tuple(map(self.step, d.steps)))


def shortened(blocks: list[Block], command: str) -> list[Block]:
    """The same blocks, with the rest of very long displays counted; `command` prints them all."""
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        if isinstance(block, Display) and (len(block.lines) > MOST_LINES or len(block.definitions) > MOST_DEFINITIONS):
            found[-1] = replace(block, lines=block.lines[:MOST_LINES], definitions=block.definitions[:MOST_DEFINITIONS])
            missing = max(0, len(block.lines) - MOST_LINES), max(0, len(block.definitions) - MOST_DEFINITIONS)
            parts = [f"{n} more {what}" for n, what in zip(missing, ("lines", "intermediates"), strict=True) if n]
            found.append(words(f"… and {' and '.join(parts)}: too long for a page; {command} prints them all.", quiet=True))
        if isinstance(block, Display) and lacks(block):
            found.append(words(f"… stands for what is too long for a page; {command} prints it.", quiet=True))
    return found


def lacks(display: Display) -> bool:
    """Whether something in its lines was too long to be written."""
    return any(isinstance(line.right, FormulaSpan) and _lacks(line.right.tree) for line in display.lines)


def _lacks(tree: Tree) -> bool:
    """Whether something in it was left out."""
    match tree:
        case TooLongToWrite():
            return True
        case Sides(left) | Group(left):
            return _lacks(left)
        case SignedTerms(parts):
            return any(_lacks(part) for _, part in parts)
        case Factors(factors):
            return any(map(_lacks, factors))
    return False
