"""y' = f(t, y), y(t₀) = y₀: the run from Python's side.

The native loop takes the steps. It comes back when its buffer is full and about every 20 ms, so
that progress can be shown and Ctrl-C is heard; none of this changes a bit of the motion.
"""

from __future__ import annotations

import ctypes
import functools
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.runtime.numerics.llvm_types import GROUP_SIZE
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.ode.failure_diagnosis import StallDetector, ends_stiff, run_stopped_error
from dalembert.runtime.ode.integrator_state import ROWS, ExitReason, IntegratorState, WorkRow
from dalembert.runtime.ode.native_integrators import native_loop
from dalembert.runtime.ode.solution import Outcome, PointBuffer, Solution, evaluate_dense_output

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.runtime.ode.failures import RunStopped
    from dalembert.runtime.ode.initial_value_problem import DenseForm, InitialValueProblem

Progress = Callable[[float, int], object]
_RHS: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)

SLICE_SECONDS: Final = 0.02
_CALLS_PER_START: Final = 2
_CALLS_PER_STEP: Final = 16
_LARGEST_CHANGE: Final = 4
_ALIGNMENT: Final = 64
_CLOCK: Final = 1e-6
# distance from a break in last bits, and the least distance of two breaks
_ULPS_FROM_BREAK: Final = 4
_MIN_ULPS_BETWEEN: Final = 64
# a row and two that follow one another, as plain numbers, which index faster
_STATE: Final = int(WorkRow.Y)
_NORM: Final = slice(int(WorkRow.ATOL), int(WorkRow.IN_NORM) + 1)


def integrate(problem: InitialValueProblem, on_progress: Progress | None = None) -> Solution:
    """The motion from t₀ to t₁; after Ctrl-C the motion so far, marked as interrupted.

    `on_progress(t, steps)` is called about every 20 ms. A run that cannot go on raises `RunStopped`
    with the motion so far.
    """
    return complete(Integrator(problem), on_progress)


def complete(integration: Integrator, on_progress: Progress | None = None) -> Solution:
    """The same of an integration that is there."""
    try:
        # the first slice is so short that nothing need be done about Ctrl-C
        if not integration.advance():
            _run_slices(integration, on_progress)
    except KeyboardInterrupt:
        if integration.is_finished:
            raise
    outcome = Outcome.FINISHED if integration.is_finished else Outcome.INTERRUPTED
    solution = integration.solution(outcome, f"{outcome.value} at t = {integration.t:.17g}")
    return replace(solution, stiff=True) if ends_stiff(integration) else solution


def _run_slices(integration: Integrator, on_progress: Progress | None) -> None:
    """Slice after slice, until the end or Ctrl-C."""
    from dalembert.runtime.ode.keyboard_interrupt import defer_keyboard_interrupt

    watch = StallDetector(integration)
    with defer_keyboard_interrupt() as interruption:
        while not interruption.should_stop():
            if on_progress is not None:
                on_progress(integration.t, integration.steps)
            if integration.advance_for_a_slice():
                return
            watch.check_progress(integration)


class Integrator:
    """A run in progress: `advance` as often as needed, `solution` at any time."""

    def __init__(self, problem: InitialValueProblem) -> None:
        self.problem = problem
        self._native = native_loop(problem)
        # what takes the steps; a run with contacts changes its modes there as well
        self.loop: Callable[[int], int] = self._native.advance
        self._groups = -(-problem.size // GROUP_SIZE)
        self._work = _work_space(problem, self._groups)
        self._state_view = self._work[_STATE, : problem.size]
        self._points = PointBuffer(
            problem.t0,
            self._work[_STATE],
            dense=problem.dense,
            at=problem.at,
            form=problem.dense_form,
        )
        # breaks ahead at which the state changes
        self._breaks: deque[float] = deque()
        self._run = self._new_run()
        self._at = ctypes.addressof(self._run)
        self._begin()

    def restart(self, problem: InitialValueProblem) -> None:
        """The same equations and tolerances from another start to another end, in the memory
        that is there; points so far are given up.
        """
        self.problem, run = problem, self._run
        self._work[_STATE, : problem.size] = problem.start
        self._points.restart(problem.t0, self._work[_STATE])
        run.t, run.steps, run.rejected, run.calls, run.streak = problem.t0, 0, 0, 0, 0
        run.events = problem.events
        self._begin()

    def release_points(self) -> None:
        """Forget points that were handed out."""
        self._points.release()

    def _begin(self) -> None:
        """Before the first step."""
        run, problem = self._run, self.problem
        # whether the last step has something in it that somebody should look at
        self.at_event = False
        run.t_end, run.h_max = (
            self._first_end(problem.t0),
            min(problem.max_step, problem.t1 - problem.t0),
        )
        begin = time.perf_counter()
        left = self._native.start(self._at)
        self._attempts = _attempts_per_slice(
            _CALLS_PER_START / _CALLS_PER_STEP, time.perf_counter() - begin
        )
        if left:
            raise self._stop_error()

    @property
    def native_addresses(self) -> tuple[int, int, int]:
        """The structure of the run, and the native functions `start` and `advance`."""
        library = self._native.library
        return self._at, library.address("start"), library.address("advance")

    @property
    def t(self) -> float:
        """The time reached."""
        return float(self._run.t)

    @property
    def is_finished(self) -> bool:
        """Whether the end was reached."""
        return self._run.t >= self._run.t_end and not (self._breaks or self._run.n_breaks)

    @property
    def steps(self) -> int:
        """Accepted steps so far."""
        return int(self._run.steps)

    @property
    def attempts(self) -> int:
        """Steps tried so far, rejected ones too."""
        return int(self._run.steps + self._run.rejected)

    @property
    def stored_bytes(self) -> int:
        """What the points and their dense output take in memory."""
        return self._points.bytes

    @property
    def first_step(self) -> int:
        """The first step that `step` can still give."""
        return self._points.first_step

    def evaluate_rhs(self, t: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """f(t, y) of the components in the norm, for somebody who wants to know why the run goes
        as it goes.
        """
        row, rate = self._work[WorkRow.Y].copy(), np.zeros(self._work.shape[1])
        row[: y.size] = y
        if _RHS(self._run.rhs)(t, data_address(row), data_address(rate), self._run.context):
            rate[:] = np.nan
        return rate[: self.problem.n_in_norm]

    def partial_solution(self) -> Solution:
        """The motion so far of a run that stops here."""
        return self.solution(Outcome.STOPPED)

    def grant(self, attempts: int) -> None:
        """Where native code that is called from elsewhere stores points, and how many steps it may
        try.
        """
        self._points.bind(self._run)
        self._run.budget = attempts

    def copy_points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times and states of a run whose points are in one block."""
        return self._points.copy_first_block(int(self._run.stored), self.problem.size)

    def advance(self, attempts: int | None = None) -> bool:
        """Try at most the given number of steps (by default as many as take about 20 ms); whether
        the end was reached.
        """
        run = self._run
        granted = run.budget = self._attempts if attempts is None else attempts
        begin = time.perf_counter()
        self._points.bind(run)
        return self._leave(self.loop(self._at), granted, begin)

    def _leave(self, left: int, granted: int, begin: float) -> bool:
        """What follows when the native loop comes back; whether the end was reached."""
        run = self._run
        while left == ExitReason.BUFFER_FULL:
            self._points.grow()
            self._points.bind(run)
            left = self.loop(self._at)
        if left == ExitReason.STOPPED:
            raise self._stop_error()
        self.at_event = left == ExitReason.AT_EVENT
        if left == ExitReason.BUDGET_SPENT:
            wanted = _attempts_per_slice(granted, time.perf_counter() - begin)
            self._attempts = min(max(wanted, granted // _LARGEST_CHANGE), granted * _LARGEST_CHANGE)
        if left == ExitReason.AT_END and self._breaks:
            self._cross_discontinuity()
            return False
        return left == ExitReason.AT_END

    def advance_for_a_slice(self) -> bool:
        """`advance` across the times at which inputs change, for about 20 ms; whether the end was
        reached.
        """
        until = time.perf_counter() + SLICE_SECONDS
        while not (finished := self._advance_over_breaks(until)):
            if not self._breaks or time.perf_counter() > until:
                break
        return finished

    def _advance_over_breaks(self, until: float) -> bool:
        """`advance` from break to break with the memory of the first interval."""
        if self._is_watched:
            return self.advance()
        run, advance, at, breaks = self._run, self.loop, self._at, self._breaks
        granted, begin, end = self._attempts, time.perf_counter(), int(ExitReason.AT_END)
        change, y, clock = self.problem.on_discontinuity, self._state_view, time.perf_counter
        self._points.bind(run)
        run.budget = granted
        while (left := advance(at)) == end and breaks:
            here = breaks.popleft()
            if change is not None:
                change(here, y)
            # the native loop crosses the break
            run.n_breaks = 1
            if clock() > until:
                return False
        return self._leave(left, granted, begin)

    def _first_end(self, begin: float) -> float:
        """Where the first steps from here end; what lies behind is left to the native loop, unless
        the state changes there.
        """
        ahead = self._discontinuities_after(begin)
        if not len(ahead):
            self._breaks, self._run.n_breaks = deque(), 0
            return self.problem.t1
        gap = _ULPS_FROM_BREAK * np.spacing(np.abs(ahead))
        ends: list[float] = [*(ahead - gap).tolist(), self.problem.t1]
        # kept here, for the native loop reads it
        self._native_breaks = np.column_stack([ahead + gap, ends[1:]])
        self._run.breaks = data_address(self._native_breaks)
        if self.problem.on_discontinuity is not None:
            self._breaks, self._run.n_breaks = deque(ahead.tolist()), 0
        else:
            self._breaks, self._run.n_breaks = deque(), len(ahead)
        return ends[0]

    def _discontinuities_after(self, begin: float) -> NDArray[np.float64]:
        """Those ahead, with room for a step between neighbours."""
        times = np.asarray(self.problem.discontinuities, dtype=np.float64)
        if not times.size:
            return times
        room = _MIN_ULPS_BETWEEN * np.spacing(np.abs(times))
        ahead = (begin + room < times) & (times < self.problem.t1 - room)
        apart, room = times[ahead], room[ahead]
        return apart[np.diff(apart, prepend=-math.inf) > room]

    def set_state(self, y: NDArray[np.float64]) -> None:
        """Another state at the same time: the run has two points there."""
        self._work[_STATE, : self.problem.size] = y
        self._points.jump(self._run, self._work[_STATE])

    def resume_after_jump(self) -> None:
        """From the state that was jumped to, as if the run began there."""
        run, problem = self._run, self.problem
        run.t_end, run.h_max = self._first_end(run.t), min(problem.max_step, problem.t1 - run.t)
        run.streak, run.events = 0, problem.events
        if self._native.start(self._at):
            raise self._stop_error()

    def _cross_discontinuity(self) -> None:
        """From just before a break to just behind it, and on to the next."""
        run, change = self._run, self.problem.on_discontinuity
        here = self._breaks.popleft()
        if self._is_watched:
            run.t, run.t_end = self._native_breaks[-1 - len(self._breaks)].tolist()
        if change is not None:
            change(here, self._state_view)
        if self._is_watched:
            stopped = self._native.start(self._at) != 0
        else:
            # the native loop crosses it, and takes no step
            run.n_breaks, run.budget = 1, 0
            stopped = self._native.advance(self._at) == ExitReason.STOPPED
        if stopped:
            raise self._stop_error()

    @property
    def _is_watched(self) -> bool:
        """Whether somebody looks at the state behind a break before the next step."""
        return bool(self.problem.events) or self.loop is not self._native.advance

    def pass_discontinuity(self) -> None:
        """Move behind a discontinuity before which the last steps ended: what happens there is a
        consequence of it.
        """
        if self.problem.on_discontinuity is not None:
            return
        reach = 3.0 * _ULPS_FROM_BREAK * math.ulp(self.t)
        times = np.asarray(self.problem.discontinuities, dtype=np.float64)
        for here in times[(times > self.t) & (times <= self.t + reach)].tolist():
            self._run.t = here + _ULPS_FROM_BREAK * math.ulp(here)

    def step(self, k: int) -> DenseStep:
        """The k-th step that was taken, k = 1, 2, …"""
        (begin, _), (end, _) = self._points.point(k - 1), self._points.point(k)
        rows = self._points.step(k)[:, : self.problem.size]
        return DenseStep(begin, end, rows, self.problem.dense_form)

    def padded_step(self, k: int) -> DenseStep:
        """A copy of the k-th step with rows as native code has them."""
        (begin, _), (end, _) = self._points.point(k - 1), self._points.point(k)
        return DenseStep(begin, end, self._points.step(k).copy(), self.problem.dense_form)

    @property
    def state(self) -> NDArray[np.float64]:
        """The state reached."""
        return self._work[WorkRow.Y, : self.problem.size].copy()

    @property
    def slope(self) -> NDArray[np.float64]:
        """f at the state reached."""
        return self._work[0, : self.problem.size].copy()

    @property
    def next_step_size(self) -> float:
        """The step that is tried next."""
        return float(self._run.h)

    def rewind_to(self, k: int, t_end: float) -> None:
        """Back to point k, and from there to another end, without looking for events; to point k
        itself if the end is not beyond.
        """
        run, self._breaks = self._run, deque()
        run.n_breaks = 0
        t, y = self._points.point(k)
        # behind a break that changed the state the next step begins at another state than the last
        # one ended
        self._work[WorkRow.Y] = (
            y
            if self.problem.on_discontinuity is None or k >= self.steps
            else self._points.step(k + 1)[0]
        )
        run.t, run.t_end, run.steps, run.streak, run.events = t, max(t, t_end), k, 0, 0
        if self._native.start(self._at):
            raise self._stop_error()
        run.h = t_end - t
        while not self.advance():
            pass

    def rewind_with_max_step(self, k: int, longest: float) -> None:
        """Back to point k, and on from there in steps no longer than this."""
        run = self._run
        # behind a break the step begins at another state than the last one ended
        run.t, self._work[_STATE] = self._points.point(k)[0], self._points.step(k + 1)[0]
        run.steps, run.streak, run.h_max = k, 0, longest
        if self._native.start(self._at):
            raise self._stop_error()
        run.h = longest

    def reset_max_step(self) -> None:
        """Steps may be as long as they were at first."""
        self._run.h_max = min(self.problem.max_step, self.problem.t1 - self._run.t)

    def solution(self, outcome: Outcome = Outcome.INTERRUPTED, message: str = "") -> Solution:
        """The motion so far."""
        motion = self._points.motion(self.steps + 1, self.problem.size)
        return Solution(motion, outcome, message, self._run.rejected, self._run.calls)

    def _new_run(self) -> IntegratorState:
        """The structure at the start."""
        problem = self.problem
        run = IntegratorState(
            rhs=problem.rhs, project=problem.project, accept=problem.accept, context=problem.context
        )
        run.work, run.groups = data_address(self._work), self._groups
        run.n_norm, run.norm_groups = problem.n_in_norm, -(-problem.n_in_norm // GROUP_SIZE)
        run.t, run.rtol = problem.t0, problem.rtol
        run.events, run.watch = problem.events, problem.event_data
        if problem.taylor is not None:
            self._jets = np.zeros((problem.taylor.order + 1) * self._groups * GROUP_SIZE)
            run.expand, run.order, run.jets = (
                problem.taylor.expand,
                problem.taylor.order,
                data_address(self._jets),
            )
        if problem.jacobian:
            from dalembert.runtime.ode.rosenbrock import matrices_size

            self._matrices = np.zeros(matrices_size(problem.n_in_norm, problem.size))
            run.jacobian, run.matrices = problem.jacobian, data_address(self._matrices)
        return run

    def _stop_error(self) -> RunStopped:
        return run_stopped_error(
            self._run,
            self.solution(Outcome.STOPPED),
            self._work[0, : self.problem.n_in_norm].copy(),
        )


class DenseStep(NamedTuple):
    """One step with its dense output."""

    begin: float
    end: float
    rows: NDArray[np.float64]
    form: DenseForm

    def at(self, t: float) -> NDArray[np.float64]:
        """y at a time of the step, or slightly outside."""
        theta = np.array([(t - self.begin) / (self.end - self.begin)])
        only = np.zeros(1, dtype=np.intp)
        y: NDArray[np.float64] = evaluate_dense_output(
            self.rows[np.newaxis], only, theta, powers=self.form.powers
        )[0]
        return y

    @property
    def slope_at_begin(self) -> NDArray[np.float64]:
        """dy/dθ at θ = 0."""
        r = self.rows
        slope: NDArray[np.float64] = r[1] if self.form.powers else r[1] + r[2]
        return slope


def _work_space(problem: InitialValueProblem, groups: int) -> NDArray[np.float64]:
    """The rows of the work space, zero beyond the last component, aligned for the widest loads."""
    width = groups * GROUP_SIZE
    space = np.zeros(ROWS * width + _ALIGNMENT // 8)
    offset = -data_address(space) % _ALIGNMENT // 8
    work = space[offset : offset + ROWS * width].reshape(ROWS, width)
    work[_STATE, : problem.size] = problem.start
    if type(problem.atol) is float:
        work[_NORM] = _norm_rows(width, problem.n_in_norm, problem.atol)
        return work
    n_norm, atol = problem.n_in_norm, np.asarray(problem.atol, dtype=np.float64)
    work[_NORM] = _norm_rows(width, n_norm, 1.0)
    work[WorkRow.ATOL, :n_norm] = atol[:n_norm] if atol.ndim else atol
    return work


@functools.lru_cache(maxsize=64)
def _norm_rows(width: int, n_norm: int, atol: float) -> NDArray[np.float64]:
    """The rows `Row.ATOL` and `Row.IN_NORM`."""
    rows = np.array([[1.0], [0.0]]).repeat(width, axis=1)
    rows[0, :n_norm], rows[1, :n_norm] = atol, 1.0
    return rows


def _attempts_per_slice(attempts: float, seconds: float) -> int:
    """How many steps to try in one slice, from the number and time of the last ones."""
    return max(int(attempts * SLICE_SECONDS / max(seconds, _CLOCK)), 1)
