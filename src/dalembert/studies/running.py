"""Chunk after chunk: here in threads, or on an engine that takes functions; what is done is written down before more is begun."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from dalembert.errors import DalembertError
from dalembert.ode.lanes.program import Progress
from dalembert.studies.chunk import Chunk
from dalembert.studies.plan import StudyPlan
from dalembert.studies.result import flat_dataset

if TYPE_CHECKING:
    from numpy.typing import NDArray

# members that are in memory at once, unless trajectories make them large
CHUNK: Final = 16_384
# numbers of a chunk at most
_MOST_NUMBERS: Final = 2**24
_EVERY: Final = 0.1
_PATIENCE: Final = 1.0


class Runner(Protocol):
    """What can run members."""

    def run(self, members: NDArray[np.intp], threads: int, on_progress: Progress | None = None) -> Chunk:
        """What becomes of these members."""


def chunk_length(numbers_per_member: int, count: int, wanted: int | None) -> int:
    """Members in a chunk: what was asked for, or as many as take a bounded part of memory."""
    if wanted is not None:
        return max(1, min(int(wanted), count))
    return max(1, min(CHUNK, _MOST_NUMBERS // max(1, numbers_per_member), count))


def pieces(count: int, length: int) -> list[tuple[int, int]]:
    """(first, one behind the last) of every chunk."""
    return [(begin, min(begin + length, count)) for begin in range(0, count, length)]


@contextmanager
def progress_of(count: int, wanted: bool | None, done: int = 0) -> Iterator[Callable[[int], None] | None]:
    """show(members done): a bar with rate and time left, where a person is looking; `wanted` forces it on or off."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[told]}  left:"), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    begin = last = time.monotonic()
    started = False

    def show(now: int) -> None:
        nonlocal last, started
        moment = time.monotonic()
        if moment - last < _EVERY or moment - begin < (0.0 if wanted else _PATIENCE):
            return
        last = moment
        if not started:
            bar.add_task("", total=count, completed=done, told="")
            bar.start()
            started = True
        rate = (now - done) / max(moment - begin, 1e-9)
        bar.update(bar.task_ids[0], completed=now, told=f"{now} of {count} members, {rate:.0f} per second", refresh=True)

    try:
        yield show
    finally:
        if started:
            bar.stop()


def run_here(runner: Runner, todo: list[tuple[int, int]], threads: int, show: Callable[[int], None] | None, done: int) -> Iterator[Any]:
    """(piece, its chunk) one after the other, in this process."""
    for begin, end in todo:
        before = done
        told = (lambda k, before=before: show(before + k)) if show is not None else None
        yield (begin, end), runner.run(np.arange(begin, end), threads, told)
        done += end - begin
        if show is not None:
            show(done)


class Collected:
    """What chunks have brought, in memory."""

    def __init__(self, plan: StudyPlan, how: str) -> None:
        self.plan, self.how, self.length = plan, how, 0
        self._columns: dict[str, NDArray[Any]] = {}
        self._reasons: dict[int, str] = {}

    @property
    def done(self) -> Iterator[bool]:
        """Nothing was there before."""
        return itertools.repeat(False)

    def write(self, first: int, chunk: Chunk) -> None:
        """The rows of one chunk."""
        for name, rows in chunk.columns().items():
            if name not in self._columns:
                self._columns[name] = np.empty((len(self.plan.members), *rows.shape[1:]), dtype=rows.dtype)
            self._columns[name][first : first + len(rows)] = rows
        self._reasons |= {first + row: reason for row, reason in sorted(chunk.reasons.items())}

    def read(self) -> tuple[Any, dict[int, str]]:
        """All of it along one dimension, and the reasons."""
        return flat_dataset(self.plan, self._columns, self.how), dict(sorted(self._reasons.items()))


class StudyFailed(DalembertError):
    """A study that cannot go on: no worker answers, or one runs another version; what is done is kept."""
