"""y(t): the points (t_i, y_i) of a run and the polynomial between any two of them, in memory that
grows with the run.
Keywords: dense output.

Nothing written is ever moved. Of a long run with requested times only the steps that hold one of
them are kept. Where steps are missing between two points the polynomial is not a number.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.foundation.caching import cached_call
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.jit import Library, TextFunction, load
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.ode.failures import OutsideRun
from dalembert.runtime.ode.initial_value_problem import RUNGE_KUTTA_FORM, DenseForm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dalembert.runtime.ode.integrator_state import IntegratorState
    from dalembert.runtime.simulation.events.event import Occurrence

_FIRST_POINTS: Final = 512
_FEWEST_POINTS: Final = 16
_DOUBLE: Final = 8
_FIRST_NUMBERS: Final = 2**18
_LARGEST_NUMBERS: Final = 2**22
# this much is kept of every run, whatever was requested
MAX_STORED_BYTES: Final = 2**25


class ChunkedArray:
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

    def __reduce__(self) -> tuple[type[ChunkedArray], tuple[list[NDArray[np.float64]]]]:
        return ChunkedArray, ([self.whole],)


class StoredTrajectory(NamedTuple):
    """Times, states and, if kept, the dense output of the steps between them."""

    times: ChunkedArray
    states: ChunkedArray
    dense: ChunkedArray | None
    # points that were not kept
    dropped: int = 0
    # whether the rows of the dense output are coefficients of powers of θ
    powers: bool = False


class Outcome(Enum):
    """How a run came to its last point."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"


@dataclass(frozen=True, eq=False)
class Solution:
    """The points (t_i, y_i), i = 0, …, steps, and for each step the rows of its dense output, if
    they were kept.
    """

    motion: StoredTrajectory
    outcome: Outcome
    message: str
    rejected: int
    calls: int
    # what happened, in the order of time, and the names of the events that never did
    occurrences: Sequence[Occurrence] = ()
    untriggered_events: tuple[str, ...] = ()
    # the name of the event that ended the run
    ended_by: str = ""
    # very many steps, whose size the stability of an explicit method limits
    stiff: bool = False

    @property
    def t(self) -> NDArray[np.float64]:
        """The times of the points."""
        return self.motion.times.whole

    @property
    def y(self) -> NDArray[np.float64]:
        """The states at the points, one row for each."""
        return self.motion.states.whole

    @property
    def dense(self) -> NDArray[np.float64] | None:
        """The rows of each step, or None."""
        return None if self.motion.dense is None else self.motion.dense.whole

    @property
    def steps(self) -> int:
        """Accepted steps, kept or not."""
        return len(self.t) - 1 + self.motion.dropped

    @property
    def has_full_dense_output(self) -> bool:
        """Whether the motion is available at any time of the run, not only at the points and the
        requested times.
        """
        return self.dense is not None and not self.motion.dropped

    @property
    def is_interrupted(self) -> bool:
        """Whether the run was ended by Ctrl-C."""
        return self.outcome is Outcome.INTERRUPTED

    def at(self, times: ArrayLike) -> NDArray[np.float64]:
        """y(t₀ + θh) = r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))))),  θ̄ = 1 − θ

        One row for each time; at a point of the run exactly that point. The error is of order 7 in
        the step. By Taylor's method it is Σ r_k θ^k, of the order of the step itself.

        Source: HNW1 II.6 and II.10.
        """
        wanted = np.asarray(times, dtype=np.float64)
        flat = wanted.reshape(-1)
        self._check(flat)
        step = np.clip(np.searchsorted(self.t, flat, side="right") - 1, 0, max(len(self.t) - 2, 0))
        known = self.dense is None or len(self.t) == 1
        values = self.y[step + (flat > self.t[step])] if known else self._polynomial(step, flat)
        return values.reshape(*wanted.shape, self.y.shape[1])

    def _polynomial(
        self, step: NDArray[np.intp], times: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        dense, begin, end = self.dense, self.t[step], self.t[step + 1]
        assert dense is not None
        # a step that takes no time stands for a jump: the state before it is that of its end
        theta = (times - begin) / np.where(end > begin, end - begin, 1.0)
        values = evaluate_dense_output(dense, step, theta, powers=self.motion.powers)
        values[times == end] = self.y[step[times == end] + 1]
        return self._check_gaps(values, step, times) if self.motion.dropped else values

    def _check_gaps(
        self, values: NDArray[np.float64], step: NDArray[np.intp], times: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Between points with steps missing nothing is known but the points."""
        begins = np.isnan(values[:, 0]) & (times == self.t[step])
        values[begins] = self.y[step[begins]]
        lost = times[np.isnan(values[:, 0])]
        if lost.size:
            msg = (
                f"the motion at t = {lost[0]:.17g} was not kept: this long run kept only other "
                f"times; run again with this one in at="
            )
            raise OutsideRun(msg)
        return values

    def _check(self, times: NDArray[np.float64]) -> None:
        first, last = self.t[0], self.t[-1]
        outside = times[~((times >= first) & (times <= last))]
        if outside.size:
            msg = (
                f"t = {outside[0]:.17g} is outside the run, which goes from {first:.17g} to "
                f"{last:.17g}"
            )
            raise OutsideRun(msg)
        if self.dense is None and not np.isin(times, self.t).all():
            msg = "the motion between the steps was not kept: run again with dense output"
            raise OutsideRun(msg)


_STEPS: Final = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_void_p,
    *[ctypes.c_int64] * 5,
    *[ctypes.c_void_p] * 2,
    ctypes.c_int64,
)


@cached_call
def _interpolation_library() -> Library:
    text = TextFunction("dalembert.runtime.ode.dense_output_ir:module_ir")
    return load(text, ("interpolate_steps",))


def evaluate_dense_output(
    dense: NDArray[np.float64],
    step: NDArray[np.intp],
    theta: NDArray[np.float64],
    *,
    powers: bool,
) -> NDArray[np.float64]:
    """y(t₀ + θh) of steps with these numbers, by their dense output: steps, rows, components. One
    row for each θ; with `powers` rows are the coefficients of θ^k, otherwise there are eight.
    """
    if dense.strides[2] != _DOUBLE or dense.dtype != np.float64:
        dense = np.ascontiguousarray(dense, dtype=np.float64)
    _, n_rows, count = dense.shape
    values, theta = np.empty((len(step), count)), np.ascontiguousarray(theta, dtype=np.float64)
    places = data_address(dense) + step.astype(np.int64) * dense.strides[0]
    _STEPS(_interpolation_library().address("interpolate_steps"))(
        places.ctypes.data,
        dense.strides[1] // _DOUBLE,
        n_rows,
        powers,
        count,
        len(step),
        data_address(theta),
        data_address(values),
        count,
    )
    return values


class _Block(NamedTuple):
    """Room for some points; the dense output of a step is kept with the point where the step
    ends.
    """

    times: NDArray[np.float64]
    states: NDArray[np.float64]
    dense: NDArray[np.float64] | None
    # their addresses
    at: tuple[int, int, int]


class PointBuffer:
    """The points of a run, in blocks; point 0 is the start."""

    def __init__(
        self,
        t0: float,
        start: NDArray[np.float64],
        *,
        dense: bool,
        at: NDArray[np.float64] | None = None,
        form: DenseForm = RUNGE_KUTTA_FORM,
    ) -> None:
        self._rows, self._powers = form
        self._width, self._dense, self._at = start.size, dense, at if dense else None
        # blocks reduced to the requested times, and how many points they had
        self._reduced_blocks: list[_Block] = []
        self._blocks: list[_Block] = []
        # whether somebody looks at them from outside
        self._is_shared = False
        self.restart(t0, start)

    def restart(self, t0: float, start: NDArray[np.float64]) -> None:
        """Another run; blocks that were not handed out are overwritten."""
        self._reduced_blocks.clear()
        self._thinned = self._before = 0
        del self._blocks[0 if self._is_shared else 1 :]
        self._is_shared = False
        if not self._blocks:
            self.grow()
        self._blocks[0].times[0] = t0
        self._blocks[0].states[0] = start

    def release(self) -> None:
        """Leave blocks that were handed out to those who have them."""
        if self._is_shared:
            self._reduced_blocks.clear()
            self._blocks.clear()

    def grow(self) -> None:
        """One more block; the last steps are always there."""
        if self._at is not None and self.bytes > MAX_STORED_BYTES:
            for block in self._blocks[:-1]:
                self._reduced_blocks.append(
                    self._select_output_steps(block, self._reduced_blocks, self._at)
                )
                self._thinned += len(block.times)
            del self._blocks[:-1]
        numbers = self._width * self._rows
        first = min(max(_FIRST_NUMBERS // numbers, _FEWEST_POINTS), _FIRST_POINTS)
        room = min(
            first << len(self._blocks) + len(self._reduced_blocks),
            max(_LARGEST_NUMBERS // numbers, _FEWEST_POINTS),
        )
        times, states = np.empty(room), np.empty((room, self._width))
        dense = np.empty((room, self._rows, self._width)) if self._dense else None
        at = data_address(times), data_address(states), 0 if dense is None else data_address(dense)
        self._before = self._thinned + sum([len(block.times) for block in self._blocks])
        self._blocks.append(_Block(times, states, dense, at))

    @property
    def bytes(self) -> int:
        """Memory taken."""
        return sum(
            a.nbytes
            for b in (*self._reduced_blocks, *self._blocks)
            for a in (b.times, b.states, b.dense)
            if a is not None
        )

    def bind(self, run: IntegratorState) -> None:
        """Set where the run writes next."""
        block = self._blocks[-1]
        run.capacity, run.stored = len(block.times), run.steps + 1 - self._before
        run.times, run.states, run.dense = block.at

    def copy_first_block(
        self, count: int, size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The first points of a run that needs no second block."""
        block = self._blocks[0]
        return block.times[:count].copy(), block.states[:count, :size].copy()

    def jump(self, run: IntegratorState, row: NDArray[np.float64]) -> None:
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
        if k == -1 and self._reduced_blocks:
            return float(self._reduced_blocks[-1].times[-1]), self._reduced_blocks[-1].states[-1]
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

    def motion(self, count: int, size: int) -> StoredTrajectory:
        """The first points and components; of a long run only the requested ones."""
        self._is_shared = True
        keeps_all = self._at is None or self.bytes <= MAX_STORED_BYTES
        if len(self._blocks) == 1 and not self._reduced_blocks and keeps_all:
            only = self._blocks[0]
            # no step ends at the start
            steps = None if only.dense is None else ChunkedArray([only.dense[1:count, :, :size]])
            return StoredTrajectory(
                ChunkedArray([only.times[:count]]),
                ChunkedArray([only.states[:count, :size]]),
                steps,
                powers=self._powers,
            )
        at = self._at if self._reduced_blocks or not keeps_all else None
        blocks = self._blocks_up_to(count, at)
        times = [block.times for block in blocks]
        # no step ends at the start
        dense = [
            block.dense[0 if k else 1 :, :, :size]
            for k, block in enumerate(blocks)
            if block.dense is not None
        ]
        return StoredTrajectory(
            ChunkedArray(times),
            ChunkedArray([block.states[:, :size] for block in blocks]),
            ChunkedArray(dense) if self._dense else None,
            count - sum(map(len, times)),
            self._powers,
        )

    def _blocks_up_to(self, count: int, at: NDArray[np.float64] | None) -> list[_Block]:
        """The blocks with the first points, reduced to the requested times where these are
        given.
        """
        blocks, left = list(self._reduced_blocks), count - self._thinned
        for block in self._blocks:
            here = slice(0, min(left, len(block.times)))
            part = _Block(
                block.times[here],
                block.states[here],
                None if block.dense is None else block.dense[here],
                block.at,
            )
            blocks.append(
                part if at is None or not here.stop else self._select_output_steps(part, blocks, at)
            )
            left -= here.stop
        return blocks

    @staticmethod
    def _select_output_steps(
        block: _Block, before: list[_Block], at: NDArray[np.float64]
    ) -> _Block:
        """Its last point, the start of the run, the steps t_k ≤ t < t_(k+1) that hold a requested
        time t, and all jumps.
        """
        assert block.dense is not None
        # the point before the first, which is always there
        times = np.concatenate([before[-1].times[-1:] if before else block.times[:1], block.times])
        step = np.searchsorted(times, at, side="right") - 1
        step = np.concatenate(
            [step[(step >= 0) & (step < len(times) - 1)], np.flatnonzero(np.diff(times) == 0.0)]
        )
        kept = np.unique(
            np.concatenate([[0] if before else [0, 1], step, step + 1, [len(times) - 1]])
        )
        chosen = kept[1:] - 1
        dense = block.dense[chosen]
        dense[np.diff(kept) > 1] = np.nan
        return _Block(block.times[chosen], block.states[chosen], dense, block.at)
