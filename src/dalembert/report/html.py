"""A report as HTML: a fragment to put into a page, or a document that stands by itself.

Formulas are MathML that carries its LaTeX. Every word is escaped: a name such as <script> is shown, never obeyed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from dalembert.algebra.printing import mathml
from dalembert.algebra.printing.mathml import QUAD, MathML, escaped, math, row
from dalembert.report import latex
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

STYLE: Final = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff; }
h1, h2, h3 { line-height: 1.2; }
.formula { overflow-x: auto; overflow-y: hidden; margin: 0.75rem 0; padding: 0.2rem 0; }
.formula math { font-size: 1.1rem; }
.formula mtd { padding: 0.2rem 0.1rem; }
.quiet, .count { color: #5a5a5a; }
.holds { color: #1a6b2d; }
.fails { color: #a3160b; }
.undecided { color: #8a5a00; }
table { border-collapse: collapse; margin: 0.75rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid #ddd; }
pre { overflow-x: auto; padding: 0.75rem; background: #f5f5f5; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616; }
  .quiet, .count { color: #a0a0a0; }
  .holds { color: #7ccf8b; }
  .fails { color: #ff8f84; }
  .undecided { color: #f0c060; }
  th, td { border-color: #3a3a3a; }
  pre { background: #222; }
}
@media print { body { max-width: none; margin: 0; } .formula { overflow: visible; } }
"""


# how a count of intermediates and the formulas that define them are shown
Folding = Callable[[str, str], str]
# the lines of a display, and its intermediates
Formulas = Callable[[Display], tuple[str, str]]


def formulas(display: Display) -> tuple[str, str]:
    """The lines of a display, and its intermediates."""
    return formula(display.lines), formula(intermediates(display)) if display.definitions else ""


def html(
    blocks: Iterable[Block],
    folded: Folding = lambda count, below: f'<p class="count">{count}</p>\n{below}',
    written: Formulas = formulas,
) -> str:
    """What stands inside a page."""
    return "\n".join(text for block in blocks if (text := _block(block, folded, written)))


def document(blocks: Iterable[Block], title: str = "") -> str:
    """A document by itself; its title is that of the first heading unless told otherwise."""
    shown = list(blocks)
    title = title or next((b.words for b in shown if isinstance(b, Heading)), "dalembert")
    head = (
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{STYLE}</style>"
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n<main>\n{html(shown)}\n</main>\n</body>\n</html>'


def _block(block: Block, folded: Folding, written: Formulas) -> str:
    match block:
        case Heading(level, words):
            return f"<h{level}>{escaped(words)}</h{level}>"
        case Paragraph(spans, quiet):
            opening = '<p class="quiet">' if quiet else "<p>"
            return f"{opening}{''.join(inline(span) for span in spans)}</p>"
        case Display():
            return _display(block, folded, written)
        case TableBlock():
            return _table(block)
        case Code(text):
            return f"<pre><code>{escaped(text.rstrip())}</code></pre>"


def _display(display: Display, folded: Folding, written: Formulas) -> str:
    if not display.lines:
        return ""
    shown, below = written(display)
    return f"{shown}\n{folded(display.count, below)}" if below else shown


def formula(lines: Sequence[Line]) -> str:
    """Lines under one another as one formula, which scrolls where the page is too narrow."""
    rows = aligned(lines)
    presentation = mathml.aligned([_cells(line) for line in rows])
    written = f"\\begin{{aligned}}\n{latex.rows(rows)}\n\\end{{aligned}}"
    return f'<div class="formula">{mathml.element(presentation, written, block=True)}</div>'


def _cells(line: Aligned) -> tuple[str, str]:
    write = MathML()
    left = [] if line.left is None else write(line.left)
    return row(left), row([QUAD] * line.continued + write(line.right))


def inline(span: Span) -> str:
    """A span inside a paragraph or a cell."""
    match span:
        case FormulaSpan(tree, definitions):
            return ", ".join(math(x) for x in (tree, *definitions))
        case VerdictSpan(words, holds):
            if holds is None:
                return f'<strong class="undecided">{escaped(words)}</strong>'
            return f'<span class="holds">{escaped(words)}</span>' if holds else f'<strong class="fails">{escaped(words)}</strong>'
        case str():
            return escaped(span)


def _table(table: TableBlock) -> str:
    head = "".join(f'<th scope="col">{escaped(h)}</th>' for h in table.headings)
    rows = "\n".join("<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
