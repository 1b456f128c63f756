"""A report as LaTeX, Markdown or HTML: the same blocks, written by each layout in its own notation.

`text` stands inside a document, `document` stands by itself. Formulas of a page are MathML that
carries its LaTeX. Every word is escaped: a name such as <script> is shown, never obeyed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import ClassVar, Final

from dalembert.interface.report.document_blocks import (
    AlignedRow,
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
    align_lines,
    definition_lines,
)
from dalembert.symbolic.algebra.printing import latex_notation, mathml
from dalembert.symbolic.algebra.printing.latex_notation import Latex
from dalembert.symbolic.algebra.printing.mathml import MathML
from dalembert.symbolic.algebra.printing.print_tree import Tree


class Renderer(ABC):
    """What every notation shares: which block is which; the appearance of each is below."""

    # between blocks, and between the lines of a display, the count of its intermediates, and these
    gap = "\n\n"
    inner_gap = "\n"
    # a heading by its level; words of what holds, fails or is undecided
    headings: ClassVar[Mapping[int, str]]
    verdicts: ClassVar[Mapping[bool | None, str]]

    def text(self, blocks: Iterable[Block]) -> str:
        """What stands inside a document."""
        return self.gap.join(text for block in blocks if (text := self._block(block)))

    def _block(self, block: Block) -> str:
        match block:
            case Heading(level, words):
                return self.headings[level].format(self._escape(words))
            case Paragraph(spans, quiet):
                return self._paragraph("".join(map(self._inline, spans)), quiet=quiet)
            case Display():
                return self._display(block)
            case TableBlock():
                return self._table(block)
            case Code(text):
                return self._code(text)

    def _inline(self, span: Span) -> str:
        """A span inside a paragraph or a cell."""
        match span:
            case FormulaSpan(tree, definitions):
                return ", ".join(map(self._formula, (tree, *definitions)))
            case VerdictSpan(words, holds):
                return self.verdicts[holds].format(self._escape(words))
            case str():
                return self._escape(span)

    def _display(self, display: Display) -> str:
        """The lines of a display, then its intermediates."""
        if not display.lines:
            return ""
        shown, below = self.render_display(display)
        return (
            self.inner_gap.join([shown, self._collapsible(display.intermediates_text, below)])
            if below
            else shown
        )

    def render_display(self, display: Display) -> tuple[str, str]:
        """The lines of a display, and its intermediates."""
        return self._lines(display.lines), self._lines(
            definition_lines(display)
        ) if display.definitions else ""

    def _collapsible(self, count: str, below: str) -> str:
        """with 12 intermediates, and the formulas below it"""
        return f"{count}{self.inner_gap}{below}"

    def _formula(self, tree: Tree) -> str:
        return f"${Latex()(tree)}$"

    @abstractmethod
    def _escape(self, words: str) -> str: ...

    # only HTML distinguishes remarks
    def _paragraph(self, words: str, *, quiet: bool) -> str:  # noqa: ARG002
        return words

    @abstractmethod
    def _lines(self, lines: Sequence[Line]) -> str: ...

    @abstractmethod
    def _table(self, table: TableBlock) -> str: ...

    @abstractmethod
    def _code(self, text: str) -> str: ...


def latex_rows(lines: Sequence[AlignedRow]) -> str:
    """left &= right under one another, as it stands inside an alignment."""
    write = Latex()
    rows = []
    for row in lines:
        left = f"{write(row.left)} " if row.left is not None else ""
        rows.append(f"{left}&{chr(92) + 'quad ' if row.is_continuation else ''}{write(row.right)}")
    return " \\\\\n".join(rows)


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


class LatexRenderer(Renderer):
    """The body of a document, which needs amsmath, or a document that compiles by itself."""

    headings: ClassVar[Mapping[int, str]] = {
        1: "\\section*{{{}}}",
        2: "\\subsection*{{{}}}",
        3: "\\subsubsection*{{{}}}",
    }
    verdicts: ClassVar[Mapping[bool | None, str]] = {
        True: "{}",
        False: "\\textbf{{{}}}",
        None: "\\textbf{{{}}}",
    }

    def document(self, blocks: Iterable[Block]) -> str:
        """A document that compiles by itself."""
        return f"{PREAMBLE}{self.text(blocks)}\n\\end{{document}}"

    def _escape(self, words: str) -> str:
        return latex_notation.escape(words)

    def _lines(self, lines: Sequence[Line]) -> str:
        return f"\\begin{{align*}}\n{latex_rows(align_lines(lines))}\n\\end{{align*}}"

    def _table(self, table: TableBlock) -> str:
        cells = [map(self._escape, table.headings), *(map(self._inline, row) for row in table.rows)]
        head, *rest = [" & ".join(row) + r" \\" for row in cells]
        columns = "l" * len(table.headings)
        return "\n".join(
            [
                "\\begin{center}",
                f"\\begin{{tabular}}{{{columns}}}",
                head,
                r"\hline",
                *rest,
                "\\end{tabular}",
                "\\end{center}",
            ]
        )

    def _code(self, text: str) -> str:
        """Each line by itself, its spaces kept; verbatim could be ended by what it holds."""
        lines = [
            "~" * (len(line) - len(line.lstrip(" "))) + self._escape(line.lstrip(" "))
            for line in text.splitlines()
        ]
        return (
            "\\begin{flushleft}\\ttfamily\n"
            + " \\\\\n".join(line or "~" for line in lines)
            + "\n\\end{flushleft}"
        )


_SPECIAL: Final = str.maketrans({c: f"\\{c}" for c in "\\`*_|$<>#"} | {"\n": " "})


class MarkdownRenderer(Renderer):
    """Formulas as LaTeX between dollar signs."""

    inner_gap = "\n\n"
    headings: ClassVar[Mapping[int, str]] = {1: "# {}", 2: "## {}", 3: "### {}"}
    verdicts: ClassVar[Mapping[bool | None, str]] = {True: "{}", False: "**{}**", None: "**{}**"}

    def _escape(self, words: str) -> str:
        return words.translate(_SPECIAL)

    def _lines(self, lines: Sequence[Line]) -> str:
        return f"$$\n\\begin{{aligned}}\n{latex_rows(align_lines(lines))}\n\\end{{aligned}}\n$$"

    def _cell(self, span: Span) -> str:
        """A bar inside a cell would end it."""
        return (
            self._inline(span).replace("|", r"\vert ")
            if isinstance(span, FormulaSpan)
            else self._inline(span)
        )

    def _table(self, table: TableBlock) -> str:
        cells = [map(self._escape, table.headings), *(map(self._cell, row) for row in table.rows)]
        head, *rows = ["| " + " | ".join(row) + " |" for row in cells]
        return "\n".join([head, "|" + " --- |" * len(table.headings), *rows])

    def _code(self, text: str) -> str:
        longest = max((len(list(run)) for c, run in groupby(text) if c == "`"), default=0)
        fence = "`" * max(3, 1 + longest)
        return f"{fence}\n{text.rstrip()}\n{fence}"


STYLE: Final = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; color: #1b1b1b; background: #fff; }
h1, h2, h3 { line-height: 1.2; }
.formula { overflow-x: auto; overflow-y: hidden; margin: 0.75rem 0; padding: 0.2rem 0; }
.formula math { font-size: 1.1rem; }
.formula mtd { padding: 0.2rem 0.1rem; }
.quiet, .count { color: #5a5a5a; }
.holds { color: #1a6b2d; }
.fails { color: #a3160b; }
.undecided { color: #8a5a00; }
table { border-collapse: collapse; margin: 0.75rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0;
  border-bottom: 1px solid #ddd; }
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


class HtmlRenderer(Renderer):
    """A fragment to put into a page, or a document that stands by itself."""

    gap = "\n"
    headings: ClassVar[Mapping[int, str]] = {1: "<h1>{}</h1>", 2: "<h2>{}</h2>", 3: "<h3>{}</h3>"}
    verdicts: ClassVar[Mapping[bool | None, str]] = {
        True: '<span class="holds">{}</span>',
        False: '<strong class="fails">{}</strong>',
        None: '<strong class="undecided">{}</strong>',
    }

    def document(self, blocks: Iterable[Block]) -> str:
        """A document by itself; its title is that of the first heading."""
        shown = list(blocks)
        title = next((b.words for b in shown if isinstance(b, Heading)), "dalembert")
        head = (
            '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, '
            'initial-scale=1">\n'
            f"<title>{self._escape(title)}</title>\n<style>{STYLE}</style>"
        )
        inside = f"<main>\n{self.text(shown)}\n</main>"
        return (
            f"<!DOCTYPE html>\n<html "
            f'lang="en">\n<head>\n{head}\n</head>\n<body>\n{inside}\n</body>\n</html>'
        )

    def _escape(self, words: str) -> str:
        return mathml.escape(words)

    def _paragraph(self, words: str, *, quiet: bool) -> str:
        return f'<p class="quiet">{words}</p>' if quiet else f"<p>{words}</p>"

    def _formula(self, tree: Tree) -> str:
        return mathml.math(tree)

    def _lines(self, lines: Sequence[Line]) -> str:
        """One formula, which scrolls where the page is too narrow."""
        rows, write = align_lines(lines), MathML()
        cells = [
            (
                [] if r.left is None else write(r.left),
                [mathml.QUAD] * r.is_continuation + write(r.right),
            )
            for r in rows
        ]
        presentation = mathml.aligned_rows(
            [(mathml.row(left), mathml.row(right)) for left, right in cells]
        )
        written = f"\\begin{{aligned}}\n{latex_rows(rows)}\n\\end{{aligned}}"
        return f'<div class="formula">{mathml.element(presentation, written, block=True)}</div>'

    def _collapsible(self, count: str, below: str) -> str:
        return f'<p class="count">{count}</p>\n{below}'

    def _table(self, table: TableBlock) -> str:
        head = "".join(
            f'<th scope="col">{self._escape(h)}</th>' if h else "<td></td>" for h in table.headings
        )
        rows = "\n".join(
            "<tr>" + "".join(f"<td>{self._inline(cell)}</td>" for cell in row) + "</tr>"
            for row in table.rows
        )
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"

    def _code(self, text: str) -> str:
        return f"<pre><code>{self._escape(text.rstrip())}</code></pre>"


LATEX: Final = LatexRenderer()
MARKDOWN: Final = MarkdownRenderer()
HTML: Final = HtmlRenderer()
