"""The numbers of the method against its order conditions and against another copy of the tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as other

from dalembert.runtime.ode.dop853_coefficients import E3, E5, STAGES, A, B, C, D, Numbers


def column(numbers: Numbers, size: int) -> np.ndarray:
    result = np.zeros(size)
    result[list(numbers)] = list(numbers.values())
    return result


def test_every_number_equals_the_other_copy() -> None:
    assert np.array_equal(np.array([column(row, STAGES) for row in A]), other.A)
    assert np.array_equal(np.array([column(row, STAGES) for row in D]), other.D)
    assert np.array_equal(np.array(C), other.C)
    assert np.array_equal(column(B, 12), other.B)
    assert np.array_equal(column(E3, 13), other.E3)
    assert np.array_equal(column(E5, 13), other.E5)


@pytest.mark.parametrize("stage", range(1, STAGES))
def test_row_sums_are_the_nodes(stage: int) -> None:
    assert C[stage] == pytest.approx(sum(A[stage].values()), abs=1e-14)


@pytest.mark.parametrize("power", range(8))
def test_quadrature_conditions_up_to_order_8(power: int) -> None:
    """Σ b_i c_i^k = 1/(k + 1)"""
    assert 1 / (power + 1) == pytest.approx(
        sum(b * C[stage] ** power for stage, b in B.items()), abs=1e-14
    )


@pytest.mark.parametrize(("estimate", "order"), [(E5, 5), (E3, 3)])
def test_estimates_vanish_up_to_their_order_and_not_beyond(estimate: Numbers, order: int) -> None:
    sums = [
        sum(e * C[stage] ** power for stage, e in estimate.items()) for power in range(order + 1)
    ]
    assert [0.0] * order == pytest.approx(sums[:order], abs=1e-14)
    assert abs(sums[order]) > 1e-5
