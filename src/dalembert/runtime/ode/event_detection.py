"""g(q, u, t) in every step that is taken: native text that says whether a crossing may be in it.

The dense output is sampled at eight places in the step and one beyond. A change of sign is a crossing; three values of one
sign of which the middle is nearest to zero may hide two, and do if the parabola through them reaches beyond zero.
"""

from __future__ import annotations

import functools
from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, NativeFunction, NativeVariable, NumberArray, Record, Value
from dalembert.runtime.numerics.llvm_types import CODE, INTRINSICS, LANE, POINTER, REAL, WHOLE
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS

SAMPLES: Final = 8
EXPORTS: Final = ("look", "sample")

# name and kind of each field, in the order of the structure
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    # g(x, p, values, work), x = (q, u, t)
    ("g", POINTER),
    ("p", POINTER),
    ("work", POINTER),
    ("x", POINTER),
    ("values", POINTER),
    # for each event: the last sample and the one before, the side it is on, and the side it must come to (0: any; NaN: none)
    ("last", POINTER),
    ("earlier", POINTER),
    ("side", POINTER),
    ("wanted", POINTER),
    # the sides when the step began
    ("side_before", POINTER),
    ("t_last", REAL),
    ("t_earlier", REAL),
    ("count", WHOLE),
    ("n_state", WHOLE),
    ("groups", WHOLE),
    ("state_groups", WHOLE),
    # of the dense output
    ("rows", WHOLE),
)


@functools.cache
def text() -> str:
    """The module."""
    return f"{INTRINSICS}\n\n{search_text()}\n"


def search_text() -> str:
    """`sample` and `look`."""
    return f"{_sample()}\n\n{_judge()}\n\n{_look()}"


def _sample() -> str:
    """x = (y(t₀ + θh), t₀ + θh), then g(x)."""
    f = NativeFunction("sample", WHOLE, POINTER, POINTER, REAL, REAL, exported=True)
    pointer, dense, theta, t = f.parameters
    w = Record(pointer, FIELDS)
    rows, x, up = Array(dense), Array(w.x), f.value(theta, LANE)
    # more rows are those of Taylor's method, in powers of θ
    down = f.value(f.choose(w.rows.differs(DENSE_ROWS), theta, 1.0 - theta), LANE)
    with f.loop(w.state_groups) as i:
        value = f.variable(rows[w.groups * (w.rows - 1) + i])
        with f.loop(w.rows - 1) as k:
            j = w.rows - k - 2
            odd = f.emit(WHOLE, f"and {j}, 1").differs(0)
            value.value = f.intrinsic("fmuladd", value.value, f.choose(odd, down, up), rows[w.groups * j + i])
        x[i] = value.value
    NumberArray(w.x)[w.n_state] = t
    f.line(f"call void {w.g.name}({w.x}, {w.p}, {w.values}, {w.work})")
    f.give(0)
    return f.text()


def _judge() -> str:
    """Whether event i may have happened between the last sample and this one, t and v; 1 or 0.

    Beyond the end of the step (`ahead`) only the parabola is looked at, and nothing is remembered.
    """
    f = NativeFunction("judge", WHOLE, POINTER, WHOLE, REAL, WHOLE)
    pointer, i, t, ahead = f.parameters
    w = Record(pointer, FIELDS)
    v, last, earlier, side = (NumberArray(p)[i] for p in (w.values, w.last, w.earlier, w.side))
    found = f.variable(f.value(0, WHOLE))
    with f.when(NumberArray(w.wanted)[i] >= -1.0):
        _parabola(f, w, found, (earlier, last, v), t)
    with f.when(~ahead.differs(0)):
        with f.when(side * v < 0.0), f.when(NumberArray(w.wanted)[i] * v >= 0.0):
            found.value = f.value(1, WHOLE)
        new = f.choose(v > 0.0, f.value(1.0, REAL), f.choose(v < 0.0, f.value(-1.0, REAL), side))
        NumberArray(w.side)[i] = new
        NumberArray(w.earlier)[i] = last
        NumberArray(w.last)[i] = v
    f.give(found.value)
    return f.text()


def _parabola(f: NativeFunction, w: Record, found: NativeVariable, values: tuple[Value, Value, Value], t: Value) -> None:
    """The extreme b − m²/4q of the parabola through three samples, with slope m and curvature q at the middle one."""
    a, b, v = values
    size_a, size_b, size_v = (f.intrinsic("fabs", x) for x in values)
    before, after = w.t_last - w.t_earlier, t - w.t_last
    left, right = (b - a) / before, (v - b) / after
    m = (left * after + right * before) / (before + after)
    extreme = b - m * m / ((right - left) / (before + after) * 4.0)
    with f.when(a * b > 0.0), f.when(b * v > 0.0), f.when(size_b <= size_a), f.when(size_b <= size_v), f.when(extreme * b <= 0.0):
        found.value = f.value(1, WHOLE)


def _look() -> str:
    """int32 look(t, t_new, dense, watch): 1 if something may have happened in the step."""
    f = NativeFunction("look", CODE, REAL, REAL, POINTER, POINTER, exported=True)
    f.give(judged_samples(f, None).value)
    return f.text()


def judged_samples(f: NativeFunction, table: NumberArray | None) -> NativeVariable:
    """Whether something may have happened in the step, by its samples, which are kept in the rows of a table where there is one."""
    t, t_new, dense, pointer = f.parameters[:4]
    w = Record(pointer, FIELDS)
    with f.loop(w.count) as i:
        NumberArray(w.side_before)[i] = NumberArray(w.side)[i]
        if table is not None:
            table[i] = NumberArray(w.last)[i]
    found = f.variable(f.value(0, WHOLE))
    with f.loop(f.value(SAMPLES + 1, WHOLE)) as k:
        theta = f.value(k + 1, REAL) * (1.0 / SAMPLES)
        here = theta * (t_new - t) + t
        f.call("sample", WHOLE, pointer, dense, theta, here)
        ahead = f.emit(WHOLE, f"zext {k >= SAMPLES} to {WHOLE}")
        with f.loop(w.count) as i:
            if table is not None:
                table[w.count * (k + 1) + i] = NumberArray(w.values)[i]
            found.value = f.emit(WHOLE, f"or {found.value}, {f.call('judge', WHOLE, pointer, i, here, ahead).name}")
        with f.when(~ahead.differs(0)):
            w.t_earlier = w.t_last
            w.t_last = here
    return found
