"""q(t), u(t): a described system set in motion."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from dalembert.errors import NotApplicable, warn
from dalembert.foundation.array_types import FloatArray
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.symbol_values import MissingValue, finite_number
from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates, Workspace
from dalembert.runtime.ode.failures import RunInterrupted, RunStopped
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Progress, integrate
from dalembert.runtime.ode.solution import Solution
from dalembert.runtime.simulation.callback_inputs import CallbackInputs, append_input_values
from dalembert.runtime.simulation.context import Context
from dalembert.runtime.simulation.diagnosis import (
    warn_dropped_rows,
    warn_of_integrator_error,
    warn_of_singular_speeds,
    warn_of_small_motion,
)
from dalembert.runtime.simulation.discontinuity_times import model_discontinuities
from dalembert.runtime.simulation.energy_audit import BoundAudit, Quadratures, native_audit
from dalembert.runtime.simulation.events.event import EventAction, ModeHistory
from dalembert.runtime.simulation.events.event_loop import event_run
from dalembert.runtime.simulation.external_integrators import integrate_external
from dalembert.runtime.simulation.forward_sensitivity.variational_equations import (
    ForwardSensitivity,
    Saltation,
    check_differentiable,
    forward_sensitivity,
)
from dalembert.runtime.simulation.model import Accelerations, NativeModel, native_model
from dalembert.runtime.simulation.piecewise import branch_run, piecewise_model
from dalembert.runtime.simulation.progress import progress_bar
from dalembert.runtime.simulation.run_options import (
    AUTO,
    NATIVE,
    NATIVE_LOOP,
    PROJECTION,
    ROSENBROCK,
    TAYLOR,
    RunOptions,
    time_span,
)
from dalembert.runtime.simulation.taylor_and_rosenbrock import bind_jacobian, select_taylor_series
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.constraint_rank import ConstraintRank, constraint_rank
from dalembert.runtime.states.initial_conditions import InitialState, solve_initial_conditions
from dalembert.runtime.states.initial_velocities import singular_position_note
from dalembert.runtime.states.run_values import RunValues, parameter_vector, run_values
from dalembert.runtime.states.tables import check_spans

if TYPE_CHECKING:
    from dalembert.analysis.integrals.run_integrals import RunIntegrals


# those whose steps end where a branch of the rates changes its side; Taylor's method refuses such
# rates
_BRANCH_INTEGRATORS: Final = (NATIVE, AUTO, ROSENBROCK)


class SwitchedRun(Protocol):
    """A run whose contacts change their modes: λ bound in the values, rates for all modes, and
    what happened.
    """

    values: RunValues
    native: NativeModel
    history: ModeHistory

    def integrate(
        self,
        problem: InitialValueProblem,
        p: FloatArray,
        context: Context,
        watched: BoundAudit | None,
        show: Progress | None,
        variation: ForwardSensitivity | None = None,
    ) -> Solution:
        """The motion from mode to mode, with what is varied."""
        ...


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
        warn(f"this run carries no energy audit: {problem}")
        return None


def run_context(
    model: NativeModel,
    p: FloatArray,
    watched: BoundAudit | None,
    start: InitialState,
    options: RunOptions,
) -> Context:
    """The run's own memory, with the quadratures and their energy budget."""
    projection = model.projection if options.stabilizer == PROJECTION else None
    context = Context(
        _rate_evaluator(model, p, start, options), p, projection, autonomous=model.autonomous
    )
    if watched is not None:
        audit = watched.audit
        context.attach_audit(audit, watched.p)
        if audit.jump is not None or audit.defect is not None or options.budget is not None:
            context.enable_energy(audit)
            _set_energy_control(context, watched, start, options)
    return context


def _set_energy_control(
    context: Context, watched: BoundAudit, start: InitialState, options: RunOptions
) -> None:
    """To a budget, or to the level of E_Z at the start, where that is requested."""
    if options.budget is None and watched.audit.defect is None:
        return
    K2, V = map(float, watched.energies(start.y, start.t))
    if options.budget is not None:
        context.limit_energy_error(options.budget, (K2, V), start.t)
    if watched.audit.defect is not None:
        context.project_energy(watched.audit.defect, len(start.q) + len(start.x), K2 + V)


def _rate_evaluator(
    model: NativeModel, p: FloatArray, start: InitialState, options: RunOptions
) -> CompiledFunction | Workspace:
    """The rates; in augmented form, with the rows that are kept at the start."""
    if not isinstance(model.rates, ConstrainedRates):
        return model.rates
    rtol = finite_number("rtol", options.rtol)
    space = Workspace(
        model.rates, p, projecting=options.stabilizer == PROJECTION, alpha=options.alpha, rtol=rtol
    )
    space.select_rows(start.y_and_t)
    return space


def _baumgarte_model(model: NativeModel, options: RunOptions) -> NativeModel:
    """The model with Baumgarte's terms, for integrators without workspaces."""
    if not isinstance(model.rates, ConstrainedRates):
        return model
    return replace(model, rates=model.rates.with_rank_limit(model.rates.max_rank, options.alpha))


def reduce_to_row_rank(
    model: NativeModel, p: FloatArray, start: InitialState, kin: Kinematics
) -> tuple[NativeModel, InitialState]:
    """The model with as many rows as are independent where they hold, and the start with its
    notes.
    """
    if not isinstance(model.rates, ConstrainedRates):
        return model, start
    rates = model.rates
    m = rates.layout.m
    # in z = q̇ the rows are those whose rank the start has found
    known = (
        start.rank == start.n_rows == m
        and kin.u == kin.qdot
        and not rates.kind.nonlinear_velocities
    )
    rank = ConstraintRank(m, m, m, ()) if known else constraint_rank(rates, p, start.y_and_t)
    notes = _rank_notes(rank, kin) if min(rank.at_start, rank.generic) < rank.n_rows else []
    if rank.at_start < rank.generic:
        warn(notes[0])
    at_start = rank.at_start + start.n_rows - rank.n_rows
    if notes or at_start != start.rank:
        start = replace(start, rank=at_start, notes=(*start.notes, *notes))
    return (
        model
        if rank.generic == rates.max_rank and not rates.alpha
        else replace(model, rates=rates.with_rank_limit(rank.generic))
    ), start


def _rank_notes(rank: ConstraintRank, kin: Kinematics) -> list[str]:
    names = [kin.velocity_rows[j].row.name for j in rank.involved]
    if rank.at_start < rank.generic:
        return [singular_position_note(names, f"rank {rank.at_start}, {rank.generic} nearby")]
    if rank.generic < rank.n_rows:
        ranks, listed = (
            f"{rank.generic} of {rank.n_rows} rows are independent",
            " and ".join(map(repr, names)),
        )
        return [
            (
                f"redundant rows: {ranks} where they hold, among {listed}; the motion is "
                f"unique, λ is "
                f"the one of least Σ λ²"
            )
        ]
    return []


def _problem(
    context: Context,
    start: InitialState,
    t1: float,
    options: RunOptions,
    n_quadratures: int,
    variation: ForwardSensitivity | None,
) -> InitialValueProblem:
    S = [] if variation is None else [variation.start.ravel()]
    y0 = np.concatenate([start.q, start.x, start.u, *S, np.zeros(n_quadratures)])
    return InitialValueProblem(
        rhs=context.rhs,
        project=context.project,
        accept=context.accept,
        context=context.address,
        y0=y0,
        t0=start.t,
        t1=t1,
        rtol=finite_number("rtol", options.rtol),
        atol=options.atol if variation is None else variation.atol(options.atol),
        max_step=options.max_step,
        n_norm=len(y0) - n_quadratures,
        at=None
        if options.at is None
        else np.sort(np.ravel(np.asarray(options.at, dtype=np.float64))),
    )


def _variation(
    chosen: RunValues,
    model: NativeModel,
    p: FloatArray,
    start: InitialState,
    options: RunOptions,
    span: tuple[float, float],
) -> ForwardSensitivity | None:
    """∂(q, u)/∂p alongside the motion, where it is requested."""
    if not options.sensitivities:
        return None
    if chosen.callback_inputs:
        msg = (
            f"sensitivities: {chosen.callback_inputs[0].name} is a Python function, which is not "
            f"varied; give it as a table or an expression"
        )
        raise NotApplicable(msg)
    variation = forward_sensitivity(
        chosen, model, p, start, (options.start, options.guess), options.sensitivities
    )
    check_differentiable(variation, chosen.kin.system.t.i, span)
    return variation


def _values_of_run(kin: Kinematics, options: RunOptions, t0: float, t1: float) -> RunValues:
    """Numbers and inputs; refuse tables that do not cover the run."""
    chosen = run_values(kin, options.values, options.inputs, live=True)
    check_spans(chosen.table_inputs, t0, t1)
    return chosen


def _taylor_obstacle(chosen: RunValues, switching: SwitchedRun | None) -> str:
    """What in this run has no Taylor series; nothing in most."""
    if switching is not None:
        return "a contact changes its mode at any time"
    if chosen.callback_inputs:
        return f"{chosen.callback_inputs[0].name} is a Python function"
    return ""


def simulate_equations(
    kin: Kinematics,
    equations: ExplicitEquations | SaddlePointEquations,
    duration: float,
    options: RunOptions,
    quadratures: Quadratures | None = None,
    energy_audit: Callable[[Trajectory], RunIntegrals] | None = None,
    with_contacts: Callable[[RunValues, RunOptions], SwitchedRun] | None = None,
) -> Trajectory:
    """The motion of a system from its start, for a duration; `energy_audit` is what `integrals`
    asks afterwards.

    `with_contacts` binds the forces of contacts and changes their modes.
    """
    t0, t1 = time_span(duration, options)
    begin = time.perf_counter()
    chosen = _values_of_run(kin, options, t0, t1)
    switching = None if with_contacts is None else with_contacts(chosen, options)
    chosen = chosen if switching is None else switching.values
    model = (
        native_model(chosen, equations, options.alpha) if switching is None else switching.native
    )
    p = parameter_vector(chosen, model.parameters)
    watched = _bind_audit(chosen, quadratures, options, jumps=switching is not None)
    start = solve_initial_conditions(
        chosen.kin, options.start, chosen.symbol_values_at(t0), t0, guess=options.guess
    )
    start = append_input_values(chosen, start) if chosen.callback_inputs else start
    # before other rows are chosen: a copy of the model would look for what bends again
    breaks = model_discontinuities(model, p, t0, t1)
    model, start = reduce_to_row_rank(model, p, start, chosen.kin)
    variation = _variation(chosen, model, p, start, options, (t0, t1))
    accelerations = Accelerations(
        model.rates, p, chosen.kin.speed_offset, options.stabilizer == PROJECTION, model.parameters
    )
    piecewise = None
    if (
        switching is None
        and variation is None
        and options.integrator in _BRANCH_INTEGRATORS
        and model.state_switches
    ):
        piecewise = piecewise_model(chosen, model, watched, (equations.route, options.alpha))
        model, p, watched = piecewise.model.native, piecewise.p, piecewise.watched
    context = run_context(variation.model if variation else model, p, watched, start, options)
    integrator, other = options.integrator, _taylor_obstacle(chosen, switching)
    # sides have series, but steps that end where a side changes have been made and measured by
    # Runge and Kutta's method
    with_series = integrator in (TAYLOR, AUTO) and piecewise is None
    series = (
        select_taylor_series(
            integrator, context, model, p, watched, finite_number("rtol", options.rtol), other
        )
        if with_series
        else None
    )
    jacobian_address = (
        bind_jacobian(context, model, watched, other) if integrator == ROSENBROCK else 0
    )
    names = watched.audit.names if watched else ()
    problem = _problem(context, start, t1, options, len(names), variation)
    # a problem is checked whenever it is made
    if series is not None or jacobian_address or breaks:
        problem = replace(problem, taylor=series, jacobian=jacobian_address, discontinuities=breaks)
    callback_inputs = CallbackInputs(chosen) if chosen.callback_inputs else None
    problem = callback_inputs.wrap(problem) if callback_inputs else problem

    def to_trajectory(solution: Solution) -> Trajectory:
        seconds = time.perf_counter() - begin
        return Trajectory(
            chosen,
            start,
            solution,
            t_end=t1,
            wall_time=seconds,
            accelerations=accelerations,
            quadrature_names=names,
            energy_audit=energy_audit if watched else None,
            declared_events=options.events,
            variation=variation,
            contact_modes=None if switching is None else switching.history,
        )

    saltation = functools.partial(Saltation, variation, model.rates, p) if variation else None
    try:
        with (
            progress_bar(t1 - t0, lambda t, n: (t - t0, f"t = {t:.4g}  {n} steps"))
            if options.shows_progress
            else nullcontext() as show
        ):
            if switching is not None:
                trajectory = to_trajectory(
                    switching.integrate(problem, p, context, watched, show, variation)
                )
            elif piecewise is not None:
                trajectory = to_trajectory(
                    branch_run(
                        chosen, piecewise, options.events, problem, context, show
                    ).integrate()
                )
            elif options.events:
                trajectory = to_trajectory(
                    event_run(
                        chosen, options.events, problem, context, watched, show, saltation
                    ).integrate()
                )
            elif integrator in NATIVE_LOOP:
                trajectory = to_trajectory(integrate(problem, show))
            else:
                trajectory = to_trajectory(
                    integrate_external(
                        integrator,
                        _baumgarte_model(model, options),
                        p,
                        problem,
                        watched,
                        callback_inputs.state_filler() if callback_inputs else None,
                    )
                )
    except RunStopped as failure:
        if callback_inputs and callback_inputs.exception is not None:
            raise callback_inputs.exception from callback_inputs.exception.__cause__
        failure.trajectory = to_trajectory(failure.solution)
        raise
    return _finish(trajectory, problem.rtol, options, context.rates)


def _finish(
    trajectory: Trajectory, rtol: float, options: RunOptions, rates: CompiledFunction | Workspace
) -> Trajectory:
    """The requested motion, with its warnings."""
    asked = _at_requested_times(trajectory, options)
    if not trajectory.finished and trajectory.solution.is_interrupted:
        raise RunInterrupted(trajectory.solution.message, asked)
    explained = (
        warn_dropped_rows(trajectory, rates)
        if isinstance(rates, Workspace)
        else warn_of_singular_speeds(trajectory)
    )
    warn_of_small_motion(trajectory, rtol, options.atol)
    # the steps of a stiff solver do not resolve the powers of stiff loads: Z is not accurate there
    if not explained and options.integrator != "rosenbrock":
        warn_of_integrator_error(asked, rtol, options.atol)
    return asked


def _at_requested_times(trajectory: Trajectory, options: RunOptions) -> Trajectory:
    """The motion at the times asked for, as far as they were reached."""
    if options.at is None:
        return trajectory
    times = np.atleast_1d(np.asarray(options.at, dtype=np.float64))
    return trajectory.at(
        times[times <= trajectory.solution.t[-1]] if trajectory.solution.is_interrupted else times
    )
