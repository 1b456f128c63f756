"""Solvers, warm starts, interrupts and several starts."""

import signal

import pytest

import dalembert as da
from dalembert.analysis.optimal.guess import phase_guess
from dalembert.analysis.optimal.optimize import _problem
from dalembert.analysis.optimal.search import Answer, SearchOptions, search
from optimal.optimal_systems import REST, UPRIGHT, block, cart_pole

CART = {"minimize": "F**2", "start": REST, "end": UPRIGHT}


def test_both_forms_have_one_optimum() -> None:
    costs = [
        da.optimize(cart_pole(), 2.0, **CART, form=form, audit=False).cost
        for form in ("explicit", "implicit")
    ]
    assert costs[0] == pytest.approx(costs[1], abs=1e-6)


def test_ipopt_finds_the_same() -> None:
    pytest.importorskip("casadi")
    options = {**CART, "bounds": {"F": 10}, "intervals": 15, "refine": False, "audit": False}
    ours, theirs = (
        da.optimize(cart_pole(), 2.0, **options, solver=solver) for solver in ("pounce", "ipopt")
    )
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-9)


def test_an_earlier_answer_is_a_warm_start() -> None:
    s = cart_pole()
    first = da.optimize(s, 2.0, **CART, audit=False)
    again = da.optimize(s, 2.0, **CART, guess=first, intervals=40, refine=False, audit=False)
    assert again.answer.solution.iterations <= 6
    other = da.optimize(s, 2.05, **CART, guess=first, intervals=40, refine=False, audit=False)
    assert other.converged
    assert other.cost < first.cost


def test_a_run_is_a_guess() -> None:
    s = cart_pole()
    run = da.simulate(s, 2.0, start=REST, inputs={"F": "5*cos(3*t)"})
    best = da.optimize(s, 2.0, **CART, guess=run, audit=False)
    assert best.converged


def test_ctrl_c_keeps_the_best_point() -> None:
    """The signal comes at the third iteration; the search ends there with what it has."""
    from dalembert.analysis.optimal.phase import phase

    problem, theta = _problem((phase(cart_pole(), 2.0, **CART),), (), None, None)
    seen: list[str] = []

    def press(text: str) -> None:
        seen.append(text)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)

    options = SearchOptions(show=press)
    answer = search(problem, [phase_guess(problem.phases[0], None)], theta, options)
    assert answer.solution.interrupted
    assert len(seen) <= 5
    assert answer.solution.v.shape == (answer.transcription.n_variables,)
    assert "iteration" in seen[0]
    assert "violation" in seen[0]


def test_ctrl_c_between_two_meshes_keeps_the_last_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def press(_answer: Answer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Answer, "interval_errors", press)
    with pytest.warns(da.DalembertWarning, match="interrupted after"):
        best = da.optimize(cart_pole(), 2.0, **CART, audit=False)
    assert best.converged
    assert best.cost == pytest.approx(58.81, abs=1e-2)


def test_several_starts_give_different_solutions_in_order() -> None:
    best = da.optimize(
        cart_pole(),
        2.0,
        **CART,
        bounds={"F": 20, "x": 2},
        starts=3,
        intervals=15,
        refine=False,
        audit=False,
    )
    costs = [o.cost for o in best.solutions]
    assert costs == sorted(costs)
    assert best.cost == costs[0]


def test_the_other_direction_is_cheaper_by_symmetry_or_equal() -> None:
    """Mirroring start and end of the block changes nothing."""
    there = da.optimize(
        block(),
        1.0,
        minimize="F**2",
        start={"x": 0, "x.dot": 0},
        end={"x": 1, "x.dot": 0},
        audit=False,
    )
    back = da.optimize(
        block(),
        1.0,
        minimize="F**2",
        start={"x": 1, "x.dot": 0},
        end={"x": 0, "x.dot": 0},
        audit=False,
    )
    assert there.cost == pytest.approx(back.cost, rel=1e-12)
