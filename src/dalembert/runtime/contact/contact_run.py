"""A run from mode to mode: the integrator pauses where a contact opens, lands, sticks or lets
go, and continues in the mode that follows.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.runtime.contact.activity import ActiveContacts
from dalembert.runtime.contact.contact_equations import Guard
from dalembert.runtime.contact.contact_model import ContactModel, contact_model
from dalembert.runtime.contact.contact_sensitivity import ContactSaltation
from dalembert.runtime.contact.guards import (
    EventsAndGuards,
    GuardMonitor,
    contact_guards,
    monitor_nodes,
)
from dalembert.runtime.contact.mode_enumeration import ContactMode
from dalembert.runtime.contact.mode_transition import ModeTransition, NoFeasibleMode
from dalembert.runtime.contact.native_transition import NativeTransition, has_native_transition
from dalembert.runtime.contact.transition_records import (
    TEXTS,
    ModeChange,
    NativeRecords,
    codes_of,
    modes_of,
    occurrences_of,
)
from dalembert.runtime.numerics.llvm_types import padded_size
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.numerics.symbol_values import BadValue
from dalembert.runtime.ode.failures import Cause, RunStopped
from dalembert.runtime.ode.integration import Integrator
from dalembert.runtime.ode.solution import Outcome, Solution
from dalembert.runtime.simulation.context import Context
from dalembert.runtime.simulation.energy_audit import BoundAudit
from dalembert.runtime.simulation.events.automaton import Automaton
from dalembert.runtime.simulation.events.event import Event, EventAction, ModeHistory
from dalembert.runtime.simulation.events.event_actions import EventActions
from dalembert.runtime.simulation.events.event_functions import check_no_callbacks
from dalembert.runtime.simulation.events.event_loop import (
    EventRun,
    event_energy_recorder,
    one_point,
)
from dalembert.runtime.simulation.events.root_finding import Crossing, RootFinder
from dalembert.runtime.simulation.forward_sensitivity.variational_equations import (
    ForwardSensitivity,
    Saltation,
)
from dalembert.runtime.simulation.run_options import AUTO, NATIVE

if TYPE_CHECKING:
    from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
    from dalembert.runtime.ode.integration import DenseStep, Progress
    from dalembert.runtime.simulation.model import NativeModel
    from dalembert.runtime.simulation.run_options import RunOptions
    from dalembert.runtime.simulation.simulate import SwitchedRun
    from dalembert.runtime.states.run_values import RunValues


# a part of a step over which a slope is taken
_BESIDE: Final = 1e-5
# what a monitor may fall short of zero after it has come back to the same time: first, and at most
_SLACK: Final = 1e-13
_MOST_SLACK: Final = 1e-6
_AT_ONCE: Final = 1e-12
# a mode may shorten its steps so often to a quarter, and so often at one place
_SHORTENED: Final = 60
_AT_ONE_PLACE: Final = 7
# this many changes in so small a part of a run are too many, and this many in all
_MANY: Final = 500
_SOON: Final = 1e-8
# ten times as many are too many in a larger part
_MANY_MORE: Final = 5000
_LATER: Final = 1e-4
_MOST: Final = 100_000
# contacts with this part of the changes take part in them
_TAKES_PART: Final = 0.05
# last bits of the time by which an event may be displaced
_ROUNDINGS: Final = 8.0


class ContactStopped(RunStopped):
    """A run that stopped in a contact: no motion or several satisfy the contact laws, or modes
    change without end.
    """

    has_event_history = True


def contact_run(equations: ExplicitEquations) -> Callable[[RunValues, RunOptions], SwitchedRun]:
    """The functions that `simulation` needs for a system with contacts."""

    def begun(chosen: RunValues, options: RunOptions) -> SwitchedRun:
        _check_inputs(chosen, options)
        needs = _needs_expressions(options)
        model = contact_model(chosen, equations, as_expressions=bool(needs))
        if needs and model.equations.loops is not None:
            _refuse_many_rows(len(model.equations.rows), needs)
        return ContactSwitchedRun(model, options.events)

    return begun


def _check_inputs(chosen: RunValues, options: RunOptions) -> None:
    """The forces of contacts are found, not given."""
    own = {str(x.name) for c in chosen.kin.system.contacts for x in c.forces}
    for key in (x for k in options.inputs for x in (k if isinstance(k, tuple) else (k,))):
        if (name := key if isinstance(key, str) else str(getattr(key, "name", ""))) in own:
            msg = (
                f"inputs: {name} is the force of a contact, which the run solves for; leave it "
                "out, or "
                f"give a force of your own with s.force"
            )
            raise BadValue(msg)


def _needs_expressions(options: RunOptions) -> list[str]:
    """The options of a run that need the forces as expressions."""
    needs = {
        "events": bool(options.events),
        "sensitivities": bool(options.sensitivities),
        f"integrator={options.integrator!r}": options.integrator not in (NATIVE, AUTO),
    }
    return [name for name, is_needed in needs.items() if is_needed]


def _refuse_many_rows(rows: int, needs: Sequence[str]) -> None:
    """Forces that loops solve for are no expressions."""
    msg = (
        f"{' and '.join(needs)}: not available with contacts of {rows} rows that interact; "
        f"leave this out, or describe fewer contacts"
    )
    raise NotApplicable(msg)


class ContactSwitchedRun:
    """The contacts of one run: λ bound in its values, rates for all modes, and what happened."""

    def __init__(self, model: ContactModel, events: tuple[Event, ...]) -> None:
        self.model, self.activity = model, ActiveContacts(model, events)
        self.events = self.activity.events
        self.values: RunValues = model.values
        self.native: NativeModel = model.compiled.native
        self.history = ModeHistory(model.mode_symbols, tuple(c.name for c in model.contacts))
        # friction alone changes no velocity at once
        self.jumps = any(
            c.gap is not None or c.two_sided or c.active is not None for c in model.contacts
        )
        # what may be used again, and what is
        self._run: EventRun | None = None
        self.previous: EventRun | None = None

    def integrate(
        self,
        problem: InitialValueProblem,
        p: FloatArray,
        context: Context,
        watched: BoundAudit | None,
        show: Progress | None,
        variation: ForwardSensitivity | None = None,
    ) -> Solution:
        """The motion from mode to mode."""
        return self.prepare(problem, p, context, watched, show, variation).integrate()

    def prepare(
        self,
        problem: InitialValueProblem,
        p: FloatArray,
        context: Context,
        watched: BoundAudit | None = None,
        show: Progress | None = None,
        variation: ForwardSensitivity | None = None,
    ) -> EventRun:
        """The run before its first step."""
        if self.previous is not None:
            return self._run_again(self.previous, problem, show)
        kin = self.values.kin
        watch, settings = contact_guards(
            self.model, self.events, padded_size(problem.size), context
        )
        actor = EventActions(self.values, self.values.evaluator, self.events, watch.functions.nodes)
        self._refuse_unheld()
        settings.append((p, self.native.parameters))
        if watched is not None:
            settings.append((watched.p, watched.audit.parameters))
        modes = ContactModes(
            watch,
            _mode_transition(self.model, _restitution(self.model), problem),
            self.history,
            settings=[(q, self._places_of_flags(symbols)) for q, symbols in settings],
            context=context,
            native_parameters=p,
            activity=self.activity,
        )
        guards = [g for g in watch.functions.events if g.action is EventAction.SWITCH]
        groups = (self.model.contacts[g.contact].name for g in self.model.guards)
        run = EventRun(
            problem,
            Automaton.of(kin, actor, self.events, list(zip(groups, guards, strict=True))),
            watch,
            event_energy_recorder(len(kin.state), context, watched),
            show,
            modes=modes,
        )
        if variation is not None:
            self._add_saltation(run, modes, variation, p, actor)
        elif not self.events and self._is_native(problem):
            modes.native = NativeTransition(modes.switcher, watch, context, watched, modes.settings)
            quantities = self.model.compiled.quantities
            modes.parameters = [*settings, (self.model.p, quantities.parameters)]
            self._run = run
        return run

    def _places_of_flags(self, symbols: Sequence[int]) -> list[tuple[int, int]]:
        """The number of each flag with its place among the symbols of an array of parameters."""
        flags = self.history.symbols
        return [(k, symbols.index(i)) for k, i in enumerate(flags) if i in symbols]

    def _is_native(self, problem: InitialValueProblem) -> bool:
        """Whether native code decides the changes of mode."""
        unbroken = problem.on_discontinuity is None and problem.taylor is None
        return unbroken and has_native_transition(self.model.contacts)

    def _add_saltation(
        self,
        run: EventRun,
        modes: ContactModes,
        variation: ForwardSensitivity,
        p: FloatArray,
        actor: EventActions,
    ) -> None:
        """How sensitivities change with modes and at events."""
        modes.saltation = ContactSaltation(variation, self.model, p, self.history, modes.switcher)
        asked = run.watch.functions
        if isinstance(asked, EventsAndGuards) and asked.asked is not None:
            run.vary = Saltation(
                variation, self.native.rates, p, self.values.evaluator, asked.asked, actor
            )

    def batch(self) -> ContactBatch | None:
        """Runs from other initial states by native code alone; None where it needs Python."""
        return None if self._run is None else ContactBatch(self._run)

    def repeat(self) -> ContactSwitchedRun | None:
        """The same contacts for another run with the same values, in the memory of this one; None
        where it cannot be used again.
        """
        if self._run is None:
            return None
        again = copy.copy(self)
        again.history = ModeHistory(self.history.symbols, self.history.names)
        again.previous = self._run
        return again

    def _run_again(
        self, before: EventRun, problem: InitialValueProblem, show: Progress | None
    ) -> EventRun:
        """A run from other initial conditions, with what `before` has compiled and allocated."""
        modes = contact_modes(before)
        again = ContactModes(
            modes.watch,
            _mode_transition(self.model, modes.switcher.restitution, problem),
            self.history,
            settings=modes.settings,
            context=modes.context,
            native_parameters=modes.native_parameters,
            activity=modes.activity,
            native=modes.native,
        )
        return EventRun(
            problem, before.automaton, before.watch, before.record_energy, show, modes=again
        )

    def _refuse_unheld(self) -> None:
        """The ends of modes are detected between evaluations."""
        if not any(each.is_continuous for each in self.values.callback_inputs):
            return
        tape = self.values.evaluator.tape
        for monitor, node in zip(self.model.guards, monitor_nodes(self.model), strict=True):
            check_no_callbacks(
                self.values,
                tape,
                (node,),
                f"the {monitor.kind} of {self.model.contacts[monitor.contact].name}",
            )


def _mode_transition(
    model: ContactModel, restitution: FloatArray, problem: InitialValueProblem
) -> ModeTransition:
    return ModeTransition(
        model,
        restitution,
        problem.t1 - problem.t0,
        tolerance=float(np.min(problem.atol)),
        rtol=float(np.max(problem.rtol)),
    )


def _restitution_values(model: ContactModel, values: Mapping[int, float]) -> FloatArray:
    """e of all contacts, with other values of some constants."""
    evaluator = model.values.evaluator
    nodes = [evaluator.in_state(evaluator.node(c.restitution)) for c in model.contacts]
    return evaluator.values_at(nodes, values)


def _restitution(model: ContactModel) -> FloatArray:
    restitutions = _restitution_values(model, {})
    for c, e in zip(model.contacts, restitutions.tolist(), strict=True):
        if not 0.0 <= e <= 1.0:
            msg = (
                f"{c.name!r}: restitution = {e:g} for the values of this run: it must lie "
                f"between 0 (no rebound) and 1 (nothing lost)"
            )
            raise BadValue(msg)
    return restitutions


def contact_modes(run: EventRun) -> ContactModes:
    """The modes of a run with contacts."""
    assert isinstance(run.modes, ContactModes)
    return run.modes


@dataclass
class ContactModes:
    """The modes of the contacts of one run: those that follow are found by the switcher, and set in
    the parameters of all native code.
    """

    watch: GuardMonitor
    switcher: ModeTransition
    history: ModeHistory
    # arrays of parameters, and (number of a flag, its place) in them
    settings: list[tuple[FloatArray, list[tuple[int, int]]]] = field(kw_only=True)
    context: Context = field(kw_only=True)
    native_parameters: FloatArray = field(kw_only=True)
    activity: ActiveContacts = field(kw_only=True)
    saltation: ContactSaltation | None = None
    # arrays of parameters with their symbols
    parameters: list[tuple[FloatArray, Sequence[int]]] = field(default_factory=list)
    # changes of mode in native code, where it knows all contacts
    native: NativeTransition | None = None
    first_modes: list[ContactMode] = field(default_factory=list)
    _slack: dict[int, float] = field(default_factory=dict)
    _latest: float = -np.inf
    # the modes before the latest change
    _earlier: list[ContactMode] = field(default_factory=list)
    # where steps of this mode were made shorter, so that no turn of a monitor is missed
    _shortened: list[float] = field(default_factory=list)
    doubles_points = True

    def start(self, run: EventRun) -> InitialValueProblem:
        """The first modes, and the state after impacts at the start."""
        self._run, self._n, self._first = run, run.n, run.automaton.n_events
        problem = run.problem
        t, y = problem.t0, np.array(problem.y0, dtype=np.float64)
        self.switcher.plane.rates = self._mode_rates
        if self.native is not None:
            self.native.read_records = self.read_records
        self._monitors: list[Guard] = self.switcher.model.guards
        # contacts whose normal force is solved for during the simulation
        self._held = [c.N is not None or c.row is not None for c in self.switcher.model.contacts]
        self._names = [c.name for c in self.switcher.model.contacts]
        self._slope: float | None = None
        try:
            before = y[: self._n]
            active = self.activity.start(t, before, self._mode_rates(t, before))
            after, changes = self.switcher.initialize(t, before, active)
        except NoFeasibleMode as failure:
            self._apply(t)
            motion = run.with_log(one_point(t, y), Outcome.STOPPED, "")
            raise _failure(failure.cause, motion, place="the start", **failure.facts) from None
        self._note_change(t, before, after, [c for c in changes if c.action == "impact"])
        new = y.copy()
        if after is not before:
            new[: self._n] = after
            run.record_energy(t, y, new)
            if self.saltation is not None:
                self.saltation.drop(t, changes[0].contact, new, "it collides at the start")
        self._apply(t)
        self.first_modes = list(self.switcher.modes)
        if self.saltation is not None and after is before:
            self.saltation.check_start(t, new, self.switcher.modes)
        self._change_inputs = problem.on_discontinuity
        crossing = None if self._change_inputs is None else self._cross_discontinuity
        return replace(problem, y0=new, on_discontinuity=crossing)

    def _cross_discontinuity(self, t: float, y: FloatArray) -> None:
        """Inputs change, and guards with them: these start again from the state behind."""
        assert self._change_inputs is not None
        self._change_inputs(t, y)
        self.watch.reset_guards(self._first, y[: self._n], t)

    def _mode_rates(self, t: float, y: FloatArray) -> FloatArray:
        """ẏ in the present mode."""
        x = np.empty(self._n + 1)
        x[:-1], x[-1] = y[: self._n], t
        native = self.switcher.model.compiled.native
        return np.asarray(native.rates.call(x, self.native_parameters)[: self._n])

    # ---- modes -------------------------------------------------------------------------------

    def _apply(self, t: float) -> None:
        """The modes of the switcher from time t on, in all native code."""
        flags = self.switcher.flags(self._slack)
        self.history.add(t, flags, [m.text for m in self.switcher.modes])
        for p, places in self.settings:
            for k, i in places:
                p[i] = flags[k]
        self.context.refresh_parameters()
        self.watch.parameters_changed()
        self.watch.monitor_forces(
            any(
                m.sticks or (m.closed and held)
                for m, held in zip(self.switcher.modes, self._held, strict=True)
            )
        )
        self._shortened.clear()
        if self.native is not None:
            self.native.set_modes(self.switcher.modes, self._earlier, self._latest)
            if self.switcher.impact is not None:
                self.native.note_impact(t)
        # the direction of slip in a plane turns fast as it begins; the motion itself resolves it
        self.watch.detect_undersampling(not self.switcher.plane.slips)

    def arm(self, run: EventRun, integration: Integrator, *, first: bool) -> None:
        """From the present modes on."""
        if first and self.native is not None:
            self.native.join(integration)
        if self._first:
            run.arm_events(integration, first=first)
        self.watch.reset_guards(self._first, integration.state[: self._n], integration.t)

    def interrupt(self, run: EventRun, integration: Integrator) -> list[Crossing] | None:
        """Guards at which native code stands; none where a step must be shorter."""
        if self.native is not None and self.native.standing is not None:
            return self.native.standing
        if self.watch.pop_undersampled():
            k = integration.steps
            step = integration.step(k)
            self._shortened.append(step.begin)
            if (
                len(self._shortened) < _SHORTENED
                and self._shortened[-_AT_ONE_PLACE:] != [step.begin] * _AT_ONE_PLACE
            ):
                # a drive may turn faster than the motion, and steps know the motion alone
                integration.rewind_with_max_step(k - 1, (step.end - step.begin) / 4.0)
                self.arm(run, integration, first=False)
                return []
            # what stays rough in ever shorter steps bends, or is rounding
            integration.reset_max_step()
            self.watch.detect_undersampling(len(self._shortened) < _SHORTENED)
        return None

    def crossings(self, _: EventRun, step: DenseStep, finder: RootFinder) -> list[Crossing]:
        """Of the user's events, and guards that fall below zero."""
        self._step, self._slope = step, None
        events = finder.crossings(step, self.watch.side_before, self._first) if self._first else ()
        own = [c for c in events if self.activity.changes_something(c.event)]
        return sorted([*own, *finder.falls(step, self._first)])

    def rate(self, _: EventRun, c: Crossing, x: FloatArray, xdot: FloatArray) -> float:
        """By its slopes for an event, by a difference on the dense output for a guard."""
        if c.event < self._first:
            return float(self.watch.functions.rates(x, xdot)[c.event])
        if self._slope is None:
            length = self._step.end - self._step.begin
            h, g = (
                _BESIDE * length,
                self.watch.sampled(data_address(self._step.rows), self._step.begin, length),
            )
            before, after = (float(g(t)[c.event]) for t in (c.t - h, c.t + h))
            self._slope = (after - before) / (2.0 * h)
        return self._slope

    def change(
        self, _: EventRun, integration: Integrator, y: FloatArray, found: Sequence[Crossing]
    ) -> FloatArray:
        """The state after impacts, in the modes that follow."""
        integration.pass_discontinuity()
        t, before = integration.t, y[: self._n].copy()
        fired = [self._monitors[c.event - self._first] for c in found if c.event >= self._first]
        old = list(self.switcher.modes)
        events = [c.event for c in found if c.event < self._first]
        try:
            new, changes = self._switch(t, before, fired, events)
        except NoFeasibleMode as problem:
            raise self._halted(
                integration, problem.cause, place=f"t = {t:.9g}", **problem.facts
            ) from None
        after = y
        if new is not before:
            after = y.copy()
            after[: self._n] = new
            self._run.record_energy(t, y, after)
        at_once = t - self._latest <= _AT_ONCE * self.switcher.duration
        if new is before and at_once and self.switcher.modes in (old, self._earlier):
            self._give_slack(integration, fired)
        elif new is before or not at_once:
            self._slack.clear()
        self._latest, self._earlier = t, old
        self._check_progress(integration)
        self._note_change(t, before, new, changes)
        numbers = [c.event - self._first for c in found]
        ending = None if self.saltation is None else self.saltation.guard_time(t, y, numbers)
        self._apply(t)
        if self.saltation is not None and ending is not None:
            after = y.copy() if after is y else after
            name = changes[0].contact if changes else ""
            self.saltation.apply(t, name, ending, after, self.switcher.impact)
        return self._on_constraints(t, after, integration)

    def _switch(
        self, t: float, y: FloatArray, fired: Sequence[Guard], events: Sequence[int]
    ) -> tuple[FloatArray, list[ModeChange]]:
        """The state after impacts and the changes, with contacts that events add and drop."""
        jammed = [m.contact for m in fired if m.kind == "jam"]
        if jammed:
            names = " and ".join(repr(self._names[k]) for k in jammed)
            raise NoFeasibleMode(Cause.JAMMED_CONTACT, contacts=names)
        if events:
            self.switcher.set_active(t, y, self.activity.change(events, t, y))
        return self.switcher.switch(t, y, fired, reset=bool(events))

    def _on_constraints(self, t: float, y: FloatArray, integration: Integrator) -> FloatArray:
        """y on the constraints of the new mode, if the rounding of t alone separates it from them.

        A contact sticks at a time rounded to ulp(t), with a speed that is wrong by |u̇| ulp(t).
        The projection of the next step takes this out; here its energy is recorded as well.
        """
        new = self.context.projected(t, y)
        n = self._n
        size = float(np.abs(y[:n]).max(initial=0.0))
        rate = float(np.abs(integration.slope[:n]).max(initial=0.0))
        allowed = _ROUNDINGS * (rate * math.ulp(t) + math.ulp(size))
        if not 0.0 < float(np.abs(new[:n] - y[:n]).max(initial=0.0)) <= allowed:
            return y
        # what the projection itself has recorded stays behind: the whole change is recorded here
        after = y.copy()
        after[:n] = new[:n]
        self._run.record_energy(t, y, after)
        return after

    def _check_progress(self, integration: Integrator) -> None:
        """Modes that change again and again in no time lead nowhere."""
        t, times = integration.t, self.history.times
        counts = ((_MANY, _SOON), (_MANY_MORE, _LATER), (_MOST, 1.0))
        count = next(
            (
                count
                for count, part in counts
                if len(times) > count and t - times[-count] <= part * self.switcher.duration
            ),
            0,
        )
        if not count:
            return
        recent = Counter(e.name for e in self._run.occurrences[-count:])
        names = [x for x in self._names if recent[x] >= _TAKES_PART * count] or self._names[:1]
        since = f": {count} times since {times[-count]:.9g}"
        raise self._endless_changes(integration, names, since)

    def _endless_changes(
        self, integration: Integrator, names: Sequence[str], since: str = ""
    ) -> ContactStopped:
        change = "change their modes" if len(names) > 1 else "changes its mode"
        contacts = " and ".join(map(repr, names))
        facts = {"contacts": contacts, "change": change, "since": since}
        return self._halted(integration, Cause.MODE_CHANGES, t=integration.t, **facts)

    def _give_slack(self, integration: Integrator, fired: Sequence[Guard]) -> None:
        """A monitor that is zero but for rounding and comes back to the same time may fall a
        little short of zero.
        """
        for m in fired:
            slack = max(100.0 * self._slack.get(m.contact, 0.0), _SLACK)
            if slack > _MOST_SLACK:
                name = self.switcher.model.contacts[m.contact].name
                raise self._endless_changes(integration, [name])
            self._slack[m.contact] = slack

    def read_records(self) -> None:
        """What native code has done since the last visit; its words are made when they are read."""
        assert self.native is not None
        assert self._run.now is not None
        names = self._run.automaton.state_names
        switcher, log = self.switcher, self.native.read_log()
        first = codes_of(switcher.modes)
        self._run.occurrences.defer(NativeRecords(log, first, self._names, names).read)
        if len(self._names) > 1:
            switcher.note_impacts(log)
        pauses = np.diff(log.t, prepend=self._latest)
        if not ((log.hit != 0) & (pauses <= _AT_ONCE * switcher.duration)).all():
            self._slack.clear()
        # slack, which impacts at the same time leave, is that after the last
        slack = np.zeros(log.modes.shape)
        for k, x in self._slack.items():
            slack[:, k] = x
        flags = self.native.flags(log.modes, slack)
        self.history.extend(log.t, flags, TEXTS, log.modes)
        self._latest = float(log.t[-1])
        self._earlier = modes_of(log.modes[-2].tolist() if len(log.t) > 1 else first)
        switcher.take_over(modes_of(log.modes[-1].tolist()), self._latest)
        self._shortened.clear()
        self._check_progress(self._run.now)

    def _note_change(
        self, t: float, before: FloatArray, after: FloatArray, changes: Sequence[ModeChange]
    ) -> None:
        """A change that was decided here."""
        if after is before:
            self._note(t, before.tolist(), None, changes, 0.0)
            return
        hit = self.switcher.impact
        energy_at = self._run.automaton.actions.energy
        energy = (
            energy_at(after, t) - energy_at(before, t) if hit is None or hit.limit else hit.energy
        )
        self._note(t, before.tolist(), after.tolist(), changes, energy)

    def _note(
        self,
        t: float,
        before: list[float],
        after: list[float] | None,
        changes: Sequence[ModeChange],
        energy: float,
    ) -> None:
        names = self._run.automaton.state_names
        for occurrence in occurrences_of(names, t, (before, after), changes, energy):
            self._run.occurrences.append(occurrence)

    # ---- where it ends -----------------------------------------------------------------------

    def _halted(self, integration: Integrator, cause: Cause, **facts: Any) -> ContactStopped:
        return _failure(cause, self._run.whole(integration, Outcome.STOPPED, ""), **facts)


class ContactBatch:
    """A run with contacts, from many initial states one after the other in one memory."""

    def __init__(self, run: EventRun) -> None:
        modes = contact_modes(run)
        assert modes.native is not None
        self._run, self._native, watch = modes, modes.native, run.watch
        self._varies = not run.problem.discontinuities
        self._integration = Integrator(
            replace(run.problem, events=watch.search_address, event_data=watch.looked_with)
        )

    def begin(self) -> None:
        """Take the memory of the contacts, which other runs may have used since."""
        self._native.join(self._integration)

    def set_constants(self, values: Mapping[int, float]) -> bool:
        """Other constants for the runs that follow, by their symbols; whether that is possible."""
        for p, symbols in self._run.parameters:
            for k, i in enumerate(symbols):
                if i in values:
                    p[k] = values[i]
        self._native.restitution[:] = _restitution_values(self._run.switcher.model, values)
        self._run.context.refresh_parameters()
        self._run.watch.parameters_changed()
        self._native.refresh_parameters()
        return self._varies

    def are_admissible(self, y: FloatArray) -> bool:
        """Whether coefficients of friction and restitution are possible in the state y."""
        model, e = self._run.switcher.model, self._native.restitution
        try:
            model.check_coefficients(model.quantities(y, self._integration.problem.t0))
        except BadValue:
            return False
        return bool(((e >= 0.0) & (e <= 1.0)).all())

    def run(self, y: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Times and states from the state y on; None where native code alone does not reach the
        end.
        """
        start = np.zeros(self._integration.problem.size)
        start[: len(y)] = y
        try:
            self._integration.restart(replace(self._integration.problem, y0=start))
        except RunStopped:
            return None
        if not self._native.run_alone(self._integration):
            return None
        return self._integration.copy_points()


def _failure(cause: Cause, motion: Solution, **facts: Any) -> ContactStopped:
    failure = ContactStopped(cause, motion, **facts)
    failure.solution = replace(motion, message=str(failure))
    return failure
