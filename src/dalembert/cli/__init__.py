"""The command `dalembert`: the edge, where strings become objects."""

from __future__ import annotations

import sys


def main() -> None:
    """What the shell starts."""
    try:
        from dalembert.cli.errors import at_the_edge

        at_the_edge(_run)
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> object:
    from dalembert.cli.errors import flushed
    from dalembert.cli.plain_line import asked

    plain = asked(sys.argv[1:])
    if plain is not None:
        return flushed(plain)
    from dalembert.cli.commands import app

    return app(prog_name="dalembert")
