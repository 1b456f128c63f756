"""g(q, u, t) = 0 in a page: the native search for events, their functions, and those that say
what a reset or an impact does to a state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dalembert.interface.page.simulator.integrator_module import (
    ModuleSection,
    expression_function,
    field_types,
)
from dalembert.runtime.ode.event_detection import EVENT_FIELDS
from dalembert.runtime.ode.guard_search import MOST_CROSSINGS, N_EVENT_POINTS, module_ir
from dalembert.runtime.simulation.events.event import SIGNS, Event, EventAction
from dalembert.runtime.simulation.events.event_actions import Impact, reset_values
from dalembert.runtime.simulation.events.event_functions import event_node
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.symbolic.algebra.expression_graph import gradient
from dalembert.symbolic.algebra.scalar import Scalar

_PREFIX: Final = "events"
_EXPORTS: Final = ("look", "crossings")


def event_functions(evaluator: Evaluator, events: Sequence[Event]) -> ModuleSection:
    """`crossings` and `slopes` of all events, and `acts`: new values, or φ̇, ε and the entries
    of 𝓜, A and J.
    """
    kin, tape = evaluator.kin, evaluator.tape
    state = (*kin.state, evaluator.time)
    nodes = [event_node(evaluator, e) for e in events]
    slopes = [i for node in nodes for i in gradient(tape, {node: tape.one}, state)]
    acts: list[int] = []
    described = [
        _event_data(evaluator, e, node, acts) for e, node in zip(events, nodes, strict=True)
    ]
    parts = tuple(
        expression_function(name, tape, outs, state)
        for name, outs in (("crossings", nodes), ("slopes", slopes), ("acts", acts))
    )
    data = {
        "list": described,
        "fields": field_types(EVENT_FIELDS),
        **{name: f"{_PREFIX}.{name}" for name in _EXPORTS},
        "points": N_EVENT_POINTS,
        "most": MOST_CROSSINGS,
    }
    return ModuleSection(
        parts, data, ((_PREFIX, module_ir()),), tuple(f"{_PREFIX}.{name}" for name in _EXPORTS)
    )


def _event_data(evaluator: Evaluator, e: Event, node: int, acts: list[int]) -> dict[str, Any]:
    """One event, and where in `acts` its numbers begin; these are added there."""
    data: dict[str, Any] = {
        "title": e.title,
        "action": e.action.name,
        "how": e.action.value,
        "sign": SIGNS[e.direction],
        "at": len(acts),
    }
    if e.action is EventAction.RESET:
        places, values = reset_values(evaluator, e)
        acts += values
        return data | {"places": places}
    if e.action is EventAction.IMPACT:
        impact = Impact(evaluator, e, node)
        name, restitution = _restitution(evaluator, e, impact)
        acts += [impact.rate, restitution, *impact.nodes]
        entries = [list(each) for each in zip(*impact.places, strict=True)]
        return data | {
            "shape": list(impact.shape),
            "entries": entries,
            "restitution": name,
            "value": impact.restitution,
        }
    return data


def _restitution(evaluator: Evaluator, e: Event, impact: Impact) -> tuple[str, int]:
    """ε, as a constant of its own that may be changed where it was given as a number; its name
    is empty where it was not.
    """
    if isinstance(e.restitution, str | Scalar):
        return "", impact.restitution_node
    i = evaluator.tape.private_symbol(f"restitution of {e.title}")
    evaluator.numbers[i] = np.float64(e.restitution)
    return str(evaluator.tape.nodes[i][1]), i
