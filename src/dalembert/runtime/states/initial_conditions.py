"""q(t₀), u(t₀) from whatever is known about them: the rest is zero where the rows allow it,
otherwise solved for.
Keywords: consistent initial state.

Native code finds it (`borrow_solver`); `initial_failures` explains what that refuses. Positions
come by damped Gauss–Newton on the holonomic rows, then speeds by linear least norm: with
q̇ = W u + X every row A q̇ + b = 0 holds by construction, so that only the given conditions remain
to be satisfied.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from dalembert.errors import warn
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.symbol_values import require_mapping
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.states.evaluator import Evaluator, Key, Level, label
from dalembert.runtime.states.initial_form import InitialForm, InitialNames, initial_form
from dalembert.runtime.states.initial_values import (
    InitialCondition,
    bind_values,
    normalize_quaternions,
)
from dalembert.symbolic.units.quantities import label_with_unit

if TYPE_CHECKING:
    from dalembert.runtime.states.initial_solver import InitialSolver

Origin = Literal["given", "zero", "solved"]


class InitialValue(NamedTuple):
    """A value of the start and where it comes from."""

    name: str
    value: float
    origin: Origin


@dataclass(frozen=True, eq=False)
class InitialState:
    """The whole start at time t, each value marked given, zero or solved."""

    t: float
    q: FloatArray
    u: FloatArray
    qdot: FloatArray
    position_residual: float
    velocity_residual: float
    rank: int
    n_rows: int
    iterations: int
    names: InitialNames
    # of the expressions that were given
    expression_values: tuple[float, ...] = ()
    # first-order states
    x: FloatArray = field(default_factory=lambda: np.zeros(0))
    state_origins: tuple[Origin, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def values(self) -> tuple[InitialValue, ...]:
        """Coordinates, speeds, rates that are not speeds, expressions that were given,
        first-order states.
        """
        called = self.names
        values = (*self.q.tolist(), *self.u.tolist(), *self.qdot[list(called.rates)].tolist())
        marks = [
            InitialValue(name, x + 0.0, "given" if is_given else "zero" if x == rest else "solved")
            for name, x, is_given, rest in zip(
                called.names, values, called.is_given, called.at_rest, strict=True
            )
        ]
        marks += [
            InitialValue(name, x, "given")
            for name, x in zip(called.expressions, self.expression_values, strict=True)
        ]
        # behind the states stands what a run holds
        return (
            *marks,
            *(
                InitialValue(*each)
                for each in zip(called.states, self.x.tolist(), self.state_origins, strict=False)
            ),
        )

    @property
    def units(self) -> Mapping[str, str]:
        """Of those values whose dimension is known."""
        return self.names.units

    @property
    def y(self) -> FloatArray:
        """(q, x, u), the state that a run begins with."""
        return np.concatenate([self.q, self.x, self.u])

    @property
    def y_and_t(self) -> FloatArray:
        """(q, x, u, t), what native code is called with."""
        return np.array([*self.q.tolist(), *self.x.tolist(), *self.u.tolist(), self.t])

    def origin_counts(self) -> str:
        """2 given, 3 solved, 5 zero"""
        return ", ".join(
            f"{n} {o}"
            for o in ("given", "solved", "zero")
            if (n := sum(m.origin == o for m in self.values))
        )

    def given_text(self) -> str:
        """theta = 0.5 rad, x = 2 m: the given conditions."""
        asked = [m for m in self.values if m.origin == "given"]
        return ", ".join(
            f"{m.name} = {m.value:.6g} {self.units.get(m.name, '')}".rstrip() for m in asked
        )

    def __str__(self) -> str:
        named = {m.name: label_with_unit(m.name, self.units.get(m.name, "")) for m in self.values}
        rows = [
            (
                named[m.name],
                f"{m.value:.12g}",
                "zero rotation" if m.origin == "zero" and m.value else m.origin,
            )
            for m in self.values
        ]
        lines = [f"start at t = {self.t:.12g}", *table(rows)]
        if self.n_rows:
            steps = f"{self.iterations} iteration{'s' * (self.iterations != 1)}"
            sizes = (
                f"residual {self.position_residual:.2g} in positions, "
                f"{self.velocity_residual:.2g} in velocities"
            )
            lines.append(f"constraints: {sizes}; rank {self.rank} of {self.n_rows}; {steps}")
        return "\n".join([*lines, *self.notes])


def table(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Name, number, remark: the numbers stand with their decimal points below one another."""
    whole = [x.partition(".")[0].partition("e")[0] for _, x, _ in rows]
    left, first = max(map(len, whole), default=0), max((len(n) for n, _, _ in rows), default=0)
    placed = [(n, " " * (left - len(w)) + x, r) for (n, x, r), w in zip(rows, whole, strict=True)]
    middle = max((len(x) for _, x, _ in placed), default=0)
    return [f"  {n:<{first}}  {x:<{middle}}  {r}" for n, x, r in placed]


def solve_initial_conditions(
    kin: Kinematics,
    given: Mapping[Key, Any],
    values: Mapping[int, float],
    t: float = 0.0,
    guess: Mapping[Key, Any] | None = None,
) -> InitialState:
    """q and u at time t that satisfy every row and everything in `given`.

    A key is a coordinate, a rate, a speed or any expression in them, linear in the velocities. What
    is not named is zero (a quaternion: no rotation) where the rows allow it, otherwise it is solved
    for, beginning at zero or at `guess`.
    """
    given = require_mapping("start", given)
    guess = require_mapping("guess", {} if guess is None else guess)
    form = initial_form(kin, given, guess, values, t)
    asked, notes = normalize_quaternions(
        form.quaternions,
        bind_values(form.parsed, given, lambda: Evaluator(kin, values), t, "start"),
    )
    guessed = bind_values(form.guess, guess, lambda: Evaluator(kin, values), t, "guess")
    # of the velocities only those that a row nonlinear in them determines have several branches
    fast = [c for c in guessed if c.level is Level.VELOCITY and kin.nonlinear]
    near = guessed_coordinates(form, [c for c in guessed if c not in fast])
    x, stated = first_order_states(form, asked)
    # rows contain those that are prescribed motions
    values = {**values, **dict(zip(kin.x, x.tolist(), strict=True))}
    p = form.at_position.parameters_of(values)
    expression_values = tuple(c.value for c in asked if c.symbol is None)
    rest: dict[str, Any] = {"names": form.names, "expression_values": expression_values}
    rest |= {"x": x, "state_origins": stated}
    if form.is_direct and (start := _read_directly(form, asked, near, t, p, rest, notes)):
        return start
    p_u = form.at_state.parameters_of(values)
    return _solve_native(
        form, asked, (near, _guessed_speeds(form, asked, fast)), t, (p, p_u), rest, notes
    )


def _read_directly(
    form: InitialForm,
    asked: Sequence[InitialCondition],
    near: Mapping[int, float],
    t: float,
    p: FloatArray,
    rest: Mapping[str, Any],
    notes: tuple[str, ...],
) -> InitialState | None:
    """q and u as given, zero otherwise, q̇ = W u + X; None where q̇ is not finite.

    The sums are those of the native solver, which a system without conditions does not need.
    """
    q, u = form.default_q.copy(), np.zeros(form.kin.n_u)
    for places, target in ((form.coordinates, q), (form.given_speeds, u)):
        for k, at in places:
            target[at] = asked[k].value
    tables = form.at_position.at(np.array([*q.tolist(), t]), p, "X", "W")
    qdot, (rows, columns) = tables["X"].copy(), form.W
    np.add.at(qdot, rows, tables["W"] * u[columns])
    # the sum is finite unless a rate is not, or is huge
    if near or not (math.isfinite(sum(qdot.tolist())) or np.isfinite(qdot).all()):
        return None
    return InitialState(t, q, u, qdot, 0.0, 0.0, 0, 0, 0, notes=notes, **rest)


def _solve_native(
    form: InitialForm,
    asked: Sequence[InitialCondition],
    near: tuple[Mapping[int, float], Mapping[int, float]],
    t: float,
    parameters: tuple[FloatArray, FloatArray],
    rest: Mapping[str, Any],
    notes: tuple[str, ...],
) -> InitialState:
    """The start as native code finds it; what it fails for is explained."""
    from dalembert.runtime.states.initial_failures import explain, singular_notes
    from dalembert.runtime.states.initial_solver import borrow_solver

    p, p_u = parameters
    with borrow_solver(form) as solver:
        solver.set_guess(*near)
        code, f = solver.solve([c.value for c in asked], p, t, p_u), solver.fields
        explain(code, form, asked, solver)
        singular = singular_notes(form, solver["A"]) if code else ()
        rank, n_rows = f.rank, f.n_A
        if code or form.kin.nonlinear:
            from dalembert.runtime.states.constraint_rank import rank_of_rows

            A = np.vstack([solver["A"], *_nonlinear_rows(form, solver, t, p_u)])
            rank, n_rows = rank_of_rows(A).rank, len(A)
        solution = (
            solver.q.copy(),
            solver.u.copy(),
            solver.qdot.copy(),
            f.position_residual,
            f.velocity_residual,
            rank,
            n_rows,
            f.iterations,
        )
    for note in singular:
        warn(note)
    return InitialState(t, *solution, notes=(*notes, *singular), **rest)


def _nonlinear_rows(
    form: InitialForm, solver: InitialSolver, t: float, p: FloatArray
) -> list[FloatArray]:
    """∂φ/∂q̇ of the rows that are not linear in the rates, at the state that was found."""
    if not form.kin.nonlinear:
        return []
    return [form.at_state.at(np.concatenate([solver.q, solver.u, [t]]), p)["A"]]


def first_order_states(
    form: InitialForm, asked: Sequence[InitialCondition]
) -> tuple[FloatArray, tuple[Origin, ...]]:
    """First-order states as given, as declared, or zero."""
    if not form.names.states:
        return np.zeros(0), ()
    given = {place: asked[k].value for k, place in form.first_order}
    declared = form.kin.declared_x
    values = [given.get(k, float(value or 0.0)) for k, value in enumerate(declared)]
    return np.array(values), tuple(
        "given" if k in given or x is not None else "zero" for k, x in enumerate(declared)
    )


# ---- positions ---------------------------------------------------------------------------------


def guessed_coordinates(form: InitialForm, guess: Sequence[InitialCondition]) -> dict[int, float]:
    """{place: value} of the coordinates at which a search begins."""
    if not guess:
        return {}
    place, given = {i: k for k, i in enumerate(form.kin.q)}, {at for _, at in form.coordinates}
    for c in guess:
        if (
            c.symbol not in place
            or place[c.symbol] in given
            or not form.structure[:, place[c.symbol]].any()
        ):
            msg = (
                f"{c.name} is not a coordinate that the constraints determine; give it in the start"
            )
            raise BadStart(msg, "guess")
    return {place[c.symbol]: c.value for c in guess if c.symbol is not None}


def _guessed_speeds(
    form: InitialForm, asked: Sequence[InitialCondition], guess: Sequence[InitialCondition]
) -> dict[int, float]:
    """{place: value} of the speeds at which a search begins: those that a row nonlinear in the
    rates determines.
    """
    kin, given = form.kin, {c.symbol for c in asked if c.level is Level.VELOCITY}
    bent = {kin.u[r] for r in form.nonlinear_speeds}
    for c in guess:
        if c.symbol not in bent or c.symbol in given:
            name = "it" if c.symbol is None else label(kin.name(c.symbol))
            msg = (
                f"{name} is not a speed that a row nonlinear in the rates determines; give it in "
                f"the start"
            )
            raise BadStart(msg, "guess")
    return {kin.u.index(c.symbol): c.value for c in guess if c.symbol is not None}
