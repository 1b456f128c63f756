"""The command `dalembert`: the edge, where strings become objects.

A file is a command or a few that belong together; `command_registry` lists them all and
`command_line` parses the line. `system_lookup` finds the system that a user means, `shared_options`
holds what several commands take, `output` writes documents, `exit_handling` turns every refusal
into one sentence.
"""

from __future__ import annotations

import gc
import sys
from typing import Final

# a command lives shortly and keeps what it makes: looking for cycles after every 700 objects is a
# tenth of the time of a page, and looking through all that was kept, after ten such looks, a
# thirtieth
_OBJECTS_BETWEEN_COLLECTIONS: Final = 200_000
_COLLECTIONS_BETWEEN_OLDER: Final = 50


def main() -> None:
    """What the shell starts."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, _COLLECTIONS_BETWEEN_OLDER)
    try:
        from dalembert.cli.exit_handling import run_command

        run_command(_run)
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> object:
    from dalembert.cli.command_line import app

    return app(prog_name="dalembert")
