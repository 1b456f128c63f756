"""A = ∂(ż, u̇)/∂(z, u): a system linearized about a point, in independent coordinates and speeds.

δq = S δz + S_w δw: the changes of q that the holonomic rows allow, by n − m independent coordinates
z. From φ_q δq + φ_w δw = 0, the dependent coordinates follow as δq_D = −φ_D⁻¹ (φ_I δz + φ_w δw);
rows contain w where a motion is specified.

Source: Gre03 (4.1)–(4.9) for q̇ = W u + X; the rest is the chain rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from dalembert.analysis.linear.equation_jacobians import (
    BadLinearPoint,
    EquationJacobians,
    JacobianValues,
    cached_jacobians,
    run_values,
)
from dalembert.analysis.linear.linear_model import LinearModel, ResidualJacobian, strong_components
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.kinematics.system_kinematics import unreduced_kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import require_mapping
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.constraint_rank import regular_kinematics
from dalembert.runtime.states.evaluator import Key
from dalembert.runtime.states.initial_conditions import InitialState, solve_initial_conditions
from dalembert.runtime.states.run_values import RunValues, operating_values

_SINGULAR: Final = 1e-10
_EQUAL: Final = 1e-6


def choose_independent(phi_q: FloatArray, required: Sequence[int] | None = None) -> tuple[int, ...]:
    """The places of n − m coordinates that determine the others; those that the rows reach most
    steeply are dependent.

    Rows are scaled to unit length, pivots are the largest; among equals the coordinate declared
    last depends on the others.
    """
    m, n = phi_q.shape
    if not m:
        return tuple(range(n))
    J = phi_q / np.maximum(np.linalg.norm(phi_q, axis=1, keepdims=True), np.finfo(float).tiny)
    if required is not None:
        J = np.where(np.isin(np.arange(n), required), 0.0, J)
    dependent: list[int] = []
    for k in range(m):
        size = np.abs(J[k:])
        if not (largest := size.max(initial=0.0)) > _SINGULAR:
            why = (
                "the given coordinates are not independent"
                if required is not None
                else "the holonomic rows are not independent"
            )
            msg = f"linearize: {why} at this point (rank {k} of {m})"
            raise BadLinearPoint(msg)
        row, column = max(
            ((i, j) for i, j in np.argwhere(size >= (1 - _EQUAL) * largest)),
            key=lambda ij: (ij[1], -ij[0]),
        )
        J[[k, k + row]] = J[[k + row, k]]
        J[k + 1 :] -= np.outer(J[k + 1 :, column] / J[k, column], J[k])
        J[k + 1 :, column] = 0.0
        dependent.append(int(column))
    return tuple(k for k in range(n) if k not in dependent)


def tangent_basis(
    phi_q: FloatArray, phi_w: FloatArray, free: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """S and S_w with δq = S δz + S_w δw: ones for z itself, −φ_D⁻¹ φ_I and −φ_D⁻¹ φ_w for the
    others.
    """
    n = phi_q.shape[1]
    depend = [k for k in range(n) if k not in free]
    S = np.zeros((n, len(free) + phi_w.shape[1]), dtype=phi_q.dtype)
    S[list(free), range(len(free))] = 1.0
    if depend:
        try:
            S[depend] = -np.linalg.solve(phi_q[:, depend], np.hstack([phi_q[:, list(free)], phi_w]))
        except np.linalg.LinAlgError as problem:
            msg = (
                "linearize: the coordinates chosen as independent are not so at this point; "
                "choose others with coordinates="
            )
            raise BadLinearPoint(msg) from problem
    return S[:, : len(free)], S[:, len(free) :]


# accelerations of an equilibrium, relative to what the forces would give each by itself
_AT_REST: Final = 1e-8
# radians or units of length that the fastest coordinate moves until slopes are compared
_PROBE_DISTANCE: Final = 0.01
_STEADY_TOLERANCE: Final = 1e-6


@check_options
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

    about         values of any coordinates, rates or speeds, completed as a start is; what
                  contradicts the rows is refused
    inputs        values of the inputs at the point, zero where not given; an expression closes a
                  loop
    outputs       expressions in coordinates, rates, accelerations and inputs
    equilibrium   whether accelerations at the point are refused
    coordinates   the independent coordinates z; by default those that the rows leave best
                  determined
    """
    point = {} if about is None else require_mapping("about", about)
    chosen, start = _operating_point(
        operating_values(system, values or {}, inputs or {}),
        point,
        guess,
        t,
        values or {},
        inputs or {},
    )
    if isinstance(outputs, str) or not isinstance(outputs, Sequence):
        msg = f"linearize: outputs={outputs!r}; give a list of expressions"
        raise BadLinearPoint(msg)
    field = cached_jacobians(chosen, t, outputs)
    numbers = chosen.symbol_values_at(t)
    slopes = field.at(_extended_coordinates(start)[None], start.u[None], t, numbers)
    if equilibrium:
        _check_equilibrium(field, slopes)
    wanted = None if coordinates is None else _coordinate_indices(field, coordinates)
    free = choose_independent(slopes.phi_q[0], wanted)
    linear_model = linear_model_at(field, start, slopes, 0, free)
    if _is_steady(field, start, linear_model, numbers):
        return linear_model
    return replace(linear_model, steady=False)


def _operating_point(
    chosen: RunValues,
    about: Mapping[Any, Any],
    guess: Mapping[Any, Any] | None,
    t: float,
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
) -> tuple[RunValues, InitialState]:
    """The point, and the values with speeds that are regular there."""
    kin, numbers = chosen.kin, chosen.symbol_values_at(t)
    if not kin.state_dependent_pivots or kin.system.speed_list:
        return chosen, solve_initial_conditions(kin, about, numbers, t, guess=guess)
    # all rates are regular everywhere
    regular = regular_kinematics(
        kin,
        solve_initial_conditions(unreduced_kinematics(kin), about, numbers, t, guess=guess).q,
        numbers,
        t,
    )
    if regular is not kin:
        chosen = operating_values(kin.system, values, inputs, regular)
    return chosen, solve_initial_conditions(
        chosen.kin, about, chosen.symbol_values_at(t), t, guess=guess
    )


def linearize_along(run: Trajectory, outputs: Sequence[Key] = ()) -> list[LinearModel]:
    """The linear models about every point of a run, or of run.at(times); coordinates are chosen at
    the first.

    δẋ = A(t) δx + B(t) δw describes motions that begin near this one.
    """
    chosen = run_values("linearize_along", run)
    field = cached_jacobians(chosen, run.start.t, outputs)
    known = [i for i in field.parameters if i in chosen.numbers]
    given = [i for i in field.parameters if i not in chosen.numbers]
    numbers = {i: chosen.numbers[i] for i in known} | dict(
        zip(given, run.input_values(given), strict=True)
    )
    q, u = np.hstack([run.q, run.x]), run.u
    slopes = field.at(q, u, run.t, numbers)
    free = choose_independent(slopes.phi_q[0])
    if not len(run.t):
        return []
    form, maps = _model_form(field, free), _linear_maps(field, slopes, slice(None), free)
    places = np.hstack([q, u]).tolist()
    return [
        _linear_model(form, t, place, maps_at, steady=False)
        for t, place, maps_at in zip(run.t.tolist(), places, maps, strict=True)
    ]


def _extended_coordinates(start: InitialState) -> FloatArray:
    """q with the first-order states behind it."""
    return np.concatenate([start.q, start.x])


def linear_model_at(
    field: EquationJacobians,
    start: InitialState,
    slopes: JacobianValues,
    k: int,
    free: Sequence[int],
) -> LinearModel:
    """A, B, C, D at the point of number k: ∂q = S ∂z + S_w ∂w, ∂u̇ = −M⁻¹ ∂r."""
    (maps,) = _linear_maps(field, slopes, slice(k, k + 1), free)
    place = [*_extended_coordinates(start).tolist(), *start.u.tolist()]
    return _linear_model(_model_form(field, free), start.t, place, maps)


# A, B, C, D, f₀, y, M, and ∂r/∂z, ∂r/∂u, ∂r/∂w at one point
_Maps = tuple[FloatArray, ...]


def _linear_maps(
    field: EquationJacobians, slopes: JacobianValues, at: slice, free: Sequence[int]
) -> Iterator[_Maps]:
    """The matrices of the models at the points of these numbers, all in one call each."""
    r, qdot, y = slopes.r_x[at], slopes.qdot_x[at], slopes.y_x[at]
    rates, udot = slopes.qdot[at], slopes.udot_x[at]
    # without constraint equations all coordinates are independent: ∂(q, u, w)/∂(z, u, w) = 1
    if slopes.phi.shape[1]:
        points = range(len(slopes.M))[at]
        L = np.stack([_tangent_map(field, slopes, k, free) for k in points])
        r, qdot, y, udot = r @ L, qdot[:, list(free)] @ L, y @ L, udot @ L
        rates = rates[:, list(free)]
    whole = np.concatenate([qdot, udot], axis=1)
    if field.h:
        y = y + slopes.y_udot[at] @ udot
    n_z, n = len(free), len(free) + field.n_u
    offset = np.concatenate([rates, slopes.udot[at]], axis=1)
    return zip(
        *(whole[:, :, :n], whole[:, :, n:], y[:, :, :n], y[:, :, n:], offset, slopes.y[at]),
        *(slopes.M[at], r[:, :, :n_z], r[:, :, n_z:n], r[:, :, n:]),
        strict=True,
    )


class _ModelForm(NamedTuple):
    """What linear models of one system in the same coordinates have in common."""

    # the fields of the models that are the same in all
    fields: dict[str, Any]
    point_names: tuple[str, ...]
    # {number of a coordinate: number of the speed that is its rate}
    rates: dict[int, int]


_FORMS: Final = PerOwnerCache[_ModelForm]()


def _model_form(field: EquationJacobians, free: Sequence[int]) -> _ModelForm:
    """The names of states and inputs."""
    return _FORMS(field, tuple(free), lambda: _new_form(field, free))


def _new_form(field: EquationJacobians, free: Sequence[int]) -> _ModelForm:
    kin = field.evaluator.kin
    fields = {
        "system": kin.system.name,
        "states": field.names((*(field.q[i] for i in free), *kin.u)),
        "inputs": field.names(field.w),
        "outputs": field.outputs,
        "last_amplitudes": tuple(
            str(a[-1].name)
            for x in kin.system.expansions.values()
            for a in x.amplitudes.values()
            if len(a) > 1
        ),
        "units": field.point_units,
    }
    rates = {j: kin.u.index(x) for j, i in enumerate(free) if (x := field.qdot[i]) in kin.u}
    return _ModelForm(fields, field.point_names, rates)


def _linear_model(
    form: _ModelForm, t: float, place: Sequence[float], maps: _Maps, *, steady: bool = True
) -> LinearModel:
    """The model of these matrices, with the names of its states; `place` holds q, x and u."""
    A, B, C, D, offset, y, M, r_z, r_u, r_w = maps
    # a run has one at each of its points, and a frozen class writes field after field
    model = object.__new__(LinearModel)
    fields = vars(model)
    fields |= form.fields
    fields |= {"t": t, "A": A, "B": B, "C": C, "D": D, "offset": offset, "y": y, "steady": steady}
    fields["point"] = dict(zip(form.point_names, place, strict=True))
    fields["residual"] = ResidualJacobian(M, r_z, r_u, r_w, form.rates)
    return model


def _tangent_map(
    field: EquationJacobians, slopes: JacobianValues, k: int, free: Sequence[int]
) -> FloatArray:
    """∂(q, u, w)/∂(z, u, w) at the point of number k."""
    n_q, n_u, n_z = field.n_q, field.n_u, len(free)
    S, S_w = tangent_basis(slopes.phi_q[k], slopes.phi_x[k][:, n_q + n_u :], free)
    L = np.zeros((field.n_x, n_z + n_u + field.n_w), dtype=S.dtype)
    L[:n_q, :n_z], L[:n_q, n_z + n_u :] = S, S_w
    L[n_q:, n_z:] = np.eye(n_u + field.n_w)
    return L


def _is_steady(
    field: EquationJacobians,
    start: InitialState,
    linear_model: LinearModel,
    numbers: Mapping[int, float],
) -> bool:
    """Whether A is constant in time: no acceleration, no time, and the same slopes a moment later
    where states drive one another.
    """
    fastest = float(np.abs(start.qdot).max(initial=0.0))
    if np.abs(linear_model.offset[linear_model.n_z :]).max(initial=0.0) > _AT_REST * max(
        1.0, fastest
    ):
        return False
    if field.evaluator.depends_on_time([*field.r, *field.qdot, *field.phi, *field.e]):
        return False
    if fastest == 0.0:
        return True
    later = np.concatenate([start.q + _PROBE_DISTANCE * start.qdot / fastest, start.x])
    try:
        slopes = field.at(later[None], start.u[None], start.t, numbers, zero_roundoff=False)
        free = [field.names(field.q).index(z) for z in linear_model.states[: linear_model.n_z]]
        A = linear_model_at(field, start, slopes, 0, free).A
    except (BadLinearPoint, np.linalg.LinAlgError):
        return False
    proper = [np.ix_(block, block) for block in strong_components(linear_model.A) if len(block) > 1]
    return all(
        np.abs(A[part] - linear_model.A[part]).max()
        <= _STEADY_TOLERANCE * np.abs(linear_model.A[part]).max()
        for part in proper
    )


def _coordinate_indices(field: EquationJacobians, coordinates: Sequence[Key]) -> list[int]:
    kin = field.evaluator.kin
    if isinstance(coordinates, str) or not isinstance(coordinates, Sequence):
        msg = f"linearize: coordinates={coordinates!r}; give a list of them"
        raise BadLinearPoint(msg)
    nodes = [
        field.evaluator.node(key) for key in coordinates if field.evaluator.node(key) not in kin.x
    ]
    if any(i not in kin.q for i in nodes) or len(nodes) != kin.n_q - len(field.phi):
        msg = (
            f"linearize: name {kin.n_q - len(field.phi)} of the coordinates "
            f"{', '.join(field.names(kin.q))} as independent"
        )
        raise BadLinearPoint(msg)
    return [*(kin.q.index(i) for i in nodes), *range(kin.n_q, len(field.q))]


def _check_equilibrium(field: EquationJacobians, slopes: JacobianValues) -> None:
    """u̇₀ = 0, up to rounding of the terms it is made of."""
    udot = slopes.udot[0]
    scale = np.linalg.norm(slopes.r_x[0], axis=1) / np.abs(np.diag(slopes.M[0]))
    if not (wrong := np.flatnonzero(np.abs(udot) > _AT_REST * np.maximum(scale, 1.0))).size:
        return
    names = field.names(field.evaluator.kin.udot)
    listed = ", ".join(f"{names[k]} = {udot[k]:.6g}" for k in wrong)
    msg = (
        f"linearize: not an equilibrium: {listed}; change the point, or leave out "
        f"equilibrium=True and use the offset"
    )
    raise BadLinearPoint(msg)
