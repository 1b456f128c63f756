"""Rosenbrock's method: its order, a stiff problem with published end values, and what rides
along.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from callback import RHS_TYPE, RightHandSide
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import integrate
from dalembert.runtime.ode.rodas5p_coefficients import GAMMA, STAGES, TIMES, A, D
from dalembert.runtime.ode.solution import Solution

Table = Sequence[Sequence[float]]


def solved(
    f: Callable[..., list[float]],
    jacobian: Callable[..., Table],
    y0: list[float],
    t1: float,
    **options: Any,
) -> Solution:
    rhs, n, numbers = RightHandSide(f, len(y0)), len(y0), ctypes.POINTER(ctypes.c_double)
    columns = options.get("n_norm", n) + 1

    def filled(t: float, y: int, J: int, _context: int) -> int:
        state = np.ctypeslib.as_array(ctypes.cast(y, numbers), (n,))
        np.ctypeslib.as_array(ctypes.cast(J, numbers), (n * columns,))[:] = np.ravel(
            jacobian(t, state)
        )
        return 0

    native = RHS_TYPE(filled)
    slopes = ctypes.cast(native, ctypes.c_void_p).value or 0
    return integrate(
        InitialValueProblem(rhs=rhs.address, jacobian=slopes, y0=y0, t0=0.0, t1=t1, **options)
    )


def forced(t: float, y: np.ndarray) -> list[float]:
    """Van der Pol's oscillator under a force, and a quadrature."""
    return [y[1], (1 - y[0] ** 2) * y[1] - y[0] + np.sin(2 * t), y[0] * y[1] * t]


def forced_slopes(t: float, y: np.ndarray) -> Table:
    return [
        [0, 1, 0],
        [-2 * y[0] * y[1] - 1, 1 - y[0] ** 2, 2 * np.cos(2 * t)],
        [y[1] * t, y[0] * t, y[0] * y[1]],
    ]


def test_the_method_and_its_dense_output_are_of_order_five_and_four() -> None:
    times = np.linspace(0.0, 2.0, 101)
    truth = (
        solve_ivp(
            forced,
            (0, 2),
            [1.0, 0.5, 0.0],
            method="DOP853",
            rtol=1e-13,
            atol=1e-13,
            dense_output=True,
        )
        .sol(times)
        .T
    )
    runs = [
        solved(
            forced, forced_slopes, [1.0, 0.5, 0.0], 2.0, rtol=0.5, atol=1e3, max_step=h, n_norm=2
        )
        for h in (0.1, 0.05, 0.025)
    ]
    ends = [np.abs(run.y[-1] - truth[-1]).max() for run in runs]
    between = [np.abs(run.at(times) - truth).max() for run in runs]
    for errors in (ends, between):
        assert [5.0, 5.0] == pytest.approx(
            [float(np.log2(a / b)) for a, b in itertools.pairwise(errors)], abs=0.3
        )


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_robertson(rtol: float) -> None:
    """End values at t = 40: HW96 IV.10 and the IVP test set, ROBER."""
    run = solved(
        lambda _t, y: [
            -0.04 * y[0] + 1e4 * y[1] * y[2],
            0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2,
            3e7 * y[1] ** 2,
        ],
        lambda _t, y: [
            [-0.04, 1e4 * y[2], 1e4 * y[1], 0],
            [0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1], 0],
            [0, 6e7 * y[1], 0, 0],
        ],
        [1.0, 0.0, 0.0],
        40.0,
        rtol=rtol,
        atol=1e-4 * rtol,
    )
    assert [0.7158270688, 9.185534765e-6, 0.2841637457] == pytest.approx(run.y[-1], rel=20 * rtol)
    assert run.steps < 200


def test_the_coefficients_are_consistent() -> None:
    """c_i = Σ α_ij, and γ_i = Σ γ_ij, which a_ij = (α Γ⁻¹)_ij and d_i are made of: HW96 IV.7."""
    assert A[1][0] * GAMMA == pytest.approx(TIMES[1])
    assert (GAMMA, STAGES) == (D[0], len(A))


def test_a_singular_matrix_is_a_refused_step() -> None:
    """J = 1/(γh) for the first step that is tried: another is found."""
    run = solved(
        lambda _t, y: [3.0 * y[0]], lambda _t, _y: [[3.0, 0.0]], [1.0], 1.0, rtol=1e-8, atol=1e-8
    )
    assert run.y[-1, 0] == pytest.approx(np.exp(3.0), rel=1e-6)
