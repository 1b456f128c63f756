"""y(t₀ + θh) = Σ y_k θ^k in every lane: the formulas of a single run (`dalembert.runtime.ode.taylor`), with masks instead of branches."""

from __future__ import annotations

from dalembert.runtime.numerics import math_kernels
from dalembert.runtime.numerics.ir_builder import Array, Operand
from dalembert.runtime.numerics.llvm_types import POINTER, REAL, WHOLE
from dalembert.runtime.numerics.taylor_code import CompiledJets
from dalembert.runtime.numerics.taylor_convolution import SumLayout, sums_text
from dalembert.runtime.ode import taylor
from dalembert.runtime.ode.integrator_state import StepCause
from dalembert.runtime.ode.step_size_control import euler_size, norm
from dalembert.runtime.ode.vectorized.layout import LaneFunction, LaneLayout, LaneSeries
from dalembert.runtime.ode.vectorized.step import finish_texts, step_rejected, step_taken


def taylor_texts(layout: LaneLayout, series: LaneSeries) -> list[str]:
    """The functions of a step."""
    elementary = [math_kernels.lanewise(name, layout.lanes) for name in ("exp", "log")]
    raising = [text for name, jets in series.jets.items() for text in (_sums(layout, name, jets), _raise(layout, series, name))]
    order = series.order
    estimate = taylor.estimate_text(LaneFunction(layout, "estimate"), order)
    parts = [_evaluate(layout, series), _expand(layout, series), _first_size(layout), _predict(layout, order), estimate]
    parts += [*finish_texts(layout, "k1"), _trial(layout), _interpolant(layout, order), _take(layout, order), _reject(layout, order)]
    return [*elementary, *raising, *parts]


def _sums(layout: LaneLayout, name: str, jets: CompiledJets) -> str:
    """Each pair of series is a group of its own, as wide as the lanes."""
    L = layout.lanes
    places = tuple((f * L, g * L) for f, g in jets.places)
    return sums_text(SumLayout(L, places, jets.n_out * L, jets.next.n_out * L, (jets.n_in + 3) * L), f"{name}.")


def _coefficients(native: LaneFunction, k: Operand) -> Array:
    """y_k, with what rides along."""
    stride = native.layout.stride
    return native.behind(native.row("jets"), k * stride)


def _evaluate(layout: LaneLayout, series: LaneSeries) -> str:
    """k = f(t, y), and the values that later orders take."""
    native = LaneFunction(layout, "evaluate", POINTER, POINTER)
    f, (y, k) = native.function, (Array(pointer, layout.kind) for pointer in native.arguments)
    for name, jets in series.jets.items():
        values, first = native.row(f"values.{name}"), 0 if name == "rates" else jets.n_in + 1
        native.compiled(name, y, values)
        with f.loop(f.value(jets.n_out, WHOLE)) as i:
            k[i + first] = values[i]
    return native.done()


def _raise(layout: LaneLayout, series: LaneSeries, name: str) -> str:
    """y_k = (h/k) f_(k−1), k = 1, 2, …, in the lanes that get new coefficients, with f_k from the sums and the rules of order k."""
    native = LaneFunction(layout, f"raise.{name}")
    f, jets, unit, n = native.function, series.jets[name], native["unit"], layout.functions.n
    values, table, inputs, sums_ = (native.row(f"{what}.{name}") for what in ("values", "table", "inputs", "sums"))
    zero, work, expanding = native.behind(values, jets.n_out), native.row(f"w.{name}.next"), native.mask("expanding")
    f.line(f"call void @{name}.next.prologue({zero.pointer}, {work.pointer})")
    with f.loop(f.value(series.order, WHOLE)) as before:
        k = before + 1
        real = f.value(k, REAL)
        inverse = 1.0 / real
        last = native.behind(table, before * jets.next.n_out).pointer
        rates = Array(f.choose(before.differs(0), last, values.pointer), layout.kind)
        motion = _coefficients(native, k)
        target = motion if name == "rates" else native.behind(motion, n + 1)
        factor = unit * native.wide(inverse)
        with f.loop(f.value(jets.n_out, WHOLE)) as i:
            target[i] = f.choose(expanding, rates[i] * factor, target[i])
        with f.when(k < series.order):
            with f.loop(f.value(n, WHOLE)) as i:
                inputs[i] = motion[i]
            inputs[n] = f.choose(before.differs(0), native.wide(0.0), unit)
            inputs[n + 1], inputs[n + 2] = native.wide(real), native.wide(inverse)
            f.line(f"call void @{name}.inner({table.pointer}, {k}, {sums_.pointer})")
            f.line(f"call void @{name}.outer({table.pointer}, {k}, {sums_.pointer}, {inputs.pointer})")
            here = native.behind(table, k * jets.next.n_out)
            f.line(f"call void @{name}.next({inputs.pointer}, {zero.pointer}, {here.pointer}, {work.pointer})")
    return native.done()


def _expand(layout: LaneLayout, series: LaneSeries) -> str:
    """New coefficients, and the step that follows."""
    native = LaneFunction(layout, "expand")
    f, expanding, y, first = native.function, native.mask("expanding"), native.row("y"), native.row("jets")

    def begin(i: Operand) -> None:
        first[i] = f.choose(expanding, y[i], first[i])

    native.each(begin)
    for name in series.jets:
        native.call(f"raise.{name}")
    h = taylor.step_size(native, taylor.reach(native, series.order, lambda k: _coefficients(native, k)))
    native.put("h", h, expanding)
    native.put("planned", h, expanding)
    return native.done()


def _first_size(layout: LaneLayout) -> str:
    """The coefficients of the fresh lanes in a unit of time that is not far from their step."""
    native = LaneFunction(layout, "first_size")
    f, fresh = native.function, native.mask("fresh")
    native.put("unit", euler_size(native, norm(native, native.row("y")), norm(native, native.row("k0"))), fresh)
    native["expanding"] = native.as_number(fresh)
    with f.loop(f.value(taylor.TRIALS, WHOLE)) as trial, f.when(f.any(native.mask("expanding"))):
        native.call("expand")
        ratio = native["h"] / native["unit"]
        far = native.mask("expanding") & ~((ratio < taylor.UNIT) & (ratio > 1.0 / taylor.UNIT))
        native["expanding"] = native.as_number(far)
        with f.when(trial < taylor.TRIALS - 1):
            nearer = f.intrinsic("maxnum", f.intrinsic("minnum", ratio, taylor.FARTHEST), 1.0 / taylor.FARTHEST)
            native.put("unit", native["unit"] * nearer, far)
    return native.done()


def _predict(layout: LaneLayout, order: int) -> str:
    """P(θ) and P'(θ) at the end of the step, by Horner's scheme; new and stage."""
    native = LaneFunction(layout, "predict")
    f, slope, theta = native.function, native.row("stage"), native["h_try"] / native["unit"]
    rows = [_coefficients(native, k) for k in range(order + 1)]

    def one(i: Operand) -> None:
        p, d = rows[order][i], native.wide(0.0)
        for k in range(order - 1, 0, -1):
            d = f.intrinsic("fmuladd", d, theta, p)
            p = f.intrinsic("fmuladd", p, theta, rows[k][i])
        slope[i] = f.intrinsic("fmuladd", d, theta, p) * theta
        native.move(i, lambda carry: f.intrinsic("fmuladd", p, theta, carry))

    native.each(one)
    return native.done()


def _trial(layout: LaneLayout) -> str:
    """A step in every lane; how good it is its end tells."""
    native = LaneFunction(layout, "trial")
    native.call("predict")
    native["good"] = native["active"]
    native.call("finish")
    native.call("estimate")
    return native.done()


def _interpolant(layout: LaneLayout, order: int) -> str:
    """r_k = y_k θ^k, with r₂ and r₃ corrected."""
    native = LaneFunction(layout, "interpolant")
    f, theta = native.function, native["h_try"] / native["unit"]
    power = native.wide(1.0)
    for k in range(order + 1):
        row, coefficient = native.row(f"r{k}"), _coefficients(native, k)
        with f.loop(f.value(layout.functions.n, WHOLE)) as i:
            row[i] = coefficient[i] * power
        power = power * theta
    taylor.correct_end(native, native.row("r2"), native.row("r3"))
    return native.done()


def _take(layout: LaneLayout, order: int) -> str:
    """(t, y) ← (t + h, y₁) in the good lanes; what the error has taught; the coefficients at the new point, unless it is the last."""
    native = step_taken(layout)
    f, good, h = native.function, native.mask("good"), native["h_try"]
    # a step that was cut short teaches nothing
    native.put("learned", taylor.learned_from_step(native, order), good & (h >= native["planned"]))
    native.put("streak", 0.0, good)
    going = good & (native["t"] < native["t_end"])
    native["expanding"] = native.as_number(going)
    with f.when(f.any(going)):
        native.put("unit", h, going)
        native.call("expand")
        native.put("h", f.intrinsic("minnum", native["h"], native["unit"] * taylor.LARGEST_GROWTH), going)
    return native.done()


def _reject(layout: LaneLayout, order: int) -> str:
    """A shorter step in the active lanes that are not good."""
    native, bad = step_rejected(layout)
    learned, h = taylor.after_rejection(native, order)
    native.put("learned", learned, bad & ~native["cause"].differs(StepCause.ERROR))
    native.put("h", h, bad)
    return native.done()
