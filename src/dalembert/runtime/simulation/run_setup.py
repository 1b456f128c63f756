"""A run before its first step: values, native model, parameters, initial state, energy audit.

`prepare_run` puts a `RunSetup` together. Whatever specialises it (the rank of the constraint rows,
branches) returns a new one; nothing changes a setup.
Keywords: run set-up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dalembert.errors import warn
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.symbol_values import MissingValue, finite_number, require_mapping
from dalembert.runtime.simulation.context import Context
from dalembert.runtime.simulation.energy_audit import BoundAudit, Quadratures, native_audit
from dalembert.runtime.simulation.events.event import EventAction
from dalembert.runtime.simulation.model import Accelerations, NativeModel
from dalembert.runtime.simulation.run_options import PROJECTION, RunOptions
from dalembert.runtime.states.initial_conditions import InitialState, solve_initial_conditions
from dalembert.runtime.states.run_values import RunValues, parameter_vector

if TYPE_CHECKING:
    from dalembert.runtime.states.constraint_rank import ConstraintRank


@dataclass(frozen=True)
class RunSetup:
    """What every run has before its first step."""

    options: RunOptions
    values: RunValues
    model: NativeModel
    p: FloatArray
    start: InitialState
    watched: BoundAudit | None = None

    @property
    def kin(self) -> Kinematics:
        """The kinematics, with the motions that the values prescribe."""
        return self.values.kin

    @property
    def projects(self) -> bool:
        """Whether the ends of steps are projected onto the constraints."""
        return self.options.stabilizer == PROJECTION

    @property
    def accelerations(self) -> Accelerations:
        """u̇ and λ at any state of the run."""
        return Accelerations(
            self.model.rates,
            self.p,
            self.kin.speed_offset,
            self.projects,
            self.model.parameters,
            self.model.forces,
        )

    def at_row_rank(self) -> RunSetup:
        """With as many rows as are independent where they hold, and a start that says so."""
        if self.model.rates.closed_form:
            return self
        from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates
        from dalembert.runtime.states.constraint_rank import ConstraintRank, constraint_rank

        rates, start = self.model.rates, self.start
        assert isinstance(rates, ConstrainedRates)
        m = rates.layout.m
        # in z = q̇ the rows are those whose rank the start has found
        known = (
            start.rank == start.n_rows == m
            and self.kin.u == self.kin.qdot
            and not rates.kind.nonlinear_velocities
        )
        rank = (
            ConstraintRank(m, m, m, ()) if known else constraint_rank(rates, self.p, start.y_and_t)
        )
        notes = _rank_notes(rank, self.kin) if min(rank.at_start, rank.generic) < m else []
        if rank.at_start < rank.generic:
            warn(notes[0])
        at_start = rank.at_start + start.n_rows - rank.n_rows
        if notes or at_start != start.rank:
            start = replace(start, rank=at_start, notes=(*start.notes, *notes))
        if rank.generic == rates.max_rank and not rates.alpha:
            return replace(self, start=start)
        limited = replace(self.model, rates=rates.with_rank_limit(rank.generic))
        return replace(self, start=start, model=limited)

    def context(self, model: NativeModel | None = None) -> Context:
        """The run's own memory, with the quadratures and their energy budget; `model` varies the
        motion along with it.
        """
        model = model or self.model
        context = Context(
            model.rates.evaluator(
                self.p,
                self.start.y_and_t,
                projecting=self.projects,
                alpha=self.options.alpha,
                rtol=finite_number("rtol", self.options.rtol),
            ),
            self.p,
            model.projection if self.projects else None,
            autonomous=model.autonomous,
            n_forces=len(model.forces),
        )
        if self.watched is not None:
            audit = self.watched.audit
            context.attach_audit(audit, self.watched.p)
            budget = self.options.budget
            if audit.jump is not None or audit.defect is not None or budget is not None:
                context.enable_energy(audit)
                self._set_energy_control(context, self.watched)
        return context

    def _set_energy_control(self, context: Context, watched: BoundAudit) -> None:
        """To a budget, or to the level of E_Z at the start, where that is requested."""
        start, budget = self.start, self.options.budget
        if budget is None and watched.audit.defect is None:
            return
        K2, V = map(float, watched.energies(start.y, start.t))
        if budget is not None:
            context.limit_energy_error(budget, (K2, V), start.t)
        if watched.audit.defect is not None:
            context.project_energy(watched.audit.defect, len(start.q) + len(start.x), K2 + V)


def prepare_run(
    chosen: RunValues,
    model: NativeModel,
    options: RunOptions,
    t0: float,
    quadratures: Quadratures | None = None,
    *,
    jumps: bool = False,
) -> RunSetup:
    """The setup of a run from t0, with consistent initial conditions; `jumps` of the state are to
    be counted by the energy audit.
    """
    p = parameter_vector(chosen, model.parameters)
    watched = _bind_audit(chosen, quadratures, options, jumps=jumps)
    start = initial_state(chosen, options, t0)
    if chosen.callback_inputs:
        from dalembert.runtime.simulation.callback_inputs import append_input_values

        start = append_input_values(chosen, start)
    return RunSetup(options, chosen, model, p, start, watched)


def initial_state(chosen: RunValues, options: RunOptions, t0: float) -> InitialState:
    """Consistent initial conditions at t0."""
    return solve_initial_conditions(
        chosen.kin,
        require_mapping("start", options.start),
        chosen.symbol_values_at(t0),
        t0,
        guess=require_mapping("guess", options.guess),
    )


def _bind_audit(
    chosen: RunValues, quadratures: Quadratures | None, options: RunOptions, *, jumps: bool
) -> BoundAudit | None:
    """The quadratures; nothing, unless needed, where a constant is missing that only they use, with
    a warning.
    """
    if quadratures is None:
        return None
    changed_by_events = jumps or any(
        e.action in (EventAction.RESET, EventAction.IMPACT) for e in options.events
    )
    room = len(options.sensitivities) * len(chosen.kin.state)
    audit = native_audit(
        chosen, quadratures.with_event_loss() if changed_by_events else quadratures, room
    )
    try:
        return BoundAudit(audit, parameter_vector(chosen, audit.parameters))
    except MissingValue as problem:
        if options.budget is not None:
            raise
        warn(f"this run has no energy audit: {problem}")
        return None


def _rank_notes(rank: ConstraintRank, kin: Kinematics) -> list[str]:
    names = [kin.velocity_rows[j].row.name for j in rank.involved]
    if rank.at_start < rank.generic:
        from dalembert.runtime.states.initial_failures import singular_position_note

        return [singular_position_note(names, f"rank {rank.at_start}, {rank.generic} nearby")]
    if rank.generic < rank.n_rows:
        independent = f"{rank.generic} of {rank.n_rows} constraint rows are independent"
        listed = " and ".join(map(repr, names))
        note = (
            f"redundant rows: {independent} where they hold, among {listed}; the motion is "
            f"unique, λ is the one of least Σ λ²"
        )
        return [note]
    return []
