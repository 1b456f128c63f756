"""ẋ(τ_i) = Σ_j D_ij x_j: collocation at the points of Radau or Gauss, and Lagrange's polynomials.

Radau's K points lie on (0, 1] and include the end, so the last point of an interval is the first
node of the next. Quadrature with the weights b is exact up to degree 2K − 2. Gauss's points lie on
(0, 1), with degree 2K − 1; the state at the end of an interval is Σ_j l_j(1) x_j. One point gives
backward Euler (Radau) and the midpoint rule (Gauss).

Source: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996), section IV.5.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.polynomial import legendre

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

MOST_POINTS: Final = 12
_NEWTON_STEPS: Final = 3


@dataclass(frozen=True, eq=False)
class Scheme:
    """Points τ on (0, 1], weights b, and D: derivatives at the points from the values at (0, τ)."""

    points: FloatArray
    weights: FloatArray
    D: FloatArray

    @property
    def order(self) -> int:
        """K, the number of points of an interval."""
        return len(self.points)

    @property
    def nodes(self) -> FloatArray:
        """0 and the points: where the polynomial of a state has its values."""
        return np.append(0.0, self.points)

    @property
    def has_end(self) -> bool:
        """Whether the last point is the end of the interval."""
        return bool(self.points[-1] == 1.0)

    @property
    def end_weights(self) -> FloatArray:
        """l_j(1): the state at the end from the values at (0, τ)."""
        return np.asarray(basis(self.nodes, np.ones(1))[0])


@lru_cache(maxsize=MOST_POINTS)
def radau(order: int) -> Scheme:
    """The points are the roots of P_K − P_{K−1} on (−1, 1], mapped to (0, 1]."""
    p = np.zeros(order + 1)
    p[order], p[order - 1] = 1.0, -1.0
    x = np.sort(legendre.legroots(p).real)
    for _ in range(_NEWTON_STEPS):
        x -= legendre.legval(x, p) / legendre.legval(x, legendre.legder(p))
    x[-1] = 1.0
    points = (x + 1.0) / 2.0
    weights = 0.5 * (1.0 + x) / (order * legendre.legval(x, np.eye(order)[-1])) ** 2
    return Scheme(points, weights, differentiation(np.append(0.0, points))[1:])


@lru_cache(maxsize=MOST_POINTS)
def gauss_legendre(order: int) -> Scheme:
    """The points are the roots of P_K, mapped to (0, 1)."""
    points, weights = gauss(order)
    return Scheme(points, weights, differentiation(np.append(0.0, points))[1:])


# rules of collocation: points, and their number where the rule fixes it
RULES: Final = {
    "radau": (radau, None),
    "gauss": (gauss_legendre, None),
    "midpoint": (gauss_legendre, 1),
    "backward Euler": (radau, 1),
}


def differentiation(nodes: FloatArray) -> FloatArray:
    """D_ij = l_j′(x_i): the derivatives at the nodes of the polynomial through values there."""
    w = _barycentric(nodes)
    gaps = nodes[:, None] - nodes[None, :]
    np.fill_diagonal(gaps, 1.0)
    D: FloatArray = w[None, :] / w[:, None] / gaps
    np.fill_diagonal(D, 0.0)
    return D - np.diag(D.sum(axis=1))


def basis(nodes: FloatArray, s: FloatArray) -> FloatArray:
    """l_j(s): a row for each s, a column for each node."""
    gaps = np.asarray(s, dtype=np.float64)[:, None, None] - nodes[None, None, :]
    n = len(nodes)
    factors = np.where(np.eye(n, dtype=bool)[None], 1.0, gaps)
    values: FloatArray = factors.prod(axis=2) * _barycentric(nodes)[None, :]
    return values


def monomials(nodes: FloatArray) -> FloatArray:
    """C with Σ_m (Σ_j C_mj w_j) s^m the polynomial through w_j at the nodes."""
    return np.asarray(np.linalg.inv(np.vander(nodes, increasing=True)), dtype=np.float64)


def bernstein(nodes: FloatArray) -> FloatArray:
    """B with β = B w the Bernstein coefficients of the polynomial through w at the nodes: min β
    ≤ w(s) ≤ max β on (0, 1).
    """
    d = len(nodes) - 1
    steps = [
        [math.comb(i, j) / math.comb(d, j) if j <= i else 0.0 for j in range(d + 1)]
        for i in range(d + 1)
    ]
    return np.array(steps) @ monomials(nodes)


def gauss(count: int) -> tuple[FloatArray, FloatArray]:
    """Points and weights of Gauss on (0, 1)."""
    x, w = legendre.leggauss(count)
    return (x + 1.0) / 2.0, w / 2.0


def _barycentric(nodes: FloatArray) -> FloatArray:
    gaps = nodes[:, None] - nodes[None, :]
    np.fill_diagonal(gaps, 1.0)
    weights: FloatArray = 1.0 / gaps.prod(axis=1)
    return weights
