"""q(t₀), u(t₀) from whatever is known about them: the rest is zero where the rows allow it, otherwise solved for.

Positions come by damped Gauss–Newton on the holonomic rows, then speeds by linear least norm: with q̇ = W u + X every
row A q̇ + b = 0 holds by construction, so that only what was asked for remains to be satisfied.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from dalembert.algebra.folds import Linear
from dalembert.errors import DalembertWarning, NotLinear
from dalembert.geometry.rotation import Quaternion
from dalembert.kinematics.kinematics import Kinematics
from dalembert.simulation.assembly import ACCEPTED, Assembler, Assembly, PositionRow
from dalembert.simulation.conditions import Condition, conditions
from dalembert.simulation.failures import BadStart
from dalembert.simulation.reading import Key, Level, Reader, Value, label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Origin = Literal["given", "zero", "solved"]

# singular values below this part of the largest are zero
_RANK: Final = 1e-10


class Mark(NamedTuple):
    """A value of the start and where it comes from."""

    name: str
    value: float
    origin: Origin


@dataclass(frozen=True, eq=False)
class Start:
    """The whole start at time t, each value marked given, zero or solved."""

    t: float
    q: Numbers
    u: Numbers
    qdot: Numbers
    marks: tuple[Mark, ...]
    position_residual: float
    velocity_residual: float
    rank: int
    n_rows: int
    iterations: int
    notes: tuple[str, ...] = ()

    def counted(self) -> str:
        """2 given, 3 solved, 5 zero"""
        return ", ".join(f"{n} {o}" for o in ("given", "solved", "zero") if (n := sum(m.origin == o for m in self.marks)))

    def __str__(self) -> str:
        lines = [f"start at t = {self.t:.12g}", *table([(m.name, f"{m.value:.12g}", m.origin) for m in self.marks])]
        if self.n_rows:
            steps = f"{self.iterations} iteration{'s' * (self.iterations != 1)}"
            sizes = f"positions to {self.position_residual:.1e}, velocities to {self.velocity_residual:.1e}"
            lines.append(f"constraints hold: {sizes}; rank {self.rank} of {self.n_rows}; {steps}")
        return "\n".join([*lines, *self.notes])


def table(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Name, number, remark: the numbers stand with their decimal points below one another."""
    whole = [x.partition(".")[0].partition("e")[0] for _, x, _ in rows]
    left, first = max(map(len, whole), default=0), max((len(n) for n, _, _ in rows), default=0)
    placed = [(n, " " * (left - len(w)) + x, r) for (n, x, r), w in zip(rows, whole, strict=True)]
    middle = max((len(x) for _, x, _ in placed), default=0)
    return [f"  {n:<{first}}  {x:<{middle}}  {r}" for n, x, r in placed]


def find_start(
    kin: Kinematics, given: Mapping[Key, Any], values: Mapping[int, Value], t: float = 0.0, guess: Mapping[Key, Any] | None = None
) -> Start:
    """q and u at time t that satisfy every row and everything in `given`.

    A key is a coordinate, a rate, a speed or any expression in them, linear in the velocities. What is not named is zero
    (a quaternion: no rotation) where the rows allow it, otherwise it is solved for, beginning at zero or at `guess`.
    """
    reader = Reader(kin, values)
    asked = conditions(reader, given, t)
    found = _positions(reader, asked, conditions(reader, guess or {}, t, "guess"), t)
    state = {**dict(zip(reader.kin.q, found.q.tolist(), strict=True)), reader.time: t}
    speeds = [c for c in asked if c.level is Level.VELOCITY]
    u = _Speeds(reader, speeds, state).solve()
    rank, notes = _rank(reader, state)
    qdot = _rates(reader, state, u, notes)
    velocity = _velocity_residual(reader, speeds, state, u, qdot)
    for note in notes:
        warnings.warn(note, DalembertWarning, stacklevel=2)
    marks = _marks(reader, asked, found, u, qdot)
    position = float(np.max(np.abs(found.residuals), initial=0.0))
    return Start(t, found.q, u, qdot, marks, position, velocity, rank, len(reader.kin.rows), found.iterations, tuple(notes))


# ---- positions ---------------------------------------------------------------------------------


def _positions(reader: Reader, asked: Sequence[Condition], guess: Sequence[Condition], t: float) -> Assembly:
    """φ(q, t) = 0 of every holonomic row, |e|² = 1 of every quaternion, g(q, t) = value of every given expression."""
    kin = reader.kin
    place = {i: k for k, i in enumerate(kin.q)}
    rows = [PositionRow(r.name, reader.reduced(r.phi), float(r.is_norm), r.is_norm) for r in kin.rows if r.phi is not None]
    q, free, guessed = _no_rotation(kin), np.ones(kin.n_q, dtype=bool), np.zeros(kin.n_q, dtype=bool)
    for c in asked:
        if c.symbol in place:
            q[place[c.symbol]], free[place[c.symbol]] = c.value, False
        elif c.level is Level.POSITION:
            rows.append(PositionRow(c.name, c.node, c.value, is_given=True))
    assembler = Assembler(reader, rows, t)
    for c in guess:
        if c.symbol not in place or not free[place[c.symbol]] or not assembler.structure[:, place[c.symbol]].any():
            msg = f"guess: {c.name} is not a coordinate that the constraints determine; give it in the start"
            raise BadStart(msg)
        q[place[c.symbol]], guessed[place[c.symbol]] = c.value, True
    found = assembler.solve(q, free, guessed)
    if not found.satisfied.all():
        raise BadStart(_contradiction(reader, rows, asked, assembler, found))
    return found


def _no_rotation(kin: Kinematics) -> Numbers:
    """q = 0, and e = (1, 0, 0, 0) for every quaternion."""
    q = np.zeros(kin.n_q)
    for F in kin.system.space.frames:
        if isinstance(F.rotation, Quaternion):
            q[kin.q.index(F.rotation.e[0])] = 1.0
    return q


def _contradiction(reader: Reader, rows: Sequence[PositionRow], asked: Sequence[Condition], assembler: Assembler, found: Assembly) -> str:
    """The row that fails worst, its residual, and the given values that meet in it."""
    worst = int(np.argmax(np.where(found.satisfied, -1.0, np.nan_to_num(np.abs(found.residuals), nan=np.inf))))
    row, residual = rows[worst], found.residuals[worst]
    if math.isnan(residual):
        return f"start: {row.name!r} has no real value at the given positions"
    inside = {reader.kin.q[k] for k in np.flatnonzero(assembler.structure[worst])}
    names = [str(c) for c in asked if c.symbol in inside or (c.level is Level.POSITION and c.name != row.name and c.symbol is None)]
    what = f"{row.name} = {row.target:.12g}" if row.is_given else f"{row.name!r}"
    if not found.moved.any():
        remedy = "divide the quaternion by its length" if row.is_norm else "change one of them, or leave one out so that it is solved for"
        return f"start: {', '.join(names) or 'all coordinates zero'} contradicts {what}: residual {residual:.6g}; {remedy}"
    least = f"least-squares residual {residual:.6g} after {found.iterations} iterations"
    with_these = f" with {', '.join(names)}" if names else ""
    return f"start: no position found that satisfies {what}{with_these}: {least}; change a value, or give a guess near the solution"


# ---- speeds ------------------------------------------------------------------------------------


class _Speeds:
    """C u = d − c: the given velocities as linear conditions on the independent speeds."""

    def __init__(self, reader: Reader, asked: Sequence[Condition], state: Mapping[int, float]) -> None:
        self._reader, self._asked, self._state = reader, asked, state
        kin = reader.kin
        linear = Linear(reader.tape, kin.u)
        self.structure = np.zeros((len(asked), kin.n_u), dtype=bool)
        self.C, rest = np.zeros((len(asked), kin.n_u)), np.zeros(len(asked))
        for k, c in enumerate(asked):
            try:
                constant, coefficients = linear(c.node)
            except NotLinear as problem:
                msg = f"start: {c.name} is {problem}; a given velocity must be linear in the rates and speeds"
                raise BadStart(msg) from problem
            rest[k], *found = reader.floats([constant, *coefficients.values()], state)
            self.C[k, list(coefficients)] = found
            self.structure[k, list(coefficients)] = True
        if not (np.isfinite(self.C).all() and np.isfinite(rest).all()):
            bad = asked[int(np.argmin(np.isfinite(self.C).all(axis=1) & np.isfinite(rest)))]
            msg = f"start: {bad.name} is not defined at the start positions (a division by zero): choose other speeds or another position"
            raise BadStart(msg)
        self.d = np.array([c.value for c in asked]) - rest

    def solve(self) -> Numbers:
        """What is given directly stays as it is; of the rest the solution of least norm."""
        kin = self._reader.kin
        u, free = np.zeros(kin.n_u), np.ones(kin.n_u, dtype=bool)
        for c in self._asked:
            if c.symbol in kin.u:
                u[kin.u.index(c.symbol)], free[kin.u.index(c.symbol)] = c.value, False
        columns = free & self.structure.any(axis=0)
        if columns.any():
            for _ in range(2):
                # the second time removes rounding
                step = np.linalg.lstsq(self.C[:, columns], self.d - self.C @ u, rcond=_RANK)[0]
                u[columns] += step
            u = self._without_dust(u, columns)
        self._check(u)
        return u

    def _tolerance(self, u: Numbers) -> Numbers:
        return ACCEPTED * (np.abs(self.C) @ np.abs(u) + np.abs(self.d))

    def _without_dust(self, u: Numbers, columns: NDArray[np.bool_]) -> Numbers:
        """Values that only rounding made differ from zero."""
        clean = np.where(columns & (np.abs(u) <= 1e-14 * np.abs(u).max(initial=0.0)), 0.0, u)
        return clean if (np.abs(self.C @ clean - self.d) <= self._tolerance(u)).all() else u

    def _check(self, u: Numbers) -> None:
        residuals = self.C @ u - self.d
        excess = np.abs(residuals) - self._tolerance(u)
        if not (excess > 0.0).any():
            return
        k = int(np.argmax(excess))
        others = [str(c) for c in self._asked if c is not self._asked[k]]
        row = self._violated()
        against = f"contradicts {row}" if row else "cannot be had at this position"
        with_these = f" with {', '.join(others)}" if others else ""
        msg = f"start: {self._asked[k]}{with_these} {against}: least-squares residual {residuals[k]:.6g}; leave a value out or change it"
        raise BadStart(msg)

    def _violated(self) -> str:
        """The constraint that the rates as they were given violate most, with its residual."""
        kin = self._reader.kin
        u = {i: 0.0 for i in kin.u} | {c.symbol: c.value for c in self._asked if c.symbol in kin.u}
        nodes = [self._reader.reduced(x) for x in kin.qdot]
        given = {c.symbol: c.value for c in self._asked if c.symbol is not None}
        computed = self._reader.floats(nodes, {**self._state, **u})
        qdot = np.array([given.get(x, y) for x, y in zip(kin.qdot, computed, strict=True)])
        names = [r.name for r in kin.rows if not r.is_norm]
        A, b = _rows(self._reader, self._state)
        residuals = (A @ qdot + b)[: len(names)]
        if not names or not np.isfinite(residuals).all() or not residuals.any():
            return ""
        worst = int(np.argmax(np.abs(residuals)))
        return f"{names[worst]!r} (residual {residuals[worst]:.6g})"


def _rows(reader: Reader, state: Mapping[int, float]) -> tuple[Numbers, Numbers]:
    """A and b at the start."""
    rows, n = reader.kin.rows, reader.kin.n_q
    A = np.zeros((len(rows), n))
    for k, row in enumerate(rows):
        A[k, list(row.A)] = reader.floats([reader.reduced(a) for a in row.A.values()], state)
    return A, reader.floats([reader.reduced(row.b) for row in rows], state)


def _rank(reader: Reader, state: Mapping[int, float]) -> tuple[int, list[str]]:
    """rank A at the start, and a note that names the rows that are not independent there."""
    names = [r.name for r in reader.kin.rows]
    A, b = _rows(reader, state)
    if not names or not (np.isfinite(A).all() and np.isfinite(b).all()):
        return 0, []
    norms = np.linalg.norm(A, axis=1, keepdims=True)
    U, s, _ = np.linalg.svd(A / np.where(norms > 0.0, norms, 1.0))
    rank = int(np.sum(s > _RANK * max(s[0], _RANK)))
    if rank == len(names):
        return rank, []
    involved = np.flatnonzero((np.abs(U[:, rank:]) > 1e-6).any(axis=1))
    listed = " and ".join(repr(names[k]) for k in involved)
    verb = "vanishes" if len(involved) == 1 else "are not independent"
    return rank, [
        f"a singular position: {listed} {verb} at this start (rank {rank} of {len(names)}), so that speeds and reactions may be undetermined"
    ]


def _rates(reader: Reader, state: Mapping[int, float], u: Numbers, notes: Sequence[str]) -> Numbers:
    """q̇ = W u + X"""
    kin = reader.kin
    full = {**state, **dict(zip(kin.u, u.tolist(), strict=True))}
    qdot = np.array([reader.floats([reader.reduced(x)], full)[0] for x in kin.qdot])
    if not np.isfinite(qdot).all():
        bad = ", ".join(label(kin.name(kin.qdot[k])) for k in np.flatnonzero(~np.isfinite(qdot)))
        speeds = ", ".join(label(kin.name(x)) for x in kin.u)
        why = f" ({notes[0]})" if notes else ""
        msg = f"start: at these positions the speeds {speeds} do not determine {bad}: declare other speeds or start elsewhere{why}"
        raise BadStart(msg)
    return qdot


def _velocity_residual(reader: Reader, asked: Sequence[Condition], state: Mapping[int, float], u: Numbers, qdot: Numbers) -> float:
    """The largest of |A q̇ + b| and of what remains of the given velocities."""
    A, b = _rows(reader, state)
    full = {**state, **dict(zip(reader.kin.u, u.tolist(), strict=True))}
    left = reader.floats([c.node for c in asked], full) - np.array([c.value for c in asked])
    return float(max(np.max(np.abs(A @ qdot + b), initial=0.0), np.max(np.abs(left), initial=0.0)))


# ---- marks -------------------------------------------------------------------------------------


def _marks(reader: Reader, asked: Sequence[Condition], found: Assembly, u: Numbers, qdot: Numbers) -> tuple[Mark, ...]:
    """Coordinates, speeds, the rates that are not speeds, and the expressions that were given."""
    kin = reader.kin
    given = {c.symbol for c in asked}
    default = _no_rotation(kin)
    marks = []
    for i, x, at_rest in zip(kin.q, found.q, default, strict=True):
        marks.append(_mark(kin, i, x, given, untouched=x == at_rest))
    for i, x in [*zip(kin.u, u, strict=True), *((i, x) for i, x in zip(kin.qdot, qdot, strict=True) if i not in kin.u)]:
        marks.append(_mark(kin, i, x, given, untouched=x == 0.0))
    return (*marks, *(Mark(c.name, c.value, "given") for c in asked if c.symbol is None))


def _mark(kin: Kinematics, i: int, x: float, given: set[int | None], *, untouched: bool) -> Mark:
    origin: Origin = "given" if i in given else "zero" if untouched else "solved"
    return Mark(label(kin.name(i)), float(x) + 0.0, origin)
