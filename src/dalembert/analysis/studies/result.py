"""What became of the members of a study: rows of some of them; all with names, what was varied
as axes, what was kept over them.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.studies.ensemble_plan import EnsemblePlan, ParameterRole
from dalembert.analysis.studies.parameter_grid import DRAW, BadStudy
from dalembert.errors import DalembertError, import_optional
from dalembert.foundation.array_types import FloatArray, IndexArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import suggest_name
from dalembert.runtime.ode.failures import BadStart, Cause, RunStopped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.runtime.simulation.plotting.plot import Plot
    from dalembert.runtime.simulation.trajectory import Trajectory


MEMBER: Final = "member"
TIME: Final = "t"
CAUSE: Final = "cause"
_MEANINGS: Final = {
    "reached": "the time reached",
    "steps": "steps taken",
    "drift": "max |E_Z − E_Z(t0)| / max(K2 + |V − V0| + |Z|)",
}
# outcomes of a member: one that was refused has never begun, one that was ended came to an event
# that ends the run
FINISHED: Final = 0
STOPPED: Final = 1
REFUSED: Final = 2
ENDED: Final = 3
# in a file: not run yet
PENDING: Final = 4
OUTCOMES: Final = ("finished", "stopped", "refused", "ended", "waiting")
# a reason is kept up to this length
MAX_REASON_BYTES: Final = 320


@dataclass(eq=False)
class ResultChunk:
    """Rows of some members, in their order."""

    outcome: NDArray[np.uint8]
    # the time reached, and the steps it took
    reached: FloatArray
    steps: FloatArray
    # max |E_Z − E_Z(t₀)| relative to max (K₂ + |𝒰 − 𝒰₀| + |Z|)
    drift: FloatArray | None
    outputs: dict[str, FloatArray]
    # a number of `Cause` for each member
    cause: NDArray[np.uint8]
    reasons: dict[int, str] = field(default_factory=dict)

    @classmethod
    def empty(cls, plan: EnsemblePlan, count: int, *, audit: bool) -> ResultChunk:
        """Room for the given number of members, without results."""
        shapes = {
            kept.name: (count, plan.times.size) if plan.is_time_series(kept) else (count,)
            for kept in plan.outputs
        }
        kept = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
        drift = np.full(count, np.nan) if audit else None
        cause = np.zeros(count, dtype=np.uint8)
        return cls(
            np.zeros(count, dtype=np.uint8),
            np.full(count, np.nan),
            np.zeros(count),
            drift,
            kept,
            cause,
        )

    def refuse(self, row: int, problem: DalembertError) -> None:
        """A member that cannot begin."""
        cause = problem.cause if isinstance(problem, BadStart) else Cause.REFUSED
        self.outcome[row], self.cause[row], self.reasons[row] = REFUSED, cause, str(problem)

    def stop(self, row: int, failure: RunStopped) -> None:
        """A member that stopped before its end."""
        self.outcome[row], self.cause[row], self.reasons[row] = STOPPED, failure.cause, str(failure)

    def replace_rows(self, rows: IndexArray, rerun: ResultChunk) -> None:
        """The results of another run of some members, in place of theirs."""
        columns = rerun.columns()
        for name, column in self.columns().items():
            column[rows] = columns[name]
        for k, row in enumerate(rows.tolist()):
            self.reasons.pop(row, None)
            if k in rerun.reasons:
                self.reasons[row] = rerun.reasons[k]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Everything but the reasons as arrays with a row for each member."""
        drift = {} if self.drift is None else {"drift": self.drift}
        return {
            **self.outputs,
            "outcome": self.outcome,
            CAUSE: self.cause,
            "reached": self.reached,
            "steps": self.steps,
            **drift,
        }

    def encode_reasons(self) -> NDArray[np.uint8]:
        """The reasons as UTF-8, a row for each member, zeros behind the last letter."""
        rows = np.zeros((len(self.outcome), MAX_REASON_BYTES), dtype=np.uint8)
        for row, reason in self.reasons.items():
            # never cut inside a letter
            text = reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore").encode()
            rows[row, : len(text)] = np.frombuffer(text, dtype=np.uint8)
        return rows


def decode_reasons(rows: NDArray[np.uint8]) -> list[str]:
    """Texts from their bytes."""
    return [row.tobytes().rstrip(b"\0").decode() for row in rows]


def require_xarray() -> Any:
    """The package, or an error that says how to install it."""
    return import_optional("xarray", "a study", "'dalembert[study]'")


def check_xarray() -> None:
    """Refuse a study whose result could not be read, without importing the package."""
    if find_spec("xarray") is None:
        require_xarray()


def coordinate_name(name: str, role: ParameterRole) -> str:
    """theta_0 for a start value, which is not the theta of the end; a constant has its own name."""
    return f"{name}_0" if role is ParameterRole.START else name


def flat_dataset(plan: EnsemblePlan, columns: Mapping[str, Any], how: str, first: int = 0) -> Any:
    """What is kept of members first, first + 1, … along one dimension, as files hold it."""
    xr, count = require_xarray(), len(columns["outcome"])
    table = plan.grid.table(np.arange(first, first + count))
    variables: dict[str, Any] = {}
    for kept in plan.outputs:
        dims = (MEMBER, TIME) if plan.is_time_series(kept) else (MEMBER,)
        units = _units(plan, "t" if kept.kind == "time" else kept.expression)
        variables[kept.name] = dims, columns[kept.name], units
    meanings = {"flag_values": list(range(len(OUTCOMES))), "flag_meanings": " ".join(OUTCOMES)}
    variables["outcome"] = MEMBER, columns["outcome"], meanings
    causes = {
        "flag_values": [c.value for c in Cause],
        "flag_meanings": " ".join(c.name.lower() for c in Cause),
    }
    variables[CAUSE] = MEMBER, columns[CAUSE], causes
    variables |= {
        name: (MEMBER, columns[name], {"long_name": meaning})
        for name, meaning in _MEANINGS.items()
        if name in columns
    }
    coordinates: dict[str, Any] = {}
    for k, (name, role) in enumerate(plan.roles.items()):
        about = {**_units(plan, name), "role": role.value, "symbol": str(name)}
        coordinates[coordinate_name(name, role)] = MEMBER, table[:, k], about
    if plan.options.at is not None:
        coordinates[TIME] = TIME, plan.times
    attributes = {f"study {k}": v for k, v in plan.fingerprint.items()}
    return xr.Dataset(
        variables, coordinates, {**attributes, "members run": how, "axes": json.dumps(_axes(plan))}
    )


def _axes(plan: EnsemblePlan) -> list[list[Any]]:
    """[dimension, length, names of what varies along it] of every axis."""
    axes = []
    for axis in plan.grid.axes:
        names = [coordinate_name(name, plan.roles[name]) for name in axis.names]
        axes.append([DRAW if axis.is_random else ", ".join(names), len(axis), names])
    return axes


def _units(plan: EnsemblePlan, expression: Any) -> dict[str, str]:
    """As an attribute, where there is one."""
    try:
        unit = plan.system.unit(expression) if plan.system.has_units else ""
    except DalembertError:
        unit = ""
    return {"units": unit} if unit else {}


def reshape_to_axes(flat: Any, reasons: Mapping[int, str]) -> Any:
    """The same along the axes of the grid and the draws, with the reasons; an axis of one name
    has its values as its index.
    """
    xr, axes = require_xarray(), json.loads(flat.attrs["axes"])
    dims, lengths = [dim for dim, _, _ in axes], tuple(length for _, length, _ in axes)
    variables: dict[str, Any] = {}
    for name, variable in flat.data_vars.items():
        values = variable.values
        variables[name] = (
            (*dims, *variable.dims[1:]),
            values.reshape(*lengths, *values.shape[1:]),
            variable.attrs,
        )
    texts = np.full(math.prod(lengths), "", dtype=object)
    for member, reason in reasons.items():
        texts[member] = reason
    variables["reason"] = dims, texts.reshape(lengths), {"long_name": "why a run did not finish"}
    coordinates: dict[str, Any] = {}
    for k, (dim, length, names) in enumerate(axes):
        # the first of each run of equal places along this axis
        stride = math.prod(lengths[k + 1 :])
        for name in names:
            along = flat.coords[name]
            coordinates[name] = dim, along.values[: length * stride : stride], along.attrs
    if TIME in flat.coords:
        coordinates[TIME] = TIME, flat.coords[TIME].values
    return xr.Dataset(variables, coordinates, flat.attrs)


def counted_causes(data: Any, reasons: Mapping[int, str]) -> list[tuple[str, int, str]]:
    """(cause, number of members, reason of the first of them), the most frequent first; in older
    files causes are not known.
    """
    causes = data[CAUSE].values.ravel() if CAUSE in data else None
    titles = {
        k: "cause not recorded" if causes is None else Cause(int(causes[k])).title for k in reasons
    }
    first: dict[str, str] = {}
    for k, title in titles.items():
        first.setdefault(title, reasons[k])
    return [(title, n, first[title]) for title, n in Counter(titles.values()).most_common()]


class Ensemble(Displayable):
    """The runs of a parameter sweep: `data` is an xarray.Dataset along the varied quantities,
    `study["max(theta)"]` one of its variables.

    `plot()` draws a curve, a fan, a map or a histogram, as fits; `failures` lists who did not
    finish and why; `run(k)` is member k as a run of its own, with the same bits.
    """

    def __init__(
        self,
        plan: EnsemblePlan,
        read: Callable[[], Any],
        reasons: Mapping[int, str],
        run_one: Callable[[Any], Trajectory],
        seconds: float,
    ) -> None:
        self.plan, self._read, self._reasons, self._run_one, self.seconds = (
            plan,
            read,
            reasons,
            run_one,
            seconds,
        )

    @cached_property
    def _flat(self) -> Any:
        """All members along one dimension. xarray, which takes longer to import than many a
        study, is needed from here on.
        """
        return self._read()

    @cached_property
    def data(self) -> Any:
        """Everything that was kept, as an xarray.Dataset."""
        return reshape_to_axes(self._flat, self._reasons)

    def __getitem__(self, name: str) -> Any:
        if name not in self.data:
            kept = (
                suggest_name(str(name), self.data.data_vars)
                or f"kept are {', '.join(self.data.data_vars)}"
            )
            msg = f"{name!r} was not kept: {kept}"
            raise BadStudy(msg)
        return self.data[name]

    def __len__(self) -> int:
        return len(self.plan.grid)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many members finished, stopped, were refused or ended by an event."""
        counts = np.bincount(self._flat["outcome"].values, minlength=len(OUTCOMES))
        return {name: int(n) for name, n in zip(OUTCOMES, counts, strict=True) if n}

    @property
    def failures(self) -> dict[int, str]:
        """{member: why it did not finish}"""
        return dict(self._reasons)

    def values(self, member: int) -> dict[str, float]:
        """What was varied, of one member."""
        names = [coordinate_name(n, r) for n, r in self.plan.roles.items()]
        return dict(
            zip(
                names,
                self.plan.grid.table(np.array([self._check_index(member)]))[0].tolist(),
                strict=True,
            )
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row for each member: what was varied, how it ended, what was kept."""
        outcome = self._flat["outcome"].values
        kept = {each.name: self._flat[each.name].values for each in self.plan.outputs}
        return [
            {
                "member": k,
                **self.values(k),
                "outcome": OUTCOMES[int(outcome[k])],
                **{name: x[k] for name, x in kept.items()},
            }
            for k in range(len(self))
        ]

    def run(self, index: int) -> Trajectory:
        """One member as a run of its own: its whole motion, any quantity, pictures."""
        return self._run_one(self.plan.run_options(self._check_index(index)))

    def _check_index(self, member: int) -> int:
        if not -len(self) <= member < len(self):
            msg = f"run {member}: there are {len(self)}, numbered from 0"
            raise BadStudy(msg)
        return int(member) % len(self)

    def plot(self, name: str | None = None, path: str | None = None) -> Plot:
        """A curve over one axis, a map over two, a histogram over draws, a fan where times were
        requested.
        """
        from dalembert.analysis.studies.plotting import plot

        return plot(self, name, path)

    def _span_text(self, name: str) -> str:
        """The smallest and the largest value, and how many runs have none."""
        x = self._flat[name].values
        known = x[np.isfinite(x)]
        if not known.size:
            return "no value"
        without = f" ({x.size - known.size} without)" if known.size < x.size else ""
        return f"{known.min():.6g} … {known.max():.6g}{without}"

    def __str__(self) -> str:
        plan = self.plan
        varied = [
            f"{', '.join(axis.names)} ({len(axis)}{' draws' if axis.is_random else ''})"
            for axis in plan.grid.axes
        ]
        lines = [
            (
                f"{plan.system.name}: {len(self)} runs of "
                f"{plan.duration:g}{' s' if plan.system.has_units else ''}"
            )
        ]
        lines.append(f"  over      {' × '.join(varied) or 'nothing'}")
        lines.append(f"  outcome   {', '.join(f'{n} {name}' for name, n in self.outcomes.items())}")
        lines.append(
            f"  run       {self._flat.attrs['members run']}"
            + (f", {self.seconds:.3g} s" if self.seconds else "")
        )
        if "drift" in self._flat:
            drift = self._flat["drift"].values
            if np.isfinite(drift).any():
                lines.append(
                    f"  energy error (drift of E_Z): at most {np.nanmax(drift):.1e}, median "
                    f"{np.nanmedian(drift):.1e}"
                )
        lines += [f"  {kept.name}: {self._span_text(kept.name)}" for kept in plan.outputs]
        lines += [
            f"  {n} ×  {cause}: {reason}"
            for cause, n, reason in counted_causes(self._flat, self._reasons)[:5]
        ]
        return "\n".join(lines)
