"""0 ≤ w ⊥ z ≥ 0, w = M z + q: Lemke's method, and planar contacts with friction in this form.
Keywords: complementary pivoting.

Every contact has N ≥ 0, T + μ N ≥ 0 and μ N − T ≥ 0; a_T splits into a part to each side. Contacts
are too many here for all their modes to be solved one after another.

Source: Cottle, Pang and Stone, The Linear Complementarity Problem (1992), 4.4; Pfeiffer and Glocker
(1996), 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray

if TYPE_CHECKING:
    from dalembert.runtime.contact.mode_enumeration import ContactCandidate

_PIVOT: Final = 1e-11
_TIE: Final = 1e-12
_MOST_PIVOTS: Final = 50


def lemke(M: FloatArray, q: FloatArray) -> FloatArray | None:
    """z, or None where the method ends on a ray."""
    n = len(q)
    if q.min(initial=0.0) >= 0.0:
        return np.zeros(n)
    T = np.hstack([np.eye(n), -M, -np.ones((n, 1)), q[:, np.newaxis]])
    basis, row, enter = list(range(n)), int(q.argmin()), 2 * n
    for _ in range(_MOST_PIVOTS * n):
        T[row] /= T[row, enter]
        factors = T[:, enter].copy()
        factors[row] = 0.0
        T -= np.outer(factors, T[row])
        leaving, basis[row] = basis[row], enter
        if leaving == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = T[:, -1]
            return z[n : 2 * n]
        enter = leaving + n if leaving < n else leaving - n
        chosen = _leaving_row(T[:, enter], T[:, -1], basis, 2 * n)
        if chosen is None:
            return None
        row = chosen
    return None


def _leaving_row(
    column: FloatArray, level: FloatArray, basis: Sequence[int], artificial: int
) -> int | None:
    """The least ratio; among equal ones the artificial variable, then the largest pivot."""
    possible = column > _PIVOT
    if not possible.any():
        return None
    ratio = np.where(possible, level / np.where(possible, column, 1.0), np.inf)
    least = float(ratio.min())
    ties = np.flatnonzero(ratio <= least + _TIE * max(1.0, abs(least))).tolist()
    return next((i for i in ties if basis[i] == artificial), max(ties, key=column.__getitem__))


class PlanarProblem(NamedTuple):
    """λ = x₀ + W N + E z of contacts with μ each: the matrices of their complementarity."""

    M: FloatArray
    q: FloatArray
    W: FloatArray
    E: FloatArray
    x0: FloatArray


def planar_problem(
    A: FloatArray, b: FloatArray, contacts: Sequence[ContactCandidate], mu: Sequence[float]
) -> PlanarProblem:
    """Contacts with a normal row, or a given normal force, and at most one row of slip."""
    normals = [c.n for c in contacts if c.n is not None]
    resting = [i for i, c in enumerate(contacts) if c.t is not None and not c.slip]
    tangents = [c.t for c in (contacts[i] for i in resting) if c.t is not None]
    W, E, x0 = np.zeros((len(b), len(normals))), np.zeros((len(b), len(tangents))), np.zeros(len(b))
    S, limit = np.zeros((len(tangents), len(normals))), np.zeros(len(tangents))
    for i, c in enumerate(contacts):
        at = None if c.n is None else normals.index(c.n)
        if c.n is not None:
            W[c.n, at] = 1.0
        if c.t is None:
            continue
        sign = float(c.slip or 1)
        x0[c.t] = -mu[i] * c.given * sign
        if at is not None:
            W[c.t, at] = -mu[i] * sign
        if not c.slip:
            k = resting.index(i)
            limit[k] = 2.0 * mu[i] * c.given
            if at is not None:
                S[k, at] = 2.0 * mu[i]
    k = len(tangents)
    E[tangents, range(k)] = 1.0
    zero, one = np.zeros((len(normals), k)), np.eye(k)
    M = np.block(
        [
            [A[normals] @ W, A[normals] @ E, zero],
            [A[tangents] @ W, A[tangents] @ E, one],
            [S, -one, np.zeros((k, k))],
        ]
    )
    free = b + A @ x0
    return PlanarProblem(M, np.concatenate([free[normals], free[tangents], limit]), W, E, x0)


def solve_planar(
    A: FloatArray, b: FloatArray, contacts: Sequence[ContactCandidate], mu: Sequence[float]
) -> FloatArray | None:
    """Forces, or impulses, that satisfy the laws of contact with the coefficients μ."""
    size: FloatArray = 1.0 / np.sqrt(np.maximum(np.diag(A), 1e-300))
    # rows and forces of one size: tolerances of pivots are absolute
    scale = max(float(np.abs(size * b).max(initial=0.0)), 1e-300)
    rescaled, ratio = [], []
    for c, f in zip(contacts, mu, strict=True):
        pressing = c.n if c.n is not None else c.t
        given = c.given / float(size[pressing] * scale) if pressing is not None else 0.0
        rescaled.append(c._replace(given=given))
        ratio.append(f * size[c.n] / size[c.t] if c.n is not None and c.t is not None else f)
    problem = planar_problem(A * np.outer(size, size), size * b / scale, rescaled, ratio)
    z = lemke(problem.M, problem.q)
    if z is None:
        return None
    n, k = problem.W.shape[1], problem.E.shape[1]
    return scale * size * (problem.x0 + problem.W @ z[:n] + problem.E @ z[n : n + k])
