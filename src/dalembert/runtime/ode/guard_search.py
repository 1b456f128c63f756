"""g_i(t) < 0: native text that looks for functions that fall below zero in a step, and finds where one does, to the last bit.

Source: Chandrupatla, Adv. Eng. Software 28 (1997), 145–149: inverse quadratic interpolation where it is safe, bisection elsewhere.
"""

from __future__ import annotations

import functools
import math
from typing import Final

from dalembert.runtime.numerics.ir_builder import NativeFunction, NativeVariable, NumberArray, Record, Value
from dalembert.runtime.numerics.llvm_types import CODE, INTRINSICS, POINTER, REAL, WHOLE
from dalembert.runtime.ode.event_detection import FIELDS, SAMPLES, judged_samples, search_text

EXPORTS: Final = ("look_for_falls", "samples", "fall")
# two watches: functions that cost little, and all; whether those that cost much are looked at; how many do more than fall; room for
# samples of all; whether it is looked for functions that turn more often than samples can tell, and one was found
WATCHES: Final[tuple[tuple[str, str], ...]] = (
    ("cheap", POINTER),
    ("all", POINTER),
    ("costly", WHOLE),
    ("others", WHOLE),
    ("table", POINTER),
    ("may_be_rough", WHOLE),
    ("rough", WHOLE),
)
# places of a first look, and the weights of the fourth difference there, as large together as those of an even one
_FEW: Final = (0.0, 0.17, 0.43, 0.69, 1.0)
_INVERSE: Final = tuple(1.0 / math.prod(a - b for b in _FEW if b != a) for a in _FEW)
_DIFFERENCE: Final = tuple(16.0 * x / sum(map(abs, _INVERSE)) for x in _INVERSE)
# of a sine sampled eight times in a period the fourth difference is a sixth of what it varies by
_ROUGH: Final = 0.25
_SMALL_PART: Final = 1e-3
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
    parts = search_text(), _look_closely(), _look_quickly(), _look_for_falls(), _samples(), _value(), _bracketed(), _fall()
    return "\n\n".join((INTRINSICS, *parts)) + "\n"


def _look_for_falls() -> str:
    """int32 look_for_falls(t, t_new, dense, watches): 1 if something may have fallen below zero in the step."""
    f = NativeFunction("look_for_falls", CODE, REAL, REAL, POINTER, POINTER, exported=True)
    t, t_new, dense, pointer = f.parameters
    s = Record(pointer, WATCHES)
    found = f.variable(f.value(0, CODE))
    with f.when(s.others.differs(0)):
        found.value = f.call("look_closely", CODE, t, t_new, dense, s.cheap, pointer)
    with f.when(~s.others.differs(0)):
        found.value = f.call("look_quickly", CODE, t, t_new, dense, s.cheap, pointer)
    with f.when(s.costly.differs(0)):
        code = f.call("look_quickly", CODE, t, t_new, dense, s.all, pointer)
        found.value = f.emit(CODE, f"or {found.value}, {code.name}")
    f.give(found.value)
    return f.text()


def _look_quickly() -> str:
    """The same for functions that are positive when the step begins.

    They are asked for at four places first: where the least of these values and that at the begin is more than they differ by, and than
    their fourth difference, nothing comes down to zero between them; elsewhere it is looked closely. The places are not evenly spaced,
    lest something that turns just as often between two of them look as if it stood still.
    """
    f = NativeFunction("look_quickly", CODE, REAL, REAL, POINTER, POINTER, POINTER)
    t, t_new, dense, pointer, watches = f.parameters
    w, near = Record(pointer, FIELDS), f.variable(f.value(0, WHOLE))
    values, last, V = NumberArray(w.values), NumberArray(w.last), NumberArray(Record(watches, WATCHES).table)
    for k, theta in enumerate(_FEW[1:], 1):
        f.call("sample", WHOLE, pointer, dense, f.value(theta, REAL), (t_new - t) * theta + t)
        with f.loop(w.count) as i:
            V[w.count * k + i] = values[i]
    with f.loop(w.count) as i:
        V[i] = last[i]
        low, spread = _range(f, V, w.count, i, f.value(len(_FEW), WHOLE))
        rough = f.intrinsic("fabs", _weighted(f, V, w.count, i, _DIFFERENCE))
        with f.when(~(low >= spread + rough) | _is_rough(low, spread, rough)):
            near.value = f.value(1, WHOLE)
    with f.when(near.value.differs(0)):
        w.t_last = t
        w.t_earlier = t
        with f.loop(w.count) as i:
            NumberArray(w.earlier)[i] = last[i]
        f.give(f.call("look_closely", CODE, t, t_new, dense, pointer, watches))
    with f.loop(w.count) as i:
        last[i] = values[i]
    f.give(0)
    return f.text()


def _range(f: NativeFunction, V: NumberArray, count: Value, i: Value, places: Value) -> tuple[Value, Value]:
    """The least of the samples of function i, and what they differ by; what is not a number is below everything."""
    low, high = f.variable(V[i]), f.variable(V[i])
    with f.loop(places) as k:
        v = V[count * k + i]
        low.value = f.choose(v >= low.value, low.value, v)
        high.value = f.intrinsic("maxnum", high.value, v)
    return low.value, high.value - low.value


def _weighted(f: NativeFunction, V: NumberArray, count: Value, at: Value, weights: tuple[float, ...]) -> Value:
    """Σ w_k V_k"""
    total = f.value(0.0, REAL)
    for k, weight in enumerate(weights):
        total = total + V[count * k + at] * weight
    return total


def _largest_difference(f: NativeFunction, V: NumberArray, count: Value, i: Value) -> Value:
    """The largest of the fourth differences of evenly spaced samples."""
    rough = f.variable(f.value(0.0, REAL))
    with f.loop(f.value(SAMPLES - 3, WHOLE)) as k:
        here = f.intrinsic("fabs", _weighted(f, V, count, count * k + i, (1.0, -4.0, 6.0, -4.0, 1.0)))
        rough.value = f.intrinsic("maxnum", rough.value, here)
    return rough.value


def _is_rough(low: Value, spread: Value, rough: Value) -> Value:
    """Whether samples cannot tell how a function goes, of which more than a small part changes."""
    return (rough > spread * _ROUGH) & (spread > low * _SMALL_PART)


def _look_closely() -> str:
    """As `look` does, with the samples kept; `rough` is set where they cannot tell how a function goes, which a shorter step can."""
    f = NativeFunction("look_closely", CODE, REAL, REAL, POINTER, POINTER, POINTER)
    *_, pointer, watches = f.parameters
    w, s = Record(pointer, FIELDS), Record(watches, WATCHES)
    V = NumberArray(s.table)
    found = judged_samples(f, V)
    with f.loop(w.count - s.others) as j:
        i = s.others + j
        low, spread = _range(f, V, w.count, i, f.value(SAMPLES + 1, WHOLE))
        rough = _largest_difference(f, V, w.count, i)
        with f.when(s.may_be_rough.differs(0) & _is_rough(low, spread, rough)):
            s.rough = 1
            found.value = f.value(1, WHOLE)
        with f.loop(f.value(SAMPLES, WHOLE)) as k, f.when(_dips(V, w.count, k * w.count + i, rough)):
            found.value = f.value(1, WHOLE)
    f.give(found.value)
    return f.text()


def _dips(V: NumberArray, count: Value, at: Value, rough: Value) -> Value:
    """Whether the parabola through three samples, of which the middle is the least, may come down to zero.

    Not quite that: a function that is not a parabola may come lower by a part of its fourth difference.
    """
    left, middle, right = V[at], V[at + count], V[at + count + count]
    bend = left - middle * 2.0 + right
    lowest = middle - (right - left) * (right - left) / (bend * 8.0)
    return (middle <= left) & (middle <= right) & (bend > 0.0) & (lowest <= rough)


def _samples() -> str:
    """g at all places of a step, a row of the table for each; the first from which on something may fall, 0 for none."""
    f = NativeFunction("samples", WHOLE, POINTER, POINTER, REAL, REAL, POINTER, WHOLE, exported=True)
    pointer, dense, begin, length, table, first = f.parameters
    w, V = Record(pointer, FIELDS), NumberArray(table)
    with f.loop(f.value(PLACES, WHOLE)) as k:
        theta = f.value(k, REAL) * (1.0 / SAMPLES)
        f.call("sample", WHOLE, pointer, dense, theta, theta * length + begin)
        with f.loop(w.count) as i:
            V[w.count * k + i] = NumberArray(w.values)[i]
    rough = f.variable(f.value(0.0, REAL))
    with f.loop(w.count - first) as j:
        rough.value = f.intrinsic("maxnum", rough.value, _largest_difference(f, V, w.count, first + j))
    with f.loop(f.value(SAMPLES, WHOLE)) as k, f.loop(w.count - first) as j:
        before = w.count * k + first + j
        with f.when((V[before + w.count] < 0.0) | _dips(V, w.count, before, rough.value)):
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
