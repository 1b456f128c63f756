"""y(t₀ + θh) from the rows of a step: the polynomial between two points of a run as native text,
one for Runge and Kutta's method and one for Taylor's.

Every operation is rounded by itself, in every width of registers and in a page, so that all of them
give the same bits.

Source: HNW1 II.6 and II.10.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.runtime.numerics.ir_builder import Value


def dense_polynomial(theta: Value, rows: Sequence[Value], *, powers: bool = False) -> Value:
    """r₀ + θ(r₁ + θ̄(r₂ + θ(r₃ + θ̄(r₄ + θ(r₅ + θ̄(r₆ + θ r₇)))))),  θ̄ = 1 − θ; with `powers`
    Σ r_k θ^k, which is Taylor's method.
    """
    value, other = rows[-1], theta if powers else 1.0 - theta
    for k in range(len(rows) - 2, -1, -1):
        value = rows[k] + value * (other if k % 2 else theta)
    return value
