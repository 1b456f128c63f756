"""Runs that cannot go on: the time, the state, the reason and the motion so far."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from callback import RHS_TYPE, integrate_function
from dalembert.runtime.ode.failures import NotFinite, RightHandSideFailed, RunStopped, StepCollapsed
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import integrate


@pytest.mark.parametrize("rtol", [1e-4, 1e-8, 1e-12])
def test_blow_up_in_finite_time(rtol: float) -> None:
    """y' = y², y = 1/(1 − t)"""
    with pytest.raises(
        StepCollapsed, match=r"component 0 is .* without bound in finite time"
    ) as caught:
        integrate_function(lambda _t, y: y * y, [1.0], 0.0, 2.0, rtol=rtol, atol=rtol)
    assert caught.value.time == pytest.approx(1.0, abs=20 * rtol)
    assert caught.value.state[0] > 1e6
    solution = caught.value.solution
    half = solution.at(0.5)
    assert half[0] == pytest.approx(2.0, rel=100 * rtol)


def test_nan_ahead_stops_just_before_it() -> None:
    """y' = −1, with no value beyond t = 1."""
    with pytest.raises(NotFinite, match="infinite or not a number just beyond") as caught:
        integrate_function(lambda t, _y: [math.nan if t > 1.0 else -1.0], [1.0], 0.0, 2.0)
    assert caught.value.time == pytest.approx(1.0, abs=1e-12)
    assert caught.value.state[0] == pytest.approx(0.0, abs=1e-9)


def test_nan_that_a_smaller_step_avoids() -> None:
    """A large trial step leaves the domain of the square root; the motion itself never does."""
    solution = integrate_function(
        lambda _t, y: [-50 * np.sqrt(y[0]) * (1 if y[0] > 0 else math.nan) + 1],
        [4.0],
        0.0,
        5.0,
        rtol=1e-6,
        atol=1e-8,
    )
    assert solution.y[-1, 0] == pytest.approx(1 / 2500, rel=1e-3)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_nan_at_the_start() -> None:
    with pytest.raises(NotFinite, match="stopped at t = 0 after 0 steps") as caught:
        integrate_function(lambda _t, y: np.log(y), [-1.0], 0.0, 1.0)
    assert caught.value.solution.steps == 0
    assert caught.value.solution.at(0.0).tolist() == [-1.0]


def test_infinite_state_is_not_accepted() -> None:
    """The right-hand side is bounded, but the state overflows."""
    with pytest.raises(RunStopped):
        integrate_function(lambda _t, _y: [1e308], [0.0], 0.0, 1e3, rtol=0.1, atol=1e300)


@pytest.mark.parametrize("code", [1, 3, -4])
def test_code_of_the_right_hand_side(code: int) -> None:
    """y' = 1 until the right-hand side gives up at t = 0.5."""

    @RHS_TYPE
    def rhs(t: float, _y: int, dy: int, _context: int) -> int:
        np.ctypeslib.as_array((np.ctypeslib.ctypes.c_double * 1).from_address(dy))[0] = 1.0
        return code if t > 0.5 else 0

    address = np.ctypeslib.ctypes.cast(rhs, np.ctypeslib.ctypes.c_void_p).value
    with pytest.raises(
        RightHandSideFailed, match=rf"cannot be evaluated just beyond \(code {code}\)"
    ) as caught:
        integrate(InitialValueProblem(rhs=address, y0=[0.0], t0=0.0, t1=1.0))
    assert caught.value.code == code
    # a positive code asks for smaller steps, up to the very time; a negative one stops at once
    assert caught.value.time == (
        pytest.approx(0.5, abs=1e-12) if code > 0 else pytest.approx(0.25, abs=0.25)
    )
    assert caught.value.state[0] == pytest.approx(caught.value.time)


def test_a_stopped_run_can_be_pickled() -> None:
    with pytest.raises(RunStopped) as caught:
        integrate_function(lambda _t, y: y * y, [1.0], 0.0, 2.0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert np.array_equal(again.solution.y, caught.value.solution.y)
    assert again.time == caught.value.time
