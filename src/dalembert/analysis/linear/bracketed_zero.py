"""f(x) = 0 between two points of opposite sign, by Brent's method.

Inverse quadratic interpolation where it converges, bisection elsewhere (R. P. Brent, Algorithms for
Minimization Without Derivatives, 1973, chapter 4); every step is that of SciPy's `brentq`, whose
package takes longer to load than this takes to run.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, inf
from typing import Final

from dalembert.errors import DalembertError

_MOST_STEPS: Final = 100


def bracketed_zero(f: Callable[[float], float], a: float, b: float, tolerance: float) -> float:
    """x with f(x) = 0 to tolerance (1 + |x|), from f(a) f(b) ≤ 0."""
    before, x, other = float(a), float(b), 0.0
    f_before, fx, f_other = f(a), f(b), 0.0
    if not (f_before <= 0 <= fx or fx <= 0 <= f_before):
        msg = f"the function has one sign at {a:g} and {b:g}: {f_before:g} and {fx:g}"
        raise DalembertError(msg)
    if f_before == 0:
        return before
    last = step = 0.0
    for _ in range(_MOST_STEPS):
        if f_before != 0 and fx != 0 and (f_before < 0) != (fx < 0):
            other, f_other = before, f_before
            last = step = x - before
        if abs(f_other) < abs(fx):
            before, x, other = x, other, x
            f_before, fx, f_other = fx, f_other, fx
        delta, half = (tolerance + tolerance * abs(x)) / 2, (other - x) / 2
        if fx == 0 or abs(half) < delta:
            return x
        trial = inf
        if abs(last) > delta and abs(fx) < abs(f_before):
            trial = _interpolated_step((before, x, other), (f_before, fx, f_other))
        if 2 * abs(trial) < min(abs(last), 3 * abs(half) - delta):
            last, step = step, trial
        else:
            last = step = half
        before, f_before = x, fx
        x += step if abs(step) > delta else copysign(delta, half)
        fx = f(x)
    msg = f"no zero between {a:g} and {b:g} after {_MOST_STEPS} steps of Brent's method"
    raise DalembertError(msg)


def _interpolated_step(
    points: tuple[float, float, float], values: tuple[float, float, float]
) -> float:
    """To the zero of the line through two points, or of x as a quadratic in f through three."""
    (before, x, other), (f_before, fx, f_other) = points, values
    if before == other:
        return -fx * (x - before) / (fx - f_before)
    slope_before = (f_before - fx) / (before - x)
    slope_other = (f_other - fx) / (other - x)
    return (
        -fx
        * (f_other * slope_other - f_before * slope_before)
        / (slope_other * slope_before * (f_other - f_before))
    )
