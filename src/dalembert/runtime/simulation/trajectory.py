"""q(t), u(t) with names: any quantity of the system along a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.errors import BadExpression
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.late_imports import late_module
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.state_layout import StateLayout
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import MissingValue
from dalembert.runtime.ode.solution import Outcome, Solution
from dalembert.runtime.simulation import animation, poincare_section, resampling, table_export
from dalembert.runtime.simulation.energy_audit import EnergyScale, energy_scale
from dalembert.runtime.simulation.events.event import ModeHistory, Occurrence, event_energy_change
from dalembert.runtime.simulation.forward_sensitivity import sensitivities as reading
from dalembert.runtime.simulation.summary import summary
from dalembert.runtime.states.evaluator import label
from dalembert.runtime.states.initial_conditions import InitialState
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.scalar import Scalar, as_nodes
from dalembert.symbolic.algebra.tape import base_name

if TYPE_CHECKING:
    import os

    from dalembert.analysis.integrals.run_integrals import RunIntegrals
    from dalembert.mechanics.kinematics.jacobian import Jacobian
    from dalembert.runtime.dynamics.adjoint import CostGradient
    from dalembert.runtime.simulation.events.event import Event
    from dalembert.runtime.simulation.forward_sensitivity.variational_equations import (
        ForwardSensitivity,
    )
    from dalembert.runtime.simulation.model import Accelerations
    from dalembert.runtime.simulation.plotting.plot import Plot
    from dalembert.runtime.simulation.reactions.loads import (
        DriveLoad,
        JointLoad,
        RowLoad,
        RunReactions,
    )
    from dalembert.runtime.states.evaluator import ReducedNodes


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Displayable):
    """The motion of a system: `run["theta"]`, `run[theta.dot]`, `run["m*g*L*cos(theta)"]`,
    `run[G.v]` over the times `run.t`.

    The times are those of the integrator's steps; `run.at(times)` is the same motion at any others.
    """

    values: RunValues
    start: InitialState
    solution: Solution
    _: KW_ONLY
    # the requested end, and how long it took
    t_end: float | None = None
    wall_time: float | None = None
    accelerations: Accelerations | None = None
    # what rode along, and who can read it
    quadrature_names: tuple[str, ...] = ()
    energy_audit: Callable[[Trajectory], RunIntegrals] | None = None
    # the declared events
    declared_events: tuple[Event, ...] = ()
    # ∂(q, u)/∂p, where it was requested
    variation: ForwardSensitivity | None = None
    # what the contacts did
    contact_modes: ModeHistory | None = None
    # times and states other than those of the integrator's steps
    sampled: tuple[FloatArray, FloatArray] | None = None

    # ---- the motion --------------------------------------------------------------------------

    @property
    def system(self) -> System:
        """The system as it was described when the run began."""
        return self.values.kin.system

    @property
    def kinematics(self) -> Kinematics:
        """The kinematics of that system."""
        return self.values.kin

    @property
    def t(self) -> FloatArray:
        """The times."""
        return _read_only(self._t)

    @property
    def q(self) -> FloatArray:
        """The coordinates: a row for each time."""
        return _read_only(self._y[:, self.layout.q])

    @property
    def u(self) -> FloatArray:
        """The independent speeds: a row for each time."""
        return _read_only(self._y[:, self.layout.u])

    @property
    def x(self) -> FloatArray:
        """The first-order states: a row for each time."""
        return _read_only(self._y[:, self.layout.x])

    @property
    def y(self) -> FloatArray:
        """(q, x, u), in the order of `names`: a row for each time."""
        layout = self.layout
        if not layout.n_inputs:
            return _read_only(self._y[:, layout.state])
        return _read_only(self._y[:, layout.without_inputs])

    @cached_property
    def qdot(self) -> FloatArray:
        """q̇ = W u + X: a row for each time."""
        return _read_only(self._evaluate_nodes(list(self.values.evaluator.kin.qdot)).T)

    @cached_property
    def events(self) -> tuple[Occurrence, ...]:
        """What happened in the run, in the order of time: name, time, state before and after."""
        return tuple(self.solution.occurrences)

    @property
    def quadratures(self) -> FloatArray:
        """What was integrated along with the motion: a row for each time."""
        return _read_only(self._y[:, self.layout.quadratures])

    @property
    def layout(self) -> StateLayout:
        """Where coordinates, states, speeds, sensitivities and quadratures are in a row."""
        layout, variation = self.values.kin.layout, self.variation
        return replace(layout, n_sensitivities=len(variation.names)) if variation else layout

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates, the first-order states and the speeds, as they are
        written in a program.
        """
        kin = self.values.kin
        return tuple(label(kin.name(i)) for i in (*kin.q, *kin.x, *kin.u))

    @property
    def _t(self) -> FloatArray:
        return self.solution.t if self.sampled is None else self.sampled[0]

    @cached_property
    def _y(self) -> FloatArray:
        y = self.solution.y if self.sampled is None else self.sampled[1]
        if not self.values.callback_inputs:
            return y
        from dalembert.runtime.simulation.callback_inputs import fill_callback_values

        return fill_callback_values(self.values, self._t, y)

    @property
    def state_rows(self) -> FloatArray:
        """(q, x, inputs, u): a row for each time."""
        return self._y[:, self.layout.state]

    def input_values(self, nodes: Sequence[int]) -> FloatArray:
        """Inputs that functions and tables gave, by node: a row for each, over the times."""
        return np.array([self._state[i] for i in nodes]).reshape(len(nodes), len(self))

    def __len__(self) -> int:
        return len(self._t)

    at = resampling.at
    section = poincare_section.section
    with_states = resampling.with_states

    # ---- any quantity ------------------------------------------------------------------------

    def __getitem__(self, key: Scalar | str | Vector | Jacobian) -> FloatArray:
        """A quantity over the times; a vector as rows of its three components along N, a
        Jacobian as one matrix for each time.
        """
        from dalembert.mechanics.kinematics.jacobian import Jacobian

        if isinstance(key, Jacobian):
            return np.ascontiguousarray(
                self.rows([x for row in key.rows for x in row]).T.reshape(len(self), *key.shape)
            )
        evaluator = self.values.evaluator
        try:
            if isinstance(key, Vector):
                return np.ascontiguousarray(
                    self._evaluate_nodes(
                        [evaluator.node(c) for c in _components(key, self.system)]
                    ).T
                )
            return np.asarray(self._evaluate_nodes([evaluator.node(key)])[0])
        except BadExpression as problem:
            what = repr(key) if isinstance(key, str) else "this"
            name = key.name if isinstance(key, Scalar) else None
            hint = (
                f"; by name it can: run[{label(name)!r}]"
                if name and base_name(name) in evaluator.names
                else ""
            )
            msg = f"{what} cannot be read from this run: {problem}{hint}"
            raise BadExpression(msg) from problem

    def rows(self, keys: Sequence[Scalar]) -> FloatArray:
        """Several quantities at once: a row for each, over the times."""
        return self._evaluate_nodes(as_nodes(self.values.evaluator.tape, keys))

    @cached_property
    def _state(self) -> dict[int, FloatArray]:
        kin = self.values.kin
        columns = np.ascontiguousarray(self.state_rows.T)
        return {
            **dict(zip(kin.state, columns, strict=True)),
            kin.system.t.i: self._t,
        }

    @cached_property
    def _mode_parameters(self) -> dict[int, FloatArray]:
        """Parameters that differ from one mode of contact to the next, over the times."""
        return (
            {}
            if self.contact_modes is None
            else self.contact_modes.parameters(self._t, is_run=self.sampled is None)
        )

    @property
    def modes(self) -> dict[str, tuple[str, ...]]:
        """What every contact does over the times: open, closed, sticks, slips + or slips −;
        empty without contacts.
        """
        return (
            {}
            if self.contact_modes is None
            else self.contact_modes.mode_names(self._t, is_run=self.sampled is None)
        )

    @cached_property
    def _udot(self) -> dict[int, FloatArray]:
        """u̇ by node."""
        if self.accelerations is None:
            msg = (
                "the accelerations of this run are not known: it was made without the equations "
                "of motion"
            )
            raise BadExpression(msg)
        changed = (self._mode_parameters,) if self._mode_parameters else ()
        columns = np.asarray(
            self.accelerations(self.state_rows, self.t, *changed), dtype=np.float64
        ).T
        return dict(zip(self.values.evaluator.kin.udot, columns, strict=True))

    @cached_property
    def _lam(self) -> dict[int, FloatArray]:
        """λ by node."""
        if self.accelerations is None:
            msg = (
                "the multipliers of this run are not known: it was made without the equations "
                "of "
                "motion"
            )
            raise BadExpression(msg)
        nodes = self.values.evaluator.kin.multipliers
        columns = (
            # with contacts they are expressions of the modes
            self._evaluate_nodes(list(nodes))
            if self.values.bindings.keys() & set(nodes)
            else np.asarray(
                self.accelerations.multipliers(self.state_rows, self.t), dtype=np.float64
            ).T
        )
        return dict(zip(nodes, columns, strict=True))

    @cached_property
    def _contact_forces(self) -> dict[int, FloatArray]:
        """Forces of contacts that loops solve for, by node."""
        assert self.accelerations is not None
        columns = self.accelerations.contact_forces(self.state_rows, self.t, self._mode_parameters)
        return dict(zip(self.accelerations.forces, columns.T, strict=True))

    @property
    def multipliers(self) -> dict[str, FloatArray]:
        """λ of every row in augmented form, where constraint forces are Aᵀλ; empty where all were
        eliminated.

        Where rows depend on one another the λ of least Σ λ_j², each in the unit of its row; in
        systems with contacts, rows declared redundant have λ = 0. The motion is the same for all.
        """
        from dalembert.runtime.simulation.reactions.loads import RowMultipliers

        kin = self.values.evaluator.kin
        return RowMultipliers(
            {
                row.row.name: self._lam[lam]
                for row, lam in zip(kin.velocity_rows, kin.multipliers, strict=True)
            },
            kin,
        )

    def _evaluate_nodes(self, nodes: list[int]) -> FloatArray:
        """A row for each node, over the times."""
        return self.evaluate_reduced(self.values.evaluator.reduce(nodes))

    def evaluate_reduced(self, reduced: ReducedNodes) -> FloatArray:
        """A row for each node, over the times."""
        kin, symbols, state = self.values.kin, reduced.symbols, self._state
        if self.contact_modes is not None and not symbols.isdisjoint(self.contact_modes.symbols):
            state = {**state, **self._mode_parameters}
        if not symbols.isdisjoint(kin.udot):
            state = {**state, **self._udot}
        if not symbols.isdisjoint(kin.multipliers):
            state = {**state, **self._lam}
        if not symbols.isdisjoint(self.values.state_dependent):
            state = {**state, **self._contact_forces}
        return reduced.along(self.values.numbers, state, len(self))

    # ---- what the run is judged by -----------------------------------------------------------

    @cached_property
    def _energies(self) -> FloatArray:
        from dalembert.runtime.simulation.energy_and_residuals import energy_nodes

        T, V = energy_nodes(self.values.evaluator.kin)
        return np.asarray(self._evaluate_nodes([T, V]))

    @property
    def kinetic_energy(self) -> FloatArray:
        """T"""
        return _read_only(self._energies[0])

    @property
    def potential_energy(self) -> FloatArray:
        """V, with gravity."""
        return _read_only(self._energies[1])

    @property
    def energy(self) -> FloatArray:
        """T + V"""
        total: FloatArray = self._energies[0] + self._energies[1]
        return total

    @cached_property
    def conserves_energy(self) -> bool:
        """Whether T + V must be constant: by the description, and by which of its numbers are
        zero.
        """
        from dalembert.runtime.simulation.energy_and_residuals import conserves_energy

        return conserves_energy(self.values.evaluator.kin, self.values.zero_symbols)

    @property
    def energy_change(self) -> FloatArray:
        """E − E₀ without what events have changed; zero where energy is conserved between them."""
        E = self.energy
        change: FloatArray = E - E[:1]
        return (
            change - event_energy_change(self.events, self._t, is_run=self.sampled is None)
            if self.events
            else change
        )

    @property
    def energy_drift(self) -> float:
        """max |E − E₀| / max T, without what events have changed; relative to the terms of T + V
        where nothing moves.
        """
        return self._largest_energy_change / self._energy_scale.size

    @property
    def _largest_energy_change(self) -> float:
        return float(np.max(np.abs(self.energy_change), initial=0.0))

    @cached_property
    def _energy_scale(self) -> EnergyScale:
        from dalembert.runtime.simulation.energy_and_residuals import energy_nodes

        T = float(np.max(self.kinetic_energy, initial=0.0))
        kin = self.values.evaluator.kin
        energies = [Scalar(kin.tape, i) for i in energy_nodes(kin)]
        return energy_scale(self._largest_energy_change, T, lambda: self.largest_terms(energies))

    @property
    def is_at_rest(self) -> bool:
        """Whether hardly anything moves: T + V changes by the rounding of its terms."""
        return self._energy_scale.at_rest

    def largest_terms(self, keys: Sequence[Scalar]) -> float:
        """max Σ |term| of several quantities over the times."""
        from dalembert.runtime.states.magnitude_bounds import magnitude_bounds

        tape = self.values.evaluator.tape
        bounds = magnitude_bounds(tape, as_nodes(tape, keys))
        return float(np.max(np.sum(self._evaluate_nodes(bounds), axis=0), initial=0.0))

    @cached_property
    def integrals(self) -> RunIntegrals:
        """E_Z, E, 𝓗, K + 𝒰 and the works of the loads over the times, and how well E_Z was kept."""
        if self.energy_audit is None:
            msg = (
                "the energy integrals of this run are not known: run with audit=True and a "
                "value "
                "for every constant"
            )
            raise MissingValue(msg)
        return self.energy_audit(self)

    @cached_property
    def residuals(self) -> dict[str, FloatArray]:
        """Every constraint as it was declared, and the rate of those on positions; all should
        vanish.
        """
        from dalembert.runtime.simulation.energy_and_residuals import constraint_residuals

        nodes = constraint_residuals(self.values.evaluator.kin)
        return dict(zip(nodes, self._evaluate_nodes(list(nodes.values())), strict=True))

    @cached_property
    def acceleration_residuals(self) -> dict[str, FloatArray]:
        """d(A q̇ + b)/dt of every constraint with the accelerations of the run; all should
        vanish.
        """
        from dalembert.runtime.simulation.energy_and_residuals import acceleration_residuals

        nodes = acceleration_residuals(self.values.evaluator.kin)
        return dict(zip(nodes, self._evaluate_nodes(list(nodes.values())), strict=True))

    @property
    def worst_residual(self) -> float:
        """The largest residual of all."""
        return max(
            (float(np.max(np.abs(r), initial=0.0)) for r in self.residuals.values()), default=0.0
        )

    @cached_property
    def reactions(self) -> RunReactions:
        """The wrench in every joint, the force of every row, and the load behind every prescribed
        motion, over the times.
        """
        from dalembert.runtime.simulation.reactions.run_reactions import run_reactions

        return run_reactions(self)

    def reaction(self, name: str) -> JointLoad | RowLoad | DriveLoad:
        """One of the reactions, by the name of its joint, row or prescribed motion."""
        return self.reactions[name]

    def gradient(self, cost: Any = None, *, end: Any = None) -> CostGradient:
        """J = ∫ cost dt + end with its derivatives by all constants, start values and input
        samples, in one sweep backwards.

        `cost` is the integrand, `end` the cost at the end: expressions of the motion, or texts.
        """
        adjoint = late_module("adjoint")
        gradient: CostGradient = adjoint.cost_gradient(self, cost, end=end)
        return gradient

    # ---- out of here -------------------------------------------------------------------------

    write = table_export.write
    to_csv = table_export.to_csv
    to_pandas = table_export.to_pandas
    to_xarray = table_export.to_xarray

    def plot(
        self,
        /,
        *what: Any,
        path: str | os.PathLike[str] | None = None,
        compare: Mapping[str, Trajectory] | Sequence[Trajectory] = (),
        ax: Any = None,
        figsize: tuple[float, float] | None = None,
        style: Any = None,
    ) -> Plot:
        """Coordinates over time, or whatever is named, with the energy below; several in a tuple
        share their axes.

        In a notebook the plot appears below the cell; elsewhere it is saved, and the name of the
        file is printed.

        compare    other runs in the same panels, by the names they have in the legend
        ax         axes of matplotlib to draw on, one for each panel
        figsize    width and height in inches
        style      a style of matplotlib, by name or as a dictionary
        """
        from dalembert.runtime.simulation.plotting.run_chart import plot

        return plot(self, *what, path=path, compare=compare, ax=ax, figsize=figsize, style=style)

    view = animation.view
    animate = animation.animate
    sensitivity = reading.sensitivity
    sensitivities = property(reading.Sensitivities)

    __str__ = __repr__ = summary

    @property
    def finished(self) -> bool:
        """Whether the run reached its end."""
        return self.solution.outcome is Outcome.FINISHED

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: self.__dict__[each.name] for each in fields(self)}


def _read_only(x: FloatArray) -> FloatArray:
    """The same numbers, not to be written to."""
    view = x.view()
    view.flags.writeable = False
    return view


def _components(v: Vector, system: System) -> list[Scalar]:
    """Along N, on a fork of the vector's own tape, which knows frames younger than the run."""
    tape = v.tape.fork()
    return [Scalar(tape, i) for i in v.on(tape).components(system.N)]
