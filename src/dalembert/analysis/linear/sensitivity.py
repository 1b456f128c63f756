"""Ṡ = f_x S + f_p and ∂A/∂p: how a motion, a linear model and its eigenvalues change with the
constants of a system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.linear.equation_jacobians import (
    EquationJacobians,
    JacobianValues,
    cached_jacobians,
    run_values,
)
from dalembert.analysis.linear.linear_model import LinearModel
from dalembert.analysis.linear.linearize import choose_independent, linear_model_at, linearize
from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import symbol_name
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.runtime.states.evaluator import label
from dalembert.runtime.states.initial_conditions import InitialState, solve_initial_conditions
from dalembert.runtime.states.run_values import operating_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

# five Gauss points in each half of a step: order ten
_STAGES: Final = 5
_SUBSTEPS: Final = 2
_COMPLEX_STEP: Final = 1e-30


# ---- motions -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sensitivity(Displayable):
    """∂x/∂p along a motion, x = (q, u): `s["theta", "l"]` is ∂θ/∂l over the times of the run."""

    t: FloatArray
    states: tuple[str, ...]
    parameters: tuple[str, ...]
    # times × states × parameters
    derivatives: FloatArray

    def __getitem__(self, key: tuple[str, str]) -> FloatArray:
        return np.asarray(
            self.derivatives[:, self.states.index(key[0]), self.parameters.index(key[1])]
        )


def sensitivity(run: Trajectory, *parameters: Any) -> Sensitivity:
    """Ṡ = ∂f/∂x S + ∂f/∂p along a run, with fixed initial values.

    The variational equations are linear: each step's propagator is found by Gauss's collocation,
    all of them at once.
    """
    chosen = run_values("sensitivity", run)
    _refuse_first_order_states(run.kinematics)
    system = run.system
    names = tuple(symbol_name(system, p, ("constant",)) for p in parameters)
    field = cached_jacobians(
        chosen, run.start.t, (), tuple(system.symbols[n].scalar.i for n in names)
    )
    numbers = {i: chosen.numbers[i] for i in field.parameters}
    t = run.solution.t
    S = [_initial_sensitivity(field, run.start, numbers, len(names))]
    for Phi, g in zip(*_propagators(field, run, numbers, len(names)), strict=True):
        S.append(Phi @ S[-1] + g)
    kin = field.evaluator.kin
    states = tuple(label(kin.name(i)) for i in (*kin.q, *kin.u))
    return Sensitivity(t, states, names, np.array(S[::_SUBSTEPS]))


def _refuse_first_order_states(kin: Kinematics) -> None:
    if kin.x:
        msg = (
            f"sensitivity: not for systems with first-order states such as "
            f"{kin.name(kin.x[0])}; "
            f"take differences of two runs"
        )
        raise NotApplicable(msg)


def _state_and_parameter_jacobians(
    field: EquationJacobians, slopes: JacobianValues, count: int
) -> tuple[FloatArray, FloatArray]:
    """f_x and f_p in all of (q, u), for each point."""
    whole = np.concatenate([slopes.qdot_x, slopes.udot_x], axis=1)
    n = field.n_q + field.n_u
    return whole[:, :, :n], whole[:, :, whole.shape[2] - count :]


def _gauss_legendre_tableau(stages: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """c, b and a of Gauss's collocation on (0, 1)."""
    x, w = np.polynomial.legendre.leggauss(stages)
    c = (x + 1) / 2
    powers = np.vander(c, stages, increasing=True)
    integrals = c[:, None] ** np.arange(1, stages + 1) / np.arange(1, stages + 1)
    return c, w / 2, integrals @ np.linalg.inv(powers)


def _propagators(
    field: EquationJacobians, run: Trajectory, numbers: Mapping[int, float], count: int
) -> tuple[FloatArray, FloatArray]:
    """S(t + h) = Φ S(t) + g for every part of every step."""
    c, b, a = _gauss_legendre_tableau(_STAGES)
    steps = run.solution.t
    edges = np.concatenate(
        [np.linspace(s, e, _SUBSTEPS, endpoint=False) for s, e in pairwise(steps)] + [steps[-1:]]
    )
    h = np.diff(edges)
    times = (edges[:-1, None] + h[:, None] * c).ravel()
    inside = run.at(times)
    f_x, f_p = _state_and_parameter_jacobians(
        field, field.at(inside.q, inside.u, times, numbers), count
    )
    n, K, s = f_x.shape[1], len(h), _STAGES
    f_x, f_p = f_x.reshape(K, s, n, n), f_p.reshape(K, s, n, count)
    # k_i − h Σ_j a_ij A_i k_j = A_i S + B_i
    left = np.eye(s * n) - np.einsum("k,ij,kimn->kimjn", h, a, f_x).reshape(K, s * n, s * n)
    right = np.concatenate([f_x, f_p], axis=3).reshape(K, s * n, n + count)
    k = np.linalg.solve(left, right).reshape(K, s, n, n + count)
    increments = h[:, None, None] * np.einsum("i,kimn->kmn", b, k)
    return np.eye(n) + increments[:, :, :n], increments[:, :, n:]


def _initial_sensitivity(
    field: EquationJacobians, start: InitialState, numbers: Mapping[int, float], count: int
) -> FloatArray:
    """∂(q, u)/∂p where the run begins: zero but for positions that the rows determine."""
    n_q, n = field.n_q, field.n_q + field.n_u
    origins = [m.origin for m in start.values[:n]]
    if "solved" in origins[n_q:] and not field.e:
        names = ", ".join(m.name for m in start.values[n_q:n] if m.origin == "solved")
        msg = (
            f"sensitivity: {names} follows from given rates, which the constants may change; "
            f"give speeds in the start"
        )
        raise NotApplicable(msg)
    S = np.zeros((n, count))
    solved_coordinates = [k for k, origin in enumerate(origins[:n_q]) if origin == "solved"]
    slopes = field.at(start.q[None], start.u[None], start.t, numbers)
    phi, e = slopes.phi_x[0], slopes.e_x[0]
    if solved_coordinates:
        S[solved_coordinates] = -np.linalg.lstsq(
            phi[:, solved_coordinates], phi[:, phi.shape[1] - count :], rcond=1e-12
        )[0]
    solved_speeds = [k for k, origin in enumerate(origins) if k >= n_q and origin == "solved"]
    if solved_speeds:
        # rates that the rows determine follow the positions and the constants
        known = e[:, :n_q] @ S[:n_q] + e[:, e.shape[1] - count :]
        S[solved_speeds] = -np.linalg.lstsq(e[:, solved_speeds], known, rcond=1e-12)[0]
    return S


# ---- linear models -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ModelSensitivity(Displayable):
    """∂A/∂p of a linear model and ∂λ/∂p of its eigenvalues, at a fixed point z, u."""

    model: LinearModel
    parameter: str
    A: FloatArray
    eigenvalues: NDArray[np.complex128]


def model_sensitivity(
    system: System,
    parameter: Any,
    about: Mapping[Any, Any] | None = None,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    t: float = 0.0,
) -> ModelSensitivity:
    """∂A/∂p by an imaginary step of the constant p, which is exact to rounding; ∂λ/∂p = wᴴ
    (∂A/∂p) v / wᴴ v.
    """
    name = symbol_name(system, parameter, ("constant",))
    p = system.symbols[name].scalar.i
    chosen = operating_values(system, values or {}, inputs or {})
    _refuse_first_order_states(chosen.kin)
    linear_model = linearize(system, about, values=values, inputs=inputs, t=t)
    start = solve_initial_conditions(chosen.kin, about or {}, chosen.symbol_values_at(t), t)
    field = cached_jacobians(chosen, t, (), (p,))
    numbers = chosen.symbol_values_at(t)
    slopes = field.at(start.q[None], start.u[None], t, numbers)
    free = choose_independent(slopes.phi_q[0])
    q: Any = start.q + 1j * _COMPLEX_STEP * _dependent_derivative(slopes, free)
    u: Any = start.u + 0j
    moved: dict[int, Any] = {**numbers, p: numbers[p] + 1j * _COMPLEX_STEP}
    perturbed_model = linear_model_at(
        field, replace(start, q=q.real), field.at(q[None], u[None], t, moved), 0, free
    )
    A_p = np.asarray(perturbed_model.A.imag / _COMPLEX_STEP)
    return ModelSensitivity(linear_model, name, A_p, _eigenvalue_derivatives(linear_model, A_p))


def _dependent_derivative(slopes: JacobianValues, free: Sequence[int]) -> FloatArray:
    """∂q/∂p at held z: φ_D ∂q_D/∂p = −φ_p."""
    phi_q, phi_p = slopes.phi_q[0], slopes.phi_x[0][:, -1]
    moved = np.zeros(phi_q.shape[1])
    if depend := [k for k in range(phi_q.shape[1]) if k not in free]:
        moved[depend] = -np.linalg.solve(phi_q[:, depend], phi_p)
    return moved


def _eigenvalue_derivatives(linear_model: LinearModel, A_p: FloatArray) -> NDArray[np.complex128]:
    """∂λ/∂p for each eigenvalue of the model, in its order; NaN where it is not simple."""
    slopes = []
    for z in linear_model.eigenvalues:
        left, sizes, right = np.linalg.svd(linear_model.A - z * np.eye(len(linear_model.A)))
        w, v = left[:, -1], right[-1].conj()
        simple = sizes.size < 2 or sizes[-2] > 1e-8 * sizes[0]
        slopes.append(complex(w.conj() @ A_p @ v / (w.conj() @ v)) if simple else complex(np.nan))
    return np.array(slopes)
