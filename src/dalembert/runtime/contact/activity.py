"""Which contacts and constraints of a run are there: active= and the events that add and drop them.

An expression that is positive while a contact is there becomes an event of the run itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.contact_model import ContactModel
from dalembert.runtime.simulation.events.event import Event, EventAction
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.scalar import Scalar


class ActiveContacts:
    """Of every contact whether it is there, and the events that change it: the user's, then those
    of expressions.
    """

    def __init__(self, model: ContactModel, events: Sequence[Event]) -> None:
        self._model = model
        self.names = [c.name for c in model.contacts]
        # {contact: number of the event of its expression}
        self._own: dict[int, int] = {}
        own: list[Event] = []
        for k, c in enumerate(model.contacts):
            if isinstance(c.active, Scalar):
                self._own[k] = len(events) + len(own)
                name = f"activity of {c.name}"
                own.append(Event(c.active, action=EventAction.ACTIVITY, name=name))
        self.events = (*events, *own)
        self.now = [c.active is not False for c in model.contacts]

    def start(self, t: float, y: FloatArray, rates: FloatArray) -> list[bool]:
        """What is there at the start; an expression that is zero counts by its rate."""
        self._read(t, y, (), rates)
        return self.now

    def changes_something(self, i: int) -> bool:
        """False for an event that only adds what is there already, and drops what is not."""
        e = self.events[i]
        if e.action is not EventAction.SUPPORT:
            return True
        named = zip(self.names, self.now, strict=True)
        return any(
            (_is_named(name, e.add) and not here) or (_is_named(name, e.drop) and here)
            for name, here in named
        )

    def change(self, fired: Sequence[int], t: float, y: FloatArray) -> list[bool]:
        """What is there after events of these numbers; y is the state after their resets."""
        for i in fired:
            e = self.events[i]
            for k, name in enumerate(self.names):
                if _is_named(name, (*e.add, *e.drop)):
                    self.now[k] = _is_named(name, e.add)
        self._read(t, y, fired)
        return self.now

    def _read(
        self, t: float, y: FloatArray, fired: Sequence[int], rates: FloatArray | None = None
    ) -> None:
        """Expressions by their sign, those that have just crossed zero by having done so."""
        evaluator = self._model.values.evaluator
        state = {**dict(zip(evaluator.kin.state, y.tolist(), strict=True)), evaluator.time: t}
        for k, i in self._own.items():
            if i in fired:
                self.now[k] = not self.now[k]
                continue
            node = evaluator.in_state(evaluator.node(self.events[i].expression))
            value = float(evaluator.values_at([node], state)[0])
            if value == 0.0 and rates is not None:
                wrt = (*evaluator.kin.state, evaluator.time)
                slopes = jacobian(evaluator.tape, [node], wrt, {**evaluator.numbers, **state})[1]
                value = float(slopes[0, 0] @ np.append(rates, 1.0))
            self.now[k] = value > 0.0


def _is_named(name: str, names: Sequence[str]) -> bool:
    """Whether a contact is one of these, or a part of one: "stop, lower" of "stop"."""
    return any(name == x or name.startswith(f"{x}, ") for x in names)
