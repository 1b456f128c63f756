"""The optimal motion: its cost, its inputs, any quantity along it, costates, and the audit."""

from __future__ import annotations

import os
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.optimal.audit import IntervalErrors, OptimumAudit
from dalembert.analysis.optimal.mesh import unknowns_at
from dalembert.analysis.optimal.replay import PhaseAnswer
from dalembert.analysis.optimal.search import Answer, audit_answer
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.atomic_write import write_text
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.tables import Table

if TYPE_CHECKING:
    from dalembert.runtime.simulation.plotting.plot import Plot

# times of an interval at which the motion is given
_SAMPLES: Final = 8


class OptimalPhase(Displayable):
    """One phase of an optimal motion."""

    def __init__(self, whole: Answer, k: int) -> None:
        self.answer: PhaseAnswer = whole.phases[k]
        self._whole, self._k = whole, k

    def __str__(self) -> str:
        return (
            f"phase of {self.answer.functions.phase.system.name!r}: "
            f"{self.answer.layout.n_intervals} intervals, duration {self.duration:.9g}"
        )

    @property
    def duration(self) -> float:
        """T"""
        return self.answer.duration

    @property
    def nodes(self) -> FloatArray:
        """The times of the mesh."""
        return self.answer.times

    @property
    def inputs(self) -> dict[str, Table]:
        """The optimal inputs as tables, for da.simulate(…, inputs=…)."""
        return self.answer.tables

    @cached_property
    def _errors(self) -> IntervalErrors:
        return self._whole.phase_errors(self._k)

    @property
    def costates(self) -> dict[str, FloatArray]:
        """p = ∂(cost to go)/∂x at the nodes, by the name of the state."""
        return dict(zip(self.answer.functions.names, self._errors.costates.T, strict=False))

    @cached_property
    def motion(self) -> Trajectory:
        """The motion as the polynomials of collocation have it."""
        answer, motion = self.answer, self._errors.motion
        kin, values = motion.values.kin, motion.values
        s = np.linspace(0.0, 1.0, _SAMPLES, endpoint=False)
        z = np.vstack([unknowns_at(answer, s), unknowns_at(answer, np.ones(1))[-1:]])
        times = np.append(
            (answer.times[:-1, None] + np.diff(answer.times)[:, None] * s).ravel(), answer.times[-1]
        )
        rows = np.zeros((len(times), len(kin.state)))
        rows[:, kin.layout.without_inputs] = z[:, self._errors.replay.places]
        for each in values.callback_inputs:
            places = [kin.state.index(i) for i in each.nodes]
            rows[:, places] = [
                [each.table_values(t)[i] for i in each.nodes] for t in times.tolist()
            ]
        return replace(motion, sampled=(times, rows))

    @property
    def t(self) -> FloatArray:
        """Times of the motion."""
        return self.motion.t

    def __getitem__(self, key: Any) -> FloatArray:
        """Any quantity of the system over the times `t`."""
        return self.motion[key]


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Displayable):
    """A local optimum: `best["theta"]`, `best["F"]` over `best.t`, `best.cost`, `best.inputs`,
    `best.audit`, `best.plot()`.
    """

    answer: Answer = field(repr=False)
    # other local solutions of several starts, the cheapest first; this one among them
    solutions: tuple[Optimum, ...] = field(default=(), repr=False)
    audits: bool = True

    @cached_property
    def phases(self) -> tuple[OptimalPhase, ...]:
        """The phases of the motion."""
        return tuple(OptimalPhase(self.answer, k) for k in range(len(self.answer.phases)))

    @property
    def cost(self) -> float:
        """The value of what was minimized."""
        return self.answer.solution.cost

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return self.answer.solution.converged

    @property
    def duration(self) -> float:
        """The duration of all phases together."""
        return sum(p.duration for p in self.phases)

    @property
    def parameters(self) -> dict[str, float]:
        """The optimized constants."""
        places = self.answer.transcription.theta
        return dict(
            zip(
                self.answer.problem.parameters, self.answer.solution.v[places].tolist(), strict=True
            )
        )

    @property
    def inputs(self) -> dict[str, Table]:
        """The optimal inputs of the first phase as tables, for da.simulate(…, inputs=…)."""
        return self.phases[0].inputs

    @property
    def costates(self) -> dict[str, FloatArray]:
        """p = ∂(cost to go)/∂x at the nodes of the first phase."""
        return self.phases[0].costates

    @property
    def t(self) -> FloatArray:
        """Times of the first phase."""
        return self.phases[0].t

    @property
    def motion(self) -> Trajectory:
        """The first phase as a run, for plots and animations."""
        return self.phases[0].motion

    @property
    def replay(self) -> Trajectory | None:
        """The optimal inputs of the first phase given to the integrator."""
        return self.audit.phases[0].replay

    def __getitem__(self, key: Any) -> FloatArray:
        """Any quantity of the system over the times `t` of the first phase."""
        return self.phases[0][key]

    @cached_property
    def audit(self) -> OptimumAudit:
        """The checks: replay, interval errors, Hamiltonian, bounds between nodes, error of the
        cost.
        """
        return audit_answer(self.answer)

    def plot(self, *, path: str | os.PathLike[str] | None = None) -> Plot:
        """States and inputs with their bounds, and the replay over them."""
        from dalembert.analysis.optimal.plotting import optimum_plot

        return optimum_plot(self, path)

    def page(self, path: str | os.PathLike[str] | None = None) -> Path:
        """One HTML file: the animated motion, plots with bounds and replay, the audit."""
        from dalembert.analysis.optimal.plotting import write_page

        return write_page(self, path)

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Times, states and inputs of all phases, one row for each time."""
        functions = self.phases[0].answer.functions
        names = list(dict.fromkeys((*functions.names[: functions.n_states], *self.inputs)))
        rows = [",".join(("t", *names))]
        for phase in self.phases:
            columns = [phase.t, *(phase[name] for name in names)]
            rows += [",".join(map(repr, row)) for row in np.column_stack(columns).tolist()]
        return write_text(path, "\n".join(rows) + "\n")

    def summary(self) -> dict[str, Any]:
        """Numbers for other programs."""
        audit = self.audit
        return {
            "cost": self.cost,
            "duration": self.duration,
            "parameters": self.parameters,
            "converged": self.converged,
            "passed": audit.passed,
            "failures": list(audit.failures),
            "worst_interval": audit.worst_interval,
            "cost_error": audit.cost_error,
            "solutions": [o.cost for o in self.solutions],
        }

    def __str__(self) -> str:
        a, s = self.answer, self.answer.solution
        names = " and ".join(dict.fromkeys(repr(p.functions.phase.system.name) for p in a.phases))
        meshes = " → ".join(str(p.intervals) for p in a.passes)
        iterations = sum(p.iterations for p in a.passes)
        how = f"{iterations} iterations; intervals of order {a.options.order}: {meshes}"
        lines = [f"optimal motion of {names}: {s.status}, {how}"]
        lines.append(f"cost {s.cost:.12g}, duration {self.duration:.9g}")
        lines += [f"  {name} = {x:.9g}" for name, x in self.parameters.items()]
        if self.audits:
            lines.append("audit: " + ("passed" if self.audit.passed else "FAILED"))
            lines.append(str(self.audit))
        if len(self.solutions) > 1:
            lines.append(
                "local solutions found (none is shown to be global): "
                + ", ".join(f"{o.cost:.9g}" for o in self.solutions)
            )
        return "\n".join(lines)

    __repr__ = __str__
