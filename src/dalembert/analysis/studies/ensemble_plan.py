"""What a study is asked for: the system, who its members are, what is kept of them.

theta          the value at the times `at`, or at the end where none are given
end(theta)     the value at the end
max, min       the greatest and the least value, over eight places of every step and where parabolas through them have their tops
mean           ∫ g dt / T
time(g)        the first time at which g crosses zero, upwards time(g, up), downwards time(g, down); NaN where it never does
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from dalembert.analysis.studies.parameter_grid import BadStudy, Members
from dalembert.foundation.array_types import Numbers
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddleEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.ode.vectorized.layout import FunctionalKind
from dalembert.runtime.simulation.events.event import SIGNS, Direction
from dalembert.runtime.simulation.run_options import RunOptions
from dalembert.symbolic.algebra.expression_graph import needed
from dalembert.symbolic.algebra.scalar import Scalar

VERSION: Final = version("dalembert")
VALUE: Final = "value"
END: Final = "end"
_CALLED: Final = re.compile(r"\s*(end|max|min|mean|time)\s*\((.*)\)\s*", re.DOTALL)
KINDS: Final = (VALUE, END, *(kind.value for kind in FunctionalKind))


@dataclass(frozen=True)
class Kept:
    """One quantity of every member: what it is called, what is made of which expression."""

    name: str
    kind: str
    expression: Scalar | str
    direction: Direction = "any"

    @property
    def functional(self) -> FunctionalKind | None:
        """What is made of it along the run, if anything."""
        return None if self.kind in (VALUE, END) else FunctionalKind(self.kind)


class Role(Enum):
    """What a varied name is."""

    CONSTANT = "constant"
    START = "start"
    # an input held at a number, and a number by which the expression that was given for it is multiplied
    INPUT = "input"
    AMPLITUDE = "amplitude"


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """A study as data: with the same plan every machine computes the same members."""

    system: System
    duration: float
    # of all members, without what varies
    options: RunOptions
    members: Members
    # what each varied name is
    roles: dict[str, Role]
    kept: tuple[Kept, ...]
    audit: bool
    # what the equations are made of, told by a hash
    equations: str

    def options_of(self, member: int) -> RunOptions:
        """What `simulate` would be asked for this member alone."""
        row = self.members.table(np.array([member]))[0]
        given: dict[Role, dict[Any, Any]] = {role: {} for role in Role}
        for (name, role), value in zip(self.roles.items(), row.tolist(), strict=True):
            given[role][name] = value
        o = self.options
        inputs = {**o.inputs, **given[Role.INPUT]}
        for name, a in given[Role.AMPLITUDE].items():
            key = next(k for k in inputs if name_of(k) == name)
            inputs[key] = f"({a!r})*({inputs[key]})" if isinstance(inputs[key], str) else a * inputs[key]
        values, start = {**o.values, **given[Role.CONSTANT]}, {**o.start, **given[Role.START]}
        return replace(o, values=values, inputs=inputs, start=start)

    @property
    def times(self) -> Numbers:
        """The times at which values are kept, in the order in which they were given."""
        return np.zeros(0) if self.options.at is None else np.atleast_1d(np.asarray(self.options.at, dtype=np.float64))

    def over_time(self, kept: Kept) -> bool:
        """Whether it is kept at given times."""
        return kept.kind == VALUE and self.options.at is not None

    @property
    def numbers_kept(self) -> int:
        """Of every member."""
        return sum(self.times.size if self.over_time(kept) else 1 for kept in self.kept)

    def names_as(self, role: Role) -> list[str]:
        """What varies in this role."""
        return [name for name, r in self.roles.items() if r is role]

    @cached_property
    def description(self) -> dict[str, str]:
        """The study in words and hashes, by which a file is known to hold it."""
        o = self.options
        rows = b"".join(axis.rows.tobytes() for axis in self.members.axes)
        shown = {
            "dalembert": VERSION,
            "system": self.system.name,
            "equations": self.equations,
            "duration": repr(float(self.duration)),
            "over": ", ".join(f"{role.value} {name}" for name, role in self.roles.items()),
            "members": f"{' × '.join(map(str, self.members.dims.values()))}, {hashlib.sha256(rows).hexdigest()[:16]}",
            "keep": ", ".join(each.name for each in self.kept),
            "at": "" if o.at is None else f"{self.times.size} times, {hashlib.sha256(self.times.tobytes()).hexdigest()[:16]}",
            "audit": str(self.audit),
        }
        numbers = ("rtol", "atol", "t0", "max_step", "integrator", "stabilize", "baumgarte_rate")
        return shown | {name: _shown(getattr(o, name)) for name in ("start", "guess", "values", "inputs", *numbers, "events", "budget")}


def name_of(key: Any) -> str:
    """Of a symbol, or as it was written."""
    return str(key.name if isinstance(key, Scalar) else key)


def _shown(x: Any) -> str:
    if isinstance(x, Mapping):
        return ", ".join(sorted(f"{name_of(k)} = {v!r}" if isinstance(v, float) else f"{name_of(k)} = {v}" for k, v in x.items()))
    if isinstance(x, tuple):
        return ", ".join(f"{e.title} {e.direction} {e.action.value}" if hasattr(e, "title") else str(e) for e in x)
    return str(x.tolist()) if isinstance(x, np.ndarray) else repr(x) if x is not None else ""


def read_keep(keep: Any, state: Iterable[str]) -> tuple[Kept, ...]:
    """What a user asks for; by default every coordinate and speed."""
    if keep is None:
        return tuple(Kept(name, VALUE, name) for name in state)
    wanted = [keep] if isinstance(keep, str | Scalar) else list(keep) if isinstance(keep, Iterable) else None
    if wanted is None:
        msg = f"keep = {keep!r:.60}: give expressions, such as keep=['theta', 'max(theta)', 'time(theta - 1, up)']"
        raise BadStudy(msg)
    kept = [_read(each) for each in wanted]
    names = [each.name for each in kept]
    if twice := [name for name in names if names.count(name) > 1]:
        msg = f"keep: {twice[0]!r} is there twice"
        raise BadStudy(msg)
    return tuple(kept)


def _read(wanted: Any) -> Kept:
    if isinstance(wanted, Scalar):
        return Kept(str(wanted), VALUE, wanted)
    if isinstance(wanted, tuple) and len(wanted) == 2 and wanted[0] in KINDS:
        kind, expression = wanted
        return Kept(f"{kind}({expression})", kind, expression)
    if not isinstance(wanted, str):
        msg = f"keep: {wanted!r:.60} is neither an expression nor a pair such as ('max', s.theta)"
        raise BadStudy(msg)
    called = _CALLED.fullmatch(wanted)
    arguments = _arguments(called[2]) if called else []
    # max(a, b) is the greater of two quantities, max(a) the greatest value of one
    if called is None or not arguments or (called[1] != "time" and len(arguments) > 1):
        return Kept(wanted.strip(), VALUE, wanted)
    name, kind = wanted.strip(), called[1]
    if len(arguments) == 1:
        return Kept(name, kind, arguments[0])
    direction = arguments[1]
    if len(arguments) > 2 or direction not in SIGNS:
        msg = f"keep: {name}: after the expression say 'up', 'down' or nothing"
        raise BadStudy(msg)
    return Kept(name, kind, arguments[0], direction)  # type: ignore[arg-type] # one of SIGNS


def _arguments(text: str) -> list[str]:
    """Split at the commas outside parentheses; nothing where these do not close, as in (a)*max(b)."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return []
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts] if depth == 0 else []


def identity_of(kin: Kinematics, equations: ExplicitEquations | SaddleEquations) -> str:
    """Sixteen digits of the hash of everything the rates are made of, and of the declared values: systems with the same one move alike."""
    tape = equations.tape
    if isinstance(equations, ExplicitEquations):
        outs = [*equations.qdot, *equations.udot]
    else:
        rows = [*equations.M, *(row.A for row in equations.rows)]
        outs = [*equations.qdot, *equations.f, *(i for row in rows for i in row.values()), *(row.gamma for row in equations.rows)]
    place = {i: k for k, i in enumerate(needed(tape, outs))}
    digest = hashlib.sha256()
    for i in place:
        op, a, b = tape.nodes[i]
        names = [str(place.get(x, x) if op not in ("symbol", "const") else x) for x in (a, b)]
        digest.update(f"{op} {' '.join(names)}\n".encode())
    digest.update(str([place[i] for i in outs]).encode())
    values = sorted((s.name, repr(s.value)) for s in kin.system.symbols.values() if s.value is not None)
    digest.update(str(values).encode())
    return digest.hexdigest()[:16]
