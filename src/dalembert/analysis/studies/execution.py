"""Chunk after chunk, what is done is written down before more is begun: here in threads, or on
other processes and machines.

There it is dask.distributed, or an executor of concurrent.futures. What travels is the plan of the
study, a pickle without compiled code; every worker compiles it once. Dask gives the chunk of a
worker that is lost to another one.
"""

from __future__ import annotations

import concurrent.futures
import functools
import itertools
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, Protocol

import numpy as np

from dalembert.analysis.studies.ensemble_plan import VERSION, EnsemblePlan
from dalembert.analysis.studies.parameter_grid import BadStudy
from dalembert.analysis.studies.result import ResultChunk, check_xarray, flat_dataset
from dalembert.errors import DalembertError, import_optional
from dalembert.foundation.array_types import IndexArray
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.runtime.ode.vectorized.workers import Progress
from dalembert.runtime.simulation.progress import DELAY, REFRESH_INTERVAL, progress_bar

# members that are in memory at once, unless trajectories make them large
CHUNK: Final = 16_384
# numbers of a chunk at most
_MOST_NUMBERS: Final = 2**24
# seconds until a scheduler counts as silent
_CONNECT_TIMEOUT: Final = 5.0
# chunks under way for each worker: one runs, one waits
_CHUNKS_PER_WORKER: Final = 2
# bytes that can go with every chunk
_SMALL: Final = 10**6

ChunkRange = tuple[int, int]
RunChunk = Callable[[bytes, int, int], Any]


class StudyFailed(DalembertError):
    """An ensemble that cannot continue: no worker answers, or one has another version; finished
    runs are kept.
    """


class Runner(Protocol):
    """What can run members."""

    def run(
        self, members: IndexArray, threads: int, on_progress: Progress | None = None
    ) -> ResultChunk:
        """What becomes of these members."""


def chunk_size(plan: EnsemblePlan, wanted: int | None) -> int:
    """Members in a chunk: the requested number, or as many as take a bounded part of memory while
    they run.
    """
    numbers = len(kinematics(plan.system).state) * (2 + plan.times.size) + plan.values_per_run + 64
    return max(
        1, min(min(CHUNK, _MOST_NUMBERS // numbers) if wanted is None else wanted, len(plan.grid))
    )


def cpu_count() -> int:
    """How many of them this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chunk_ranges(count: int, length: int) -> list[ChunkRange]:
    """(first, one behind the last) of every chunk."""
    return [(begin, min(begin + length, count)) for begin in range(0, count, length)]


def ensemble_progress(
    count: int, wanted: bool | None, done: int = 0
) -> AbstractContextManager[Callable[[int], None] | None]:
    """show(members done): a bar with rate and time left, where a person is looking; `wanted`
    forces it on or off.
    """
    begin = time.monotonic()

    def describe(now: int) -> tuple[int, str]:
        rate = (now - done) / max(time.monotonic() - begin, 1e-9)
        return now, f"{now} of {count} runs, {rate:.0f} per second"

    shows = sys.stderr.isatty() if wanted is None else wanted
    return (
        progress_bar(count, describe, done, REFRESH_INTERVAL if wanted else DELAY)
        if shows
        else nullcontext()
    )


def run_locally(
    runner: Runner,
    todo: list[ChunkRange],
    threads: int,
    show: Callable[[int], None] | None,
    done: int,
) -> Iterator[Any]:
    """(piece, its chunk) one after the other, in this process."""
    for begin, end in todo:
        before = done
        on_progress = (lambda k, before=before: show(before + k)) if show is not None else None
        yield (begin, end), runner.run(np.arange(begin, end), threads, on_progress)
        done += end - begin
        if show is not None:
            show(done)


def run_on_engine(
    engine: Any,
    plan: EnsemblePlan,
    todo: list[ChunkRange],
    run_piece: RunChunk,
    show: Callable[[int], None] | None,
    done: int,
) -> Iterator[tuple[ChunkRange, Any]]:
    """(piece, its chunk) in the order in which they come back."""
    payload = pickle.dumps(plan)
    if isinstance(engine, concurrent.futures.Executor):
        waiting = _run_on_executor(engine, payload, todo, run_piece)
    elif isinstance(engine, str) or hasattr(engine, "scheduler_info"):
        waiting = _run_on_dask(engine, payload, todo, run_piece)
    else:
        msg = (
            f"engine = {engine!r:.60}: give a dask.distributed.Client, the address of its "
            f"scheduler, or an executor of concurrent.futures"
        )
        raise BadStudy(msg)
    for piece, chunk in waiting:
        yield piece, chunk
        done += piece[1] - piece[0]
        if show is not None:
            show(done)


def _run_on_executor(
    engine: concurrent.futures.Executor, payload: bytes, todo: list[ChunkRange], run_piece: RunChunk
) -> Iterator[tuple[ChunkRange, Any]]:
    rest = iter(todo)
    running: dict[concurrent.futures.Future[Any], ChunkRange] = {}
    ahead = _CHUNKS_PER_WORKER * int(getattr(engine, "_max_workers", 1))

    def submit() -> None:
        for piece in rest:
            running[engine.submit(run_piece, payload, *piece)] = piece
            if len(running) >= ahead:
                return

    try:
        submit()
        while running:
            ready, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in ready:
                yield running.pop(future), future.result()
            submit()
    except concurrent.futures.BrokenExecutor as problem:
        msg = (
            f"a worker process ended ({problem}); finished runs are saved, and the same "
            f"call resumes the study"
        )
        raise StudyFailed(msg) from problem
    finally:
        for future in running:
            future.cancel()


def _run_on_dask(
    engine: Any, payload: bytes, todo: list[ChunkRange], run_piece: RunChunk
) -> Iterator[tuple[ChunkRange, Any]]:
    distributed = import_optional("distributed", "a cluster", "'dalembert[study]'")
    client = _connect_dask(distributed, engine) if isinstance(engine, str) else engine
    try:
        _check_workers(client)
        # what lies on one worker alone would be lost with it
        plan_there = (
            payload
            if len(payload) < _SMALL
            else client.scatter(payload, hash=False, broadcast=True)
        )
        rest, ahead = iter(todo), _CHUNKS_PER_WORKER * max(1, sum(client.ncores().values()))
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
            yield pieces.pop(future.key), _chunk_result(distributed, future)
            send()
    finally:
        if client is not engine:
            client.close()


def _connect_dask(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=_CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        msg = (
            f"no scheduler answers at {address}: start one with `dask scheduler`, and workers "
            f"with `dask worker {address}`"
        )
        raise StudyFailed(msg) from problem


def _worker_version() -> str:
    """On a worker that may not have imported this module."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dalembert")
    except PackageNotFoundError:
        return ""


def _check_workers(client: Any) -> None:
    """At least one worker, and the same version on all of them."""
    try:
        client.wait_for_workers(1, timeout=_CONNECT_TIMEOUT)
        there = client.run(_worker_version)
    except (TimeoutError, OSError) as problem:
        msg = (
            f"the scheduler has no worker that answers: start one with `dask worker "
            f"{client.scheduler.address}`"
        )
        raise StudyFailed(msg) from problem
    for worker, version in there.items():
        if version != VERSION:
            has = f"dalembert {version}" if version else "no dalembert"
            msg = (
                f"worker {worker} has {has}, and here is {VERSION}: install the same version there"
            )
            raise StudyFailed(msg)


def _chunk_result(distributed: Any, future: Any) -> Any:
    try:
        return future.result()
    except (distributed.KilledWorker, concurrent.futures.CancelledError) as problem:
        msg = (
            f"no worker finished a chunk: {problem}; finished chunks are saved, and "
            "the "
            f"same call resumes the study"
        )
        raise StudyFailed(msg) from problem


class MemoryStore:
    """What chunks have brought, in memory."""

    def __init__(self, plan: EnsemblePlan, how: str) -> None:
        self.plan, self.how, self.length = plan, how, 0
        self._columns: dict[str, Any] = {}
        self._reasons: dict[int, str] = {}

    @property
    def done_chunks(self) -> Iterator[bool]:
        """Nothing was there before."""
        return itertools.repeat(False)

    def write(self, first: int, chunk: ResultChunk) -> None:
        """The rows of one chunk."""
        for name, rows in chunk.columns().items():
            if name not in self._columns:
                self._columns[name] = np.empty(
                    (len(self.plan.grid), *rows.shape[1:]), dtype=rows.dtype
                )
            self._columns[name][first : first + len(rows)] = rows
        self._reasons |= {first + row: reason for row, reason in sorted(chunk.reasons.items())}

    def read(self) -> tuple[Callable[[], Any], dict[int, str]]:
        """What gives all of it along one dimension, and the reasons."""
        check_xarray()
        flat = functools.partial(flat_dataset, self.plan, self._columns, self.how)
        return flat, dict(sorted(self._reasons.items()))
