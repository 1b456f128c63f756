"""φ(x, t₀, t₁; p), ∂φ/∂x and ∂φ/∂p: the flow of a system and its derivatives, by one compiled run.

The state x = (q, first-order states, u) and its variations d/dt Φ = ∂f/∂x Φ, Φ(t₀) = I, are
integrated together by native code. One integration object is reused, so that a call costs
little beyond its steps.

Source: HNW1 I.14, II.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.compile import independent_contact_equations, select_equations
from dalembert.runtime.numerics.symbol_values import strip_units
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Integrator
from dalembert.runtime.simulation.context import Context
from dalembert.runtime.simulation.forward_sensitivity.variational_equations import variational_model
from dalembert.runtime.simulation.model import NativeModel, native_model
from dalembert.runtime.simulation.run_options import RunOptions
from dalembert.runtime.simulation.run_setup import RunSetup, prepare_run
from dalembert.runtime.states.evaluator import label
from dalembert.runtime.states.run_values import RunValues, run_values
from dalembert.runtime.states.tables import check_spans

# the error of a step, relative and absolute
RTOL: Final = 1e-12
# what a second run with smaller steps is made with, to estimate the error of the first
TIGHT: Final = 3e-14


class Arrival(NamedTuple):
    """The state at the end of a run, ∂x/∂x₀, ∂x/∂p (a column for each constant), and f there."""

    x: FloatArray
    Phi: FloatArray
    S: FloatArray
    rate: FloatArray
    # the events that changed the state on the way
    events: tuple[str, ...] = ()


class Description(NamedTuple):
    """A system with the values, inputs and initial conditions that a user gave."""

    system: System
    start: Mapping[Any, Any]
    guess: Mapping[Any, Any]
    values: Mapping[Any, Any]
    inputs: Mapping[Any, Any]
    t0: float = 0.0


def describe(
    system: System,
    start: Mapping[Any, Any] | None,
    guess: Mapping[Any, Any] | None,
    values: Mapping[Any, Any] | None,
    inputs: Mapping[Any, Any] | None,
    t0: float,
) -> Description:
    """The description with "30 deg" as a number and what was left out as nothing."""
    first, second, third = (strip_units(system, given) for given in (start, guess, values))
    return Description(system, first, second, third, dict(inputs or {}), float(t0))


class Flow:
    """The flow of a system, with derivatives along the initial state and `constants`."""

    def __init__(
        self, given: Description, constants: Sequence[str] = (), rtol: float = RTOL
    ) -> None:
        system = given.system
        self.given, self.constants, self.rtol = given, tuple(constants), rtol
        kin, equations = (
            independent_contact_equations(system)
            if system.contacts
            else select_equations(system, "native")
        )
        self.chosen, model = self._bind(run_values(kin, given.values, given.inputs), equations)
        self.kin = self.chosen.kin
        options = RunOptions(start=given.start, guess=given.guess, rtol=rtol, atol=rtol)
        setup = prepare_run(self.chosen, model, options, given.t0)
        # constants are set in its parameters later
        self._setup: RunSetup = replace(setup, p=np.array(setup.p, dtype=float)).at_row_rank()
        self.p, self.model, self.start = self._setup.p, self._setup.model, self._setup.start
        self.x0: FloatArray = self.start.y
        self.n = len(self.x0)
        self.names = tuple(label(self.kin.name(i)) for i in self.kin.state)
        self.symbols = [system.symbols[name].scalar.i for name in self.constants]
        self.places = [
            self.model.parameters.index(i) if i in self.model.parameters else None
            for i in self.symbols
        ]
        self._prepare()

    def _bind(
        self, chosen: RunValues, equations: ExplicitEquations | SaddlePointEquations
    ) -> tuple[RunValues, NativeModel]:
        """The values and the native model of the runs."""
        if self.given.system.contacts:
            msg = "periodic: families of equilibria with contacts or dry friction are not supported"
            raise NotApplicable(msg)
        return chosen, native_model(chosen, equations)

    # contacts need both arguments
    def closed_rows(
        self,
        x: FloatArray,  # noqa: ARG002
        t: float,  # noqa: ARG002
    ) -> tuple[FloatArray, FloatArray]:
        """What contacts hold at the start besides the constraints, with ∂/∂x; nothing here."""
        return np.zeros(0), np.zeros((0, self.n))

    @property
    def guarded_coordinates(self) -> frozenset[int]:
        """Coordinates on which events and contacts depend; none here."""
        return frozenset()

    def _prepare(self) -> None:
        """Compile the variational equations and the memory of the run."""
        directions = (*(None for _ in range(self.n)), *self.symbols)
        self.varied: NativeModel = variational_model(self.kin, self.model, directions)
        self._context: Context = self._setup.context(self.varied)
        self._integration: Integrator | None = None
        self._unit = np.concatenate([np.eye(self.n).ravel(), np.zeros(self.n * len(self.symbols))])

    @property
    def autonomous(self) -> bool:
        """Whether f does without the time."""
        return self.model.autonomous

    @property
    def constrained(self) -> bool:
        """Whether the equations have constraint rows (saddle-point form)."""
        return not self.model.rates.closed_form

    def value(self, name: str) -> float:
        """The value of a constant."""
        return float(self.chosen.numbers[self.given.system.symbols[name].scalar.i])

    def set_constant(self, name: str, value: float) -> None:
        """Change a constant, in the equations and for everything that is evaluated later."""
        i = self.given.system.symbols[name].scalar.i
        self.chosen.numbers[i] = value
        self.chosen.evaluator.numbers[i] = np.float64(value)
        if i in self.model.parameters:
            self.p[self.model.parameters.index(i)] = value
            self._context.refresh_parameters()

    def with_tolerance(self, rtol: float) -> Flow:
        """The same flow with another tolerance."""
        return Flow(self._as_set(), self.constants, rtol)

    def with_constants(self, constants: Sequence[str]) -> Flow:
        """The same flow with derivatives along other constants."""
        return Flow(self._as_set(), constants, self.rtol)

    def _as_set(self) -> Description:
        """The description with the constants as they are now."""
        return self.given._replace(values={**self.given.values, **self.constant_values()})

    def constant_values(self) -> dict[str, float]:
        """The constants that have a value, by name."""
        symbols, numbers = self.given.system.symbols.values(), self.chosen.numbers
        kept = (s for s in symbols if s.kind == "constant" and s.scalar.i in numbers)
        return {s.name: float(numbers[s.scalar.i]) for s in kept}

    def rate(self, x: FloatArray, t: float) -> FloatArray:
        """f(x, t)"""
        return np.asarray(self.model.rates.call(np.append(x, t), self.p)[: self.n])

    def __call__(self, x: FloatArray, t0: float, t1: float) -> Arrival:
        """φ(x, t₀, t₁) with its derivatives."""
        check_spans(self.chosen.table_inputs, t0, t1)
        n = self.n
        y = self._run(np.concatenate([x, self._unit]), t0, t1)
        columns = y[n:].reshape(-1, n)
        end = y[:n]
        return Arrival(end, columns[:n].T, columns[n:].T, self.rate(end, t1))

    def problem(
        self, y: FloatArray, t0: float, t1: float, *, dense: bool = False
    ) -> InitialValueProblem:
        """The initial value problem of the state with its variations."""
        context = self._context
        return InitialValueProblem(
            rhs=context.rhs,
            project=context.project,
            context=context.address,
            y0=y,
            t0=t0,
            t1=t1,
            rtol=self.rtol,
            atol=self.rtol,
            dense=dense,
            discontinuities=self._breaks(t0, t1),
        )

    @property
    def event_list(self) -> tuple[Any, ...]:
        """The events that this flow passes; none."""
        return ()

    @property
    def context(self) -> Context:
        """The memory of the run."""
        return self._context

    @property
    def variations(self) -> FloatArray:
        """Φ = I and ∂x/∂p = 0, as they follow the state at a start."""
        return self._unit

    def _run(self, y: FloatArray, t0: float, t1: float) -> FloatArray:
        problem = self.problem(y, t0, t1)
        if self._integration is None:
            self._integration = Integrator(problem)
        else:
            self._integration.restart(problem)
        while not self._integration.advance():
            pass
        return self._integration.state

    def _breaks(self, t0: float, t1: float) -> tuple[float, ...]:
        return self.model.discontinuities(self.p, t0, t1)
