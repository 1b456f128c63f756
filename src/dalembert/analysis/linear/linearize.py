"""A = ∂(ż, u̇)/∂(z, u): a system linearized about a point, in independent coordinates and speeds.

δq = S δz + S_w δw: the changes of q that the holonomic rows allow, by n − m independent coordinates z. From φ_q δq + φ_w δw = 0, the
dependent coordinates follow as δq_D = −φ_D⁻¹ (φ_I δz + φ_w δw); rows contain w where a motion is specified.

Source: Gre03 (4.1)–(4.9) for q̇ = W u + X; the rest is the chain rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dalembert.analysis.linear.equation_jacobians import BadLinearPoint, EquationField, FieldSlopes, field_of, setting_of, solved
from dalembert.analysis.linear.linear_model import LinearModel, Residual, blocks
from dalembert.foundation.array_types import Numbers
from dalembert.foundation.suggestions import options_by_name
from dalembert.mechanics.kinematics.system_kinematics import all_rates
from dalembert.mechanics.model.system import System, units_by_name
from dalembert.runtime.numerics.symbol_values import mapping
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.constraint_rank import regular_kinematics
from dalembert.runtime.states.evaluator import Key
from dalembert.runtime.states.initial_conditions import Start, find_start
from dalembert.runtime.states.run_values import Values, operating

_SINGULAR: Final = 1e-10
_EQUAL: Final = 1e-6


def independent(phi_q: Numbers, wanted: Sequence[int] | None = None) -> tuple[int, ...]:
    """The places of n − m coordinates that determine the others; those that the rows reach most steeply are dependent.

    Rows are scaled to unit length, pivots are the largest; among equals the coordinate declared last depends on the others.
    """
    m, n = phi_q.shape
    J = phi_q / np.maximum(np.linalg.norm(phi_q, axis=1, keepdims=True), np.finfo(float).tiny)
    if wanted is not None:
        J = np.where(np.isin(np.arange(n), wanted), 0.0, J)
    dependent: list[int] = []
    for k in range(m):
        size = np.abs(J[k:])
        if not (largest := size.max(initial=0.0)) > _SINGULAR:
            why = "the given coordinates are not independent" if wanted is not None else "the holonomic rows are not independent"
            msg = f"linearize: {why} at this point (rank {k} of {m})"
            raise BadLinearPoint(msg)
        row, column = max(((i, j) for i, j in np.argwhere(size >= (1 - _EQUAL) * largest)), key=lambda ij: (ij[1], -ij[0]))
        J[[k, k + row]] = J[[k + row, k]]
        J[k + 1 :] -= np.outer(J[k + 1 :, column] / J[k, column], J[k])
        J[k + 1 :, column] = 0.0
        dependent.append(int(column))
    return tuple(k for k in range(n) if k not in dependent)


def tangent(phi_q: Numbers, phi_w: Numbers, free: Sequence[int]) -> tuple[Numbers, Numbers]:
    """S and S_w with δq = S δz + S_w δw: ones for z itself, −φ_D⁻¹ φ_I and −φ_D⁻¹ φ_w for the others."""
    n = phi_q.shape[1]
    depend = [k for k in range(n) if k not in free]
    S = np.zeros((n, len(free) + phi_w.shape[1]), dtype=phi_q.dtype)
    S[list(free), range(len(free))] = 1.0
    if depend:
        try:
            S[depend] = -np.linalg.solve(phi_q[:, depend], np.hstack([phi_q[:, list(free)], phi_w]))
        except np.linalg.LinAlgError as problem:
            msg = "linearize: the coordinates chosen as independent are not so at this point; choose others with coordinates="
            raise BadLinearPoint(msg) from problem
    return S[:, : len(free)], S[:, len(free) :]


# accelerations of an equilibrium, relative to what the forces would give each by itself
_AT_REST: Final = 1e-8
# radians or units of length that the fastest coordinate moves until slopes are compared
_MOMENT: Final = 0.01
_UNCHANGED: Final = 1e-6


@options_by_name
def linearize(
    system: System,
    about: Mapping[Any, Any] | None = None,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    outputs: Sequence[Key] = (),
    guess: Mapping[Any, Any] | None = None,
    t: float = 0.0,
    equilibrium: bool = False,
    coordinates: Sequence[Key] | None = None,
) -> LinearModel:
    """δẋ = f₀ + A δx + B δw, δy = C δx + D δw, with x = (z, u).

    about        values of any coordinates, rates or speeds, completed as a start is; what contradicts the rows is refused
    inputs       values of the inputs at the point, zero where not given; an expression closes a loop
    outputs      expressions in coordinates, rates, accelerations and inputs
    equilibrium  whether accelerations at the point are refused
    coordinates  the independent coordinates z; by default those that the rows leave best determined
    """
    point = {} if about is None else mapping("about", about)
    chosen, start = _point(operating(system, values or {}, inputs or {}), point, guess, t, values or {}, inputs or {})
    if isinstance(outputs, str) or not isinstance(outputs, Sequence):
        msg = f"linearize: outputs={outputs!r}; give a list of expressions"
        raise BadLinearPoint(msg)
    field = field_of(chosen, t, outputs)
    numbers = chosen.value_at(t)
    slopes = field.at(_positions(start)[None], start.u[None], t, numbers)
    if equilibrium:
        _check_rest(field, slopes)
    wanted = None if coordinates is None else _places(field, coordinates)
    found = model(field, start, slopes, 0, independent(slopes.phi_q[0], wanted))
    return replace(found, steady=_steady(field, start, found, numbers))


def _point(
    chosen: Values,
    about: Mapping[Any, Any],
    guess: Mapping[Any, Any] | None,
    t: float,
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
) -> tuple[Values, Start]:
    """The point, and the values with speeds that are regular there."""
    kin, numbers = chosen.kin, chosen.value_at(t)
    if not kin.moving_pivots or kin.system.speed_list:
        return chosen, find_start(kin, about, numbers, t, guess=guess)
    # all rates are regular everywhere
    regular = regular_kinematics(kin, find_start(all_rates(kin), about, numbers, t, guess=guess).q, numbers, t)
    if regular is not kin:
        chosen = operating(kin.system, values, inputs, regular)
    return chosen, find_start(chosen.kin, about, chosen.value_at(t), t, guess=guess)


def linearize_along(run: Trajectory, outputs: Sequence[Key] = ()) -> list[LinearModel]:
    """The linear models about every point of a run, or of run.at(times); coordinates are chosen at the first.

    δẋ = A(t) δx + B(t) δw describes motions that begin near this one.
    """
    chosen = setting_of("linearize_along", run)
    field = field_of(chosen, run.start.t, outputs)
    known = [i for i in field.parameters if i in chosen.numbers]
    given = [i for i in field.parameters if i not in chosen.numbers]
    numbers = {i: chosen.numbers[i] for i in known} | dict(zip(given, run.held(given), strict=True))
    slopes = field.at(np.hstack([run.q, run.x]), run.u, run.t, numbers)
    free = independent(slopes.phi_q[0])
    points = [replace(run.start, t=float(t), q=q, u=u, x=x) for t, q, u, x in zip(run.t, run.q, run.u, run.x, strict=True)]
    return [replace(model(field, point, slopes, k, free), steady=False) for k, point in enumerate(points)]


def _positions(start: Start) -> Numbers:
    """q with the first-order states behind it."""
    return np.concatenate([start.q, start.x])


def model(field: EquationField, start: Start, slopes: FieldSlopes, k: int, free: Sequence[int]) -> LinearModel:
    """A, B, C, D at the point of number k: ∂q = S ∂z + S_w ∂w, ∂u̇ = −M⁻¹ ∂r."""
    kin, n_q, n_u, n_z = field.evaluator.kin, field.n_q, field.n_u, len(free)
    S, S_w = tangent(slopes.phi_q[k], slopes.phi_x[k][:, n_q + n_u :], free)
    # (q, u, w) from (z, u, w)
    L = np.zeros((field.n_x, n_z + n_u + field.n_w), dtype=S.dtype)
    L[:n_q, :n_z], L[:n_q, n_z + n_u :] = S, S_w
    L[n_q:, n_z:] = np.eye(n_u + field.n_w)
    r = slopes.r_x[k] @ L
    udot = -solved(slopes.M[k], r)
    whole = np.vstack([slopes.qdot_x[k][list(free)] @ L, udot])
    y = slopes.y_x[k] @ L + slopes.y_udot[k] @ udot
    n = n_z + n_u
    rates = {j: kin.u.index(x) for j, i in enumerate(free) if (x := field.qdot[i]) in kin.u}
    point = dict(zip(field.names((*field.q, *kin.u)), (*_positions(start), *start.u.tolist()), strict=True))
    return LinearModel(
        system=kin.system.name,
        t=start.t,
        states=field.names((*(field.q[i] for i in free), *kin.u)),
        inputs=field.names(field.w),
        outputs=field.outputs,
        A=whole[:, :n],
        B=whole[:, n:],
        C=y[:, :n],
        D=y[:, n:],
        offset=np.concatenate([slopes.qdot[k][list(free)], slopes.udot[k]]),
        y=slopes.y[k],
        point=point,
        units=units_by_name(kin.system, point),
        last=tuple(str(a[-1].name) for x in kin.system.expansions.values() for a in x.amplitudes.values() if len(a) > 1),
        residual=Residual(slopes.M[k], r[:, :n_z], r[:, n_z:n], r[:, n:], rates),
    )


def _steady(field: EquationField, start: Start, found: LinearModel, numbers: Mapping[int, float]) -> bool:
    """Whether A goes on as it is: no acceleration, no time, and the same slopes a moment later where states drive one another."""
    fastest = float(np.abs(start.qdot).max(initial=0.0))
    if np.abs(found.offset[found.n_z :]).max(initial=0.0) > _AT_REST * max(1.0, fastest):
        return False
    if field.evaluator.changes_with_time([*field.r, *field.qdot, *field.phi, *field.e]):
        return False
    if fastest == 0.0:
        return True
    later = np.concatenate([start.q + _MOMENT * start.qdot / fastest, start.x])
    try:
        slopes = field.at(later[None], start.u[None], start.t, numbers, clean=False)
        free = [field.names(field.q).index(z) for z in found.states[: found.n_z]]
        A = model(field, start, slopes, 0, free).A
    except (BadLinearPoint, np.linalg.LinAlgError):
        return False
    proper = [np.ix_(block, block) for block in blocks(found.A) if len(block) > 1]
    return all(np.abs(A[part] - found.A[part]).max() <= _UNCHANGED * np.abs(found.A[part]).max() for part in proper)


def _places(field: EquationField, coordinates: Sequence[Key]) -> list[int]:
    kin = field.evaluator.kin
    if isinstance(coordinates, str) or not isinstance(coordinates, Sequence):
        msg = f"linearize: coordinates={coordinates!r}; give a list of them"
        raise BadLinearPoint(msg)
    nodes = [field.evaluator.node(key) for key in coordinates if field.evaluator.node(key) not in kin.x]
    if any(i not in kin.q for i in nodes) or len(nodes) != kin.n_q - len(field.phi):
        msg = f"linearize: name {kin.n_q - len(field.phi)} of the coordinates {', '.join(field.names(kin.q))} as independent"
        raise BadLinearPoint(msg)
    return [*(kin.q.index(i) for i in nodes), *range(kin.n_q, len(field.q))]


def _check_rest(field: EquationField, slopes: FieldSlopes) -> None:
    """u̇₀ = 0, up to rounding of the terms it is made of."""
    udot = slopes.udot[0]
    scale = np.linalg.norm(slopes.r_x[0], axis=1) / np.abs(np.diag(slopes.M[0]))
    if not (wrong := np.flatnonzero(np.abs(udot) > _AT_REST * np.maximum(scale, 1.0))).size:
        return
    names = field.names(field.evaluator.kin.udot)
    listed = ", ".join(f"{names[k]} = {udot[k]:.6g}" for k in wrong)
    msg = f"linearize: not an equilibrium: {listed}; change the point, or leave out equilibrium=True and use the offset"
    raise BadLinearPoint(msg)
