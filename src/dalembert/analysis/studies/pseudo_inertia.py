"""J = [[Σ, h], [hᵀ, m]] ≻ 0, Σ = ½ tr(I) 1 − I: inertial parameters that some body can have.
Keywords: pseudo-inertia, physical consistency, log-Cholesky parameters.

A mass distribution exists exactly if J is positive definite: m > 0, and a positive inertia whose
principal moments satisfy the triangle inequalities. With J₀ = U₀ U₀ᵀ of a reference body

    J(θ) = U₀ V Vᵀ U₀ᵀ,   V upper triangular with diagonal (exp θ₁, …, exp θ₄),

every θ in R¹⁰ is such a body, and θ = 0 is the reference. θ has no dimension and does not depend on
the axes in which the reference is written.

Source: C. Rucker, P. M. Wensing, IEEE Robotics and Automation Letters 7(2), 2022 (log-Cholesky);
P. M. Wensing, S. Kim, J.-J. E. Slotine, same journal 3(1), 2018 (pseudo-inertia).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

# entries of V above its diagonal
_ABOVE: Final = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
# π = (Ixx, Ixy, Ixz, Iyy, Iyz, Izz, hx, hy, hz, m)
_PLACES: Final = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
# the least eigenvalue of a reference, relative to its largest
_LEAST: Final = 1e-6


def pseudo_inertia(pi: FloatArray) -> FloatArray:
    """J of the ten parameters of one body."""
    I = np.zeros((3, 3))
    for x, (i, j) in zip(pi[:6], _PLACES, strict=True):
        I[i, j] = I[j, i] = x
    J = np.empty((4, 4))
    J[:3, :3] = np.trace(I) / 2 * np.eye(3) - I
    J[:3, 3] = J[3, :3] = pi[6:9]
    J[3, 3] = pi[9]
    return J


def parameters_of(J: FloatArray) -> FloatArray:
    """The ten parameters, linear in J: I = tr(Σ) 1 − Σ."""
    I = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
    return np.array([*(I[i, j] for i, j in _PLACES), *J[:3, 3], J[3, 3]])


def is_consistent(pi: FloatArray) -> bool:
    """Whether some body has these parameters; a particle has its mass alone."""
    if len(pi) == 1:
        return bool(pi[0] > 0.0)
    return bool(np.linalg.eigvalsh(_unit_scaled(pseudo_inertia(pi)))[0] > 0.0)


def _unit_scaled(J: FloatArray) -> FloatArray:
    """D J D with a diagonal of ±1: as definite as J, and without its units."""
    size = np.sqrt(np.maximum(np.abs(np.diag(J)), 1e-300))
    return np.asarray(J / np.outer(size, size))


@dataclass(frozen=True, eq=False)
class LogCholesky:
    """θ ↦ π of one body, with π(0) the reference."""

    # U₀; of a particle the square root of its mass
    root: FloatArray

    @classmethod
    def around(cls, reference: FloatArray) -> LogCholesky:
        """Around a reference; one that no body has is moved to the nearest that is definite."""
        if len(reference) == 1:
            return cls(np.array([[np.sqrt(max(float(reference[0]), _LEAST))]]))
        J = pseudo_inertia(reference)
        size = np.sqrt(np.maximum(np.abs(np.diag(J)), 1e-12))
        values, vectors = np.linalg.eigh(J / np.outer(size, size))
        values = np.maximum(values, _LEAST * values[-1])
        near = (vectors * values) @ vectors.T * np.outer(size, size)
        # U upper triangular: the Cholesky factor of the reversed matrix, reversed
        return cls(np.linalg.cholesky(near[::-1, ::-1])[::-1, ::-1])

    @property
    def count(self) -> int:
        """The number of parameters."""
        return 1 if len(self.root) == 1 else 10

    def __call__(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """π and ∂π/∂θ."""
        if self.count == 1:
            m = float(self.root[0, 0]) ** 2 * np.exp(2 * theta)
            return m, 2 * np.diag(m)
        V = np.diag(np.exp(theta[:4]))
        for x, place in zip(theta[4:], _ABOVE, strict=True):
            V[place] = x
        U, slopes = self.root, np.empty((10, 10))
        for k in range(10):
            place = (k, k) if k < 4 else _ABOVE[k - 4]
            change = np.zeros((4, 4))
            change[place] = V[place] if k < 4 else 1.0
            half = U @ change @ V.T @ U.T
            slopes[:, k] = parameters_of(half + half.T)
        return parameters_of(U @ V @ V.T @ U.T), slopes
