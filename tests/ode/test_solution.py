"""Reading a solution: at points, between them, outside."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from dalembert.runtime.numerics.jit import Library
from dalembert.runtime.ode.failures import OutsideRun
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Integrator, integrate
from dalembert.runtime.ode.solution import Outcome, Solution, evaluate_dense_output


def ellipse(native: Library, *, dense: bool = True) -> Solution:
    return integrate(
        InitialValueProblem(
            rhs=native.address("kepler"),
            y0=[0.5, 0.0, 0.0, np.sqrt(3.0)],
            t0=1.0,
            t1=11.0,
            dense=dense,
        )
    )


def test_points_are_met_to_the_bit(native: Library) -> None:
    solution = ellipse(native)
    assert np.array_equal(solution.y, solution.at(solution.t))
    assert solution.t[[0, -1]].tolist() == [1.0, 11.0]


def test_between_the_points_the_integrals_hold(native: Library) -> None:
    y = ellipse(native).at(np.linspace(1.0, 11.0, 1000))
    assert np.full(1000, np.sqrt(0.75)) == pytest.approx(
        y[:, 0] * y[:, 3] - y[:, 1] * y[:, 2], abs=1e-7
    )


def test_many_times_have_the_bits_of_one(native: Library) -> None:
    solution, times = ellipse(native), np.linspace(1.0, 11.0, 1300)
    alone = np.array([solution.at(t) for t in times[::37]])
    assert np.array_equal(solution.at(times)[::37], alone)


def test_shapes_follow_the_times(native: Library) -> None:
    solution = ellipse(native)
    assert solution.at(2.0).shape == (4,)
    assert solution.at([]).shape == (0, 4)
    assert solution.at(np.full((2, 3), 5.0)).shape == (2, 3, 4)
    assert np.array_equal(solution.at([3.0, 2.0])[::-1], solution.at([2.0, 3.0]))


@pytest.mark.parametrize("time", [0.999, 11.001, np.nan, np.inf])
def test_outside_is_refused(native: Library, time: float) -> None:
    with pytest.raises(OutsideRun, match="from 1 to 11"):
        ellipse(native).at([2.0, time])


def test_without_dense_output_only_the_points_are_known(native: Library) -> None:
    solution = ellipse(native, dense=False)
    assert np.array_equal(solution.y, solution.at(solution.t))
    with pytest.raises(OutsideRun, match="run again with dense output"):
        solution.at(2.0)


def test_pickled_and_restored(native: Library) -> None:
    solution = ellipse(native)
    again = pickle.loads(pickle.dumps(solution))
    assert np.array_equal(solution.at([2.0, 3.0]), again.at([2.0, 3.0]))
    assert (again.outcome, again.steps, again.calls) == (
        Outcome.FINISHED,
        solution.steps,
        solution.calls,
    )


def test_a_solution_taken_on_the_way_stays_as_it_was(native: Library) -> None:
    integration = Integrator(
        InitialValueProblem(
            rhs=native.address("kepler"), y0=[0.5, 0.0, 0.0, np.sqrt(3.0)], t0=0.0, t1=900.0
        )
    )
    assert integration.solution().steps == 0
    integration.advance(20)
    part = integration.solution()
    kept = part.y.copy()
    while not integration.advance():
        pass
    assert np.array_equal(kept, part.y)
    assert integration.solution().steps > 1000
    assert np.array_equal(kept, integration.solution().y[: len(kept)])


def test_a_long_run_keeps_what_was_asked_with_the_same_bits(
    native: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dalembert.runtime.ode.solution.MAX_STORED_BYTES", 2**17)
    problem = InitialValueProblem(
        rhs=native.address("kepler"), y0=[0.5, 0.0, 0.0, np.sqrt(3.0)], t0=0.0, t1=900.0
    )
    whole = integrate(problem)
    # between the steps, at steps, twice in one step, at both ends
    at = np.sort(
        np.concatenate(
            [
                [0.0, 3.0, 3.0 + 1e-9, 900.0],
                whole.t[[1, 511, 512, 2000, -2]],
                np.linspace(40.0, 899.0, 7),
            ]
        )
    )
    thin = integrate(replace(problem, at=at))
    assert np.array_equal(whole.at(at), thin.at(at))
    assert len(thin.t) < 60
    assert thin.steps == whole.steps > 2000
    assert whole.has_full_dense_output
    assert not thin.has_full_dense_output
    assert np.array_equal(whole.at(thin.t), thin.at(thin.t))
    with pytest.raises(OutsideRun, match="t = 20 was not kept"):
        thin.at([3.0, 20.0])
    assert np.array_equal(thin.at(at), pickle.loads(pickle.dumps(thin)).at(at))


@pytest.mark.parametrize(
    ("size", "padded", "rows", "powers"),
    [(3, 4, 8, False), (7, 8, 8, False), (4, 4, 8, False), (9, 12, 15, True), (1, 1, 8, True)],
)
def test_dense_output_has_the_bits_of_its_formula(size, padded, rows, powers) -> None:
    rng = np.random.default_rng(size)
    dense = rng.normal(size=(20, rows, padded))[:, :, :size]
    step, theta = rng.integers(0, 20, 100), rng.random(100)
    r, at = dense[step].swapaxes(0, 1), theta[:, np.newaxis]
    other, formula = at if powers else 1.0 - at, r[-1]
    for k in range(rows - 2, -1, -1):
        formula = r[k] + formula * (other if k % 2 else at)
    assert (evaluate_dense_output(dense, step, theta, powers=powers) == formula).all()
