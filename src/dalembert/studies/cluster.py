"""Chunks on other processes and machines: dask.distributed, or an executor of concurrent.futures.

What travels is the plan of the study, a pickle without compiled code; every worker compiles it once. Dask gives the chunk of a worker that
is lost to another one.
"""

from __future__ import annotations

import concurrent.futures
import pickle
from collections.abc import Callable, Iterator
from typing import Any, Final

from dalembert.ode.optional_packages import optional_package
from dalembert.studies.members import BadStudy
from dalembert.studies.plan import VERSION, StudyPlan
from dalembert.studies.running import StudyFailed

# seconds until a scheduler counts as silent
_PATIENCE: Final = 5.0
# chunks under way for each worker: one runs, one waits
_AHEAD: Final = 2

# bytes that can go with every chunk
_SMALL: Final = 10**6

Piece = tuple[int, int]
RunPiece = Callable[[bytes, int, int], Any]


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
