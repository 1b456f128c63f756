"""The statement of an optimal control problem: phases with their conditions, and the links between
them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from dalembert.errors import DalembertError
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import (
    BadValue,
    finite_number,
    require_mapping,
    strip_unit,
)
from dalembert.symbolic.algebra.scalar import Scalar

FREE = "free"


class BadOptimization(DalembertError):
    """An optimal motion that is not well described: what is wrong, and how to fix it."""


class Range(NamedTuple):
    """low ≤ value ≤ high"""

    low: float
    high: float

    @property
    def is_point(self) -> bool:
        """Whether one value is allowed."""
        return self.low == self.high

    def __str__(self) -> str:
        if self.is_point:
            return f"= {self.low:.9g}"
        if math.isinf(self.low) or math.isinf(self.high):
            return f"≤ {self.high:.9g}" if math.isinf(self.low) else f"≥ {self.low:.9g}"
        return f"in [{self.low:.9g}, {self.high:.9g}]"


@dataclass(frozen=True, eq=False)
class Phase(Displayable):
    """A system over a duration, with its own cost, conditions and bounds."""

    system: System
    duration: Any = FREE
    minimize: Any = None
    minimize_at_end: Any = None
    start: Mapping[Any, Any] = field(default_factory=dict)
    end: Mapping[Any, Any] = field(default_factory=dict)
    bounds: Mapping[Any, Any] = field(default_factory=dict)
    path: Mapping[Any, Any] = field(default_factory=dict)
    integrals: Mapping[Any, Any] = field(default_factory=dict)
    way_points: Mapping[Any, Any] = field(default_factory=dict)
    periodic: Any = ()
    held: Mapping[Any, Any] = field(default_factory=dict)
    values: Mapping[Any, Any] = field(default_factory=dict)
    inputs: Mapping[Any, Any] = field(default_factory=dict)
    guess: Any = None
    intervals: int | None = None

    def __str__(self) -> str:
        return f"phase of {self.system.name!r}, duration {self.duration}"


@dataclass(frozen=True, eq=False)
class Link(Displayable):
    """How a phase begins where another ends.

    becomes      {name in the next phase: expression in the phase that ends}; other states
                 of the same name are continuous
    impact       positions that stop moving: M(u⁺ − u⁻) = AᵀΛ, A u⁺ = 0
    unilateral   those of them that only push: Λ ≥ 0
    """

    becomes: Mapping[Any, Any] = field(default_factory=dict)
    impact: Sequence[Any] = ()
    unilateral: Sequence[Any] = ()

    def __str__(self) -> str:
        stops = f", impact on {', '.join(map(str, self.impact))}" if self.impact else ""
        return f"link{stops}"


def phase(system: System, duration: Any = FREE, **options: Any) -> Phase:
    """A phase of a motion for da.optimize([…]); the options are those of da.optimize for one
    phase.
    """
    for name in (
        "start",
        "end",
        "bounds",
        "path",
        "integrals",
        "way_points",
        "held",
        "values",
        "inputs",
    ):
        if options.get(name) is None:
            options[name] = {}
        elif name != "way_points":
            options[name] = require_mapping(name, options[name])
    return Phase(system, duration, **options)


def link(
    becomes: Mapping[Any, Any] | None = None,
    *,
    impact: Sequence[Any] = (),
    unilateral: Sequence[Any] = (),
) -> Link:
    """A link between two phases for da.optimize([…], links=[…])."""
    extra = [e for e in unilateral if e not in impact]
    if extra:
        msg = (
            f"link: {extra[0]} is unilateral but not among the positions of the impact; add it "
            f"to impact=[…]"
        )
        raise BadOptimization(msg)
    return Link(require_mapping("becomes", becomes or {}), tuple(impact), tuple(unilateral))


def range_of(system: System, what: str, key: Any, given: Any, *, symmetric: bool = False) -> Range:
    """One number, a pair (low, high) with None for no limit; a single bound b is −b … b where
    `symmetric`.
    """
    shown = key.name if isinstance(key, Scalar) else key
    if isinstance(given, tuple | list):
        if len(given) != 2:
            msg = (
                f"{what}: {shown} has {len(given)} limits; give a number or a pair (low, high), "
                f"with None for no limit"
            )
            raise BadOptimization(msg)
        low = -math.inf if given[0] is None else _limit(system, what, key, given[0])
        high = math.inf if given[1] is None else _limit(system, what, key, given[1])
    else:
        high = _limit(system, what, key, given)
        low = -high if symmetric else high
    if low > high:
        msg = f"{what}: {shown} has the limits {low:g} and {high:g}; the lower one is larger"
        raise BadOptimization(msg)
    return Range(low, high)


def _limit(system: System, what: str, key: Any, given: Any) -> float:
    shown = key.name if isinstance(key, Scalar) else key
    try:
        plain = float(given)
    except (TypeError, ValueError):
        plain = 0.0
    if math.isinf(plain):
        return plain
    try:
        return finite_number(str(shown), strip_unit(system, key, given))
    except BadValue as problem:
        msg = f"{what}: {problem}"
        raise BadOptimization(msg) from problem
