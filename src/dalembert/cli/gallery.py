"""gallery: the solved systems."""

from __future__ import annotations

from typing import Final

from dalembert import gallery as systems
from dalembert.cli.output import Json, print_result
from dalembert.interface.report import terminal_renderer
from dalembert.interface.report.document_blocks import TableBlock

# narrower windows show a system's description without its title
WIDE: Final = 110


def gallery(*, as_json: Json = False) -> None:
    r"""List the solved systems.

    \b
    dalembert gallery
    dalembert gallery | grep pendulum
    """
    out = terminal_renderer.console()
    entries = [systems.entry(name) for name in systems.names()]
    if as_json or out.width >= WIDE:
        table = TableBlock(
            ("name", "title", "source", "what"),
            tuple((e.name, e.title, e.source, e.description) for e in entries),
        )
    else:
        table = TableBlock(
            ("name", "source", "what"), tuple((e.name, e.source, e.description) for e in entries)
        )
    if as_json:
        print_result(table, as_json=True)
        return
    terminal_renderer.print_blocks([table], out)
    if out.is_terminal:
        terminal_renderer.print_line(out, "\nTry one: dalembert report rolling-disk")
