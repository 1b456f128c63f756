"""What a run refuses before it begins."""

from __future__ import annotations

import math

import pytest

from dalembert.errors import DalembertError
from dalembert.runtime.ode.failures import BadDuration, BadRun, BadStart, BadTolerance
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem

GOOD = {"rhs": 1, "y0": [1.0, 2.0, 3.0], "t0": 0.0, "t1": 1.0}


@pytest.mark.parametrize(
    ("change", "refusal", "words"),
    [
        ({"t1": 0.0}, BadDuration, "positive duration"),
        ({"t1": -1.0}, BadDuration, "positive duration"),
        ({"t1": math.inf}, BadDuration, "finite times"),
        ({"t1": math.nan}, BadDuration, "finite times"),
        ({"t0": math.nan}, BadDuration, "finite times"),
        ({"t0": -1.7e308, "t1": 1.7e308}, BadDuration, "finite times"),
        ({"y0": [1.0, math.nan, 2.0]}, BadStart, "component 1 is nan"),
        ({"y0": [math.inf]}, BadStart, "component 0 is inf"),
        ({"y0": []}, BadStart, "shape"),
        ({"y0": [[1.0]]}, BadStart, "shape"),
        ({"n_norm": 0}, BadStart, "error norm"),
        ({"n_norm": 4}, BadStart, "error norm"),
        ({"rtol": 0.0}, BadTolerance, "rtol = 0.0 is out of range"),
        ({"rtol": 1.0}, BadTolerance, "out of range"),
        ({"rtol": 1e-16}, BadTolerance, "out of range"),
        ({"rtol": math.nan}, BadTolerance, "out of range"),
        ({"atol": 0.0}, BadTolerance, "atol must be positive"),
        ({"atol": [1e-9, -1e-9, 1e-9]}, BadTolerance, "atol must be positive"),
        ({"atol": math.inf}, BadTolerance, "atol must be positive"),
        ({"atol": [1e-9, 1e-9]}, BadTolerance, "each of the 3 components"),
        ({"max_step": 0.0}, BadTolerance, "max_step"),
        ({"max_step": math.nan}, BadTolerance, "max_step"),
        ({"events": 1, "dense": False}, BadRun, "dense output"),
    ],
)
def test_refusals(change: dict[str, object], refusal: type[DalembertError], words: str) -> None:
    with pytest.raises(refusal, match=words):
        InitialValueProblem(**{**GOOD, **change})


def test_tolerances_may_leave_out_the_quadratures() -> None:
    assert InitialValueProblem(**{**GOOD, "n_norm": 2, "atol": [1e-9, 1e-9]}).n_in_norm == 2
    assert InitialValueProblem(**{**GOOD, "n_norm": 2, "atol": [1e-9] * 3}).n_in_norm == 2


def test_later_changes_of_the_start_values_do_not_matter() -> None:
    y0 = [1.0, 2.0, 3.0]
    problem = InitialValueProblem(**{**GOOD, "y0": y0})
    y0[0] = 7.0
    assert problem.start.tolist() == [1.0, 2.0, 3.0]
