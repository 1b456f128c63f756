"""What a study is asked for: the system, who its members are, what is kept of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.algebra.scalar import Scalar
from dalembert.model.system import System
from dalembert.simulation.run_options import RunOptions
from dalembert.studies.keep import VALUE, Kept
from dalembert.studies.members import Members

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

VERSION: Final = version("dalembert")


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
    roles: tuple[Role, ...]
    kept: tuple[Kept, ...]
    audit: bool
    # what the equations are made of, told by a hash
    equations: str

    def options_of(self, member: int) -> RunOptions:
        """What `simulate` would be asked for this member alone."""
        row = self.members.table(np.array([member]))[0]
        given: dict[Role, dict[Any, Any]] = {role: {} for role in Role}
        for name, role, value in zip(self.members.names, self.roles, row.tolist(), strict=True):
            given[role][name] = value
        o = self.options
        inputs = {**o.inputs, **given[Role.INPUT]}
        for name, a in given[Role.AMPLITUDE].items():
            key = next(k for k in inputs if _named(k) == name)
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
            "over": ", ".join(f"{role.value} {name}" for name, role in zip(self.members.names, self.roles, strict=True)),
            "members": f"{' × '.join(map(str, self.members.dims.values()))}, {hashlib.sha256(rows).hexdigest()[:16]}",
            "keep": ", ".join(each.name for each in self.kept),
            "at": "" if o.at is None else f"{self.times.size} times, {hashlib.sha256(self.times.tobytes()).hexdigest()[:16]}",
            "audit": str(self.audit),
        }
        for name in ("start", "guess", "values", "inputs"):
            shown[name] = _shown(getattr(o, name))
        for name in ("rtol", "atol", "t0", "max_step", "integrator", "stabilize", "baumgarte_rate", "events", "budget"):
            shown[name] = _shown(getattr(o, name))
        return shown


def _named(key: Any) -> str:
    return str(key.name if isinstance(key, Scalar) else key)


def _shown(x: Any) -> str:
    if isinstance(x, Mapping):
        return ", ".join(sorted(f"{_named(k)} = {v!r}" if isinstance(v, float) else f"{_named(k)} = {v}" for k, v in x.items()))
    if isinstance(x, tuple):
        return ", ".join(f"{e.title} {e.direction} {e.action.value}" if hasattr(e, "title") else str(e) for e in x)
    return str(x.tolist()) if isinstance(x, np.ndarray) else repr(x) if x is not None else ""
