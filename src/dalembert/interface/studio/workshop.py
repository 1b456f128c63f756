"""One worker process that answers the newest text; it is replaced if it does not answer in time."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any, Final

Part = dict[str, Any]
# an older job may go on to its next part for about as long as a new process takes to start
GRACE: Final = 1.5
LIMIT: Final = 30.0
# for the start of a process on a busy machine; the limit of a text begins after it
_START: Final = 120.0
_GONE: Final = {
    "part": "failed",
    "sentence": "the worker process ended; change the text to start another",
}
_LAST: Final = ("done", "dropped", "failed")
# how often a wait looks whether a newer text came in, in seconds
_LOOK: Final = 0.1


class WorkerProcess:
    """A process with the jobs that were sent to it; each job has a queue of its parts."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "dalembert.interface.studio.worker"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe)  # noqa: S603
        self.ready = False
        self.queues: dict[int, queue.SimpleQueue[Part]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            part = json.loads(line)
            self.ready = True
            waiting = self.queues.get(part.pop("id"))
            if waiting is not None:
                waiting.put(part)
        for waiting in list(self.queues.values()):
            waiting.put(_GONE)

    def send(self, identity: int, job: dict[str, str]) -> queue.SimpleQueue[Part]:
        """Send a job; its parts arrive in the queue."""
        waiting = self.queues[identity] = queue.SimpleQueue()
        stdin: IO[bytes] | None = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps({"id": identity, "job": job}).encode() + b"\n")
            stdin.flush()
        except OSError:
            waiting.put(_GONE)
        return waiting

    @property
    def alive(self) -> bool:
        """Whether the process can take jobs."""
        return self.process.poll() is None

    def end(self) -> None:
        """End the process and wait for it."""
        self.process.kill()
        self.process.wait()
        with suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()


def _next(waiting: queue.SimpleQueue[Part], left: float) -> Part | None:
    """The next part, or None after a short while."""
    try:
        return waiting.get(timeout=max(0.0, min(left, _LOOK)))
    except queue.Empty:
        return None


class Workshop:
    """Answers texts one at a time, the newest first; `limit` is the longest time for one text in
    seconds.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit, self.lock = limit, threading.Lock()
        self.count, self.restarts, self.closed, self.newest = 0, 0, False, 0.0
        self.worker = WorkerProcess()

    def is_newest(self, written: float) -> bool:
        """Whether no text that was written later came in before; requests may overtake one
        another.
        """
        with self.lock:
            newest, self.newest = self.newest, max(self.newest, written)
        return written >= newest

    def answer(self, job: dict[str, str]) -> Iterator[Part]:
        """The parts of what a text means, until a newer text comes in."""
        with self.lock:
            self.count += 1
            mine, worker = self.count, self._living()
            waiting = worker.send(mine, job)
        begun, started = time.monotonic(), False
        while mine == self.count and not self.closed:
            longest = self.limit if started else GRACE if worker.ready else _START
            left = begun + longest - time.monotonic()
            part = _next(waiting, left)
            if part is None and left > 0:
                continue
            if part is None and started:
                yield self._stopped(worker)
                return
            if part is None:
                # an older text still keeps the worker
                worker = self._replaced(worker)
                waiting, begun = worker.send(mine, job), time.monotonic()
            elif part["part"] == "begun":
                begun, started = time.monotonic(), True
            else:
                yield part
                if part["part"] in _LAST:
                    break
        else:
            yield {"part": "dropped"}
        worker.queues.pop(mine, None)

    def _stopped(self, worker: WorkerProcess) -> Part:
        self._replaced(worker)
        sentence = (
            f"stopped after {self.limit:g} s: this model takes longer (dalembert studio "
            f"--limit gives more)"
        )
        return {"part": "failed", "sentence": sentence}

    def _living(self) -> WorkerProcess:
        """The worker; another one if it ended by itself."""
        if not self.worker.alive:
            self.restarts += 1
            self.worker = WorkerProcess()
        return self.worker

    def _replaced(self, worker: WorkerProcess) -> WorkerProcess:
        """End a worker that does not answer; the one that takes its place."""
        with self.lock:
            if worker is self.worker:
                worker.end()
                self.restarts += 1
                self.worker = WorkerProcess()
            return self.worker

    def close(self) -> None:
        """End the worker."""
        self.closed = True
        self.worker.end()
