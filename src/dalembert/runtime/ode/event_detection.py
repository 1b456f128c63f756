"""g(q, u, t) in every step that is taken: native text that says whether a crossing may be in it.
Keywords: event detection.

The dense output is sampled at eight places in the step and one beyond. A change of sign is a
crossing; three values of one sign of which the middle is nearest to zero may hide two, and do if
the parabola through them reaches beyond zero.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    ScalarArray,
    StackVariable,
    StructView,
    Value,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, GROUP_SIZE, INT32, INT64, POINTER
from dalembert.runtime.ode.dense_output_ir import interpolate_ir

SAMPLES: Final = 8

# name and kind of each field, in the order of the structure
EVENT_FIELDS: Final[tuple[tuple[str, str], ...]] = (
    # g(x, p, values, work), x = (q, u, t)
    ("g", POINTER),
    ("p", POINTER),
    ("work", POINTER),
    ("x", POINTER),
    ("values", POINTER),
    # for each event: the last sample and the one before, the side it is on, and the side it must
    # come to (0: any; NaN: none)
    ("last", POINTER),
    ("earlier", POINTER),
    ("side", POINTER),
    ("wanted", POINTER),
    # the sides when the step began
    ("side_before", POINTER),
    ("t_last", DOUBLE),
    ("t_earlier", DOUBLE),
    ("count", INT64),
    ("n_state", INT64),
    ("groups", INT64),
    ("state_groups", INT64),
    # of the dense output: its rows, and whether they are coefficients of powers of θ
    ("rows", INT64),
    ("powers", INT64),
    # of each guard what rounding may make of a zero; no address: guards are taken as they are
    ("noise", POINTER),
)
# a relative change of the state that shows how large the terms of a guard are, and the part of them
# that is rounding
_CHANGE: Final = 2.0**-26
_NOISE: Final = 2.0**-22


def detection_ir() -> str:
    """`sample`, `look` and `estimate_noise`."""
    return f"{interpolate_ir()}\n\n{_sample()}\n\n{_crossing_test()}\n\n{_detect()}\n\n{noise_ir()}"


def _sample() -> str:
    """x = (y(t₀ + θh), t₀ + θh), then g(x)."""
    f = FunctionBuilder("sample", INT64, POINTER, POINTER, DOUBLE, DOUBLE, exported=True)
    pointer, dense, theta, t = f.parameters
    w = StructView(pointer, EVENT_FIELDS)
    size = w.state_groups * GROUP_SIZE
    f.call("interpolate", INT64, dense, w.groups * GROUP_SIZE, w.rows, w.powers, size, theta, w.x)
    ScalarArray(w.x)[w.n_state] = t
    f.line(f"call void {w.g.name}({w.x}, {w.p}, {w.values}, {w.work})")
    values, noise = ScalarArray(w.values), ScalarArray(w.noise)
    with f.if_then(w.noise.not_equal(0)), f.loop(w.count) as i:
        values[i] = values[i] + noise[i]
    f.ret(0)
    return f.text()


def noise_ir() -> str:
    """`estimate_noise`: what rounding may make of guards at the state x, which is changed by small
    parts that differ from number to number.
    """
    f = FunctionBuilder("estimate_noise", INT64, POINTER, exported=True)
    w = StructView(f.parameters[0], EVENT_FIELDS)
    x, values, noise = (ScalarArray(p) for p in (w.x, w.values, w.noise))
    with f.if_then(~w.noise.not_equal(0)):
        f.ret(0)
    f.line(f"call void {w.g.name}({w.x}, {w.p}, {w.noise}, {w.work})")
    with f.loop(w.n_state) as i:
        part = f.emit(INT64, f"and {i * 40503}, 65535")
        x[i] = x[i] * (1.0 + (f.value(part, DOUBLE) * 2.0**-16 - 0.5) * _CHANGE)
    f.line(f"call void {w.g.name}({w.x}, {w.p}, {w.values}, {w.work})")
    with f.loop(w.count) as i:
        change = f.intrinsic("fabs", values[i] - noise[i])
        noise[i] = f.select(change >= 0.0, change * _NOISE, 0.0)
    f.ret(0)
    return f.text()


def _crossing_test() -> str:
    """Whether event i may have happened between the last sample and this one, t and v; 1 or 0.

    Beyond the end of the step (`ahead`) only the parabola is searched, and nothing is stored.
    """
    f = FunctionBuilder("judge", INT64, POINTER, INT64, DOUBLE, INT64)
    pointer, i, t, ahead = f.parameters
    w = StructView(pointer, EVENT_FIELDS)
    v, last, earlier, side = (ScalarArray(p)[i] for p in (w.values, w.last, w.earlier, w.side))
    may_cross = f.variable(f.value(0, INT64))
    with f.if_then(ScalarArray(w.wanted)[i] >= -1.0):
        _hidden_crossing_test(f, w, may_cross, (earlier, last, v), t)
    with f.if_then(~ahead.not_equal(0)):
        with f.if_then(side * v < 0.0), f.if_then(ScalarArray(w.wanted)[i] * v >= 0.0):
            may_cross.value = f.value(1, INT64)
        new = f.select(
            v > 0.0, f.value(1.0, DOUBLE), f.select(v < 0.0, f.value(-1.0, DOUBLE), side)
        )
        ScalarArray(w.side)[i] = new
        ScalarArray(w.earlier)[i] = last
        ScalarArray(w.last)[i] = v
    f.ret(may_cross.value)
    return f.text()


def _hidden_crossing_test(
    f: FunctionBuilder,
    w: StructView,
    may_cross: StackVariable,
    values: tuple[Value, Value, Value],
    t: Value,
) -> None:
    """The extreme b − m²/4q of the parabola through three samples, with slope m and curvature q
    at the middle one.
    """
    a, b, v = values
    size_a, size_b, size_v = (f.intrinsic("fabs", x) for x in values)
    before, after = w.t_last - w.t_earlier, t - w.t_last
    left, right = (b - a) / before, (v - b) / after
    m = (left * after + right * before) / (before + after)
    extreme = b - m * m / ((right - left) / (before + after) * 4.0)
    with (
        f.if_then(a * b > 0.0),
        f.if_then(b * v > 0.0),
        f.if_then(size_b <= size_a),
        f.if_then(size_b <= size_v),
        f.if_then(extreme * b <= 0.0),
    ):
        may_cross.value = f.value(1, INT64)


def _detect() -> str:
    """int32 look(t, t_new, dense, watch): 1 if something may have happened in the step."""
    f = FunctionBuilder("look", INT32, DOUBLE, DOUBLE, POINTER, POINTER, exported=True)
    f.ret(test_samples(f, None).value)
    return f.text()


def test_samples(f: FunctionBuilder, table: ScalarArray | None) -> StackVariable:
    """Whether something may have happened in the step, by its samples, which are kept in the
    rows of a table where there is one.
    """
    t, t_new, dense, pointer = f.parameters[:4]
    w = StructView(pointer, EVENT_FIELDS)
    with f.loop(w.count) as i:
        ScalarArray(w.side_before)[i] = ScalarArray(w.side)[i]
        if table is not None:
            table[i] = ScalarArray(w.last)[i]
    may_cross = f.variable(f.value(0, INT64))
    with f.loop(f.value(SAMPLES + 1, INT64)) as k:
        theta = f.value(k + 1, DOUBLE) * (1.0 / SAMPLES)
        here = theta * (t_new - t) + t
        f.call("sample", INT64, pointer, dense, theta, here)
        ahead = f.emit(INT64, f"zext {k >= SAMPLES} to {INT64}")
        with f.loop(w.count) as i:
            if table is not None:
                table[w.count * (k + 1) + i] = ScalarArray(w.values)[i]
            may_cross.value = f.emit(
                INT64,
                f"or {may_cross.value}, {f.call('judge', INT64, pointer, i, here, ahead).name}",
            )
        with f.if_then(~ahead.not_equal(0)):
            w.t_earlier = w.t_last
            w.t_last = here
    return may_cross
