"""rank A: what is shown by a determinant agrees with the singular values."""

import numpy as np

from dalembert.runtime.states.constraint_rank import clearly_independent, rank_of_rows


def test_rows_that_are_clearly_independent_have_full_rank():
    random = np.random.default_rng(3)
    shown = 0
    for _ in range(300):
        m = int(random.integers(1, 7))
        # units differ from row to row
        A = random.normal(size=(m, m + int(random.integers(0, 3)))) * 10.0 ** random.uniform(
            -3, 3, (m, 1)
        )
        if clearly_independent(A):
            shown += 1
            assert (m, ()) == rank_of_rows(A)
    assert shown > 200


def test_doubtful_rows_are_left_to_singular_values():
    row = np.array([1.0, 2.0, -1.0])
    assert not clearly_independent(np.array([row, row]))
    assert not clearly_independent(np.array([row, row + 1e-7 * np.eye(3)[0]]))
    assert not clearly_independent(np.array([row, 1e-8 * row[::-1]]))
    assert not clearly_independent(np.eye(3)[:, :2])
    assert not clearly_independent(np.array([row, [np.nan, 1.0, 0.0]]))
    assert not clearly_independent(np.array([row, [np.inf, 1.0, 0.0]]))
    assert not clearly_independent(np.zeros((2, 3)))
