"""Guards, actions and modes of a run: the hybrid automaton, of which a run is a function.
Keywords: hybrid automaton.

Events, branches of piecewise expressions and contacts are descriptions of such a value. Its guards
are the user's events, then those that end modes; what an event does to a state is an action, and
`RunModes` is what one run remembers and decides at the guards after `n_events`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.simulation.events.event import Event, EventAction
from dalembert.runtime.simulation.events.event_actions import EventActions
from dalembert.runtime.simulation.events.root_finding import Crossing, RootFinder
from dalembert.runtime.states.evaluator import label

if TYPE_CHECKING:
    from dalembert.mechanics.kinematics.system_kinematics import Kinematics
    from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
    from dalembert.runtime.ode.integration import DenseStep, Integrator
    from dalembert.runtime.simulation.events.event_loop import EventRun


@dataclass(frozen=True)
class Automaton:
    """What may interrupt a smooth motion: each guard with its direction, its action and the group
    of modes that it ends, and the names of the state.
    """

    guards: tuple[Event, ...]
    # for each guard the branch or the contact whose mode it ends, nothing for events of the user
    groups: tuple[str, ...]
    actions: EventActions
    state_names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        kin: Kinematics,
        actions: EventActions,
        events: Sequence[Event],
        switches: Sequence[tuple[str, Event]] = (),
    ) -> Automaton:
        """The user's events, then guards of modes with their groups."""
        return cls(
            (*events, *(guard for _, guard in switches)),
            (*[""] * len(events), *(group for group, _ in switches)),
            actions,
            tuple(label(kin.name(i)) for i in kin.state),
        )

    @cached_property
    def n_events(self) -> int:
        """The number of guards that are events of the user."""
        return sum(not group for group in self.groups)

    @property
    def declared(self) -> tuple[str, ...]:
        """The titles of events that a log reports."""
        return tuple(e.title for e in self.guards if e.action in _REPORTED)

    def is_recorded(self, i: int) -> bool:
        """Whether guard number i changes nothing."""
        return self.guards[i].action is EventAction.RECORD


_REPORTED = frozenset(EventAction) - {EventAction.SWITCH, EventAction.ACTIVITY}


class RunModes(Protocol):
    """The modes of one run: what is remembered of them, and what follows where one ends."""

    # whether a change of mode makes a second point of the motion at its time
    doubles_points: bool

    def start(self, run: EventRun) -> InitialValueProblem:
        """The first modes, and the problem from there."""
        ...

    def arm(self, run: EventRun, integration: Integrator, *, first: bool) -> None:
        """Look for guards from the present state on."""
        ...

    def interrupt(self, run: EventRun, integration: Integrator) -> list[Crossing] | None:
        """Guards that are known without a search in the last step; None where it is needed."""
        ...

    def crossings(self, run: EventRun, step: DenseStep, finder: RootFinder) -> Sequence[Crossing]:
        """All guards that cross zero in a step, in the order of time."""
        ...

    def rate(self, run: EventRun, c: Crossing, x: FloatArray, xdot: FloatArray) -> float:
        """dg/dt of a guard that crosses zero."""
        ...

    def change(
        self, run: EventRun, integration: Integrator, y: FloatArray, found: Sequence[Crossing]
    ) -> FloatArray:
        """The state after the modes that follow are set; y is the state after all events."""
        ...


class OneMode:
    """A run without modes: its guards are events alone."""

    doubles_points = True

    def start(self, run: EventRun) -> InitialValueProblem:
        """The problem as it is."""
        return run.problem

    def arm(self, run: EventRun, integration: Integrator, *, first: bool) -> None:
        """As all events."""
        run.arm_events(integration, first=first)

    def interrupt(self, _: EventRun, __: Integrator) -> list[Crossing] | None:
        """Nothing."""
        return None

    def crossings(self, run: EventRun, step: DenseStep, finder: RootFinder) -> Sequence[Crossing]:
        """Those of all events."""
        sides = run.watch.side_before
        return finder.crossings(step, sides, len(sides))

    def rate(self, run: EventRun, c: Crossing, x: FloatArray, xdot: FloatArray) -> float:
        """Σ ∂g/∂x ẋ"""
        return float(run.watch.functions.rates(x, xdot)[c.event])

    def change(
        self, _: EventRun, __: Integrator, y: FloatArray, ___: Sequence[Crossing]
    ) -> FloatArray:
        """The state as events have left it."""
        return np.asarray(y)
