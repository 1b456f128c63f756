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
from dalembert.foundation.array_types import Numbers
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddleEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.symbol_values import MissingValue, number
from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates, Workspace
from dalembert.runtime.ode.failures import RunInterrupted, RunStopped
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Progress, integrate
from dalembert.runtime.ode.solution import Solution
from dalembert.runtime.simulation.callback_inputs import LiveRun, with_inputs
from dalembert.runtime.simulation.context import Context
from dalembert.runtime.simulation.diagnosis import (
    warn_of_integrator_error,
    warn_of_rows_left,
    warn_of_singular_speeds,
    warn_of_small_motion,
)
from dalembert.runtime.simulation.discontinuity_times import jump_times
from dalembert.runtime.simulation.energy_audit import Quadratures, Watched, native_audit
from dalembert.runtime.simulation.events.event import EventAction, ModeHistory
from dalembert.runtime.simulation.events.event_loop import eventful
from dalembert.runtime.simulation.external_integrators import integrate_by
from dalembert.runtime.simulation.forward_sensitivity.variational_equations import Saltation, Variation, check_smooth, variation_of_run
from dalembert.runtime.simulation.model import Accelerations, NativeModel, native_model
from dalembert.runtime.simulation.piecewise import branch_run, with_sides
from dalembert.runtime.simulation.progress import progress_bar
from dalembert.runtime.simulation.run_options import AUTO, NATIVE, OWN, PROJECTION, ROSENBROCK, TAYLOR, RunOptions, check_span
from dalembert.runtime.simulation.taylor_and_rosenbrock import chosen_series, native_jacobian
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.constraint_rank import RowRank, usual_rank
from dalembert.runtime.states.initial_conditions import Start, find_start
from dalembert.runtime.states.initial_velocities import singular_note
from dalembert.runtime.states.run_values import Values, parameters_of, values_of_run

if TYPE_CHECKING:
    from dalembert.analysis.integrals.run_integrals import RunIntegrals


# those whose steps end where a branch of the rates changes its side; Taylor's method refuses such rates
_WITH_SIDES: Final = (NATIVE, AUTO, ROSENBROCK)


class Switching(Protocol):
    """A run whose contacts change their modes: λ bound in the values, rates for all modes, and what happened."""

    values: Values
    native: NativeModel
    history: ModeHistory

    def integrate(
        self, problem: InitialValueProblem, p: Numbers, context: Context, watched: Watched | None, show: Progress | None
    ) -> Solution:
        """The motion from mode to mode."""
        ...


def _watched(chosen: Values, quadratures: Quadratures | None, options: RunOptions, *, jumps: bool) -> Watched | None:
    """What rides along; nothing, unless needed, where a constant is missing that the motion itself does without: it is said."""
    if quadratures is None:
        return None
    changed_by_events = jumps or any(e.action in (EventAction.RESET, EventAction.IMPACT) for e in options.events)
    room = len(options.sensitivities) * len(chosen.kin.state)
    audit = native_audit(chosen, quadratures.with_events() if changed_by_events else quadratures, room)
    try:
        return Watched(audit, parameters_of(chosen, audit.parameters))
    except MissingValue as problem:
        if options.budget is not None:
            raise
        warn(f"this run carries no energy audit: {problem}")
        return None


def run_context(model: NativeModel, p: Numbers, watched: Watched | None, start: Start, options: RunOptions) -> Context:
    """The run's own memory, with what rides along and the budget it is held to."""
    projection = model.projection if options.stabilizer == PROJECTION else None
    context = Context(_rates(model, p, start, options), p, projection, autonomous=model.autonomous)
    if watched is not None:
        audit = watched.audit
        context.watch(audit, watched.p)
        if audit.jump is not None or audit.defect is not None or options.budget is not None:
            context.ask_for_energy(audit)
            _hold(context, watched, start, options)
    return context


def _hold(context: Context, watched: Watched, start: Start, options: RunOptions) -> None:
    """To a budget, or to the level of E_Z at the start, where that is asked for."""
    if options.budget is None and watched.audit.defect is None:
        return
    K2, V = map(float, watched.energies(start.y, start.t))
    if options.budget is not None:
        context.moderate(options.budget, (K2, V), start.t)
    if watched.audit.defect is not None:
        context.level(watched.audit.defect, len(start.q) + len(start.x), K2 + V)


def _rates(model: NativeModel, p: Numbers, start: Start, options: RunOptions) -> CompiledFunction | Workspace:
    """What gives the rates; where rows stand beside the equations, with those that are kept at the start."""
    if not isinstance(model.rates, ConstrainedRates):
        return model.rates
    rtol = number("rtol", options.rtol)
    space = Workspace(model.rates, p, holding=options.stabilizer == PROJECTION, alpha=options.alpha, rtol=rtol)
    space.choose_rows(start.y_and_t)
    return space


def _stabilized(model: NativeModel, options: RunOptions) -> NativeModel:
    """The model with Baumgarte's terms, for integrators that know nothing of workspaces."""
    if not isinstance(model.rates, ConstrainedRates):
        return model
    return replace(model, rates=model.rates.of_rank(model.rates.cap, options.alpha))


def model_of_rank(model: NativeModel, p: Numbers, start: Start, kin: Kinematics) -> tuple[NativeModel, Start]:
    """The model with as many rows as are independent where they hold, and the start with what is to be said about it."""
    if not isinstance(model.rates, ConstrainedRates):
        return model, start
    rates = model.rates
    m = rates.layout.m
    # in z = q̇ the rows are those whose rank the start has found
    known = start.rank == start.n_rows == m and kin.u == kin.qdot and not rates.kind.curved
    rank = RowRank(m, m, m, ()) if known else usual_rank(rates, p, start.y_and_t)
    notes = _rank_notes(rank, kin) if min(rank.at_start, rank.usual) < rank.n_rows else []
    if rank.at_start < rank.usual:
        warn(notes[0])
    at_start = rank.at_start + start.n_rows - rank.n_rows
    if notes or at_start != start.rank:
        start = replace(start, rank=at_start, notes=(*start.notes, *notes))
    return (model if rank.usual == rates.cap and not rates.alpha else replace(model, rates=rates.of_rank(rank.usual))), start


def _rank_notes(rank: RowRank, kin: Kinematics) -> list[str]:
    names = [kin.velocity_rows[j].row.name for j in rank.involved]
    if rank.at_start < rank.usual:
        return [singular_note(names, f"rank {rank.at_start}, {rank.usual} nearby")]
    if rank.usual < rank.n_rows:
        ranks, listed = f"{rank.usual} of {rank.n_rows} rows are independent", " and ".join(map(repr, names))
        return [f"redundant rows: {ranks} where they hold, among {listed}; the motion is unique, λ is the one of least Σ λ²"]
    return []


def _problem(
    context: Context, start: Start, t1: float, options: RunOptions, n_quadratures: int, variation: Variation | None
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
        rtol=number("rtol", options.rtol),
        atol=options.atol if variation is None else variation.atol(options.atol),
        max_step=options.max_step,
        n_norm=len(y0) - n_quadratures,
        at=None if options.at is None else np.sort(np.ravel(np.asarray(options.at, dtype=np.float64))),
    )


def _variation(
    chosen: Values, model: NativeModel, p: Numbers, start: Start, options: RunOptions, span: tuple[float, float]
) -> Variation | None:
    """∂(q, u)/∂p beside the motion, where it is asked for."""
    if not options.sensitivities:
        return None
    if chosen.live:
        msg = f"sensitivities: {chosen.live[0].name} is a function or a table, which is not varied; give it as an expression"
        raise NotApplicable(msg)
    variation = variation_of_run(chosen, model, p, start, (options.start, options.guess), options.sensitivities)
    check_smooth(variation, chosen.kin.system.t.i, span)
    return variation


def _breaks(model: NativeModel, p: Numbers, t0: float, t1: float) -> tuple[float, ...]:
    """Where steps end because something jumps or bends in time."""
    if not model.bends:
        return ()
    numbers = dict(zip(model.parameters, p.tolist(), strict=True))
    return jump_times(model.tape, model.state[-1], numbers, t0, t1, model.bends)


def _without_series(chosen: Values, switching: Switching | None) -> str:
    """What in this run has no Taylor series; nothing in most."""
    if switching is not None:
        return "a contact changes its mode at any time"
    if chosen.live:
        return f"{chosen.live[0].name} is a function or a table"
    return ""


def run(
    kin: Kinematics,
    equations: ExplicitEquations | SaddleEquations,
    duration: float,
    options: RunOptions,
    quadratures: Quadratures | None = None,
    energy_audit: Callable[[Trajectory], RunIntegrals] | None = None,
    with_contacts: Callable[[Values, RunOptions], Switching] | None = None,
) -> Trajectory:
    """The motion of a system from its start, for a duration; `energy_audit` is what `integrals` asks afterwards.

    `with_contacts` binds the forces of contacts and changes their modes.
    """
    t0, t1 = check_span(duration, options)
    begin = time.perf_counter()
    chosen = values_of_run(kin, options.values, options.inputs, live=True)
    switching = None if with_contacts is None else with_contacts(chosen, options)
    chosen = chosen if switching is None else switching.values
    model = native_model(chosen, equations, options.alpha) if switching is None else switching.native
    p = parameters_of(chosen, model.parameters)
    watched = _watched(chosen, quadratures, options, jumps=switching is not None)
    names = watched.audit.names if watched else ()
    start = find_start(chosen.kin, options.start, chosen.value_at(t0), t0, guess=options.guess)
    start = with_inputs(chosen, start, t1) if chosen.live else start
    # before other rows are chosen: a copy of the model would look for what bends again
    breaks = _breaks(model, p, t0, t1)
    model, start = model_of_rank(model, p, start, chosen.kin)
    variation = _variation(chosen, model, p, start, options, (t0, t1))
    accelerations = Accelerations(model.rates, p, chosen.kin.first_speed, options.stabilizer == PROJECTION, model.parameters)
    sided = None
    if switching is None and variation is None and options.integrator in _WITH_SIDES and model.switching:
        sided = with_sides(chosen, model, watched, (equations.route, options.alpha))
        model, p, watched = sided.model.native, sided.p, sided.watched
    context = run_context(variation.model if variation else model, p, watched, start, options)
    by, other = options.integrator, _without_series(chosen, switching)
    # sides have series, but steps that end where a side changes have been made and measured by Runge and Kutta's method
    with_series = by in (TAYLOR, AUTO) and sided is None
    series = chosen_series(by, context, model, p, watched, number("rtol", options.rtol), other) if with_series else None
    by_slopes = native_jacobian(context, model, watched, other) if by == ROSENBROCK else 0
    problem = _problem(context, start, t1, options, len(names), variation)
    # a problem is checked whenever it is made
    if series is not None or by_slopes or breaks:
        problem = replace(problem, taylor=series, jacobian=by_slopes, breaks=breaks)
    live = LiveRun(chosen) if chosen.live else None
    problem = live.watched(problem) if live else problem

    def named(solution: Solution) -> Trajectory:
        seconds = time.perf_counter() - begin
        return Trajectory(
            chosen,
            start,
            solution,
            until=t1,
            seconds=seconds,
            accelerations=accelerations,
            quadrature_names=names,
            energy_audit=energy_audit if watched else None,
            watched=options.events,
            variation=variation,
            contact_modes=None if switching is None else switching.history,
        )

    saltation = functools.partial(Saltation, variation, model.rates, p) if variation else None
    try:
        with progress_bar(t1 - t0, lambda t, n: (t - t0, f"t = {t:.4g}  {n} steps")) if options.shows_progress else nullcontext() as show:
            if switching is not None:
                trajectory = named(switching.integrate(problem, p, context, watched, show))
            elif sided is not None:
                trajectory = named(branch_run(chosen, sided, options.events, problem, context, show).integrate())
            elif options.events:
                trajectory = named(eventful(chosen, options.events, problem, context, watched, show, saltation).integrate())
            elif by in OWN:
                trajectory = named(integrate(problem, show))
            else:
                trajectory = named(integrate_by(by, _stabilized(model, options), p, problem, watched, live.filled() if live else None))
    except RunStopped as failure:
        if live and live.raised is not None:
            raise live.raised from live.raised.__cause__
        failure.trajectory = named(failure.solution)
        raise
    return _ended(trajectory, problem.rtol, options, context.rates)


def _ended(trajectory: Trajectory, rtol: float, options: RunOptions, rates: CompiledFunction | Workspace) -> Trajectory:
    """The motion that was asked for, with what is to be said about it."""
    asked = _asked(trajectory, options)
    if not trajectory.finished and trajectory.solution.interrupted:
        raise RunInterrupted(trajectory.solution.message, asked)
    if isinstance(rates, Workspace):
        warn_of_rows_left(trajectory, rates)
    else:
        warn_of_singular_speeds(trajectory)
    warn_of_small_motion(trajectory, rtol, options.atol)
    warn_of_integrator_error(asked, rtol)
    return asked


def _asked(trajectory: Trajectory, options: RunOptions) -> Trajectory:
    """The motion at the times asked for, as far as they were reached."""
    if options.at is None:
        return trajectory
    times = np.atleast_1d(np.asarray(options.at, dtype=np.float64))
    return trajectory.at(times[times <= trajectory.solution.t[-1]] if trajectory.solution.interrupted else times)
