"""de/dp = ∂e/∂x S + ∂e/∂u̇ ∂u̇/∂p + ∂e/∂p: how any quantity of a run varies with its numbers."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.errors import NotApplicable, Unknown
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import suggest_name
from dalembert.symbolic.algebra.expression_graph import gradient
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.runtime.simulation.forward_sensitivity.variational_equations import (
        ForwardSensitivity,
    )
    from dalembert.runtime.simulation.plotting.chart import Panel
    from dalembert.runtime.simulation.plotting.plot import Plot
    from dalembert.runtime.simulation.trajectory import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivities(Displayable):
    """∂(q, u)/∂p along a run: `run.sensitivities["theta", "m"]` over the times, and the same for
    any expression.
    """

    run: Trajectory

    @property
    def names(self) -> tuple[str, ...]:
        """The constants and start values that are varied."""
        return self._variation.names

    @property
    def _variation(self) -> ForwardSensitivity:
        sensitivity = self.run.variation
        if sensitivity is None:
            msg = (
                "this run has no sensitivities; name the quantities: da.simulate(…, "
                "sensitivities=['m', 'theta'])"
            )
            raise NotApplicable(msg)
        return sensitivity

    def _parameter_index(self, wrt: Scalar | str) -> int:
        name = str(wrt.name if isinstance(wrt, Scalar) else wrt).replace("'", ".dot")
        if name not in self.names:
            hint = suggest_name(name, self.names) or f"it has {', '.join(self.names)}"
            msg = f"this run has no sensitivity to {name!r}; {hint}"
            raise Unknown(msg)
        return self.names.index(name)

    def columns(self, wrt: Scalar | str) -> FloatArray:
        """∂(q, u)/∂p of one p: a row for each time."""
        layout = self.run.layout
        # the run's own numbers
        rows = self.run._y[:, layout.sensitivity(self._parameter_index(wrt))]  # noqa: SLF001
        S = np.asarray(rows[:, layout.without_inputs] if layout.n_inputs else rows)
        if lost := self._variation.lost:
            return np.where((self.run.t >= lost[0])[:, np.newaxis], np.nan, S)
        return S

    def __getitem__(self, what: tuple[Any, Scalar | str]) -> FloatArray:
        """de/dp over the times, for ("theta", "m") or (any expression, a name)."""
        key, wrt = what
        run, j = self.run, self._parameter_index(wrt)
        evaluator = run.values.evaluator
        kin, tape = evaluator.kin, evaluator.tape
        constant = self._variation.numbers[j].constant
        node = evaluator.in_state(evaluator.node(key))
        if evaluator.contains([node], kin.multipliers):
            msg = (
                f"{key} contains a multiplier, whose sensitivity is not computed; ask for "
                f"positions, velocities and accelerations"
            )
            raise NotApplicable(msg)
        moved = [*kin.state, *(() if constant is None else (constant,))]
        S = [*self.columns(wrt).T, *(() if constant is None else (np.ones(len(run)),))]
        if evaluator.contains([node], kin.udot):
            moved, S = [*moved, *kin.udot], [*S, *self._acceleration_sensitivity(j)]
        # as above
        slopes = run._evaluate_nodes(gradient(tape, {node: tape.one}, moved))  # noqa: SLF001
        return np.asarray(np.sum(slopes * np.array(S), axis=0))

    def _acceleration_sensitivity(self, j: int) -> FloatArray:
        """∂u̇/∂p, a row for each speed: what the varied equations give."""
        run, v = self.run, self._variation
        layout = run.layout
        # as above
        X = np.column_stack([run._y[:, : layout.quadratures.start], run.t])  # noqa: SLF001
        rates = v.model.rates.batch(X, v.p)
        return np.asarray(rates[:, layout.speed_sensitivity(j)].T)

    def event_times(self, name: str, wrt: Scalar | str) -> FloatArray:
        """∂t/∂p of every time at which the event of that name happened."""
        j, known = self._parameter_index(wrt), dict.fromkeys(e.name for e in self._variation.events)
        if name not in known:
            hint = suggest_name(name, known) or f"there were {', '.join(known) or 'none'}"
            msg = f"no event {name!r} happened in this run; {hint}"
            raise Unknown(msg)
        return np.array([e.slopes[j] for e in self._variation.events if e.name == name])

    def table(self) -> dict[str, FloatArray]:
        """{"d theta/d m": …, "d theta/d x(0)": …} of every coordinate and speed."""
        varied = self._variation.numbers
        return {
            f"d {x}/d {p.label}": column
            for p in varied
            for x, column in zip(self.run.names, self.columns(p.name).T, strict=True)
        }

    def plot(self, *what: Any, path: str | os.PathLike[str] | None = None) -> Plot:
        """|p| de/dp over time for every coordinate, or whatever is named: by how much e changes
        for a relative change of p.
        """
        from dalembert.runtime.simulation.plotting.chart import MOST_PANELS
        from dalembert.runtime.simulation.plotting.plot import display
        from dalembert.runtime.simulation.plotting.run_chart import refine, run_chart

        run, fine = self.run, refine(self.run)
        asked = what or run.names[: run.q.shape[1]]
        panels = tuple(self._panel(fine, key) for key in asked[:MOST_PANELS])
        return display(replace(run_chart(run), panels=panels), run.system.name, path)

    def _panel(self, fine: Trajectory, key: Any) -> Panel:
        """One quantity with a curve for each number."""
        from dalembert.runtime.simulation.plotting.chart import Curve, Panel

        sensitivities = Sensitivities(fine)
        return Panel(
            f"|p| d {key}/dp",
            tuple(
                Curve(x.label, fine.t, x.scale * sensitivities[key, x.name])
                for x in self._variation.numbers
            ),
        )

    def __str__(self) -> str:
        """Largest |∂x/∂p| of every coordinate and speed."""
        run = self.run
        head = f"sensitivities of {run.system.name!r}, largest over {run.t[0]:g} … {run.t[-1]:g}"
        heads = [f"d/d {x.label}" for x in self._variation.numbers]
        widths = [max(map(len, run.names)), *(max(len(p), 11) for p in heads)]
        lines = [
            f"  {'':<{widths[0]}}  "
            + "  ".join(f"{p:>{w}}" for p, w in zip(heads, widths[1:], strict=True))
        ]
        largest = np.array(
            [np.max(np.abs(self.columns(p)), axis=0, initial=0.0) for p in self.names]
        ).T
        for x, row in zip(run.names, largest, strict=True):
            lines.append(
                f"  {x:<{widths[0]}}  "
                + "  ".join(f"{v:>{w}.4g}" for v, w in zip(row, widths[1:], strict=True))
            )
        return "\n".join([head, *lines])

    __repr__ = __str__


def sensitivity(run: Trajectory, what: Any, wrt: Scalar | str) -> FloatArray:
    """de/dp over the times: run.sensitivity("theta", "m"), run.sensitivity("m*g*l*cos(theta)",
    "m").
    """
    return Sensitivities(run)[what, wrt]
