"""The law of unit multipliers: r + k − rank⟨∇I, ξ⟩ ones, removed by known vectors."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.analysis.periodic.multipliers import KnownVectors, deflate, keep_invariant

_NONE = np.zeros((6, 0))


def _planted(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Two Jordan blocks of size two for 1 and two other eigenvalues, in random coordinates."""
    rng = np.random.default_rng(seed)
    others = np.array([0.3, -1.7])
    J = np.zeros((6, 6))
    J[:2, :2] = J[2:4, 2:4] = [[1.0, 1.0], [0.0, 1.0]]
    J[4, 4], J[5, 5] = others
    S = rng.normal(size=(6, 6))
    M = S @ J @ np.linalg.inv(S)
    right = S[:, [0, 2]]
    left = np.linalg.inv(S).T[:, [1, 3]]
    return M, right, left, others


@pytest.mark.parametrize("seed", range(30))
def test_deflation_is_exact_where_eigenvalues_are_not(seed: int) -> None:
    M, right, left, others = _planted(seed)
    known = KnownVectors(("a", "b"), right), KnownVectors(("I", "J"), left)
    result = deflate(M, np.eye(6), *known)
    assert ("a", "b", "I", "J") == result.unit
    assert sorted(result.values.real) == pytest.approx(sorted(others), abs=1e-8)
    # eigenvalues of a perturbed Jordan block move with the root of the perturbation
    raw = np.linalg.eigvals(M + 1e-12 * np.random.default_rng(seed).normal(size=(6, 6)))
    assert np.sort(np.abs(raw - 1.0))[:4].max() > 1e-8


@pytest.mark.parametrize("seed", range(10))
def test_a_pair_that_is_not_orthogonal_counts_once(seed: int) -> None:
    """⟨∇I, ξ⟩ ≠ 0: the gradient and the direction belong to one eigenvalue one, not to a block."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(3, 3))
    M = S @ np.diag([1.0, 0.5, -0.2]) @ np.linalg.inv(S)
    right, left = KnownVectors(("a",), S[:, :1]), KnownVectors(("I",), np.linalg.inv(S).T[:, :1])
    result = deflate(M, np.eye(3), right, left)
    assert len(result.unit) == 1
    assert [-0.2, 0.5] == pytest.approx(sorted(result.values.real), abs=1e-10)


def test_a_vector_that_is_not_invariant_is_dropped() -> None:
    M, right, _, _ = _planted(3)
    wrong = right.copy()
    wrong[:, 1] += np.random.default_rng(0).normal(size=6)
    kept = keep_invariant(M, KnownVectors(("good", "bad"), wrong), _NONE)
    assert ("good",) == kept.names
