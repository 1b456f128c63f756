"""g(q, u, t) = 0: events that are recorded, end a run, change a state, or are impacts; what
happened, and what it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any, Final, Literal, overload

from dalembert.errors import Unknown
from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import check_options
from dalembert.runtime.ode.failures import BadRun
from dalembert.symbolic.algebra.scalar import Scalar

# numpy is opened where it is needed: the list of the gallery names events and computes nothing
Direction = Literal["any", "up", "down"]
SIGNS: Final[dict[str, float]] = {"any": 0.0, "up": 1.0, "down": -1.0}


class BadEvent(BadRun):
    """An event that is not well described."""


class EventAction(Enum):
    """What is done when an event happens."""

    RECORD = "recorded"
    STOP = "ends the run"
    RESET = "reset"
    IMPACT = "impact"
    # the section of a return map
    PAUSE = "passed"
    # contacts and constraints that are added and dropped
    SUPPORT = "supports change"
    # the sign of active=, and the end of a mode of contact, both watched by the run itself
    ACTIVITY = "activity"
    SWITCH = "mode"


@dataclass(frozen=True)
class Event(Displayable):
    """expression = 0, crossed in a direction, and what is done then; made by `da.event` and
    `da.impact`.
    """

    expression: Scalar | str
    direction: Direction = "any"
    action: EventAction = EventAction.RECORD
    changes: Mapping[Any, Any] = field(default_factory=dict)
    restitution: Any = None
    name: str = ""
    # contacts and constraints with active= that are there from then on, and that are not
    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name, or the expression as it was written."""
        return self.name or str(self.expression)


@check_options
def event(
    expression: Scalar | str,
    *,
    direction: Direction = "any",
    stop: bool = False,
    reset: Mapping[Any, Any] | None = None,
    add: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    name: str = "",
) -> Event:
    """An event for da.simulate(…, events=[…]): the moment when an expression of the state crosses
    zero.

    direction   "up", "down" or "any"
    stop        end the run there
    reset       new values of coordinates or speeds as expressions of the state before, {"u1":
    "-0.5*u1"}
    add, drop   names of contacts and constraints, declared with active=, that are there from then
                on, or are not; those that are there afterwards take an impact, M (u⁺ − u⁻) = Aᵀ Λ,
                A u⁺ = 0, after the reset

    Without stop, reset, add and drop it is recorded in run.events and the motion continues. An
    expression that is zero when the run begins does not count as crossing zero there.
    """
    if not isinstance(direction, str) or direction not in SIGNS:
        msg = f"event: direction = {direction!r} is unknown: choose 'up', 'down' or 'any'"
        raise Unknown(msg)
    if (
        not isinstance(name, str)
        or not isinstance(stop, bool)
        or not isinstance(reset, Mapping | None)
    ):
        msg = (
            f"event: stop={stop!r}, reset={reset!r}, name={name!r}; stop is True or False, "
            f"reset "
            f"a dict {{name: value}}, name a string"
        )
        raise BadEvent(msg)
    if stop and reset:
        msg = "event: a run that ends cannot be reset as well; give stop=True or reset={…}"
        raise BadEvent(msg)
    if reset is not None and not reset:
        msg = "event: reset={} changes nothing; name a coordinate or a speed and its new value"
        raise BadEvent(msg)
    added, dropped = _names("add", add), _names("drop", drop)
    if stop and (added or dropped):
        msg = "event: a run that ends needs no add= or drop=; give stop=True alone"
        raise BadEvent(msg)
    if both := sorted({*added} & {*dropped}):
        msg = f"event: {both[0]!r} is in add= and in drop=; give one of them"
        raise BadEvent(msg)
    action = (
        EventAction.STOP
        if stop
        else EventAction.RESET
        if reset
        else EventAction.SUPPORT
        if added or dropped
        else EventAction.RECORD
    )
    return Event(expression, direction, action, dict(reset or {}), None, name, added, dropped)


def _names(option: str, given: object) -> tuple[str, ...]:
    """One name or several."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(x, str) and x for x in names):
        msg = f"event: {option}={given!r}; name contacts or constraints, {option}='floor'"
        raise BadEvent(msg)
    return tuple(names)


@check_options
def impact(gap: Scalar | str, restitution: Any, *, name: str = "") -> Event:
    """φ̇⁺ = −ε φ̇⁻ where φ(q, t) ≥ 0 closes: an impact for da.simulate(…, events=[…]).

    gap           φ, the distance that cannot become negative; it may contain the time, for
                  obstacles that move
    restitution   ε, a number from 0 to 1 or an expression of the constants

    The impulse acts along φ; constraints of the system take part with impulses of their own.
    """
    if isinstance(restitution, int | float) and (restitution < 0 or restitution > 1):
        msg = (
            f"impact: restitution = {restitution}; it lies between 0 (no rebound) and 1 "
            f"(nothing "
            f"lost)"
        )
        raise BadEvent(msg)
    if not isinstance(name, str):
        msg = f"impact: name={name!r}; give a string"
        raise BadEvent(msg)
    return Event(gap, "down", EventAction.IMPACT, {}, restitution, name)


def check_supports(e: Event, names: Sequence[str]) -> None:
    """Refuse names in add= and drop= of which the system has no contact or constraint with
    active=.
    """
    for name in (*e.add, *e.drop):
        if name not in names and not any(x.startswith(f"{name}, ") for x in names):
            have = f"there are {', '.join(map(repr, names))}" if names else "there are none"
            msg = (
                f"event {e.title!r}: {name!r} is no contact or constraint that was declared with "
                f"active=True, False or an expression ({have})"
            )
            raise BadEvent(msg)


_MOST: Final = 4


@dataclass(frozen=True)
class Occurrence:
    """An event that happened at time t: the state by name before and after, and by how much T +
    V changed.
    """

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
        return {
            name: (x, self.after[name]) for name, x in self.before.items() if x != self.after[name]
        }

    def __str__(self) -> str:
        changes = [f"{name} {a:.6g} → {b:.6g}" for name, (a, b) in self.changed.items()]
        more = [f"{len(changes) - _MOST} more"] if len(changes) > _MOST else []
        what = f": {', '.join([*changes[:_MOST], *more])}" if changes else ""
        return f"t = {self.t:.9g}  {self.name} ({self.action}){what}"

    __repr__ = __str__


class EventLog(Sequence[Occurrence]):
    """What happened in a run, in the order of time. Records of native code become occurrences
    when somebody reads them.
    """

    def __init__(self) -> None:
        self._parts: list[Occurrence | Callable[[], Sequence[Occurrence]]] = []
        self._whole: tuple[Occurrence, ...] | None = ()

    def append(self, occurrence: Occurrence) -> None:
        """One more."""
        self._parts.append(occurrence)
        self._whole = None

    def defer(self, read: Callable[[], Sequence[Occurrence]]) -> None:
        """More of them, which `read` makes at the first access."""
        self._parts.append(read)
        self._whole = None

    @property
    def whole(self) -> tuple[Occurrence, ...]:
        """All of them."""
        if self._whole is None:
            read = ((x,) if isinstance(x, Occurrence) else x() for x in self._parts)
            self._whole = tuple(o for part in read for o in part)
            self._parts = list(self._whole)
        return self._whole

    def __len__(self) -> int:
        return len(self.whole)

    @overload
    def __getitem__(self, i: int) -> Occurrence: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Occurrence, ...]: ...
    def __getitem__(self, i: int | slice) -> Occurrence | tuple[Occurrence, ...]:
        return self.whole[i]


def event_energy_change(
    occurrences: Sequence[Occurrence], t: FloatArray, *, is_run: bool
) -> FloatArray:
    """The sum of the changes of T + V at events up to the times t; `is_run` if these are the
    points of the run itself.
    """
    import numpy as np

    acting = [o for o in occurrences if o.acts]
    times, sums = (
        np.array([o.t for o in acting]),
        np.concatenate([[0.0], np.cumsum([o.energy for o in acting])]),
    )
    return np.asarray(sums[event_counts(times, t, is_run=is_run)])


def event_counts(times: FloatArray, t: FloatArray, *, is_run: bool) -> IndexArray:
    """How many of the changes at `times` have happened at each t; `is_run` if these are the points
    of the run itself.

    The run has two points or more at the time of a change: the first is before, the last after it.
    """
    import numpy as np

    before, after = (np.searchsorted(times, t, side=side) for side in ("left", "right"))
    if not is_run:
        return np.asarray(after)
    first, last = (np.searchsorted(t, t, side=side) for side in ("left", "right"))
    part = (np.arange(len(t)) - first) / np.maximum(last - first - 1, 1)
    return np.asarray(before + np.rint(part * (after - before)).astype(int))


@dataclass
class ModeHistory:
    """Symbols and their values from each change on; and the modes in words, one for each of
    `names`.
    """

    symbols: tuple[int, ...]
    names: tuple[str, ...]
    times: list[float] = field(default_factory=list)
    values: list[Sequence[float] | FloatArray] = field(default_factory=list)
    # words, and rows of their numbers
    _words: list[tuple[Sequence[str], Sequence[Sequence[int]] | IndexArray]] = field(
        default_factory=list
    )

    def add(self, t: float, values: Sequence[float], modes: Sequence[str]) -> None:
        """From time t on; the first is the start."""
        self.times.append(t)
        self.values.append(tuple(values))
        self._words.append((modes, [range(len(modes))]))

    def extend(
        self, times: FloatArray, values: FloatArray, words: Sequence[str], codes: IndexArray
    ) -> None:
        """Several changes; the codes of modes are the numbers of their words."""
        self.times += times.tolist()
        self.values += list(values)
        self._words.append((words, codes))

    @property
    def modes(self) -> list[tuple[str, ...]]:
        """The modes in words, from each change on."""
        return [tuple([words[k] for k in row]) for words, rows in self._words for row in rows]

    def mode_indices(self, t: FloatArray, *, is_run: bool) -> IndexArray:
        """Which of the modes is on at each time."""
        import numpy as np

        return event_counts(np.array(self.times[1:]), t, is_run=is_run)

    def mode_names(self, t: FloatArray, *, is_run: bool) -> dict[str, tuple[str, ...]]:
        """The modes in words over the times, by name."""
        number, modes = self.mode_indices(t, is_run=is_run), self.modes
        return {name: tuple(modes[i][k] for i in number) for k, name in enumerate(self.names)}

    def parameters(self, t: FloatArray, *, is_run: bool) -> dict[int, FloatArray]:
        """The symbols as arrays over the times."""
        import numpy as np

        table = np.array(self.values).reshape(len(self.values), len(self.symbols))[
            self.mode_indices(t, is_run=is_run)
        ]
        return dict(zip(self.symbols, np.ascontiguousarray(table.T), strict=True))
