"""studio: type a model in the browser, see its equations and its motion."""

from __future__ import annotations

import signal
from contextlib import suppress
from typing import Annotated, Any

from dalembert.cli.command_registry import Argument, Option
from dalembert.cli.output import print_line

_WHAT = (
    "A model file (.toml, .json), path/to/file.py:function, or a name from the gallery; a "
    "template without one."
)


Port = Annotated[int, Option("--port", metavar="NUMBER", help="The port; 0 takes a free one.")]
Limit = Annotated[
    float, Option("--limit", metavar="SECONDS", help="The longest time for one model.")
]
Quiet = Annotated[bool, Option("--no-browser", help="Print the address and open no browser.")]


def studio(
    system: Annotated[str, Argument("[SYSTEM]", _WHAT)] = "",
    port: Port = 0,
    limit: Limit = 30.0,
    *,
    quiet: Quiet = False,
) -> None:
    r"""Type a model in the browser and watch its motion.

    A page on this computer only: the editor is on the left; on the right, while you type, are
    errors under their words, the scene with sliders, the equations of motion, and whether all
    principles agree. Model files are data and are never executed. A Python file is run when it
    is saved, in a process of its own. Press Ctrl+C to end; unsaved text is kept next to its
    file.

    \b
    dalembert studio
    dalembert studio model.toml
    dalembert studio rolling-disk
    dalembert studio file.py:pendulum --port 8000
    """
    from dalembert import gallery
    from dalembert.errors import Unknown
    from dalembert.interface.studio.server import start_server
    from dalembert.interface.studio.session import Session, open_subject

    if not limit > 0:
        msg = f"--limit {limit:g}: give a positive number of seconds"
        raise Unknown(msg)
    folder, opened = open_subject(system, gallery.names(), limit=limit)
    session = Session(folder, opened, gallery.names(), limit)
    server = start_server(session, port)
    print_line(server.address)
    if not quiet:
        import webbrowser

        if not webbrowser.open(server.address):
            print_line("No browser was found: open that address in one on this computer.")
    with suppress(ValueError):
        # only the main thread may do so
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
        kept = session.keep_draft()
    if kept is not None:
        print_line(f"The text was not saved; it is kept as {kept}")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
