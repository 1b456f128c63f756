"""M (u⁺ − u⁻) = Aᵀ Λ: the impulses Λ of an impact by Newton's law or Poisson's, and their
derivative.

Rows v = A u + b have velocities v⁺ = v⁻ + 𝒜 Λ, 𝒜 = A H, and u⁺ = u⁻ + H Λ, where H = M⁻¹ Aᵀ on the
motions that permanent constraints allow. Newton: v⁺ ≥ −e v⁻, Poisson: an expansion with e Λ of the
compression. Which rows carry an impulse, and friction, are the business of `solve`: `da.impact` has
one row, contacts have their laws.

Source: Pfeiffer and Glocker (1996), chapter 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

import numpy as np

from dalembert.foundation.array_types import FloatArray

_RANK: Final = 1e-12


class ImpactRows(NamedTuple):
    """𝒜 and the velocities v⁻ of the rows, or their derivatives; e of each row."""

    A: FloatArray
    v: FloatArray
    e: FloatArray


class ImpulsePhase(Protocol):
    """A solution of the laws of contact for impulses."""

    @property
    def lam(self) -> FloatArray:
        """Λ of all rows."""
        ...


P = TypeVar("P", bound=ImpulsePhase)


def impulses(
    rows: ImpactRows, solve: Callable[[FloatArray, FloatArray | None], P], *, poisson: bool
) -> tuple[FloatArray, tuple[P, ...]]:
    """Λ, and the phases of the impact: one by Newton's law, compression and expansion by Poisson's.

    `solve` (b, given) finds Λ with which w = 𝒜 Λ + b satisfies the laws of contact, in an
    expansion in addition to impulses that are given.
    """
    A, v, e = rows
    if not poisson:
        whole = solve(v * (1.0 + np.where(v < 0.0, e, 0.0)), None)
        return whole.lam, (whole,)
    compression = solve(v, None)
    first = compression.lam
    # expansion gives back a part of what compression took, and more only where the contact would
    # close again
    part = e * first
    expansion = solve(v + A @ first + A @ part, part)
    return first + part + expansion.lam, (compression, expansion)


def impulse_derivative(
    rows: ImpactRows,
    change: ImpactRows,
    lam: Sequence[FloatArray],
    derive: Callable[[int, FloatArray, FloatArray, FloatArray], FloatArray],
) -> FloatArray:
    """dΛ along one direction, in which the rows change by `change`; `lam` are the impulses of the
    phases.

    `derive` (phase, b, db, dgiven) is dΛ of one phase in its mode.
    """
    (A, v, e), (dA, dv, de) = rows, change
    nothing = np.zeros(len(v))
    if len(lam) == 1:
        factor = 1.0 + np.where(v < 0.0, e, 0.0)
        return derive(0, v * factor, dv * factor + np.where(v < 0.0, de * v, 0.0), nothing)
    first = derive(0, v, dv, nothing)
    part, dpart = e * lam[0], e * first + de * lam[0]
    passed = lam[0] + part
    b, db = v + A @ passed, dv + dA @ passed + A @ (first + dpart)
    return first + dpart + derive(1, b, db, dpart)


class ConstrainedMass:
    """M x = Bᵀ μ + force, B x = change: solved in units in which all speeds and rows count alike.

    B are the permanent constraint rows, which may depend on one another.
    """

    def __init__(self, M: FloatArray, B: FloatArray) -> None:
        size = np.sqrt(np.abs(np.diag(M)))
        # kilograms next to kg m²: each speed in a unit that carries as much as the others, each row
        # of length one
        self._unit = 1.0 / np.where(size > 0.0, size, 1.0)
        scaled = B * self._unit
        lengths = np.linalg.norm(scaled, axis=1)
        self._scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        scaled = scaled * self._scale[:, np.newaxis]
        self._K = np.block(
            [
                [M * np.outer(self._unit, self._unit), -scaled.T],
                [scaled, np.zeros((len(B), len(B)))],
            ]
        )

    def solve(self, force: FloatArray, change: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x and μ, a column for each of the right-hand sides."""
        n = len(self._unit)
        right = np.vstack([force * self._unit[:, np.newaxis], change * self._scale[:, np.newaxis]])
        x: FloatArray = np.linalg.lstsq(self._K, right, rcond=_RANK)[0]
        return x[:n] * self._unit[:, np.newaxis], x[n:] * self._scale[:, np.newaxis]

    def free_compliance(self, J: FloatArray) -> float:
        """Σ J²/M_kk, the size of 𝒜 where no constraint hinders the row J."""
        return float(((J * self._unit) ** 2).sum())
