"""A report as LaTeX: the body of a document, or a document that compiles by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from dalembert.report.blocks import Block, Code, Display, Formula, Heading, Line, Paragraph, Span, Table, Verdict
from dalembert.report.breaking import pieces
from dalembert.report.formulas import latex_formula

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
# letters of a formula that fit on one line of a page
LINE: Final = 70
ESCAPES: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "–": "--", "§": r"\S{}", "…": r"\dots{}", "’": "'", "\n": " ",
}  # fmt: skip


def document(blocks: Iterable[Block]) -> str:
    """A document that compiles by itself."""
    return f"{PREAMBLE}{body(blocks)}\n\\end{{document}}"


def body(blocks: Iterable[Block]) -> str:
    """What stands inside a document; it needs amsmath."""
    return "\n\n".join(text for block in blocks if (text := _block(block)))


def escaped(words: str) -> str:
    """Words that mean themselves; what no text font has becomes mathematics."""
    return re.sub(r"[A-Za-z]?[^\x00-\xff–…’]+|[\\{}$&#%_^~–§…’\n]", _escape, words)


def _escape(found: re.Match[str]) -> str:
    return ESCAPES[found[0]] if found[0] in ESCAPES else f"${latex_formula(found[0])}$"


def aligned(lines: Sequence[Line]) -> list[str]:
    """left &= right under one another, broken where a line is too long for a page."""
    sides = [_sides(line) for line in lines]
    # with a left side that takes several lines all of them begin at the margin
    if any(len(broken_latex(left)) > 1 for left, *_ in sides):
        return [f"&{_on_lines(left)} {sign} {right}{note}" for left, sign, right, note in sides]
    return [f"{left} &{sign} {_on_lines(right)}{note}" if left else f"&{right}{note}" for left, sign, right, note in sides]


def _sides(line: Line) -> tuple[str, str, str, str]:
    left, right, note = _math(line.left), _math((line.right,)), _math(line.note)
    sign = line.sign if line.sign == "=" else "\\text{:}\\quad"
    if not left and isinstance(line.right, Formula):
        left, _, right = right.rpartition(" = ")
    return left, sign, right, f"\\quad[{note}]" if note else ""


def _math(spans: Iterable[Span]) -> str:
    return "".join(_in_math(span) for span in spans)


def _on_lines(written: str) -> str:
    return " \\\\\n&\\quad ".join(broken_latex(written))


def broken_latex(written: str) -> list[str]:
    """A formula on lines that fit a page; never inside braces or parentheses."""
    parts = pieces(written)
    lines: list[str] = []
    for part in parts:
        if lines and length(lines[-1]) + length(part) <= LINE:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


def length(written: str) -> int:
    """About how many letters it prints: functions three, Greek letters one, accents and fraction lines none."""
    plain = re.sub(r"\\(?:sin|cos|tan|left|right)\b", "fff", re.sub(r"\\(?:d*dot|frac|mathbf|text|mathrm|quad)\b", "", written))
    return len(re.sub(r"[{}^_ ]", "", re.sub(r"\\[a-zA-Z]+", "g", plain)))


def _block(block: Block) -> str:
    match block:
        case Heading(level, words):
            return f"\\{SECTIONS[level]}{{{escaped(words)}}}"
        case Paragraph(spans):
            return "".join(inline(span) for span in spans)
        case Display():
            return _display(block)
        case Table():
            return _table(block)
        case Code(text):
            return _code(text)


def _code(text: str) -> str:
    """Each line by itself, its spaces kept; verbatim could be ended by what it holds."""
    lines = ["~" * (len(line) - len(line.lstrip(" "))) + escaped(line.lstrip(" ")) for line in text.splitlines()]
    return "\\begin{flushleft}\\ttfamily\n" + " \\\\\n".join(line or "~" for line in lines) + "\n\\end{flushleft}"


def _display(display: Display) -> str:
    if not display.lines:
        return ""
    shown = _align(aligned(display.lines))
    if not display.definitions:
        return shown
    count = len(display.definitions)
    return f"{shown}\nwith {count} intermediate{'s' if count > 1 else ''}\n{_align(aligned(definitions(display)))}"


def _align(lines: Sequence[str]) -> str:
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def definitions(display: Display) -> list[Line]:
    """The intermediates z₁ = … of a display, as lines."""
    sides = [d.partition(" = ") for d in display.definitions]
    return [Line(Formula(right), (Formula(left),)) for left, _, right in sides]


def inline(span: Span) -> str:
    """A span inside a paragraph or a cell."""
    match span:
        case Formula(written, definitions):
            return ", ".join([f"${written}$", *(f"${d}$" for d in definitions)])
        case Verdict(words, holds):
            return escaped(words) if holds else f"\\textbf{{{escaped(words)}}}"
        case str():
            return escaped(span)


def _in_math(span: Span) -> str:
    match span:
        case Formula(written):
            return written
        case Verdict(words):
            return f"\\text{{{escaped(words)}}}"
        case str():
            return f"\\text{{{escaped(span)}}}" if span else ""


def _table(table: Table) -> str:
    rows = [[escaped(h) for h in table.headings], *([inline(cell) for cell in row] for row in table.rows)]
    head, *rest = [" & ".join(row) + r" \\" for row in rows]
    columns = "l" * len(table.headings)
    return "\n".join(["\\begin{center}", f"\\begin{{tabular}}{{{columns}}}", head, r"\hline", *rest, "\\end{tabular}", "\\end{center}"])
