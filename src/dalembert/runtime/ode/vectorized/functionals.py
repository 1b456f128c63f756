"""max g, min g, ∫ g dt, the time at which g crosses zero, y at wanted times: what is kept of a step before it is taken.

Quantities are looked at in eight places of every step, on its dense output. A greatest or least value is taken where the parabola through
three neighbours has its top; a crossing is found between two neighbours of different sign by halving to the last bit, with the arithmetic
in which `Solution.at` and events of a single run evaluate the polynomial.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, NumberArray, Value
from dalembert.runtime.numerics.llvm_types import POINTER, REAL, WHOLE, constant
from dalembert.runtime.ode.event_detection import SAMPLES
from dalembert.runtime.ode.initial_value_problem import DENSE_ROWS
from dalembert.runtime.ode.vectorized.layout import Functional, FunctionalKind, LaneFunction, LaneLayout

# ∫ from 0 to 1 by values in nine equidistant places (closed Newton–Cotes rule), exact for polynomials of degree 9
WEIGHTS: Final = tuple(w / 28350 for w in (989, 5888, -928, 10496, -4540, 10496, -928, 5888, 989))
_HALVINGS: Final = 64
# how far before its beginning the polynomial of a step is trusted, as a part of the step
_BEFORE: Final = 0.25
_NAN: Final = float("nan")


def watch_texts(layout: LaneLayout) -> list[str]:
    """The functions that look at a step."""
    parts = [_deliver(layout)]
    functions = layout.functions
    if functions.functionals:
        table = ", ".join(f"{REAL} {constant(w, REAL)}" for w in WEIGHTS)
        parts.append(f"@weights = internal constant [{len(WEIGHTS)} x {REAL}] [{table}]")
        crossings = [j for j, each in enumerate(functions.functionals) if each.kind is FunctionalKind.CROSSING]
        parts += [_locate(layout, j) for j in crossings] + [_look(layout), _watch(layout)]
    if functions.energy is not None:
        parts.append(_account(layout))
    return parts


def _polynomial(native: LaneFunction, target: str, theta: Value) -> None:
    """r₀ + θ(r₁ + θ̄(r₂ + …)) in every lane, every operation rounded, as NumPy does it."""
    f, x, rows = native.function, native.row(target), [native.row(f"r{j}") for j in range(native.layout.functions.dense_rows)]
    with f.loop(f.value(native.layout.functions.n, WHOLE)) as i:
        x[i] = horner(theta, [row[i] for row in rows])


def horner(theta: Value, rows: list[Value]) -> Value:
    """The polynomial of the dense output; more than eight rows are those of Taylor's method, in powers of θ."""
    value, rest = rows[-1], 1.0 - theta if len(rows) == DENSE_ROWS else theta
    for j in range(len(rows) - 2, -1, -1):
        value = rows[j] + value * (theta if j % 2 == 0 else rest)
    return value


def _deliver(layout: LaneLayout) -> str:
    """The states at the wanted times of this step, lane by lane; at the end of the step exactly its end."""
    native = LaneFunction(layout, "deliver", WHOLE)
    f, (lane,), n = native.function, native.arguments, layout.functions.n
    place, member = native.single("place", WHOLE), native.single("member", WHOLE)[lane]
    t, t_new = native.single("t")[lane], native.single("t_new")[lane]
    lanes = layout.lanes
    with f.forever():
        here = place[lane]
        with f.when(here >= native.job.n_times):
            native.single("next_at")[lane] = float("inf")
            f.give(0)
        wanted = NumberArray(native.job.times)[here]
        with f.when(wanted > t_new):
            native.single("next_at")[lane] = wanted
            f.give(0)
        theta = (wanted - t) / (t_new - t)
        out = native.table("samples", member * native.job.n_times + here, n)
        with f.loop(f.value(n, WHOLE)) as i:
            k = i * lanes + lane
            inside = horner(theta, [native.single(f"r{j}")[k] for j in range(layout.functions.dense_rows)])
            out[i] = f.choose(wanted < t_new, inside, native.single("end")[k])
        place[lane] = here + 1
    return f.text()


def _look(layout: LaneLayout) -> str:
    """One more sample, x with its time behind it: every functional hears of it."""
    native = LaneFunction(layout, "look", POINTER, REAL)
    functions, (pointer, weight) = layout.functions, native.arguments
    assert functions.quantities is not None
    x = Array(pointer, layout.kind)
    g, last, earlier = native.row("g"), native.row("g_last"), native.row("g_earlier")
    native.compiled("quantities", x, g)
    now = x[functions.n]
    for j, each in enumerate(functions.functionals):
        samples = earlier[each.quantity], last[each.quantity], g[each.quantity]
        if each.kind is FunctionalKind.MEAN:
            total = native.row("functionals")
            total[j] = native.function.choose(native.mask("good"), total[j] + native["h_try"] * weight * samples[-1], total[j])
        elif each.kind is FunctionalKind.CROSSING:
            _crossing(native, j, each, samples[-1], now)
        else:
            _extreme(native, j, each, samples, now)
    good = native.mask("good")
    for i in range(functions.quantities.n_out):
        earlier[i] = native.function.choose(good, last[i], earlier[i])
        last[i] = native.function.choose(good, g[i], last[i])
    native.put("t_earlier", native["t_last"], good)
    native.put("t_last", now, good)
    return native.done()


def _extreme(native: LaneFunction, j: int, each: Functional, samples: tuple[Value, Value, Value], now: Value) -> None:
    """The sample, or g where the parabola through three has its top: at −m/2q from the middle one, with slope m and curvature 2q there."""
    f, best, good, (a, b, v) = native.function, native.row("functionals"), native.mask("good"), samples
    upwards = each.kind is FunctionalKind.GREATEST

    def improve(value: Value, where: Value) -> None:
        better = value > best[j] if upwards else value < best[j]
        best[j] = f.choose(where & better, value, best[j])

    improve(v, good)
    before, after = native["t_last"] - native["t_earlier"], now - native["t_last"]
    left, right = (b - a) / before, (v - b) / after
    m, q = (left * after + right * before) / (before + after), (right - left) / (before + after)
    top = b - m * m / (q * 4.0)
    peak = good & (b >= a) & (b >= v) & (top > best[j]) if upwards else good & (b <= a) & (b <= v) & (top < best[j])
    with f.when(f.any(peak)):
        place = native["t_last"] - m / (q * 2.0)
        # the polynomial of this step, which a top just before its beginning still follows
        theta = (f.choose(peak, place, native["t"]) - native["t"]) / f.choose(peak, native["t_new"] - native["t"], native.wide(1.0))
        x, g = native.row("other_x"), native.row("other_g")
        _polynomial(native, "other_x", theta)
        x[native.layout.functions.n] = place
        native.compiled("quantities", x, g)
        improve(f.choose(theta >= -_BEFORE, g[each.quantity], top), peak)


def _crossing(native: LaneFunction, j: int, each: Functional, v: Value, now: Value) -> None:
    """The first change of sign in the wanted direction."""
    f, times, sides = native.function, native.row("functionals"), native.row("sides")
    good, side = native.mask("good"), sides[j]
    crossed = good & times[j].differs(times[j]) & (side * v < 0.0) & (v * each.direction >= 0.0)
    native["crossed"] = native.as_number(crossed)
    with f.when(f.any(crossed)):
        native["zero"] = now
        native.call(f"locate.{j}")
        times[j] = f.choose(native.mask("crossed"), native["zero"], times[j])
    new = f.choose(v > 0.0, native.wide(1.0), f.choose(v < 0.0, native.wide(-1.0), side))
    sides[j] = f.choose(good, new, side)


def _locate(layout: LaneLayout, j: int) -> str:
    """zero ← the first time between the last sample and `zero` at which g is no longer on its side, by halving."""
    native = LaneFunction(layout, f"locate.{j}")
    f, each, n = native.function, layout.functions.functionals[j], layout.functions.n
    low, high, side = f.variable(native["t_last"]), f.variable(native["zero"]), native.row("sides")[j]
    x, g, t, length = native.row("other_x"), native.row("other_g"), native["t"], native["t_new"] - native["t"]
    with f.loop(f.value(_HALVINGS, WHOLE)):
        middle = low.value + (high.value - low.value) * 0.5
        _polynomial(native, "other_x", (middle - t) / length)
        x[n] = middle
        native.compiled("quantities", x, g)
        before = side * g[each.quantity] > 0.0
        low.value = f.choose(before, middle, low.value)
        high.value = f.choose(before, high.value, middle)
    native["zero"] = high.value
    return native.done()


def _watch(layout: LaneLayout) -> str:
    """Eight samples of the step, the last its end."""
    native = LaneFunction(layout, "watch")
    f, functions = native.function, layout.functions
    total, last = native.row("functionals"), native.row("g_last")
    first = f.value(WEIGHTS[0], REAL)
    for j, each in enumerate(functions.functionals):
        if each.kind is FunctionalKind.MEAN:
            total[j] = f.choose(native.mask("good"), total[j] + native["h_try"] * first * last[each.quantity], total[j])
    x, end = native.row("x"), native.row("end")
    with f.loop(f.value(SAMPLES - 1, WHOLE)) as k:
        theta = native.wide(f.value(k + 1, REAL) * (1.0 / SAMPLES))
        _polynomial(native, "x", theta)
        x[functions.n] = theta * (native["t_new"] - native["t"]) + native["t"]
        where = f.emit(POINTER, f"getelementptr {REAL}, ptr @weights, {k + 1}")
        native.call("look", x.pointer, f.emit(REAL, f"load {REAL}, {where}, align 8"))
    end[functions.n] = native["t_new"]
    native.call("look", end.pointer, f.value(WEIGHTS[-1], REAL))
    return native.done()


def _account(layout: LaneLayout) -> str:
    """max |E − E₀| and max (K₂ + |𝒰 − 𝒰₀| + |Z|) over the ends of steps, E = K₂ + 𝒰 + Z; where a lane is fresh, E₀ and 𝒰₀."""
    native = LaneFunction(layout, "account", POINTER)
    f, x, functions = native.function, Array(native.arguments[0], layout.kind), layout.functions
    energies, fresh = native.row("results"), native.mask("fresh")
    native.compiled("energy", x, energies)
    K2, V = energies[0], energies[1]
    Z = x[functions.n + 1] if functions.ride is not None else native.wide(0.0)
    E = K2 + V + Z
    for name, value in (("E_start", E), ("V_start", V), ("drift", 0.0), ("scale", 0.0)):
        native.put(name, value, fresh)
    counted = native.mask("good") | fresh
    size = K2 + f.intrinsic("fabs", V - native["V_start"]) + f.intrinsic("fabs", Z)
    for name, value in (("drift", f.intrinsic("fabs", E - native["E_start"])), ("scale", size)):
        # not the greater of two where one is not a number
        native.put(name, value, counted & ~(value <= native[name]))
    return native.done()


def begin_watching(native: LaneFunction, y: Array) -> None:
    """The first sample of the fresh lanes."""
    f, functions, fresh = native.function, native.layout.functions, native.mask("fresh")
    if functions.quantities is None:
        return
    g, best, sides = native.row("g"), native.row("functionals"), native.row("sides")
    native.compiled("quantities", y, g)
    for i in range(functions.quantities.n_out):
        for name in ("g_last", "g_earlier"):
            row = native.row(name)
            row[i] = f.choose(fresh, g[i], row[i])
    for name in ("t_last", "t_earlier"):
        native.put(name, native["t"], fresh)
    for j, each in enumerate(functions.functionals):
        v = g[each.quantity]
        start = {FunctionalKind.MEAN: native.wide(0.0), FunctionalKind.CROSSING: native.wide(_NAN)}.get(each.kind, v)
        best[j] = f.choose(fresh, start, best[j])
        side = f.choose(v > 0.0, native.wide(1.0), f.choose(v < 0.0, native.wide(-1.0), native.wide(0.0)))
        sides[j] = f.choose(fresh, side, sides[j])
