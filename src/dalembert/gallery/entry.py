"""What a gallery file says about its system: where it is printed, what is printed there, and how
to try it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.model.system import System

if TYPE_CHECKING:
    from dalembert.runtime.simulation.events.event import Event


@dataclass(frozen=True)
class Printed:
    """residual = 0 as a source prints it, in the system's own symbols: x.dot.dot or x'' is ẍ.

    With q̇ = W u + X and q̈ = W u̇ + c put in, it equals Σ k E over the derived equations E,
    numbered from 1 in the order of the speeds: `equals` lists the pairs (number, k). An empty list
    means that it follows from the rows alone.
    """

    label: str
    residual: str
    combination: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class DerivedByHand(Printed):
    """The same, derived on paper by ourselves: no available source prints it."""


@dataclass(frozen=True)
class Entry:
    """A solved system: its name, its source, how to build it, what the source prints, and a run
    worth watching.
    """

    name: str
    title: str
    source: str
    description: str
    build: Callable[..., System] = field(repr=False)
    printed: tuple[Printed, ...] = field(default=(), repr=False)
    # start values of coordinates, rates or speeds by name, and the loads known only at run time as
    # expressions in t
    start: Mapping[str, float] = field(default_factory=dict, repr=False)
    inputs: Mapping[str, str] = field(default_factory=dict, repr=False)
    duration: float = field(default=10.0, repr=False)
    # impacts and whatever else happens in a run
    events: tuple[Event, ...] = field(default=(), repr=False)
    # what the literature calls the modes of the steady motion, by increasing |λ|
    mode_names: tuple[str, ...] = field(default=(), repr=False)
