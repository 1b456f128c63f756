"""Assignments and zeros against SciPy's and by trying every permutation."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import brentq, linear_sum_assignment

from dalembert.analysis.linear.bracketed_zero import bracketed_zero
from dalembert.analysis.linear.least_assignment import LeastAssignment
from dalembert.analysis.linear.root_locus import _match_eigenvalues
from dalembert.errors import DalembertError


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("kind", ["floats", "ties"])
def test_the_assignment_is_the_least_of_all_permutations(size: int, kind: str) -> None:
    random = np.random.default_rng(size)
    for _ in range(20):
        cost = random.random((size, size))
        if kind == "ties":
            cost = np.round(3 * cost)
        columns = LeastAssignment(cost.tolist()).solve()
        rows = range(size)
        least = min(sum(cost[i, p[i]] for i in rows) for p in permutations(rows))
        assert sorted(columns) == list(rows)
        assert sum(cost[i, columns[i]] for i in rows) == pytest.approx(least, abs=1e-14)
        # where several are least, the same one
        assert columns == linear_sum_assignment(cost)[1].tolist()


def test_a_linear_model_without_eigenvalues_has_nothing_to_match() -> None:
    none = np.zeros(0, dtype=complex)
    assert _match_eigenvalues(none, none).size == 0


FUNCTIONS = {
    "cubic": (lambda x: x**3 - 2, 0.0, 3.0),
    "steep": (lambda x: math.atan(1e4 * (x - 0.3)), -2.0, 5.0),
    "jump": (lambda x: x - 1 if x < 0.3 else x, 3.0, -4.0),
    "at an end": (lambda x: x - 1, 1.0, 2.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_zeros_have_the_bits_of_the_published_method(name: str) -> None:
    f, a, b = FUNCTIONS[name]
    x = bracketed_zero(f, a, b, 1e-14)
    assert x == brentq(f, a, b, xtol=1e-14, rtol=1e-14)
    assert f(x - 1e-9) * f(x + 1e-9) < 0


def test_one_sign_at_both_ends_is_refused() -> None:
    for f in (lambda _: math.nan, math.exp):
        with pytest.raises(DalembertError, match="one sign at 0 and 1"):
            bracketed_zero(f, 0.0, 1.0, 1e-14)


def test_a_zero_that_steps_do_not_reach_is_refused() -> None:
    with pytest.raises(DalembertError, match="no zero between 3 and -4 after 100 steps"):
        bracketed_zero(lambda x: (x - 1) ** 5, 3.0, -4.0, 1e-14)
