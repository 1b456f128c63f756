"""Steps of any method with the motion between them: a polynomial of degree seven through both
ends, their slopes and four points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.ode.solution import (
    ChunkedArray,
    Outcome,
    Solution,
    StoredTrajectory,
    evaluate_dense_output,
)

# places in a step, besides its ends
INTERIOR_POINTS: Final = np.array([0.2, 0.4, 0.6, 0.8])
POINTS_PER_STEP: Final = len(INTERIOR_POINTS) + 1
# of the powers in a step: exact to degree nine
_GAUSS_NODES: Final = 5


def interpolation_times(t: FloatArray) -> FloatArray:
    """The ends of all steps, and four places in each."""
    t = np.asarray(t)
    inside = t[:-1, np.newaxis] + np.append(0.0, INTERIOR_POINTS) * np.diff(t)[:, np.newaxis]
    return np.append(inside.reshape(-1), t[-1])


def sundials_solution(
    result: Any, places: FloatArray | None, slopes: FloatArray, outcome: Outcome, message: str
) -> Solution:
    """SUNDIALS returns its steps, or its own polynomial at given times, but not both: the same run
    is made twice. Without the second, for a run that stopped, the motion between is cubic.
    """
    t, y, calls = np.asarray(result.t), np.asarray(result.y), int(np.sum(result.nfev))
    if places is None:
        # before it stops it takes steps that are too short for a double, to states beyond any
        count = 1 + int(np.argmin(np.append(np.diff(t) > 0.0, False)))
        t, y, slopes = t[:count], y[:count], slopes[:count]
        motion = _store_steps(t, y, _cubic_coefficients(t, y, slopes))
        return Solution(motion, outcome, message, 0, calls)
    inside = places[:-1].reshape(len(t) - 1, POINTS_PER_STEP, -1)[:, 1:]
    ends = places[::POINTS_PER_STEP]
    motion = _store_steps(t, ends, _hermite_coefficients(t, ends, slopes, inside))
    return Solution(motion, outcome, message, 0, calls)


def with_quadratures(
    solution: Solution, start: FloatArray, powers: Callable[[FloatArray, FloatArray], FloatArray]
) -> Solution:
    """Z(t) = Z₀ + ∫ P(t, y(t)) dt in further columns of a motion, by Gauss–Legendre in every step.

    `powers` are the integrands for times and states in rows.
    """
    t, y, dense = solution.t, solution.y, solution.dense
    if not start.size:
        return solution
    if dense is None or not len(dense):
        y = np.hstack([y, np.tile(start, (len(t), 1))])
        return replace(solution, motion=_store_steps(t, y, None))
    nodes, whole, partial = _integration_weights()
    h = np.diff(t)[:, np.newaxis]
    step, form = np.arange(len(h)), solution.motion.powers
    states = np.array(
        [evaluate_dense_output(dense, step, np.full(len(h), x), powers=form) for x in nodes]
    )
    times = t[:-1] + nodes[:, np.newaxis] * h[:, 0]
    P = powers(times.reshape(-1), states.reshape(times.size, -1)).reshape(*times.shape, -1)
    Z = np.vstack([start, start + np.cumsum(h * np.tensordot(whole, P, 1), axis=0)])
    inside = (Z[:-1] + h * np.tensordot(partial, P, 1)).swapaxes(0, 1)
    rows = np.concatenate([dense, _hermite_coefficients(t, Z, powers(t, y), inside)], axis=2)
    return replace(solution, motion=_store_steps(t, np.hstack([y, Z]), rows))


def _integration_weights() -> tuple[FloatArray, FloatArray, FloatArray]:
    """c_j; ∫₀¹ l_j dθ; ∫₀^θ l_j dθ at the interior points, with l_j the Lagrange polynomials of
    Gauss's nodes c_j in a step.
    """
    nodes = (1.0 + np.polynomial.legendre.leggauss(_GAUSS_NODES)[0]) / 2
    powers = np.arange(_GAUSS_NODES)
    to_monomials = np.linalg.inv(nodes[:, np.newaxis] ** powers)
    ends = np.append(INTERIOR_POINTS, 1.0)[:, np.newaxis]
    weights = ends ** (powers + 1) / (powers + 1) @ to_monomials
    return nodes, weights[-1], weights[:-1]


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
    return Solution(_store_steps(times, states, dense), outcome, message, 0, calls)


def _store_steps(t: FloatArray, y: FloatArray, dense: FloatArray | None) -> StoredTrajectory:
    steps = None if dense is None else ChunkedArray([dense])
    return StoredTrajectory(ChunkedArray([t]), ChunkedArray([y]), steps)


def _hermite_coefficients(
    t: FloatArray, y: FloatArray, f: FloatArray, inside: FloatArray
) -> FloatArray:
    """r₀, …, r₇ of y(t₀ + θh) = r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + …)))) for every step, θ̄ = 1
    − θ.
    """
    rows = _cubic_coefficients(t, y, f)
    a, b = INTERIOR_POINTS, 1.0 - INTERIOR_POINTS
    hermite = rows[:, None, 0] + a[:, None] * (
        rows[:, None, 1] + b[:, None] * (rows[:, None, 2] + a[:, None] * rows[:, None, 3])
    )
    # the remainder is θ²θ̄² (r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))
    left = (inside - hermite) / (a * a * b * b)[:, None]
    basis = np.column_stack([np.ones_like(a), a, a * b, a * a * b])
    rows[:, 4:] = np.linalg.solve(basis, left)
    return rows


def _cubic_coefficients(t: FloatArray, y: FloatArray, f: FloatArray) -> FloatArray:
    """r₀, …, r₃ of the cubic through both ends with their slopes; r₄, …, r₇ are zero."""
    h, step = np.diff(t)[:, np.newaxis], np.diff(y, axis=0)
    rows = np.zeros((len(h), DENSE_ROWS, y.shape[1]))
    rows[:, 0], rows[:, 1] = y[:-1], step
    rows[:, 2] = h * f[:-1] - step
    rows[:, 3] = step - h * f[1:] - rows[:, 2]
    return rows
