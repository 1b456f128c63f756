"""The loop: order, accuracy, control of the step, and bits that do not depend on anything but
the problem.
"""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from callback import integrate_function
from dalembert.runtime.numerics.jit import Library
from dalembert.runtime.ode.failures import RunStopped
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Integrator, integrate
from dalembert.runtime.ode.solution import Solution

ARENSTORF = [0.994, 0.0, 0.0, -2.00158510637908252240537862224]
ARENSTORF_PERIOD = 17.0652165601579625588917206249
FROM_REST = [np.pi / 2, 0.0, 0.0, 0.0]
ELLIPSE = [0.5, 0.0, 0.0, np.sqrt(3.0)]


def harmonic(_t: float, y: np.ndarray) -> list[float]:
    return [y[1], -y[0]]


def slope(errors: list[float]) -> list[float]:
    return [float(np.log2(coarse / fine)) for coarse, fine in itertools.pairwise(errors)]


def fixed_steps(h: float) -> Solution:
    """A tolerance that never binds leaves the largest step."""
    return integrate_function(harmonic, [1.0, 0.0], 0.0, 16.0, rtol=0.5, atol=1e3, max_step=h)


def test_error_falls_with_the_eighth_power_of_the_step() -> None:
    end = np.array([np.cos(16.0), -np.sin(16.0)])
    errors = [float(np.linalg.norm(fixed_steps(h).y[-1] - end)) for h in (1.0, 0.5, 0.25)]
    assert [8.0, 8.0] == pytest.approx(slope(errors), abs=0.3)


def test_dense_output_is_of_order_seven() -> None:
    """Order 7 means an error h⁸ inside a step."""
    times = np.linspace(0.0, 16.0, 1601)
    errors = [
        np.abs(fixed_steps(h).at(times)[:, 0] - np.cos(times)).max() for h in (1.0, 0.5, 0.25)
    ]
    assert [8.0, 8.0] == pytest.approx(slope(errors), abs=0.3)


def test_no_step_exceeds_the_largest() -> None:
    assert np.diff(fixed_steps(0.3).t).max() <= 0.3 * (1 + 1e-13)


@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10, 1e-13])
def test_exponential(rtol: float) -> None:
    solution = integrate_function(lambda _t, y: y, [1.0], 0.0, 5.0, rtol=rtol, atol=rtol)
    assert np.exp(solution.t) == pytest.approx(solution.y[:, 0], rel=20 * rtol)


@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-11])
def test_kepler_ellipse_closes(native: Library, rtol: float) -> None:
    solution = integrate(
        InitialValueProblem(
            rhs=native.address("kepler"), y0=ELLIPSE, t0=0.0, t1=20 * np.pi, rtol=rtol, atol=rtol
        )
    )
    assert np.array(ELLIPSE) == pytest.approx(solution.y[-1], abs=1e4 * rtol)
    energy = (solution.y[:, 2:] ** 2).sum(1) / 2 - 1 / np.hypot(solution.y[:, 0], solution.y[:, 1])
    assert np.full(len(energy), -0.5) == pytest.approx(energy, abs=100 * rtol)


@pytest.mark.parametrize(("rtol", "error"), [(1e-7, 1e-2), (1e-9, 1e-5), (1e-13, 1e-8)])
def test_arenstorf_orbit_closes(native: Library, rtol: float, error: float) -> None:
    """Initial values and period: HNW1 II.0; y(T) = y(0)."""
    solution = integrate(
        InitialValueProblem(
            rhs=native.address("arenstorf"),
            y0=ARENSTORF,
            t0=0.0,
            t1=ARENSTORF_PERIOD,
            rtol=rtol,
            atol=rtol,
        )
    )
    assert np.array(ARENSTORF) == pytest.approx(solution.y[-1], abs=error)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
@pytest.mark.parametrize(
    ("rates", "y0", "t1"),
    [
        (lambda _t, y: [y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]], [2.0, 0.0], 10.0),
        (lambda t, y: [np.cos(3 * t) - y[0]], [0.3], 12.0),
        (
            lambda _t, y: [
                10 * (y[1] - y[0]),
                y[0] * (28 - y[2]) - y[1],
                y[0] * y[1] - 8 / 3 * y[2],
            ],
            [1.0, 1.0, 20.0],
            2.0,
        ),
        (lambda _t, y: [-100 * y[0] + y[1], -y[1]], [1.0, 1.0], 3.0),
    ],
)
def test_agrees_with_another_dop853(rates: object, y0: list[float], t1: float, rtol: float) -> None:
    ours = integrate_function(rates, y0, 0.0, t1, rtol=rtol, atol=rtol)  # type: ignore[arg-type]
    reference = solve_ivp(rates, (0.0, t1), y0, method="DOP853", rtol=1e-12, atol=1e-12)
    theirs = solve_ivp(rates, (0.0, t1), y0, method="DOP853", rtol=rtol, atol=rtol)
    assert reference.y[:, -1] == pytest.approx(ours.y[-1], rel=200 * rtol, abs=200 * rtol)
    assert ours.calls < 2 * theirs.nfev


@pytest.mark.parametrize("exponent", range(3, 13))
def test_double_pendulum_from_rest_is_right_at_every_tolerance(
    native: Library, exponent: int
) -> None:
    rhs, tolerance = native.address("double_pendulum"), 10.0**-exponent
    solution = integrate(
        InitialValueProblem(rhs=rhs, y0=FROM_REST, t0=0.0, t1=5.0, rtol=tolerance, atol=tolerance)
    )
    reference = integrate(
        InitialValueProblem(rhs=rhs, y0=FROM_REST, t0=0.0, t1=5.0, rtol=1e-14, atol=1e-15)
    )
    times = np.linspace(0.0, 5.0, 301)
    assert reference.at(times) == pytest.approx(solution.at(times), abs=2e3 * tolerance)


def test_double_pendulum_from_the_horizontal_after_five_seconds(native: Library) -> None:
    """Digits of a Taylor series integration with 30 decimals."""
    end = [
        -0.62718670506653073013813,
        -1.30131555020981167790753,
        2.12540867384291065065138,
        3.88188872726560743925483,
    ]
    problem = InitialValueProblem(
        rhs=native.address("double_pendulum"),
        y0=[np.pi / 2, np.pi / 2, 0.0, 0.0],
        t0=0.0,
        t1=5.0,
        rtol=1e-13,
        atol=1e-14,
    )
    assert end == pytest.approx(integrate(problem).y[-1], abs=1e-10)


def test_double_pendulum_reference_by_another_integrator(
    native: Library, pendulum_rates: object
) -> None:
    solution = integrate(
        InitialValueProblem(
            rhs=native.address("double_pendulum"),
            y0=FROM_REST,
            t0=0.0,
            t1=5.0,
            rtol=1e-13,
            atol=1e-14,
        )
    )
    other = solve_ivp(
        pendulum_rates, (0.0, 5.0), FROM_REST, method="DOP853", rtol=1e-13, atol=1e-14
    )
    assert other.y[:, -1] == pytest.approx(solution.y[-1], abs=1e-10)


def test_nothing_moves_at_first(native: Library) -> None:
    """y' = 9 t⁸ from 0: value and slope vanish at the start, and the motion is still followed."""
    solution = integrate_function(lambda t, _y: [9 * t**8], [0.0], 0.0, 2.0, rtol=1e-8, atol=1e-8)
    assert 512.0 == pytest.approx(solution.y[-1, 0], rel=1e-7)
    resting = integrate(
        InitialValueProblem(rhs=native.address("double_pendulum"), y0=[0.0] * 4, t0=0.0, t1=100.0)
    )
    assert not resting.y.any()
    assert resting.steps < 30


def test_time_in_microseconds() -> None:
    solution = integrate_function(
        lambda _t, y: [1e6 * y[1], -1e6 * y[0]], [0.0, 1.0], 0.0, 5e-6, rtol=1e-9, atol=1e-9
    )
    assert np.sin(5.0) == pytest.approx(solution.y[-1, 0], abs=1e-7)


def test_start_far_from_zero() -> None:
    solution = integrate_function(
        lambda t, _y: [np.cos(t - 1e6)], [0.0], 1e6, 1e6 + 3.0, rtol=1e-9, atol=1e-9
    )
    assert np.sin(3.0) == pytest.approx(solution.y[-1, 0], abs=1e-8)
    assert solution.t[-1] == 1e6 + 3.0


def test_kinks_are_rejected_and_passed() -> None:
    solution = integrate_function(
        lambda t, _y: [1.0 if t > 0.7 else -1.0], [0.0], 0.0, 2.0, rtol=1e-8, atol=1e-8
    )
    assert 0.6 == pytest.approx(solution.y[-1, 0], abs=1e-6)
    assert solution.rejected > 3


def test_each_component_has_its_own_tolerance() -> None:
    def two(_t: float, y: np.ndarray) -> list[float]:
        return [y[1], -y[0], 30 * y[3], -30 * y[2]]

    loose = integrate_function(
        two, [1.0, 0.0, 1e-6, 0.0], 0.0, 10.0, rtol=1e-12, atol=[1e-10, 1e-10, 1.0, 1.0]
    )
    tight = integrate_function(two, [1.0, 0.0, 1e-6, 0.0], 0.0, 10.0, rtol=1e-12, atol=1e-10)
    assert tight.steps > 2 * loose.steps
    assert np.cos(10.0) == pytest.approx(loose.y[-1, 0], abs=1e-8)


def same(a: Solution, b: Solution, size: int = 4) -> bool:
    return a.t.tobytes() == b.t.tobytes() and a.y[:, :size].tobytes() == b.y[:, :size].tobytes()


@pytest.mark.parametrize("attempts", [1, 2, 7, 1000])
def test_bits_do_not_depend_on_slicing(native: Library, attempts: int) -> None:
    problem = InitialValueProblem(
        rhs=native.address("double_pendulum"), y0=FROM_REST, t0=0.0, t1=30.0
    )
    whole, sliced = integrate(problem), Integrator(problem)
    looked_at = []
    while not sliced.advance(attempts):
        looked_at.append(sliced.solution())
    assert same(whole, sliced.solution())
    assert whole.dense is not None
    assert whole.dense.tobytes() == sliced.solution().dense.tobytes()
    assert whole.steps > 600
    # what was handed out on the way has not changed since
    assert all(part.y.tobytes() == whole.y[: len(part.t)].tobytes() for part in looked_at)


def test_bits_do_not_depend_on_dense_output_or_quadratures(native: Library) -> None:
    """Not even if one of the quadratures is NaN from the start."""
    options = {"t0": 0.0, "t1": 50.0, "rtol": 1e-8, "atol": 1e-8}
    plain = integrate(InitialValueProblem(rhs=native.address("kepler"), y0=ELLIPSE, **options))
    bare = integrate(
        InitialValueProblem(rhs=native.address("kepler"), y0=ELLIPSE, dense=False, **options)
    )
    audited = integrate(
        InitialValueProblem(
            rhs=native.address("kepler_with_quadratures"),
            y0=[*ELLIPSE, 0.0, 0.0, 0.0],
            n_norm=4,
            **options,
        )
    )
    assert same(plain, bare)
    assert same(plain, audited)
    assert plain.dense.tobytes() == audited.dense[:, :, :4].tobytes()
    assert np.sqrt(0.75) / 2 * audited.t == pytest.approx(audited.y[:, 4], rel=1e-7)
    assert np.isnan(audited.y[-1, 6])


def test_many_runs_at_once(native: Library) -> None:
    problems = [
        InitialValueProblem(
            rhs=native.address("kepler"), y0=[0.5 + i / 5000, 0.0, 0.0, 1.7], t0=0.0, t1=3.0
        )
        for i in range(200)
    ]
    alone = [integrate(problem) for problem in problems]
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(integrate, problems * 5))
    assert all(same(a, b) for a, b in zip(alone * 5, together, strict=True))


def test_progress_is_reported(native: Library) -> None:
    seen: list[tuple[float, int]] = []
    solution = integrate(
        InitialValueProblem(rhs=native.address("kepler"), y0=ELLIPSE, t0=0.0, t1=5e4, dense=False),
        lambda t, steps: seen.append((t, steps)),
    )
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert seen[-1][1] <= solution.steps
    assert json.dumps(seen)


@pytest.mark.parametrize("dense", [False, True])
def test_a_restart_has_the_bits_of_a_new_run_and_leaves_what_was_given_alone(
    native: Library, dense: bool
) -> None:
    rhs = native.address("kepler")
    first, second = (
        InitialValueProblem(rhs=rhs, y0=[x, 0.0, 0.0, 1.2], t0=t, t1=t + 10.0, dense=dense)
        for x, t in ((1.0, 0.0), (0.7, 2.0))
    )
    integration, solutions = Integrator(first), []
    for problem in (first, second, first):
        integration.restart(problem)
        while not integration.advance():
            pass
        solutions.append(integration.solution())
    for problem, solution in zip((first, second, first), solutions, strict=True):
        anew = integrate(problem)
        assert (anew.t == solution.t).all()
        assert (anew.y == solution.y).all()
        assert (anew.calls, anew.rejected) == (solution.calls, solution.rejected)


def test_a_restart_after_a_run_that_stopped_has_the_bits_of_a_new_one(native: Library) -> None:
    """A fall into the centre cannot go on; nothing of it is left in the memory that the next run
    begins in.
    """
    rhs = native.address("kepler")
    fall, orbit = (
        InitialValueProblem(rhs=rhs, y0=[1.0, 0.0, 0.0, v], t0=0.0, t1=5.0) for v in (0.0, 1.2)
    )
    integration = Integrator(fall)
    with pytest.raises(RunStopped) as stopped:
        integration.advance(10**6)
    reached = stopped.value.solution.y.copy()
    integration.restart(orbit)
    while not integration.advance():
        pass
    anew, again = integrate(orbit), integration.solution()
    assert anew.y.tobytes() == again.y.tobytes()
    assert (anew.calls, anew.rejected) == (again.calls, again.rejected)
    assert stopped.value.solution.y.tobytes() == reached.tobytes()
