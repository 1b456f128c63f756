"""The plan of a study: the system, its members, and their outputs.

theta          the value at the times `at`, or at the end where none are given
end(theta)     the value at the end
max, min       the greatest and the least value, over eight places of every step and where parabolas
               through them have their tops
mean           ∫ g dt / T
time(g)        the first time at which g crosses zero, upwards time(g, up), downwards time(g, down);
               NaN where it never does
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum
from functools import cached_property
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from dalembert.analysis.studies.parameter_grid import BadStudy, ParameterGrid
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.ode.vectorized.layout import FunctionalKind
from dalembert.runtime.simulation.events.event import SIGNS, Direction
from dalembert.runtime.simulation.run_options import RunOptions
from dalembert.symbolic.algebra.expression_graph import dependencies
from dalembert.symbolic.algebra.scalar import Scalar

VERSION: Final = version("dalembert")
VALUE: Final = "value"
END: Final = "end"
_CALL_PATTERN: Final = re.compile(r"\s*(end|max|min|mean|time)\s*\((.*)\)\s*", re.DOTALL)
KINDS: Final = (VALUE, END, *(kind.value for kind in FunctionalKind))


@dataclass(frozen=True)
class Output:
    """One quantity of every member: what it is called, what is made of which expression."""

    name: str
    kind: str
    expression: Scalar | str
    direction: Direction = "any"

    @property
    def functional(self) -> FunctionalKind | None:
        """What is made of it along the run, if anything."""
        return None if self.kind in (VALUE, END) else FunctionalKind(self.kind)


class ParameterRole(Enum):
    """What a varied name is."""

    CONSTANT = "constant"
    START = "start"
    # an input held at a number, and a number by which the expression that was given for it is
    # multiplied
    INPUT = "input"
    AMPLITUDE = "amplitude"


@dataclass(frozen=True, eq=False)
class EnsemblePlan:
    """A study as data: with the same plan every machine computes the same members."""

    system: System
    duration: float
    # of all members, without what varies
    options: RunOptions
    grid: ParameterGrid
    # what each varied name is
    roles: dict[str, ParameterRole]
    outputs: tuple[Output, ...]
    audit: bool
    # a hash of everything the equations depend on
    equations: str

    def run_options(self, member: int) -> RunOptions:
        """What `simulate` would be asked for this member alone."""
        row = self.grid.table(np.array([member]))[0]
        given: dict[ParameterRole, dict[Any, Any]] = {role: {} for role in ParameterRole}
        for (name, role), value in zip(self.roles.items(), row.tolist(), strict=True):
            given[role][name] = value
        o = self.options
        inputs = {**o.inputs, **given[ParameterRole.INPUT]}
        for name, a in given[ParameterRole.AMPLITUDE].items():
            key = next(k for k in inputs if key_name(k) == name)
            inputs[key] = (
                f"({a!r})*({inputs[key]})" if isinstance(inputs[key], str) else a * inputs[key]
            )
        values, start = (
            {**o.values, **given[ParameterRole.CONSTANT]},
            {**o.start, **given[ParameterRole.START]},
        )
        return replace(o, values=values, inputs=inputs, start=start)

    @property
    def times(self) -> FloatArray:
        """The times at which values are kept, in the order in which they were given."""
        return (
            np.zeros(0)
            if self.options.at is None
            else np.atleast_1d(np.asarray(self.options.at, dtype=np.float64))
        )

    def is_time_series(self, kept: Output) -> bool:
        """Whether it is kept at given times."""
        return kept.kind == VALUE and self.options.at is not None

    @property
    def values_per_run(self) -> int:
        """Of every member."""
        return sum(self.times.size if self.is_time_series(kept) else 1 for kept in self.outputs)

    def names_with_role(self, role: ParameterRole) -> list[str]:
        """What varies in this role."""
        return [name for name, r in self.roles.items() if r is role]

    @cached_property
    def fingerprint(self) -> dict[str, str]:
        """The study in words and hashes, by which a file is known to hold it."""
        o = self.options
        rows = _short_hash(b"".join(axis.rows.tobytes() for axis in self.grid.axes))
        times = f"{self.times.size} times, {_short_hash(self.times.tobytes())}"
        shown = {
            "dalembert": VERSION,
            "system": self.system.name,
            "equations": self.equations,
            "duration": repr(float(self.duration)),
            "over": ", ".join(f"{role.value} {name}" for name, role in self.roles.items()),
            "members": f"{' × '.join(map(str, self.grid.dims.values()))}, {rows}",
            "keep": ", ".join(each.name for each in self.outputs),
            "at": "" if o.at is None else times,
            "audit": str(self.audit),
        }
        numbers = ("rtol", "atol", "t0", "max_step", "integrator", "stabilize", "baumgarte_rate")
        return shown | {
            name: _format_option(getattr(o, name))
            for name in ("start", "guess", "values", "inputs", *numbers, "events", "budget")
        }


def _short_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def key_name(key: Any) -> str:
    """Of a symbol, or as it was written."""
    return str(key.name if isinstance(key, Scalar) else key)


def _format_option(x: Any) -> str:
    if isinstance(x, Mapping):
        return ", ".join(
            sorted(
                f"{key_name(k)} = {v!r}" if isinstance(v, float) else f"{key_name(k)} = {v}"
                for k, v in x.items()
            )
        )
    if isinstance(x, tuple):
        return ", ".join(
            f"{e.title} {e.direction} {e.action.value}" if hasattr(e, "title") else str(e)
            for e in x
        )
    return str(x.tolist()) if isinstance(x, np.ndarray) else repr(x) if x is not None else ""


def parse_outputs(keep: Any, state: Iterable[str]) -> tuple[Output, ...]:
    """What a user asks for; by default every coordinate and speed."""
    if keep is None:
        return tuple(Output(name, VALUE, name) for name in state)
    wanted = (
        [keep]
        if isinstance(keep, str | Scalar)
        else list(keep)
        if isinstance(keep, Iterable)
        else None
    )
    if wanted is None:
        msg = (
            f"keep = {keep!r:.60}: give expressions, such as keep=['theta', 'max(theta)', "
            f"'time(theta - 1, up)']"
        )
        raise BadStudy(msg)
    kept = [_parse_output(each) for each in wanted]
    names = [each.name for each in kept]
    if twice := [name for name in names if names.count(name) > 1]:
        msg = f"keep: {twice[0]!r} is there twice"
        raise BadStudy(msg)
    return tuple(kept)


def _parse_output(wanted: Any) -> Output:
    if isinstance(wanted, Scalar):
        return Output(str(wanted), VALUE, wanted)
    if isinstance(wanted, tuple) and len(wanted) == 2 and wanted[0] in KINDS:
        kind, expression = wanted
        return Output(f"{kind}({expression})", kind, expression)
    if not isinstance(wanted, str):
        msg = f"keep: {wanted!r:.60} is neither an expression nor a pair such as ('max', s.theta)"
        raise BadStudy(msg)
    called = _CALL_PATTERN.fullmatch(wanted)
    arguments = _split_arguments(called[2]) if called else []
    # max(a, b) is the greater of two quantities, max(a) the greatest value of one
    if called is None or not arguments or (called[1] != "time" and len(arguments) > 1):
        return Output(wanted.strip(), VALUE, wanted)
    name, kind = wanted.strip(), called[1]
    if len(arguments) == 1:
        return Output(name, kind, arguments[0])
    direction = arguments[1]
    if len(arguments) > 2 or direction not in SIGNS:
        msg = f"keep: {name}: after the expression say 'up', 'down' or nothing"
        raise BadStudy(msg)
    return Output(name, kind, arguments[0], direction)  # type: ignore[arg-type] # one of SIGNS


def _split_arguments(text: str) -> list[str]:
    """Split at the commas outside parentheses; nothing where these do not close, as in
    (a)*max(b).
    """
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


def hash_equations(kin: Kinematics, equations: ExplicitEquations | SaddlePointEquations) -> str:
    """Sixteen digits of the hash of everything the rates are made of, and of the declared
    values: systems with the same one move alike.
    """
    tape = equations.tape
    if isinstance(equations, ExplicitEquations):
        outs = [*equations.qdot, *equations.udot]
    else:
        rows = [*equations.M, *(row.A for row in equations.rows)]
        outs = [
            *equations.qdot,
            *equations.f,
            *(i for row in rows for i in row.values()),
            *(row.gamma for row in equations.rows),
        ]
    place = {i: k for k, i in enumerate(dependencies(tape, outs))}
    digest = hashlib.sha256()
    for i in place:
        op, a, b = tape.nodes[i]
        names = [str(place.get(x, x) if op not in ("symbol", "const") else x) for x in (a, b)]
        digest.update(f"{op} {' '.join(names)}\n".encode())
    digest.update(str([place[i] for i in outs]).encode())
    values = sorted(
        (s.name, repr(s.value)) for s in kin.system.symbols.values() if s.value is not None
    )
    digest.update(str(values).encode())
    return digest.hexdigest()[:16]
