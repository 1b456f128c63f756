"""y_i = y(t_i − d) + b: what a sensor adds to a column, and what is known before the data.
Keywords: sensor bias, time delay, prior, robust loss, Huber.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.foundation.deferred_dataclass import dataclass

if TYPE_CHECKING:
    from dalembert.analysis.studies.fit_data import MeasuredColumn
    from dalembert.runtime.simulation.trajectory import Trajectory

# where Huber's loss changes from squares to lines, in σ: 95 % efficient for normal noise
HUBER: Final = 1.345
# the part of the run over which the slope of a delayed column is taken
_SLOPE_STEP: Final = 1e-6
# σ of normal noise from the median of its absolute values
_MAD: Final = 1.4826


@dataclass(frozen=True)
class SensorModel:
    """Columns with an unknown offset and columns with an unknown delay; their unknowns follow those
    of the system in θ, from `first` on.
    """

    offsets: tuple[str, ...] = ()
    delays: tuple[str, ...] = ()
    first: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """What its unknowns are called."""
        return (
            *(f"offset of {c}" for c in self.offsets),
            *(f"delay of {c}" for c in self.delays),
        )

    def model(self, run: Trajectory, c: MeasuredColumn, theta: FloatArray) -> FloatArray:
        """What the sensor of a column reads at its times."""
        return self._reading(run, c, self._delay(c, theta)) + self._offset(c, theta)

    def jacobian(
        self,
        run: Trajectory,
        c: MeasuredColumn,
        theta: FloatArray,
        names: Sequence[str],
        indices: Sequence[int],
    ) -> FloatArray:
        """∂/∂θ of that, row by row; `names` are the unknowns of the run, at `indices` of θ."""
        block = np.zeros((len(c.t), len(theta)))
        there = self._at(run, c, self._delay(c, theta))
        block[:, list(indices)] = np.column_stack(
            [np.asarray(there[0].sensitivity(c.key, name))[there[1]] for name in names]
        )
        if c.name in self.offsets:
            block[:, self.first + self.offsets.index(c.name)] = 1.0
        if c.name in self.delays:
            h = _SLOPE_STEP * float(run.solution.t[-1] - run.solution.t[0])
            d = self._delay(c, theta)
            ahead, behind = self._reading(run, c, d - h), self._reading(run, c, d + h)
            place = self.first + len(self.offsets) + self.delays.index(c.name)
            block[:, place] = (behind - ahead) / (2 * h)
        return block

    def _reading(self, run: Trajectory, c: MeasuredColumn, delay: float) -> FloatArray:
        motion, where = self._at(run, c, delay)
        reading: FloatArray = np.asarray(motion[c.key])[where]
        return reading

    def _at(
        self, run: Trajectory, c: MeasuredColumn, delay: float
    ) -> tuple[Trajectory, IndexArray]:
        """The motion, and the rows of it that belong to the times of a column."""
        if not self.delays:
            return run, np.searchsorted(run.t, c.t)
        t = run.solution.t
        return run.at(np.clip(c.t - delay, t[0], t[-1])), np.arange(len(c.t))

    def _offset(self, c: MeasuredColumn, theta: FloatArray) -> float:
        return (
            float(theta[self.first + self.offsets.index(c.name)]) if c.name in self.offsets else 0.0
        )

    def _delay(self, c: MeasuredColumn, theta: FloatArray) -> float:
        place = self.first + len(self.offsets)
        return float(theta[place + self.delays.index(c.name)]) if c.name in self.delays else 0.0


@dataclass(frozen=True)
class Priors:
    """θ_i ~ N(μ_i, σ_i²) of some unknowns: one more residual for each."""

    places: tuple[int, ...] = ()
    means: tuple[float, ...] = ()
    sigmas: tuple[float, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], given: Mapping[str, tuple[float, float]]) -> Priors:
        """Those that are given, by name."""
        listed = [n for n in names if n in given]
        return cls(
            tuple(names.index(n) for n in listed),
            tuple(given[n][0] for n in listed),
            tuple(given[n][1] for n in listed),
        )

    def residuals(self, theta: FloatArray) -> FloatArray:
        """(θ − μ)/σ"""
        return np.asarray((theta[list(self.places)] - np.array(self.means)) / np.array(self.sigmas))

    def jacobian(self, count: int) -> FloatArray:
        """∂/∂θ of these."""
        block = np.zeros((len(self.places), count))
        block[np.arange(len(self.places)), list(self.places)] = 1.0 / np.array(self.sigmas)
        return block


def robust_scale(r: FloatArray) -> float:
    """σ by the median of |r|, which outliers hardly change."""
    return _MAD * float(np.median(np.abs(r)))


def huber_inflation(r: FloatArray) -> float:
    """E ψ² / (E ψ′)²: by what factor variances differ from those of least squares.

    Source: the sandwich estimate of M-estimators.
    """
    inside = np.abs(r) < HUBER
    psi = np.clip(r, -HUBER, HUBER)
    return float(np.mean(psi**2)) / max(float(np.mean(inside)), 1e-3) ** 2
