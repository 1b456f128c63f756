"""Ctrl-C during a run is noted, not raised, so that it can neither be lost inside a callback nor tear a step apart."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Whether Ctrl-C was pressed, and whether somebody has acted on it."""

    __slots__ = ("requested", "taken")

    def __init__(self) -> None:
        self.requested = self.taken = False

    def note(self, _signal: int, _frame: FrameType | None) -> None:
        """The first time make a note; whoever presses again means at once."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True

    def take(self) -> bool:
        """Whether to stop now; asking is acting on it."""
        self.taken = self.requested
        return self.requested


@contextmanager
def deferred() -> Iterator[Interruption]:
    """Ctrl-C is noted until the end; what nobody acted on by then is raised.

    Elsewhere than in the main thread, or where somebody else handles Ctrl-C, nothing is changed.
    """
    handler = signal.getsignal(signal.SIGINT)
    outer = getattr(handler, "__self__", None)
    if isinstance(outer, Interruption):
        yield outer
        return
    interruption = Interruption()
    if handler is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    signal.signal(signal.SIGINT, interruption.note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, handler)
    if interruption.requested and not interruption.taken:
        raise KeyboardInterrupt
