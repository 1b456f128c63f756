"""Where a document goes: the terminal or a file, as text, LaTeX, Markdown or HTML."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final

from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import print_error
from dalembert.cli.line_wrapping import wrap_lines
from dalembert.errors import Unknown
from dalembert.foundation.suggestions import suggest_name
from dalembert.interface.report import terminal_renderer
from dalembert.interface.report.document_blocks import Block

FORMATS: Final = ("text", "latex", "markdown", "html")
FORMAT_BY_SUFFIX: Final = {
    "": "text",
    ".txt": "text",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
}

Format = Annotated[str, Option("--format", metavar="|".join(FORMATS), help="Output format.")]
Json = Annotated[bool, Option("--json", help="Print JSON with all digits.")]
File = Annotated[
    Path | None,
    Option("-o", "--output", metavar="FILE", help="Write the document to a file."),
]


def print_line(text: str) -> None:
    """Lines on stdout, at once, wrapped to the terminal."""
    sys.stdout.write(f"{wrap_lines(text, sys.stdout)}\n")
    sys.stdout.flush()


def print_result(
    result: Any, text: Iterable[Block] | str | None = None, *, as_json: bool, **more: Any
) -> None:
    """A result as the text it is, or as JSON: its fields, and `more` that follows from them."""
    if as_json:
        from dalembert.interface.report.json_output import as_json as written

        sys.stdout.write(written(result, **more))
        sys.stdout.flush()
    elif text is None or isinstance(text, str):
        print_line(str(result) if text is None else text)
    else:
        terminal_renderer.print_blocks(text)


def report_written(path: Any, *, as_json: bool) -> None:
    """Where a file is; not in the middle of JSON."""
    (print_error if as_json else print_line)(f"written: {path}")


def check_image_path(path: Path | None) -> None:
    """Refuse, before anything is computed, a picture with an ending that no picture has."""
    if path is not None:
        from dalembert.runtime.simulation.plotting.plot import check_plot_format

        check_plot_format(path)


def check_choice(option: str, given: str, known: Iterable[str]) -> str:
    """The given value, if it is one of the known."""
    if given not in known:
        msg = (
            f"{option} {given!r}: {suggest_name(given, known) or 'unknown'} ({option} takes "
            f"{', '.join(known)})"
        )
        raise Unknown(msg)
    return given


def output_format(style: str, output: Path | None) -> str:
    """The wanted format; where none is named, what the ending of the file means."""
    if style:
        return check_choice("--format", style, FORMATS)
    ending = output.suffix.lower() if output is not None else ""
    if ending not in FORMAT_BY_SUFFIX:
        msg = (
            f"{output}: a document ends in {', '.join(filter(None, FORMAT_BY_SUFFIX))}; "
            f"--format "
            f"writes one of these under any name"
        )
        raise Unknown(msg)
    return FORMAT_BY_SUFFIX[ending]


def write_document(
    blocks: Iterable[Block], style: str, output: Path | None = None, *, standalone: bool = False
) -> None:
    """Write a document in the wanted style, to the terminal or to a file."""
    if style == "text" and output is None:
        terminal_renderer.print_blocks(blocks)
        return
    written = _render(blocks, style, whole=standalone or output is not None) + "\n"
    if output is None:
        sys.stdout.write(written)
        return
    from dalembert.foundation.atomic_write import write_text

    write_text(output, written)
    print_error(f"written: {output}")


def _render(blocks: Iterable[Block], style: str, *, whole: bool) -> str:
    if style == "text":
        return terminal_renderer.render_text(blocks)
    from dalembert.interface.report.renderers import HTML, LATEX, MARKDOWN

    written = {
        "markdown": MARKDOWN.text,
        "html": HTML.document,
        "latex": LATEX.document if whole else LATEX.text,
    }
    return written[style](blocks)
