"""serve --mcp: tools for programs over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dalembert.cli.command_registry import Option
from dalembert.errors import Unknown


def serve(
    *,
    mcp: Annotated[
        bool, Option("--mcp", help="Speak the Model Context Protocol on standard input and output.")
    ] = False,
    folder: Annotated[
        Path, Option("--folder", metavar="FOLDER", help="Model files are read from here only.")
    ] = Path(),
) -> None:
    r"""Offer derive, verify, check, agree and simulate to programs.

    Nothing is executed, and no path is followed outside the folder. Needs the extra `agents`.

    \b
    dalembert serve --mcp
    dalembert serve --mcp --folder models
    """
    if not mcp:
        msg = "serve: give --mcp; no other protocol is supported"
        raise Unknown(msg)
    from dalembert import gallery
    from dalembert.interface.agents.server import serve as run

    run(folder, gallery)
