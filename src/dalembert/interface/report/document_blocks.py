"""What a report is made of: headings, paragraphs, formulas and tables, before anyone decides how
they look.

Lines of a display are aligned: left sides, signs below signs, long right sides on several lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.printing.print_tree import (
    Adjacent,
    Annotated,
    Continuation,
    Equality,
    Prose,
    Tree,
    line_parts,
)
from dalembert.symbolic.algebra.printing.unicode_notation import Text


@dataclass(frozen=True)
class FormulaSpan:
    """Mathematics, to be written in any notation; long results come with the intermediates they
    are written in.
    """

    tree: Tree
    definitions: tuple[Equality, ...] = ()


@dataclass(frozen=True)
class VerdictSpan:
    """Words that say whether something holds; None where that is undecided."""

    words: str
    holds: bool | None


# words and mathematics as they follow one another
Span = str | FormulaSpan | VerdictSpan


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is the document's own, level 3 a step's."""

    level: int
    words: str


@dataclass(frozen=True)
class Paragraph:
    """Words and formulas; `quiet` ones are remarks and sources."""

    spans: tuple[Span, ...]
    secondary: bool = False


@dataclass(frozen=True)
class Line:
    """left = right, or an equation that stands for itself."""

    right: FormulaSpan | str
    left: tuple[Span, ...] = ()
    # between left and right: an equals sign, or a colon after words
    sign: str = "="
    # what the line is about, after it
    note: tuple[Span, ...] = ()
    # other left sides before this one, which have the same right side: F₁ = F₂ = 0
    equal: tuple[tuple[Span, ...], ...] = ()


@dataclass(frozen=True)
class Display:
    """Formulas on lines of their own, and the intermediates they share."""

    lines: tuple[Line, ...]
    definitions: tuple[Equality, ...] = ()

    @property
    def intermediates_text(self) -> str:
        """with 12 intermediates"""
        return f"with {len(self.definitions)} intermediate{'s' * (len(self.definitions) > 1)}"


@dataclass(frozen=True)
class TableBlock:
    """Rows under headings."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Span, ...], ...]


@dataclass(frozen=True)
class Code:
    """Lines of a program, as they are."""

    text: str


Block = Heading | Paragraph | Display | TableBlock | Code


def paragraph(*spans: Span, quiet: bool = False) -> Paragraph:
    """A paragraph."""
    return Paragraph(spans, quiet)


# letters of a formula that fit on one line of a page
PAGE_WIDTH: Final = 88


@dataclass(frozen=True)
class AlignedRow:
    """The parts before and after the alignment; a `continued` row continues a broken one."""

    left: Tree | None
    right: Tree
    is_continuation: bool = False


def align_lines(lines: Sequence[Line]) -> list[AlignedRow]:
    """left = right under one another, broken where a line is too long for a page."""
    sides = [_sides(line) for line in lines]
    # with a left side that takes several lines all of them begin at the margin
    if any(left is not None and len(break_formula(left)) > 1 for left, *_ in sides):
        return [
            row
            for left, sign, right, note in sides
            for row in _align_at_margin(left, sign, right, note)
        ]
    return [
        row for left, sign, right, note in sides for row in _align_at_sign(left, sign, right, note)
    ]


def definition_lines(display: Display) -> list[Line]:
    """The intermediates z₁ = … of a display, as lines."""
    return [Line(FormulaSpan(d.right), (FormulaSpan(d.left),)) for d in display.definitions]


def break_formula(tree: Tree) -> list[Tree]:
    """A formula on lines that fit a page, broken before signs; never inside fractions or
    parentheses.
    """
    lines: list[list[Tree]] = []
    length = 0
    for piece in line_parts(tree):
        needed = len(Text()(piece)) + 1
        if lines and length + needed <= PAGE_WIDTH:
            lines[-1].append(piece)
            length += needed
        else:
            lines.append([piece])
            length = needed
    return [line[0] if len(line) == 1 else Adjacent(tuple(line), spaced=True) for line in lines]


def join_spans(spans: Iterable[Span]) -> Tree:
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
    right, note = join_spans((line.right,)), join_spans(line.note) if line.note else None
    if not line.left and isinstance(right, Equality):
        return right.left, "=", right.right, note
    if not line.left:
        return None, "", right, note
    first, *others = (join_spans(left) for left in (*line.equal, line.left))
    left = (
        Adjacent((first, *(Continuation("=", other) for other in others)), spaced=True)
        if others
        else first
    )
    return left, line.sign, right, note


def _with_note(tree: Tree, note: Tree | None) -> Tree:
    return tree if note is None else Annotated(tree, note)


def _align_at_margin(
    left: Tree | None, sign: str, right: Tree, note: Tree | None
) -> list[AlignedRow]:
    first, *rest = break_formula(right if left is None else left)
    rows = [
        AlignedRow(None, first),
        *(AlignedRow(None, part, is_continuation=True) for part in rest),
    ]
    if left is not None:
        last = rows.pop()
        rows.append(
            AlignedRow(
                None,
                Adjacent((last.right, Continuation(sign, right)), spaced=True),
                last.is_continuation,
            )
        )
    return [
        *rows[:-1],
        AlignedRow(None, _with_note(rows[-1].right, note), rows[-1].is_continuation),
    ]


def _align_at_sign(
    left: Tree | None, sign: str, right: Tree, note: Tree | None
) -> list[AlignedRow]:
    if left is None:
        return [AlignedRow(None, _with_note(right, note))]
    *lines, last = break_formula(right)
    first, *rest = [*lines, _with_note(last, note)]
    return [
        AlignedRow(left, Continuation(sign, first)),
        *(AlignedRow(None, part, is_continuation=True) for part in rest),
    ]
