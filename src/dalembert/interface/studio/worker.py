"""The process that derives and simulates for the studio: jobs come as lines of JSON, parts go back
as lines of JSON.

The newest job counts: an older one ends at its next part. When the server is gone the process ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, Any, Final

# address space, where the system can limit it: a model that needs more is refused, not the computer
# slowed down
MEMORY: Final = 6 * 2**30
# seconds without a newer text before the sliders are made: compiling their module would delay the
# equations of the next text
PAUSE: Final = 0.3


class Mailbox:
    """The newest job that came in; the process ends with the stream."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.newest = stream, None
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    newest: dict[str, Any] | None

    def _read(self) -> None:
        for line in self.stream:
            with self.changed:
                self.newest = json.loads(line)
                self.changed.notify()
        os._exit(0)

    def take(self) -> dict[str, Any]:
        """The newest job, as soon as there is one."""
        with self.changed:
            self.changed.wait_for(lambda: self.newest is not None)
            job, self.newest = self.newest, None
        assert job is not None
        return job

    def is_overtaken(self, seconds: float = 0.0) -> bool:
        """Whether a newer job came in, or comes in within a time."""
        with self.changed:
            return self.changed.wait_for(lambda: self.newest is not None, seconds)


def work(mailbox: Mailbox, out: IO[bytes]) -> None:
    """Answer jobs without end."""
    from dalembert.interface.studio.answer import Job, answer
    from dalembert.runtime.numerics.compiled_function import compile_quickly

    compile_quickly()
    out.write(b'{"id": 0, "part": "ready"}\n')
    out.flush()
    while True:
        message = mailbox.take()
        identity, begun = message["id"], time.process_time()

        def send(part: dict[str, Any], identity: int = identity, begun: float = begun) -> None:
            # seconds of the processor so far, for those who measure
            spent = round(time.process_time() - begun, 4)
            out.write(json.dumps({"id": identity, "cpu": spent, **part}).encode() + b"\n")
            out.flush()

        send({"part": "begun"})
        ended = _answer(answer(Job(**message["job"])), mailbox, send)
        send({"part": ended})


def _answer(parts: Iterable[dict[str, Any]], mailbox: Mailbox, send: Any) -> str:
    """Send the parts; how it ended: "done", or "dropped" for a newer job."""
    try:
        for part in parts:
            send(part)
            if mailbox.is_overtaken(PAUSE if part["part"] == "verdict" else 0.0):
                return "dropped"
    except MemoryError:
        send({"part": "failed", "sentence": "this model needs more memory than the studio allows"})
    except RecursionError:
        send({"part": "failed", "sentence": "expressions of this model are nested too deeply"})
    except Exception as problem:  # noqa: BLE001 - the studio continues, and says what happened
        sentence = (
            f"an error in dalembert, not in the model ({type(problem).__name__}: {problem!s:.200})"
        )
        send({"part": "failed", "sentence": sentence})
    return "done"


def limit_memory() -> None:
    """Refuse memory beyond the limit, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main() -> None:
    """Keep the protocol on a descriptor of its own: what anything prints goes to the error
    stream.
    """
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    limit_memory()
    work(Mailbox(sys.stdin.buffer), out)


if __name__ == "__main__":
    main()
