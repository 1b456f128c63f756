"""x̂ from measurements: the unscented Kalman filter on the independent states, without slopes.

2 n + 1 points ξ_i = ±√(n + κ) columns of the symmetric √P, κ = max(3 − n, 0), are moved by the
equations and measured; means and covariances are weighted sums over them:

    P⁻ = Σ w_i ξ_i ξ_iᵀ + Q h,  S = Σ w_i (y_i − ȳ)(y_i − ȳ)ᵀ + R,  K = Σ w_i ξ_i (y_i − ȳ)ᵀ S⁻¹

The points lie on the constraints, and ξ is the error on their tangent space as in kalman.py.

Source: S. Julier, J. Uhlmann, Proceedings of the IEEE 92 (2004) 401; with κ chosen so that no
weight is negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.analysis.control.kalman import KalmanFilter
from dalembert.analysis.control.state_model import Numbers


class UnscentedFilter(KalmanFilter):
    """The estimate and covariance of da.kalman, advanced by sigma points."""

    kind = "unscented Kalman filter"

    def update(self, y: Any) -> None:
        """Use a measurement."""
        given = self._measurement(y)
        xi, weights = _sigma_points(self.P)
        states = [self._on_constraints(self.x + self.N @ z) for z in xi]
        values = np.array([self._h(x, self.w, self.t)[0] for x in states])
        mean = weights @ values
        spread = values - mean
        S = (weights[:, None] * spread).T @ spread + self.noise
        K = np.linalg.solve(S, (weights[:, None] * spread).T @ xi).T
        self.P = _symmetric(self.P - K @ S @ K.T)
        self._move(self.x + self.N @ (K @ (given - mean)))

    def predict(self, w: Any = None) -> None:
        """Follow the equations of motion until the next sample."""
        if w is not None:
            self.w = np.atleast_1d(np.asarray(w, dtype=float))
        xi, weights = _sigma_points(self.P)
        before = self.N
        states = np.array([self._on_constraints(self.x + before @ z) for z in xi])
        states = self._runge_kutta(states)[1]
        self.t += self.every
        states = np.array([self._on_constraints(x) for x in states])
        # departures from the first point: of a quaternion those of the turn
        mean = weights @ self.model.error(states, states[0])
        self.x = self._on_constraints(states[0] + mean)
        self.N = self._basis(before)
        moved = self.model.error(states, self.x) @ self.N
        self.cross = (weights[:, None] * xi).T @ moved
        P = (weights[:, None] * moved).T @ moved
        self.P = _symmetric(P + self.every * self.N.T @ self.process @ self.N)

    def _on_constraints(self, x: Numbers) -> Numbers:
        return np.asarray(self.model.onto_constraints(x, self.w, self.t))


def _sigma_points(P: Numbers) -> tuple[Numbers, Numbers]:
    """ξ_i in rows, the first at zero, and their weights."""
    n = len(P)
    kappa = max(3.0 - n, 0.0)
    values, vectors = np.linalg.eigh(P)
    # the symmetric root: the same points in every language
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T * np.sqrt(n + kappa)
    weights = np.full(2 * n + 1, 0.5 / (n + kappa))
    weights[0] = kappa / (n + kappa)
    return np.vstack([np.zeros(n), root, -root]), weights


def _symmetric(P: Numbers) -> Numbers:
    return np.asarray((P + P.T) / 2)
