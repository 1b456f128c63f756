"""What a report is made of: headings, paragraphs, formulas and tables, before anyone decides how they look."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.algebra.printing.tree import Sides, Tree


@dataclass(frozen=True)
class FormulaSpan:
    """Mathematics, to be written in any notation; long results come with the intermediates they are written in."""

    tree: Tree
    definitions: tuple[Sides, ...] = ()


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
    quiet: bool = False


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
    definitions: tuple[Sides, ...] = ()

    @property
    def count(self) -> str:
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


def words(*spans: Span, quiet: bool = False) -> Paragraph:
    """A paragraph."""
    return Paragraph(spans, quiet)
