"""g(x, t) = 0: the return map of a system from section to section.

Crossings are bracketed on the dense output of the run and located on it to the last bits of the
time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from dalembert.analysis.periodic.flow import describe
from dalembert.analysis.periodic.return_map import (
    EventFlow,
    Return,
    ReturnMap,
    acting_events,
    section_index,
)
from dalembert.arrays import Numbers
from dalembert.errors import NotApplicable, Unknown
from dalembert.model.system import System
from dalembert.notebook import Shown
from dalembert.simulation.events.event import SIGNS, event
from dalembert.simulation.run_options import read_events
from dalembert.simulation.trajectory import Trajectory

_PER_STEP: Final = 8
_HALVINGS: Final = 54


@dataclass(frozen=True, eq=False, repr=False)
class PoincareSection(Shown):
    """The crossings of a section: their times, and any quantity there by name."""

    expression: str
    direction: str
    t: Numbers
    # the run at the crossings
    motion: Trajectory | None = field(repr=False)

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, key: Any) -> Numbers:
        """A quantity at every crossing."""
        return np.zeros(0) if self.motion is None else np.asarray(self.motion[key])

    def plot(self, x: Any, y: Any, path: Any = None) -> Any:
        """The crossings as points in the plane of two quantities."""
        from dalembert.analysis.periodic.plotting import section_plot

        return section_plot(self, x, y, path)

    def __str__(self) -> str:
        way = {"any": "", "up": ", upwards", "down": ", downwards"}[self.direction]
        span = f", t = {self.t[0]:.6g} … {self.t[-1]:.6g}" if len(self.t) else ""
        return f"{len(self.t)} crossings of {self.expression} = 0{way}{span}"

    __repr__ = __str__


def section_of_run(run: Trajectory, expression: Any, direction: str = "any") -> PoincareSection:
    """The moments of a run at which an expression crosses zero."""
    if direction not in SIGNS:
        msg = f"section: direction={direction!r}; choose 'up', 'down' or 'any'"
        raise Unknown(msg)
    if not run.solution.anywhere:
        msg = "section: of this run only some times are kept; simulate without at="
        raise NotApplicable(msg)
    steps = np.unique(run.solution.t)
    parts = np.linspace(0.0, 1.0, _PER_STEP + 1)[:-1]
    times = np.append((steps[:-1, None] + np.diff(steps)[:, None] * parts).ravel(), steps[-1])
    g = np.asarray(run.at(times)[expression])
    wanted = SIGNS[direction]
    crossing = (g[:-1] < 0.0) & (g[1:] >= 0.0) if wanted > 0 else (g[:-1] > 0.0) & (g[1:] <= 0.0)
    if not wanted:
        crossing |= (g[:-1] < 0.0) & (g[1:] >= 0.0)
    k = np.flatnonzero(crossing)
    if not k.size:
        return PoincareSection(str(expression), direction, np.zeros(0), None)
    t = _bisect(run, expression, times[k], times[k + 1], g[k])
    return PoincareSection(str(expression), direction, t, run.at(t))


def _bisect(
    run: Trajectory, expression: Any, low: Numbers, high: Numbers, g_low: Numbers
) -> Numbers:
    """Bisection of all brackets at once."""
    low, high = low.copy(), high.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if ((middle <= low) | (middle >= high)).all():
            break
        g = np.asarray(run.at(middle)[expression])
        same = g * g_low > 0.0
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(high)


class PoincareMap:
    """x⁺ = P(x) of a system: from just after an event to just after it again.

    `P(start)` gives the next state by name; `P.derivative(start)` is ∂P/∂x. Fixed points are found
    by
    da.periodic(s, start, events=[…], section=…).
    """

    def __init__(
        self,
        system: System,
        events: Sequence[Any],
        *,
        section: str | None = None,
        returns: int = 1,
        values: Mapping[Any, Any] | None = None,
        inputs: Mapping[Any, Any] | None = None,
        limit: float = 1000.0,
        rtol: float = 1e-11,
    ) -> None:
        self._given = describe(system, None, None, values, inputs, 0.0)
        index = section_index(read_events(events), section)
        self._events, self._index = acting_events(events, index), index
        self._returns, self._limit, self._rtol = returns, limit, rtol
        self._map: ReturnMap | None = None

    def _at(self, start: Mapping[Any, Any]) -> Return:
        flow = EventFlow(self._given._replace(start=dict(start)), self._events, (), self._rtol)
        return ReturnMap(flow, self._index, self._returns, self._limit)(flow.x0)

    def names(self, start: Mapping[Any, Any]) -> tuple[str, ...]:
        """The names of the state."""
        return EventFlow(
            self._given._replace(start=dict(start)), self._events, (), self._rtol
        ).names

    def __call__(self, start: Mapping[Any, Any]) -> dict[str, float]:
        """The state just after the next crossing, by name; "t" is the time until then."""
        back = self._at(start)
        return {**dict(zip(self.names(start), back.x.tolist(), strict=True)), "t": back.t}

    def derivative(self, start: Mapping[Any, Any]) -> Numbers:
        """∂P/∂x, by variational equations and saltation."""
        return self._at(start).P


def poincare_map(
    system: System,
    section: Any,
    *,
    direction: str = "up",
    returns: int = 1,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    limit: float = 1000.0,
) -> PoincareMap:
    """The return map along a section: an expression that crosses zero, or an event.

    returns   crossings after which the map arrives
    limit     how long to wait for them
    """
    chosen = event(section, direction=direction) if not hasattr(section, "action") else section  # type: ignore[arg-type]
    return PoincareMap(system, [chosen], returns=returns, values=values, inputs=inputs, limit=limit)
