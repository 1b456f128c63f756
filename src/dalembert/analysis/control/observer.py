"""ξ̂̇ = A ξ̂ + B (w − w₀) + L (y − y₀ − C ξ̂): a linear observer about an equilibrium, as states.
Keywords: Luenberger observer, output feedback.

L = P Cᵀ R⁻¹ with the stabilising solution of A P + P Aᵀ − P Cᵀ R⁻¹ C P + Q = 0, on the independent
states ξ, δx = N ξ: the stationary Kalman–Bucy filter. Declared as first-order states of the system
it is part of simulations, linear models and exports, in C also in single precision.

Source: H. Kwakernaak, R. Sivan, Linear Optimal Control Systems (1972), chapter 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.control.kalman import variance_matrix
from dalembert.analysis.control.regulator import Regulator, operating_point, without_rounding
from dalembert.analysis.control.state_model import (
    BadControl,
    Numbers,
    StateModel,
    tangent_basis,
)
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import check_options
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.mechanics.model.system import System

_UNOBSERVABLE = 1e-9


@dataclass(frozen=True, eq=False)
class Observer(Displayable):
    """L and the estimates that it drives: first-order states of the system, one for each
    independent state.
    """

    system: System
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: Numbers
    B: Numbers
    C: Numbers
    L: Numbers
    # x = x0 + N ξ̂
    N: Numbers
    x0: Numbers
    w0: Numbers
    eigenvalues: NDArray[np.complex128]
    # ξ̂ as declared in the system
    estimates: tuple[Scalar, ...]

    def __str__(self) -> str:
        slowest = self.eigenvalues.real.max(initial=-np.inf)
        listed = ", ".join(str(e.name) for e in self.estimates)
        return (
            f"observer of {self.system.name!r} from {', '.join(self.outputs)}: states {listed}, "
            f"slowest eigenvalue {slowest:.6g}"
        )

    def law(self, regulator: Regulator) -> dict[str, Scalar]:
        """{input: expression} of a regulator fed by the estimates instead of the states."""
        if regulator.states != self.states or regulator.inputs != self.inputs:
            msg = (
                f"observer: the regulator has the states {', '.join(regulator.states)} and inputs "
                f"{', '.join(regulator.inputs)}; design both before states are added"
            )
            raise BadControl(msg)
        gains = without_rounding(regulator.K @ self.N)
        return {
            name: _combination(row, self.estimates, float(w), -1.0)
            for name, row, w in zip(self.inputs, gains, regulator.w0, strict=True)
        }


@check_options
def observer(
    system: System,
    measure: Sequence[Any],
    *,
    noise: Any,
    process: Any,
    about: Mapping[Any, Any] | None = None,
    drives: Sequence[Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
) -> Observer:
    """A linear observer as states of the system: obs = da.observer(s, ["theta"], noise=1e-6,
    process={"theta.dot": 1}); inputs=obs.law(regulator) closes the loop.

    measure   expressions of coordinates and rates
    noise     intensities of the noise of the measurements: a number, a row, {expression: …}
    process   intensities of the noise on the rates of the states, likewise; not named: 0
    about     the equilibrium, as in da.lqr; drives, values and inputs too

    The system grows by the states hat_theta, …: design the regulator before.
    """
    listed = [measure] if isinstance(measure, str | Scalar) else list(measure)
    model, point, w0 = operating_point(system, about, drives, values, inputs)
    x0 = np.concatenate([point.q, [point.numbers[i] for i in model.kin.x], point.u])
    N, A, B = _independent_states(model, x0, w0)
    y0, y_x = model.outputs(listed)(x0, w0, 0.0)
    C = y_x @ N
    names = tuple(str(e) for e in listed)
    Q = N.T @ variance_matrix("process", process, model.names) @ N
    L = _gain(A, C, Q, variance_matrix("noise", noise, names), names)
    estimates = _declare(system, model.names, N)
    deviations = _input_deviations(system, model.drives, w0)
    errors = _output_errors(system, listed, y0, C, estimates)
    _declare_rates(system, estimates, np.hstack([A, B, L]), (*estimates, *deviations, *errors))
    closed = np.linalg.eigvals(A - L @ C).astype(np.complex128)
    return Observer(
        system, model.names, model.drives, names, A, B, C, L, N, x0, w0, closed, estimates
    )


def _independent_states(
    model: StateModel, x0: Numbers, w0: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """N, A and B of ξ̇ = A ξ + B (w − w₀), δx = N ξ."""
    slopes = model.slopes(x0[None], w0[None], np.zeros(1))
    N = tangent_basis(slopes.G[0])
    return N, N.T @ slopes.x[0] @ N, N.T @ slopes.w[0]


def _input_deviations(system: System, drives: Sequence[str], w0: Numbers) -> list[Scalar]:
    """w − w₀"""
    return [system[n] - float(w) for n, w in zip(drives, w0, strict=True)]


def _output_errors(
    system: System, measured: Sequence[Any], y0: Numbers, C: Numbers, estimates: Sequence[Scalar]
) -> list[Scalar]:
    """y − y₀ − C ξ̂"""
    sensors = [system.expression(e) if isinstance(e, str) else e for e in measured]
    return [
        y - float(v) - _combination(row, estimates)
        for y, v, row in zip(sensors, y0, C, strict=True)
    ]


def _declare(system: System, names: Sequence[str], N: Numbers) -> tuple[Scalar, ...]:
    """One state for each column of N, named after the state that it is."""
    plain = N.shape[0] == N.shape[1] and np.array_equal(N, np.eye(len(N)))
    labels = (
        [f"hat_{n.replace('.dot', '_dot')}" for n in names]
        if plain
        else [f"hat_{k}" for k in range(1, N.shape[1] + 1)]
    )
    return tuple(system.state(label) for label in labels)


def _declare_rates(
    system: System, estimates: Sequence[Scalar], rows: Numbers, terms: Sequence[Scalar]
) -> None:
    """ξ̇ = A ξ + B (w − w₀) + L (y − y₀ − C ξ)"""
    for xi, row in zip(estimates, rows, strict=True):
        system.rate(xi, _combination(row, terms))


def _combination(
    row: Any, terms: Sequence[Scalar], first: float = 0.0, sign: float = 1.0
) -> Scalar:
    total: Any = first
    for k, x in zip(row, terms, strict=True):
        if k:
            total = total + sign * float(k) * x
    return total if isinstance(total, Scalar) else 0 * terms[0] + total


def _gain(A: Numbers, C: Numbers, Q: Numbers, R: Numbers, names: Sequence[str]) -> Numbers:
    """L by the dual Riccati equation, or an error that names what is not seen."""
    from scipy.linalg import solve_continuous_are

    if np.linalg.eigvalsh(R).min() <= 0.0:
        msg = "observer: every measurement needs a noise above zero"
        raise BadControl(msg)
    for z in np.linalg.eigvals(A):
        both = np.vstack([A - z * np.eye(len(A)), C])
        least = np.linalg.svd(both, compute_uv=False)[-1]
        if z.real >= -_UNOBSERVABLE and least <= _UNOBSERVABLE * np.abs(both).max():
            msg = (
                f"observer: {', '.join(names)} do not observe the mode with eigenvalue {z:.4g}, "
                f"which does not decay; measure more"
            )
            raise BadControl(msg)
    try:
        P = solve_continuous_are(A.T, C.T, Q, R)
    except (np.linalg.LinAlgError, ValueError) as problem:
        msg = (
            f"observer: the Riccati equation has no stabilising solution ({problem}); give every "
            "state that does not decay a process noise"
        )
        raise BadControl(msg) from problem
    return np.asarray(without_rounding(P @ C.T @ np.linalg.inv(R)))
