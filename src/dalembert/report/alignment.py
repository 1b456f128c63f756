"""Lines of a display under one another: left sides, signs below signs, long right sides on several lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from dalembert.algebra.printing.notation import Text
from dalembert.algebra.printing.tree import Adjacent, Led, Noted, Prose, Sides, Tree, pieces
from dalembert.report.blocks import Display, FormulaSpan, Line, Span, VerdictSpan

# letters of a formula that fit on one line of a page
LINE: Final = 88


@dataclass(frozen=True)
class Aligned:
    """What stands before the alignment and after it; a `continued` row goes on where the one before it was broken."""

    left: Tree | None
    right: Tree
    continued: bool = False


def aligned(lines: Sequence[Line]) -> list[Aligned]:
    """left = right under one another, broken where a line is too long for a page."""
    sides = [_sides(line) for line in lines]
    # with a left side that takes several lines all of them begin at the margin
    if any(left is not None and len(on_lines(left)) > 1 for left, *_ in sides):
        return [row for left, sign, right, note in sides for row in _at_the_margin(left, sign, right, note)]
    return [row for left, sign, right, note in sides for row in _beside(left, sign, right, note)]


def intermediates(display: Display) -> list[Line]:
    """The intermediates z₁ = … of a display, as lines."""
    return [Line(FormulaSpan(d.right), (FormulaSpan(d.left),)) for d in display.definitions]


def on_lines(tree: Tree) -> list[Tree]:
    """A formula on lines that fit a page, broken before signs; never inside fractions or parentheses."""
    lines: list[list[Tree]] = []
    length = 0
    for piece in pieces(tree):
        needed = len(Text()(piece)) + 1
        if lines and length + needed <= LINE:
            lines[-1].append(piece)
            length += needed
        else:
            lines.append([piece])
            length = needed
    return [line[0] if len(line) == 1 else Adjacent(tuple(line), spaced=True) for line in lines]


def in_one(spans: Iterable[Span]) -> Tree:
    """Words and formulas as they follow one another, as one formula."""
    parts = tuple(_part(span) for span in spans)
    return parts[0] if len(parts) == 1 else Adjacent(parts)


def _part(span: Span) -> Tree:
    match span:
        case FormulaSpan(tree):
            return tree
        case VerdictSpan(words):
            return Prose(words)
        case str():
            return Prose(span)


def _sides(line: Line) -> tuple[Tree | None, str, Tree, Tree | None]:
    right, note = in_one((line.right,)), in_one(line.note) if line.note else None
    if not line.left and isinstance(right, Sides):
        return right.left, "=", right.right, note
    if not line.left:
        return None, "", right, note
    first, *others = (in_one(left) for left in (*line.equal, line.left))
    left = Adjacent((first, *(Led("=", other) for other in others)), spaced=True) if others else first
    return left, line.sign, right, note


def _noted(tree: Tree, note: Tree | None) -> Tree:
    return tree if note is None else Noted(tree, note)


def _at_the_margin(left: Tree | None, sign: str, right: Tree, note: Tree | None) -> list[Aligned]:
    first, *rest = on_lines(right if left is None else left)
    rows = [Aligned(None, first), *(Aligned(None, part, continued=True) for part in rest)]
    if left is not None:
        last = rows.pop()
        rows.append(Aligned(None, Adjacent((last.right, Led(sign, right)), spaced=True), last.continued))
    return [*rows[:-1], Aligned(None, _noted(rows[-1].right, note), rows[-1].continued)]


def _beside(left: Tree | None, sign: str, right: Tree, note: Tree | None) -> list[Aligned]:
    if left is None:
        return [Aligned(None, _noted(right, note))]
    *lines, last = on_lines(right)
    first, *rest = [*lines, _noted(last, note)]
    return [Aligned(left, Led(sign, first)), *(Aligned(None, part, continued=True) for part in rest)]
