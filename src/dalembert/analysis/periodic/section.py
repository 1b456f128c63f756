"""x⁺ = P(x): the return map of a system from one crossing of a section to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dalembert.analysis.periodic.flow import describe
from dalembert.analysis.periodic.orbit import PeriodicOrbit
from dalembert.analysis.periodic.periodic import periodic
from dalembert.analysis.periodic.return_map import (
    EventFlow,
    Return,
    ReturnMap,
    acting_events,
    flow_with_events,
    section_index,
)
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.display import Displayable
from dalembert.mechanics.model.system import System
from dalembert.runtime.simulation.events.event import event
from dalembert.runtime.simulation.run_options import parse_events


class PoincareMap(Displayable):
    """x⁺ = P(x) of a system: from just after an event to just after it again.

    `P(start)` gives the next state by name; `P.derivative(start)` is ∂P/∂x;
    `P.fixed_point(start)` is the periodic motion near a start, `P.fixed_point(start, returns=2)`
    one that repeats after two crossings.
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
        read = parse_events(events)
        for each in read:
            if isinstance(each.expression, str):
                # an unknown name is refused here, not at the first call
                system.expression(each.expression)
        index = section_index(read, section)
        self._given_events = tuple(events)
        self._events, self._index = acting_events(events, index), index
        self._returns, self._limit, self._rtol = returns, limit, rtol

    def _at(self, start: Mapping[Any, Any]) -> Return:
        flow = self._flow(start)
        return ReturnMap(flow, self._index, self._returns, self._limit)(flow.x0)

    def names(self, start: Mapping[Any, Any]) -> tuple[str, ...]:
        """The names of the state."""
        return self._flow(start).names

    def _flow(self, start: Mapping[Any, Any]) -> EventFlow:
        given = self._given._replace(start=dict(start))
        return flow_with_events(given, self._events, self._rtol)

    def __call__(self, start: Mapping[Any, Any]) -> dict[str, float]:
        """The state just after the next crossing, by name; "t" is the time until then."""
        back = self._at(start)
        return {**dict(zip(self.names(start), back.x.tolist(), strict=True)), "t": back.t}

    def derivative(self, start: Mapping[Any, Any]) -> FloatArray:
        """∂P/∂x, by variational equations and saltation."""
        return self._at(start).P

    def fixed_point(
        self, start: Mapping[Any, Any], *, returns: int | None = None, **options: Any
    ) -> PeriodicOrbit:
        """P(x) = x near a start, as a periodic motion with its multipliers.

        `returns` crossings make a period, by default those of the map; `options` are those of
        da.periodic.
        """
        given = self._given
        return periodic(
            given.system,
            start,
            values=given.values,
            inputs=given.inputs,
            events=self._given_events,
            section=self._events[self._index].title,
            returns=self._returns if returns is None else returns,
            **options,
        )

    def __repr__(self) -> str:
        e = self._events[self._index]
        often = "" if self._returns == 1 else f", {self._returns} crossings"
        return f"PoincareMap of {self._given.system.name!r} at {e.title!r}, {e.direction}{often}"


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
    chosen = section
    if not hasattr(section, "action"):
        chosen = event(section, direction=direction)  # type: ignore[arg-type]
    return PoincareMap(system, [chosen], returns=returns, values=values, inputs=inputs, limit=limit)
