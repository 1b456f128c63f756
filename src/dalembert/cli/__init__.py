"""The command `dalembert`: the edge, where strings become objects."""

from __future__ import annotations

import sys


def main() -> None:
    """What the shell starts."""
    try:
        from dalembert.cli.commands import app

        app(prog_name="dalembert")
    except KeyboardInterrupt:
        sys.exit(130)
