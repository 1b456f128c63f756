"""A report for the terminal: Unicode, as wide as the window; whole lines where there is no
window.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TextIO

from dalembert.interface.report.document_blocks import (
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
)
from dalembert.symbolic.algebra.printing.print_tree import Equality, MatrixBrackets, Prose, Tree
from dalembert.symbolic.algebra.printing.unicode_notation import Text as Notation

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# without a window nothing is wrapped, so that lines can be searched and counted
UNLIMITED: Final = 1_000_000
INDENT: Final = "  "
# columns up to this width are not wrapped
MAX_UNWRAPPED: Final = 26
UNDERLINES: Final = {1: "═", 2: "─"}
# what makes rich take a file for a terminal, or for one of a certain width
TERMINAL_VARIABLES: Final = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")


class PlainOutput:
    """Where there is no window and no colour: lines as they are; rich is opened for tables
    alone, which it lays out.
    """

    is_terminal: Final = False
    width: Final = UNLIMITED

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def print(self, words: str, **_: Any) -> None:
        """One line at once."""
        if not all(line.isprintable() for line in words.split("\n")):
            from rich.control import strip_control_codes

            words = strip_control_codes(words).expandtabs()
        self.file.write(f"{words}\n")
        self.file.flush()


if TYPE_CHECKING:
    Output = Console | PlainOutput


def console(file: TextIO | None = None) -> Console:
    """Where the report goes: colours only on a terminal, its width or $COLUMNS, otherwise no
    limit.
    """
    from rich.console import Console

    class Out(Console):
        """A console that leaves a closed pipe to its caller."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    made = Out(file=file or sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not made.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        made.width = UNLIMITED
    return made


def output() -> Output:
    """Plain lines to a file or a pipe, by default."""
    if sys.stdout.isatty() or any(map(os.environ.get, TERMINAL_VARIABLES)):
        return console()
    return PlainOutput(sys.stdout)


def print_blocks(blocks: Iterable[Block], out: Output | None = None) -> None:
    """Print a report, block by block as it is made."""
    out = out or output()
    previous: Block | None = None
    for block in blocks:
        if previous is not None and not _without_gap(previous, block):
            _write(out, "")
        _block(out, block)
        previous = block


def render_text(blocks: Iterable[Block]) -> str:
    """A report as text, its lines as long as they are."""
    file = io.StringIO()
    print_blocks(blocks, PlainOutput(file))
    return file.getvalue().rstrip("\n")


def print_line(out: Output, *spans: Span) -> None:
    """One line at once."""
    if isinstance(out, PlainOutput):
        out.print("".join(map(span_text, spans)))
        return
    from rich.text import Text

    text = Text.assemble(*(_cell(span) for span in spans))
    if text.cell_len <= out.width:
        out.print(text, soft_wrap=True)
        return
    from textwrap import wrap

    plain, end = text.plain, 0
    indent = len(plain) - len(plain.lstrip()) + len(INDENT)
    width = out.width - indent
    for part in wrap(plain, width, break_long_words=False, break_on_hyphens=False):
        start = plain.index(part, end)
        out.print(
            (Text(" " * indent) if end else Text()) + text[start : start + len(part)],
            soft_wrap=True,
        )
        end = start + len(part)


def _without_gap(previous: Block, block: Block) -> bool:
    """Whether two blocks follow one another without an empty line."""
    if isinstance(previous, Heading):
        return previous.level > 2
    return isinstance(previous, Paragraph) and isinstance(block, Display)


def _block(out: Output, block: Block) -> None:
    match block:
        case Heading(level, words):
            _print_heading(out, level, words)
        case Paragraph(spans, quiet):
            _paragraph(out, "".join(span_text(s) for s in spans), "dim" if quiet else "")
        case Display(lines, definitions):
            _display(out, lines)
            _definitions(out, block.intermediates_text, definitions)
        case TableBlock():
            _table(out, block)
        case Code(text):
            for line in text.splitlines():
                _write(out, f"{INDENT}{line}".rstrip())


def _write(out: Output, line: str, style: str = "") -> None:
    out.print(line, style=style or None, soft_wrap=True)


def span_text(span: Span) -> str:
    """A span as a string of Unicode."""
    match span:
        case FormulaSpan(tree, definitions):
            return "; ".join(map(Notation(), (tree, *definitions)))
        case VerdictSpan(words):
            return words
        case str():
            return span


def _width(text: str) -> int:
    """Columns that a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def _print_heading(out: Output, level: int, words: str) -> None:
    _write(out, words, "bold")
    if level in UNDERLINES:
        _write(out, UNDERLINES[level] * min(_width(words), out.width), "bold")


def _paragraph(out: Output, words: str, style: str) -> None:
    out.print(words, style=style or None, overflow="fold", soft_wrap=out.width == UNLIMITED)


def _display(out: Output, lines: tuple[Line, ...]) -> None:
    lefts = [
        " = ".join("".join(span_text(s) for s in left) for left in (*line.equal, line.left))
        for line in lines
    ]
    # equals signs under one another, as far as that leaves room
    short = [
        _width(left)
        for left, line in zip(lefts, lines, strict=True)
        if _width(left) <= out.width // 3 and not line.equal
    ]
    column = max(short, default=0)
    for left, line in zip(lefts, lines, strict=True):
        gap = " " * (column - _width(left))
        start = f"{left}:{gap} " if line.sign == ":" else f"{left}{gap} = "
        note = "".join(span_text(s) for s in line.note)
        right = line.right.tree if isinstance(line.right, FormulaSpan) else Prose(line.right)
        _formula(out, start if left else "", right, f"    [{note}]" if note else "")


def _formula(out: Output, start: str, tree: Tree, note: str = "") -> None:
    """A formula after what stands before it, broken at its signs and indented."""
    if isinstance(tree, MatrixBrackets):
        _print_matrix(out, start, Notation()(tree).split("\n"))
        return
    room = max(out.width - len(INDENT) - _width(start), 20)
    hang = " " * (_width(start) if _width(start) <= out.width // 3 else 2)
    first, *rest = wrap_formula(tree, room, note)
    _write(out, f"{INDENT}{start}{first}")
    for line in rest:
        _write(out, f"{INDENT}{hang}{INDENT}{line}")


def wrap_formula(tree: Tree, width: float, note: str = "", *, deepest: int = 3) -> list[str]:
    """The formula on lines of at most `width`, broken as near to the outside as possible,
    between words at worst.
    """
    written = Notation()(tree) + note
    if _width(written) <= width:
        return [written]
    for depth in range(deepest):
        *parts, last = Notation.breakable_parts(tree, depth)
        if all(_width(p) <= width for p in (*parts, last + note)):
            return _fill_lines([*parts, last + note], width)
    return _fill_lines(written.split(" "), width)


def _fill_lines(parts: Iterable[str], width: float) -> list[str]:
    """The parts on as few lines as will hold them; one that is too long for itself gets a line
    of its own.
    """
    lines: list[str] = []
    for part in parts:
        if lines and _width(lines[-1]) + 1 + _width(part) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


def _print_matrix(out: Output, start: str, lines: list[str]) -> None:
    """A matrix, with its prefix next to its middle row."""
    for number, line in enumerate(lines):
        _write(
            out,
            f"{INDENT}{start if number == (len(lines) - 1) // 2 else ' ' * _width(start)}{line}",
        )


def _definitions(out: Output, count: str, definitions: tuple[Equality, ...]) -> None:
    if definitions:
        _write(out, f"{INDENT}{count}:", "dim")
    for definition in definitions:
        _formula(out, f"{INDENT}{Notation()(definition.left)} = ", definition.right)


def _table(out: Output, table: TableBlock) -> None:
    if not _fits(out, table):
        _records(out, table)
        return
    from rich import box
    from rich.table import Table as Grid

    grid = Grid(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    for heading, whole in zip(table.headings, _unwrapped_columns(out, table), strict=True):
        grid.add_column(heading, overflow="fold", no_wrap=whole)
    for row in table.rows:
        grid.add_row(*(_cell(span) for span in row))
    drawn = console(out.file) if isinstance(out, PlainOutput) else out
    drawn.width = out.width
    if drawn.is_terminal:
        drawn.print(grid)
        return
    with drawn.capture() as captured:
        drawn.print(grid)
    for line in captured.get().splitlines():
        _write(out, line.rstrip())


def _fits(out: Output, table: TableBlock) -> bool:
    """Whether the longest words of all columns fit in one line, so that no word is broken."""
    columns = zip(table.headings, *([span_text(c) for c in row] for row in table.rows), strict=True)
    longest = [
        max(_width(word) for text in column for word in (text.split() or [""]))
        for column in columns
    ]
    return sum(longest) + 2 * (len(longest) - 1) <= out.width


def _records(out: Output, table: TableBlock) -> None:
    """A table that is too wide for the window: one block of lines for each row."""
    for row in table.rows:
        first, *others = row
        _fold(out, first)
        for heading, cell in zip(table.headings[1:], others, strict=True):
            if span_text(cell):
                _fold(out, f"{INDENT}{heading}: ", cell)


def _fold(out: Output, *spans: Span) -> None:
    """Spans one after another, on further lines where the window ends."""
    if isinstance(out, PlainOutput):
        _paragraph(out, "".join(map(span_text, spans)), "")
        return
    from rich.text import Text

    out.print(Text.assemble(*(_cell(span) for span in spans)), overflow="fold")


def _unwrapped_columns(out: Output, table: TableBlock) -> list[bool]:
    """Which columns keep their lines whole: the short ones, if that leaves room for the others."""
    widths = [
        max(map(_width, (h, *(span_text(row[k]) for row in table.rows))))
        for k, h in enumerate(table.headings)
    ]
    short = [width <= MAX_UNWRAPPED for width in widths]
    room = (
        out.width
        - 2 * (len(widths) - 1)
        - sum(width for width, whole in zip(widths, short, strict=True) if whole)
    )
    return short if room >= MAX_UNWRAPPED * short.count(False) else [False] * len(short)


def _cell(span: Span) -> Text:
    from rich.text import Text

    if isinstance(span, VerdictSpan):
        return Text(
            span.words,
            style="bold yellow" if span.holds is None else "green" if span.holds else "bold red",
        )
    return Text(span_text(span))
