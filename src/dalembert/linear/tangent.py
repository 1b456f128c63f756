"""δq = S δz + S_w δw: the changes of q that the holonomic rows allow, by n − m independent coordinates z.

From φ_q δq + φ_w δw = 0, the dependent coordinates follow as δq_D = −φ_D⁻¹ (φ_I δz + φ_w δw); rows contain w where a motion is specified.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.linear.field import BadLinearPoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_SINGULAR: Final = 1e-10
_EQUAL: Final = 1e-6


def independent(phi_q: Numbers, wanted: Sequence[int] | None = None) -> tuple[int, ...]:
    """The places of n − m coordinates that determine the others; those that the rows reach most steeply are dependent.

    Rows are scaled to unit length, pivots are the largest; among equals the coordinate declared last depends on the others.
    """
    m, n = phi_q.shape
    J = phi_q / np.maximum(np.linalg.norm(phi_q, axis=1, keepdims=True), np.finfo(float).tiny)
    if wanted is not None:
        J = np.where(np.isin(np.arange(n), wanted), 0.0, J)
    dependent: list[int] = []
    for k in range(m):
        size = np.abs(J[k:])
        if not (largest := size.max(initial=0.0)) > _SINGULAR:
            why = "the given coordinates are not independent" if wanted is not None else "the holonomic rows are not independent"
            msg = f"linearize: {why} at this point (rank {k} of {m})"
            raise BadLinearPoint(msg)
        row, column = max(((i, j) for i, j in np.argwhere(size >= (1 - _EQUAL) * largest)), key=lambda ij: (ij[1], -ij[0]))
        J[[k, k + row]] = J[[k + row, k]]
        J[k + 1 :] -= np.outer(J[k + 1 :, column] / J[k, column], J[k])
        J[k + 1 :, column] = 0.0
        dependent.append(int(column))
    return tuple(k for k in range(n) if k not in dependent)


def tangent(phi_q: Numbers, phi_w: Numbers, free: Sequence[int]) -> tuple[Numbers, Numbers]:
    """S and S_w with δq = S δz + S_w δw: ones for z itself, −φ_D⁻¹ φ_I and −φ_D⁻¹ φ_w for the others."""
    n = phi_q.shape[1]
    depend = [k for k in range(n) if k not in free]
    S = np.zeros((n, len(free) + phi_w.shape[1]), dtype=phi_q.dtype)
    S[list(free), range(len(free))] = 1.0
    if depend:
        try:
            S[depend] = -np.linalg.solve(phi_q[:, depend], np.hstack([phi_q[:, list(free)], phi_w]))
        except np.linalg.LinAlgError as problem:
            msg = "linearize: the coordinates chosen as independent are not so at this point; choose others with coordinates="
            raise BadLinearPoint(msg) from problem
    return S[:, : len(free)], S[:, len(free) :]
