"""M v = μ v on the states that matter: Floquet multipliers, those that must be one taken out first.

Known right vectors ξ (the flow and symmetries, M ξ = ξ) and known left vectors ∇I (integrals,
∇Iᵀ M = ∇Iᵀ) belong to multipliers that are exactly one and lie in Jordan blocks. K = {v : ∇I·v
= 0} is invariant, and so is span ξ ∩ K inside it. The other multipliers are those of M on K /
(span ξ ∩ K), so that r + k − rank⟨∇I_i, ξ_j⟩ ones are removed by known vectors and no number is
compared with one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass

# directions and products below this part of the largest are zero
_RANK: Final = 1e-7
# a vector is invariant if M moves it by no more than this part
_INVARIANT: Final = 1e-5


class KnownVectors(NamedTuple):
    """Vectors in columns with the name of each."""

    names: tuple[str, ...]
    columns: FloatArray


@dataclass(frozen=True, eq=False)
class FloquetMultipliers:
    """FloquetMultipliers that are not known beforehand, and names of those that must be one."""

    values: FloatArray
    # eigenvectors in the state, a column for each value
    vectors: FloatArray
    unit: tuple[str, ...]
    zero: tuple[str, ...] = ()
    # whether MᵀΩM = Ω: multipliers then come in pairs μ, 1/μ
    symplectic: bool = False

    @property
    def conservative(self) -> bool:
        """Whether no multiplier can move inside the unit circle alone."""
        return self.symplectic or "energy" in self.unit

    @property
    def largest(self) -> float:
        """The largest modulus among `values`, 0 if there are none."""
        return float(np.abs(self.values).max(initial=0.0))


def join_vectors(first: KnownVectors, second: KnownVectors) -> KnownVectors:
    """Both, the first ones first."""
    return KnownVectors((*first.names, *second.names), np.hstack([first.columns, second.columns]))


def _span(columns: FloatArray) -> FloatArray:
    """An orthonormal basis of the span, columns scaled to length one first."""
    lengths = np.linalg.norm(columns, axis=0)
    unit = columns[:, lengths > 0.0] / lengths[lengths > 0.0]
    if not unit.shape[1]:
        return np.asarray(unit)
    U, sizes, _ = np.linalg.svd(unit, full_matrices=False)
    return np.asarray(U[:, sizes > _RANK])


def keep_invariant(
    M: FloatArray, known: KnownVectors, modulo: FloatArray, *, left: bool = False
) -> KnownVectors:
    """The vectors that M leaves as they are, up to orthonormal columns `modulo`."""
    A = M.T if left else M
    size = max(1.0, float(np.linalg.norm(A, 2)))
    kept = []
    for k, v in enumerate(known.columns.T):
        change = A @ v - v
        change = change - modulo @ (modulo.T @ change)
        if (
            np.linalg.norm(v) > 0.0
            and np.linalg.norm(change) <= _INVARIANT * np.linalg.norm(v) * size
        ):
            kept.append(k)
    return KnownVectors(tuple(known.names[k] for k in kept), known.columns[:, kept])


def deflate(
    M: FloatArray, B: FloatArray, right: KnownVectors, left: KnownVectors
) -> FloquetMultipliers:
    """The multipliers of M on the tangent space B, without those of known vectors."""
    M_B = B.T @ M @ B
    X, G = _span(B.T @ right.columns), _span(B.T @ left.columns)
    # K = {v : ∇I·v = 0} in coordinates of B
    K = np.linalg.svd(G.T)[2][G.shape[1] :].T if G.shape[1] else np.eye(len(M_B))
    products = G.T @ X
    if products.size:
        _, sizes, V = np.linalg.svd(products)
        rank = int((sizes > _RANK).sum())
        inside = X @ V[rank:].T
    else:
        rank, inside = 0, X
    # K without what the right vectors span in it
    W = K.T @ inside
    Q = K @ (np.linalg.svd(W.T)[2][inside.shape[1] :].T if inside.shape[1] else np.eye(K.shape[1]))
    values, vectors = np.linalg.eig(Q.T @ M_B @ Q)
    ones = X.shape[1] + G.shape[1] - rank
    order = np.lexsort((values.imag, -np.abs(values)))
    names = _count(right.names, left.names, ones)
    return FloquetMultipliers(values[order], B @ Q @ vectors[:, order], names)


def _count(right: Sequence[str], left: Sequence[str], ones: int) -> tuple[str, ...]:
    """As many names as there are ones: directions first, gradients after them."""
    return tuple([*right, *left][:ones])
