"""x̂ from measurements: the extended Kalman filter on the independent states, with exact slopes.

Between samples the estimate follows the equations of motion and P ← Φ P Φᵀ + Q h, Φ = exp(f_x h).
At a sample

    K = P Hᵀ (H P Hᵀ + R)⁻¹,  x̂ ← x̂ ⊞ N K (y − h(x̂)),  P ← (1 − K H) P (1 − K H)ᵀ + K R Kᵀ

P belongs to ξ, δx = N ξ: a quaternion has three components of error. ⊞ adds and then returns to the
constraints (a quaternion to length one); P is carried to the basis there, T P Tᵀ with T = N⁺ᵀ N.

Source: D. Simon, Optimal State Estimation (2006), sections 13.2 and 13.3; the error on the tangent
space as in F. L. Markley, J. Guidance, Control, and Dynamics 26 (2003) 311.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.control.regulator import operating_point
from dalembert.analysis.control.state_model import (
    BadControl,
    Numbers,
    exponential,
    tangent_basis,
    weights,
)
from dalembert.errors import Unknown
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import check_options
from dalembert.runtime.numerics.symbol_values import finite_number
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.analysis.control.smoothing import SmoothedStates
    from dalembert.mechanics.model.system import System


class KalmanFilter(Displayable):
    """An estimate x of the state and its covariance P, advanced by `step(y, w)`.

    `filter["theta"]` is a component of the estimate, `filter.deviation["theta"]` its standard
    deviation.
    """

    kind = "Kalman filter"

    def __init__(
        self, point: Any, measure: Sequence[Any], every: float, variances: Mapping[str, Any]
    ) -> None:
        self.model, at, self.w = point
        model = self.model
        self.states, self.inputs = model.names, model.drives
        self.every, self.t = every, at.t
        self.x = np.concatenate([at.q, [at.numbers[i] for i in model.kin.x], at.u])
        self.outputs = tuple(str(e) for e in measure)
        self._h = model.outputs(measure)
        self.process = variance_matrix("process", variances["process"], self.states)
        self.noise = variance_matrix("noise", variances["noise"], self.outputs)
        if np.linalg.eigvalsh(self.noise).min() <= 0.0:
            msg = "kalman: every measurement needs a noise variance above zero"
            raise BadControl(msg)
        self.N = self._basis(None)
        start = variance_matrix("covariance", variances["covariance"], self.states)
        self.P = self.N.T @ start @ self.N
        # covariance of the errors before and after the last prediction
        self.cross = self.P

    def __str__(self) -> str:
        spread = self.deviation
        listed = (
            f"  {name} = {x:.6g} ± {spread[name]:.2g}"
            for name, x in zip(self.states, self.x, strict=True)
        )
        return "\n".join(
            [f"{self.kind} of {self.model.kin.system.name!r} at t = {self.t:g}", *listed]
        )

    def __getitem__(self, name: Scalar | str) -> float:
        """The estimate of a coordinate or speed."""
        key = str(name.name if isinstance(name, Scalar) else name).replace("'", ".dot")
        if key not in self.states:
            msg = f"the estimate has {', '.join(self.states)}, not {key!r}"
            raise Unknown(msg)
        return float(self.x[self.states.index(key)])

    @property
    def deviation(self) -> dict[str, float]:
        """The standard deviation of every state."""
        whole = np.einsum("ij,jk,ik->i", self.N, self.P, self.N)
        return dict(zip(self.states, np.sqrt(np.maximum(whole, 0.0)).tolist(), strict=True))

    def step(self, y: Any, w: Any = None) -> Numbers:
        """The estimate after a measurement y; w are the inputs from now until the next one."""
        self.update(y)
        results = self.x.copy()
        self.predict(w)
        return results

    def update(self, y: Any) -> None:
        """Use a measurement."""
        given = self._measurement(y)
        expected, slopes = self._h(self.x, self.w, self.t)
        H = slopes @ self.N
        S = H @ self.P @ H.T + self.noise
        K = np.linalg.solve(S, H @ self.P).T
        rest = np.eye(len(self.P)) - K @ H
        self.P = rest @ self.P @ rest.T + K @ self.noise @ K.T
        self._move(self.x + self.N @ (K @ (given - expected)))

    def predict(self, w: Any = None) -> None:
        """Follow the equations of motion until the next sample."""
        if w is not None:
            self.w = np.atleast_1d(np.asarray(w, dtype=float))
        h, t = self.every, self.t
        middle, end = self._runge_kutta(self.x[None])
        slopes = self.model.slopes(middle, self.w[None], np.array([t + h / 2]))
        before, Phi = self.N, exponential(h * slopes.x[0])
        self.t = t + h
        self.x = self.model.onto_constraints(end[0], self.w, self.t)
        self.N = self._basis(before)
        moved = self.N.T @ Phi @ before
        self.cross = self.P @ moved.T
        self.P = moved @ self.P @ moved.T + h * self.N.T @ self.process @ self.N

    def _runge_kutta(self, x: Numbers) -> tuple[Numbers, Numbers]:
        """States in rows half a step and a step later, with the inputs of now."""
        h, t = self.every, self.t
        w = np.broadcast_to(self.w, (len(x), len(self.w)))

        def f(x: Numbers, t: float) -> Numbers:
            return np.asarray(self.model.rates(x, w, np.full(len(x), t)))

        k1 = f(x, t)
        k2 = f(x + h / 2 * k1, t + h / 2)
        middle = x + h / 2 * k2
        k3 = f(middle, t + h / 2)
        k4 = f(x + h * k3, t + h)
        return middle, x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def smooth(self, measurements: Any, inputs: Any = None) -> SmoothedStates:
        """The states at every sample from all measurements, one in each row; inputs likewise."""
        from dalembert.analysis.control.smoothing import smooth

        return smooth(self, measurements, inputs)

    def _measurement(self, y: Any) -> Numbers:
        given = np.atleast_1d(np.asarray(y, dtype=float))
        if given.shape != (len(self.outputs),) or not np.isfinite(given).all():
            msg = (
                f"kalman: {len(self.outputs)} finite measurements are needed "
                f"({', '.join(self.outputs)})"
            )
            raise BadControl(msg)
        return given

    def _move(self, x: Numbers) -> None:
        """The estimate on the constraints, and P in the basis there."""
        before = self.N
        self.x = self.model.onto_constraints(x, self.w, self.t)
        self.N = self._basis(before)
        T = self.N.T @ before
        self.P = T @ self.P @ T.T

    def _basis(self, before: Numbers | None) -> Numbers:
        rows = self.model.rows(self.x[None], self.w[None], np.array([self.t]))[1]
        return tangent_basis(rows[0], before)


@check_options
def kalman(
    system: System,
    measure: Sequence[Any],
    every: float,
    *,
    noise: Any,
    process: Any,
    covariance: Any = None,
    start: Mapping[Any, Any] | None = None,
    drives: Sequence[Any] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    method: str = "extended",
) -> KalmanFilter:
    """An extended Kalman filter: estimate = da.kalman(s, ["theta"], 0.01, noise=1e-4,
    process={"theta.dot": 0.1}).

    measure     expressions of coordinates, rates and inputs
    every       the time between two measurements
    noise       variances of the measurements: a number, a row, {expression: variance} or a matrix
    process     intensity of the noise on the rates of the states, variance per time, likewise; not
                named: 0
    covariance  variances of the first estimate, likewise; by default 1
    start       the first estimate, completed as the start of a run is
    method      "extended", by slopes, or "unscented", by sigma points: better where the equations
                bend much within the uncertainty
    """
    if isinstance(measure, str | Scalar):
        measure = [measure]
    h = finite_number("every", every)
    if h <= 0.0 or not measure:
        msg = (
            f"kalman: every={h:g} and {len(measure)} measurements; a positive time and one "
            "measurement at least are needed"
        )
        raise BadControl(msg)
    free = _inputs_or_none(system, drives)
    point = operating_point(system, start, free, values, inputs)
    variances = {
        "noise": noise,
        "process": process,
        "covariance": 1.0 if covariance is None else covariance,
    }
    return _filter_class(method)(point, measure, h, variances)


def _filter_class(method: str) -> type[KalmanFilter]:
    if method == "extended":
        return KalmanFilter
    if method == "unscented":
        from dalembert.analysis.control.unscented import UnscentedFilter

        return UnscentedFilter
    msg = f"kalman: method={method!r:.40}; give 'extended' or 'unscented'"
    raise Unknown(msg)


def _inputs_or_none(system: System, drives: Sequence[Any] | None) -> Sequence[Any] | None:
    """The inputs that change; a system may have none."""
    has_inputs = any(s.kind == "input" and s.value is None for s in system.symbols.values())
    return drives if drives is not None or has_inputs else ()


def variance_matrix(what: str, given: Any, names: Sequence[str]) -> Numbers:
    """A covariance matrix; {name: variance} is zero for what is not named."""
    if isinstance(given, Mapping):
        known = {
            str(getattr(k, "name", None) or k).replace("'", ".dot"): x for k, x in given.items()
        }
        given = {name: known.pop(name, 0.0) for name in names} | known
    results = weights(what, given, names)
    if np.linalg.eigvalsh(results).min(initial=0.0) < 0.0:
        msg = f"{what}: variances must not be negative"
        raise BadControl(msg)
    return results
