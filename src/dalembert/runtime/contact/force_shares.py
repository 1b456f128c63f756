"""max_ν min_j (C (λ₀ + Z ν) + d)_j: whether some share of undetermined forces is admissible.
Keywords: static indeterminacy, force closure.

Where rows depend on one another (a box on two corners), K λ = r has solutions λ₀ + Z ν, K Z = 0.
The motion is the same for all of them. A mode lasts as long as one of them lies in the friction
cones: as long as the margin, the largest distance from leaving them, is positive. The optimal
basis B gives ν = W (C_B λ₀ + d_B), which holds for later loads until another basis is optimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray

# singular values below this part of the largest are zero
_RANK: Final = 1e-10
# equations are satisfied up to this part of their terms
_CONSISTENT: Final = 1e-9
_PIVOT: Final = 1e-11
# the margin is at most this many times the largest force: a jammed wedge has no other limit
_JAMMED: Final = 8.0
_MOST_PIVOTS: Final = 500
# weights of the optimum that are not rounding
_WEIGHT: Final = 1e-9
# the share of least norm is used as long as its own margin is not below this part of the largest
_NEAR: Final = 1e-6


class Inequalities(NamedTuple):
    """C λ + d ≥ 0; `owner` is the number of the contact of each line, `sign` that of T, or 0."""

    C: FloatArray
    d: FloatArray
    owner: tuple[int, ...]
    sign: tuple[int, ...]


class ForceShare(NamedTuple):
    """The share farthest from leaving the cones: λ = λ₀ + gain λ₀ + offset, and its margin.

    `binding` are the contacts, with the sign of T or 0, whose weights in the optimum are positive,
    and these weights: a mechanism along which they give way when the margin is zero. `needed`: the
    share of least norm is not admissible.
    """

    margin: float
    lam: FloatArray
    gain: FloatArray
    offset: FloatArray
    binding: tuple[tuple[int, int, float], ...]
    dimension: int
    needed: bool


def solution_family(
    K: FloatArray, r: FloatArray, size: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """λ₀ of least norm, measured by A_kk, and the basis Z of the null space; None where K λ = r has
    no solution.
    """
    scaled = K / np.outer(size, size)
    U, s, V = np.linalg.svd(scaled)
    rank = int((s > _RANK * max(s[0], 1e-300)).sum())
    right = r / size
    x = V[:rank].T @ ((U[:, :rank].T @ right) / s[:rank])
    terms = np.abs(scaled) @ np.abs(x) + np.abs(right)
    if np.abs(scaled @ x - right).max(initial=0.0) > _CONSISTENT * terms.max(initial=0.0):
        return None
    return x / size, V[rank:].T / size[:, np.newaxis]


def best_share(lam: FloatArray, Z: FloatArray, inequalities: Inequalities) -> ForceShare:
    """The share with the largest margin."""
    C, d, owner, sign = inequalities
    alpha = C @ lam + d
    m, z = len(lam), Z.shape[1]
    scale = max(float(np.abs(lam).max(initial=0.0)), float(np.abs(d).max(initial=0.0)), 1e-300)
    if z == 0 or not len(d):
        margin = float(alpha.min(initial=np.inf))
        return ForceShare(margin, lam, np.zeros((m, m)), np.zeros(m), (), 0, needed=False)
    # the last line limits the margin where the cones do not
    B = np.vstack([C @ Z, np.zeros(z)])
    levels = np.append(alpha, _JAMMED * scale)
    basis, y, inverse = _least_weighted_mean(levels, B)
    W = -inverse.T[:z]
    own = [k for k, j in enumerate(basis) if 0 <= j < len(d)]
    lines = [basis[k] for k in own]
    nu = W[:, own] @ alpha[lines]
    offset = W[:, own] @ d[lines]
    for k, j in enumerate(basis):
        if j == len(d):
            nu, offset = nu + W[:, k] * levels[-1], offset + W[:, k] * levels[-1]
    share = lam + Z @ nu
    gain = Z @ W[:, own] @ C[lines]
    binding = tuple(
        (owner[j], sign[j], float(weight))
        for j, weight in zip(basis, y, strict=True)
        if weight > _WEIGHT and j in lines
    )
    margin = float((C @ share + d).min())
    return ForceShare(
        margin, share, gain, Z @ offset, binding, z, needed=bool(alpha.min() < _NEAR * margin)
    )


def _least_weighted_mean(
    alpha: FloatArray, B: FloatArray
) -> tuple[list[int], FloatArray, FloatArray]:
    """min αᵀy, Bᵀy = 0, Σ y = 1, y ≥ 0: the dual of max_ν min_j (α + B ν)_j, by the simplex method.

    The last line of B is zero, so that y = (0, …, 0, 1) is a start. Numbers below zero in the basis
    stand for variables that only filled it up. Bland's rule: no cycles.
    """
    count, z = B.shape
    E = np.vstack([B.T, np.ones(count)])
    basis = [*range(-z, 0), count - 1]
    inverse = np.eye(z + 1)
    for _ in range(_MOST_PIVOTS):
        cost = np.array([0.0 if j < 0 else alpha[j] for j in basis])
        reduced = alpha - (cost @ inverse) @ E
        enter = next(
            (j for j in np.flatnonzero(reduced < -1e-13 * np.abs(alpha).max()) if j not in basis),
            None,
        )
        if enter is None:
            break
        column = inverse @ E[:, enter]
        row = _leaving(basis, column, inverse[:, -1])
        if row is None:
            break
        inverse[row] /= column[row]
        for k in range(z + 1):
            if k != row:
                inverse[k] -= column[k] * inverse[row]
        basis[row] = int(enter)
    return basis, inverse[:, -1].copy(), inverse


def _leaving(basis: Sequence[int], column: FloatArray, level: FloatArray) -> int | None:
    """The line of the tableau that leaves: fillers first, then the least ratio."""
    small = _PIVOT * max(float(np.abs(column).max()), 1e-300)
    fillers = [k for k, j in enumerate(basis) if j < 0 and abs(column[k]) > small]
    if fillers:
        return max(fillers, key=lambda k: abs(column[k]))
    possible = [k for k in range(len(basis)) if basis[k] >= 0 and column[k] > small]
    if not possible:
        return None
    levels, sizes = level.tolist(), column.tolist()
    return min(possible, key=lambda k: (max(levels[k], 0.0) / sizes[k], basis[k]))
