"""Which values each member of a study has."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dalembert.analysis.studies.parameter_grid import BadStudy, parameter_grid
from dalembert.errors import Unknown


def table(over, n=None, sampling="random", seed=0):
    members = parameter_grid(over, n, sampling, seed)
    return members.table(np.arange(len(members)))


def test_lists_make_a_grid_of_all_combinations():
    members = parameter_grid({"m": [1, 2], "l": [3, 4, 5]}, None, "random", 0)
    assert {"m": 2, "l": 3} == members.dims
    assert [[1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [2, 5]] == members.table(np.arange(6)).tolist()
    assert [[2, 3]] == members.table(np.array([3])).tolist()


def test_rows_vary_together():
    assert [[1, 2, 0], [3, 4, 0]] == table({("m", "l"): [(1, 2), (3, 4)], "g": 0}).tolist()


def test_every_point_of_the_grid_gets_the_same_draws():
    members = parameter_grid({"theta": stats.norm(0, 0.1), "m": [1, 2]}, 3, "random", 7)
    rows = members.table(np.arange(6))
    assert {"m": 2, "draw": 3} == members.dims
    assert ("m", "theta") == members.names
    assert rows[:3, 1].tolist() == rows[3:, 1].tolist()


@pytest.mark.parametrize("sampling", ["random", "latin", "sobol"])
def test_draws_follow_their_distribution_and_their_seed(sampling):
    over = {"a": stats.norm(1, 2), "b": stats.uniform(0, 3)}
    rows = table(over, 4096, sampling)
    assert rows.tolist() == table(over, 4096, sampling).tolist()
    assert rows.tolist() != table(over, 4096, sampling, seed=1).tolist()
    # a law: both columns are draws of their distributions, and independent of one another
    assert stats.kstest(rows[:, 0], over["a"].cdf).pvalue > 1e-3
    assert stats.kstest(rows[:, 1], over["b"].cdf).pvalue > 1e-3
    assert abs(np.corrcoef(rows.T)[0, 1]) < 0.06


def test_a_latin_hypercube_has_one_draw_in_every_strip():
    rows = table({"a": stats.uniform(0, 1), "b": stats.uniform(0, 1)}, 100, "latin")
    assert [list(range(100))] * 2 == np.sort(np.floor(rows * 100).astype(int), axis=0).T.tolist()


@pytest.mark.parametrize(
    ("over", "n", "told"),
    [
        ({"m": []}, None, "no values"),
        ({"m": [1, np.nan]}, None, "not finite"),
        ({"m": "heavy"}, None, "neither a list"),
        ({"m": [[1, 2]]}, None, "shape"),
        ({("m", "l"): [1, 2]}, None, "row of 2 numbers"),
        ({"m": [1], ("m", "l"): [(1, 2)]}, None, "varied twice"),
        ({"m": [1]}, 5, "nothing is drawn"),
        ({"m": stats.norm(0, 1)}, None, "needs the number of draws"),
        ({"m": stats.norm(0, 1)}, 0, "at least 1"),
        ({"m": stats.norm(0, -1)}, 4, "contradict"),
    ],
)
def test_ranges_that_make_no_study_are_refused(over, n, told):
    with pytest.raises(BadStudy, match=told):
        parameter_grid(over, n, "random", 0)


def test_an_unknown_way_to_draw_is_refused():
    with pytest.raises(Unknown, match="choose one of random, latin, sobol"):
        parameter_grid({"m": stats.norm(0, 1)}, 4, "quasi", 0)
