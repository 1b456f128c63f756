"""q(t₀), u(t₀) from whatever is known about them: the rest is zero where the rows allow it, otherwise solved for.

Positions come by damped Gauss–Newton on the holonomic rows, then speeds by linear least norm: with q̇ = W u + X every
row A q̇ + b = 0 holds by construction, so that only what was asked for remains to be satisfied.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from dalembert.errors import warn
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.model.system import units_by_name
from dalembert.ode.failures import BadStart
from dalembert.ode.row_rank import rank_of_rows
from dalembert.states.assembly import Assembler, Assembly, PositionRow
from dalembert.states.conditions import Condition, conditions
from dalembert.states.evaluator import Evaluator, Key, Level, label
from dalembert.states.quaternions import no_rotation, with_unit_quaternions
from dalembert.states.velocities import Velocities
from dalembert.units.dimension import labelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Origin = Literal["given", "zero", "solved"]


class StartValue(NamedTuple):
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
    marks: tuple[StartValue, ...]
    position_residual: float
    velocity_residual: float
    rank: int
    n_rows: int
    iterations: int
    notes: tuple[str, ...] = ()
    # of those values whose dimension is known
    units: Mapping[str, str] = field(default_factory=dict)
    # first-order states
    x: Numbers = field(default_factory=lambda: np.zeros(0))

    @property
    def y(self) -> Numbers:
        """(q, x, u), the state that a run begins with."""
        return np.concatenate([self.q, self.x, self.u])

    def counted(self) -> str:
        """2 given, 3 solved, 5 zero"""
        return ", ".join(f"{n} {o}" for o in ("given", "solved", "zero") if (n := sum(m.origin == o for m in self.marks)))

    def given(self) -> str:
        """theta = 0.5 rad, x = 2 m: what was asked for."""
        asked = [m for m in self.marks if m.origin == "given"]
        return ", ".join(f"{m.name} = {m.value:.6g} {self.units.get(m.name, '')}".rstrip() for m in asked)

    def __str__(self) -> str:
        named = {m.name: labelled(m.name, self.units.get(m.name, "")) for m in self.marks}
        rows = [(named[m.name], f"{m.value:.12g}", "zero rotation" if m.origin == "zero" and m.value else m.origin) for m in self.marks]
        lines = [f"start at t = {self.t:.12g}", *table(rows)]
        if self.n_rows:
            steps = f"{self.iterations} iteration{'s' * (self.iterations != 1)}"
            sizes = f"residual {self.position_residual:.2g} in positions, {self.velocity_residual:.2g} in velocities"
            lines.append(f"constraints: {sizes}; rank {self.rank} of {self.n_rows}; {steps}")
        return "\n".join([*lines, *self.notes])


def table(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Name, number, remark: the numbers stand with their decimal points below one another."""
    whole = [x.partition(".")[0].partition("e")[0] for _, x, _ in rows]
    left, first = max(map(len, whole), default=0), max((len(n) for n, _, _ in rows), default=0)
    placed = [(n, " " * (left - len(w)) + x, r) for (n, x, r), w in zip(rows, whole, strict=True)]
    middle = max((len(x) for _, x, _ in placed), default=0)
    return [f"  {n:<{first}}  {x:<{middle}}  {r}" for n, x, r in placed]


def find_start(
    kin: Kinematics, given: Mapping[Key, Any], values: Mapping[int, float], t: float = 0.0, guess: Mapping[Key, Any] | None = None
) -> Start:
    """q and u at time t that satisfy every row and everything in `given`.

    A key is a coordinate, a rate, a speed or any expression in them, linear in the velocities. What is not named is zero
    (a quaternion: no rotation) where the rows allow it, otherwise it is solved for, beginning at zero or at `guess`.
    """
    evaluator = Evaluator(kin, values)
    asked, notes = with_unit_quaternions(evaluator, conditions(evaluator, given, t))
    x, asked = _first_order(evaluator, asked)
    guessed = conditions(evaluator, guess or {}, t, "guess")
    # of the velocities only those that a row nonlinear in them determines have several branches
    fast = [c for c in guessed if c.level is Level.VELOCITY and kin.nonlinear]
    found = _positions(evaluator, asked, [c for c in guessed if c not in fast], t)
    velocities = Velocities(evaluator, [c for c in asked if c.level is Level.VELOCITY], found.q, t, fast)
    u = velocities.speeds()
    qdot = velocities.rates(u)
    for note in velocities.notes:
        warn(note)
    marks = _marks(evaluator, asked, found, u, qdot) + x
    position = float(np.max(np.abs(found.residuals), initial=0.0))
    residuals = position, velocities.residual(u, qdot)
    rank, count = _rank(evaluator, velocities, found.q, u)
    units = units_by_name(kin.system, (m.name for m in marks))
    return Start(
        t,
        found.q,
        u,
        qdot,
        marks,
        *residuals,
        rank,
        count,
        found.iterations,
        (*notes, *velocities.notes),
        units,
        np.array([m.value for m in x]),
    )


def _first_order(evaluator: Evaluator, asked: Sequence[Condition]) -> tuple[tuple[StartValue, ...], list[Condition]]:
    """First-order states as given, as declared, or zero; and what was asked of the motion itself."""
    kin = evaluator.kin
    given = {c.symbol: c.value for c in asked if c.symbol in kin.x}
    marks = []
    for i in kin.x:
        declared = kin.system.symbols[kin.name(i)].value
        origin: Origin = "given" if i in given or declared is not None else "zero"
        marks.append(StartValue(kin.name(i), given.get(i, float(declared or 0.0)), origin))
    return tuple(marks), [c for c in asked if c.symbol not in given]


def _rank(evaluator: Evaluator, velocities: Velocities, q: Numbers, u: Numbers) -> tuple[int, int]:
    """How many of the rows are independent here, those that are not linear in the rates by their slopes, and how many there are."""
    kin = evaluator.kin
    if not kin.nonlinear:
        return velocities.rank, len(kin.rows)
    state = dict(zip((*kin.q, *kin.u), (*q.tolist(), *u.tolist()), strict=True))
    slopes = np.zeros((len(kin.nonlinear), kin.n_q))
    for k, row in enumerate(kin.nonlinear):
        slopes[k, list(row.A)] = evaluator.floats([evaluator.reduced(a) for a in row.A.values()], {**state, evaluator.time: velocities.t})
    return rank_of_rows(np.vstack([velocities.A, slopes])).rank, len(kin.rows) + len(kin.nonlinear)


# ---- positions ---------------------------------------------------------------------------------


def _positions(evaluator: Evaluator, asked: Sequence[Condition], guess: Sequence[Condition], t: float) -> Assembly:
    """φ(q, t) = 0 of every holonomic row, |e|² = 1 of every quaternion, g(q, t) = value of every given expression."""
    kin = evaluator.kin
    place = {i: k for k, i in enumerate(kin.q)}
    rows = [PositionRow(r.name, evaluator.reduced(r.phi), float(r.is_norm), r.is_norm) for r in kin.linear_rows if r.phi is not None]
    q, free, guessed = no_rotation(kin.system), np.ones(kin.n_q, dtype=bool), np.zeros(kin.n_q, dtype=bool)
    for c in asked:
        if c.symbol in place:
            q[place[c.symbol]], free[place[c.symbol]] = c.value, False
        elif c.level is Level.POSITION:
            rows.append(PositionRow(c.name, c.node, c.value, is_given=True))
    assembler = Assembler(evaluator, rows, t)
    for c in guess:
        if c.symbol not in place or not free[place[c.symbol]] or not assembler.structure[:, place[c.symbol]].any():
            msg = f"guess: {c.name} is not a coordinate that the constraints determine; give it in the start"
            raise BadStart(msg)
        q[place[c.symbol]], guessed[place[c.symbol]] = c.value, True
    found = assembler.solve(q, free, guessed)
    if not found.satisfied.all():
        raise BadStart(_contradiction(evaluator, rows, asked, assembler, found))
    return found


def _contradiction(
    evaluator: Evaluator, rows: Sequence[PositionRow], asked: Sequence[Condition], assembler: Assembler, found: Assembly
) -> str:
    """The row that fails worst, its residual, and the given values that meet in it."""
    worst = int(np.argmax(np.where(found.satisfied, -1.0, np.nan_to_num(np.abs(found.residuals), nan=np.inf))))
    row, residual = rows[worst], found.residuals[worst]
    if math.isnan(residual):
        return f"start: {row.name!r} has no real value at the given positions"
    inside = {evaluator.kin.q[k] for k in np.flatnonzero(assembler.structure[worst])}
    names = [str(c) for c in asked if c.symbol in inside or (c.level is Level.POSITION and c.name != row.name and c.symbol is None)]
    what = f"{row.name} = {row.target:.12g}" if row.is_given else f"{row.name!r}"
    if row.is_norm:
        off = f"the sum of squares is off by {residual:.6g}"
        return f"start: {', '.join(names)} cannot belong to {what}: {off}; give all four, of any length"
    if not found.moved.any():
        contradict = f"{', '.join(names)} contradict{'s' * (len(names) == 1)}" if names else "the start contradicts"
        return f"start: {contradict} {what}: residual {residual:.6g}; change a value, or leave one out so that it is solved for"
    least = f"least-squares residual {residual:.6g} after {found.iterations} iterations"
    with_these = f" with {', '.join(names)}" if names else ""
    if gap := _gap(evaluator, rows, row.name, found):
        return f"start: {gap}{with_these}; change a length or a value, or give a guess near the solution"
    return f"start: no position found that satisfies {what}{with_these}: {least}; change a value, or give a guess near the solution"


def _gap(evaluator: Evaluator, rows: Sequence[PositionRow], name: str, found: Assembly) -> str:
    """Which points of a closure stay how far apart at the nearest position that was found; nothing for other rows."""
    between = {c.name: c.between for c in evaluator.kin.system.constraints if c.between is not None}
    if name not in between:
        return ""
    distance = math.hypot(*(r for row, r in zip(rows, found.residuals.tolist(), strict=True) if between.get(row.name) == between[name]))
    P, Q = (X.name for X in between[name])
    return f"{name.rpartition(' ')[0]!r} cannot be closed: {P} and {Q} stay {distance:.6g} apart at the nearest position found"


# ---- marks -------------------------------------------------------------------------------------


def _marks(evaluator: Evaluator, asked: Sequence[Condition], found: Assembly, u: Numbers, qdot: Numbers) -> tuple[StartValue, ...]:
    """Coordinates, speeds, the rates that are not speeds, and the expressions that were given."""
    kin = evaluator.kin
    given = {c.symbol for c in asked}
    default = no_rotation(kin.system)
    marks = []
    for i, x, at_rest in zip(kin.q, found.q, default, strict=True):
        marks.append(_mark(kin, i, x, given, untouched=x == at_rest))
    for i, x in [*zip(kin.u, u, strict=True), *((i, x) for i, x in zip(kin.qdot, qdot, strict=True) if i not in kin.u)]:
        marks.append(_mark(kin, i, x, given, untouched=x == 0.0))
    return (*marks, *(StartValue(c.name, c.value, "given") for c in asked if c.symbol is None))


def _mark(kin: Kinematics, i: int, x: float, given: set[int | None], *, untouched: bool) -> StartValue:
    origin: Origin = "given" if i in given else "zero" if untouched else "solved"
    return StartValue(label(kin.name(i)), float(x) + 0.0, origin)
