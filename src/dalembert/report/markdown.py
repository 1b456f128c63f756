"""A report as Markdown, with formulas as LaTeX between dollar signs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dalembert.report.blocks import Block, Code, Display, Formula, Heading, Paragraph, Span, Table, Verdict
from dalembert.report.latex import aligned, definitions


def text(blocks: Iterable[Block]) -> str:
    """The whole report."""
    return "\n\n".join(text for block in blocks if (text := _block(block)))


def escaped(words: str) -> str:
    """Words that mean themselves."""
    return re.sub(r"([\\`*_|$<>#])", r"\\\1", words.replace("\n", " "))


def _block(block: Block) -> str:
    match block:
        case Heading(level, words):
            return f"{'#' * level} {escaped(words)}"
        case Paragraph(spans):
            return "".join(inline(span) for span in spans)
        case Display():
            return _display(block)
        case Table():
            return _table(block)
        case Code(text):
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            return f"{fence}\n{text.rstrip()}\n{fence}"


def _display(display: Display) -> str:
    if not display.lines:
        return ""
    shown = _math(aligned(display.lines))
    if not display.definitions:
        return shown
    count = len(display.definitions)
    return f"{shown}\n\nwith {count} intermediate{'s' if count > 1 else ''}\n\n{_math(aligned(definitions(display)))}"


def _math(lines: list[str]) -> str:
    return "$$\n\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n$$"


def inline(span: Span) -> str:
    """A span inside a paragraph."""
    match span:
        case Formula(written, definitions):
            return ", ".join([f"${written}$", *(f"${d}$" for d in definitions)])
        case Verdict(words, holds):
            return escaped(words) if holds else f"**{escaped(words)}**"
        case str():
            return escaped(span)


def _cell(span: Span) -> str:
    """A bar inside a cell would end it."""
    return re.sub(r"(?<!\\)\|", r"\\vert ", inline(span)) if isinstance(span, Formula) else inline(span)


def _table(table: Table) -> str:
    rows = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    head = "| " + " | ".join(escaped(h) for h in table.headings) + " |"
    return "\n".join([head, "|" + " --- |" * len(table.headings), *rows])
