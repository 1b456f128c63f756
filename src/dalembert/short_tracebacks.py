"""Short tracebacks: a refusal shows the user's own lines and the message, not our internals.

Keywords: traceback, excepthook. Python's last hook for uncaught errors and notebooks ask here.
`DALEMBERT_DEBUG=1` shows the whole chain.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Final

PACKAGE: Final = os.path.dirname(__file__) + os.sep
# frames of the user's own code, counted from the line that was refused
MAX_FRAMES: Final = 3


def is_debugging() -> bool:
    """Whether the reader asked for the whole chain of calls."""
    return os.environ.get("DALEMBERT_DEBUG", "") not in ("", "0")


def install_hook(refusal: type[BaseException]) -> None:
    """Show refusals of this type in short form where Python shows uncaught errors."""
    previous = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, refusal) and not is_debugging():
            sys.stderr.write("\n".join(short_lines(error)) + "\n")
        else:
            previous(kind, error, trace)

    sys.excepthook = show


def short_lines(error: BaseException) -> list[str]:
    """The user's own lines that led to an error, the last one last, and the message; before them
    the error of a function of the user's that caused it.
    """
    import traceback

    if is_debugging():
        return "".join(traceback.format_exception(error)).splitlines()
    return [*_cause_lines(error), *_own_lines(error)]


def _cause_lines(error: BaseException) -> list[str]:
    """The error that was raised in the user's own code, for which the other one was raised."""
    import traceback

    cause = error.__cause__
    if cause is None:
        return []
    frames = traceback.extract_tb(cause.__traceback__)
    if not frames or _is_internal(frames[-1].filename):
        return _cause_lines(cause)
    return [*_cause_lines(cause), *_own_lines(cause), "", "which caused:", ""]


def _own_lines(error: BaseException) -> list[str]:
    """The user's own lines and the message of one error."""
    import traceback

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
