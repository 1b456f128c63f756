"""What happened, when, and what it changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from dalembert.simulation.events.event import Action

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
        return self.action in (Action.RESET.value, Action.IMPACT.value)

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
