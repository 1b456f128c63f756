"""F(y) = 0 by damped Newton steps in scaled unknowns, and by continuation from the guess.
Keywords: trim, Gauss–Newton, Newton homotopy, scaling.

Rows are divided by their slopes. An unknown is measured by its guess, or by what would change a
row by the size of its terms: pressures of 10⁷ Pa and angles may be unknowns
together. A root counts only where every residual is small against the terms of its own row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.states.assembly import gauss_newton

# the first step is no longer than this
_MAX_STEP: Final = 1.0
_MIN_STEP: Final = 4e-16
TOLERANCE: Final = 1e-9
# what rounding of an unknown leaves, relative to its way
_ROUNDING: Final = 1e-13
# rounding of the terms of a row, relative to what may remain of them
_NOISE: Final = 1e-6
# how far from a root its slope must hold
_NEAR: Final = 1e-6
# beyond this the sine of an angle is mostly rounding
_MAX_RESOLVED_ANGLE: Final = 1e6
# steps of the continuation: the first, and the shortest before it is given up
_FIRST_PART: Final = 0.25
_SHORTEST_PART: Final = 1e-4
_MAX_PARTS: Final = 200


# F and ∂F/∂y
ResidualAndJacobian = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


class Root(NamedTuple):
    """Where the search ended, what remains there, and whether that is a root."""

    y: FloatArray
    residual: float
    converged: bool
    steps: int


def find_root(
    f: ResidualAndJacobian,
    y: FloatArray,
    tolerance: Callable[[FloatArray], FloatArray] | None = None,
    unit: FloatArray | None = None,
) -> Root:
    """A root of F near y, in rows of slope one and unknowns of size one where the search begins.

    `f` gives F and J. `tolerance` gives the largest residual of every row at a point; without it
    the residual must vanish within a change of the unknowns by 1e-9. `unit` are the sizes of the
    unknowns; by default the larger of 1 and |y|.
    """
    F, J = f(y)
    if not (np.isfinite(F).all() and np.isfinite(J).all()):
        return Root(y, np.inf, converged=False, steps=0)
    unit = np.maximum(1.0, np.abs(y)) if unit is None else unit
    begin = y
    small_first = np.zeros(len(F)) if tolerance is None or not y.size else tolerance(y)
    y, F, J, steps = _newton(f, y, F, J, unit, small_first)
    allowed = _allowed_residual(y, J, None if tolerance is None else begin)
    noise: FloatArray | float = 0.0
    if tolerance is not None and y.size:
        small = tolerance(y)
        allowed, noise = np.maximum(allowed, small), _NOISE * small
    good = bool((np.abs(F) <= allowed).all()) and _is_resolved(f, y, F, J, noise)
    if good and tolerance is not None and F.any():
        good = _is_smooth(f, y, F, J, np.minimum(unit, 1.0), small_first)
    return Root(y, float(np.abs(F).max(initial=0.0)), good, steps)


def _newton(
    f: ResidualAndJacobian,
    y: FloatArray,
    F: FloatArray,
    J: FloatArray,
    unit: FloatArray,
    least: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    """Steps within a trust region from y, where F and J are known: (y, F, J, number of steps).

    A row whose slope is rounding is measured by `least`, a small part of its terms.
    """
    if not y.size:
        return y, F, J, 0
    slope = np.maximum(np.linalg.norm(J * unit, axis=1), least)
    scale = np.where(slope > 0, slope, 1.0)
    known = [(F, J)]

    def scaled_residual(z: FloatArray) -> tuple[FloatArray, FloatArray]:
        F, J = known.pop() if known else f(z * unit)
        return F / scale, J * unit / scale[:, None]

    whole = np.ones(len(F), dtype=bool), np.ones(len(y), dtype=bool)
    z, steps, F, J = gauss_newton(
        scaled_residual, y / unit, *whole, radius=_MAX_STEP, shortest=_MIN_STEP, unit=1.0
    )
    return z * unit, F * scale, J / unit * scale[:, None], steps


def unknown_sizes(y: FloatArray, J: FloatArray, row_sizes: FloatArray) -> FloatArray:
    """The size of each unknown: |y_j|, or for a guess of zero the largest change that is no more
    than the terms of a row, Σ |term| / |J_ij|; 1 where there is no such row.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.where((J != 0.0) & (row_sizes[:, None] > 0.0), row_sizes[:, None] / abs(J), 0)
    size = np.where(y != 0.0, np.abs(y), changes.max(axis=0, initial=0.0))
    return np.where((size > 0.0) & np.isfinite(size), size, 1.0)


def continue_to_root(
    f: ResidualAndJacobian,
    y: FloatArray,
    tolerance: Callable[[FloatArray], FloatArray],
    unit: FloatArray,
) -> Root:
    """F(y) = (1 − s) F(y₀) followed from s = 0 to 1: the guess solves the first of these systems.

    Source: the Newton homotopy.
    """
    begin, s, part = f(y)[0], 0.0, _FIRST_PART
    if not np.isfinite(begin).all():
        return Root(y, np.inf, converged=False, steps=0)
    here, steps = y, 0
    for _ in range(_MAX_PARTS):
        goal = min(1.0, s + part)

        def moved(x: FloatArray, goal: float = goal) -> tuple[FloatArray, FloatArray]:
            F, J = f(x)
            return F - (1.0 - goal) * begin, J

        root = find_root(moved, here, tolerance, unit)
        steps += root.steps
        if root.converged:
            here, s, part = root.y, goal, 2.0 * part
            if s >= 1.0:
                break
        else:
            part /= 4.0
            if part < _SHORTEST_PART:
                break
    return find_root(f, here, tolerance, unit)._replace(steps=steps)


def _allowed_residual(y: FloatArray, J: FloatArray, begin: FloatArray | None) -> FloatArray:
    """What rounding leaves, 1e-13 Σ_j |J_ij| size_j: an unknown that ends at
    zero has the size of its way. Without a beginning 1e-9 Σ_j |J_ij|.
    """
    if not y.size:
        return np.zeros(len(J))
    if begin is None:
        return np.asarray(TOLERANCE * np.abs(J).sum(axis=1))
    size = np.minimum(1.0, np.maximum(np.abs(y), np.abs(y - begin)))
    return np.asarray(_ROUNDING * np.abs(J) @ size)


def _is_smooth(
    f: ResidualAndJacobian,
    y: FloatArray,
    F: FloatArray,
    J: FloatArray,
    unit: FloatArray,
    noise: FloatArray,
) -> bool:
    """F(y + δ) ≈ F + J δ over δ = 1e-6 of the unknowns: next to a pole, where large terms hide a
    large residual, it is not.
    """
    delta = _NEAR * unit * np.where(np.arange(len(y)) % 2, -1.0, 1.0)
    change = f(y + delta)[0] - F
    return bool((np.abs(change - J @ delta) <= 0.1 * (np.abs(J) @ np.abs(delta)) + noise).all())


def _is_resolved(
    f: ResidualAndJacobian, y: FloatArray, F: FloatArray, J: FloatArray, noise: FloatArray | float
) -> bool:
    """F(y + δ) ≈ F + J δ over δ = a thousand roundings: an angle of 1e16 rad, whose neighbour is
    a turn away, has no sine. `noise` is the rounding of F itself.
    """
    if np.abs(y).max(initial=0.0) < _MAX_RESOLVED_ANGLE:
        return True
    delta = 1024 * np.spacing(np.abs(y))
    change = f(y + delta)[0] - F
    allowed = 0.1 * (np.abs(J) @ delta) + noise
    return bool((np.abs(change - J @ delta) <= allowed).all())
