"""A report as LaTeX: the body of a document, or a document that compiles by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from dalembert.algebra.printing.latex_notation import Latex, escaped
from dalembert.report.blocks import (
    Aligned,
    Block,
    Code,
    Display,
    FormulaSpan,
    Heading,
    Line,
    Paragraph,
    Span,
    TableBlock,
    VerdictSpan,
    aligned,
    intermediates,
)

PREAMBLE: Final = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage[a4paper, margin=2.5cm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\allowdisplaybreaks
\begin{document}
"""
SECTIONS: Final = {1: "section*", 2: "subsection*", 3: "subsubsection*"}


def document(blocks: Iterable[Block]) -> str:
    """A document that compiles by itself."""
    return f"{PREAMBLE}{body(blocks)}\n\\end{{document}}"


def body(blocks: Iterable[Block]) -> str:
    """What stands inside a document; it needs amsmath."""
    return "\n\n".join(text for block in blocks if (text := _block(block)))


def rows(lines: Sequence[Aligned]) -> str:
    """left &= right under one another, as it stands inside an alignment."""
    write = Latex()
    found = []
    for row in lines:
        left = f"{write(row.left)} " if row.left is not None else ""
        found.append(f"{left}&{chr(92) + 'quad ' if row.continued else ''}{write(row.right)}")
    return " \\\\\n".join(found)


def _block(block: Block) -> str:
    match block:
        case Heading(level, words):
            return f"\\{SECTIONS[level]}{{{escaped(words)}}}"
        case Paragraph(spans):
            return "".join(inline(span) for span in spans)
        case Display():
            return displayed(block, _align, "\n")
        case TableBlock():
            return _table(block)
        case Code(text):
            return _code(text)


def _code(text: str) -> str:
    """Each line by itself, its spaces kept; verbatim could be ended by what it holds."""
    lines = ["~" * (len(line) - len(line.lstrip(" "))) + escaped(line.lstrip(" ")) for line in text.splitlines()]
    return "\\begin{flushleft}\\ttfamily\n" + " \\\\\n".join(line or "~" for line in lines) + "\n\\end{flushleft}"


def displayed(display: Display, align: Callable[[Sequence[Line]], str], gap: str) -> str:
    """The lines of a display, then its intermediates."""
    if not display.lines:
        return ""
    parts = [align(display.lines)]
    return gap.join([*parts, display.count, align(intermediates(display))] if display.definitions else parts)


def _align(lines: Sequence[Line]) -> str:
    return f"\\begin{{align*}}\n{rows(aligned(lines))}\n\\end{{align*}}"


def inline(span: Span, escaped: Callable[[str], str] = escaped, bold: str = "\\textbf{{{}}}") -> str:
    """A span inside a paragraph or a cell."""
    match span:
        case FormulaSpan(tree, definitions):
            return ", ".join(f"${Latex()(x)}$" for x in (tree, *definitions))
        case VerdictSpan(words, holds):
            return escaped(words) if holds else bold.format(escaped(words))
        case str():
            return escaped(span)


def _table(table: TableBlock) -> str:
    cells = [[escaped(h) for h in table.headings], *([inline(cell) for cell in row] for row in table.rows)]
    head, *rest = [" & ".join(row) + r" \\" for row in cells]
    columns = "l" * len(table.headings)
    return "\n".join(["\\begin{center}", f"\\begin{{tabular}}{{{columns}}}", head, r"\hline", *rest, "\\end{tabular}", "\\end{center}"])
