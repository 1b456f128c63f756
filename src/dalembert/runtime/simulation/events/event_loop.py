"""A run from event to event: the integrator pauses at a step in which an event may have happened,
and continues from there.

An event is located on the dense output and then made exact: the step is taken again up to that
time, and the time corrected by Newton's method until the state itself is on the event. Where a
state is changed the run has two points at one time, before
and after.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.llvm_types import padded_size
from dalembert.runtime.ode.failure_diagnosis import StallDetector
from dalembert.runtime.ode.failures import Cause, RunStopped
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS, InitialValueProblem
from dalembert.runtime.ode.integration import DenseStep, Integrator, Progress
from dalembert.runtime.ode.keyboard_interrupt import Interruption, defer_keyboard_interrupt
from dalembert.runtime.ode.solution import ChunkedArray, Outcome, Solution, StoredTrajectory
from dalembert.runtime.simulation.energy_audit import BoundAudit
from dalembert.runtime.simulation.events.automaton import Automaton, OneMode, RunModes
from dalembert.runtime.simulation.events.event import (
    Event,
    EventAction,
    EventLog,
    Occurrence,
)
from dalembert.runtime.simulation.events.event_actions import EventActions
from dalembert.runtime.simulation.events.event_functions import (
    EventFunctions,
    EventMonitor,
    event_functions,
    event_node,
)
from dalembert.runtime.simulation.events.root_finding import Crossing, RootFinder
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.run_values import RunValues

if TYPE_CHECKING:
    from dalembert.runtime.simulation.context import Context


_POLISHES: Final = 4
# a part of a step by which the time of an event may be corrected unchecked
_SMALL_MOVE: Final = 1e-6
# two events closer than this part of a step, or by fewer than this number of last bits of the time,
# happen at once
_AT_ONCE: Final = 1e-12
_LAST_BITS: Final = 64
# this number of intervals in a row, each shorter than the one before, down to this part of the run,
# accumulate
_SHRINKING: Final = 8
_SHORT: Final = 1e-7
# largest number of events, and how many in a row may come at ten times that pace
_MOST: Final = 100_000
_TOO_OFTEN: Final = 50


class EndlessEvents(RunStopped):
    """Events that happen ever more often, or again and again at one time."""

    has_event_history = True


@dataclass
class EventRun:
    """A run of an automaton: from guard to guard, with the actions of events and changes of mode.

    `record_energy` is called at every change of the state, (t, y before, y after), and may alter
    the quadratures. `vary` is called at every event, (number, t, y before, y after), where
    sensitivities are carried along. `stop_after` (number of an event, count) ends the run just
    after the event has acted that often.
    """

    problem: InitialValueProblem
    automaton: Automaton
    watch: EventMonitor
    record_energy: Callable[[float, FloatArray, FloatArray], None]
    on_progress: Progress | None = None
    vary: Callable[[int, float, FloatArray, FloatArray], None] | None = None
    modes: RunModes = field(default_factory=OneMode)
    stop_after: tuple[int, int] | None = None
    occurrences: EventLog = field(default_factory=EventLog)
    now: Integrator | None = None
    _acted: Counter[int] = field(default_factory=Counter)
    _acts: list[float] = field(default_factory=list)

    def integrate(self) -> Solution:
        """The motion from t₀ to t₁, or to the event that ends it; after Ctrl-C the motion so
        far, marked as interrupted.
        """
        self.problem = self.modes.start(self)
        try:
            with defer_keyboard_interrupt() as interruption:
                return self._from_event_to_event(interruption)
        except RunStopped as failure:
            if not failure.has_event_history:
                failure.solution = self.with_log(
                    failure.solution, Outcome.STOPPED, failure.solution.message
                )
            raise

    def _from_event_to_event(self, interruption: Interruption) -> Solution:
        problem = replace(
            self.problem, events=self.watch.search_address, event_data=self.watch.looked_with
        )
        integration = self.now = Integrator(problem)
        self.modes.arm(self, integration, first=True)
        while True:
            found, interrupted = self._to_event(integration, interruption)
            if interrupted:
                return self.whole(
                    integration, Outcome.INTERRUPTED, f"interrupted at t = {integration.t:.17g}"
                )
            if not found:
                return self.whole(
                    integration, Outcome.FINISHED, f"finished at t = {integration.t:.17g}"
                )
            after, ended = self._act(integration, found)
            self._acted.update(c.event for c in found)
            ended = ended or self._ended_by_count()
            if ended or integration.t >= problem.t1:
                return self._last(integration, after, ended)
            self._check_endless(integration, found)
            if self.modes.doubles_points or not np.array_equal(after, integration.state):
                integration.set_state(after)
            integration.resume_after_jump()
            self.modes.arm(self, integration, first=False)

    def is_complete(self) -> bool:
        """Whether the event of `stop_after` has acted as often as requested."""
        return self.stop_after is not None and self._acted[self.stop_after[0]] >= self.stop_after[1]

    def _ended_by_count(self) -> str:
        """The title of the event of `stop_after` once it is complete."""
        if self.stop_after is None or not self.is_complete():
            return ""
        return self.automaton.guards[self.stop_after[0]].title

    # ---- from event to event -----------------------------------------------------------------

    def arm_events(self, integration: Integrator, *, first: bool) -> None:
        """Look for zeros from the present state on."""
        x = np.append(integration.state[: self.n], integration.t)
        xdot = np.append(integration.slope[: self.n], 1.0)
        if first:
            self.watch.check(x)
        self.watch.arm(x, xdot)

    @property
    def n(self) -> int:
        """The length of the state (q, u)."""
        return self.watch.n_state

    def _to_event(
        self, integration: Integrator, interruption: Interruption
    ) -> tuple[list[Crossing], bool]:
        """Those that act, all at one time, with the integration there; none at the end; and
        whether Ctrl-C was pressed.
        """
        watch = StallDetector(integration)
        while True:
            finished = integration.advance()
            if integration.at_event and (found := self._look(integration)):
                return found, interruption.should_stop()
            if finished or integration.is_finished:
                return [], False
            if interruption.should_stop():
                return [], True
            watch.check_progress(integration)
            if self.on_progress is not None:
                self.on_progress(integration.t, integration.steps)

    def _look(self, integration: Integrator) -> list[Crossing]:
        """What happened in the last step, up to the first that acts: those before it are
        recorded, it is moved to.
        """
        known = self.modes.interrupt(self, integration)
        if known is not None:
            return known
        k, is_recorded = integration.steps, self.automaton.is_recorded
        step = integration.step(k)
        found = self.modes.crossings(self, integration.padded_step(k), self._finder)
        acting = [c for c in found if not is_recorded(c.event)]
        until = acting[0].t if acting else step.end
        # what happens at the same time belongs to it
        near = until + _AT_ONCE * (step.end - step.begin) + _LAST_BITS * math.ulp(until)
        for c in found:
            if c.t <= near and is_recorded(c.event):
                whole = step.at(c.t)
                self._vary(c.event, c.t, whole, whole)
                y = whole[: self.n]
                self._record(c.event, c.t, y, y)
        if not acting:
            return []
        self._move_to(integration, k - 1, acting[0], step)
        if 0.0 < self.problem.t1 - integration.t <= _LAST_BITS * math.ulp(self.problem.t1):
            # beyond it there is no room for a step: it happens at the end
            integration.rewind_to(k - 1, self.problem.t1)
        return [c for c in acting if c.t <= near]

    @cached_property
    def _finder(self) -> RootFinder:
        return RootFinder(self.watch)

    def _move_to(self, integration: Integrator, k: int, c: Crossing, step: DenseStep) -> None:
        """From point k to the event: t* ← t* − g/ġ, the step taken again each time.

        Close to a grazing event ġ is rounding: a move that is not small and does not lessen |g| is
        taken back.
        """
        begin, end = step.begin, step.end
        t, t_before, least = c.t, c.t, math.inf
        # a step of a few bits cannot be taken
        shortest = begin + _LAST_BITS * math.ulp(begin)
        for _ in range(_POLISHES):
            integration.rewind_to(k, t if t > shortest else begin)
            if t <= shortest:
                return
            y = integration.state[: self.n]
            g = float(self.watch.values_at(y, t)[c.event])
            if g == 0.0 or not abs(g) < least:
                if abs(t - t_before) > _SMALL_MOVE * (end - begin) and abs(g) > least:
                    integration.rewind_to(k, t_before)
                return
            xdot = np.append(integration.slope[: self.n], 1.0)
            rate = self.modes.rate(self, c, np.append(y, t), xdot)
            new = t - g / rate if rate else t
            if not shortest < new <= end or new == t:
                return
            t, t_before, least = new, t, abs(g)

    def _act(self, integration: Integrator, found: Sequence[Crossing]) -> tuple[FloatArray, str]:
        """The state afterwards, with the quadratures, and the event that ends the run, if one
        does.
        """
        t, y = integration.t, integration.state
        for c in self._of_events(found):
            before, e = y[: self.n].copy(), self.automaton.guards[c.event]
            if e.action is EventAction.STOP:
                self._record(c.event, t, before, before)
                self._vary(c.event, t, y, y)
                return y, e.title
            changed = self.automaton.actions.apply(c.event, before, t)
            after = y.copy()
            after[: self.n] = changed.y
            self.record_energy(t, y, after)
            self._vary(c.event, t, y, after)
            self._record(c.event, t, before, changed.y, changed.impulse)
            y = after
        return self.modes.change(self, integration, y, found), ""

    def _of_events(self, found: Sequence[Crossing]) -> list[Crossing]:
        """Those of the user's events."""
        return [c for c in found if c.event < self.automaton.n_events]

    def _vary(self, i: int, t: float, before: FloatArray, after: FloatArray) -> None:
        if self.vary is not None:
            self.vary(i, t, before, after)

    def _record(
        self, i: int, t: float, before: FloatArray, after: FloatArray, impulse: float | None = None
    ) -> None:
        e = self.automaton.guards[i]
        if e.action is EventAction.ACTIVITY:
            # the contact itself reports what it does
            return
        energy = self.automaton.actions.energy
        change = 0.0 if before is after else energy(after, t) - energy(before, t)
        names = self.automaton.state_names
        was, is_now = (dict(zip(names, y.tolist(), strict=True)) for y in (before, after))
        self.occurrences.append(
            Occurrence(t, e.title, e.action.value, was, is_now, change, impulse)
        )
        if len(self.occurrences) > _MOST:
            often = Counter(o.name for o in self.occurrences).most_common(1)[0][0]
            assert self.now is not None
            raise self._endless(self.now, Cause.TOO_MANY_EVENTS, event=often, count=_MOST, t=t)

    # ---- without end -------------------------------------------------------------------------

    def _check_endless(self, integration: Integrator, found: Sequence[Crossing]) -> None:
        """Stop where events accumulate: ever shorter intervals, or none at all."""
        events = self._of_events(found)
        if not events:
            return
        self._acts.append(integration.t)
        title = self.automaton.guards[events[-1].event].title
        recent = np.diff(self._acts[-_SHRINKING - 1 :])
        if len(recent) < _SHRINKING:
            return
        t, count, length = (
            integration.t,
            sum(o.name == title for o in self.occurrences),
            self.problem.t1 - self.problem.t0,
        )
        lately = np.diff(self._acts[-_TOO_OFTEN - 1 :])
        if (recent <= _LAST_BITS * math.ulp(t)).all() or (
            len(lately) == _TOO_OFTEN and (lately * _MOST <= 0.1 * length).all()
        ):
            raise self._endless(integration, Cause.REPEATED_EVENTS, event=title, count=count, t=t)
        if recent[-1] <= _SHORT * length and (recent[1:] < recent[:-1]).all():
            last, ratio = float(recent[-1]), float(recent[-1] / recent[-2])
            facts = {
                "event": title,
                "count": count,
                "t": t,
                "interval": last,
                "limit": t + last * ratio / (1.0 - ratio),
            }
            raise self._endless(integration, Cause.ACCUMULATING_EVENTS, **facts)

    def _endless(self, integration: Integrator, cause: Cause, **facts: Any) -> EndlessEvents:
        failure = EndlessEvents(cause, self.whole(integration, Outcome.STOPPED, ""), **facts)
        failure.solution = replace(failure.solution, message=str(failure))
        return failure

    # ---- one motion --------------------------------------------------------------------------

    def _last(self, integration: Integrator, after: FloatArray, ended_by: str) -> Solution:
        """The motion up to an event that is the end; what it changed is one more point."""
        how = f"ended by {ended_by!r}" if ended_by else "finished"
        message = f"{how} at t = {integration.t:.17g}"
        if not np.array_equal(after, integration.state):
            integration.set_state(after)
        return replace(self.whole(integration, Outcome.FINISHED, message), ended_by=ended_by)

    def whole(self, integration: Integrator, outcome: Outcome, message: str) -> Solution:
        """The motion so far with what happened in it."""
        return self.with_log(integration.solution(), outcome, message)

    def with_log(self, motion: Solution, outcome: Outcome, message: str) -> Solution:
        """The motion with what happened in it."""
        declared = self.automaton.declared
        happened = {o.name for o in self.occurrences} if declared else set()
        return replace(
            motion,
            outcome=outcome,
            message=message,
            occurrences=self.occurrences,
            untriggered_events=tuple(title for title in declared if title not in happened),
        )


def one_point(t: float, y: FloatArray) -> Solution:
    """A motion of one point."""
    motion = StoredTrajectory(
        ChunkedArray([np.array([t])]),
        ChunkedArray([y[np.newaxis]]),
        ChunkedArray([np.zeros((0, DENSE_ROWS, len(y)))]),
    )
    return Solution(motion, Outcome.FINISHED, "", 0, 0)


def event_energy_recorder(
    n: int, context: Context, watched: BoundAudit | None
) -> Callable[[float, FloatArray, FloatArray], None]:
    """What events and impacts take out of K₂ + 𝒰 is booked in the audit, if there is one."""

    def book(t: float, before: FloatArray, after: FloatArray) -> None:
        if watched is None or watched.audit.event_loss is None or np.array_equal(before, after):
            return
        E_before, E_after = (float(watched.energies(y[:n], t).sum()) for y in (before, after))
        after[n + watched.audit.n_sensitivity_states + watched.audit.event_loss] += (
            E_before - E_after
        )
        context.shift_energy_reference(E_after - E_before)

    return book


def event_run(
    chosen: RunValues,
    events: tuple[Event, ...],
    problem: InitialValueProblem,
    context: Context,
    watched: BoundAudit | None,
    show: Progress | None,
    saltation: Callable[
        [Evaluator, EventFunctions, EventActions],
        Callable[[int, float, FloatArray, FloatArray], None],
    ]
    | None = None,
) -> EventRun:
    """The run with its events read, checked and compiled; what they take out of K₂ + 𝒰 is booked in
    the audit, if there is one.
    """
    evaluator = Evaluator(chosen.kin, chosen.numbers, chosen.bindings)
    functions = event_functions(evaluator, events, [event_node(evaluator, e) for e in events])
    n = len(evaluator.kin.state)
    actor = EventActions(chosen, evaluator, events, functions.nodes)
    return EventRun(
        problem,
        Automaton.of(evaluator.kin, actor, events),
        EventMonitor(functions, n, padded_size(problem.size), problem.dense_form),
        event_energy_recorder(n, context, watched),
        show,
        None if saltation is None else saltation(evaluator, functions, actor),
    )
