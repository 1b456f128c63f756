"""What happened, when, and what it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.simulation.events.event import EventAction
from dalembert.simulation.mode_history import changes_before

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_MOST: Final = 4


@dataclass(frozen=True)
class Occurrence:
    """An event that happened at time t: the state by name before and after, and by how much T + V changed."""

    t: float
    name: str
    action: str
    before: dict[str, float] = field(repr=False)
    after: dict[str, float] = field(repr=False)
    energy: float = 0.0
    # the impulse along the gap, for impacts
    impulse: float | None = None

    @property
    def acts(self) -> bool:
        """Whether the run has two points at this time, before and after."""
        return self.action in (EventAction.RESET.value, EventAction.IMPACT.value)

    @property
    def changed(self) -> dict[str, tuple[float, float]]:
        """What is different afterwards."""
        return {name: (x, self.after[name]) for name, x in self.before.items() if x != self.after[name]}

    def __str__(self) -> str:
        changes = [f"{name} {a:.6g} → {b:.6g}" for name, (a, b) in self.changed.items()]
        more = [f"{len(changes) - _MOST} more"] if len(changes) > _MOST else []
        what = f": {', '.join([*changes[:_MOST], *more])}" if changes else ""
        return f"t = {self.t:.9g}  {self.name} ({self.action}){what}"

    __repr__ = __str__


def energy_changed(occurrences: Sequence[Occurrence], t: Numbers, *, is_run: bool) -> Numbers:
    """The sum of the changes of T + V at events up to the times t; `is_run` if these are the points of the run itself."""
    acting = [o for o in occurrences if o.acts]
    times, sums = np.array([o.t for o in acting]), np.concatenate([[0.0], np.cumsum([o.energy for o in acting])])
    return np.asarray(sums[changes_before(times, t, is_run=is_run)])
