"""g_i(t) < 0: native text that samples a step, and finds where one of its functions falls below zero, to the last bit.

Source: Chandrupatla, Adv. Eng. Software 28 (1997), 145–149: inverse quadratic interpolation where it is safe, bisection elsewhere.
"""

from __future__ import annotations

import functools
from typing import Final

from dalembert.numerics.llvm_types import INTRINSICS, POINTER, REAL, WHOLE
from dalembert.numerics.llvm_writer import NativeFunction, NativeVariable, NumberArray, Record, Value
from dalembert.ode.event_search import FIELDS, SAMPLES, sample_text

EXPORTS: Final = ("samples", "fall")
# places at which a step is sampled, its begin, its end and one beyond among them
PLACES: Final = SAMPLES + 2
_MOST_ROUNDS: Final = 200
_ROUNDING: Final = 2.0**-52
# a part of the interval that is no time at all
_NOTHING: Final = 1e-15
# watch, dense output, begin and length of the step, number of the function
_STEP: Final = (POINTER, POINTER, REAL, REAL, WHOLE)


@functools.cache
def text() -> str:
    """The module."""
    return f"{INTRINSICS}\n\n{sample_text()}\n\n{_samples()}\n\n{_value()}\n\n{_bracketed()}\n\n{_fall()}\n"


def _samples() -> str:
    """g at all places of a step, a row of the table for each; the first from which on something may fall, 0 for none.

    Three samples of which the middle is the least may hide two crossings.
    """
    f = NativeFunction("samples", WHOLE, POINTER, POINTER, REAL, REAL, POINTER, WHOLE, exported=True)
    pointer, dense, begin, length, table, first = f.parameters
    w, V = Record(pointer, FIELDS), NumberArray(table)
    with f.loop(f.value(PLACES, WHOLE)) as k:
        theta = f.value(k, REAL) * (1.0 / SAMPLES)
        f.call("sample", WHOLE, pointer, dense, theta, theta * length + begin)
        with f.loop(w.count) as i:
            V[w.count * k + i] = NumberArray(w.values)[i]
    with f.loop(f.value(SAMPLES, WHOLE)) as k, f.loop(w.count - first) as j:
        before = w.count * k + first + j
        left, middle, right = V[before], V[before + w.count], V[before + w.count + w.count]
        least = (middle <= left) & (middle <= right) & (left + right > middle + middle)
        with f.when((middle < 0.0) | least):
            f.give(k + 1)
    f.give(0)
    return f.text()


def _value() -> str:
    """g_i(t)"""
    f = NativeFunction("value", REAL, *_STEP, REAL)
    pointer, dense, begin, length, i, t = f.parameters
    f.call("sample", WHOLE, pointer, dense, (t - begin) / length, t)
    f.give(NumberArray(Record(pointer, FIELDS).values)[i])
    return f.text()


def _fall() -> str:
    """The first time between a and b at which g_i is not positive.

    At a the value may be zero or rounding; then the nearest time at which it is positive is looked for first.
    """
    f = NativeFunction("fall", REAL, *_STEP, REAL, REAL, exported=True)
    *step, first, last = f.parameters
    a, b = f.variable(first), f.variable(last)
    g_a, g_b = (f.variable(f.call("value", REAL, *step, t)) for t in (first, last))
    shortest = f.intrinsic("maxnum", (last - first) * _NOTHING, f.intrinsic("fabs", first) * _ROUNDING)
    with f.forever():
        with f.when(g_a.value > 0.0):
            f.give(f.call("bracketed", REAL, *step, a.value, g_a.value, b.value, g_b.value))
        with f.when(b.value - a.value <= shortest):
            f.give(a.value)
        middle = a.value + (b.value - a.value) * 0.5
        g = f.call("value", REAL, *step, middle)
        positive = g > 0.0
        with f.when(positive):
            a.value, g_a.value = middle, g
        with f.when(~positive):
            b.value, g_b.value = middle, g
    return f.text()


def _bracketed() -> str:
    """Where g_i falls below zero between the first time, at which it is positive, and the second."""
    f = NativeFunction("bracketed", REAL, *_STEP, *[REAL] * 4)
    *step, first, g_first, last, g_last = f.parameters
    # a is the latest time, b lies on the other side of zero, c is the one before
    b, g_b, a, g_a, c, g_c = (f.variable(x) for x in (first, g_first, last, g_last, last, g_last))
    part = f.variable(f.value(0.5, REAL))
    with f.loop(f.value(_MOST_ROUNDS, WHOLE)):
        t = a.value + part.value * (b.value - a.value)
        t = f.choose(t.differs(a.value) & t.differs(b.value), t, a.value + (b.value - a.value) * 0.5)
        inside = (t > f.intrinsic("minnum", a.value, b.value)) & (t < f.intrinsic("maxnum", a.value, b.value))
        with f.when(~inside):
            f.give(f.choose(g_a.value <= 0.0, a.value, b.value))
        g = f.call("value", REAL, *step, t)
        with f.when(~g.differs(0.0)):
            f.give(t)
        up, was_up = g > 0.0, g_a.value > 0.0
        same = (up & was_up) | (~up & ~was_up)
        for x, y, latest in ((b, c, a), (g_b, g_c, g_a)):
            y.value, x.value = f.choose(same, latest.value, x.value), f.choose(same, x.value, latest.value)
        a.value, g_a.value = t, g
        part.value = _next_part(f, (a, b, c), (g_a, g_b, g_c))
    f.give(f.choose(g_a.value <= 0.0, a.value, b.value))
    return f.text()


def _next_part(f: NativeFunction, times: tuple[NativeVariable, ...], values: tuple[NativeVariable, ...]) -> Value:
    """Where between a and b to look next, at least a rounding away from either."""
    (a, b, c), (g_a, g_b, g_c) = ([x.value for x in xs] for xs in (times, values))
    xi, phi = (a - b) / (c - b), (g_a - g_b) / (g_c - g_b)
    safe = (phi * phi < xi) & ((1.0 - phi) * (1.0 - phi) < 1.0 - xi) & g_a.differs(g_b) & g_a.differs(g_c)
    inverse = g_a / (g_b - g_a) * g_c / (g_b - g_c) + (c - a) / (b - a) * g_a / (g_c - g_a) * g_b / (g_c - g_b)
    size = f.intrinsic("maxnum", f.intrinsic("fabs", a), f.intrinsic("fabs", b))
    least = f.intrinsic("minnum", size * _ROUNDING / f.intrinsic("fabs", b - a), 0.5)
    return f.intrinsic("minnum", f.intrinsic("maxnum", f.choose(safe, inverse, 0.5), least), 1.0 - least)
