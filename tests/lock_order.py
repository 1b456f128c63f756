"""The order in which a fresh process takes its locks: prints those of a cycle, in which two threads
can wait for one another for ever.

    python lock_order.py [name of a first call …]

Without names, all first calls are made.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
import warnings
from collections import defaultdict

from dalembert.foundation import caching

later: defaultdict[str, set[str]] = defaultdict(set)
held: list[str] = []


class RecordedLock:
    """A lock that records which ones its thread holds when it is taken."""

    def __init__(self, name: str) -> None:
        self.name, self.lock = name, threading.RLock()

    def __enter__(self) -> None:
        if self.name not in held:
            for other in held:
                later[other].add(self.name)
        self.lock.acquire()
        held.append(self.name)

    def __exit__(self, *_: object) -> None:
        assert self.name == held.pop()
        self.lock.release()


class LockedProperty(functools.cached_property):
    """`functools.cached_property` as it is before Python 3.12."""

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.once = RecordedLock(f"{owner.__module__}.{owner.__qualname__}.{name}")

    def __get__(self, owner: object, kind: type | None = None) -> object:
        if owner is None:
            return self
        with self.once:
            return super().__get__(owner, kind)


def reached(first: str) -> set[str]:
    """The locks that are taken, by any thread, after this one."""
    found, open_ = set(), [first]
    while open_:
        new = later[open_.pop()] - found
        found |= new
        open_ += new
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    functools.cached_property = LockedProperty
    caching.COMPUTE_LOCK = RecordedLock("COMPUTE_LOCK")
    # after the locks are exchanged
    from dalembert import gallery
    from first_calls import CALLS

    for call in sys.argv[1:] or CALLS:
        CALLS[call](gallery.build)
    cycle = sorted(name for name in list(later) if name in reached(name))
    sys.stdout.write(json.dumps({"locks": len(later), "cycle": cycle}))
