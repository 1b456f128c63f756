"""Why no consistent initial state was found: messages from the numbers that the native search
leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.states import assembly_ir as codes
from dalembert.runtime.states.assembly import ROUNDING
from dalembert.runtime.states.constraint_rank import rank_of_rows
from dalembert.runtime.states.evaluator import Level, label
from dalembert.runtime.states.initial_form import InitialForm
from dalembert.runtime.states.initial_values import InitialCondition, PositionRow

if TYPE_CHECKING:
    from dalembert.runtime.states.initial_solver import InitialSolver


def explain(
    code: int, form: InitialForm, asked: Sequence[InitialCondition], solver: InitialSolver
) -> None:
    """Refuse initial conditions for which the search failed; a singular position is no failure."""
    for k, why in form.nonlinear_conditions.items():
        msg = (
            f"{asked[form.velocities[k]].name} is {why}; a given velocity must be linear in the "
            f"rates and speeds"
        )
        raise BadStart(msg, "start")
    if code in _MESSAGES:
        raise BadStart(_MESSAGES[code](form, asked, solver), "start")


def singular_notes(form: InitialForm, A: FloatArray) -> tuple[str, ...]:
    """A note that names the rows that are not independent; rows in augmented form may depend on
    one another.
    """
    names = [row.name for row in form.kin.rows]
    rank, rows = rank_of_rows(A)
    if form.kin.multipliers or rank == len(names) or not np.isfinite(A).all():
        return ()
    return (singular_position_note([names[j] for j in rows], f"rank {rank} of {len(names)}"),)


def singular_position_note(rows: Sequence[str], ranks: str) -> str:
    """The message about rows that depend on one another where a run begins."""
    what = (
        f"{' and '.join(map(repr, rows))} "
        f"{'vanishes' if len(rows) == 1 else 'are not independent'} at this start"
    )
    return (
        f"a singular position: {what} ({ranks}), so that speeds and reactions may be undetermined"
    )


# ---- positions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Assembly:
    """The positions found, what remains of each row there, and whether all of it counts as zero."""

    q: FloatArray
    residuals: FloatArray
    violated: BoolArray
    worst: int
    iterations: int
    moved: BoolArray


def _position_message(
    form: InitialForm, asked: Sequence[InitialCondition], solver: InitialSolver
) -> str:
    fields = solver.fields
    rows = [
        replace(row, target=x) for row, x in zip(form.rows, solver["targets"].tolist(), strict=True)
    ]
    assembly = _Assembly(
        solver.q,
        solver["residuals"],
        solver["rows"] != 0,
        fields.worst,
        fields.iterations,
        solver["columns"] != 0,
    )
    steep = _singular_gradient_message(form, rows, assembly, solver["J"])
    return steep or _contradiction_message(form.kin, rows, asked, form.structure, assembly)


def _singular_gradient_message(
    form: InitialForm, rows: Sequence[PositionRow], assembly: _Assembly, slopes: FloatArray
) -> str:
    """The message where a row holds at the positions found, but has no finite slope there; nothing
    otherwise.
    """
    steep = (
        assembly.violated
        & ~np.isfinite(slopes).all(axis=1)
        & (np.abs(assembly.residuals) <= ROUNDING)
    )
    if not steep.any():
        return ""
    worst = int(np.flatnonzero(steep)[0])
    names = [form.kin.name(form.kin.q[k]) for k in np.flatnonzero(form.structure[worst])]
    at = ", ".join(
        f"{name} = {q:.6g}"
        for name, q in zip(names, assembly.q[form.structure[worst]].tolist(), strict=True)
    )
    why = "a root of zero or a division by zero in its rate"
    cure = "change the start, or write the row without it, x - y**2 for sqrt(x) - y"
    return f"{rows[worst].name!r} holds at {at} but has no finite slope there ({why}); {cure}"


def _names_of_given(
    asked: Sequence[InitialCondition], inside: set[int], row: PositionRow
) -> list[str]:
    """The given values that meet in a row with these coordinates."""
    return [
        str(c)
        for c in asked
        if c.symbol in inside
        or (c.level is Level.POSITION and c.name != row.name and c.symbol is None)
    ]


def _contradiction_message(
    kin: Kinematics,
    rows: Sequence[PositionRow],
    asked: Sequence[InitialCondition],
    structure: BoolArray,
    assembly: _Assembly,
) -> str:
    """The row that fails worst, its residual, and the given values that meet in it."""
    worst = assembly.worst
    row, residual = rows[worst], assembly.residuals[worst]
    if math.isnan(residual):
        return f"{row.name!r} has no real value at the given positions"
    inside = {kin.q[k] for k in np.flatnonzero(structure[worst])}
    names = _names_of_given(asked, inside, row)
    what = f"{row.name} = {row.target:.12g}" if row.is_given else f"{row.name!r}"
    if row.is_norm:
        off = f"the sum of squares is off by {residual:.6g}"
        return f"{', '.join(names)} cannot belong to {what}: {off}; give all four, of any length"
    if not assembly.moved.any():
        contradict = (
            f"{', '.join(names)} contradict{'s' * (len(names) == 1)}"
            if names
            else "the start contradicts"
        )
        return (
            f"{contradict} {what}: residual {residual:.6g}; change a value, or leave one out "
            f"so "
            f"that it is solved for"
        )
    least = f"least-squares residual {residual:.6g} after {assembly.iterations} iterations"
    with_these = f" with {', '.join(names)}" if names else ""
    if gap := _closure_gap_message(kin, rows, row.name, assembly):
        return f"{gap}{with_these}; change a length or a value, or give a guess near the solution"
    return (
        f"no position found that satisfies {what}{with_these}: {least}; change a value, or "
        f"give "
        f"a guess near the solution"
    )


def _closure_gap_message(
    kin: Kinematics, rows: Sequence[PositionRow], name: str, assembly: _Assembly
) -> str:
    """Which points of a closure stay how far apart at the nearest position that was found;
    nothing for other rows.
    """
    between = {c.name: c.gap_points for c in kin.system.constraints if c.gap_points is not None}
    if name not in between:
        return ""
    distance = math.hypot(
        *(
            r
            for row, r in zip(rows, assembly.residuals.tolist(), strict=True)
            if between.get(row.name) == between[name]
        )
    )
    P, Q = (X.name for X in between[name])
    return (
        f"{name.rpartition(' ')[0]!r} cannot be closed: {P} and {Q} stay {distance:.6g} apart "
        f"at the nearest position found"
    )


# ---- velocities --------------------------------------------------------------------------------


def _conditions(form: InitialForm, asked: Sequence[InitialCondition]) -> list[InitialCondition]:
    """The given velocities, then the rows in augmented form."""
    return [*(asked[k] for k in form.velocities), *form.constraint_rows]


def _undefined_message(
    form: InitialForm, asked: Sequence[InitialCondition], solver: InitialSolver
) -> str:
    finite = np.isfinite(solver["c"]) & np.isfinite(solver["C"]).all(axis=1)
    name = _conditions(form, asked)[int(np.flatnonzero(~finite)[0])].name
    return f"{name} is not defined at the start positions: declare other speeds or start elsewhere"


def _flat_message(
    form: InitialForm, asked: Sequence[InitialCondition], solver: InitialSolver
) -> str:
    name = _conditions(form, asked)[solver.fields.worst].name
    why = (
        "its slope in the velocities vanishes here, so that it does not determine how the motion "
        "continues"
    )
    return (
        f"{name!r} cannot be satisfied from this state: {why}; give velocities that differ from "
        f"zero"
    )


def _velocity_message(
    form: InitialForm, asked: Sequence[InitialCondition], solver: InitialSolver
) -> str:
    k = solver.fields.worst
    given = [c for c in asked if c.level is Level.VELOCITY]
    residual = float(solver["C"][k] @ solver.u - solver["d"][k])
    worst = _conditions(form, asked)[k]
    if k >= len(form.velocities):
        return _row_contradiction_message(worst.name, given, residual)
    others = [str(c) for c in given if c is not worst]
    with_these = f" with {', '.join(others)}" if others else ""
    row = _worst_violation(form, asked, solver)
    against = f"contradicts {row}" if row else "is not possible at this position"
    return (
        f"{worst}{with_these} {against}: least-squares residual {residual:.6g}; leave a value out "
        f"or change it"
    )


def _row_contradiction_message(
    name: str, given: Sequence[InitialCondition], residual: float
) -> str:
    """A row in augmented form that nothing satisfies together with the rest."""
    size = f"least-squares residual {residual:.6g}"
    if not given:
        return (
            f"the constraints contradict one another: no velocities satisfy {name!r} with the "
            f"others, {size}"
        )
    names = ", ".join(map(str, given))
    return (
        f"{names} contradict{'s' * (len(given) == 1)} {name!r}: {size}; leave a value out or "
        f"change it"
    )


def _worst_violation(
    form: InitialForm, asked: Sequence[InitialCondition], solver: InitialSolver
) -> str:
    """The constraint that the rates as they were given violate most, with its residual."""
    kin = form.kin
    given: Mapping[int, float] = {
        c.symbol: c.value for c in asked if c.level is Level.VELOCITY and c.symbol is not None
    }
    u, qdot = np.zeros(kin.n_u), solver["X"].copy()
    for k, r in form.given_speeds:
        u[r] = asked[k].value
    np.add.at(qdot, form.W[0], solver["W"] * u[form.W[1]])
    qdot = np.array([given.get(i, x) for i, x in zip(kin.qdot, qdot.tolist(), strict=True)])
    residuals = solver["A"] @ qdot + solver["b"]
    names = [row.name for row in kin.rows]
    if not names or not np.isfinite(residuals).all() or not residuals.any():
        return ""
    worst = int(np.argmax(np.abs(residuals)))
    return f"{names[worst]!r} (residual {residuals[worst]:.6g})"


def _rate_message(form: InitialForm, _: Sequence[InitialCondition], solver: InitialSolver) -> str:
    kin, notes = form.kin, singular_notes(form, solver["A"])
    bad = ", ".join(label(kin.name(kin.qdot[k])) for k in np.flatnonzero(~np.isfinite(solver.qdot)))
    names = ", ".join(label(kin.name(x)) for x in kin.u)
    # without declared speeds other integrators keep all rates
    chosen = not kin.system.speed_list and not kin.system.contacts
    return (
        f"{bad} cannot be computed from {names} at these positions (division by zero): change the "
        f"start, declare other speeds (s.speeds)"
        + (", or choose integrator='native', which does without" if chosen else "")
        + (f" ({notes[0]})" if notes else "")
    )


_MESSAGES: Final[
    Mapping[int, Callable[[InitialForm, Sequence[InitialCondition], InitialSolver], str]]
] = {
    codes.POSITIONS: _position_message,
    codes.FAILED_UNDEFINED: _undefined_message,
    codes.VELOCITIES: _velocity_message,
    codes.RATES: _rate_message,
    codes.FLAT: _flat_message,
}
