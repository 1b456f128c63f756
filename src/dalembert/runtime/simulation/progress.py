"""A progress bar on runs and studies longer than a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, ParamSpec

if TYPE_CHECKING:
    from rich.progress import Progress

P = ParamSpec("P")

# seconds until a bar is drawn, and until it is drawn again
DELAY: Final = 1.0
REFRESH_INTERVAL: Final = 0.1


@contextmanager
def progress_bar(
    length: float, describe: Callable[P, tuple[float, str]], done: int = 0, delay: float = DELAY
) -> Iterator[Callable[P, None]]:
    """show(…), of which `describe` makes how much is done, and words."""
    bar: Progress | None = None
    last = time.monotonic() + delay - REFRESH_INTERVAL

    def show(*now: P.args, **more: P.kwargs) -> None:
        nonlocal bar, last
        if time.monotonic() - last < REFRESH_INTERVAL:
            return
        completed, words = describe(*now, **more)
        if bar is None:
            bar = _bar(length, done, words)
        last = time.monotonic()
        bar.update(bar.task_ids[0], completed=completed, words=words, refresh=True)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


def _bar(length: float, done: int, words: str) -> Progress:
    """It disappears at the end, and draws only on request."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[words]}  left:"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    bar.add_task("", total=length, completed=done, words=words)
    bar.start()
    return bar
