"""y(t₀ + θh) = Σ y_k θ^k in every lane: Taylor's method as in a single run, with masks instead of branches.

Source: as for one run (`dalembert.ode.taylor`), whose numbers and orders of summation are kept: what a lane computes has the bits of the
run alone.
"""

from __future__ import annotations

from dalembert.numerics import kernels
from dalembert.numerics.jet_code import CompiledJets
from dalembert.numerics.jet_sums import SumLayout, sums_text
from dalembert.numerics.llvm_types import POINTER, REAL, WHOLE
from dalembert.numerics.llvm_writer import Array, Operand, Value
from dalembert.ode import taylor
from dalembert.ode.coefficients import END_STAGE
from dalembert.ode.lanes.layout import LaneFunction, LaneLayout, LaneSeries
from dalembert.ode.lanes.step import euler_size, finish_texts, give_verdict, move, norm, scale, step_rejected, step_taken, sums
from dalembert.ode.run import Cause


def taylor_texts(layout: LaneLayout, series: LaneSeries) -> list[str]:
    """The functions of a step."""
    elementary = [kernels.lanewise(name, layout.lanes) for name in ("exp", "log")]
    raising = [text for name, jets in series.jets.items() for text in (_sums(layout, name, jets), _raise(layout, series, name))]
    order = series.order
    parts = [_evaluate(layout, series), _expand(layout, series), _first_size(layout), _predict(layout, order), _estimate(layout, order)]
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
    return native.give()


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
    return native.give()


def _expand(layout: LaneLayout, series: LaneSeries) -> str:
    """New coefficients, and h = h₀ min_k |y_k h₀^k|^(−1/k) over k = n − 1, n, with 1 for the tolerance, and what was learned."""
    native = LaneFunction(layout, "expand")
    f, expanding, y, first = native.function, native.mask("expanding"), native.row("y"), native.row("jets")

    def begin(i: Operand) -> None:
        first[i] = f.choose(expanding, y[i], first[i])

    native.each(begin)
    for name in series.jets:
        native.call(f"raise.{name}")
    least = native.wide(float("inf"))
    for k in (series.order, series.order - 1):
        size = norm(native, _coefficients(native, k)) / float(layout.functions.n)
        least = f.intrinsic("minnum", least, native.elementary("log", size) / (k * -2.0))
    reach = f.intrinsic("maxnum", least, taylor.LEAST_REACH) + native["learned"]
    h = f.intrinsic("minnum", native.elementary("exp", reach) * native["unit"], native.wide(native.job.h_max))
    native.put("h", h, expanding)
    native.put("planned", h, expanding)
    return native.give()


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
    return native.give()


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
        move(native, i, lambda carry: f.intrinsic("fmuladd", p, theta, carry))

    native.each(one)
    return native.give()


def _trial(layout: LaneLayout) -> str:
    """A step in every lane; how good it is its end tells."""
    native = LaneFunction(layout, "trial")
    native.call("predict")
    native["good"] = native["active"]
    native.call("finish")
    native.call("estimate")
    return native.give()


def _estimate(layout: LaneLayout, order: int) -> str:
    """err = |P' − h f| / (n + 1): the first term left out, as the slope at the end betrays it."""
    native = LaneFunction(layout, "estimate")
    f, h, good = native.function, native["h_try"], native.mask("good")
    y, new, slope, rate = (native.row(name) for name in ("y", "new", "stage", f"k{END_STAGE}"))

    def square(i: Operand) -> list[Value]:
        size = scale(native, f.intrinsic("maxnum", f.intrinsic("fabs", y[i]), f.intrinsic("fabs", new[i])), i)
        e = (slope[i] - h * rate[i]) / size
        return [e * e]

    mean = sums(native, square, 1)[0] / float(layout.functions.n)
    native.put("error", f.intrinsic("sqrt", mean) / (order + 1.0) * taylor.STRICT, good)
    give_verdict(native, good)
    return native.give()


def _interpolant(layout: LaneLayout, order: int) -> str:
    """r_k = y_k θ^k, with r₂ and r₃ corrected so that the end and the slope there are those of the step: no jump, no kink."""
    native = LaneFunction(layout, "interpolant")
    f, h, theta = native.function, native["h_try"], native["h_try"] / native["unit"]
    power = native.wide(1.0)
    for k in range(order + 1):
        row, coefficient = native.row(f"r{k}"), _coefficients(native, k)
        with f.loop(f.value(layout.functions.n, WHOLE)) as i:
            row[i] = coefficient[i] * power
        power = power * theta
    new, end, slope, end_rate, second, third = (native.row(name) for name in ("new", "end", "stage", "end_rate", "r2", "r3"))
    with f.loop(f.value(layout.functions.n, WHOLE)) as i:
        moved, turned = end[i] - new[i], h * end_rate[i] - slope[i]
        second[i] = second[i] + (moved * 3.0 - turned)
        third[i] = third[i] + (turned - moved * 2.0)
    return native.give()


def _change(native: LaneFunction, order: int) -> Value:
    """log(target / err) / (n + 1): by how much the step may change, as a logarithm."""
    return native.elementary("log", taylor.TARGET / native["error"]) / (order + 1.0)


def _take(layout: LaneLayout, order: int) -> str:
    """(t, y) ← (t + h, y₁) in the good lanes; what the error has taught; the coefficients at the new point, unless it is the last."""
    native = step_taken(layout)
    f, good, h = native.function, native.mask("good"), native["h_try"]
    learned = f.intrinsic("fmuladd", _change(native, order), 0.5, native["learned"])
    learned = f.intrinsic("minnum", f.intrinsic("maxnum", learned, -taylor.MOST_LEARNED), taylor.MOST_LEARNED)
    native.put("learned", learned, good & (h >= native["planned"]))
    native.put("streak", 0.0, good)
    going = good & (native["t"] < native.wide(native.job.t_end))
    native["expanding"] = native.as_number(going)
    with f.when(f.any(going)):
        native.put("unit", h, going)
        native.call("expand")
        native.put("h", f.intrinsic("minnum", native["h"], native["unit"] * taylor.LARGEST_GROWTH), going)
    return native.give()


def _reject(layout: LaneLayout, order: int) -> str:
    """h ← h · max(0.1, (target/err)^(1/(n+1))) in the active lanes that are not good; after a failure 0.3 h."""
    native, bad = step_rejected(layout)
    f, change, by_failure = native.function, _change(native, order), native["cause"].differs(float(Cause.ERROR))
    lower = f.intrinsic("maxnum", native["learned"] + change, -taylor.MOST_LEARNED)
    native.put("learned", lower, bad & ~by_failure)
    by_error = f.intrinsic("maxnum", taylor.LARGEST_SHRINKAGE, native.elementary("exp", change))
    native.put("h", native["h_try"] * f.choose(by_failure, native.wide(taylor.SHRINK_AFTER_FAILURE), by_error), bad)
    return native.give()
