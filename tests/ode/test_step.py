"""Projection and the acceptance test: what they may do to a step."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest

from callback import RightHandSide
from dalembert.runtime.numerics.jit import Library
from dalembert.runtime.ode.failures import ProjectionFailed, StepRefused
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import integrate

PROJECT = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_void_p
)
NUMBERS = ctypes.POINTER(ctypes.c_double)
ACCEPT = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_double,
    ctypes.c_double,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    ctypes.c_void_p,
)


def address(function: object) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


def projection(function: Callable[[np.ndarray], int], size: int) -> object:
    return PROJECT(lambda _t, y, _context: function(np.ctypeslib.as_array(y, (size,))))


def circle() -> RightHandSide:
    return RightHandSide(lambda _t, y: [-y[1], y[0]], 2)


def normalise(y: np.ndarray) -> int:
    y /= np.hypot(*y)
    return 0


def test_projection_keeps_a_circle() -> None:
    rhs, project = circle(), projection(normalise, 2)
    loose = {"y0": [1.0, 0.0], "t0": 0.0, "t1": 50.0, "rtol": 1e-3, "atol": 1e-3}
    free = integrate(InitialValueProblem(rhs=rhs.address, **loose))
    held = integrate(InitialValueProblem(rhs=rhs.address, project=address(project), **loose))
    assert np.abs(np.hypot(*free.y.T) - 1).max() > 1e-6
    assert np.abs(np.hypot(*held.y.T) - 1).max() < 1e-15
    # one more evaluation for each projected step
    assert held.calls - free.calls == pytest.approx(
        held.steps, abs=16 * abs(held.steps - free.steps) + 20
    )


def test_dense_output_has_no_jump_and_no_kink_at_a_projected_end() -> None:
    rhs, project = circle(), projection(normalise, 2)
    held = integrate(
        InitialValueProblem(
            rhs=rhs.address,
            project=address(project),
            y0=[1.0, 0.0],
            t0=0.0,
            t1=20.0,
            rtol=1e-2,
            atol=1e-2,
        )
    )
    nodes, h = held.t[1:-1], np.diff(held.t)
    # the end of each polynomial, and both its slopes there: r₁ − r₂ − … as in the formula at θ = 1
    assert held.dense is not None
    ends = held.dense[:-1, 0] + held.dense[:-1, 1]
    assert held.at(nodes) == pytest.approx(ends, abs=1e-15)
    left = (held.dense[:-1, 1] - held.dense[:-1, 2] - held.dense[:-1, 3]) / h[:-1, np.newaxis]
    right = (held.dense[1:, 1] + held.dense[1:, 2]) / h[1:, np.newaxis]
    assert right == pytest.approx(left, abs=1e-14)
    y = held.at(nodes)
    assert np.column_stack([-y[:, 1], y[:, 0]]) == pytest.approx(right, abs=1e-14)


def test_projection_that_changes_nothing_costs_nothing(native: Library) -> None:
    options = {"rhs": native.address("kepler"), "y0": [0.5, 0.0, 0.0, 1.7], "t0": 0.0, "t1": 10.0}
    idle = projection(lambda _y: 0, 4)
    without, with_it = (
        integrate(InitialValueProblem(**options)),
        integrate(InitialValueProblem(project=address(idle), **options)),
    )
    assert without.y.tobytes() == with_it.y.tobytes()
    assert without.calls == with_it.calls


@pytest.mark.parametrize("code", [2, -2])
def test_projection_that_fails(code: int) -> None:
    rhs, project = circle(), projection(lambda y: code if y[0] < 0.5 else 0, 2)
    with pytest.raises(ProjectionFailed, match=f"code {code}") as caught:
        integrate(
            InitialValueProblem(
                rhs=rhs.address, project=address(project), y0=[1.0, 0.0], t0=0.0, t1=5.0
            )
        )
    assert caught.value.time <= np.pi / 3 + 1e-9
    if code > 0:
        assert caught.value.time == pytest.approx(np.pi / 3, abs=1e-9)


def test_refused_steps_are_halved() -> None:
    sizes: list[float] = []

    @ACCEPT
    def accept(t: float, t_new: float, *_others: object) -> int:
        sizes.append(t_new - t)
        return int(t_new - t > 0.01)

    rhs = circle()
    solution = integrate(
        InitialValueProblem(rhs=rhs.address, accept=address(accept), y0=[1.0, 0.0], t0=0.0, t1=1.0)
    )
    assert np.diff(solution.t).max() <= 0.01
    refused = [i for i, h in enumerate(sizes[:-1]) if h > 0.01]
    assert refused
    assert all(
        sizes[i + 1] == pytest.approx(sizes[i] / 2) for i in refused if sizes[i + 1] < sizes[i]
    )
    assert np.cos(1.0) == pytest.approx(solution.y[-1, 0], abs=1e-9)


def test_raised_error_steers_the_step_without_many_refusals() -> None:
    """Limit the change of the radius to 1e-12 per unit of time at a tolerance that would allow a
    thousand times more.
    """
    worst = [0.0]

    @ACCEPT
    def accept(
        t: float,
        t_new: float,
        y: NUMBERS,
        y_new: NUMBERS,
        dense: NUMBERS,
        error: NUMBERS,
        _context: int,
    ) -> int:  # type: ignore[valid-type]
        assert dense[0] == y[0]  # type: ignore[index]
        drift = abs(np.hypot(y_new[0], y_new[1]) - np.hypot(y[0], y[1]))  # type: ignore[index]
        share = drift / (1e-12 * (t_new - t))
        error[0] = max(error[0], share)  # type: ignore[index]
        if share <= 1:
            worst[0] = max(worst[0], share)
        return 0

    rhs = circle()
    options = {
        "rhs": rhs.address,
        "y0": [1.0, 0.0],
        "t0": 0.0,
        "t1": 50.0,
        "rtol": 1e-6,
        "atol": 1e-6,
    }
    moderated, plain = (
        integrate(InitialValueProblem(accept=address(accept), **options)),
        integrate(InitialValueProblem(**options)),
    )
    assert abs(np.hypot(*moderated.y[-1]) - 1) <= 50e-12 < abs(np.hypot(*plain.y[-1]) - 1)
    assert moderated.rejected < 0.3 * moderated.steps
    assert 0.0 < worst[0] <= 1.0


@pytest.mark.parametrize("code", [5, -5])
def test_acceptance_that_never_comes(code: int) -> None:
    accept, rhs = ACCEPT(lambda t, *_others: code if t > 0.5 else 0), circle()
    with pytest.raises(StepRefused, match=f"code {code}") as caught:
        integrate(
            InitialValueProblem(
                rhs=rhs.address, accept=address(accept), y0=[1.0, 0.0], t0=0.0, t1=5.0, max_step=0.1
            )
        )
    assert caught.value.time == pytest.approx(0.55, abs=0.1)
    assert np.cos(caught.value.time) == pytest.approx(caught.value.state[0], abs=1e-8)
