"""y(t): the points of a run and the polynomial between any two of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.ode.failures import OutsideRun
from dalembert.ode.problem import DENSE_ROWS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dalembert.ode.points import StoredMotion
    from dalembert.simulation.events.event import Occurrence


def polynomial(rows: NDArray[np.float64], theta: Any) -> NDArray[np.float64]:
    """r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))))),  θ̄ = 1 − θ: the dense output of steps, rows first.

    More than eight rows are those of Taylor's method, r₀ + r₁ θ + r₂ θ² + …
    """
    values: NDArray[np.float64] = rows[-1]
    other = 1.0 - theta if len(rows) == DENSE_ROWS else theta
    for row in range(len(rows) - 2, -1, -1):
        values = rows[row] + values * (theta if row % 2 == 0 else other)
    return values


def slope_at_begin(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """dy/dθ at θ = 0."""
    slope: NDArray[np.float64] = rows[1] + rows[2] if len(rows) == DENSE_ROWS else rows[1]
    return slope


class Outcome(Enum):
    """How a run came to its last point."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The points (t_i, y_i), i = 0, …, steps, and for each step the rows of its dense output, if they were kept."""

    motion: StoredMotion
    outcome: Outcome
    message: str
    rejected: int
    calls: int
    # what happened, in the order of time, and the names of the events that never did
    occurrences: tuple[Occurrence, ...] = ()
    silent: tuple[str, ...] = ()

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
    def anywhere(self) -> bool:
        """Whether the motion can be had at any time of the run, not only at the points and the times asked for."""
        return self.dense is not None and not self.motion.dropped

    @property
    def interrupted(self) -> bool:
        """Whether the run was ended by Ctrl-C."""
        return self.outcome is Outcome.INTERRUPTED

    def at(self, times: ArrayLike) -> NDArray[np.float64]:
        """y(t₀ + θh) = r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))))),  θ̄ = 1 − θ

        One row for each time; at a point of the run exactly that point. The error is of order 7 in the step. By Taylor's method it
        is Σ r_k θ^k, of the order of the step itself.

        Source: HNW1 II.6 and II.10.
        """
        wanted = np.asarray(times, dtype=np.float64)
        flat = wanted.reshape(-1)
        self._check(flat)
        step = np.clip(np.searchsorted(self.t, flat, side="right") - 1, 0, max(len(self.t) - 2, 0))
        known = self.dense is None or len(self.t) == 1
        values = self.y[step + (flat > self.t[step])] if known else self._polynomial(step, flat)
        return values.reshape(*wanted.shape, self.y.shape[1])

    def _polynomial(self, step: NDArray[np.intp], times: NDArray[np.float64]) -> NDArray[np.float64]:
        dense, begin, end = self.dense, self.t[step], self.t[step + 1]
        assert dense is not None
        # a step that takes no time stands for a jump: the state before it is that of its end
        theta = ((times - begin) / np.where(end > begin, end - begin, 1.0))[:, np.newaxis]
        values = polynomial(dense[step].swapaxes(0, 1), theta)
        values[times == end] = self.y[step[times == end] + 1]
        return self._without_gaps(values, step, times) if self.motion.dropped else values

    def _without_gaps(self, values: NDArray[np.float64], step: NDArray[np.intp], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Between points with steps missing nothing is known but the points."""
        begins = np.isnan(values[:, 0]) & (times == self.t[step])
        values[begins] = self.y[step[begins]]
        lost = times[np.isnan(values[:, 0])]
        if lost.size:
            msg = f"the motion at t = {lost[0]:.17g} was not kept: this long run was asked for other times; run again with this one in at="
            raise OutsideRun(msg)
        return values

    def _check(self, times: NDArray[np.float64]) -> None:
        first, last = self.t[0], self.t[-1]
        outside = times[~((times >= first) & (times <= last))]
        if outside.size:
            msg = f"t = {outside[0]:.17g} is outside the run, which goes from {first:.17g} to {last:.17g}"
            raise OutsideRun(msg)
        if self.dense is None and not np.isin(times, self.t).all():
            msg = "the motion between the steps was not kept: run again with dense output"
            raise OutsideRun(msg)
