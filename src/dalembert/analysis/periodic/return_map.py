"""x⁺ = P(x): the state after an event by the state after the one before.

    ∂P/∂x = S⁺ + f⁺ ∂t*/∂x

with S⁺ and ∂t* from the saltation matrix of the event. ∂P/∂x f = 0: a start that is shifted in
time reaches the same event. This multiplier is zero and is taken out by its vector f.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.analysis.periodic.flow import Arrival, Description, Flow
from dalembert.analysis.periodic.shooting import (
    Closing,
    Conditions,
    Linearized,
    NoPeriodicMotion,
    amplitudes,
)
from dalembert.analysis.periodic.structure import TWO_PI, Structure
from dalembert.errors import NotApplicable, Unknown
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.llvm_types import padded_size
from dalembert.runtime.simulation.events.automaton import Automaton
from dalembert.runtime.simulation.events.event import Event, EventAction, Occurrence
from dalembert.runtime.simulation.events.event_actions import EventActions
from dalembert.runtime.simulation.events.event_functions import (
    EventFunctions,
    EventMonitor,
    event_functions,
    event_node,
)
from dalembert.runtime.simulation.events.event_loop import EventRun, event_energy_recorder
from dalembert.runtime.simulation.forward_sensitivity.initial_sensitivity import (
    SensitivityParameter,
)
from dalembert.runtime.simulation.forward_sensitivity.variational_equations import (
    ForwardSensitivity,
    Saltation,
)
from dalembert.runtime.simulation.run_options import parse_events
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.tables import check_spans
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

# how long to wait for an event, in units of the guessed period
_PATIENCE: Final = 20.0
_LONGEST: Final = 1000.0
_RANK: Final = 1e-11


class Return(NamedTuple):
    """Where a motion arrives: state just after the event, time, derivatives, events."""

    x: FloatArray
    t: float
    P: FloatArray
    S: FloatArray
    # ∂t/∂(x, constants)
    moment: FloatArray
    rate: FloatArray
    occurrences: tuple[Occurrence, ...]


class EventFlow(Flow):
    """A flow that passes events with resets and impacts."""

    def __init__(
        self,
        given: Description,
        events: tuple[Event, ...],
        constants: Sequence[str] = (),
        rtol: float = 1e-12,
    ) -> None:
        super().__init__(given, constants, rtol)
        self.events = events
        self._machinery: tuple[Evaluator, EventFunctions, EventActions] | None = None

    def with_tolerance(self, rtol: float) -> EventFlow:
        """The same flow with another tolerance."""
        given = self._as_set()
        return type(self)(given, self.events, self.constants, rtol)

    def with_constants(self, constants: Sequence[str]) -> EventFlow:
        """The same flow with derivatives along other constants."""
        given = self._as_set()
        return type(self)(given, self.events, constants, self.rtol)

    def set_constant(self, name: str, value: float) -> None:
        """Change a constant, in the equations and in the events."""
        super().set_constant(name, value)
        if self._machinery is None:
            return
        evaluator, functions, _ = self._machinery
        i = self.given.system.symbols[name].scalar.i
        evaluator.numbers[i] = np.float64(value)
        if i in functions.symbols:
            functions.p[functions.symbols.index(i)] = value
        if any(isinstance(e.restitution, str | Scalar) for e in self.events):
            # a restitution is read where the impact is
            self._machinery = None

    @property
    def event_list(self) -> tuple[Event, ...]:
        """The events, a section that ends a run or pauses it as one that is recorded."""
        return tuple(
            replace(e, action=EventAction.RECORD)
            if e.action in (EventAction.STOP, EventAction.PAUSE)
            else e
            for e in self.events
        )

    @property
    def guarded_coordinates(self) -> frozenset[int]:
        """Coordinates on which events depend."""
        evaluator, functions, _ = self._read()
        inside = set(symbols_of(evaluator.tape, functions.nodes))
        return frozenset(j for j, q in enumerate(self.kin.q) if q in inside)

    def _read(self) -> tuple[Evaluator, EventFunctions, EventActions]:
        """The events read, checked and compiled, once."""
        if self._machinery is None:
            chosen = self.chosen
            evaluator = Evaluator(chosen.kin, chosen.numbers, chosen.bindings)
            nodes = [event_node(evaluator, e) for e in self.events]
            functions = event_functions(evaluator, self.events, nodes)
            self._machinery = (
                evaluator,
                functions,
                EventActions(chosen, evaluator, self.events, functions.nodes),
            )
        return self._machinery

    def run_with_events(
        self, x: FloatArray, t0: float, t1: float
    ) -> tuple[EventRun, ForwardSensitivity]:
        """The run before it begins, and the variation that goes with it."""
        problem = self.problem(np.concatenate([x, self.variations]), t0, t1, dense=True)
        values = [SensitivityParameter(f"x{k}", 1.0, None) for k in range(self.n)]
        values += [
            SensitivityParameter(c, self.value(c), i)
            for c, i in zip(self.constants, self.symbols, strict=True)
        ]
        variation = ForwardSensitivity(
            tuple(values), self.varied, self.p, np.zeros((len(values), self.n))
        )
        evaluator, functions, actor = self._read()
        vary = Saltation(variation, self.model.rates, self.p, evaluator, functions, actor)
        watch = EventMonitor(functions, self.n, padded_size(problem.size), problem.dense_form)
        book = event_energy_recorder(self.n, self.context, None)
        automaton = Automaton.of(self.kin, actor, self.events)
        return EventRun(problem, automaton, watch, book, None, vary), variation

    def __call__(self, x: FloatArray, t0: float, t1: float) -> Arrival:
        """φ through the events between t₀ and t₁, with its derivatives."""
        check_spans(self.chosen.table_inputs, t0, t1)
        run, variation = self.run_with_events(x, t0, t1)
        solution = run.integrate()
        refuse_lost(variation)
        y, n = solution.y[-1], self.n
        columns = y[n:].reshape(-1, n)
        passed = acting_names(run.occurrences)
        return Arrival(y[:n], columns[:n].T, columns[n:].T, self.rate(y[:n], t1), passed)


def acting_names(occurrences: Sequence[Occurrence]) -> tuple[str, ...]:
    """The names of the events that changed the state, sorted."""
    return tuple(sorted(o.name for o in occurrences if o.action != EventAction.RECORD.value))


def refuse_lost(variation: ForwardSensitivity) -> None:
    """Refuse a motion without a derivative: it grazes an event, or contacts change together."""
    if variation.lost:
        msg = (
            f"periodic: the motion has no derivative from t = {variation.lost[0]:.9g} on, where "
            "contacts change together, graze, or collide at the start"
        )
        raise NoPeriodicMotion(msg)
    for slope in variation.events:
        if not np.isfinite(slope.slopes).all():
            msg = (
                f"periodic: the motion grazes {slope.name!r} at t = {slope.t:.9g}: it touches "
                "without crossing, and has no derivative there"
            )
            raise NoPeriodicMotion(msg)


class ReturnMap:
    """P(x) of a flow with events, from just after the section event to just after it again."""

    def __init__(self, flow: EventFlow, section: int, returns: int, limit: float) -> None:
        self.flow, self.section, self.returns, self.limit = flow, section, returns, limit

    def __call__(self, x: FloatArray) -> Return:
        """The next state after the section event."""
        flow, n = self.flow, self.flow.n
        t0 = flow.given.t0
        run, variation = flow.run_with_events(x, t0, t0 + self.limit)
        run.stop_after = (self.section, self.returns)
        solution = run.integrate()
        if not run.is_complete():
            title = flow.events[self.section].title
            msg = (
                f"periodic: the event {title!r} did not happen within {self.limit:.6g} after the "
                "start; change the start, or check the event"
            )
            raise NoPeriodicMotion(msg)
        refuse_lost(variation)
        y, t = solution.y[-1], float(solution.t[-1])
        check_spans(flow.chosen.table_inputs, t0, t)
        columns = y[n:].reshape(-1, n).T
        moment = variation.events[-1].slopes
        rate = flow.rate(y[:n], t)
        whole = columns + np.outer(rate, moment)
        return Return(
            y[:n].copy(), t - t0, whole[:, :n], whole[:, n:], moment, rate, tuple(run.occurrences)
        )


@dataclass
class EventShooting:
    """C(P(x)) = x and T = t*(x), with the unknowns z = (x, T, λ)."""

    map: ReturnMap
    structure: Structure
    closing: Closing
    conditions: Conditions
    reference: FloatArray
    scale: FloatArray
    period_scale: float = 1.0
    extra: float = 1.0
    last: Return | None = field(default=None, repr=False)
    evaluations: int = 0
    _at: FloatArray | None = field(default=None, repr=False)
    _J: FloatArray | None = field(default=None, repr=False)

    @property
    def last_J(self) -> FloatArray:
        """∂F/∂z of the last evaluation."""
        assert self._J is not None
        return self._J

    def restore(self, z: FloatArray) -> None:
        """Evaluate at z again, if something else was evaluated since."""
        if self._at is None or not np.array_equal(self._at, z):
            self(z)

    @property
    def flow(self) -> EventFlow:
        """The flow with events."""
        return self.map.flow

    @property
    def n(self) -> int:
        """The number of states."""
        return self.flow.n

    @property
    def sizes(self) -> FloatArray:
        """What counts as one, for every unknown."""
        return np.concatenate([self.scale, [self.period_scale, self.extra]])

    def unpack(self, z: FloatArray) -> tuple[FloatArray, float, float]:
        """The state in a row, T and λ."""
        y = z * self.sizes
        return y[None, : self.n], float(y[-2]), float(y[-1])

    def pack(self, x: FloatArray, T: float, extra: float) -> FloatArray:
        """z of the state, T and λ."""
        return np.concatenate([x.ravel(), [T, extra]]) / self.sizes

    def apply(self, z: FloatArray) -> None:
        """Set the constant that λ stands for."""
        if self.conditions.free == "constant":
            self.flow.set_constant(self.conditions.constant, self.unpack(z)[2])

    def short(self, z: FloatArray) -> FloatArray:
        """(x, T, λ), which is z itself."""
        return z

    def expand(self, w: FloatArray) -> FloatArray:
        """A step is a step of all unknowns."""
        return w

    def newton_step(self, now: Linearized) -> FloatArray:
        """f + J w = 0 in the sense of least squares."""
        return np.asarray(np.linalg.lstsq(now.J, -now.f, rcond=_RANK)[0])

    def tangent(self) -> FloatArray:
        """The direction in which the equations stay satisfied, of length one."""
        return np.asarray(np.linalg.svd(self.last_J)[2][-1])

    def __call__(self, z: FloatArray) -> Linearized:
        """F and ∂F/∂z."""
        self.apply(z)
        n, c = self.n, self.conditions
        x, T, extra = self.unpack(z)
        back = self.last = self.map(x[0])
        self.evaluations += 1
        value, D = self.closing(back.x, back.t)
        rows = list(self.closing.rows)
        J = np.zeros((n, n + 2))
        J[:, :n] = D @ back.P - np.eye(n)
        if c.free == "constant":
            J[:, -1] = D @ back.S[:, 0]
        shifts = list(self.structure.shifts)
        fixed = np.zeros((len(shifts), n + 2))
        fixed[range(len(shifts)), shifts] = 1.0
        time = np.zeros((1, n + 2))
        time[0, :n], time[0, -2] = -back.moment[:n], 1.0
        if c.free == "constant":
            time[0, -1] = -back.moment[n]
        F = [
            ((value - x[0]) / self.scale)[rows],
            (x[0] - self.reference)[shifts],
            [(T - back.t) / self.period_scale],
        ]
        all_ = [(J / self.scale[:, None])[rows], fixed, time / self.period_scale]
        more_F, more_J = self._held_conditions(x[0], extra)
        f = np.concatenate([*F, more_F])
        self._at, self._J = z.copy(), np.vstack([*all_, more_J]) * self.sizes
        return Linearized(f, f, self._J)

    def _held_conditions(self, x: FloatArray, extra: float) -> tuple[FloatArray, FloatArray]:
        n, t0, c = self.n, self.flow.given.t0, self.conditions
        F, J = self.structure.constraint_rows(x, t0)
        J = np.hstack([J, np.zeros((len(J), 2))])
        if not c.free:
            F, J = np.append(F, 0.0), np.vstack([J, np.eye(n + 2)[-1]])
        energy = self.structure.energy
        target = extra if c.free == "energy" else c.energy
        if target is not None and energy is not None:
            values, slopes = self.structure.integrals(x, t0)
            row = np.zeros(n + 2)
            row[:n], row[-1] = slopes[energy], -1.0 if c.free == "energy" else 0.0
            F, J = np.append(F, values[energy] - target), np.vstack([J, row])
        return F, J

    def monodromy(self, z: FloatArray) -> FloatArray:
        """∂C(P)/∂x at z."""
        self.restore(z)
        assert self.last is not None
        return np.asarray(self.closing(self.last.x, self.last.t)[1] @ self.last.P)

    @property
    def passed_events(self) -> tuple[str, ...]:
        """The events that changed the state in the last evaluation."""
        return () if self.last is None else acting_names(self.last.occurrences)

    @property
    def end(self) -> FloatArray | None:
        """The state after the event of the last evaluation, before it is closed."""
        return None if self.last is None else self.last.x

    def with_tolerance(self, rtol: float) -> EventShooting:
        """The same equations with another tolerance of the integrator."""
        back = ReturnMap(
            self.flow.with_tolerance(rtol), self.map.section, self.map.returns, self.map.limit
        )
        return replace(self, map=back, last=None, _at=None)

    @property
    def short_sizes(self) -> FloatArray:
        """The same as `sizes`: every unknown is one of (x, T, λ)."""
        return self.sizes

    def with_free(self, free: str, constant: str = "", extra: float = 1.0) -> EventShooting:
        """The same with the energy or a constant as λ."""
        if free == "period":
            msg = (
                "continuation: the period of a motion from event to event follows from it; "
                "choose a constant"
            )
            raise NotApplicable(msg)
        flow = self.flow.with_constants((constant,) if constant else ())
        conditions = replace(self.conditions, free=free, constant=constant, energy=None)
        back = ReturnMap(flow, self.map.section, self.map.returns, self.map.limit)
        return replace(
            self,
            map=back,
            structure=self.structure.on(flow),
            conditions=conditions,
            extra=extra,
            last=None,
            _at=None,
        )

    def rescale(self, z: FloatArray) -> tuple[EventShooting, FloatArray]:
        """With this motion as reference and a scale that has grown with it."""
        x, T, extra = self.unpack(z)
        scale = np.maximum(self.scale, amplitudes(self.flow, x, T))
        new = replace(self, scale=scale, reference=x[0].copy(), _at=None)
        return new, new.pack(x, T, extra)

    def half_gap(self, z: FloatArray) -> float:
        """The distance of the state after half the returns from the initial one, scaled."""
        x = self.unpack(z)[0][0]
        half = ReturnMap(self.flow, self.map.section, self.map.returns // 2, self.map.limit)(x)
        kept = [j for j in self.closing.rows if not self.closing.turns[j]]
        return float(np.linalg.norm(((half.x - x) / self.scale)[kept]))

    def double_period(
        self, z: FloatArray, v: FloatArray, size: float
    ) -> tuple[EventShooting, FloatArray]:
        """The map applied twice, begun off the fixed point along v."""
        x, T, extra = self.unpack(z)
        back = ReturnMap(self.flow, self.map.section, 2 * self.map.returns, 2 * self.map.limit)
        closing = replace(self.closing, turns=2 * self.closing.turns)
        new = replace(
            self, map=back, closing=closing, period_scale=2 * self.period_scale, last=None, _at=None
        )
        return new, new.pack(x[0] + size * v, 2 * T, extra)


def section_index(events: tuple[Event, ...], section: str | None) -> int:
    """The place of the section event; with one event its name may be left out."""
    titles = [e.title for e in events]
    if section is None:
        if len(events) == 1:
            return 0
        msg = (
            "periodic: several events; name the one that ends a period, section= one of "
            f"{', '.join(map(repr, titles))}"
        )
        raise Unknown(msg)
    if section not in titles:
        msg = (
            f"periodic: section={section!r} is no event; the events are "
            f"{', '.join(map(repr, titles))}"
        )
        raise Unknown(msg)
    return titles.index(section)


def acting_events(events: Sequence[Any], section: int | None = None) -> tuple[Event, ...]:
    """The events as they were given; at a section that changes nothing the run pauses too."""
    read = list(parse_events(events))
    if section is not None and read[section].action in (EventAction.RECORD, EventAction.STOP):
        read[section] = replace(read[section], action=EventAction.PAUSE)
    return tuple(read)


def flow_with_events(given: Description, events: tuple[Event, ...], rtol: float) -> EventFlow:
    """The flow through events, and through the modes of contacts if there are any."""
    if not given.system.contacts:
        return EventFlow(given, events, (), rtol)
    from dalembert.analysis.periodic.contact_flow import ContactFlow

    return ContactFlow(given, events, (), rtol)


def event_shooting(
    given: Description,
    events: Sequence[Any],
    section: str | None,
    returns: int,
    period: float | str | None,
    shift: Sequence[str] | None,
    rtol: float,
) -> tuple[EventShooting, FloatArray]:
    """The equations of a motion that repeats after an event, and where to begin."""
    index = section_index(parse_events(events), section)
    flow = flow_with_events(given, acting_events(events, index), rtol)
    if not flow.autonomous:
        msg = (
            "periodic: a forced system repeats with its drive: leave section= out; impacts "
            "within a period are allowed"
        )
        raise NotApplicable(msg)
    limit = _LONGEST if period is None else _PATIENCE * float(period)
    back = ReturnMap(flow, index, returns, limit)
    structure = Structure(flow, shift)
    first = back(flow.x0)
    turns = np.zeros(flow.n)
    for j in structure.angles:
        if j in structure.shifts:
            continue
        turns[j] = np.round((first.x[j] - flow.x0[j]) / TWO_PI)
    rows = tuple(j for j in range(flow.n) if j not in structure.shifts)
    closing = Closing(rows, turns, np.ones(flow.n))
    largest = amplitudes(flow, np.array([flow.x0, first.x]), first.t)
    scale = np.maximum(largest, 0.1 * min(float(largest.max()), 1.0))
    shooting = EventShooting(
        back, structure, closing, Conditions(), flow.x0, scale, period_scale=first.t
    )
    return shooting, shooting.pack(flow.x0, first.t, 0.0)
