"""y(t₀ + θh) = Σ y_k θ^k in every lane: the formulas of a single run
(`dalembert.runtime.ode.taylor`), with masks instead of branches.
"""

from __future__ import annotations

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics import math_kernels
from dalembert.runtime.numerics.ir_builder import Operand, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER
from dalembert.runtime.numerics.taylor_code import CompiledTaylor
from dalembert.runtime.numerics.taylor_convolution import ConvolutionLayout, convolution_ir
from dalembert.runtime.ode import taylor
from dalembert.runtime.ode.integrator_state import StepCause
from dalembert.runtime.ode.step_size_control import euler_step_size, squared_error_norm
from dalembert.runtime.ode.vectorized.layout import LaneLayout, LaneSeries, LaneStepBuilder
from dalembert.runtime.ode.vectorized.step import begin_accept, begin_reject, finish_texts


def taylor_texts(layout: LaneLayout, series: LaneSeries) -> list[str]:
    """The functions of a step."""
    elementary = [math_kernels.per_lane_ir(name, layout.lanes) for name in ("exp", "log")]
    raising = [
        text
        for name, jets in series.jets.items()
        for text in (_sums(layout, name, jets), _raise(layout, series, name))
    ]
    order = series.order
    estimate = taylor.estimate_text(LaneStepBuilder(layout, "estimate"), order)
    parts = [
        _evaluate(layout, series),
        _expand(layout, series),
        _first_size(layout),
        _predict(layout, order),
        estimate,
    ]
    parts += [
        *finish_texts(layout, "k1"),
        _trial(layout),
        _interpolant(layout, order),
        _take(layout, order),
        _reject(layout, order),
    ]
    return [*elementary, *raising, *parts]


def _sums(layout: LaneLayout, name: str, jets: CompiledTaylor) -> str:
    """Each pair of series is a group of its own, as wide as the lanes."""
    L = layout.lanes
    places = tuple((f * L, g * L) for f, g in jets.places)
    return convolution_ir(
        ConvolutionLayout(L, places, jets.n_out * L, jets.next.n_out * L, (jets.n_in + 3) * L),
        f"{name}.",
    )


def _coefficients(native: LaneStepBuilder, k: Operand) -> VectorArray:
    """y_k, with the quadratures."""
    stride = native.layout.stride
    return native.array_after(native.row("jets"), k * stride)


def _evaluate(layout: LaneLayout, series: LaneSeries) -> str:
    """k = f(t, y), and the values that later orders take."""
    native = LaneStepBuilder(layout, "evaluate", POINTER, POINTER)
    f, (y, k) = native.function, (VectorArray(pointer, layout.kind) for pointer in native.arguments)
    for name, jets in series.jets.items():
        values, first = native.row(f"values.{name}"), 0 if name == "rates" else jets.n_in + 1
        native.call_compiled(name, y, values)
        with f.loop(f.value(jets.n_out, INT64)) as i:
            k[i + first] = values[i]
    return native.finish()


@dataclass(frozen=True)
class _SeriesRows:
    """The numbers that the functions of one system of series read and write in all lanes.

    values    order 0: the rates
    zero      what later orders take of order 0; it follows the rates
    table     rates and series, a row for each order
    inputs    of the order that comes next
    sums      of products of series
    work      memory of the rules
    """

    name: str
    values: VectorArray
    zero: VectorArray
    table: VectorArray
    inputs: VectorArray
    sums: VectorArray
    work: VectorArray
    # numbers in a row of the table
    width: int

    @classmethod
    def of(cls, native: LaneStepBuilder, name: str, jets: CompiledTaylor) -> _SeriesRows:
        """Those of the lanes of a function."""
        values, table, inputs, sums = (
            native.row(f"{part}.{name}") for part in ("values", "table", "inputs", "sums")
        )
        zero, work = native.array_after(values, jets.n_out), native.row(f"w.{name}.next")
        return cls(name, values, zero, table, inputs, sums, work, jets.next.n_out)


def _raise(layout: LaneLayout, series: LaneSeries, name: str) -> str:
    """y_k = (h/k) f_(k−1), k = 1, 2, …, in the lanes that get new coefficients, with f_k from
    the sums and the rules of order k.
    """
    native = LaneStepBuilder(layout, f"raise.{name}")
    f, jets, unit, n = native.function, series.jets[name], native["unit"], layout.functions.n
    rows, expanding = _SeriesRows.of(native, name, jets), native.mask("expanding")
    f.line(f"call void @{name}.next.prologue({rows.zero.pointer}, {rows.work.pointer})")
    with f.loop(f.value(series.order, INT64)) as before:
        k = before + 1
        real = f.value(k, DOUBLE)
        inverse = 1.0 / real
        rates = _last_rates(native, before, rows)
        motion = _coefficients(native, k)
        target = motion if name == "rates" else native.array_after(motion, n + 1)
        _masked_product(expanding, target, rates, unit * native.broadcast(inverse), jets.n_out)
        with f.if_then(k < series.order):
            inputs = rows.inputs
            with f.loop(f.value(n, INT64)) as i:
                inputs[i] = motion[i]
            inputs[n] = f.select(before.not_equal(0), native.broadcast(0.0), unit)
            inputs[n + 1], inputs[n + 2] = native.broadcast(real), native.broadcast(inverse)
            _next_rates(native, k, rows)
    return native.finish()


def _last_rates(native: LaneStepBuilder, before: Value, rows: _SeriesRows) -> VectorArray:
    """The coefficients of the order before: those of order 0, or a row of the table."""
    last = native.array_after(rows.table, before * rows.width).pointer
    rates = native.function.select(before.not_equal(0), last, rows.values.pointer)
    return VectorArray(rates, native.layout.kind)


def _masked_product(
    mask: Value, target: VectorArray, rates: VectorArray, factor: Value, count: int
) -> None:
    """Rates times a factor, in the lanes of the mask."""
    f = mask.function
    with f.loop(f.value(count, INT64)) as i:
        target[i] = f.select(mask, rates[i] * factor, target[i])


def _next_rates(native: LaneStepBuilder, k: Value, rows: _SeriesRows) -> None:
    """f_k in row k of the table: the sums of order k from the rows before it, then the rules."""
    f, name = native.function, rows.name
    table, sums, inputs = rows.table.pointer, rows.sums.pointer, rows.inputs.pointer
    f.line(f"call void @{name}.inner({table}, {k}, {sums})")
    f.line(f"call void @{name}.outer({table}, {k}, {sums}, {inputs})")
    here = native.array_after(rows.table, k * rows.width)
    given = rows.inputs, rows.zero, here, rows.work
    f.line(f"call void @{name}.next({', '.join(str(a.pointer) for a in given)})")


def _expand(layout: LaneLayout, series: LaneSeries) -> str:
    """New coefficients, and the step that follows."""
    native = LaneStepBuilder(layout, "expand")
    f, expanding, y, first = (
        native.function,
        native.mask("expanding"),
        native.row("y"),
        native.row("jets"),
    )

    def begin(i: Operand) -> None:
        first[i] = f.select(expanding, y[i], first[i])

    native.for_each_component(begin)
    for name in series.jets:
        native.call(f"raise.{name}")
    h = taylor.step_size(
        native,
        taylor.log_step_from_coefficients(native, series.order, lambda k: _coefficients(native, k)),
    )
    native.masked_store("h", h, expanding)
    native.masked_store("planned", h, expanding)
    return native.finish()


def _first_size(layout: LaneLayout) -> str:
    """The coefficients of the fresh lanes in a unit of time that is not far from their step."""
    native = LaneStepBuilder(layout, "first_size")
    f, fresh = native.function, native.mask("fresh")
    native.masked_store(
        "unit",
        euler_step_size(
            native,
            squared_error_norm(native, native.row("y")),
            squared_error_norm(native, native.row("k0")),
        ),
        fresh,
    )
    native["expanding"] = native.as_number(fresh)
    with (
        f.loop(f.value(taylor.TRIALS, INT64)) as trial,
        f.if_then(f.any_lane(native.mask("expanding"))),
    ):
        native.call("expand")
        ratio = native["h"] / native["unit"]
        far = native.mask("expanding") & ~((ratio < taylor.UNIT) & (ratio > 1.0 / taylor.UNIT))
        native["expanding"] = native.as_number(far)
        with f.if_then(trial < taylor.TRIALS - 1):
            nearer = f.intrinsic(
                "maxnum",
                f.intrinsic("minnum", ratio, taylor.MAX_TIME_SCALE),
                1.0 / taylor.MAX_TIME_SCALE,
            )
            native.masked_store("unit", native["unit"] * nearer, far)
    return native.finish()


def _predict(layout: LaneLayout, order: int) -> str:
    """P(θ) and P'(θ) at the end of the step, by Horner's scheme; new and stage."""
    native = LaneStepBuilder(layout, "predict")
    f, slope, theta = native.function, native.row("stage"), native["h_try"] / native["unit"]
    rows = [_coefficients(native, k) for k in range(order + 1)]

    def one(i: Operand) -> None:
        p, d = rows[order][i], native.broadcast(0.0)
        for k in range(order - 1, 0, -1):
            d = f.intrinsic("fmuladd", d, theta, p)
            p = f.intrinsic("fmuladd", p, theta, rows[k][i])
        slope[i] = f.intrinsic("fmuladd", d, theta, p) * theta
        native.add_compensated(i, lambda carry: f.intrinsic("fmuladd", p, theta, carry))

    native.for_each_component(one)
    return native.finish()


def _trial(layout: LaneLayout) -> str:
    """A step in every lane; its error is estimated at its end."""
    native = LaneStepBuilder(layout, "trial")
    native.call("predict")
    native["good"] = native["active"]
    native.call("finish")
    native.call("estimate")
    return native.finish()


def _interpolant(layout: LaneLayout, order: int) -> str:
    """r_k = y_k θ^k, with r₂ and r₃ corrected."""
    native = LaneStepBuilder(layout, "interpolant")
    f, theta = native.function, native["h_try"] / native["unit"]
    power = native.broadcast(1.0)
    for k in range(order + 1):
        row, coefficient = native.row(f"r{k}"), _coefficients(native, k)
        with f.loop(f.value(layout.functions.n, INT64)) as i:
            row[i] = coefficient[i] * power
        power = power * theta
    taylor.match_end_state(native, native.row("r2"), native.row("r3"))
    return native.finish()


def _take(layout: LaneLayout, order: int) -> str:
    """(t, y) ← (t + h, y₁) in the good lanes; what the error has taught; the coefficients at the
    new point, unless it is the last.
    """
    native = begin_accept(layout)
    f, good, h = native.function, native.mask("good"), native["h_try"]
    # a step that was cut short teaches nothing
    native.masked_store(
        "learned", taylor.updated_step_bias(native, order), good & (h >= native["planned"])
    )
    native.masked_store("streak", 0.0, good)
    going = good & (native["t"] < native["t_end"])
    native["expanding"] = native.as_number(going)
    with f.if_then(f.any_lane(going)):
        native.masked_store("unit", h, going)
        native.call("expand")
        native.masked_store(
            "h", f.intrinsic("minnum", native["h"], native["unit"] * taylor.LARGEST_GROWTH), going
        )
    return native.finish()


def _reject(layout: LaneLayout, order: int) -> str:
    """A shorter step in the active lanes that are not good."""
    native, bad = begin_reject(layout)
    learned, h = taylor.rejected_step_size(native, order)
    native.masked_store("learned", learned, bad & ~native["cause"].not_equal(StepCause.ERROR))
    native.masked_store("h", h, bad)
    return native.finish()
