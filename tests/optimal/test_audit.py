"""The audit: planted failures are reported, and true answers are not."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.optimal.search import audit_answer
from optimal.optimal_systems import REST, UPRIGHT, cart_pole, pendulum

CART = {"minimize": "F**2", "start": REST, "end": UPRIGHT}


def test_a_coarse_mesh_is_reported() -> None:
    best = da.optimize(cart_pole(), 2.0, **CART, intervals=5, order=3, refine=False)
    assert best.converged
    assert any("misses the integrator" in text for text in best.audit.failures)
    assert "FAILED" in str(best)


def test_a_bound_violated_between_nodes_is_reported() -> None:
    best = da.optimize(
        cart_pole(), 2.0, **CART, bounds={"F": 10}, intervals=20, refine=False, tolerance=1e-3
    )
    assert best.converged
    (failure,) = best.audit.failures
    assert "F exceeds its bound" in failure
    assert best.audit.phases[0].overshoot is not None
    assert best.audit.phases[0].overshoot.excess > 0.01


def test_a_search_that_stopped_early_is_reported() -> None:
    with pytest.warns(da.DalembertWarning, match="maximum number of iterations"):
        best = da.optimize(cart_pole(), 2.0, **CART, most_iterations=4, refine=False)
    assert not best.converged
    texts = " ".join(best.audit.failures)
    assert "did not converge" in texts
    assert "misses the integrator" in texts
    # and the replay of its inputs does not end upright
    assert best.replay is not None
    assert abs(best.replay["theta"][-1] - math.pi) > 1e-3


@pytest.mark.parametrize(("intervals", "order"), [(10, 4), (20, 3), (20, 4), (30, 4), (40, 4)])
def test_the_estimated_cost_error_is_within_a_factor_three(intervals: int, order: int) -> None:
    best = da.optimize(cart_pole(), 2.0, **CART, intervals=intervals, order=order, refine=False)
    true = 58.80766745882 - best.cost
    assert 1 / 3 < best.audit.cost_error / true < 3


def test_the_hamiltonian_spread_shrinks_with_the_mesh() -> None:
    spreads = []
    for intervals, order in ((20, 4), (40, 4), (60, 5)):
        audit = da.optimize(
            cart_pole(), 2.0, **CART, intervals=intervals, order=order, refine=False
        ).audit
        spreads.append(audit.phases[0].hamiltonian_spread)
    assert spreads[0] is not None
    assert spreads[1] < spreads[0] / 30
    assert spreads[2] < spreads[1] / 30


def test_an_unstable_motion_is_right_although_its_open_replay_is_lost() -> None:
    """An upright pendulum of 1 m, moved by 0.1 rad and back in 10 s, amplifies errors by about
    e³¹.
    """
    up = {"theta": math.pi, "theta.dot": 0}
    best = da.optimize(
        pendulum(),
        10.0,
        minimize="T**2",
        start=up,
        end=up,
        way_points={5.0: {"theta": math.pi - 0.1}},
        intervals=40,
        tolerance=1e-9,
    )
    audit = best.audit
    assert audit.passed, str(best)
    assert 25 < math.log(audit.phases[0].amplification) < 40
    assert audit.phases[0].worst_interval < 1e-9
    assert audit.phases[0].replay_miss > 1e-3


def test_planted_errors_of_single_quantities_are_seen() -> None:
    """One node moved, one multiplier changed: interval errors and Hamiltonian notice."""
    from dataclasses import replace

    best = da.optimize(cart_pole(), 2.0, **CART)
    answer = best.answer
    v = answer.solution.v.copy()
    v[answer.phases[0].layout.states[10, -1, 1]] += 1e-4
    moved = replace(
        answer, solution=replace(answer.solution, v=v), phases=(replace(answer.phases[0], v=v),)
    )
    assert any("misses the integrator" in text for text in audit_answer(moved).failures)
    multipliers = answer.solution.multipliers.copy()
    multipliers[answer.transcription.motion_rows[0][10]] *= 1.01
    priced = replace(answer, solution=replace(answer.solution, multipliers=multipliers))
    before, after = (
        best.audit.phases[0].hamiltonian_spread,
        audit_answer(priced).phases[0].hamiltonian_spread,
    )
    assert before is not None
    assert after is not None
    assert after > 100 * before


def test_results_are_read_like_a_run() -> None:
    best = da.optimize(cart_pole(), 2.0, **CART, bounds={"F": 20})
    assert best["theta"][-1] == pytest.approx(math.pi, abs=1e-12)
    assert best.t[-1] == 2.0
    F = best.inputs["F"]
    assert best["F"] == pytest.approx([F(t) for t in best.t], abs=1e-10)
    again = da.simulate(cart_pole(), 2.0, start=REST, inputs={"F": F}, rtol=1e-11, atol=1e-11)
    assert again["theta"][-1] == pytest.approx(math.pi, abs=1e-4)
    assert best["x**2 + F"].shape == best.t.shape
    assert np.isfinite(best.motion.energy).all()
