"""φ(x, t₀, t₁) through the modes of contacts and dry friction, with its derivatives.

Derivatives pass impacts, sticking, slipping and lift-off by the saltation of each guard. Where a
contact is closed at the start, the state moves along it: gap and velocity stay zero.
"""

from __future__ import annotations

import numpy as np

from dalembert.analysis.periodic.return_map import EventFlow
from dalembert.foundation.array_types import FloatArray
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.runtime.contact.contact_model import contact_model
from dalembert.runtime.contact.contact_run import ContactModes, ContactSwitchedRun, contact_modes
from dalembert.runtime.simulation.events.event_loop import EventRun
from dalembert.runtime.simulation.forward_sensitivity.initial_sensitivity import (
    SensitivityParameter,
)
from dalembert.runtime.simulation.forward_sensitivity.variational_equations import (
    ForwardSensitivity,
)
from dalembert.runtime.simulation.model import NativeModel
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar


class ContactFlow(EventFlow):
    """A flow whose contacts change their modes."""

    def _bind(
        self, chosen: RunValues, equations: ExplicitEquations | SaddlePointEquations
    ) -> tuple[RunValues, NativeModel]:
        assert isinstance(equations, ExplicitEquations)
        self._contacts = contact_model(chosen, equations, as_expressions=True)
        self._modes_now: ContactModes | None = None
        return self._contacts.values, self._contacts.compiled.native

    @property
    def autonomous(self) -> bool:
        """Whether rates and contacts do without the time."""
        inside = symbols_of(self.kin.tape, self._guard_nodes)
        return self.model.autonomous and self.given.system.t.i not in inside

    @property
    def _guard_nodes(self) -> list[int]:
        contacts = self.given.system.contacts
        gaps = [c.gap.i for c in contacts if c.gap is not None]
        return gaps + [c.active.i for c in contacts if isinstance(c.active, Scalar)]

    @property
    def guarded_coordinates(self) -> frozenset[int]:
        """Those of events, and by which contacts open, close or are there."""
        inside = set(symbols_of(self.kin.tape, self._guard_nodes))
        own = (j for j, q in enumerate(self.kin.q) if q in inside)
        return super().guarded_coordinates.union(own)

    def set_constant(self, name: str, value: float) -> None:
        """Change a constant, in the equations and in the contacts."""
        super().set_constant(name, value)
        i, symbols = self.given.system.symbols[name].scalar.i, self._contacts.compiled.quantities
        if i in symbols.parameters:
            self._contacts.p[symbols.parameters.index(i)] = value

    def run_with_events(
        self, x: FloatArray, t0: float, t1: float
    ) -> tuple[EventRun, ForwardSensitivity]:
        """The run before it begins, and the variation that goes with it."""
        problem = self.problem(np.concatenate([x, self.variations]), t0, t1, dense=True)
        numbers = [SensitivityParameter(f"x{k}", 1.0, None) for k in range(self.n)]
        numbers += [
            SensitivityParameter(c, self.value(c), i)
            for c, i in zip(self.constants, self.symbols, strict=True)
        ]
        start = np.zeros((len(numbers), self.n))
        variation = ForwardSensitivity(tuple(numbers), self.varied, self.p, start)
        switched = ContactSwitchedRun(self._contacts, self.events)
        run = switched.prepare(problem, self.p, self.context, variation=variation)
        modes = self._modes_now = contact_modes(run)
        assert modes.saltation is not None
        modes.saltation.tangential = True
        return run, variation

    def closed_rows(self, x: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
        """Gaps and velocities that are held in the first mode of the last run."""
        modes = self._modes_now
        if modes is None or modes.saltation is None or not modes.first_modes:
            return super().closed_rows(x, t)
        return modes.saltation.held_rows(t, x, modes.first_modes)
