"""u̇ at one point of a prime field: the equations of motion solved exactly, without a symbolic inverse."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.exact.field import PrimePoint
from dalembert.algebra.exact.quadratic import Element
from dalembert.algebra.exact.unknowns import solve_unknowns


def accelerations(point: PrimePoint, residuals: Sequence[int], udot: Sequence[int]) -> list[Element]:
    """u̇ from residuals(u̇) = M u̇ − f = 0 at a point of the field."""
    return solve_unknowns(point, residuals, udot)
