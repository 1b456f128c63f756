"""y₀ → y₁ in every lane: the same operations as in a single run, with masks instead of branches.

Source: HNW1 II.4, II.5, II.10, as for one run (`dalembert.ode.step`, `dalembert.ode.control`), whose numbers and orders of summation are
kept: what a lane computes has the bits of the run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dalembert.numerics.llvm_types import POINTER, REAL, WHOLE
from dalembert.numerics.llvm_writer import Array, Operand, Value
from dalembert.ode import control
from dalembert.ode.coefficients import E3, E5, END_STAGE, STAGES, STEP_STAGES, A, B, C, D, Numbers
from dalembert.ode.lanes.layout import LaneFunction, LaneLayout
from dalembert.ode.run import Cause
from dalembert.ode.step import ERROR_OF_ORDER_3

# a single run adds its components up in four partial sums
_PARTIAL_SUMS: Final = 4
_MOST_PROJECTIONS: Final = 8
_LOOSE: Final = 1e3


def step_texts(layout: LaneLayout) -> list[str]:
    """The functions of a step."""
    parts = [_evaluate(layout), _first_size(layout), _stages(layout), _estimate(layout), _trial(layout)]
    return [*parts, *finish_texts(layout, "stage"), _interpolant(layout), _take(layout), _reject(layout)]


def finish_texts(layout: LaneLayout, spare: str) -> list[str]:
    """The end of a step; where it is projected a spare row is written over."""
    return [_finish(layout)] if layout.functions.projection is None else [_finish(layout), _project(layout, spare)]


def evaluate(native: LaneFunction, t: Value, y: Array, k: Array) -> None:
    """k = f(t, y)"""
    y[native.layout.functions.n] = t
    native.call("evaluate", y.pointer, k.pointer)


def _evaluate(layout: LaneLayout) -> str:
    native = LaneFunction(layout, "evaluate", POINTER, POINTER)
    y, k = (Array(pointer, layout.kind) for pointer in native.arguments)
    native.compiled("rates", y, k)
    if layout.functions.ride is not None:
        native.compiled("ride", y, native.behind(k, layout.functions.n + 1))
    return native.give()


def weighted(native: LaneFunction, numbers: Numbers, k: dict[int, Array], i: Operand) -> Value:
    """Σ_j a_j k_j"""
    (first, a), *others = numbers.items()
    result = k[first][i] * a
    for j, a in others:
        result = native.function.intrinsic("fmuladd", k[j][i], a, result)
    return result


def _combine(native: LaneFunction, target: str, numbers: Numbers) -> None:
    """target = y + h Σ_j a_j k_j"""
    y, out, k, h = native.row("y"), native.row(target), {j: native.row(f"k{j}") for j in numbers}, native["h_try"]

    def one(i: Operand) -> None:
        out[i] = native.function.intrinsic("fmuladd", h, weighted(native, numbers, k, i), y[i])

    native.each(one)


def _stage(native: LaneFunction, s: int) -> None:
    _combine(native, "stage", A[s])
    t = native["t_new"] if C[s] == 1.0 else native["t"] + native["h_try"] * C[s]
    evaluate(native, t, native.row("stage"), native.row(f"k{s}"))


def _stages(layout: LaneLayout) -> str:
    native = LaneFunction(layout, "stages")
    for s in range(1, STEP_STAGES):
        _stage(native, s)
    f, h, k = native.function, native["h_try"], {j: native.row(f"k{j}") for j in B}
    native.each(lambda i: move(native, i, lambda carry: f.intrinsic("fmuladd", h, weighted(native, B, k, i), carry)))
    return native.give()


def move(native: LaneFunction, i: Operand, increment: Callable[[Value], Value]) -> None:
    """new = y + d, where d has been given what rounding took from y; what it takes from new is kept."""
    y, new, carry, lost = (native.row(name) for name in ("y", "new", "carry", "lost"))
    d = increment(carry[i])
    end = y[i] + d
    new[i], lost[i] = end, d - (end - y[i])


def _trial(layout: LaneLayout) -> str:
    """A step in every lane, with its end where it is good."""
    native = LaneFunction(layout, "trial")
    native.call("stages")
    native.call("estimate")
    with native.function.when(native.function.any(native.mask("good"))):
        native.call("finish")
    return native.give()


def sums(native: LaneFunction, terms: Callable[[Operand], Sequence[Value]], count: int) -> list[Value]:
    """Σ_i of each term over the components in the norm, in the four partial sums and the order of a single run."""
    f, n = native.function, native.layout.functions.n
    totals = [[f.variable(native.wide(0.0)) for _ in range(_PARTIAL_SUMS)] for _ in range(count)]

    def add(slot: int, i: Operand) -> None:
        for total, term in zip(totals, terms(i), strict=True):
            total[slot].value = total[slot].value + term

    with f.loop(f.value(n // _PARTIAL_SUMS, WHOLE)) as group:
        for slot in range(_PARTIAL_SUMS):
            add(slot, group * _PARTIAL_SUMS + slot)
    for slot in range(n % _PARTIAL_SUMS):
        add(slot, n // _PARTIAL_SUMS * _PARTIAL_SUMS + slot)
    results = []
    for total in totals:
        result = native.wide(0.0)
        for part in total:
            result = result + part.value
        results.append(result)
    return results


def scale(native: LaneFunction, size: Value, i: Operand) -> Value:
    """atol_i + rtol |y_i|"""
    f = native.function
    atol = f.emit(POINTER, f"getelementptr {REAL}, {native.job.atol}, {f.value(i, WHOLE)}")
    tolerance = f.emit(REAL, f"load {REAL}, {atol}, align 8")
    return f.intrinsic("fmuladd", native.wide(native.job.rtol), size, native.wide(tolerance))


def norm(native: LaneFunction, row: Array, less: Array | None = None) -> Value:
    """Σ (x_i / (atol_i + rtol |y_i|))² of a row; of x − less if given."""
    f, y = native.function, native.row("y")

    def square(i: Operand) -> list[Value]:
        e = (row[i] if less is None else row[i] - less[i]) / scale(native, f.intrinsic("fabs", y[i]), i)
        return [e * e]

    return sums(native, square, 1)[0]


def euler_size(native: LaneFunction, size: Value, slope: Value) -> Value:
    """0.01 |y| / |f|, if there is such a thing."""
    f, job = native.function, native.job
    guess = f.intrinsic("minnum", (native.wide(job.t_end) - native["t"]) * control.FIRST_GUESS, control.FIRST_GUESS)
    known = f.intrinsic("minnum", size, slope) > control.NEGLIGIBLE
    return f.intrinsic("minnum", f.choose(known, f.intrinsic("sqrt", size / slope) * 0.01, guess), native.wide(job.h_max))


def _first_size(layout: LaneLayout) -> str:
    """h of the fresh lanes, as for a single run (`dalembert.ode.control`)."""
    native = LaneFunction(layout, "first_size")
    f, fresh, h_max = native.function, native.mask("fresh"), native.wide(native.job.h_max)
    y, k, stage, after = (native.row(name) for name in ("y", "k0", "stage", "k1"))
    slope = norm(native, k)
    euler = euler_size(native, norm(native, y), slope)

    def step(i: Operand) -> None:
        stage[i] = f.intrinsic("fmuladd", euler, k[i], y[i])

    native.each(step)
    native.put("h", euler * 1e-3, fresh)
    evaluate(native, native["t"] + euler, stage, after)
    steepest = f.intrinsic("maxnum", f.intrinsic("sqrt", slope), f.intrinsic("sqrt", norm(native, after, k)) / euler)
    h = control.eighth_root(f, 0.01 / steepest)
    h = f.choose(steepest <= control.NO_SLOPE, f.intrinsic("maxnum", control.FIRST_GUESS, euler * 1e-3), h)
    h = f.intrinsic("minnum", control.coarse(f.intrinsic("minnum", euler * 100.0, h)), h_max)
    native.put("h", h, fresh & ~not_finite(native, stage, after))
    return native.give()


def _estimate(layout: LaneLayout) -> str:
    """err = h |e₅|² / √(n (|e₅|² + 0.01 |e₃|²)), and what it means."""
    native = LaneFunction(layout, "estimate")
    f, y, new, k = native.function, native.row("y"), native.row("new"), {j: native.row(f"k{j}") for j in B}

    def squares(i: Operand) -> list[Value]:
        size = scale(native, f.intrinsic("maxnum", f.intrinsic("fabs", y[i]), f.intrinsic("fabs", new[i])), i)
        errors = [weighted(native, numbers, k, i) / size for numbers in (E5, E3)]
        return [e * e for e in errors]

    e5, e3 = sums(native, squares, 2)
    below = e5 + e3 * ERROR_OF_ORDER_3
    below = f.choose(below <= 0.0, native.wide(1.0), below) * float(layout.functions.n)
    native["error"] = native["h_try"] * e5 / f.intrinsic("sqrt", below)
    give_verdict(native, native.mask("active"))
    return native.give()


def give_verdict(native: LaneFunction, asked: Value) -> None:
    """What the error estimate means in the lanes that are asked; the others are not good."""
    f, error = native.function, native["error"]
    finite = error < float("inf")
    cause = f.choose(finite, f.choose(error > 1.0, native.wide(Cause.ERROR), native.wide(Cause.NONE)), native.wide(Cause.NOT_FINITE))
    native["good"] = native.as_number(asked & finite & (error <= 1.0))
    native.put("cause", cause, asked & ~native.mask("good"))


def not_finite(native: LaneFunction, y: Array, k: Array) -> Value:
    """The lanes in which 0·y + 0·k ≠ 0."""
    (total,) = sums(native, lambda i: [y[i] * 0.0 + k[i] * 0.0], 1)
    return total.differs(0.0)


def refuse(native: LaneFunction, bad: Value, cause: Cause) -> None:
    """Lanes that were good so far and are no more."""
    bad = bad & native.mask("good")
    native.put("cause", float(cause), bad)
    native.put("good", 0.0, bad)


def _finish(layout: LaneLayout) -> str:
    """The end of the step, projected if there is a projection, and f there."""
    native = LaneFunction(layout, "finish")
    new, rate, end, end_rate = (native.row(name) for name in ("new", f"k{END_STAGE}", "end", "end_rate"))
    evaluate(native, native["t_new"], new, rate)
    refuse(native, not_finite(native, new, rate), Cause.NOT_FINITE)

    def copy(i: Operand) -> None:
        end[i] = new[i]
        end_rate[i] = rate[i]

    native.each(copy)
    end[layout.functions.n] = native["t_new"]
    if layout.functions.projection is not None:
        native.call("project")
    return native.give()


def _project(layout: LaneLayout, spare: str) -> str:
    """q ← q + δq until the constraints hold, and f at the end of the lanes that were moved."""
    native = LaneFunction(layout, "project")
    f, functions = native.function, layout.functions
    assert functions.projection is not None
    n_q = functions.projection.n_out - 1
    new, end, rate, end_rate = (native.row(name) for name in ("new", "end", spare, "end_rate"))
    delta = native.row("results")
    # crossed: lanes that still move
    native["crossed"] = native["good"]
    with f.loop(f.value(_MOST_PROJECTIONS + 1, WHOLE)) as round_, f.when(f.any(native.mask("crossed"))):
        native.compiled("projection", end, delta)
        residual, moving = delta[n_q], native.mask("crossed")
        small = residual <= native.wide(native.job.tolerance)
        last = f.compare("ge", round_, _MOST_PROJECTIONS)
        with f.when(last):
            near = residual <= native.wide(native.job.tolerance * _LOOSE)
            refuse(native, moving & ~small & ~near, Cause.PROJECT)
            native["crossed"] = 0.0
        with f.when(~last):
            moving = moving & ~small
            native["crossed"] = native.as_number(moving)
            with f.loop(f.value(n_q, WHOLE)) as i:
                end[i] = f.choose(moving, end[i] + delta[i], end[i])
    moved = f.variable(native.wide(0.0))
    with f.loop(f.value(functions.n, WHOLE)) as i:
        moved.value = moved.value + f.intrinsic("fabs", end[i] - new[i])
    native["zero"] = native.as_number(moved.value.differs(0.0))
    with f.when(f.any(native.mask("zero") & native.mask("good"))):
        evaluate(native, native["t_new"], end, rate)
        refuse(native, native.mask("zero") & not_finite(native, end, rate), Cause.NOT_FINITE)

        def replace(i: Operand) -> None:
            end_rate[i] = f.choose(native.mask("zero"), rate[i], end_rate[i])

        native.each(replace)
    return native.give()


def _interpolant(layout: LaneLayout) -> str:
    """r₀, …, r₇ of the dense output."""
    native = LaneFunction(layout, "interpolant")
    f = native.function
    for s in range(END_STAGE + 1, STAGES):
        _stage(native, s)
    y, end, end_rate, h = native.row("y"), native.row("end"), native.row("end_rate"), native["h_try"]
    k, r = {j: native.row(f"k{j}") for j in range(STAGES)}, [native.row(f"r{j}") for j in range(8)]
    with f.loop(f.value(layout.functions.n, WHOLE)) as i:
        difference = end[i] - y[i]
        first = h * k[0][i] - difference
        r[0][i], r[1][i], r[2][i] = y[i], difference, first
        r[3][i] = difference - h * end_rate[i] - first
        for j, numbers in enumerate(D):
            r[4 + j][i] = h * weighted(native, numbers, k, i)
    return native.give()


def step_taken(layout: LaneLayout) -> LaneFunction:
    """The beginning of every `take`: (t, y) ← (t + h, y₁) in the good lanes."""
    native = LaneFunction(layout, "take")
    f, good = native.function, native.mask("good")
    y, k, new, end, end_rate, carry, lost = (native.row(name) for name in ("y", "k0", "new", "end", "end_rate", "carry", "lost"))

    def replace(i: Operand) -> None:
        carry[i] = f.choose(good, f.choose(end[i].differs(new[i]), native.wide(0.0), lost[i]), carry[i])
        y[i] = f.choose(good, end[i], y[i])
        k[i] = f.choose(good, end_rate[i], k[i])

    native.each(replace)
    native.put("t", native["t_new"], good)
    native.put("steps", native["steps"] + 1.0, good)
    return native


def _take(layout: LaneLayout) -> str:
    """(t, y) ← (t + h, y₁) in the good lanes; the next step is h · min(6, 0.75 err^(−1/8)), but no larger right after a rejection."""
    native = step_taken(layout)
    f, good = native.function, native.mask("good")
    growth = control.SAFETY / control.eighth_root(f, native["error"])
    growth = f.intrinsic("minnum", control.LARGEST_GROWTH, f.intrinsic("maxnum", growth, 1.0 / control.LARGEST_SHRINKAGE))
    growth = f.choose(native["streak"] > 0.0, f.intrinsic("minnum", growth, 1.0), growth)
    native.put("h", f.intrinsic("minnum", control.coarse(native["h_try"] * growth), native.wide(native.job.h_max)), good)
    native.put("streak", 0.0, good)
    return native.give()


def step_rejected(layout: LaneLayout) -> tuple[LaneFunction, Value]:
    """The beginning of every `reject`, and the lanes that are meant."""
    native = LaneFunction(layout, "reject")
    bad = native.mask("active") & ~native.mask("good")
    for count in ("rejected", "streak"):
        native.put(count, native[count] + 1.0, bad)
    return native, bad


def _reject(layout: LaneLayout) -> str:
    """h ← h · max(1/3, 0.75 err^(−1/8)) in the active lanes that are not good; after a failure h/10."""
    native, bad = step_rejected(layout)
    f = native.function
    by_error = f.intrinsic("maxnum", 1.0 / control.LARGEST_SHRINKAGE, control.SAFETY / control.eighth_root(f, native["error"]))
    by_failure, h = native.wide(control.SHRINK_AFTER_FAILURE), native["h_try"]
    native.put("h", f.choose(native["cause"].differs(float(Cause.ERROR)), h * by_failure, control.coarse(h * by_error)), bad)
    return native.give()
