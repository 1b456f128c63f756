"""φ(q, t) = 0: positions that satisfy the holonomic rows and the given conditions, near a first
guess.
Keywords: position assembly.

Damped Gauss–Newton with steps of least norm, δq = −Jᵀ (J Jᵀ + μ 1)⁻¹ r, in a trust region that
keeps to the nearest branch: only coordinates that the unsatisfied rows reach are moved. Where the
slope vanishes (a bob at the centre of its circle) the search begins again nearby.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from dalembert.foundation.array_types import BoolArray, FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.states.initial_values import PositionRow, row_jacobian, sparsity
from dalembert.symbolic.algebra.tape import Tape

# distances to a row's surface, relative to the size of q: to be left alone, and to be accepted from
# given values
UNCHANGED_TOLERANCE: Final = 1e-13
ACCEPT_TOLERANCE: Final = 1e-9
ROUNDING: Final = 1e-14
MAX_ITERATIONS: Final = 100
SINGULAR_VALUE_CUTOFF: Final = 1e-12
MIN_STEP: Final = 1e-16
# a first step of half a radian or half a unit; longer ones once the rows have proved nearly linear
RADIUS: Final = 0.5
GROWTH: Final = 3.0
GOOD_REDUCTION: Final = 0.5
_NUDGES: Final = (0.01, 0.1, 0.5, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0)


class RowEvaluator(Protocol):
    """Where rows become numbers: a tape with its coordinates, and everything on it that is not a
    coordinate known.
    """

    @property
    def tape(self) -> Tape: ...
    @property
    def q(self) -> tuple[int, ...]: ...
    @property
    def time(self) -> int: ...
    def values_at(self, outs: Sequence[int], state: Mapping[int, float]) -> FloatArray:
        """The values of nodes where the coordinates and the time are given."""
        ...


@dataclass(frozen=True)
class Assembly:
    """The positions found, what remains of each row there, and whether all of it counts as zero."""

    q: FloatArray
    residuals: FloatArray
    satisfied: BoolArray
    iterations: int
    moved: BoolArray


class Assembler:
    """r(q) and J(q) of position rows, and which coordinates each of them depends on."""

    def __init__(
        self, at: Callable[[FloatArray], tuple[FloatArray, FloatArray]], structure: BoolArray
    ) -> None:
        self._at, self.structure = at, structure

    @classmethod
    def from_rows(cls, place: RowEvaluator, rows: Sequence[PositionRow], t: float) -> Assembler:
        """Of a list of rows at a time t, evaluated node by node."""
        slopes, n = row_jacobian(place.tape, rows, place.q), len(place.q)
        nodes = [*(row.node for row in rows), *(i for row in slopes for i in row)]
        targets = np.array([row.target for row in rows])

        def at(q: FloatArray) -> tuple[FloatArray, FloatArray]:
            values = place.values_at(
                nodes, {**dict(zip(place.q, q.tolist(), strict=True)), place.time: t}
            )
            return values[: len(rows)] - targets, values[len(rows) :].reshape(len(rows), n)

        return cls(at, sparsity(place.tape, slopes, n))

    def __call__(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """r and J at q."""
        return self._at(q)

    def is_satisfied(self, q: FloatArray, distance: float) -> BoolArray:
        """|r_i| ≤ distance · |∇φ_i| · max |q|, or as small as rounding"""
        r, J = self(q)
        size = float(np.max(np.abs(q), initial=0.0)) or 1.0
        small: BoolArray = np.abs(r) <= distance * size * np.linalg.norm(J, axis=1) + ROUNDING
        return small

    def solve(self, q: FloatArray, free: BoolArray, guessed: BoolArray) -> Assembly:
        """The nearest solution that moves only free coordinates, and of these only those that
        must move.
        """
        if not len(self.structure):
            return Assembly(q, np.zeros(0), np.ones(0, dtype=bool), 0, np.zeros(len(q), dtype=bool))
        unsatisfied = ~self.is_satisfied(q, UNCHANGED_TOLERANCE)
        rows, columns = self.connected_block(
            unsatisfied | (self.structure & guessed).any(axis=1), free
        )
        iterations = 0
        best = q
        if unsatisfied.any() and columns.any():
            error = np.inf
            for first in _initial_guesses(q, columns):
                candidate, steps, _, _ = gauss_newton(self, first, rows, columns)
                iterations += steps
                remaining = self._squared_residual(candidate)
                if remaining < error:
                    best, error = candidate, remaining
                if self.is_satisfied(best, ACCEPT_TOLERANCE)[rows].all():
                    break
        return Assembly(
            best, self(best)[0], self.is_satisfied(best, ACCEPT_TOLERANCE), iterations, columns
        )

    def _squared_residual(self, q: FloatArray) -> float:
        r = self(q)[0]
        return float(r @ r) if np.isfinite(r).all() else np.inf

    def connected_block(self, rows: BoolArray, free: BoolArray) -> tuple[BoolArray, BoolArray]:
        """The rows and free coordinates connected with the given rows."""
        structure = self.structure & free
        columns = np.asarray(structure[rows].any(axis=0))
        while True:
            rows = rows | structure[:, columns].any(axis=1)
            more = np.asarray(structure[rows].any(axis=0))
            if (more == columns).all():
                return rows, columns
            columns = more


def _initial_guesses(q: FloatArray, columns: BoolArray) -> Iterator[FloatArray]:
    """The guess itself, then points nearby."""
    yield q
    for nudge in perturbations(len(q)):
        yield np.where(columns, q + nudge, q)


def perturbations(n: int) -> FloatArray:
    """How far from the guess the search begins again, a row for each time: first towards
    positive values, then in fixed directions.
    """
    directions = np.random.default_rng(0).uniform(-1.0, 1.0, (len(_NUDGES) - 1, n))
    offsets: FloatArray = np.array(_NUDGES)[:, np.newaxis] * np.vstack([np.ones(n), directions])
    return offsets


def gauss_newton(
    f: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    q: FloatArray,
    rows: BoolArray,
    columns: BoolArray,
    *,
    radius: float = RADIUS,
    shortest: float = MIN_STEP,
    unit: float = 0.0,
) -> tuple[FloatArray, int, FloatArray, FloatArray]:
    """Steps within a trust region until the residual no longer falls: (q, number of steps, r, J
    there).

    radius     of the first step
    shortest   the part of max |q|, or of `unit` where that is larger, that counts as no step
    """
    r, J = f(q)
    steps, whole = 0, bool(rows.all() and columns.all())
    while (
        steps < MAX_ITERATIONS and np.isfinite(r).all() and np.isfinite(J).all() and r[rows].any()
    ):
        if whole:
            step = -_damped_step(J, r, radius)
        else:
            step = np.zeros_like(q)
            step[columns] = -_damped_step(J[np.ix_(rows, columns)], r[rows], radius)
        length, size = float(np.linalg.norm(step)), max(float(np.abs(q).max()), unit)
        if length <= shortest * size:
            break
        r_new, J_new = f(q + step)
        steps += 1
        before, after = r @ r, r_new @ r_new
        # what is not finite is not smaller
        if after < before:
            good = before - after > GOOD_REDUCTION * (before - np.sum((r + J @ step) ** 2))
            radius = max(radius, GROWTH * length) if good else radius
            q, r, J = q + step, r_new, J_new
        elif length <= ROUNDING * size:
            break
        else:
            radius = length / GROWTH
    return q, steps, r, J


def _damped_step(J: FloatArray, r: FloatArray, radius: float) -> FloatArray:
    """δ = Jᵀ (J Jᵀ + μ 1)⁻¹ r with the least μ that keeps |δ| within the radius; what J does not
    determine stays.
    """
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    # they come in falling order
    kept = int(np.count_nonzero(s > SINGULAR_VALUE_CUTOFF * s[0]))
    s, along = s[:kept], (U.T @ r)[:kept]
    step = along / s
    mu = SINGULAR_VALUE_CUTOFF * s[0] ** 2 if kept else 0.0
    while np.linalg.norm(step) > radius:
        step = s * along / (s * s + mu)
        mu *= GROWTH
    return np.asarray(Vt[:kept].T @ step)
