"""(t_i, y_i): the points of a run in memory that grows with it; nothing written is ever moved.

Of a long run that was asked for certain times only the steps that hold one of them are kept. Where steps are missing between two
points the polynomial is not a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.numerics.python_call import address
from dalembert.ode.problem import DENSE_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.ode.run import Run

_FIRST_POINTS: Final = 512
_FEWEST_POINTS: Final = 16
_FIRST_NUMBERS: Final = 2**18
_LARGEST_NUMBERS: Final = 2**22
# so much is kept of every run, whatever it was asked for
KEPT_BYTES: Final = 2**25


class Pieces:
    """Arrays that follow one another, joined when the whole is first asked for."""

    __slots__ = ("_parts",)

    def __init__(self, parts: list[NDArray[np.float64]]) -> None:
        self._parts = parts

    @property
    def whole(self) -> NDArray[np.float64]:
        """All of them as one array."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    def __reduce__(self) -> tuple[type[Pieces], tuple[list[NDArray[np.float64]]]]:
        return Pieces, ([self.whole],)


class StoredMotion(NamedTuple):
    """Times, states and, if kept, the dense output of the steps between them."""

    times: Pieces
    states: Pieces
    dense: Pieces | None
    # points that were not kept
    dropped: int = 0


class _Block(NamedTuple):
    """Room for some points; the dense output of a step is kept with the point where the step ends."""

    times: NDArray[np.float64]
    states: NDArray[np.float64]
    dense: NDArray[np.float64] | None
    # their addresses
    at: tuple[int, int, int]


class Points:
    """The points of a run, in blocks; point 0 is the start."""

    def __init__(
        self, t0: float, start: NDArray[np.float64], *, dense: bool, at: NDArray[np.float64] | None = None, rows: int = DENSE_ROWS
    ) -> None:
        self._rows = rows
        self._width, self._dense, self._at = start.size, dense, at if dense else None
        # blocks of which only what was asked is left, and how many points they had
        self._thin: list[_Block] = []
        self._blocks: list[_Block] = []
        # whether somebody looks at them from outside
        self._given = False
        self.restart(t0, start)

    def restart(self, t0: float, start: NDArray[np.float64]) -> None:
        """Another run; what nobody was given is written over."""
        self._thin.clear()
        self._thinned = self._before = 0
        del self._blocks[0 if self._given else 1 :]
        self._given = False
        if not self._blocks:
            self.grow()
        self._blocks[0].times[0] = t0
        self._blocks[0].states[0] = start

    def grow(self) -> None:
        """One more block; the last steps are always there."""
        if self._at is not None and self.bytes > KEPT_BYTES:
            for block in self._blocks[:-1]:
                self._thin.append(self._asked(block, self._thin, self._at))
                self._thinned += len(block.times)
            del self._blocks[:-1]
        numbers = self._width * self._rows
        first = min(max(_FIRST_NUMBERS // numbers, _FEWEST_POINTS), _FIRST_POINTS)
        room = min(first << len(self._blocks) + len(self._thin), max(_LARGEST_NUMBERS // numbers, _FEWEST_POINTS))
        times, states = np.empty(room), np.empty((room, self._width))
        dense = np.empty((room, self._rows, self._width)) if self._dense else None
        at = address(times), address(states), 0 if dense is None else address(dense)
        self._before = self._thinned + sum([len(block.times) for block in self._blocks])
        self._blocks.append(_Block(times, states, dense, at))

    @property
    def bytes(self) -> int:
        """Memory taken."""
        return sum(a.nbytes for b in (*self._thin, *self._blocks) for a in (b.times, b.states, b.dense) if a is not None)

    def bind(self, run: Run) -> None:
        """Tell the run where to go on writing."""
        block = self._blocks[-1]
        run.capacity, run.stored = len(block.times), run.steps + 1 - self._before
        run.times, run.states, run.dense = block.at

    def jump(self, run: Run, row: NDArray[np.float64]) -> None:
        """One more point at the time of the last: the state jumps in a step that takes no time."""
        self.bind(run)
        if run.stored >= run.capacity:
            self.grow()
            self.bind(run)
        block, k = self._blocks[-1], run.stored
        block.times[k], block.states[k] = run.t, row
        if block.dense is not None:
            block.dense[k] = 0.0
            block.dense[k, 0] = row
        run.steps += 1

    def point(self, k: int) -> tuple[float, NDArray[np.float64]]:
        """(t_k, y_k), with what fills its row up."""
        k -= self._thinned
        if k == -1 and self._thin:
            return float(self._thin[-1].times[-1]), self._thin[-1].states[-1]
        for block in self._blocks:
            if k < len(block.times):
                return float(block.times[k]), block.states[k]
            k -= len(block.times)
        raise IndexError

    def step(self, k: int) -> NDArray[np.float64]:
        """The rows of the dense output of the step that ends at point k."""
        k -= self._thinned
        for block in self._blocks:
            if k < len(block.times) and block.dense is not None:
                rows: NDArray[np.float64] = block.dense[k]
                return rows
            k -= len(block.times)
        raise IndexError

    @property
    def first_step(self) -> int:
        """The first from which on all steps are there."""
        return max(1, self._thinned)

    def motion(self, count: int, size: int) -> StoredMotion:
        """The first points and components; of a long run no more than was asked."""
        self._given = True
        if len(self._blocks) == 1 and not self._thin and (self._at is None or self.bytes <= KEPT_BYTES):
            only = self._blocks[0]
            # no step ends at the start
            steps = None if only.dense is None else Pieces([only.dense[1:count, :, :size]])
            return StoredMotion(Pieces([only.times[:count]]), Pieces([only.states[:count, :size]]), steps)
        times: list[NDArray[np.float64]] = []
        states: list[NDArray[np.float64]] = []
        dense: list[NDArray[np.float64]] = []
        at = self._at if self._at is not None and (self._thin or self.bytes > KEPT_BYTES) else None
        blocks, left = list(self._thin), count - self._thinned
        for block in self._blocks:
            here = slice(0, min(left, len(block.times)))
            part = _Block(block.times[here], block.states[here], None if block.dense is None else block.dense[here], block.at)
            blocks.append(part if at is None or not here.stop else self._asked(part, blocks, at))
            left -= here.stop
        for block in blocks:
            times.append(block.times)
            states.append(block.states[:, :size])
            if block.dense is not None:
                # no step ends at the start
                dense.append(block.dense[0 if dense else 1 :, :, :size])
        dropped = count - sum(map(len, times))
        return StoredMotion(Pieces(times), Pieces(states), Pieces(dense) if self._dense else None, dropped)

    @staticmethod
    def _asked(block: _Block, before: list[_Block], at: NDArray[np.float64]) -> _Block:
        """Its last point, the start of the run, the steps t_k ≤ t < t_(k+1) that hold a time t that was asked for, and all jumps."""
        assert block.dense is not None
        # the point before the first, which is always there
        times = np.concatenate([before[-1].times[-1:] if before else block.times[:1], block.times])
        step = np.searchsorted(times, at, side="right") - 1
        step = np.concatenate([step[(step >= 0) & (step < len(times) - 1)], np.flatnonzero(np.diff(times) == 0.0)])
        kept = np.unique(np.concatenate([[0] if before else [0, 1], step, step + 1, [len(times) - 1]]))
        chosen = kept[1:] - 1
        dense = block.dense[chosen]
        dense[np.diff(kept) > 1] = np.nan
        return _Block(block.times[chosen], block.states[chosen], dense, block.at)
