"""Inputs that tables and programs give, in a sweep backwards: the derivatives by their samples."""

from __future__ import annotations

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.states.inputs import CallbackInput, Sampled
from dalembert.runtime.states.tables import Table, table


class InputSamples:
    """One input: its numbers are part of the state and change from interval to interval."""

    def __init__(self, source: CallbackInput, kin: Kinematics) -> None:
        self.name, self.nodes, self._source = source.name, source.nodes, source.source
        self._places = [kin.state.index(i) for i in source.nodes]
        # {interval: ȳ of its numbers}
        self._found: dict[int, FloatArray] = {}
        self._t0 = 0.0

    def begin(self, t0: float) -> None:
        """When the run begins."""
        self._t0 = t0

    def interval(self, t: float) -> int:
        """The number of the interval around a time."""
        if isinstance(self._source, Table):
            return self._source.interval(t)
        assert isinstance(self._source, Sampled)
        return int((t - self._t0) // self._source.every)

    def cuts(self, middle: FloatArray) -> set[int]:
        """The steps with which another interval begins."""
        numbers = np.array([self.interval(t) for t in middle.tolist()])
        return {int(k) + 1 for k in np.flatnonzero(np.diff(numbers))}

    def fill(self, middle: FloatArray, states: FloatArray) -> None:
        """The numbers that act in each step, at its beginning; `middle` are the middles of the
        steps.
        """
        if not isinstance(self._source, Table):
            # a point where the program was called still has the number before
            states[:-1, self._places] = states[1:, self._places]
        self.fill_table(middle, states)

    def fill_table(self, middle: FloatArray, states: FloatArray) -> None:
        """The same of a table; a program keeps what is there."""
        if not isinstance(self._source, Table):
            return
        k = np.array([self._source.interval(t) for t in middle.tolist()], dtype=np.int64)
        numbers = np.column_stack([self._source.coefficients[k], self._source.t[k]])
        states[: len(k), self._places] = numbers[:, : len(self._places)]

    def collect(self, t: float, ybar: FloatArray) -> None:
        """Keep what belongs to the interval around t; before it other numbers act."""
        k = self.interval(t)
        self._found[k] = self._found.get(k, 0.0) + ybar[self._places]
        ybar[self._places] = 0.0

    def result(self) -> FloatArray:
        """One derivative for each sample."""
        if not isinstance(self._source, Table):
            count = 1 + max(self._found, default=-1)
            return np.array([float(self._found.get(k, np.zeros(1))[0]) for k in range(count)])
        t, n = self._source.t, len(self._source.t)
        shares = np.zeros((len(self._source.coefficients), self._source.degree + 1))
        for k, bars in self._found.items():
            shares[k] += bars[: self._source.degree + 1]
        # the coefficients are linear in the values
        units = (table(t, unit, self._source.kind).coefficients for unit in np.eye(n))
        return np.array([float(np.sum(shares * unit)) for unit in units])
