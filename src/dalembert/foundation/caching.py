"""Values computed once and shared by all threads, under one lock that no child process inherits
locked.

Two threads that ask at the same time for what does not exist yet would both make it, and one of the
two results would be dropped while the other thread still uses its addresses. A second thread waits
and gets the first result.
"""

from __future__ import annotations

import functools
import gc
import os
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, Protocol, TypeVar

T = TypeVar("T")
_MISSING: Final = object()
COMPUTE_LOCK: Final = threading.RLock()
# new objects in a pause in which modules were imported
_MANY: Final = 2000
_OBJECTS_BETWEEN_COLLECTIONS: Final = 30_000
# in the order in which a thread may take them one inside the other
_fork_locks: Final[list[Any]] = []


def reacquire_after_fork(lock: Any) -> None:
    """Let the thread that forks hold this lock meanwhile, after those registered before it."""
    _fork_locks.append(lock)


def _before_fork() -> None:
    for lock in _fork_locks:
        lock.acquire()


def _after_fork() -> None:
    for lock in reversed(_fork_locks):
        lock.release()


reacquire_after_fork(COMPUTE_LOCK)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


class paused_collection:  # noqa: N801 - it is called like a function, before every run
    """No garbage collection while modules are imported: they create no garbage, and looking for it
    is an eighth of the time until the first result.

    All that exists is old afterwards: the next collections of young objects do not visit modules.
    """

    __slots__ = ("_enabled", "_young")

    def __enter__(self) -> None:
        self._enabled, self._young = gc.isenabled(), gc.get_count()[0]
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if not self._enabled:
            return
        # freezing and releasing moves all objects to the oldest generation, without a visit
        if gc.get_count()[0] - self._young > _MANY and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()


@contextmanager
def sparse_collection() -> Iterator[None]:
    """Few garbage collections while much is made and kept: expressions hold no cycles, and looking
    for these after every 700 objects is a sixth of the time to prepare a large system.

    Also a decorator.
    """
    before = gc.get_threshold()
    # 0 is a choice of the user: no collection at all
    sparse = (_OBJECTS_BETWEEN_COLLECTIONS if before[0] else 0, *before[1:])
    if sparse[0] <= before[0]:
        yield
        return
    gc.set_threshold(*sparse)
    try:
        yield
    finally:
        # what was set meanwhile stays
        if gc.get_threshold() == sparse:
            gc.set_threshold(*before)


def cached_call(make: Callable[[], T]) -> Callable[[], T]:
    """The function that makes its result when first called and gives that one ever after, to
    every thread.
    """
    made: list[T] = []

    @functools.wraps(make)
    def wrapper() -> T:
        if not made:
            with COMPUTE_LOCK:
                if not made:
                    made.append(make())
        return made[0]

    return wrapper


class lazy_property(Generic[T]):  # noqa: N801 - it is written like `property`
    """A property that is computed when first read, for objects of one derivation and so of one
    thread.

    `functools.cached_property` takes a lock before Python 3.12, and a derivation of a small system
    reads forty of them.
    """

    def __init__(self, func: Callable[[Any], T]) -> None:
        self.func, self.__doc__, self.name = func, func.__doc__, func.__name__

    def __get__(self, owner: Any, kind: type | None = None) -> T:
        if owner is None:
            # the property itself, for a look at the class
            return self  # type: ignore[return-value]
        value = owner.__dict__[self.name] = self.func(owner)
        return value


class shared_property(lazy_property[T]):  # noqa: N801 - it is written like `property`
    """A property that is computed once for all threads, under the lock of this module.

    The lock of `functools.cached_property` before Python 3.12 is a second one: a thread that holds
    it and asks for a cached result waits for ever for one that computes a result and reads the
    property.
    """

    def __get__(self, owner: Any, kind: type | None = None) -> T:
        if owner is None:
            return self  # type: ignore[return-value] # as above
        with COMPUTE_LOCK:
            # another thread that waited here finds it
            if self.name not in owner.__dict__:
                super().__get__(owner, kind)
            return owner.__dict__[self.name]  # type: ignore[no-any-return] # put there above


# how many results of one kind an owner keeps
MAX_ENTRIES: Final = 32


class CacheOwner(Protocol):
    """Something that keeps what was made from it."""

    cached_results: dict[Any, dict[Hashable, Any]]


class PerOwnerCache(Generic[T]):
    """results(owner, key, make): the T that was made of an owner under a key, made when first asked
    for.

    The owner keeps it, so both end together; each kind of result has a store of its own. What has
    not been asked for the longest makes room, so that a system whose runs have a new input each
    does not grow.
    """

    def __call__(self, owner: CacheOwner, key: Hashable, compute: Callable[[], T]) -> T:
        with COMPUTE_LOCK:
            store: dict[Hashable, Any] | None = owner.cached_results.get(self)
            if store is None:
                store = owner.cached_results[self] = {}
            result = store.pop(key, _MISSING)
            if result is _MISSING:
                with sparse_collection():
                    result = compute()
            store[key] = result
            while len(store) > MAX_ENTRIES:
                del store[next(iter(store))]
            return result  # type: ignore[no-any-return] # put there by this object alone
