"""A progress bar on runs longer than a second, where a person is looking."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE: Final = 1.0
_WIDTH: Final = 32
_EVERY: Final = 0.1


@contextmanager
def progress_bar(t0: float, t1: float, wanted: bool | None = None) -> Iterator[Callable[[float, int], None] | None]:
    """show(t, steps), or None where nobody looks; `wanted` forces it on or off."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield None
        return
    bar = _Bar(t0, t1)
    try:
        yield bar.show
    finally:
        bar.clear()


class _Bar:
    def __init__(self, t0: float, t1: float) -> None:
        self.t0, self.t1 = t0, t1
        self.begin = self.last = time.monotonic()
        self.shown = False

    def show(self, t: float, steps: int) -> None:
        now = time.monotonic()
        if now - self.begin < PATIENCE or now - self.last < _EVERY:
            return
        self.last, self.shown = now, True
        part = min(max((t - self.t0) / (self.t1 - self.t0), 0.0), 1.0)
        filled = round(part * _WIDTH)
        left = (now - self.begin) * (1 - part) / part if part else 0.0
        bar = "█" * filled + "·" * (_WIDTH - filled)
        sys.stderr.write(f"\r{bar} {100 * part:5.1f} %  t = {t:.4g}  {steps} steps  about {left:.0f} s left ")
        sys.stderr.flush()

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
