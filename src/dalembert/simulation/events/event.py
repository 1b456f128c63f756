"""g(q, u, t) = 0: what a user asks to be told of, to end a run, to change a state, or to be hit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal

from dalembert.algebra.scalar import Scalar, is_program
from dalembert.errors import Unknown
from dalembert.nearest_name import options_by_name
from dalembert.notebook import Shown
from dalembert.ode.failures import BadRun

Direction = Literal["any", "up", "down"]
SIGNS: Final[dict[str, float]] = {"any": 0.0, "up": 1.0, "down": -1.0}


class BadEvent(BadRun):
    """An event that cannot be watched or acted upon."""


class EventAction(Enum):
    """What is done when an event happens."""

    RECORD = "recorded"
    STOP = "ends the run"
    RESET = "reset"
    IMPACT = "impact"
    # the end of a mode of contact, watched by the run itself
    SWITCH = "mode"


@dataclass(frozen=True)
class Event(Shown):
    """expression = 0, crossed in a direction, and what is done then; made by `da.event` and `da.impact`."""

    expression: Scalar | str
    direction: Direction = "any"
    action: EventAction = EventAction.RECORD
    changes: Mapping[Any, Any] = field(default_factory=dict)
    restitution: Any = None
    name: str = ""

    @property
    def title(self) -> str:
        """The name, or the expression as it was written."""
        return self.name or str(self.expression)


@options_by_name
def event(
    expression: Scalar | str,
    *,
    direction: Direction = "any",
    stop: bool = False,
    reset: Mapping[Any, Any] | None = None,
    name: str = "",
) -> Event:
    """An event for da.simulate(…, events=[…]): the moment when an expression of the state crosses zero.

    direction   "up", "down" or "any"
    stop        end the run there
    reset       new values of coordinates or speeds as expressions of the state before, {"u1": "-0.5*u1"}

    Without stop and reset it is recorded in run.events and the motion goes on. An expression that is zero when the run
    begins does not count as crossing zero there.
    """
    if not isinstance(direction, str) or direction not in SIGNS:
        msg = f"event: direction = {direction!r} is unknown: choose 'up', 'down' or 'any'"
        raise Unknown(msg)
    if not isinstance(name, str) or not isinstance(stop, bool) or not isinstance(reset, Mapping | None):
        msg = f"event: stop={stop!r}, reset={reset!r}, name={name!r}; stop is True or False, reset a dict {{name: value}}, name a string"
        raise BadEvent(msg)
    if stop and reset:
        msg = "event: a run that ends cannot be reset as well; give stop=True or reset={…}"
        raise BadEvent(msg)
    if reset is not None and not reset:
        msg = "event: reset={} changes nothing; name a coordinate or a speed and its new value"
        raise BadEvent(msg)
    action = EventAction.STOP if stop else EventAction.RESET if reset else EventAction.RECORD
    return Event(expression, direction, action, dict(reset or {}), None, name)


@options_by_name
def impact(gap: Scalar | str, restitution: Any, *, name: str = "") -> Event:
    """φ̇⁺ = −ε φ̇⁻ where φ(q, t) ≥ 0 closes: an impact for da.simulate(…, events=[…]).

    gap           φ, the distance that cannot become negative; it may contain the time, for obstacles that move
    restitution   ε, a number from 0 to 1 or an expression of the constants

    The impulse acts along φ; constraints of the system take part with impulses of their own.
    """
    if isinstance(restitution, int | float) and (restitution < 0 or restitution > 1):
        msg = f"impact: restitution = {restitution}; it lies between 0 (no rebound) and 1 (nothing lost)"
        raise BadEvent(msg)
    if not isinstance(name, str):
        msg = f"impact: name={name!r}; give a string"
        raise BadEvent(msg)
    return Event(gap, "down", EventAction.IMPACT, {}, restitution, name)


def read_events(given: object) -> tuple[Event, ...]:
    """What was given for `events`: a list of events, in which an expression by itself is recorded."""
    if isinstance(given, str | Scalar | Event) or not isinstance(given, Iterable):
        msg = "events: give a list, such as events=[da.event('theta - 1', stop=True)]"
        raise BadEvent(msg)
    found = []
    for e in given:
        if not isinstance(e, str | Scalar | Event):
            shown = "a Python function" if is_program(e) else repr(e)
            msg = f"events: {shown} is no event; make one with da.event(expression) or da.impact(gap, restitution)"
            raise BadEvent(msg)
        found.append(e if isinstance(e, Event) else Event(e))
    titles = [e.title for e in found]
    twice = next((t for t in titles if titles.count(t) > 1), None)
    if twice is not None:
        msg = f"events: two are called {twice!r}; give each a name of its own, name='…'"
        raise BadEvent(msg)
    return tuple(found)
