"""max g, min g, ∫ g dt, the time at which g crosses zero, y at wanted times: what is kept of a step
before it is taken.

Quantities are sampled at eight places of every step, on its dense output. A greatest or least value
is taken where the parabola through three neighbours has its top; a crossing is found between two
neighbours of different sign by halving to the last bit, with the arithmetic in which `Solution.at`
and events of a single run evaluate the polynomial.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import ScalarArray, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER, constant
from dalembert.runtime.ode.dense_output_ir import dense_polynomial
from dalembert.runtime.ode.event_detection import SAMPLES
from dalembert.runtime.ode.vectorized.layout import (
    Functional,
    FunctionalKind,
    LaneLayout,
    LaneStepBuilder,
)

# ∫ from 0 to 1 by values in nine equidistant places (closed Newton–Cotes rule), exact for
# polynomials of degree 9
WEIGHTS: Final = tuple(w / 28350 for w in (989, 5888, -928, 10496, -4540, 10496, -928, 5888, 989))
_HALVINGS: Final = 64
# how far before its beginning the polynomial of a step is trusted, relative to the step
_BEFORE: Final = 0.25
_NAN: Final = float("nan")


def functionals_ir(layout: LaneLayout) -> list[str]:
    """The functions that look at a step."""
    parts = [_write_outputs(layout)]
    functions = layout.functions
    if functions.functionals:
        table = ", ".join(f"{DOUBLE} {constant(w, DOUBLE)}" for w in WEIGHTS)
        parts.append(f"@weights = internal constant [{len(WEIGHTS)} x {DOUBLE}] [{table}]")
        crossings = [
            j
            for j, each in enumerate(functions.functionals)
            if each.kind is FunctionalKind.CROSSING
        ]
        parts += [_locate(layout, j) for j in crossings] + [
            _add_sample(layout),
            _sample_step(layout),
        ]
    if functions.energy is not None:
        parts.append(_track_energy_error(layout))
    return parts


def _polynomial(native: LaneStepBuilder, target: str, theta: Value) -> None:
    """r₀ + θ(r₁ + θ̄(r₂ + …)) in every lane, every operation rounded, as NumPy does it."""
    f, x, rows = (
        native.function,
        native.row(target),
        [native.row(f"r{j}") for j in range(native.layout.functions.dense_form.rows)],
    )
    with f.loop(f.value(native.layout.functions.n, INT64)) as i:
        x[i] = dense_polynomial(
            theta, [row[i] for row in rows], powers=native.layout.functions.dense_form.powers
        )


def _write_outputs(layout: LaneLayout) -> str:
    """The states at the wanted times of this step, lane by lane; at the end of the step exactly
    its end.
    """
    native = LaneStepBuilder(layout, "deliver", INT64)
    f, (lane,), n = native.function, native.arguments, layout.functions.n
    place, member = native.lane_scalars("place", INT64), native.lane_scalars("member", INT64)[lane]
    t, t_new = native.lane_scalars("t")[lane], native.lane_scalars("t_new")[lane]
    lanes, form = layout.lanes, layout.functions.dense_form
    with f.loop_forever():
        here = place[lane]
        with f.if_then(here >= native.job.n_times):
            native.lane_scalars("next_at")[lane] = float("inf")
            f.ret(0)
        wanted = ScalarArray(native.job.times)[here]
        with f.if_then(wanted > t_new):
            native.lane_scalars("next_at")[lane] = wanted
            f.ret(0)
        theta = (wanted - t) / (t_new - t)
        out = native.table("samples", member * native.job.n_times + here, n)
        with f.loop(f.value(n, INT64)) as i:
            k = i * lanes + lane
            rows = [native.lane_scalars(f"r{j}")[k] for j in range(form.rows)]
            inside = dense_polynomial(theta, rows, powers=form.powers)
            out[i] = f.select(wanted < t_new, inside, native.lane_scalars("end")[k])
        place[lane] = here + 1
    return f.text()


def _add_sample(layout: LaneLayout) -> str:
    """One more sample, x with its time behind it: every functional hears of it."""
    native = LaneStepBuilder(layout, "look", POINTER, DOUBLE)
    functions, (pointer, weight) = layout.functions, native.arguments
    assert functions.quantities is not None
    x = VectorArray(pointer, layout.kind)
    g, last, earlier = native.row("g"), native.row("g_last"), native.row("g_earlier")
    native.call_compiled("quantities", x, g)
    now = x[functions.n]
    for j, each in enumerate(functions.functionals):
        samples = earlier[each.quantity], last[each.quantity], g[each.quantity]
        if each.kind is FunctionalKind.MEAN:
            total = native.row("functionals")
            total[j] = native.function.select(
                native.mask("good"), total[j] + native["h_try"] * weight * samples[-1], total[j]
            )
        elif each.kind is FunctionalKind.CROSSING:
            _update_crossing(native, j, each, samples[-1], now)
        else:
            _extreme(native, j, each, samples, now)
    good = native.mask("good")
    for i in range(functions.quantities.n_out):
        earlier[i] = native.function.select(good, last[i], earlier[i])
        last[i] = native.function.select(good, g[i], last[i])
    native.masked_store("t_earlier", native["t_last"], good)
    native.masked_store("t_last", now, good)
    return native.finish()


def _extreme(
    native: LaneStepBuilder,
    j: int,
    each: Functional,
    samples: tuple[Value, Value, Value],
    now: Value,
) -> None:
    """The sample, or g where the parabola through three has its top: at −m/2q from the middle
    one, with slope m and curvature 2q there.
    """
    f, best, good, (a, b, v) = (
        native.function,
        native.row("functionals"),
        native.mask("good"),
        samples,
    )
    upwards = each.kind is FunctionalKind.GREATEST

    def improve(value: Value, where: Value) -> None:
        better = value > best[j] if upwards else value < best[j]
        best[j] = f.select(where & better, value, best[j])

    improve(v, good)
    before, after = native["t_last"] - native["t_earlier"], now - native["t_last"]
    left, right = (b - a) / before, (v - b) / after
    m, q = (left * after + right * before) / (before + after), (right - left) / (before + after)
    top = b - m * m / (q * 4.0)
    peak = (
        good & (b >= a) & (b >= v) & (top > best[j])
        if upwards
        else good & (b <= a) & (b <= v) & (top < best[j])
    )
    with f.if_then(f.any_lane(peak)):
        place = native["t_last"] - m / (q * 2.0)
        # the polynomial of this step, which a top just before its beginning still follows
        theta = (f.select(peak, place, native["t"]) - native["t"]) / f.select(
            peak, native["t_new"] - native["t"], native.broadcast(1.0)
        )
        x, g = native.row("other_x"), native.row("other_g")
        _polynomial(native, "other_x", theta)
        x[native.layout.functions.n] = place
        native.call_compiled("quantities", x, g)
        improve(f.select(theta >= -_BEFORE, g[each.quantity], top), peak)


def _update_crossing(
    native: LaneStepBuilder, j: int, each: Functional, v: Value, now: Value
) -> None:
    """The first change of sign in the wanted direction."""
    f, times, sides = native.function, native.row("functionals"), native.row("sides")
    good, side = native.mask("good"), sides[j]
    crossed = good & times[j].not_equal(times[j]) & (side * v < 0.0) & (v * each.direction >= 0.0)
    native["crossed"] = native.as_number(crossed)
    with f.if_then(f.any_lane(crossed)):
        native["zero"] = now
        native.call(f"locate.{j}")
        times[j] = f.select(native.mask("crossed"), native["zero"], times[j])
    new = f.select(v > 0.0, native.broadcast(1.0), f.select(v < 0.0, native.broadcast(-1.0), side))
    sides[j] = f.select(good, new, side)


def _locate(layout: LaneLayout, j: int) -> str:
    """zero ← the first time between the last sample and `zero` at which g is no longer on its
    side, by halving.
    """
    native = LaneStepBuilder(layout, f"locate.{j}")
    f, each, n = native.function, layout.functions.functionals[j], layout.functions.n
    low, high, side = (
        f.variable(native["t_last"]),
        f.variable(native["zero"]),
        native.row("sides")[j],
    )
    x, g, t, length = (
        native.row("other_x"),
        native.row("other_g"),
        native["t"],
        native["t_new"] - native["t"],
    )
    with f.loop(f.value(_HALVINGS, INT64)):
        middle = low.value + (high.value - low.value) * 0.5
        _polynomial(native, "other_x", (middle - t) / length)
        x[n] = middle
        native.call_compiled("quantities", x, g)
        before = side * g[each.quantity] > 0.0
        low.value = f.select(before, middle, low.value)
        high.value = f.select(before, high.value, middle)
    native["zero"] = high.value
    return native.finish()


def _sample_step(layout: LaneLayout) -> str:
    """Eight samples of the step, the last its end."""
    native = LaneStepBuilder(layout, "watch")
    f, functions = native.function, layout.functions
    total, last = native.row("functionals"), native.row("g_last")
    first = f.value(WEIGHTS[0], DOUBLE)
    for j, each in enumerate(functions.functionals):
        if each.kind is FunctionalKind.MEAN:
            total[j] = f.select(
                native.mask("good"),
                total[j] + native["h_try"] * first * last[each.quantity],
                total[j],
            )
    x, end = native.row("x"), native.row("end")
    with f.loop(f.value(SAMPLES - 1, INT64)) as k:
        theta = native.broadcast(f.value(k + 1, DOUBLE) * (1.0 / SAMPLES))
        _polynomial(native, "x", theta)
        x[functions.n] = theta * (native["t_new"] - native["t"]) + native["t"]
        where = f.emit(POINTER, f"getelementptr {DOUBLE}, ptr @weights, {k + 1}")
        native.call("look", x.pointer, f.emit(DOUBLE, f"load {DOUBLE}, {where}, align 8"))
    end[functions.n] = native["t_new"]
    native.call("look", end.pointer, f.value(WEIGHTS[-1], DOUBLE))
    return native.finish()


def _track_energy_error(layout: LaneLayout) -> str:
    """max |E − E₀| and max (K₂ + |𝒰 − 𝒰₀| + |Z|) over the ends of steps, E = K₂ + 𝒰 + Z; where a
    lane is fresh, E₀ and 𝒰₀.
    """
    native = LaneStepBuilder(layout, "account", POINTER)
    f, x, functions = (
        native.function,
        VectorArray(native.arguments[0], layout.kind),
        layout.functions,
    )
    energies, fresh = native.row("results"), native.mask("fresh")
    native.call_compiled("energy", x, energies)
    K2, V = energies[0], energies[1]
    Z = x[functions.n + 1] if functions.quadrature is not None else native.broadcast(0.0)
    E = K2 + V + Z
    for name, value in (("E_start", E), ("V_start", V), ("drift", 0.0), ("scale", 0.0)):
        native.masked_store(name, value, fresh)
    counted = native.mask("good") | fresh
    size = K2 + f.intrinsic("fabs", V - native["V_start"]) + f.intrinsic("fabs", Z)
    for name, value in (("drift", f.intrinsic("fabs", E - native["E_start"])), ("scale", size)):
        # not the greater of two where one is not a number
        native.masked_store(name, value, counted & ~(value <= native[name]))
    return native.finish()


def initialize_functionals(native: LaneStepBuilder, y: VectorArray) -> None:
    """The first sample of the fresh lanes."""
    f, functions, fresh = native.function, native.layout.functions, native.mask("fresh")
    if functions.quantities is None:
        return
    g, best, sides = native.row("g"), native.row("functionals"), native.row("sides")
    native.call_compiled("quantities", y, g)
    for i in range(functions.quantities.n_out):
        for name in ("g_last", "g_earlier"):
            row = native.row(name)
            row[i] = f.select(fresh, g[i], row[i])
    for name in ("t_last", "t_earlier"):
        native.masked_store(name, native["t"], fresh)
    for j, each in enumerate(functions.functionals):
        v = g[each.quantity]
        start = {
            FunctionalKind.MEAN: native.broadcast(0.0),
            FunctionalKind.CROSSING: native.broadcast(_NAN),
        }.get(each.kind, v)
        best[j] = f.select(fresh, start, best[j])
        side = f.select(
            v > 0.0,
            native.broadcast(1.0),
            f.select(v < 0.0, native.broadcast(-1.0), native.broadcast(0.0)),
        )
        sides[j] = f.select(fresh, side, sides[j])
