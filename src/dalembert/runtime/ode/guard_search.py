"""g_i(t) = 0: native text that finds where events cross zero in a step, and where guards fall
below it, to the last bit.
Keywords: root finding, zero crossing.

Source: Chandrupatla, Adv. Eng. Software 28 (1997), 145–149: inverse quadratic interpolation where
it is safe, bisection elsewhere.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    ScalarArray,
    StackVariable,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import (
    DOUBLE,
    DOUBLE4,
    INT32,
    INT64,
    INTRINSICS,
    POINTER,
)
from dalembert.runtime.ode.dense_output_ir import dense_polynomial
from dalembert.runtime.ode.event_detection import (
    EVENT_FIELDS,
    SAMPLES,
    detection_ir,
    test_samples,
)
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS

EXPORTS: Final = (
    "look",
    "look_for_falls",
    "crossings",
    "first_falls",
    "sample",
    "estimate_noise",
)
# two watches: functions that cost little, and all; whether those that cost much are evaluated; how
# many do more than fall; room for samples of all, and for states at the places of a first look;
# whether to search for functions that turn more often than samples resolve, and whether there is
# one
GUARD_FIELDS: Final[tuple[tuple[str, str], ...]] = (
    ("cheap", POINTER),
    ("all", POINTER),
    ("costly", INT64),
    ("others", INT64),
    ("table", POINTER),
    ("states", POINTER),
    ("may_be_rough", INT64),
    ("rough", INT64),
)
# places of a first look, and the weights of the fourth difference there, as large together as those
# of an even one
_COARSE_POINTS: Final = (0.0, 0.17, 0.43, 0.69, 1.0)
N_COARSE_STATES: Final = len(_COARSE_POINTS) - 1
_INVERSE: Final = tuple(
    1.0 / math.prod(a - b for b in _COARSE_POINTS if b != a) for a in _COARSE_POINTS
)
_DIFFERENCE: Final = tuple(16.0 * x / sum(map(abs, _INVERSE)) for x in _INVERSE)
# of a sine sampled eight times in a period the fourth difference is a sixth of what it varies by
_UNDERSAMPLED: Final = 0.25
_SMALL_PART: Final = 1e-3
# differences of samples that are rounding, as a multiple of that of one
_ROUNDINGS: Final = 16.0
# places at which a step is sampled, its begin, its end and one beyond among them
N_SAMPLE_POINTS: Final = SAMPLES + 2
_MOST_ROUNDS: Final = 200
_ROUNDING: Final = 2.0**-52
# a part of the interval that is no time at all
_NOTHING: Final = 1e-15
# watch, dense output, begin and length of the step, number of the function, and the side of zero on
# which it is taken as positive
_STEP: Final = (POINTER, POINTER, DOUBLE, DOUBLE, INT64, DOUBLE)
# places of an interval in which a function may dip below zero and come back, and rounds of the
# search for its least value
_CLOSE: Final = 64
_SEARCHES: Final = 40
_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0
# a place close to the begin of a step, where a function that is barely positive falls at once
_AT_BEGIN: Final = 1.0 / 128.0
# places at which events are sampled: one before the step, those in it and one beyond
N_EVENT_POINTS: Final = SAMPLES + 3
# crossings of one event in a step, at most two between samples
MOST_CROSSINGS: Final = 2 * SAMPLES


@functools.cache
def module_ir() -> str:
    """The module."""
    parts = (
        detection_ir(),
        _fine_check(),
        _coarse_samples(),
        _coarse_check(),
        _find_negative(),
        _sample_step(),
        _value(),
        _chandrupatla(),
        _locate_zero(),
        _dip(),
        _first_falls(),
        _add_crossing(),
        _crossings(),
    )
    return "\n\n".join((INTRINSICS, *parts)) + "\n"


def _find_negative() -> str:
    """int32 look_for_falls(t, t_new, dense, watches): 1 if something may have fallen below zero
    in the step.
    """
    f = FunctionBuilder("look_for_falls", INT32, DOUBLE, DOUBLE, POINTER, POINTER, exported=True)
    t, t_new, dense, pointer = f.parameters
    s = StructView(pointer, GUARD_FIELDS)
    may_be_negative = f.variable(f.value(0, INT32))
    with f.if_then(s.others.not_equal(0)):
        may_be_negative.value = f.call("look_closely", INT32, t, t_new, dense, s.cheap, pointer)
    with f.if_then(~s.others.not_equal(0)):
        may_be_negative.value = f.call("look_quickly", INT32, t, t_new, dense, s.cheap, pointer)
    with f.if_then(s.costly.not_equal(0)):
        code = f.call("look_quickly", INT32, t, t_new, dense, s.all, pointer)
        may_be_negative.value = f.emit(INT32, f"or {may_be_negative.value}, {code.name}")
    f.ret(may_be_negative.value)
    return f.text()


def _coarse_samples() -> str:
    """The guards of a step at the places of a first look, in rows of the table; every row of the
    dense output is read once for all of them.
    """
    f = FunctionBuilder("sample_coarsely", INT64, DOUBLE, DOUBLE, POINTER, POINTER, POINTER)
    t, t_new, dense, pointer, watches = f.parameters
    w, s = StructView(pointer, EVENT_FIELDS), StructView(watches, GUARD_FIELDS)
    # a state and its time fill one group more than the state alone
    rows, states, size = VectorArray(dense), VectorArray(s.states), w.state_groups + 1
    with f.loop(w.state_groups) as i:
        r = [rows[w.groups * j + i] for j in range(DENSE_ROWS)]
        for k, theta in enumerate(_COARSE_POINTS[1:]):
            states[size * k + i] = dense_polynomial(f.value(f.value(theta, DOUBLE), DOUBLE4), r)
    given = w.g, w.p, w.work, w.n_state, w.count
    for k, theta in enumerate(_COARSE_POINTS[1:]):
        x = f.emit(POINTER, f"getelementptr {DOUBLE4}, {s.states}, {size * k}")
        _evaluate_at_state(s.table, given, k + 1, x, (t_new - t) * theta + t)
    f.ret(0)
    return f.text()


def _evaluate_at_state(table: Value, given: tuple[Value, ...], k: int, x: Value, t: Value) -> None:
    """The guards at a state, whose time is put behind it, in row k of the table."""
    (g, p, work, n, count), f = given, x.function
    ScalarArray(x)[n] = t
    V = f.emit(POINTER, f"getelementptr {DOUBLE}, {table}, {count * k}")
    f.line(f"call void {g.name}({x}, {p}, {V}, {work})")


def _coarse_check() -> str:
    """The same for functions that are positive when the step begins.

    They are evaluated at four places first: where the least of these values and that at the begin
    is more than they differ by, and than their fourth difference, nothing comes down to zero
    between them; elsewhere it is looked closely. The places are not evenly spaced, so that
    something that turns just as often between two of them does not look constant.
    """
    f = FunctionBuilder("look_quickly", INT32, DOUBLE, DOUBLE, POINTER, POINTER, POINTER)
    t, t_new, dense, pointer, watches = f.parameters
    w, near = StructView(pointer, EVENT_FIELDS), f.variable(f.value(0, INT64))
    last, noise = ScalarArray(w.last), ScalarArray(w.noise)
    f.call("sample_coarsely", INT64, t, t_new, dense, pointer, watches)
    table, count = StructView(watches, GUARD_FIELDS).table, w.count
    at = [
        f.emit(POINTER, f"getelementptr {DOUBLE}, {table}, {count * k}")
        for k in range(1, len(_COARSE_POINTS))
    ]
    V = [ScalarArray(row) for row in at]
    with f.loop(count) as i:
        samples = [last[i], *(row[i] + noise[i] for row in V)]
        V[-1][i] = samples[-1]
        with f.if_then(_may_come_to_zero(f, samples, noise[i])):
            near.value = f.value(1, INT64)
    with f.if_then(near.value.not_equal(0)):
        _reset_earlier_samples(f, w, t)
        f.ret(f.call("look_closely", INT32, t, t_new, dense, pointer, watches))
    with f.loop(count) as i:
        last[i] = V[-1][i]
    f.ret(0)
    return f.text()


def _may_come_to_zero(f: FunctionBuilder, samples: Sequence[Value], noise: Value) -> Value:
    """Whether a function may come down to zero between its coarse samples, or turns more often than
    they resolve.
    """
    low, spread = _min_and_range(f, samples)
    rough = f.intrinsic("fabs", _weighted_sum(f, samples, _DIFFERENCE))
    return ~(low >= spread + rough) | _is_undersampled((low, spread, rough), noise)


def _reset_earlier_samples(f: FunctionBuilder, w: StructView, t: Value) -> None:
    """No sample before the begin of the step."""
    w.t_last = t
    w.t_earlier = t
    with f.loop(w.count) as i:
        ScalarArray(w.earlier)[i] = ScalarArray(w.last)[i]


def _min_and_range(f: FunctionBuilder, samples: Sequence[Value]) -> tuple[Value, Value]:
    """The least of the samples of a function, and what they differ by; what is not a number is
    below everything.
    """
    low = high = samples[0]
    for v in samples[1:]:
        low, high = f.select(v >= low, low, v), f.intrinsic("maxnum", high, v)
    return low, high - low


def _weighted_sum(
    f: FunctionBuilder, samples: Sequence[Value], weights: tuple[float, ...]
) -> Value:
    """Σ w_k V_k"""
    total = f.value(0.0, DOUBLE)
    for v, weight in zip(samples, weights, strict=True):
        total = total + v * weight
    return total


def _max_fourth_difference(f: FunctionBuilder, V: ScalarArray, count: Value, i: Value) -> Value:
    """The largest of the fourth differences of evenly spaced samples."""
    rough = f.variable(f.value(0.0, DOUBLE))
    with f.loop(f.value(SAMPLES - 3, INT64)) as k:
        samples = [V[count * (k + d) + i] for d in range(5)]
        here = f.intrinsic("fabs", _weighted_sum(f, samples, (1.0, -4.0, 6.0, -4.0, 1.0)))
        rough.value = f.intrinsic("maxnum", rough.value, here)
    return rough.value


def _is_undersampled(samples: tuple[Value, Value, Value], rounding: Value) -> Value:
    """Whether samples do not resolve a function, of which more than a small part, and than
    rounding, changes.
    """
    low, spread, rough = samples
    changes = (spread > low * _SMALL_PART) & (spread > rounding * _ROUNDINGS)
    return (rough > spread * _UNDERSAMPLED) & changes


def _fine_check() -> str:
    """As `look` does, with the samples kept; `rough` is set where they do not resolve a function,
    which a shorter step does.
    """
    f = FunctionBuilder("look_closely", INT32, DOUBLE, DOUBLE, POINTER, POINTER, POINTER)
    *_, pointer, watches = f.parameters
    w, s = StructView(pointer, EVENT_FIELDS), StructView(watches, GUARD_FIELDS)
    V = ScalarArray(s.table)
    may_be_negative = test_samples(f, V)
    with f.loop(w.count - s.others) as j:
        i = s.others + j
        low, spread = _min_and_range(f, [V[w.count * k + i] for k in range(SAMPLES + 1)])
        rough = _max_fourth_difference(f, V, w.count, i)
        undersampled = _is_undersampled((low, spread, rough), ScalarArray(w.noise)[i])
        with f.if_then(s.may_be_rough.not_equal(0) & undersampled):
            s.rough = 1
            may_be_negative.value = f.value(1, INT64)
        with (
            f.loop(f.value(SAMPLES, INT64)) as k,
            f.if_then(_may_dip_below_zero(V, w.count, k * w.count + i, rough)),
        ):
            may_be_negative.value = f.value(1, INT64)
    t, t_new, dense = f.parameters[:3]
    f.call("sample", INT64, pointer, dense, f.value(_AT_BEGIN, DOUBLE), (t_new - t) * _AT_BEGIN + t)
    with f.loop(w.count - s.others) as j:
        i = s.others + j
        with f.if_then(_may_dip_at_begin(V[i], ScalarArray(w.values)[i], V[w.count + i])):
            may_be_negative.value = f.value(1, INT64)
    f.ret(may_be_negative.value)
    return f.text()


def _may_dip_at_begin(first: Value, close: Value, second: Value) -> Value:
    """Whether a function that falls from the begin of a step on comes back before the first sample,
    and loses half of its value until then: a parabola through both and a place close to the begin.
    """
    slope, chord = (close - first) / _AT_BEGIN, (second - first) * float(SAMPLES)
    bend = (chord - slope) / (1.0 / SAMPLES - _AT_BEGIN)
    m = slope - bend * _AT_BEGIN
    lowest = first - m * m / (bend * 4.0)
    falls = (first > 0.0) & (second > 0.0) & (m < 0.0) & (bend > 0.0)
    return falls & (m + bend * (2.0 / SAMPLES) > 0.0) & (lowest <= first * 0.5)


def _may_dip_below_zero(V: ScalarArray, count: Value, at: Value, rough: Value) -> Value:
    """Whether the parabola through three samples, of which the middle is the least, may come down
    to zero.

    Not quite that: a function that is not a parabola may come lower by a part of its fourth
    difference.
    """
    left, middle, right = V[at], V[at + count], V[at + count + count]
    bend = left - middle * 2.0 + right
    lowest = middle - (right - left) * (right - left) / (bend * 8.0)
    return (middle <= left) & (middle <= right) & (bend > 0.0) & (lowest <= rough)


def _sample_step() -> str:
    """g at all places of a step, and close to its begin, a row of the table for each; the first
    from which on something may fall, 0 for none.
    """
    f = FunctionBuilder("samples", INT64, POINTER, POINTER, DOUBLE, DOUBLE, POINTER, INT64)
    pointer, dense, begin, length, table, first = f.parameters
    w, V = StructView(pointer, EVENT_FIELDS), ScalarArray(table)
    with f.loop(f.value(N_SAMPLE_POINTS, INT64)) as k:
        theta = f.value(k, DOUBLE) * (1.0 / SAMPLES)
        f.call("sample", INT64, pointer, dense, theta, theta * length + begin)
        with f.loop(w.count) as i:
            V[w.count * k + i] = ScalarArray(w.values)[i]
    f.call("sample", INT64, pointer, dense, f.value(_AT_BEGIN, DOUBLE), length * _AT_BEGIN + begin)
    with f.loop(w.count) as i:
        V[w.count * N_SAMPLE_POINTS + i] = ScalarArray(w.values)[i]
    with f.loop(w.count - first) as j:
        i = first + j
        with f.if_then(_dips_at_begin(V, w.count, i)):
            f.ret(1)
    _return_first_fall(f, w, V, first)
    f.ret(0)
    return f.text()


def _return_first_fall(f: FunctionBuilder, w: StructView, V: ScalarArray, first: Value) -> None:
    """The function ends with the number of the first sample that is negative, or after which one
    may be.
    """
    rough = f.variable(f.value(0.0, DOUBLE))
    with f.loop(w.count - first) as j:
        rough.value = f.intrinsic(
            "maxnum", rough.value, _max_fourth_difference(f, V, w.count, first + j)
        )
    with f.loop(f.value(SAMPLES, INT64)) as k, f.loop(w.count - first) as j:
        before = w.count * k + first + j
        with f.if_then(
            (V[before + w.count] < 0.0) | _may_dip_below_zero(V, w.count, before, rough.value)
        ):
            f.ret(k + 1)


def _value() -> str:
    """± g_i(t)"""
    f = FunctionBuilder("value", DOUBLE, *_STEP, DOUBLE)
    pointer, dense, begin, length, i, side, t = f.parameters
    f.call("sample", INT64, pointer, dense, (t - begin) / length, t)
    f.ret(ScalarArray(StructView(pointer, EVENT_FIELDS).values)[i] * side)
    return f.text()


def _locate_zero() -> str:
    """The first time between a and b at which ± g_i is not positive.

    At a the value may be zero or rounding; then the nearest time at which it is positive is
    searched first.
    """
    f = FunctionBuilder("root", DOUBLE, *_STEP, DOUBLE, DOUBLE)
    *step, first, last = f.parameters
    a, b = f.variable(first), f.variable(last)
    g_a, g_b = (f.variable(f.call("value", DOUBLE, *step, t)) for t in (first, last))
    shortest = f.intrinsic(
        "maxnum", (last - first) * _NOTHING, f.intrinsic("fabs", first) * _ROUNDING
    )
    with f.loop_forever():
        with f.if_then(g_a.value > 0.0):
            f.ret(f.call("bracketed", DOUBLE, *step, a.value, g_a.value, b.value, g_b.value))
        with f.if_then(b.value - a.value <= shortest):
            f.ret(a.value)
        middle = a.value + (b.value - a.value) * 0.5
        g = f.call("value", DOUBLE, *step, middle)
        positive = g > 0.0
        with f.if_then(positive):
            a.value, g_a.value = middle, g
        with f.if_then(~positive):
            b.value, g_b.value = middle, g
    return f.text()


def _chandrupatla() -> str:
    """Where ± g_i falls below zero between the first time, at which it is positive, and the
    second.
    """
    f = FunctionBuilder("bracketed", DOUBLE, *_STEP, *[DOUBLE] * 4)
    *step, first, g_first, last, g_last = f.parameters
    # a is the latest time, b lies on the other side of zero, c is the one before
    b, g_b, a, g_a, c, g_c = (f.variable(x) for x in (first, g_first, last, g_last, last, g_last))
    part = f.variable(f.value(0.5, DOUBLE))
    with f.loop(f.value(_MOST_ROUNDS, INT64)):
        t = a.value + part.value * (b.value - a.value)
        t = f.select(
            t.not_equal(a.value) & t.not_equal(b.value), t, a.value + (b.value - a.value) * 0.5
        )
        inside = (t > f.intrinsic("minnum", a.value, b.value)) & (
            t < f.intrinsic("maxnum", a.value, b.value)
        )
        with f.if_then(~inside):
            f.ret(f.select(g_a.value <= 0.0, a.value, b.value))
        g = f.call("value", DOUBLE, *step, t)
        with f.if_then(~g.not_equal(0.0)):
            f.ret(t)
        _shrink_bracket(f, (a, b, c), (g_a, g_b, g_c), g)
        a.value, g_a.value = t, g
        part.value = _next_fraction(f, (a, b, c), (g_a, g_b, g_c))
    f.ret(f.select(g_a.value <= 0.0, a.value, b.value))
    return f.text()


def _shrink_bracket(
    f: FunctionBuilder,
    times: tuple[StackVariable, ...],
    values: tuple[StackVariable, ...],
    g: Value,
) -> None:
    """b and c for a new value g: of the two times before, the one on the other side of zero stays
    in b.
    """
    up, was_up = g > 0.0, values[0].value > 0.0
    same = (up & was_up) | (~up & ~was_up)
    for latest, x, y in (times, values):
        y.value, x.value = (
            f.select(same, latest.value, x.value),
            f.select(same, x.value, latest.value),
        )


def _next_fraction(
    f: FunctionBuilder, times: tuple[StackVariable, ...], values: tuple[StackVariable, ...]
) -> Value:
    """Where between a and b to look next, at least a rounding away from either."""
    (a, b, c), (g_a, g_b, g_c) = ([x.value for x in xs] for xs in (times, values))
    xi, phi = (a - b) / (c - b), (g_a - g_b) / (g_c - g_b)
    safe = (
        (phi * phi < xi)
        & ((1.0 - phi) * (1.0 - phi) < 1.0 - xi)
        & g_a.not_equal(g_b)
        & g_a.not_equal(g_c)
    )
    inverse = g_a / (g_b - g_a) * g_c / (g_b - g_c) + (c - a) / (b - a) * g_a / (
        g_c - g_a
    ) * g_b / (g_c - g_b)
    size = f.intrinsic("maxnum", f.intrinsic("fabs", a), f.intrinsic("fabs", b))
    least = f.intrinsic("minnum", size * _ROUNDING / f.intrinsic("fabs", b - a), 0.5)
    return f.intrinsic(
        "minnum", f.intrinsic("maxnum", f.select(safe, inverse, 0.5), least), 1.0 - least
    )


def _dip() -> str:
    """A time between a and b at which ± g_i is negative, by samples close to one another and the
    golden section around the least of them; NaN for none.
    """
    f = FunctionBuilder("dip", DOUBLE, *_STEP, DOUBLE, DOUBLE)
    *step, first, last = f.parameters
    apart = (last - first) / float(_CLOSE - 1)
    least, place = f.variable(f.value(math.inf, DOUBLE)), f.variable(first)
    with f.loop(f.value(_CLOSE, INT64)) as k:
        t = f.value(k, DOUBLE) * apart + first
        g = f.call("value", DOUBLE, *step, t)
        with f.if_then(g < 0.0):
            f.ret(t)
        with f.if_then(g < least.value):
            least.value, place.value = g, t
    a = f.variable(f.intrinsic("maxnum", first, place.value - apart))
    b = f.variable(f.intrinsic("minnum", last, place.value + apart))
    inner, outer = (
        f.variable(b.value - (b.value - a.value) * _GOLDEN),
        f.variable(a.value + (b.value - a.value) * _GOLDEN),
    )
    low, high = (f.variable(f.call("value", DOUBLE, *step, t.value)) for t in (inner, outer))
    with f.loop(f.value(_SEARCHES, INT64)):
        for here, value in ((inner, low), (outer, high)):
            with f.if_then(value.value < 0.0):
                f.ret(here.value)
        left = low.value < high.value
        with f.if_then(left):
            b.value, outer.value, high.value = outer.value, inner.value, low.value
            inner.value = b.value - (b.value - a.value) * _GOLDEN
            low.value = f.call("value", DOUBLE, *step, inner.value)
        with f.if_then(~left):
            a.value, inner.value, low.value = inner.value, outer.value, high.value
            outer.value = a.value + (b.value - a.value) * _GOLDEN
            high.value = f.call("value", DOUBLE, *step, outer.value)
    f.ret(math.nan)
    return f.text()


def _sample_time(f: FunctionBuilder, begin: Value, end: Value, k: Value) -> Value:
    """The time of sample k of a step."""
    inside = begin + f.value(k, DOUBLE) * (end - begin) / float(SAMPLES)
    return f.select(k.not_equal(SAMPLES), inside, end)


def _times_around(
    f: FunctionBuilder, begin: Value, end: Value, k: Value
) -> tuple[Value, Value, Value]:
    """The times of the samples before k, k and after it."""
    before, here = _sample_time(f, begin, end, k - 1), _sample_time(f, begin, end, k + 0)
    return before, here, _sample_time(f, begin, end, k + 1)


class _FallList:
    """Guards that fall in a step, as native code collects them: their times and numbers."""

    def __init__(
        self, f: FunctionBuilder, step: tuple[Value, ...], times: Value, numbers: Value
    ) -> None:
        self.f, self.step, self.times = f, step, ScalarArray(times)
        self.numbers = VectorArray(numbers, INT64)
        self.count, self.side = f.variable(f.value(0, INT64)), f.value(1.0, DOUBLE)

    def add(self, i: Value, t: Value) -> None:
        """One more."""
        self.times[self.count.value] = t
        self.numbers[self.count.value] = i
        self.count.value = self.count.value + 1

    def add_root(self, i: Value, first: Value, last: Value) -> None:
        """Where guard i, negative at the last time, falls."""
        self.add(i, self.f.call("root", DOUBLE, *self.step, i, self.side, first, last))

    def add_dip(self, i: Value, first: Value, last: Value) -> None:
        """Where guard i falls, if it dips below zero between two times."""
        below = self.f.call("dip", DOUBLE, *self.step, i, self.side, first, last)
        with self.f.if_then(~below.not_equal(below)):
            self.add_root(i, first, below)

    def return_if_any(self) -> None:
        """The function ends where there is one."""
        with self.f.if_then(self.count.value > 0):
            self.f.ret(self.count.value)


def _first_falls() -> str:
    """The guards from number `first` on that fall below zero between the first two samples
    between which one does: their times and numbers, and how many.
    """
    f = FunctionBuilder(
        "first_falls", INT64, POINTER, POINTER, DOUBLE, DOUBLE, *[POINTER] * 3, INT64, exported=True
    )
    watch, dense, begin, end, table, *into, first = f.parameters
    length, V, count = end - begin, ScalarArray(table), StructView(watch, EVENT_FIELDS).count
    falls = _FallList(f, (watch, dense, begin, length), *into)
    from_here = f.call("samples", INT64, watch, dense, begin, length, table, first)
    with f.if_then(~from_here.not_equal(0)):
        f.ret(0)
    with f.loop(f.value(SAMPLES + 1, INT64) - from_here) as j:
        k = from_here + j
        before, here, after = _times_around(f, begin, end, k)
        with f.loop(count - first) as m, f.if_then(V[k * count + first + m] < 0.0):
            falls.add_root(first + m, before, here)
        with f.if_then(~k.not_equal(1)), f.loop(count - first) as m:
            i = first + m
            with f.if_then(_dips_at_begin(V, count, i)):
                falls.add_dip(i, before, here)
        falls.return_if_any()
        with f.loop(count - first) as m:
            i = first + m
            with f.if_then(_may_dip_around(f, V, count, k, i)):
                falls.add_dip(i, before, after)
        falls.return_if_any()
    f.ret(0)
    return f.text()


def _dips_at_begin(V: ScalarArray, count: Value, i: Value) -> Value:
    """`_may_dip_at_begin` of guard i by its samples, which are kept in rows of a table."""
    return _may_dip_at_begin(V[i], V[count * N_SAMPLE_POINTS + i], V[count + i])


def _may_dip_around(f: FunctionBuilder, V: ScalarArray, count: Value, k: Value, i: Value) -> Value:
    """Whether guard i, positive at the samples before and after sample k, may dip below zero."""
    at = (k - 1) * count + i
    rough = _max_fourth_difference(f, V, count, i)
    positive = (V[at] > 0.0) & (V[at + count + count] > 0.0)
    return positive & _may_dip_below_zero(V, count, at, rough)


def _add_crossing() -> str:
    """One more crossing, if it leads to a side that is wanted; the number of all."""
    f = FunctionBuilder(
        "add_crossing", INT64, POINTER, INT64, DOUBLE, DOUBLE, POINTER, POINTER, INT64
    )
    watch, i, t, side, times, numbers, count = f.parameters
    wanted = ScalarArray(StructView(watch, EVENT_FIELDS).wanted)[i]
    with f.if_then(~(wanted * side >= 0.0)):
        f.ret(count)
    ScalarArray(times)[count] = t
    VectorArray(numbers, INT64)[count] = i
    f.ret(count + 1)
    return f.text()


class _CrossingList:
    """Crossings of events in a step, as native code collects them: their times and numbers."""

    def __init__(
        self, f: FunctionBuilder, step: tuple[Value, ...], times: Value, numbers: Value
    ) -> None:
        self.f, self.step, self.into = f, step, (times, numbers)
        self.count = f.variable(f.value(0, INT64))

    def add(self, i: Value, side: Value, first: Value, last: Value, to: Value) -> None:
        """Where event i, on a side of zero at the first time, leaves it, if it may come to the
        other.
        """
        t = self.f.call("root", DOUBLE, *self.step, i, side, first, last)
        self.count.value = self.f.call(
            "add_crossing", INT64, self.step[0], i, t, to, *self.into, self.count.value
        )

    def add_pair(self, i: Value, side: Value, first: Value, last: Value) -> None:
        """The two crossings of an event that leaves its side and comes back between two times."""
        inside = self.f.call("dip", DOUBLE, *self.step, i, side, first, last)
        with self.f.if_then(~inside.not_equal(inside)):
            self.add(i, side, first, inside, 0.0 - side)
            self.add(i, 0.0 - side, inside, last, side)


def _add_crossings(
    found: _CrossingList, i: Value, samples: Sequence[Value], now: Value, times: tuple[Value, Value]
) -> Value:
    """Crossings of event i between two samples, the middle ones of four; the side after them."""
    f, v = found.f, samples[2]
    new = f.select(v > 0.0, 1.0, f.select(v < 0.0, f.value(-1.0, DOUBLE), now))
    crosses = now * v < 0.0
    with f.if_then(crosses):
        found.add(i, now, *times, new)
    nearest = _is_nearest(f, samples, now)
    with f.if_then(~crosses & now.not_equal(0.0) & nearest):
        found.add_pair(i, now, *times)
    return new


def _crossings() -> str:
    """Every crossing of the first `events` of a watch in a step, event by event: times and
    numbers, and how many. `sides` gives on which side of zero each was when the step began.
    """
    f = FunctionBuilder(
        "crossings",
        INT64,
        *(POINTER, POINTER, DOUBLE, DOUBLE),
        *[POINTER] * 4,
        INT64,
        exported=True,
    )
    watch, dense, begin, end, table, sides, *into, events = f.parameters
    length, V, count = end - begin, ScalarArray(table), StructView(watch, EVENT_FIELDS).count
    found = _CrossingList(f, (watch, dense, begin, length), *into)
    _sample_around(f, V, count, length)
    with f.loop(events) as i:
        side = f.variable(ScalarArray(sides)[i])
        with f.loop(f.value(SAMPLES, INT64)) as j:
            a, b = (_sample_time(f, begin, end, j + d) for d in (0, 1))
            samples = [V[(j + d) * count + i] for d in range(4)]
            side.value = _add_crossings(found, i, samples, side.value, (a, b))
    f.ret(found.count.value)
    return f.text()


def _sample_around(f: FunctionBuilder, V: ScalarArray, count: Value, length: Value) -> None:
    """The events at all samples of a step, in rows of the table; one sample beyond either end
    separates an extreme inside from one outside.
    """
    watch, dense, begin, end = f.parameters[:4]
    with f.loop(f.value(N_EVENT_POINTS, INT64)) as k:
        t = _sample_time(f, begin, end, k - 1)
        f.call("sample", INT64, watch, dense, (t - begin) / length, t)
        with f.loop(count) as i:
            V[k * count + i] = ScalarArray(StructView(watch, EVENT_FIELDS).values)[i]


def _is_nearest(f: FunctionBuilder, samples: Sequence[Value], side: Value) -> Value:
    """Whether of four samples one of the middle two is nearest to zero."""
    before, left, v, after = samples
    return f.intrinsic("minnum", side * left, side * v) <= f.intrinsic(
        "minnum", side * before, side * after
    )
