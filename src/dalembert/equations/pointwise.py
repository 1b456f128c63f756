"""u̇ at one point of a prime field: the equations of motion solved exactly, without a symbolic inverse."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.algebra.exact.field import PrimePoint, solve_mod


def accelerations(point: PrimePoint, residuals: Sequence[int], udot: Sequence[int]) -> list[int]:
    """u̇ from residuals(u̇) = M u̇ − f = 0 at a point of the field."""
    p = point.prime

    def at(values: Sequence[int]) -> list[int]:
        return point.on(point.tape, dict(zip(udot, values, strict=True))).values(residuals)

    n = len(udot)
    minus_f = at([0] * n)
    columns = [[(x - c) % p for x, c in zip(at([int(r == s) for r in range(n)]), minus_f, strict=True)] for s in range(n)]
    return solve_mod([list(row) for row in zip(*columns, strict=True)], [-c % p for c in minus_f], p)
