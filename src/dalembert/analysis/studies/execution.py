"""Chunk after chunk, what is done is written down before more is begun: here in threads, or on other processes and machines.

There it is dask.distributed, or an executor of concurrent.futures. What travels is the plan of the study, a pickle without compiled code;
every worker compiles it once. Dask gives the chunk of a worker that is lost to another one.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, Protocol

import numpy as np

from dalembert.analysis.studies.ensemble_plan import VERSION, StudyPlan
from dalembert.analysis.studies.parameter_grid import BadStudy
from dalembert.analysis.studies.result import Chunk, flat_dataset
from dalembert.errors import DalembertError, optional_package
from dalembert.foundation.array_types import Indices
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.runtime.ode.vectorized.workers import Progress
from dalembert.runtime.simulation.progress import EVERY, PATIENCE, progress_bar

# members that are in memory at once, unless trajectories make them large
CHUNK: Final = 16_384
# numbers of a chunk at most
_MOST_NUMBERS: Final = 2**24
# seconds until a scheduler counts as silent
_PATIENCE: Final = 5.0
# chunks under way for each worker: one runs, one waits
_AHEAD: Final = 2
# bytes that can go with every chunk
_SMALL: Final = 10**6

Piece = tuple[int, int]
RunPiece = Callable[[bytes, int, int], Any]


class StudyFailed(DalembertError):
    """A study that cannot go on: no worker answers, or one runs another version; what is done is kept."""


class Runner(Protocol):
    """What can run members."""

    def run(self, members: Indices, threads: int, on_progress: Progress | None = None) -> Chunk:
        """What becomes of these members."""


def chunk_length(plan: StudyPlan, wanted: int | None) -> int:
    """Members in a chunk: what was asked for, or as many as take a bounded part of memory while they run."""
    numbers = len(kinematics(plan.system).state) * (2 + plan.times.size) + plan.numbers_kept + 64
    return max(1, min(min(CHUNK, _MOST_NUMBERS // numbers) if wanted is None else wanted, len(plan.members)))


def processors() -> int:
    """How many of them this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pieces(count: int, length: int) -> list[Piece]:
    """(first, one behind the last) of every chunk."""
    return [(begin, min(begin + length, count)) for begin in range(0, count, length)]


def progress_of(count: int, wanted: bool | None, done: int = 0) -> AbstractContextManager[Callable[[int], None] | None]:
    """show(members done): a bar with rate and time left, where a person is looking; `wanted` forces it on or off."""
    begin = time.monotonic()

    def told(now: int) -> tuple[int, str]:
        rate = (now - done) / max(time.monotonic() - begin, 1e-9)
        return now, f"{now} of {count} members, {rate:.0f} per second"

    shows = sys.stderr.isatty() if wanted is None else wanted
    return progress_bar(count, told, done, EVERY if wanted else PATIENCE) if shows else nullcontext()


def run_here(runner: Runner, todo: list[Piece], threads: int, show: Callable[[int], None] | None, done: int) -> Iterator[Any]:
    """(piece, its chunk) one after the other, in this process."""
    for begin, end in todo:
        before = done
        told = (lambda k, before=before: show(before + k)) if show is not None else None
        yield (begin, end), runner.run(np.arange(begin, end), threads, told)
        done += end - begin
        if show is not None:
            show(done)


def run_there(
    engine: Any, plan: StudyPlan, todo: list[Piece], run_piece: RunPiece, show: Callable[[int], None] | None, done: int
) -> Iterator[tuple[Piece, Any]]:
    """(piece, its chunk) in the order in which they come back."""
    payload = pickle.dumps(plan)
    if isinstance(engine, concurrent.futures.Executor):
        waiting = _executed(engine, payload, todo, run_piece)
    elif isinstance(engine, str) or hasattr(engine, "scheduler_info"):
        waiting = _distributed(engine, payload, todo, run_piece)
    else:
        msg = f"engine = {engine!r:.60}: give a dask.distributed.Client, the address of its scheduler, or an executor of concurrent.futures"
        raise BadStudy(msg)
    for piece, chunk in waiting:
        yield piece, chunk
        done += piece[1] - piece[0]
        if show is not None:
            show(done)


def _executed(engine: concurrent.futures.Executor, payload: bytes, todo: list[Piece], run_piece: RunPiece) -> Iterator[tuple[Piece, Any]]:
    rest = iter(todo)
    running: dict[concurrent.futures.Future[Any], Piece] = {}
    ahead = _AHEAD * int(getattr(engine, "_max_workers", 1))

    def send() -> None:
        for piece in rest:
            running[engine.submit(run_piece, payload, *piece)] = piece
            if len(running) >= ahead:
                return

    try:
        send()
        while running:
            ready, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ready:
                yield running.pop(future), future.result()
            send()
    except concurrent.futures.BrokenExecutor as problem:
        msg = f"a worker process ended ({problem}); what was saved is kept, and the same call goes on with the rest"
        raise StudyFailed(msg) from problem
    finally:
        for future in running:
            future.cancel()


def _distributed(engine: Any, payload: bytes, todo: list[Piece], run_piece: RunPiece) -> Iterator[tuple[Piece, Any]]:
    distributed = optional_package("distributed", "a cluster", "'dalembert[study]'")
    client = _connected(distributed, engine) if isinstance(engine, str) else engine
    try:
        _check_workers(client)
        # what lies on one worker alone would be lost with it
        plan_there = payload if len(payload) < _SMALL else client.scatter(payload, hash=False, broadcast=True)
        rest, ahead = iter(todo), _AHEAD * max(1, sum(client.ncores().values()))
        waiting, pieces = distributed.as_completed(loop=client.loop), {}

        def send() -> None:
            for piece in rest:
                future = client.submit(run_piece, plan_there, *piece, pure=False)
                pieces[future.key] = piece
                waiting.add(future)
                if len(pieces) >= ahead:
                    return

        send()
        for future in waiting:
            yield pieces.pop(future.key), _result(distributed, future)
            send()
    finally:
        if client is not engine:
            client.close()


def _connected(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        msg = f"no scheduler answers at {address}: start one with `dask scheduler`, and workers with `dask worker {address}`"
        raise StudyFailed(msg) from problem


def _version_there() -> str:
    """On a worker that may know nothing of this module."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dalembert")
    except PackageNotFoundError:
        return ""


def _check_workers(client: Any) -> None:
    """At least one worker, and the same version on all of them."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
        there = client.run(_version_there)
    except (TimeoutError, OSError) as problem:
        msg = f"the scheduler has no worker that answers: start one with `dask worker {client.scheduler.address}`"
        raise StudyFailed(msg) from problem
    for worker, version in there.items():
        if version != VERSION:
            has = f"dalembert {version}" if version else "no dalembert"
            msg = f"worker {worker} has {has}, and here is {VERSION}: install the same version there"
            raise StudyFailed(msg)


def _result(distributed: Any, future: Any) -> Any:
    try:
        return future.result()
    except (distributed.KilledWorker, concurrent.futures.CancelledError) as problem:
        msg = f"no worker lived long enough for a chunk: {problem}; what was saved is kept, and the same call goes on with the rest"
        raise StudyFailed(msg) from problem


class Collected:
    """What chunks have brought, in memory."""

    def __init__(self, plan: StudyPlan, how: str) -> None:
        self.plan, self.how, self.length = plan, how, 0
        self._columns: dict[str, Any] = {}
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
