"""The options of a run, declared once, and its times: bad ones are refused before anything is
computed.

A new option is a key of one of the TypedDicts and a field of `RunOptions`. The functions that take
it show it in their signatures.

Constraint stabilization is how drift off φ = 0 and A q̇ + b = 0 is corrected along a run:

projection   after every step, the shortest way in the mass metric, positions first, then speeds
baumgarte    A q̈ + γ + 2α (A q̇ + b) + α² φ = 0 where all rates are in the state, q̇ + α δq where
             speeds were chosen: errors fade with e^(−α t)
none         not at all
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, field
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, Final, TypedDict

from dalembert.errors import NotApplicable, Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.shared_keywords import F, declare_keywords
from dalembert.runtime.numerics.symbol_values import finite_number
from dalembert.runtime.ode.failures import BadDuration, BadRun, OutsideRun
from dalembert.runtime.simulation.events.event import BadEvent, Event
from dalembert.symbolic.algebra.scalar import Scalar, is_python_function
from dalembert.symbolic.units.quantities import TIME, has_unit, parse_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.runtime.simulation.energy_audit import Budget

SCIPY: Final = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
NATIVE: Final = "native"
TAYLOR: Final = "taylor"
ROSENBROCK: Final = "rosenbrock"
AUTO: Final = "auto"
# those that run in the native loop, which projects, finds events and holds budgets
NATIVE_LOOP: Final = (NATIVE, TAYLOR, ROSENBROCK, AUTO)
INTEGRATORS: Final = (*NATIVE_LOOP, *SCIPY, "CVODE", "IDA", "heyoka")

PROJECTION: Final = "projection"
BAUMGARTE: Final = "baumgarte"
NONE: Final = "none"
# errors that fade within a twentieth of the unit of time
_RATE: Final = 20.0
STABILIZERS: Final = (PROJECTION, BAUMGARTE, NONE)


class StepKeywords(TypedDict, total=False):
    """The constants of a run, and how small its steps are."""

    values: Mapping[Any, Any] | None
    rtol: float
    atol: ArrayLike
    max_step: float


class StartKeywords(StepKeywords, total=False):
    """Where a run begins, and what drives it."""

    start: Mapping[Any, float] | None
    guess: Mapping[Any, float] | None
    inputs: Mapping[Any, Any] | None
    t0: float


class RunKeywords(StartKeywords, total=False):
    """What a run that stands for itself, or is a member of an ensemble, may be given."""

    at: ArrayLike | None
    progress: bool | None
    integrator: str
    stabilize: str | None
    baumgarte_rate: float | None
    events: Sequence[Any]


class SimulationKeywords(RunKeywords, total=False):
    """What a run may be given."""

    sensitivities: Sequence[Any]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of a run, other than the system and the duration, with their defaults."""

    start: Mapping[Any, float] = field(default_factory=dict)
    guess: Mapping[Any, float] = field(default_factory=dict)
    values: Mapping[Any, Any] = field(default_factory=dict)
    inputs: Mapping[Any, Any] = field(default_factory=dict)
    rtol: float = 1e-9
    atol: ArrayLike = 1e-9
    at: ArrayLike | None = None
    t0: float = 0.0
    max_step: float = math.inf
    progress: bool | None = None
    integrator: str = NATIVE
    budget: Budget | None = None
    stabilize: str | None = None
    baumgarte_rate: float | None = None
    events: tuple[Event, ...] = ()
    sensitivities: Sequence[Any] = ()

    @property
    def stabilizer(self) -> str:
        """How drift off the rows is treated: as requested, by default projection, where the
        integrator can.
        """
        name, native = self.stabilize, self.integrator in NATIVE_LOOP
        if name is None:
            return PROJECTION if native else NONE
        if name not in STABILIZERS:
            msg = f"stabilize = {name!r} is unknown: choose one of {', '.join(STABILIZERS)}"
            raise Unknown(msg)
        if name == PROJECTION and not native:
            msg = (
                "stabilize = 'projection' moves the ends of steps, which only the native "
                "integrator allows; choose 'baumgarte' or 'none'"
            )
            raise BadRun(msg)
        return name

    @property
    def shows_progress(self) -> bool:
        """Whether it was requested, or else the output is a terminal."""
        return sys.stderr.isatty() if self.progress is None else self.progress

    @property
    def alpha(self) -> float:
        """Baumgarte's α, zero unless asked for."""
        stabilizer, rate = self.stabilizer, self.baumgarte_rate
        if rate is not None and stabilizer != BAUMGARTE:
            msg = (
                f"baumgarte_rate = {rate} has no meaning with stabilize = {stabilizer!r}: give "
                f"stabilize='baumgarte' or leave it out"
            )
            raise BadRun(msg)
        value = finite_number("baumgarte_rate", _RATE if rate is None else rate)
        if value <= 0.0:
            msg = f"baumgarte_rate = {value:g}: give a positive number, in 1/s"
            raise BadRun(msg)
        return value if stabilizer == BAUMGARTE else 0.0


# None of those that are required or made for each run; `dataclasses.fields` takes longer
_DEFAULTS: Final[Mapping[str, Any]] = {
    name: None if isinstance(default, Field) else default
    for name, default in ((n, vars(RunOptions).get(n)) for n in get_annotations(RunOptions))
}


def take_run_options(keywords: type) -> Callable[[F], F]:
    """The decorator for a function with `**options: Unpack[keywords]`, one of the TypedDicts."""
    # annotations of this file are texts
    own = keywords.__annotations__
    types = {name: own[name].__forward_arg__ for name in _DEFAULTS if name in own}
    return declare_keywords(types, _DEFAULTS)


def time_span(duration: float, options: RunOptions) -> tuple[float, float]:
    """Where the run begins and ends; refused where it cannot."""
    if not isinstance(duration, str) and hasattr(duration, "__len__"):
        msg = (
            f"duration = {duration!r:.60} is not a number: give the length of the run, "
            "simulate(s, 5); t0=… is its first time, at=… the times to keep"
        )
        raise BadDuration(msg)
    length = finite_number(
        "duration",
        parse_number(duration, TIME, "duration")
        if isinstance(duration, str) and has_unit(duration)
        else duration,
    )
    if length <= 0:
        msg = (
            f"duration = {length:g}: a run goes forward in time; give a positive number of seconds"
        )
        raise BadDuration(msg)
    t0 = finite_number("t0", options.t0)
    if options.integrator not in INTEGRATORS:
        msg = (
            f"integrator {options.integrator!r} is unknown: choose one of {', '.join(INTEGRATORS)}"
        )
        raise Unknown(msg)
    if options.events and options.integrator not in NATIVE_LOOP:
        msg = (
            f"events are located only by {', '.join(NATIVE_LOOP)} alone; leave out "
            f"integrator={options.integrator!r} or the events"
        )
        raise BadEvent(msg)
    if options.sensitivities and (options.integrator != NATIVE or options.stabilizer == BAUMGARTE):
        msg = (
            "sensitivities need the native integrator with projection; leave out "
            "integrator= and stabilize="
        )
        raise NotApplicable(msg)
    _check_times(options.at, t0, t0 + length)
    return t0, t0 + length


def _check_times(at: ArrayLike | None, first: float, last: float) -> None:
    """Refuse times outside the run before it is made."""
    if at is None:
        return
    import numpy as np

    try:
        wanted = np.asarray(at, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        msg = f"at = {at!r:.60} is not a time or a list of times"
        raise OutsideRun(msg) from problem
    outside = wanted[~((wanted >= first) & (wanted <= last))]
    if outside.size:
        msg = (
            f"at: t = {outside.flat[0]:g} is outside the run, which goes from {first:g} to {last:g}"
        )
        raise OutsideRun(msg)


def parse_events(given: object) -> tuple[Event, ...]:
    """The given `events`: a list of events, in which an expression by itself is recorded."""
    if isinstance(given, str | Scalar | Event) or not isinstance(given, Iterable):
        msg = "events: give a list, such as events=[da.event('theta - 1', stop=True)]"
        raise BadEvent(msg)
    events = []
    for e in given:
        if not isinstance(e, str | Scalar | Event):
            shown = "a Python function" if is_python_function(e) else repr(e)
            msg = (
                f"events: {shown} is no event; make one with da.event(expression) or "
                f"da.impact(gap, restitution)"
            )
            raise BadEvent(msg)
        events.append(e if isinstance(e, Event) else Event(e))
    titles = [e.title for e in events]
    twice = next((t for t in titles if titles.count(t) > 1), None)
    if twice is not None:
        msg = f"events: two are called {twice!r}; give each a name of its own, name='…'"
        raise BadEvent(msg)
    return tuple(events)
