"""Steps of any method with the motion between them: a polynomial of degree seven through both
ends, their slopes and four points.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.ode.solution import ChunkedArray, Outcome, Solution, StoredTrajectory

# places in a step, besides its ends
INTERIOR_POINTS: Final = np.array([0.2, 0.4, 0.6, 0.8])
POINTS_PER_STEP: Final = len(INTERIOR_POINTS) + 1


def interpolation_times(t: FloatArray) -> FloatArray:
    """The ends of all steps, and four places in each."""
    t = np.asarray(t)
    inside = t[:-1, np.newaxis] + np.append(0.0, INTERIOR_POINTS) * np.diff(t)[:, np.newaxis]
    return np.append(inside.reshape(-1), t[-1])


def sundials_solution(result: Any, again: Any, slopes: FloatArray) -> Solution:
    """SUNDIALS returns its steps, or its own polynomial at given times, but not both: the same run
    is made twice.
    """
    t, message = np.asarray(result.t), f"finished at t = {result.t[-1]:.17g}"
    if not again.success:
        return solution_without_dense_output(result, Outcome.FINISHED, message)
    places = np.asarray(again.y)
    inside = places[:-1].reshape(len(t) - 1, POINTS_PER_STEP, -1)[:, 1:]
    return interpolated_solution(
        list(t),
        list(places[::POINTS_PER_STEP]),
        list(slopes),
        list(inside),
        Outcome.FINISHED,
        message,
        int(np.sum(result.nfev)),
    )


def solution_without_dense_output(result: Any, outcome: Outcome, message: str) -> Solution:
    """Steps without a polynomial in between."""
    motion = StoredTrajectory(
        ChunkedArray([np.asarray(result.t)]), ChunkedArray([np.asarray(result.y)]), None
    )
    return Solution(motion, outcome, message, 0, int(np.sum(result.nfev)))


def interpolated_solution(
    t: list[float],
    y: list[FloatArray],
    f: list[FloatArray],
    inside: list[FloatArray],
    outcome: Outcome,
    message: str,
    calls: int,
) -> Solution:
    """Steps with their slopes and four states in each as one motion."""
    times, states = np.array(t), np.array(y)
    dense = _hermite_coefficients(times, states, np.array(f), np.array(inside)) if inside else None
    pieces = None if dense is None else ChunkedArray([dense])
    return Solution(
        StoredTrajectory(ChunkedArray([times]), ChunkedArray([states]), pieces),
        outcome,
        message,
        0,
        calls,
    )


def _hermite_coefficients(
    t: FloatArray, y: FloatArray, f: FloatArray, inside: FloatArray
) -> FloatArray:
    """r₀, …, r₇ of y(t₀ + θh) = r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + …)))) for every step, θ̄ = 1
    − θ.
    """
    h = np.diff(t)[:, np.newaxis]
    step = np.diff(y, axis=0)
    rows = np.zeros((len(h), 8, y.shape[1]))
    rows[:, 0], rows[:, 1] = y[:-1], step
    rows[:, 2] = h * f[:-1] - step
    rows[:, 3] = step - h * f[1:] - rows[:, 2]
    a, b = INTERIOR_POINTS, 1.0 - INTERIOR_POINTS
    hermite = rows[:, None, 0] + a[:, None] * (
        rows[:, None, 1] + b[:, None] * (rows[:, None, 2] + a[:, None] * rows[:, None, 3])
    )
    # the remainder is θ²θ̄² (r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))
    left = (inside - hermite) / (a * a * b * b)[:, None]
    basis = np.column_stack([np.ones_like(a), a, a * b, a * a * b])
    rows[:, 4:] = np.linalg.solve(basis, left)
    return rows
