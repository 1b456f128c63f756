"""Where a document goes: the terminal or a file, as text, LaTeX, Markdown or HTML."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

from dalembert.algebra.parser import nearest
from dalembert.cli.declared import Option
from dalembert.cli.errors import say
from dalembert.errors import Unknown
from dalembert.report import terminal
from dalembert.report.blocks import Block

FORMATS: Final = ("text", "latex", "markdown", "html")
ENDINGS: Final = {".tex": "latex", ".md": "markdown", ".html": "html", ".htm": "html"}

Format = Annotated[str, Option("--format", metavar="|".join(FORMATS), help="How to write it.")]
File = Annotated[Path | None, Option("-o", "--output", metavar="FILE", help="Write a document to a file instead.")]


def echo(text: str) -> None:
    """Lines on stdout, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def known(option: str, given: str, known: Iterable[str]) -> str:
    """What was given, if it is one of the known."""
    if given not in known:
        msg = f"{option} {given!r}: {nearest(given, known) or 'unknown'} ({option} takes {', '.join(known)})"
        raise Unknown(msg)
    return given


def style_of(style: str, output: Path | None) -> str:
    """The wanted format; where none is named, what the ending of the file means."""
    if style:
        return known("--format", style, FORMATS)
    return ENDINGS.get(output.suffix.lower(), "text") if output is not None else "text"


def emit(blocks: Iterable[Block], style: str, output: Path | None = None, *, whole: bool = False) -> None:
    """Write a document in the wanted style, to the terminal or to a file."""
    if style == "text" and output is None:
        terminal.show(blocks)
        return
    written = _written(blocks, style, whole=whole or output is not None) + "\n"
    if output is None:
        sys.stdout.write(written)
        return
    from dalembert.files import write

    write(output, written)
    say(f"wrote {output}")


def _written(blocks: Iterable[Block], style: str, *, whole: bool) -> str:
    if style == "text":
        return terminal.text(blocks)
    if style == "markdown":
        from dalembert.report import markdown

        return markdown.text(blocks)
    if style == "html":
        from dalembert.report import html

        return html.document(blocks)
    from dalembert.report import latex

    return latex.document(blocks) if whole else latex.body(blocks)
