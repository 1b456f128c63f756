"""Multipliers of an answer carried to another mesh, so that a solve continues where the last one
ended.

Divided by the quadrature weight b_i Δ_k of its point (rows of motion: by b_i), a multiplier is the
value of a function of time; it is interpolated between the points.
"""

from __future__ import annotations

import numpy as np

from dalembert.analysis.optimal.point_function import Indices
from dalembert.analysis.optimal.solver import ProgramSolution
from dalembert.analysis.optimal.transcription import PhaseLayout, Transcription
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass


@dataclass(frozen=True, eq=False)
class CarriedMultipliers:
    """Of rows, and of lower and upper bounds of variables."""

    rows: FloatArray
    lower: FloatArray
    upper: FloatArray


def carried_multipliers(
    old: Transcription, solution: ProgramSolution, new: Transcription
) -> CarriedMultipliers:
    """The multipliers of a solution on the mesh of another transcription of the same problem."""
    rows = np.zeros(new.rows.count)
    lower, upper = np.zeros(new.n_variables), np.zeros(new.n_variables)
    has, had = (
        _others(new.point_rows, new.rows.count),
        _others(old.point_rows, old.rows.count),
    )
    # rows that bound inputs between points come last, and begin without a multiplier
    count = min(len(has), len(had))
    rows[has[:count]] = solution.multipliers[had[:count]]
    places = [layout.points for layout in new.layouts], [layout.points for layout in old.layouts]
    free = _others(places[0], new.n_variables), _others(places[1], old.n_variables)
    lower[free[0]], upper[free[0]] = (
        solution.lower_multipliers[free[1]],
        solution.upper_multipliers[free[1]],
    )
    for k, (a, b) in enumerate(zip(old.layouts, new.layouts, strict=True)):
        n_x, multipliers = len(a.first), solution.multipliers
        for part, by_width in ((slice(n_x), False), (slice(n_x, None), True)):
            at = old.point_rows[k][:, part], new.point_rows[k][:, part]
            _carry(a, b, *at, multipliers, rows, by_width=by_width)
        _carry(a, b, a.points, b.points, solution.lower_multipliers, lower, by_width=True)
        _carry(a, b, a.points, b.points, solution.upper_multipliers, upper, by_width=True)
    return CarriedMultipliers(rows, lower, upper)


def _others(places: list[Indices], count: int) -> Indices:
    """Rows or variables that belong to no point."""
    rest = np.ones(count, dtype=bool)
    for at in places:
        rest[at[at >= 0]] = False
    return np.flatnonzero(rest)


def _weights(layout: PhaseLayout, *, by_width: bool) -> FloatArray:
    b = np.tile(layout.scheme.weights, layout.n_intervals)
    weights: FloatArray = b * np.repeat(layout.widths, layout.scheme.order) if by_width else b
    return weights


def _carry(
    a: PhaseLayout,
    b: PhaseLayout,
    old: Indices,
    new: Indices,
    values: FloatArray,
    result: FloatArray,
    *,
    by_width: bool,
) -> None:
    """Interpolate each column over the time fractions of the points."""
    for j in range(old.shape[1]):
        had, has = old[:, j] >= 0, new[:, j] >= 0
        density = values[old[had, j]] / _weights(a, by_width=by_width)[had]
        result[new[has, j]] = (
            np.interp(b.fractions[has], a.fractions[had], density)
            * _weights(b, by_width=by_width)[has]
        )
