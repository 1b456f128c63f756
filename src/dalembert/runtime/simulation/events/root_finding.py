"""g(t*) = 0 in a step: every crossing of every event, in the order of time, to the last bit of
the interpolating polynomial.
Keywords: root finding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.ode.event_detection import SAMPLES
from dalembert.runtime.simulation.events.event import SIGNS
from dalembert.runtime.simulation.events.event_functions import EventFunctions

if TYPE_CHECKING:
    from dalembert.runtime.ode.integration import DenseStep

    Quantity = Callable[[float], float]

_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0
_SEARCHES: Final = 40
# a part of a step that is no time at all
_NOTHING: Final = 1e-15
_MOST_ROUNDS: Final = 200


class Crossing(NamedTuple):
    """Event number `event` crosses zero at time t."""

    t: float
    event: int


def find_crossings(
    step: DenseStep,
    functions: EventFunctions,
    sides: FloatArray,
    g_at: Callable[[float], FloatArray] | None = None,
) -> list[Crossing]:
    """Those in the wanted direction; `sides` gives on which side of zero each event was when the
    step began.

    `g_at` gives all g at a time of the step, where somebody has that faster.
    """
    n = functions.values.n_in - 1

    def values_at(t: float) -> FloatArray:
        x[:n], x[n] = step.at(t)[:n], t
        found: FloatArray = functions.values.call(x, functions.p)
        return found

    x, all_at = np.empty(n + 1), g_at or values_at
    # one sample beyond either end separates an extreme inside from one outside
    times = [step.begin + k * (step.end - step.begin) / SAMPLES for k in range(-1, SAMPLES + 2)]
    times[-2] = step.end
    samples = [all_at(t).tolist() for t in times]
    found = []
    for i, e in enumerate(functions.events):
        wanted = SIGNS[e.direction]

        def g(t: float, i: int = i) -> float:
            return float(all_at(t)[i])

        values = [row[i] for row in samples]
        found += [
            Crossing(t, i)
            for t, side in _event_crossings(g, times, values, float(sides[i]))
            if wanted * side >= 0.0
        ]
    return sorted(found)


def _event_crossings(
    g: Quantity, times: list[float], values: list[float], side: float
) -> Iterator[tuple[float, float]]:
    """(t, the side come to) of every crossing of one event."""
    for k in range(2, len(times) - 1):
        a, b, v = times[k - 1], times[k], values[k]
        new = math.copysign(1.0, v) if v else side
        if side * v < 0.0:
            yield root(g, a, b, side), new
        elif side and (inside := _find_dip(g, times, values, side, k)) is not None:
            yield root(g, a, inside, side), -side
            yield root(g, inside, b, -side), side
        side = new


def _find_dip(
    g: Quantity, times: list[float], values: list[float], side: float, k: int
) -> float | None:
    """A time between two samples on one side of zero where g is on the other, if the search for
    the extreme passes one.
    """
    left, right = side * values[k - 1], side * values[k]
    before, after = side * values[k - 2], side * values[k + 1]
    # the nearest of four samples is one of the two in the middle, or there is no extreme between
    # them
    if min(left, right) > min(before, after):
        return None
    return negative_between(lambda t: side * g(t), times[k - 1], times[k])


def negative_between(f: Quantity, a: float, b: float) -> float | None:
    """A time between a and b at which f is negative, if the search for its least value by the
    golden section passes one.
    """
    inner, outer = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    f_inner, f_outer = f(inner), f(outer)
    for _ in range(_SEARCHES):
        if f_inner < 0.0:
            return inner
        if f_outer < 0.0:
            return outer
        if f_inner < f_outer:
            b, outer, f_outer = outer, inner, f_inner
            inner = b - _GOLDEN * (b - a)
            f_inner = f(inner)
        else:
            a, inner, f_inner = inner, outer, f_outer
            outer = a + _GOLDEN * (b - a)
            f_outer = f(outer)
    return None


def root(g: Quantity, a: float, b: float, side: float) -> float:
    """t with g(t) = 0 between a, where g is on `side`, and b, where it is not: the first time at
    which it is not, to the last bit.

    At a the value may be zero or rounding; then the nearest time on the right side is searched
    first.
    """
    f_a, f_b = side * g(a), side * g(b)
    shortest = max(_NOTHING * (b - a), math.ulp(a))
    while f_a <= 0.0:
        middle = a + 0.5 * (b - a)
        if b - a <= shortest:
            return a
        f_middle = side * g(middle)
        if f_middle > 0.0:
            a, f_a = middle, f_middle
        else:
            b, f_b = middle, f_middle
    return _chandrupatla(lambda t: side * g(t), (a, f_a), (b, f_b))


def _chandrupatla(f: Quantity, left: tuple[float, float], right: tuple[float, float]) -> float:
    """Inverse quadratic interpolation where it is safe, bisection elsewhere."""
    (b, f_b), (a, f_a) = left, right
    c, f_c = a, f_a
    part = 0.5
    for _ in range(_MOST_ROUNDS):
        t = a + part * (b - a)
        if t in (a, b):
            t = a + 0.5 * (b - a)
        low, high = min(a, b), max(a, b)
        if not low < t < high:
            break
        f_t = f(t)
        if f_t == 0.0:
            return t
        if (f_t > 0.0) == (f_a > 0.0):
            c, f_c = a, f_a
        else:
            c, b, f_c, f_b = b, a, f_b, f_a
        a, f_a = t, f_t
        part = _next_part((a, f_a), (b, f_b), (c, f_c))
    return a if f_a <= 0.0 else b


def _next_part(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Where between a and b to look next."""
    (t_a, f_a), (t_b, f_b), (t_c, f_c) = a, b, c
    xi, phi = (t_a - t_b) / (t_c - t_b), (f_a - f_b) / (f_c - f_b)
    part = 0.5
    if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi and f_a not in (f_b, f_c):
        part = f_a / (f_b - f_a) * f_c / (f_b - f_c) + (t_c - t_a) / (t_b - t_a) * f_a / (
            f_c - f_a
        ) * f_b / (f_c - f_b)
    # at least a rounding away from the end
    least = 2.0**-52 * max(abs(t_a), abs(t_b)) / abs(t_b - t_a)
    return min(max(part, min(least, 0.5)), 1.0 - min(least, 0.5))
