"""ẋ = f(t, x, w, p) and what goes with it: the functions of a system that every language writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from string import Template
from typing import Final

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.contact.transition_fields import GUARD_KINDS
from dalembert.symbolic.algebra.tape import Tape

# the functions that carry a state back onto the rows, one Newton step each
POSITION_STEP: Final = "position_step"
SPEED_STEP: Final = "speed_step"
# changes along a direction, which only an FMU asks for
DIRECTIONAL: Final = "directional"
# guards of modes and events; what a change of mode is decided by; new values at events; what holds
# in a mode
GUARDS: Final = "guards"
QUANTITIES: Final = "quantities"
RESETS: Final = "resets"
HELD: Final = "contact_rows"
# functions that only others of the same file call
PRIVATE: Final = frozenset({POSITION_STEP, SPEED_STEP, QUANTITIES, RESETS})
_GUARD_KINDS: Final = {code: kind for kind, code in GUARD_KINDS.items()}
# Newton steps of a projection: it stops where rounding does not let the residual shrink any more
MAX_NEWTON_ITERATIONS: Final = 12


@dataclass(frozen=True)
class ProjectionTemplate:
    """How a language carries a state back onto the rows: Newton steps on positions while the
    residual halves, then on speeds.

    Numbers and names are written in it as $n_q, $n_u, $rounds, $speed_rounds, $name.
    """

    begin: str
    positions: str
    speeds: str
    end: str


@dataclass(frozen=True)
class Variable:
    """A symbol with its name as a user writes it, its default value, and its unit where that is
    decided.
    """

    node: int
    name: str
    value: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Result:
    """An array that a function gives, row by row; a shape () is one number."""

    name: str
    nodes: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class ExportedFunction:
    """Arrays as functions of t, x, w and p."""

    name: str
    says: str
    results: tuple[Result, ...]

    @property
    def nodes(self) -> tuple[int, ...]:
        """All entries of all results."""
        return tuple(i for r in self.results for i in r.nodes)


@dataclass(frozen=True)
class ExportedEvent:
    """An event: its direction (−1, 0, 1), what happens (0 nothing, 1 the end, 2 a reset), and the
    places in x that a reset changes.
    """

    name: str
    direction: int
    action: int
    places: Sequence[int] = ()


@dataclass(frozen=True)
class SwitchedPart:
    """Modes that the exported code changes: the symbols that they set, contacts, branches and
    events; guards are in the order contacts, events, branches.

    `numbers` and `arrays` describe the contacts, `sizes` are the types and lengths of the arrays
    that a change of mode needs.
    """

    flags: tuple[Variable, ...]
    contacts: tuple[str, ...]
    branches: int
    events: tuple[ExportedEvent, ...]
    numbers: Mapping[str, int]
    arrays: Mapping[str, Sequence[int]]
    sizes: Mapping[str, tuple[str, int]]

    @property
    def guards(self) -> list[str]:
        """What each guard is."""
        kinds, of = self.arrays.get("guard_kind", ()), self.arrays.get("guard_contact", ())
        counted = Counter(zip(kinds, of, strict=True))
        names, seen = [], Counter[tuple[int, int]]()
        for which in zip(kinds, of, strict=True):
            seen[which] += 1
            number = f" {seen[which]}" if counted[which] > 1 else ""
            names.append(f"{_GUARD_KINDS[which[0]]} of {self.contacts[which[1]]}{number}")
        names += [f"event {k}: {e.name}" for k, e in enumerate(self.events)]
        return [*names, *(f"side of branch {k}" for k in range(self.branches))]


@dataclass(frozen=True)
class ExportedModel:
    """x = (q, u), w the inputs, p the constants, and the functions of them, all on one tape."""

    title: str
    source: str
    tape: Tape = field(repr=False)
    time: int
    # first-order states stand behind the coordinates
    q: tuple[Variable, ...]
    u: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    functions: tuple[ExportedFunction, ...]
    route: str
    rows: tuple[str, ...] = ()
    outputs: tuple[Variable, ...] = ()
    # how often the speeds are corrected: once where the rows are linear in them, never where
    # nothing is to be corrected
    speed_iterations: int = 0
    notes: tuple[str, ...] = ()
    # the direction of DIRECTIONAL: changes of t, x, w and p
    seeds: tuple[Variable, ...] = ()
    # the arrays of recorded tables, by their number
    tables: tuple[FloatArray, ...] = field(default=(), repr=False)
    # None for a model without modes and events
    switching: SwitchedPart | None = None

    @property
    def flags(self) -> tuple[Variable, ...]:
        """The symbols that a mode sets."""
        return () if self.switching is None else self.switching.flags

    @property
    def states(self) -> tuple[Variable, ...]:
        """x = (q, u)"""
        return (*self.q, *self.u)

    @cached_property
    def varying_symbols(self) -> tuple[int, ...]:
        """What changes from call to call: x, t, w, and a direction."""
        return (
            *(x.node for x in self.states),
            self.time,
            *(w.node for w in (*self.inputs, *self.seeds)),
        )

    def leaves(
        self, x: str, w: str, p: str, names: Mapping[str, str], *, first: int = 0, t: str = "t"
    ) -> dict[int, str]:
        """{symbol: what it is called}, from templates such as x[{}] and p.{}."""
        names_by_symbol = {v.node: x.format(k) for k, v in enumerate(self.states, first)} | {
            self.time: t
        }
        names_by_symbol |= {v.node: w.format(k) for k, v in enumerate(self.inputs, first)}
        return names_by_symbol | {v.node: p.format(names[v.name]) for v in self.parameters}

    @cached_property
    def named(self) -> dict[str, ExportedFunction]:
        """The functions by name."""
        return {f.name: f for f in self.functions}

    @property
    def has_projection(self) -> bool:
        """Whether there is anything to be projected onto."""
        return POSITION_STEP in self.named or SPEED_STEP in self.named

    def projection_code(self, text: ProjectionTemplate, **names: object) -> list[str]:
        """The lines of `project` in a language, with the steps that this model has; none where
        there is nothing to be projected onto.
        """
        steps = {POSITION_STEP: text.positions, SPEED_STEP: text.speeds}
        inside = "".join(lines for step, lines in steps.items() if step in self.named)
        numbers = {
            "n_q": len(self.q),
            "n_u": len(self.u),
            "rounds": MAX_NEWTON_ITERATIONS,
            "speed_rounds": self.speed_iterations,
        }
        return (
            Template(text.begin + inside + text.end).substitute(numbers, **names).splitlines()
            if inside
            else []
        )

    @property
    def public_functions(self) -> tuple[ExportedFunction, ...]:
        """The functions that are called from outside; PRIVATE are not."""
        return tuple(f for f in self.functions if f.name not in PRIVATE)
