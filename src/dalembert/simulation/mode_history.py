"""Parameters that a run changes at certain times, such as which contacts are closed: constant between two changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def changes_before(times: Numbers, t: Numbers, *, is_run: bool) -> NDArray[np.intp]:
    """How many of the changes at `times` have happened at each t; `is_run` if these are the points of the run itself.

    The run has two points or more at the time of a change: the first is before, the last after it.
    """
    before, after = (np.searchsorted(times, t, side=side) for side in ("left", "right"))
    if not is_run:
        return np.asarray(after)
    first, last = (np.searchsorted(t, t, side=side) for side in ("left", "right"))
    part = (np.arange(len(t)) - first) / np.maximum(last - first - 1, 1)
    return np.asarray(before + np.rint(part * (after - before)).astype(int))


@dataclass
class ModeHistory:
    """Symbols and their values from each change on; beside them the modes in words, one for each of `names`."""

    symbols: tuple[int, ...]
    names: tuple[str, ...]
    times: list[float] = field(default_factory=list)
    values: list[tuple[float, ...]] = field(default_factory=list)
    modes: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, t: float, values: Sequence[float], modes: Sequence[str]) -> None:
        """From time t on; the first is the start."""
        self.times.append(t)
        self.values.append(tuple(values))
        self.modes.append(tuple(modes))

    def number(self, t: Numbers, *, is_run: bool) -> NDArray[np.intp]:
        """Which of the modes is on at each time."""
        return changes_before(np.array(self.times[1:]), t, is_run=is_run)

    def texts(self, t: Numbers, *, is_run: bool) -> dict[str, tuple[str, ...]]:
        """The modes in words over the times, by name."""
        number = self.number(t, is_run=is_run)
        return {name: tuple(self.modes[i][k] for i in number) for k, name in enumerate(self.names)}

    def parameters(self, t: Numbers, *, is_run: bool) -> dict[int, Numbers]:
        """The symbols as arrays over the times."""
        table = np.array(self.values).reshape(len(self.values), len(self.symbols))[self.number(t, is_run=is_run)]
        return dict(zip(self.symbols, np.ascontiguousarray(table.T), strict=True))
