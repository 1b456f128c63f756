"""q̈ of a raked two-wheeled frame by NumPy alone: bodies as particles, rows with multipliers.

Every body becomes six particles of equal mass with its central moments. Positions are power series
in time up to t², so that r̈ = J q̈ + r̈₀ is exact to rounding, and
[Σ m JᵀJ  Aᵀ; A 0] (q̈, λ) = (−Σ m Jᵀ(r̈₀ − g), −γ).
"""

from __future__ import annotations

import numpy as np

# x(t) = x₀ + x₁ t + x₂ t², one array of the three coefficients along the first axis
_G = np.array([0.0, 0.0, -9.81])


def _times(a, b):
    """The product of matrix series."""
    return np.array([sum(a[i] @ b[k - i] for i in range(k + 1)) for k in range(3)])


def _rotation(axis, angle):
    """exp(angle [axis]×) as a series, by Rodrigues' formula."""
    n = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    s, c = np.sin(angle[0]), np.cos(angle[0])
    sine = (s, c * angle[1], c * angle[2] - s * angle[1] ** 2 / 2)
    cosine = (c, -s * angle[1], -s * angle[2] - c * angle[1] ** 2 / 2)
    square = n @ n
    return np.array(
        [(k == 0) * (np.eye(3) + square) + sine[k] * n - cosine[k] * square for k in range(3)]
    )


def _places(scene, q):
    """Positions of all particles, their masses, and the rows, for a series q of coordinates."""
    ex, ey, ez = np.eye(3)
    x, y, z, yaw, roll, pitch, steer, br, bf = q
    B = _times(_times(_rotation(ez, yaw), _rotation(ex, roll)), _rotation(ey, pitch))
    H = _times(B, _rotation(np.array([np.sin(scene.rake), 0, np.cos(scene.rake)]), steer))
    P = np.stack([x, y, z], axis=1)
    a, b, c, d = scene.lengths
    Q = P + B @ np.array([a, 0, b]) + H @ np.array([-c, 0, -d])
    places, masses = [], []
    for mass, moment, G, frame in (
        (scene.masses[0], scene.moments[0], P, _times(B, _rotation(ey, br))),
        (scene.masses[1], scene.moments[1], Q, _times(H, _rotation(ey, bf))),
    ):
        # Σ m x² = Σ m z² = J and Σ m y² = 0 give the moments J, 2 J, J
        reach = np.sqrt(moment / (mass / 3))
        for arm in (reach * ex, -reach * ex, reach * ez, -reach * ez, 0 * ey, 0 * ey):
            places.append(G + frame @ arm)
            masses.append(mass / 6)
    rows = {"rear": z, "front": Q[:, 2], "lean": x - 2 * y}
    # Ṗ·b_y, whose rate is what the row says about q̈
    v, across = np.array([P[1], 2 * P[2]]), B[:2, :, 1]
    rate = v[1] @ across[0] + v[0] @ across[1]
    seconds = {name: 2 * series[2] for name, series in rows.items()} | {"slip": rate}
    return np.array(places), np.array(masses), seconds


def accelerations(scene, q, qdot):
    """q̈ at a state."""
    n = len(q)

    def evaluate(qddot):
        series = np.stack([q, qdot, np.asarray(qddot) / 2])
        r, m, rows = _places(scene, series.T)
        return 2 * r[:, 2].ravel(), m, np.array([rows[name] for name in scene.rows])

    a0, m, gamma = evaluate(np.zeros(n))
    columns = [evaluate(e) for e in np.eye(n)]
    J = np.stack([a - a0 for a, _, _ in columns], axis=1)
    A = np.stack([g - gamma for _, _, g in columns], axis=1)
    weight = np.repeat(m, 3)
    M = J.T @ (weight[:, None] * J)
    f = -J.T @ (weight * (a0 - np.tile(_G, len(m))))
    k = len(gamma)
    saddle = np.block([[M, A.T], [A, np.zeros((k, k))]])
    return np.linalg.lstsq(saddle, np.concatenate([f, -gamma]), rcond=1e-13)[0][:n]
