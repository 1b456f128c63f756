"""What a run with contacts looks at in its steps: the user's events, then the monitors of the modes, as native code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dalembert.algebra.folds import symbols_of, transplant
from dalembert.friction.contact_model import ContactModel
from dalembert.friction.mode_end import ModeWatch
from dalembert.numerics.compiled import CompiledFunction
from dalembert.simulation.events.event import Event, EventAction
from dalembert.simulation.events.watching import EventFunctions, event_functions
from dalembert.states.values import parameters_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Parameters = list[tuple[Numbers, tuple[int, ...]]]


def monitoring(model: ContactModel, events: tuple[Event, ...], width: int) -> tuple[ModeWatch, Parameters]:
    """The watch of a run, and the parameters of its functions with their symbols."""
    compiled, own = model.compiled, _own_events(model)
    free = tuple(e for e, m in zip(own, model.monitors, strict=True) if m.free is not None)
    if events:
        everything = _with_events(model, events, own, monitor_nodes(model))
        cheap = _with_events(model, events, free, monitor_nodes(model, free=True))
    else:
        everything = _alone(model, own, compiled.watched, compiled.watched_parameters)
        cheap = _alone(model, free, compiled.free, compiled.free_parameters)
    found = [(functions.p, symbols) for functions, symbols in (everything, cheap)]
    return ModeWatch(everything[0], cheap[0], len(model.values.kin.state), width), found


def _alone(
    model: ContactModel, own: tuple[Event, ...], values: CompiledFunction, symbols: tuple[int, ...]
) -> tuple[EventFunctions, tuple[int, ...]]:
    return EventFunctions(own, (), values, values, np.array(parameters_of(model.values, symbols), dtype=float)), symbols


def _own_events(model: ContactModel) -> tuple[Event, ...]:
    return tuple(
        Event(f"{m.what} of {model.contacts[m.contact].name}, {k}", "down", EventAction.SWITCH) for k, m in enumerate(model.monitors)
    )


def _with_events(
    model: ContactModel, events: tuple[Event, ...], own: tuple[Event, ...], monitors: list[int]
) -> tuple[EventFunctions, tuple[int, ...]]:
    evaluator = model.values.evaluator
    asked = event_functions(evaluator, events)
    nodes = [*asked.nodes, *monitors]
    state = (*evaluator.kin.state, evaluator.time)
    symbols = tuple(i for i in symbols_of(evaluator.tape, nodes) if i not in state)
    p = np.array([evaluator.numbers[i] for i in symbols], dtype=float)
    values = CompiledFunction(evaluator.tape, nodes, state, symbols)
    return WithMonitors((*events, *own), asked.nodes, values, asked.slopes, p, asked), symbols


def monitor_nodes(model: ContactModel, *, free: bool = False) -> list[int]:
    """The monitors on the tape of the evaluator, or those without forces."""
    evaluator, e = model.values.evaluator, model.equations
    nodes = [m.free if free else m.node for m in model.monitors]
    return [evaluator.reduced(i) for i in transplant(e.tape, evaluator.tape, [i for i in nodes if i is not None])]


@dataclass(frozen=True)
class WithMonitors(EventFunctions):
    """Events of a user, whose slopes are known, before monitors, whose slopes are not."""

    asked: EventFunctions | None = None

    def gradients(self, x: Numbers) -> Numbers:
        """∂g/∂x, zero for monitors."""
        assert self.asked is not None
        found = np.zeros((len(self.events), len(x)))
        found[: len(self.asked.events)] = self.asked.gradients(x)
        return found
