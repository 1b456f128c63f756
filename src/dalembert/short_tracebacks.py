"""Short tracebacks: a refusal shows the user's own lines and the message, not our internals.

Keywords: traceback, excepthook. Python's last hook for uncaught errors and notebooks ask here.
`DALEMBERT_DEBUG=1` shows the whole chain.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Final

PACKAGE: Final = str(Path(__file__).parent) + os.sep
# frames of the user's own code, counted from the line that was refused
MAX_FRAMES: Final = 3


def is_debugging() -> bool:
    """Whether the reader asked for the whole chain of calls."""
    return os.environ.get("DALEMBERT_DEBUG", "") not in ("", "0")


def install_hook() -> None:
    """Show our refusals in short form where Python shows uncaught errors."""
    previous = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if hasattr(error, "_render_traceback_") and not is_debugging():
            sys.stderr.write("\n".join(short_lines(error)) + "\n")
        else:
            previous(kind, error, trace)

    sys.excepthook = show


def short_lines(error: BaseException) -> list[str]:
    """The user's own lines that led to an error, the last one last, and the message."""
    import traceback

    if is_debugging():
        return "".join(traceback.format_exception(error)).splitlines()
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not _is_internal(f.filename)][-MAX_FRAMES:]
    lines = ["Traceback (most recent call last):"] if own else []
    for frame in own:
        lines.append(f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}')
        if frame.line:
            lines.append(f"    {frame.line.splitlines()[0].strip()}")
    message = traceback.format_exception_only(error)
    return [*lines, *"".join(message).splitlines()]


def _is_internal(filename: str) -> bool:
    """Whether a frame belongs to this package, or to the machinery that runs a notebook's cells."""
    if filename.startswith((PACKAGE, "<frozen")):
        return True
    return f"{os.sep}IPython{os.sep}" in filename or f"{os.sep}functools.py" in filename
