"""What holds a system together along a run: joints, rows and prescribed motions, each with its
loads over time.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Final, NoReturn

import numpy as np

from dalembert.errors import Unknown
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable, NotebookDisplay
from dalembert.foundation.suggestions import suggest_name
from dalembert.runtime.simulation.plotting.chart import (
    COLOURS,
    GREY,
    MOST_PANELS,
    Chart,
    Curve,
    Panel,
)
from dalembert.runtime.simulation.plotting.plot import Plot, display
from dalembert.runtime.simulation.table_export import write_table
from dalembert.symbolic.units.quantities import label_with_unit

if TYPE_CHECKING:
    from dalembert.mechanics.kinematics.system_kinematics import Kinematics


# what is smaller than this part of the largest is printed as zero
_ROUNDOFF: Final = 1e-12
# the first words by which the rows of one declaration differ: "x", "about x", "axis 1", …
_ROW_SUFFIXES: Final = ("x", "y", "z", "along", "about", "across", "axis", "right")
MIN_NORM_NOTE: Final = "least Σ λ², each λ in the unit of its row"


def _components(
    name: str, force: FloatArray | None, moment: FloatArray | None
) -> dict[str, FloatArray]:
    pairs = [(what, x) for what, x in (("f", force), ("m", moment)) if x is not None]
    return {f"{name}: {what}_{axis}": x[:, k] for what, x in pairs for k, axis in enumerate("xyz")}


@dataclass(frozen=True, eq=False)
class JointLoad(Displayable):
    """The wrench that the system exerts on the part beyond a joint, at the joint:
    rows of N components over time.
    """

    name: str
    force: FloatArray = field(repr=False)
    moment: FloatArray = field(repr=False)
    at: FloatArray = field(repr=False)

    @property
    def columns(self) -> dict[str, FloatArray]:
        """Every component by name."""
        return _components(self.name, self.force, self.moment)


@dataclass(frozen=True, eq=False)
class RowLoad(Displayable):
    """The multiplier of a constraint row, its force on each coordinate, its power, and the
    force or moment on the body.
    """

    name: str
    multiplier: FloatArray = field(repr=False)
    along: dict[str, FloatArray] = field(repr=False)
    power: FloatArray = field(repr=False)
    force: FloatArray | None = field(default=None, repr=False)
    # about the point at which the force acts
    moment: FloatArray | None = field(default=None, repr=False)
    at: FloatArray | None = field(default=None, repr=False)
    on: str = ""
    against: str = ""

    @property
    def columns(self) -> dict[str, FloatArray]:
        """λ, and the components of the force or moment on the body."""
        return {
            f"{self.name}: lambda": self.multiplier,
            **_components(self.name, self.force, self.moment),
        }


class RowMultipliers(dict[str, "FloatArray"]):
    """λ of every row in augmented form, over the times of a run."""

    def __init__(self, multipliers: dict[str, FloatArray], kin: Kinematics | None = None) -> None:
        super().__init__(multipliers)
        self._kin = kin

    def __missing__(self, name: str) -> NoReturn:
        if self._kin is None:
            raise KeyError(name)
        contact = next((c for c in self._kin.system.contacts if c.name == name), None)
        if contact is not None:
            forces = " and ".join(f"run[{str(force.name)!r}]" for force in contact.forces)
            msg = (
                f"multipliers: {name!r} is a contact or friction, whose force the run solves for "
                f"mode by mode: {forces}"
            )
        elif any(row.name == name for row in self._kin.rows_with_multipliers):
            msg = (
                f"multipliers: the row {name!r} was eliminated, and this run has no λ of it; "
                f"its "
                f"force is in run.reactions"
            )
        else:
            rows = ", ".join(map(repr, self)) or "none"
            msg = (
                f"multipliers: no row is called {name!r}; the rows of this run that have a λ: "
                f"{rows}"
            )
        raise Unknown(msg)

    def __reduce__(self) -> tuple[type[RowMultipliers], tuple[dict[str, FloatArray]]]:
        return RowMultipliers, (dict(self),)


@dataclass(frozen=True, eq=False)
class DriveLoad(Displayable):
    """The load conjugate to a prescribed motion (a force for a distance, a torque for an angle),
    and its power.
    """

    name: str
    load: FloatArray = field(repr=False)
    power: FloatArray = field(repr=False)

    @property
    def columns(self) -> dict[str, FloatArray]:
        """The load and the power by name."""
        return {f"{self.name}: load": self.load, f"{self.name}: power": self.power}


@dataclass(frozen=True, eq=False)
class RunReactions(NotebookDisplay):
    """Every joint, row and prescribed motion of a run; `reactions["pin B"]` is one of them, by
    name.
    """

    system: str
    t: FloatArray = field(repr=False)
    joints: dict[str, JointLoad]
    rows: dict[str, RowLoad]
    drives: dict[str, DriveLoad]
    # all the power that is fed in, and the part of it from explicit time in positions and
    # potentials
    power_in: FloatArray = field(repr=False)
    power_of_time: FloatArray = field(repr=False)
    # ∫ P_in dt from the first time on
    work_in: FloatArray = field(repr=False)
    # residual of Lagrange's equations along q with these multipliers, relative to the largest load
    balance: float
    # whether rows repeat one another somewhere along the run
    is_shared: bool
    why_no_joints: str = ""
    # N, N m, W and J of every quantity by its label, where units were given
    units: dict[str, str] = field(default_factory=dict, repr=False)
    # computes the balance of the bodies on request
    _body_balance: Callable[[], float] | None = field(repr=False, default=None)

    @cached_property
    def body_balance(self) -> float | None:
        """The residual of the balances of force and moment of any body, and of the load of its
        joint along its free direction.

        Accelerations come from differentiated positions. A part of the largest load; None without
        joints.
        """
        return None if self._body_balance is None else self._body_balance()

    def __getitem__(self, name: str) -> JointLoad | RowLoad | DriveLoad:
        """A joint, a row or a prescribed motion; of a closure with several rows the whole force."""
        if not isinstance(name, str):
            msg = f"reactions are selected by name, not by {name!r:.60}"
            raise Unknown(msg)
        for kind in (self.rows, self.joints, self.drives):
            if name in kind:
                return kind[name]
        together = [row for label, row in self.rows.items() if _belongs_to_closure(label, name)]
        if together:
            return _sum_rows(name, together)
        known = [*self.rows, *self.joints, *self.drives]
        hint = suggest_name(name, known) or f"there are {', '.join(map(repr, known)) or 'none'}"
        msg = f"no joint, row or prescribed motion named {name!r}; {hint}"
        raise Unknown(msg)

    @property
    def loads(self) -> Iterator[JointLoad | RowLoad | DriveLoad]:
        """All of them."""
        yield from self.rows.values()
        yield from self.joints.values()
        yield from self.drives.values()

    def columns(self) -> dict[str, FloatArray]:
        """Every component over time, by name."""
        columns: dict[str, FloatArray] = {}
        for load in self.loads:
            columns |= load.columns
        return columns | {"power fed in": self.power_in}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """t and every component with 17 digits, a column for each."""
        columns = self.columns()
        heads = [label_with_unit(name, self.units.get(name, "")) for name in ("t", *columns)]
        write_table(path, heads, np.column_stack([self.t, *columns.values()]))

    def plot(self, *names: str, path: str | os.PathLike[str] | None = None) -> Plot:
        """Sizes of forces, moments and loads over time, of those named or of all."""
        chosen = [self[name] for name in names] if names else self.loads
        return display(_chart(self, chosen), f"{self.system}-reactions", path)

    def __str__(self) -> str:
        lines = [
            f"{self.system}: largest reactions for t = {_first(self.t):.6g} … {_last(self.t):.6g}",
            *self._largest_loads(),
            *self._supplied_power(),
        ]
        if self.is_shared:
            lines.append(
                f"some constraint rows are redundant: of the multipliers that give the same "
                f"motion these have the {MIN_NORM_NOTE}"
            )
        if self.why_no_joints:
            lines.append(f"no wrenches in the joints: {self.why_no_joints}")
        if self.body_balance is not None:
            lines.append(
                f"balance of every body, from its positions: {self.body_balance:.1e} of the "
                f"largest load"
            )
        if self.rows:
            lines.append(f"balance along the coordinates: {self.balance:.1e} of the largest load")
        return "\n".join(lines)

    def _largest_loads(self) -> list[str]:
        """The largest magnitude of each load; zero where only rounding is left."""
        maxima = [
            (label, float(np.max(np.abs(x), initial=0.0)))
            for load in self.loads
            for label, x in magnitudes(load).items()
        ]
        dust = _ROUNDOFF * max((x for _, x in maxima), default=0.0)
        width = max((len(label) for label, _ in maxima), default=0)
        return [
            f"  {label:<{width}}  {x if x > dust else 0.0:.6g} {self.units.get(label, '')}".rstrip()
            for label, x in maxima
        ]

    def _supplied_power(self) -> list[str]:
        """The power that prescribed motions supply."""
        lines = []
        W, J = (" W", " J") if self.units else ("", "")
        if np.any(self.power_in):
            lines.append(
                f"power supplied: at most {float(np.max(np.abs(self.power_in))):.6g}{W}; work "
                f"{_last(self.work_in):.6g}{J}"
            )
        if np.any(self.power_of_time):
            largest = float(np.max(np.abs(self.power_of_time)))
            lines.append(
                f"  of it at most {largest:.6g}{W} by explicit time in positions or potentials "
            )
        return lines

    __repr__ = __str__


def _belongs_to_closure(row: str, closure: str) -> bool:
    """Whether a row belongs to a closure or contact: `loop x` to `loop`, but not `loop closure
    x`.
    """
    return (
        row.startswith(f"{closure} ")
        and row.removeprefix(f"{closure} ").partition(" ")[0] in _ROW_SUFFIXES
    )


def _sum_rows(name: str, rows: Sequence[RowLoad]) -> RowLoad:
    """The rows of one closure as one: forces and moments on the first body summed, no single
    multiplier.
    """
    first = rows[0]
    signs = [1 if (r.on, r.against) == (first.on, first.against) else -1 for r in rows]
    if any({r.on, r.against} != {first.on, first.against} for r in rows):
        parts = ", ".join(repr(r.name) for r in rows)
        msg = f"{name!r} has constraint rows that act on different bodies: name one of {parts}"
        raise Unknown(msg)
    along: dict[str, FloatArray] = {}
    for row in rows:
        for q, x in row.along.items():
            along[q] = along[q] + x if q in along else x
    nothing = np.zeros((len(first.multiplier), 3))
    at = next((r.at for r in rows if r.at is not None), None)
    force, moment = nothing, nothing
    for sign, row in zip(signs, rows, strict=True):
        if row.force is not None and row.at is not None and at is not None:
            force = force + sign * row.force
            moment = moment + sign * np.cross(row.at - at, row.force)
        moment = moment if row.moment is None else moment + sign * row.moment
    lam = np.full(len(first.multiplier), np.nan) if len(rows) > 1 else first.multiplier
    power = np.sum([r.power for r in rows], axis=0)
    return RowLoad(
        name,
        lam,
        along,
        power,
        force if at is not None else None,
        moment,
        at,
        first.on,
        first.against,
    )


def magnitudes(load: JointLoad | RowLoad | DriveLoad) -> dict[str, FloatArray]:
    """|f|, |μ|, λ, load: one curve for each quantity."""
    if isinstance(load, DriveLoad):
        return {f"load of {load.name}": load.load, f"power of {load.name}": load.power}
    if isinstance(load, JointLoad):
        return {
            f"force in {load.name}": np.linalg.norm(load.force, axis=1),
            f"moment in {load.name}": np.linalg.norm(load.moment, axis=1),
        }
    power = {f"power of {load.name}": load.power} if np.any(load.power) else {}
    parts = (("force", load.force), ("moment", load.moment))
    norms = {
        f"{what} of {load.name}{f' on {load.on}' if load.on else ''}": np.linalg.norm(x, axis=1)
        for what, x in parts
        if x is not None
    }
    return {**(norms or {f"λ of {load.name}": load.multiplier}), **power}


def units_of_loads(
    loads: Iterable[JointLoad | RowLoad | DriveLoad], conjugate: Callable[[str], str]
) -> dict[str, str]:
    """The units of columns and sizes by their labels; `conjugate` knows those of multipliers and
    driving loads.
    """
    units = {"t": "s", "power fed in": "W"}
    of = {
        "force": "N",
        "moment": "N m",
        "power": "W",
        "f_x": "N",
        "f_y": "N",
        "f_z": "N",
        "m_x": "N m",
        "m_y": "N m",
        "m_z": "N m",
    }
    for load in loads:
        own = {**of, **dict.fromkeys(("λ", "lambda", "load"), conjugate(load.name))}
        units |= {label: own[label.partition(" ")[0]] for label in magnitudes(load)}
        units |= {label: own[label.rpartition(": ")[2]] for label in load.columns}
    return units


def _first(x: FloatArray) -> float:
    return float(x[0]) if len(x) else 0.0


def _last(x: FloatArray) -> float:
    return float(x[-1]) if len(x) else 0.0


def _chart(reactions: RunReactions, chosen: Iterable[JointLoad | RowLoad | DriveLoad]) -> Chart:
    """One panel for each quantity, such as the size of a force, and below them the power fed in."""
    t = reactions.t
    times = (float(t[0]), float(t[-1])) if len(t) else (0.0, 1.0)
    curves = [(label, x) for load in chosen for label, x in magnitudes(load).items()]
    panels = tuple(
        Panel(label_with_unit(label, reactions.units.get(label, "")), (Curve(label, t, x, colour),))
        for (label, x), colour in zip(curves[:MOST_PANELS], itertools.cycle(COLOURS), strict=False)
    )
    left_out = len(curves) - len(panels)
    facts = "reactions" + (f"  ·  {left_out} more not shown" if left_out else "")
    below = Panel(
        label_with_unit("power fed in", reactions.units.get("power fed in", "")),
        (Curve("power", t, reactions.power_in, COLOURS[1]),),
        zero_line=True,
    )
    return Chart(reactions.system, facts, GREY, times, panels, below)
