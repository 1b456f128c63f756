"""g(t*) = 0 with ġ(t*) = 0: a motion that touches an event without crossing it.

The time of such an event has no derivative, so that the motion has no multipliers. In the numbers
of a run ġ is never exactly zero. Grazing is therefore judged by a depth: by how much g is below or
above zero where it turns round. Of a crossing with the rates ġ and g̈ this depth is ġ²/(2 |g̈|).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.analysis.periodic.return_map import EventFlow, EventShooting
from dalembert.analysis.periodic.shooting import NoPeriodicMotion, Shooting
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.ode.failures import RunStopped
from dalembert.runtime.simulation.events.event import EventAction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dalembert.runtime.ode.solution import Solution
    from dalembert.runtime.simulation.events.event_functions import EventFunctions

# depths relative to the range of g: below this the run cannot distinguish touching from crossing
GRAZING: Final = 1e-8
# a depth at which the failure of Newton's method is explained by grazing
NEAR: Final = 1e-2
_SAMPLES: Final = 8
_BISECTIONS: Final = 50
# the part of a period over which ġ is differenced
_DIFFERENCE: Final = 1e-6


class Touch(NamedTuple):
    """Event `name` turns round at time t, `depth` away from zero relative to its range."""

    name: str
    t: float
    depth: float

    def __str__(self) -> str:
        return f"the motion grazes {self.name!r} at t = {self.t:.9g}"


class _Guards:
    """g and ġ of the events that act, along a motion."""

    def __init__(self, flow: EventFlow, functions: EventFunctions, solution: Solution) -> None:
        self.flow, self.functions, self.solution = flow, functions, solution

    def at(self, t: float) -> FloatArray:
        """The state on the dense output."""
        return np.asarray(self.solution.at(t)[: self.flow.n])

    def value(self, x: FloatArray, t: float) -> FloatArray:
        """g of every event."""
        return np.array(self.functions.values.call(np.append(x, t), self.functions.p))

    def rate(self, x: FloatArray, t: float) -> FloatArray:
        """ġ of every event."""
        xdot = np.append(self.flow.rate(x, t), 1.0)
        return np.asarray(self.functions.rates(np.append(x, t), xdot))

    def turning_time(self, i: int, a: float, b: float) -> float:
        """Where ġ changes its sign between a and b."""
        rate = self.rate(self.at(a), a)[i]
        for _ in range(_BISECTIONS):
            middle = (a + b) / 2
            same = self.rate(self.at(middle), middle)[i] * rate > 0.0
            a, b = (middle, b) if same else (a, middle)
        return (a + b) / 2

    def crossing_depth(self, i: int, x: FloatArray, t: float, h: float) -> float:
        """ġ²/(2 |g̈|) at a crossing."""
        f = self.flow.rate(x, t)
        first, later = self.rate(x, t)[i], self.rate(x + h * f, t + h)[i]
        second = abs(later - first) / h
        return float(first**2 / (2 * second)) if second else np.inf


def touches(
    flow: EventFlow,
    x: FloatArray,
    period: float,
    limit: float,
    stop: tuple[int, int] | None = None,
) -> list[Touch]:
    """Where events that act come near to zero and turn round, the nearest first.

    The run begins at x and takes the time `limit`, or ends after the event `stop`.
    """
    t0 = flow.given.t0
    run, _ = flow.run_with_events(x, t0, t0 + limit)
    run.stop_after = stop
    guards = _Guards(flow, run.watch.functions, run.integrate())
    times, values, rates = _sample(guards)
    size = np.abs(values).max(axis=(0, 1))
    acting = [
        i for i, e in enumerate(flow.events) if e.action is not EventAction.RECORD and size[i] > 0.0
    ]
    result = [
        Touch(flow.events[i].title, t, depth / float(size[i]))
        for i in acting
        for t, depth in (*_turns(guards, i, times, rates), *_crossings(guards, i, period))
    ]
    return sorted(result, key=lambda touch: touch.depth)


def _sample(guards: _Guards) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times, g and ġ at equal parts of every step that takes time."""
    t = guards.solution.t
    steps = [(a, b) for a, b in pairwise(t.tolist()) if b > a]
    times = np.array([np.linspace(a, b, _SAMPLES + 1)[:-1] for a, b in steps])
    # just before the end of a step: at its end a state may be changed already
    ends = np.array([b - 1e-9 * (b - a) for a, b in steps])
    times = np.column_stack([times, ends])
    states = [[guards.at(s) for s in row] for row in times]
    values, rates = (
        np.array(
            [
                [of(x, s) for x, s in zip(xs, ts, strict=True)]
                for xs, ts in zip(states, times, strict=True)
            ]
        )
        for of in (guards.value, guards.rate)
    )
    return times, values, rates


def _turns(
    guards: _Guards, i: int, times: FloatArray, rates: FloatArray
) -> Iterator[tuple[float, float]]:
    """Times at which g turns round, and |g| there."""
    turns = rates[:, :-1, i] * rates[:, 1:, i] <= 0.0
    for step, k in zip(*np.nonzero(turns), strict=True):
        t = guards.turning_time(i, float(times[step, k]), float(times[step, k + 1]))
        yield t, abs(float(guards.value(guards.at(t), t)[i]))


def _crossings(guards: _Guards, i: int, period: float) -> Iterator[tuple[float, float]]:
    """Times at which the event happens, and how deep g would go beyond."""
    title = guards.functions.events[i].title
    for o in guards.solution.occurrences:
        if o.name == title:
            x = np.array(list(o.before.values()))
            yield o.t, guards.crossing_depth(i, x, o.t, _DIFFERENCE * period)


def nearest_touch(shooting: Shooting | EventShooting, z: FloatArray) -> Touch | None:
    """The touch with the least depth along a motion with events, if it has one."""
    flow = shooting.flow
    # where contacts only touch a guard, the run itself has no derivative
    if not isinstance(flow, EventFlow) or flow.given.system.contacts:
        return None
    shooting.apply(z)
    x, T, _ = shooting.unpack(z)
    if isinstance(shooting, EventShooting):
        back = shooting.map
        result = touches(flow, x[0], T, back.limit, (back.section, back.returns))
    else:
        result = touches(flow, x[0], T, T)
    return result[0] if result else None


def explain_failure(shooting: Shooting | EventShooting, z: FloatArray) -> str:
    """A clause that names grazing where a motion near z nearly touches an event; else nothing."""
    try:
        touch = nearest_touch(shooting, z)
    except RunStopped:
        return ""
    if touch is None or touch.depth > NEAR:
        return ""
    return (
        f"; {touch} (to {touch.depth:.1g} of its range), where a motion has no derivative: "
        "periodic motions may end there"
    )


def refuse_grazing(shooting: Shooting | EventShooting, z: FloatArray) -> None:
    """Name the event that a periodic motion grazes: it has no multipliers."""
    touch = nearest_touch(shooting, z)
    if touch is not None and touch.depth <= GRAZING:
        x, T, _ = shooting.unpack(z)
        msg = (
            f"periodic: {touch}: it touches without crossing (to {touch.depth:.1g} of its range), "
            "and has no derivative and no multipliers there; change a constant or the event"
        )
        state = dict(zip(shooting.flow.names, x[0].tolist(), strict=True))
        raise NoPeriodicMotion(msg, 0.0, state, T)
