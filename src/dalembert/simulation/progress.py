"""A progress bar on runs longer than a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE: Final = 1.0
_EVERY: Final = 0.1


@contextmanager
def progress_bar(t0: float, t1: float) -> Iterator[Callable[[float, int], None]]:
    """show(t, steps)"""
    bar: Progress | None = None
    last = time.monotonic() + PATIENCE - _EVERY

    def show(t: float, steps: int) -> None:
        nonlocal bar, last
        if time.monotonic() - last < _EVERY:
            return
        if bar is None:
            bar = _bar(t1 - t0)
        last = time.monotonic()
        bar.update(bar.task_ids[0], completed=t - t0, t=t, steps=steps, refresh=True)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


def _bar(length: float) -> Progress:
    """A bar of the time that was asked for; it disappears when the run ends, and draws only when it is told to."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    numbers = TextColumn("t = {task.fields[t]:.4g}  {task.fields[steps]} steps  left:")
    columns = (BarColumn(), TaskProgressColumn(), numbers, TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    bar.add_task("", total=length, t=0.0, steps=0)
    bar.start()
    return bar
