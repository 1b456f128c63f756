"""Members as runs of their own, one after the other: for what lanes cannot do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dalembert.analysis.studies.ensemble_plan import EnsemblePlan, Output
from dalembert.analysis.studies.parameter_grid import BadStudy
from dalembert.analysis.studies.result import ENDED, FINISHED, ResultChunk
from dalembert.errors import BadExpression, DalembertError
from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.ode.event_detection import SAMPLES
from dalembert.runtime.ode.failures import BadRun, Cause, RunStopped
from dalembert.runtime.ode.vectorized.functionals import WEIGHTS
from dalembert.runtime.ode.vectorized.workers import Progress
from dalembert.runtime.simulation.events.event import Event, EventAction
from dalembert.runtime.simulation.run_options import RunOptions
from dalembert.runtime.simulation.trajectory import Trajectory

RunOne = Callable[[RunOptions], Trajectory]


class SequentialRunner:
    """A study whose members `run_one` makes, as `da.simulate` would."""

    def __init__(self, plan: EnsemblePlan, run_one: RunOne) -> None:
        self.plan, self._run_one = plan, run_one
        self._crossings = tuple(
            Event(k.expression, k.direction, name=k.name) for k in plan.outputs if k.kind == "time"
        )

    def run(
        self,
        members: IndexArray,
        threads: int,  # noqa: ARG002
        on_progress: Progress | None = None,
    ) -> ResultChunk:
        """What becomes of these members."""
        chunk = ResultChunk.empty(self.plan, len(members), audit=self.plan.audit)
        for row, member in enumerate(members.tolist()):
            o = self.plan.run_options(member)
            try:
                run = self._run_one(replace(o, at=None, events=(*o.events, *self._crossings)))
                chunk.outcome[row] = FINISHED
            except RunStopped as failure:
                chunk.stop(row, failure)
                if failure.trajectory is None:
                    continue
                run = failure.trajectory
            except (BadExpression, MissingValue) as problem:
                raise BadStudy(str(problem)) from problem
            except (BadRun, DalembertError) as problem:
                chunk.refuse(row, problem)
                continue
            self._record_outputs(chunk, row, run)
            if on_progress is not None:
                on_progress(row + 1)
        return chunk

    def _record_outputs(self, chunk: ResultChunk, row: int, run: Trajectory) -> None:
        chunk.reached[row], chunk.steps[row] = run.t[-1], run.solution.steps
        if (
            chunk.outcome[row] == FINISHED
            and run.events
            and run.events[-1].action == EventAction.STOP.value
        ):
            chunk.outcome[row], chunk.cause[row] = ENDED, Cause.TERMINAL_EVENT
            chunk.reasons[row] = f"{run.events[-1].name} at t = {run.t[-1]:.17g}"
        if chunk.drift is not None and run.energy_audit is not None:
            chunk.drift[row] = run.integrals.relative_drift
        for kept in self.plan.outputs:
            try:
                chunk.outputs[kept.name][row] = self._output_value(kept, run)
            except BadExpression as problem:
                msg = f"keep: {kept.name!r} cannot be read: {problem}"
                raise BadStudy(msg) from problem

    def _output_value(self, kept: Output, run: Trajectory) -> FloatArray | float:
        if kept.kind == "time":
            return next(
                (happened.t for happened in run.events if happened.name == kept.name), np.nan
            )
        if self.plan.is_time_series(kept):
            times = self.plan.times
            reached = times <= run.t[-1]
            values = np.full(times.size, np.nan)
            if reached.any():
                values[reached] = run.at(times[reached])[kept.expression]
            return values
        if kept.functional is None:
            return float(run[kept.expression][-1])
        return _evaluate_functional(kept, run)


def _evaluate_functional(kept: Output, run: Trajectory) -> float:
    """max, min or mean over eight places of every step, as lanes find them."""
    steps = run.solution.t
    t = np.concatenate(
        [
            steps[:1],
            (
                steps[:-1, None] + np.arange(1, SAMPLES + 1) / SAMPLES * np.diff(steps)[:, None]
            ).ravel(),
        ]
    )
    t[SAMPLES::SAMPLES] = steps[1:]
    g = run.at(t)[kept.expression]
    if kept.kind == "mean":
        places = np.arange(len(steps) - 1)[:, None] * SAMPLES + np.arange(SAMPLES + 1)
        return float(
            np.sum(np.diff(steps) * (g[places] @ np.array(WEIGHTS))) / (steps[-1] - steps[0])
        )
    sign = 1.0 if kept.kind == "max" else -1.0
    v = sign * g
    with np.errstate(all="ignore"):
        before, after = np.diff(t)[:-1], np.diff(t)[1:]
        left, right = np.diff(v)[:-1] / before, np.diff(v)[1:] / after
        m, q = (left * after + right * before) / (before + after), (right - left) / (before + after)
        peak_times = t[1:-1] - m / (2.0 * q)
    peak_times = peak_times[
        (v[1:-1] >= v[:-2]) & (v[1:-1] >= v[2:]) & (peak_times >= t[0]) & (peak_times <= t[-1])
    ]
    peaks = sign * run.at(peak_times)[kept.expression] if peak_times.size else peak_times
    return sign * float(np.nanmax(np.concatenate([v, peaks])))
