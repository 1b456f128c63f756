"""Where a document goes: the terminal or a file, as text, LaTeX, Markdown or HTML."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final

from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import say
from dalembert.errors import Unknown
from dalembert.foundation.suggestions import nearest
from dalembert.interface.report import terminal_renderer
from dalembert.interface.report.document_blocks import Block

FORMATS: Final = ("text", "latex", "markdown", "html")
ENDINGS: Final = {"": "text", ".txt": "text", ".tex": "latex", ".md": "markdown", ".html": "html", ".htm": "html"}

Format = Annotated[str, Option("--format", metavar="|".join(FORMATS), help="How to write it.")]
Json = Annotated[bool, Option("--json", help="As JSON: numbers in full, for other programs.")]
File = Annotated[Path | None, Option("-o", "--output", metavar="FILE", help="Write a document to a file instead.")]


def echo(text: str) -> None:
    """Lines on stdout, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def tell(result: Any, text: Iterable[Block] | str | None = None, *, as_json: bool, **more: Any) -> None:
    """A result as the text it is, or as JSON: its fields, and `more` that follows from them."""
    if as_json:
        from dalembert.interface.report.json_output import as_json as written

        sys.stdout.write(written(result, **more))
        sys.stdout.flush()
    elif text is None or isinstance(text, str):
        echo(str(result) if text is None else text)
    else:
        terminal_renderer.show(text)


def wrote(path: Any, *, as_json: bool) -> None:
    """Where a file is; not in the middle of JSON."""
    (say if as_json else echo)(f"written: {path}")


def check_picture(path: Path | None) -> None:
    """Refuse, before anything is computed, a picture with an ending that no picture has."""
    if path is not None:
        from dalembert.runtime.simulation.plotting.plot import check_plot

        check_plot(path)


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
    ending = output.suffix.lower() if output is not None else ""
    if ending not in ENDINGS:
        msg = f"{output}: a document ends in {', '.join(filter(None, ENDINGS))}; --format writes one of these under any name"
        raise Unknown(msg)
    return ENDINGS[ending]


def emit(blocks: Iterable[Block], style: str, output: Path | None = None, *, whole: bool = False) -> None:
    """Write a document in the wanted style, to the terminal or to a file."""
    if style == "text" and output is None:
        terminal_renderer.show(blocks)
        return
    written = _written(blocks, style, whole=whole or output is not None) + "\n"
    if output is None:
        sys.stdout.write(written)
        return
    from dalembert.foundation.atomic_write import write

    write(output, written)
    say(f"wrote {output}")


def _written(blocks: Iterable[Block], style: str, *, whole: bool) -> str:
    if style == "text":
        return terminal_renderer.text(blocks)
    from dalembert.interface.report.renderers import HTML, LATEX, MARKDOWN

    written = {"markdown": MARKDOWN.text, "html": HTML.document, "latex": LATEX.document if whole else LATEX.text}
    return written[style](blocks)
