"""What a run with contacts looks at in its steps: the user's events, then the monitors of the
modes, as native code; when a mode ends.

It ends at the first time at which a monitor falls below zero on the dense output.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.contact.contact_model import ContactModel, ModeFunction
from dalembert.runtime.numerics.llvm_types import GROUP_SIZE, ctypes_structure, padded_size
from dalembert.runtime.numerics.python_binding import data_address
from dalembert.runtime.ode.guard_search import GUARD_FIELDS, N_COARSE_STATES, N_SAMPLE_POINTS
from dalembert.runtime.simulation.events.event import Event, EventAction
from dalembert.runtime.simulation.events.event_functions import (
    EventFunctions,
    EventMonitor,
    event_functions,
    event_node,
)
from dalembert.runtime.simulation.events.root_finding import search_library
from dalembert.runtime.states.run_values import parameter_vector
from dalembert.symbolic.algebra.expression_graph import copy_expressions

if TYPE_CHECKING:
    from dalembert.runtime.simulation.context import Context

    Parameters = list[tuple[FloatArray, tuple[int, ...]]]

# samples of an interval in which a monitor may dip below zero and come back
_CLOSE: Final = 64
_STEP: Final = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_double)
_SAMPLES: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *_STEP, ctypes.c_void_p, ctypes.c_int64)
_FALL: Final = ctypes.CFUNCTYPE(
    ctypes.c_double, *_STEP, ctypes.c_int64, ctypes.c_double, ctypes.c_double
)


def contact_guards(
    model: ContactModel, events: tuple[Event, ...], width: int, context: Context
) -> tuple[GuardMonitor, Parameters]:
    """The watch of a run, and the parameters of its functions with their symbols."""
    of_forces = bool(context.n_forces) and not events
    compiled, own = model.compiled, _guard_events(model)
    free = tuple(e for e, m in zip(own, model.guards, strict=True) if m.free is not None)
    if events:
        everything = _with_events(model, events, own, monitor_nodes(model))
        cheap = _with_events(model, events, free, monitor_nodes(model, free=True))
    else:
        everything, cheap = (
            _guards_only(model, own, compiled.guards_of_forces if of_forces else compiled.guards),
            _guards_only(model, free, compiled.free),
        )
    found = [(functions.p, symbols) for functions, symbols in (everything, cheap)]
    forces = context if of_forces else None
    return GuardMonitor(everything[0], cheap[0], len(model.values.kin.state), width, forces), found


def _guards_only(
    model: ContactModel, own: tuple[Event, ...], watched: ModeFunction
) -> tuple[EventFunctions, tuple[int, ...]]:
    values, symbols = watched
    return EventFunctions(
        own, (), values, values, np.array(parameter_vector(model.values, symbols), dtype=float)
    ), symbols


def _guard_events(model: ContactModel) -> tuple[Event, ...]:
    return tuple(
        Event(f"{m.kind} of {model.contacts[m.contact].name}, {k}", "down", EventAction.SWITCH)
        for k, m in enumerate(model.guards)
    )


def _with_events(
    model: ContactModel, events: tuple[Event, ...], own: tuple[Event, ...], monitors: list[int]
) -> tuple[EventFunctions, tuple[int, ...]]:
    evaluator = model.values.evaluator
    asked = event_functions(evaluator, events, [event_node(evaluator, e) for e in events])
    nodes = [*asked.nodes, *monitors]
    values, symbols = ModeFunction.of(evaluator.tape, nodes, (*evaluator.kin.state, evaluator.time))
    p = np.array([evaluator.numbers[i] for i in symbols], dtype=float)
    return EventsAndGuards((*events, *own), asked.nodes, values, asked.slopes, p, asked), symbols


def monitor_nodes(model: ContactModel, *, free: bool = False) -> list[int]:
    """The monitors on the tape of the evaluator, or those without forces."""
    evaluator, e = model.values.evaluator, model.equations
    nodes = [m.free if free else m.node for m in model.guards]
    return [
        evaluator.in_state(i)
        for i in copy_expressions(e.tape, evaluator.tape, [i for i in nodes if i is not None])
    ]


@dataclass(frozen=True)
class EventsAndGuards(EventFunctions):
    """Events of a user, whose slopes are known, before monitors, whose slopes are not."""

    asked: EventFunctions | None = None

    def gradients(self, x: FloatArray) -> FloatArray:
        """∂g/∂x, zero for monitors."""
        assert self.asked is not None
        found = np.zeros((len(self.events), len(x)))
        found[: len(self.asked.events)] = self.asked.gradients(x)
        return found


_Watches: Final = ctypes_structure(GUARD_FIELDS)


class GuardMonitor(EventMonitor):
    """Monitors of modes: those without forces are evaluated in every step, the others where a force
    may end the mode, and less often.
    """

    def __init__(
        self,
        functions: EventFunctions,
        free: EventFunctions,
        n_state: int,
        width: int,
        forces: Context | None,
    ) -> None:
        super().__init__(functions, n_state, width, guards=True, forces=forces)
        self._cheap = EventMonitor(free, n_state, width, guards=True)
        self._table = np.zeros((N_SAMPLE_POINTS, max(len(f.events) for f in (functions, free))))
        self._states = np.zeros(N_COARSE_STATES * (padded_size(n_state) + GROUP_SIZE))
        others = sum(e.action is not EventAction.SWITCH for e in free.events)
        places = {
            "cheap": self._cheap.address,
            "all": self.address,
            "table": data_address(self._table),
            "states": data_address(self._states),
        }
        self._watches = _Watches(costly=1, others=others, may_be_rough=1, **places)
        self.search_address, self.looked_with = (
            search_library().address("look_for_falls"),
            ctypes.addressof(self._watches),
        )

    @property
    def cheap_address(self) -> int:
        """The memory of the monitors without forces."""
        return self._cheap.address

    @property
    def prologues(self) -> tuple[tuple[int, int, int], ...]:
        """As for a watch."""
        return (*super().prologues, *self._cheap.prologues)

    def monitor_forces(self, they_may: bool) -> None:
        """Whether a force of the mode may vanish or leave its cone."""
        self._watches.costly = int(they_may)

    def pop_undersampled(self) -> bool:
        """Whether a monitor turns more often than the samples of the step resolve; the call resets
        the flag.
        """
        found, self._watches.rough = bool(self._watches.rough), 0
        return found

    def detect_undersampling(self, they: bool) -> None:
        """Whether to say so."""
        self._watches.may_be_rough = int(they)

    def arm(self, x: FloatArray, xdot: FloatArray) -> None:
        """As for a watch."""
        super().arm(x, xdot)
        self._cheap.arm(x, xdot)

    @property
    def side_before(self) -> FloatArray:
        """As for a watch."""
        return self._cheap.side_before

    def parameters_changed(self) -> None:
        """As for a watch."""
        super().parameters_changed()
        self._cheap.parameters_changed()

    def reset_guards(self, first: int, y: FloatArray, t: float) -> None:
        """As for a watch."""
        super().reset_guards(first, y, t)
        self._cheap.reset_guards(first, y, t)
