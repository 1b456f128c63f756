"""λ(t), the wrench in every joint, and the load behind every specified motion, along a whole run.

The multipliers of the rows follow from Lagrange's equations along q, Aᵀλ = d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q − Q, with the
accelerations of the run; the wrenches in the joints from the balances of the bodies cut free. Where rows repeat one another λ is
the one of least Σ λ_j², each in the unit of its row: the motion is the same for every other, and so is Aᵀλ.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.algebra.folds import Linear
from dalembert.algebra.parser import nearest
from dalembert.algebra.scalar import Scalar
from dalembert.errors import BadExpression, Unknown
from dalembert.geometry.vector import Vector
from dalembert.kinematics.kinematics import Kinematics
from dalembert.kinetics.driving import Driving, driving
from dalembert.kinetics.reactions import Reactions, RowReaction, reactions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.simulation.plotting import Plot
    from dalembert.simulation.trajectory import Trajectory

    Numbers = NDArray[np.float64]

# singular values below this part of the largest are zero
_RANK: Final = 1e-9
METRIC: Final = "least Σ λ², each λ in the unit of its row"


@dataclass(frozen=True, eq=False)
class JointLoad:
    """The wrench that the rest of the system exerts on what lies beyond a joint, at the joint: rows of N components over time."""

    name: str
    force: Numbers
    moment: Numbers
    at: Numbers

    @property
    def columns(self) -> dict[str, Numbers]:
        """Every component by name."""
        return {f"{self.name}: {what}_{axis}": x[:, k] for what, x in (("f", self.force), ("m", self.moment)) for k, axis in enumerate("xyz")}


@dataclass(frozen=True, eq=False)
class RowLoad:
    """A row's multiplier, its force on each coordinate, the power it feeds in, and the force or moment on the body it holds."""

    name: str
    multiplier: Numbers
    along: dict[str, Numbers]
    power: Numbers
    force: Numbers | None = None
    moment: Numbers | None = None
    on: str = ""
    against: str = ""

    @property
    def columns(self) -> dict[str, Numbers]:
        """λ, and the components of the force or moment on the body."""
        found = {f"{self.name}: lambda": self.multiplier}
        for what, x in (("f", self.force), ("m", self.moment)):
            if x is not None:
                found |= {f"{self.name}: {what}_{axis}": x[:, k] for k, axis in enumerate("xyz")}
        return found


@dataclass(frozen=True, eq=False)
class DriveLoad:
    """The load conjugate to a specified motion (a force for a distance, a torque for an angle), and its power."""

    name: str
    load: Numbers
    power: Numbers

    @property
    def columns(self) -> dict[str, Numbers]:
        """The load and the power by name."""
        return {f"{self.name}: load": self.load, f"{self.name}: power": self.power}


@dataclass(frozen=True, eq=False)
class RunReactions:
    """Every joint, row and specified motion of a run; `reactions["pin B"]` is one of them, by name."""

    system: str
    t: Numbers = field(repr=False)
    joints: dict[str, JointLoad]
    rows: dict[str, RowLoad]
    drives: dict[str, DriveLoad]
    # all the power that is fed in, and the part of it that time does where it stands in positions and potentials itself
    power_in: Numbers = field(repr=False)
    power_of_time: Numbers = field(repr=False)
    # what is left of Lagrange's equations along q with these multipliers, as a part of the largest load
    balance: float
    # whether rows repeat one another somewhere along the run
    is_shared: bool
    why_no_joints: str = ""

    def __getitem__(self, name: str) -> JointLoad | RowLoad | DriveLoad:
        """A joint, a row or a specified motion; of a closure with several rows the whole force."""
        for kind in (self.rows, self.joints, self.drives):
            if name in kind:
                return kind[name]
        together = [row for label, row in self.rows.items() if label.startswith(f"{name} ")]
        if together:
            return _joined(name, together)
        known = [*self.rows, *self.joints, *self.drives]
        hint = nearest(name, known) or f"there are {', '.join(map(repr, known)) or 'none'}"
        msg = f"no joint, row or specified motion named {name!r}; {hint}"
        raise Unknown(msg)

    @property
    def loads(self) -> Iterator[JointLoad | RowLoad | DriveLoad]:
        """All of them."""
        yield from self.rows.values()
        yield from self.joints.values()
        yield from self.drives.values()

    @property
    def work_in(self) -> Numbers:
        """∫ P_in dt from the first time on, by the trapezoidal rule between the times."""
        steps = np.diff(self.t) * (self.power_in[1:] + self.power_in[:-1]) / 2
        return np.concatenate([np.zeros(1), np.cumsum(steps)])[: len(self.t)]

    def columns(self) -> dict[str, Numbers]:
        """Every component over time, by name."""
        found: dict[str, Numbers] = {}
        for load in self.loads:
            found |= load.columns
        return found | {"power fed in": self.power_in}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """t and every component with 17 digits, a column for each."""
        from dalembert.simulation.tables import write_table

        columns = self.columns()
        write_table(path, ("t", *columns), np.column_stack([self.t, *columns.values()]))

    def plot(self, *names: str, path: str | os.PathLike[str] | None = None) -> Plot:
        """Sizes of forces, moments and loads over time, of those named or of all."""
        from dalembert.simulation.reaction_plot import plot_reactions

        return plot_reactions(self, [self[name] for name in names] if names else list(self.loads), path)

    def __str__(self) -> str:
        lines = [f"{self.system}: largest reactions for t = {_first(self.t):.6g} … {_last(self.t):.6g}"]
        rows = [(label, f"{float(np.max(np.abs(x), initial=0.0)):.6g}") for load in self.loads for label, x in sizes(load).items()]
        width = max((len(label) for label, _ in rows), default=0)
        lines += [f"  {label:<{width}}  {size}" for label, size in rows]
        if self.drives or np.any(self.power_in):
            lines.append(f"power fed in: at most {float(np.max(np.abs(self.power_in), initial=0.0)):.6g}; work {_last(self.work_in):.6g}")
        if self.is_shared:
            lines.append(f"some rows repeat others: of the multipliers that give the same motion these have the {METRIC}")
        if self.why_no_joints:
            lines.append(f"no wrenches in the joints: {self.why_no_joints}")
        if self.rows:
            lines.append(f"balance along the coordinates: {self.balance:.1e} of the largest load")
        return "\n".join(lines)

    __repr__ = __str__


def _joined(name: str, rows: Sequence[RowLoad]) -> RowLoad:
    """The rows of one closure as one: forces and moments on the first body summed, no single multiplier."""
    first = rows[0]
    same = [r for r in rows if (r.on, r.against) == (first.on, first.against)]
    if len(same) < len(rows):
        parts = ", ".join(repr(r.name) for r in rows)
        msg = f"{name!r} has rows that act on different bodies: ask for one of {parts}"
        raise Unknown(msg)
    along: dict[str, Numbers] = {}
    for row in rows:
        for q, x in row.along.items():
            along[q] = along[q] + x if q in along else x
    forces, moments = [r.force for r in rows if r.force is not None], [r.moment for r in rows if r.moment is not None]
    lam = np.full(len(first.multiplier), np.nan) if len(rows) > 1 else first.multiplier
    power = np.sum([r.power for r in rows], axis=0)
    return RowLoad(name, lam, along, power, _sum(forces), _sum(moments), first.on, first.against)


def _sum(parts: Sequence[Numbers]) -> Numbers | None:
    return np.asarray(np.sum(parts, axis=0)) if parts else None


def sizes(load: JointLoad | RowLoad | DriveLoad) -> dict[str, Numbers]:
    """|f|, |μ|, λ, load: one curve for each quantity."""
    if isinstance(load, DriveLoad):
        return {f"load of {load.name}": load.load, f"power of {load.name}": load.power}
    if isinstance(load, JointLoad):
        return {
            f"force in {load.name}": np.linalg.norm(load.force, axis=1),
            f"moment in {load.name}": np.linalg.norm(load.moment, axis=1),
        }
    if load.force is not None:
        return {f"force of {load.name} on {load.on}": np.linalg.norm(load.force, axis=1)}
    if load.moment is not None:
        return {f"moment of {load.name} on {load.on}": np.linalg.norm(load.moment, axis=1)}
    return {f"λ of {load.name}": load.multiplier}


def _first(x: Numbers) -> float:
    return float(x[0]) if len(x) else 0.0


def _last(x: Numbers) -> float:
    return float(x[-1]) if len(x) else 0.0


# ---- from a run ----------------------------------------------------------------------------------


def run_reactions(run: Trajectory) -> RunReactions:
    """All reactions of a run at its times."""
    kin = run.kinematics.fork()
    asked = _Asked(run, kin)
    needs = driving(kin)
    lam, balance, is_shared = _multipliers(asked, needs)
    found = reactions(kin)
    power = asked.table(needs.row_rates)
    drives = {d.name: _drive(asked, d.name, d.rate, d.load, d.rows, lam) for d in needs.drives}
    own = [k for k, row in enumerate(kin.acting_rows) if not row.is_norm]
    rows = {row.row: _row(run, found, row, lam[k], (lam * power)[k]) for k, row in zip(own, found.rows, strict=True)}
    fed = asked.table([needs.power])[0]
    others = sum((d.power for d in drives.values()), np.zeros(len(run))) + np.sum(lam * power, axis=0)
    joints = _joints(run, found, lam[own])
    rest = np.where(np.abs(fed - others) > _RANK * np.max(np.abs([fed, others]), initial=0.0), fed - others, 0.0)
    return RunReactions(run.system.name, run.t, joints, rows, drives, fed, rest, balance, is_shared, found.why_no_joints)


class _Asked:
    """Nodes of one fork as numbers along the run."""

    def __init__(self, run: Trajectory, kin: Kinematics) -> None:
        self.run, self.kin = run, kin

    def table(self, nodes: Sequence[int]) -> Numbers:
        """A row for each node, over the times."""
        if not nodes:
            return np.zeros((0, len(self.run)))
        return self.run.rows([Scalar(self.kin.tape, i) for i in nodes])


def _multipliers(asked: _Asked, needs: Driving) -> tuple[Numbers, float, bool]:
    """λ of least norm with Aᵀλ = what the rows have to balance, at all times at once; what is left; whether rows repeat others."""
    n, m, length = asked.kin.n_q, len(needs.A), len(asked.run)
    left = asked.table(needs.along_q).T
    if not m or not length:
        return np.zeros((m, length)), 0.0, False
    A = asked.table([a for row in needs.A for a in row]).T.reshape(length, m, n)
    if not (np.isfinite(A).all() and np.isfinite(left).all()):
        msg = "the reactions of this run cannot be had: a row or a load has no finite value at one of its times"
        raise BadExpression(msg)
    inverse = np.linalg.pinv(A.transpose(0, 2, 1), rcond=_RANK)
    lam = np.einsum("tmn,tn->tm", inverse, left)
    remains = left - np.einsum("tmn,tm->tn", A, lam)
    size = float(np.abs(A * lam[:, :, np.newaxis]).max(initial=0.0))
    singular = np.linalg.svd(A, compute_uv=False)
    is_shared = m > n or bool(np.any(singular[:, -1] <= _RANK * singular[:, 0]))
    return lam.T, float(np.abs(remains).max()) / (size or 1.0), is_shared


def _drive(asked: _Asked, name: str, rate: int, load: int, rows: Sequence[int], lam: Numbers) -> DriveLoad:
    """τ = load − λᵀA_x, P = τ ẋ"""
    xdot, total, *A_x = asked.table([rate, load, *rows])
    tau = total - sum((x * y for x, y in zip(lam, A_x, strict=True)), np.zeros(len(total)))
    return DriveLoad(name, tau, tau * xdot)


def _row(run: Trajectory, found: Reactions, row: RowReaction, lam: Numbers, power: Numbers) -> RowLoad:
    nodes = [e.i for e in row.along.values()]
    vectors = [v for v in (row.force, row.moment) if v is not None]
    nodes += [c for v in vectors for c in v.components(run.system.N)]
    values = _with_multipliers(run, found, nodes, {row.multiplier.i: lam})
    along = dict(zip(row.along, values, strict=False))
    rest = iter(values[len(along) :])
    force = None if row.force is None else np.column_stack([next(rest) for _ in range(3)])
    moment = None if row.moment is None else np.column_stack([next(rest) for _ in range(3)])
    return RowLoad(row.row, lam, along, power, force, moment, row.on, row.against)


def _joints(run: Trajectory, found: Reactions, lam: Numbers) -> dict[str, JointLoad]:
    symbols = {row.multiplier.i: x for row, x in zip(found.rows, lam, strict=True)}
    vectors: list[Vector] = [v for joint in found.joints for v in (joint.force, joint.moment, joint.at)]
    values = _with_multipliers(run, found, [c for v in vectors for c in v.components(run.system.N)], symbols)
    tables = iter(np.reshape(values, (len(vectors), 3, len(run))).transpose(0, 2, 1)) if vectors else iter(())
    loads: dict[str, JointLoad] = {}
    for joint in found.joints:
        name = joint.joint if joint.joint not in loads else f"{joint.joint} ({len(loads)})"
        loads[name] = JointLoad(name, next(tables), next(tables), next(tables))
    return loads


def _with_multipliers(run: Trajectory, found: Reactions, nodes: Sequence[int], lam: Mapping[int, Numbers]) -> list[Any]:
    """c + Σ k_j λ_j for nodes that are linear in the multipliers."""
    linear = Linear(found.tape, list(lam))
    forms = [linear(i) for i in nodes]
    wanted = list(dict.fromkeys(i for c, k in forms for i in (c, *k.values())))
    values = dict(zip(wanted, run.rows([Scalar(found.tape, i) for i in wanted]), strict=True)) if wanted else {}
    columns = list(lam.values())
    return [values[c] + sum((values[i] * columns[j] for j, i in k.items()), np.zeros(len(run))) for c, k in forms]
