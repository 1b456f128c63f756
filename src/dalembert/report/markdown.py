"""A report as Markdown, with formulas as LaTeX between dollar signs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from dalembert.report import latex
from dalembert.report.blocks import Block, Code, Display, FormulaSpan, Heading, Line, Paragraph, Span, TableBlock, aligned

_SPECIAL: Final = str.maketrans({c: f"\\{c}" for c in "\\`*_|$<>#"} | {"\n": " "})


def text(blocks: Iterable[Block]) -> str:
    """The whole report."""
    return "\n\n".join(text for block in blocks if (text := _block(block)))


def escaped(words: str) -> str:
    """Words that mean themselves."""
    return words.translate(_SPECIAL)


def _block(block: Block) -> str:
    match block:
        case Heading(level, words):
            return f"{'#' * level} {escaped(words)}"
        case Paragraph(spans):
            return "".join(inline(span) for span in spans)
        case Display():
            return latex.displayed(block, _math, "\n\n")
        case TableBlock():
            return _table(block)
        case Code(text):
            longest = max((len(list(run)) for c, run in groupby(text) if c == "`"), default=0)
            fence = "`" * max(3, 1 + longest)
            return f"{fence}\n{text.rstrip()}\n{fence}"


def _math(lines: Sequence[Line]) -> str:
    return f"$$\n\\begin{{aligned}}\n{latex.rows(aligned(lines))}\n\\end{{aligned}}\n$$"


def inline(span: Span) -> str:
    """A span inside a paragraph."""
    return latex.inline(span, escaped, "**{}**")


def _cell(span: Span) -> str:
    """A bar inside a cell would end it."""
    return inline(span).replace("|", r"\vert ") if isinstance(span, FormulaSpan) else inline(span)


def _table(table: TableBlock) -> str:
    rows = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    head = "| " + " | ".join(escaped(h) for h in table.headings) + " |"
    return "\n".join([head, "|" + " --- |" * len(table.headings), *rows])
