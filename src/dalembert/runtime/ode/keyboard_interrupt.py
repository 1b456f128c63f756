"""Ctrl-C during a run is noted, not raised, so that it can neither be lost inside a callback nor
tear a step apart.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Whether Ctrl-C was pressed, and whether somebody has acted on it."""

    __slots__ = ("acknowledged", "requested")

    def __init__(self) -> None:
        self.requested = self.acknowledged = False

    def handle_signal(self, _signal: int, _frame: FrameType | None) -> None:
        """The first time make a note; the second time interrupt at once."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True

    def should_stop(self) -> bool:
        """Whether to stop now; asking is acting on it."""
        self.acknowledged = self.requested
        return self.requested


@contextmanager
def defer_keyboard_interrupt() -> Iterator[Interruption]:
    """Ctrl-C is noted until the end; an unhandled one is raised then.

    Elsewhere than in the main thread, or where somebody else handles Ctrl-C, nothing is changed.
    """
    handler = signal.getsignal(signal.SIGINT)
    outer = getattr(handler, "__self__", None)
    if isinstance(outer, Interruption):
        yield outer
        return
    interruption = Interruption()
    if (
        handler is not signal.default_int_handler
        or threading.current_thread() is not threading.main_thread()
    ):
        yield interruption
        return
    signal.signal(signal.SIGINT, interruption.handle_signal)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, handler)
    if interruption.requested and not interruption.acknowledged:
        raise KeyboardInterrupt
