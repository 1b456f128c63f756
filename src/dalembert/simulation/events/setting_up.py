"""From what a user asked for to a run that watches for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dalembert.ode.loop import Progress
from dalembert.ode.memory import padded
from dalembert.ode.problem import InitialValueProblem
from dalembert.simulation.energy_audit.audit import Watched
from dalembert.simulation.events.acting import Actor
from dalembert.simulation.events.event import Event
from dalembert.simulation.events.running import EventfulRun
from dalembert.simulation.events.watching import EventFunctions, Watch, event_functions, refuse_unheld
from dalembert.states.evaluator import Evaluator, label
from dalembert.states.values import Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.simulation.context import Context

    Numbers = NDArray[np.float64]


def booking(n: int, context: Context, watched: Watched | None) -> Callable[[float, Numbers, Numbers], None]:
    """What events and impacts take out of K₂ + 𝒰 is booked where it rides along."""

    def book(t: float, before: Numbers, after: Numbers) -> None:
        if watched is None or watched.audit.taken is None:
            return
        E_before, E_after = (float(watched.energies(y[:n], t).sum()) for y in (before, after))
        after[n + watched.audit.room + watched.audit.taken] += E_before - E_after
        context.energy_changed(E_after - E_before)

    return book


def eventful(
    chosen: Values,
    events: tuple[Event, ...],
    problem: InitialValueProblem,
    context: Context,
    watched: Watched | None,
    show: Progress | None,
    saltation: Callable[[Evaluator, EventFunctions, Actor], Callable[[int, float, Numbers, Numbers], None]] | None = None,
) -> EventfulRun:
    """The run with its events read, checked and compiled; what they take out of K₂ + 𝒰 is booked where it rides along."""
    evaluator = Evaluator(chosen.kin, chosen.numbers, chosen.bindings)
    functions = event_functions(evaluator, events)
    kin = evaluator.kin
    n = len(kin.state)
    names = tuple(label(kin.name(i)) for i in kin.state)
    actor = Actor(chosen, evaluator, events, functions.nodes)
    for k, e in enumerate(events):
        refuse_unheld(chosen, evaluator.tape, (functions.nodes[k], *actor.new_values(k)), f"event {e.title!r}")
    vary = None if saltation is None else saltation(evaluator, functions, actor)
    return EventfulRun(
        problem, Watch(functions, n, padded(problem.size), problem.dense_rows), actor, names, booking(n, context, watched), show, vary
    )
