"""q(t), u(t): a described system set in motion."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.symbol_values import finite_number
from dalembert.runtime.ode.failures import RunInterrupted, RunStopped
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Integrator, Progress, complete
from dalembert.runtime.ode.solution import Solution
from dalembert.runtime.simulation.context import Context
from dalembert.runtime.simulation.diagnosis import (
    keeps_energy,
    warn_dropped_rows,
    warn_of_integrator_error,
    warn_of_lost_rank,
    warn_of_singular_speeds,
    warn_of_small_motion,
)
from dalembert.runtime.simulation.energy_audit import BoundAudit, Quadratures
from dalembert.runtime.simulation.events.event import ModeHistory
from dalembert.runtime.simulation.model import Accelerations, NativeModel, native_model
from dalembert.runtime.simulation.run_options import (
    AUTO,
    NATIVE,
    NATIVE_LOOP,
    ROSENBROCK,
    TAYLOR,
    RunOptions,
    time_span,
)
from dalembert.runtime.simulation.run_setup import RunSetup, initial_state, prepare_run
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.run_values import RunValues, run_values

if TYPE_CHECKING:
    from dalembert.analysis.integrals.run_integrals import RunIntegrals
    from dalembert.runtime.simulation.callback_inputs import CallbackInputs
    from dalembert.runtime.simulation.forward_sensitivity.variational_equations import (
        ForwardSensitivity,
    )
    from dalembert.runtime.simulation.piecewise import PiecewiseModel


# those whose steps end where a branch of the rates changes its side; Taylor's method refuses such
# rates
_BRANCH_INTEGRATORS: Final = (NATIVE, AUTO, ROSENBROCK)


class RunBatch(Protocol):
    """Runs of one system from many initial states, in one memory."""

    def begin(self) -> None:
        """Take the memory, which other runs may have used since."""
        ...

    def set_constants(self, values: Mapping[int, float]) -> bool:
        """Other constants for the runs that follow, by their symbols; whether that is possible."""
        ...

    def are_admissible(self, y: FloatArray) -> bool:
        """Whether coefficients of friction and restitution are possible in the state y."""
        ...

    def run(self, y: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Times and states from the state y on; None where native code alone does not reach the
        end.
        """
        ...


class SwitchedRun(Protocol):
    """A run whose contacts change their modes: λ bound in the values, rates for all modes, and
    what happened.
    """

    values: RunValues
    native: NativeModel
    history: ModeHistory
    # whether the state may jump
    jumps: bool

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

    def batch(self) -> RunBatch | None:
        """Runs from other initial states by native code alone; None where it needs Python."""
        ...

    def repeat(self) -> SwitchedRun | None:
        """The same for another run with the same values, in the memory of this one; None where it
        cannot be used again.
        """
        ...


@dataclass(frozen=True)
class _Run:
    """A prepared run with everything that its driver takes."""

    setup: RunSetup
    problem: InitialValueProblem
    context: Context
    variation: ForwardSensitivity | None
    switching: SwitchedRun | None
    piecewise: PiecewiseModel | None
    callback_inputs: CallbackInputs | None
    # of the model before its branches were replaced
    accelerations: Accelerations
    # that of a smooth run that is over, for the next one
    integrations: list[Integrator] = field(default_factory=list, repr=False)

    @property
    def driver(self) -> Driver:
        """What integrates this run: the first of the table that applies."""
        return next(drive for applies, drive in _DRIVERS if applies(self))


class RunMemory(threading.local):
    """The latest run of a thread with contacts, which prepares those that differ from it in their
    initial conditions alone.
    """

    def __init__(self) -> None:
        self._run: _Run | None = None
        self._kin: Kinematics | None = None
        self._t1 = 0.0

    def prepare(self, kin: Kinematics, t1: float, options: RunOptions) -> _Run | None:
        """The next run; None where it must be prepared by itself."""
        run = self._run
        if run is None or kin is not self._kin or t1 != self._t1 or options.budget is not None:
            return None
        setup = run.setup
        switching = None
        if run.switching is not None and _differ_in_start_only(setup.options, options):
            switching = run.switching.repeat()
        if switching is None:
            return None
        start = initial_state(setup.values, options, setup.start.t)
        y0 = run.problem.start.copy()
        y0[: len(start.y)] = start.y
        setup = replace(setup, options=options, start=start)
        return replace(run, setup=setup, problem=replace(run.problem, y0=y0), switching=switching)

    @property
    def setup(self) -> RunSetup | None:
        """That of the latest run."""
        return None if self._run is None else self._run.setup

    def batch(self) -> RunBatch | None:
        """Runs like the latest from other initial states by native code alone, where it can."""
        if self._run is None or self._run.switching is None:
            return None
        return self._run.switching.batch()

    def keep(self, kin: Kinematics, t1: float, run: _Run) -> None:
        """A run that others may follow."""
        if run.switching is not None and run.callback_inputs is None and run.variation is None:
            self._run, self._kin, self._t1 = run, kin, t1


class LatestRun(threading.local):
    """The latest smooth run of a thread: the next one that differs from it in its initial
    conditions alone has the same native model, energy audit, and memory.

    A run that is taken is not there for others until it is over.
    """

    def __init__(self) -> None:
        self._kept: tuple[_Run, ExplicitEquations, Quadratures | None] | None = None

    def prepare(
        self,
        kin: Kinematics,
        equations: ExplicitEquations | SaddlePointEquations,
        quadratures: Quadratures | None,
        t1: float,
        options: RunOptions,
    ) -> _Run | None:
        """The next run; None where it must be prepared by itself."""
        kept, self._kept = self._kept, None
        if kept is None:
            return None
        run, its_equations, its_quadratures = kept
        setup = run.setup
        same = equations is its_equations and quadratures is its_quadratures
        if not (same and t1 == run.problem.t1 and _differ_in_start_only(setup.options, options)):
            return None
        # expressions that are read later go on a tape of its own
        values = setup.values.on(kin.fork())
        start = initial_state(values, options, setup.start.t)
        y0 = run.problem.start.copy()
        y0[: len(start.q) + len(start.x) + len(start.u)] = start.y
        # not by `replace`, which takes as long as a tenth of a short run
        setup = RunSetup(options, values, setup.model, setup.p, start, setup.watched)
        problem, context, rates = run.problem.from_state(y0), run.context, run.accelerations
        return _Run(setup, problem, context, None, None, None, None, rates, run.integrations)

    def keep(
        self,
        run: _Run,
        equations: ExplicitEquations | SaddlePointEquations,
        quadratures: Quadratures | None,
    ) -> None:
        """A run that is over, if the next may follow it."""
        if isinstance(equations, ExplicitEquations) and run.integrations and _is_plain(run):
            for integration in run.integrations:
                integration.release_points()
            self._kept = run, equations, quadratures


_LATEST_RUNS: Final = PerOwnerCache[LatestRun]()


def _is_plain(run: _Run) -> bool:
    """Whether nothing but the initial conditions is to be read again for the next run."""
    options, watched = run.setup.options, run.setup.watched
    counts_jumps = watched is not None and (
        watched.audit.jump is not None or watched.audit.defect is not None
    )
    return (
        run.variation is None
        and run.callback_inputs is None
        and not (options.events or options.inputs or run.setup.values.bindings)
        and options.budget is None
        and options.at is None
        and isinstance(options.atol, int | float)
        and not counts_jumps
    )


_OTHER_OPTIONS: Final = attrgetter(*sorted(RunOptions.__annotations__.keys() - {"start", "guess"}))


def _differ_in_start_only(a: RunOptions, b: RunOptions) -> bool:
    try:
        return bool(_OTHER_OPTIONS(a) == _OTHER_OPTIONS(b))
    except ValueError:
        # arrays among the options have no single truth
        return False


def _integrate_contacts(run: _Run, show: Progress | None) -> Solution:
    assert run.switching is not None
    return run.switching.integrate(
        run.problem, run.setup.p, run.context, run.setup.watched, show, run.variation
    )


def _integrate_branches(run: _Run, show: Progress | None) -> Solution:
    from dalembert.runtime.simulation.piecewise import branch_run

    assert run.piecewise is not None
    setup = run.setup
    return branch_run(
        setup.values, run.piecewise, setup.options.events, run.problem, run.context, show
    ).integrate()


def _integrate_events(run: _Run, show: Progress | None) -> Solution:
    from dalembert.runtime.simulation.events.event_loop import event_run

    setup, variation = run.setup, run.variation
    saltation = None
    if variation:
        from dalembert.runtime.simulation.forward_sensitivity.variational_equations import Saltation

        saltation = functools.partial(Saltation, variation, setup.model.rates, setup.p)
    return event_run(
        setup.values,
        setup.options.events,
        run.problem,
        run.context,
        setup.watched,
        show,
        saltation,
    ).integrate()


def _integrate_smooth(run: _Run, show: Progress | None) -> Solution:
    if run.integrations:
        integration = run.integrations.pop()
        integration.restart(run.problem)
    else:
        integration = Integrator(run.problem)
    solution = complete(integration, show)
    run.integrations.append(integration)
    return solution


def _integrate_elsewhere(run: _Run, _: Progress | None) -> Solution:
    """By an integrator of another library, which reports no progress."""
    from dalembert.runtime.simulation.external_integrators import integrate_external

    setup, inputs = run.setup, run.callback_inputs
    return integrate_external(
        setup.options.integrator,
        _baumgarte_model(setup.model, setup.options),
        setup.p,
        run.problem,
        setup.watched,
        inputs.state_filler() if inputs else None,
    )


Driver = Callable[[_Run, Progress | None], Solution]
# the first three run an automaton; contacts and branches have the user's events among their guards
_DRIVERS: Final[tuple[tuple[Callable[[_Run], object], Driver], ...]] = (
    (lambda run: run.switching, _integrate_contacts),
    (lambda run: run.piecewise, _integrate_branches),
    (lambda run: run.setup.options.events, _integrate_events),
    (lambda run: run.setup.options.integrator in NATIVE_LOOP, _integrate_smooth),
    (lambda _: True, _integrate_elsewhere),
)


def _baumgarte_model(model: NativeModel, options: RunOptions) -> NativeModel:
    """The model with Baumgarte's terms, for integrators without workspaces."""
    rates = model.rates.with_baumgarte(options.alpha)
    return model if rates is model.rates else replace(model, rates=rates)


def simulate_equations(
    kin: Kinematics,
    equations: ExplicitEquations | SaddlePointEquations,
    duration: float,
    options: RunOptions,
    quadratures: Quadratures | None = None,
    energy_audit: Callable[[Trajectory], RunIntegrals] | None = None,
    with_contacts: Callable[[RunValues, RunOptions], SwitchedRun] | None = None,
    memory: RunMemory | None = None,
) -> Trajectory:
    """The motion of a system from its start, for a duration; `energy_audit` is what `integrals`
    asks afterwards.

    `with_contacts` binds the forces of contacts and changes their modes. A `memory` is used for
    runs of the same system and quadratures, each of which ends before the next begins.
    """
    t0, t1 = time_span(duration, options)
    begin = time.perf_counter()
    latest = _LATEST_RUNS(kin, None, LatestRun)
    prepared = (
        latest.prepare(kin, equations, quadratures, t1, options)
        if memory is None
        else memory.prepare(kin, t1, options)
    )
    run = prepared or _prepare(kin, equations, (t0, t1), options, quadratures, with_contacts)
    if memory is not None:
        memory.keep(kin, t1, run)
    to_trajectory = functools.partial(_trajectory, run, begin, energy_audit)
    try:
        with _progress(run) as show:
            trajectory = to_trajectory(run.driver(run, show))
    except RunStopped as failure:
        inputs = run.callback_inputs
        if inputs and inputs.exception is not None:
            raise inputs.exception from inputs.exception.__cause__
        failure.trajectory = to_trajectory(failure.solution)
        raise
    latest.keep(run, equations, quadratures)
    return _finish(trajectory, run, options)


def _trajectory(
    run: _Run,
    begin: float,
    energy_audit: Callable[[Trajectory], RunIntegrals] | None,
    solution: Solution,
) -> Trajectory:
    """The motion that a run found."""
    watched = run.setup.watched
    return Trajectory(
        run.setup.values,
        run.setup.start,
        solution,
        t_end=run.problem.t1,
        wall_time=time.perf_counter() - begin,
        accelerations=run.accelerations,
        quadrature_names=watched.audit.names if watched else (),
        energy_audit=energy_audit if watched else None,
        declared_events=run.setup.options.events,
        variation=run.variation,
        contact_modes=None if run.switching is None else run.switching.history,
    )


def _progress(run: _Run) -> AbstractContextManager[Progress | None]:
    """The bar of a long run, where one is wanted."""
    if not run.setup.options.shows_progress:
        return nullcontext()
    from dalembert.runtime.simulation.progress import progress_bar

    t0, t1 = run.problem.t0, run.problem.t1
    return progress_bar(t1 - t0, lambda t, n: (t - t0, f"t = {t:.4g}  {n} steps"))


def _prepare(
    kin: Kinematics,
    equations: ExplicitEquations | SaddlePointEquations,
    span: tuple[float, float],
    options: RunOptions,
    quadratures: Quadratures | None,
    with_contacts: Callable[[RunValues, RunOptions], SwitchedRun] | None,
) -> _Run:
    """The run with its problem, its memory and what is integrated along."""
    chosen, model, switching = _select_model(kin, equations, span, options, with_contacts)
    jumps = switching is not None and switching.jumps
    setup = prepare_run(chosen, model, options, span[0], quadratures, jumps=jumps)
    # before other rows are chosen: a copy of the model would look for what bends again
    breaks = model.discontinuities(setup.p, *span)
    setup = setup.at_row_rank()
    variation = _variation(setup, span)
    accelerations = setup.accelerations
    piecewise = None
    if switching is None and variation is None and _has_branches(setup):
        setup, piecewise = _separate_branches(setup, equations)
    context = setup.context(variation.model if variation else None)
    method = _bind_method(setup, context, _taylor_obstacle(chosen, switching), piecewise)
    problem = _problem(setup, context, span[1], variation, discontinuities=breaks, **method)
    inputs = None
    if chosen.callback_inputs:
        from dalembert.runtime.simulation.callback_inputs import CallbackInputs

        inputs = CallbackInputs(chosen)
        problem = inputs.wrap(problem)
    return _Run(setup, problem, context, variation, switching, piecewise, inputs, accelerations)


def _select_model(
    kin: Kinematics,
    equations: ExplicitEquations | SaddlePointEquations,
    span: tuple[float, float],
    options: RunOptions,
    with_contacts: Callable[[RunValues, RunOptions], SwitchedRun] | None,
) -> tuple[RunValues, NativeModel, SwitchedRun | None]:
    """The values of the run and its rates, with contacts where there are any."""
    chosen = run_values(kin, options.values, options.inputs, live=True)
    if chosen.table_inputs:
        from dalembert.runtime.states.tables import check_spans

        check_spans(chosen.table_inputs, *span)
    if with_contacts is None:
        return chosen, native_model(chosen, equations, options.alpha), None
    switching = with_contacts(chosen, options)
    return switching.values, switching.native, switching


def _separate_branches(
    setup: RunSetup, equations: ExplicitEquations | SaddlePointEquations
) -> tuple[RunSetup, PiecewiseModel]:
    """The setup with rates that take the active branches as parameters."""
    from dalembert.runtime.simulation.piecewise import piecewise_model

    key = (equations.route, setup.options.alpha)
    piecewise = piecewise_model(setup.values, setup.model, setup.watched, key)
    native = piecewise.model.native
    return replace(setup, model=native, p=piecewise.p, watched=piecewise.watched), piecewise


def _has_branches(setup: RunSetup) -> bool:
    """Whether steps end where a branch of the rates changes its side."""
    return setup.options.integrator in _BRANCH_INTEGRATORS and bool(setup.model.state_switches)


def _variation(setup: RunSetup, span: tuple[float, float]) -> ForwardSensitivity | None:
    """∂(q, u)/∂p alongside the motion, where it is requested."""
    options, chosen = setup.options, setup.values
    if not options.sensitivities:
        return None
    from dalembert.runtime.simulation.forward_sensitivity.variational_equations import (
        check_differentiable,
        forward_sensitivity,
    )

    if chosen.callback_inputs:
        msg = (
            f"sensitivities: {chosen.callback_inputs[0].name} is a Python function, which is not "
            f"varied; give it as a table or an expression"
        )
        raise NotApplicable(msg)
    variation = forward_sensitivity(
        chosen,
        setup.model,
        setup.p,
        setup.start,
        (options.start, options.guess),
        options.sensitivities,
    )
    check_differentiable(variation, chosen.kin.system.t.i, span)
    return variation


def _problem(
    setup: RunSetup,
    context: Context,
    t1: float,
    variation: ForwardSensitivity | None,
    **method: Any,
) -> InitialValueProblem:
    options, start = setup.options, setup.start
    n_quadratures = len(setup.watched.audit.names) if setup.watched else 0
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
        **method,
    )


def _taylor_obstacle(chosen: RunValues, switching: SwitchedRun | None) -> str:
    """What in this run has no Taylor series; nothing in most."""
    if switching is not None:
        return "a contact changes its mode at any time"
    return _callback(chosen)


def _callback(chosen: RunValues) -> str:
    """The input that is a Python function; nothing in most runs."""
    if not chosen.callback_inputs:
        return ""
    return f"{chosen.callback_inputs[0].name} is a Python function"


def _bind_method(
    setup: RunSetup, context: Context, obstacle: str, piecewise: PiecewiseModel | None
) -> dict[str, Any]:
    """{taylor: …} or {jacobian: …} of the problem, for the methods that need them."""
    integrator, model, watched = setup.options.integrator, setup.model, setup.watched
    if integrator not in (ROSENBROCK, TAYLOR, AUTO):
        return {}
    from dalembert.runtime.simulation.taylor_and_rosenbrock import (
        bind_jacobian,
        select_taylor_series,
    )

    if integrator == ROSENBROCK:
        return {"jacobian": bind_jacobian(context, model, watched, _callback(setup.values))}
    # sides have series, but steps that end where a side changes have been made and measured by
    # Runge and Kutta's method
    if piecewise is not None:
        return {}
    rtol = finite_number("rtol", setup.options.rtol)
    series = select_taylor_series(integrator, context, model, setup.p, watched, rtol, obstacle)
    return {} if series is None else {"taylor": series}


def _finish(trajectory: Trajectory, run: _Run, options: RunOptions) -> Trajectory:
    """The requested motion, with its warnings."""
    rates, rtol = run.context.rates, run.problem.rtol
    # with contacts and branches the parameters of the energies change along the run
    has_modes = run.switching is not None or run.piecewise is not None
    watched = None if has_modes else run.setup.watched
    asked = _at_requested_times(trajectory, options)
    if not trajectory.finished and trajectory.solution.is_interrupted:
        raise RunInterrupted(trajectory.solution.message, asked)
    explained = (
        warn_of_singular_speeds(trajectory)
        if isinstance(rates, CompiledFunction)
        else warn_dropped_rows(trajectory, rates)
        or warn_of_lost_rank(trajectory, rates, rtol, options.atol)
    )
    warn_of_small_motion(trajectory, rtol, options.atol)
    if trajectory.contact_modes is not None and trajectory.energy_audit is not None:
        from dalembert.runtime.simulation.impact_audit import warn_of_wrong_impacts

        explained = warn_of_wrong_impacts(trajectory) or explained
    if not explained and not (watched is not None and keeps_energy(asked, watched, rtol)):
        warn_of_integrator_error(asked, rtol, options.atol, stiff=options.integrator == ROSENBROCK)
    return asked


def _at_requested_times(trajectory: Trajectory, options: RunOptions) -> Trajectory:
    """The motion at the times asked for, as far as they were reached."""
    if options.at is None:
        return trajectory
    times = np.atleast_1d(np.asarray(options.at, dtype=np.float64))
    return trajectory.at(
        times[times <= trajectory.solution.t[-1]] if trajectory.solution.is_interrupted else times
    )
