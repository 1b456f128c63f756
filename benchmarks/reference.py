"""Motions to thirty digits, from equations typed from the books and not from dalembert: what the
tools are held against.

The integrator is the extrapolated midpoint rule in flint's arithmetic; halving its step is its own
check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy
from flint import arb, ctx, fmpq
from numpy.typing import NDArray
from systems import GRAVITY

Vector = list[Any]
Rates = Callable[[Vector], Vector]

_BITS = 128
# as it is written, not as a double
_G = fmpq(*Fraction(str(GRAVITY)).as_integer_ratio())
_COLUMNS = 12


def solve(M: Sequence[Sequence[Any]], f: Sequence[Any]) -> Vector:
    """x with M x = f by elimination without exchange of rows, which a positive definite M does
    not need.
    """
    n, A, b = len(f), [list(row) for row in M], list(f)
    for k in range(n):
        for i in range(k + 1, n):
            factor = A[i][k] / A[k][k]
            for j in range(k + 1, n):
                A[i][j] = A[i][j] - factor * A[k][j]
            b[i] = b[i] - factor * b[k]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            b[i] = b[i] - A[i][j] * b[j]
        b[i] = b[i] / A[i][i]
    return b


def pendulum_accelerations(
    theta: Sequence[Any], w: Sequence[Any], g: Any, sine: Any, cosine: Any
) -> Vector:
    """Σ_j μ_max(i,j) (θ̈_j cos(θ_i − θ_j) + θ̇_j² sin(θ_i − θ_j)) + μ_i g sin θ_i = 0, masses and
    lengths 1, μ_i = n − i + 1

    Source: LL76 §5 Problem 1, for n masses.
    """
    n = len(theta)
    s, c = [sine(x) for x in theta], [cosine(x) for x in theta]
    M = [
        [
            float(n - max(i, j)) * (c[i] * c[j] + s[i] * s[j])
            if i != j
            else float(n - i) + 0 * c[i]
            for j in range(n)
        ]
        for i in range(n)
    ]
    f = []
    for i in range(n):
        terms = [
            float(n - max(i, j)) * (s[i] * c[j] - c[i] * s[j]) * w[j] * w[j]
            for j in range(n)
            if j != i
        ]
        f.append(-(float(n - i) * s[i]) * g - sum(terms[1:], terms[0]))
    return solve(M, f)


def pendulum(n: int) -> Rates:
    """(θ̇, θ̈) of n point masses on rods, angles from the vertical."""
    return lambda y: [*y[n:], *pendulum_accelerations(y[:n], y[n:], _G, arb.sin, arb.cos)]


def rolling_disk_accelerations(y: Sequence[Any], r: Any, g: Any, sine: Any, cosine: Any) -> Vector:
    """Rates of x, y, φ, θ, ψ, φ̇, θ̇, ψ̇: (4.54), (4.55) integrated once; (4.57), (4.59), (4.60)
    divided by m r²

    Source: Gre03 Ex. 4.2.
    """
    _, _, phi, theta, _, a, b, c = y
    ct, st = cosine(theta), sine(theta)
    M = [[0.25 + 1.25 * ct * ct, 1.5 * ct], [1.5 * ct, 1.5 + 0 * ct]]
    phidd, psidd = solve(M, [2.5 * a * b * st * ct + 0.5 * b * c * st, 2.5 * a * b * st])
    # 6/5 and 4/5 are no doubles: divided by 5 at the end
    thetadd = -(5 * a * a * st * ct + 6 * a * c * st + 4 * g * ct / r) / 5
    return [-r * cosine(phi) * c, -r * sine(phi) * c, a, b, c, phidd, thetadd, psidd]


def rolling_disk(y: Vector) -> Vector:
    """The disk of the gallery: r = ½, g = 9.81."""
    return rolling_disk_accelerations(y, 0.5, _G, arb.sin, arb.cos)


def motion(
    rates: Rates, start: Sequence[float], duration: float, steps: int
) -> NDArray[numpy.float64]:
    """The state at the end."""
    with ctx.workprec(_BITS):
        y = [arb(x) for x in start]
        H = arb(duration) / steps
        for _ in range(steps):
            # the radii are bounds for the worst case, and grow without end; the midpoints are the
            # numbers
            y = [x.mid() for x in _step(rates, y, H)]
        return numpy.array([float(x) for x in y])


def _step(rates: Rates, y: Vector, H: Any) -> Vector:
    """One step of order 24: midpoint rules with 2, 4, …, 24 parts, extrapolated to h → 0.

    Source: HNW1 II.9 (9.10), (9.13).
    """
    table: list[Vector] = []
    for j in range(1, _COLUMNS + 1):
        row = [_midpoint(rates, y, H, 2 * j)]
        for k in range(1, j):
            weight = 1 / ((arb(j) / (j - k)) ** 2 - 1)
            row.append(
                [a + (a - b) * weight for a, b in zip(row[-1], table[-1][k - 1], strict=True)]
            )
        table.append(row)
    last: Vector = table[-1][-1]
    return last


def _midpoint(rates: Rates, y: Vector, H: Any, parts: int) -> Vector:
    """Gragg's rule without smoothing, which an even number of parts allows."""
    h = H / parts
    before, now = y, [a + h * b for a, b in zip(y, rates(y), strict=True)]
    for _ in range(parts - 1):
        before, now = now, [a + 2 * h * b for a, b in zip(before, rates(now), strict=True)]
    return now
