"""Lanes filled, begun, stepped and emptied: the native text of a worker.

    int64 advance(job)

works until its budget is spent (1) or no member is left (0). Leaving and entering again changes
nothing.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import Operand, Value
from dalembert.runtime.numerics.jit import Target, merge_modules
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, intrinsic_declarations
from dalembert.runtime.ode import failure_diagnosis, step_size_control
from dalembert.runtime.ode.integrator_state import StepCause
from dalembert.runtime.ode.vectorized.functionals import functionals_ir, initialize_functionals
from dalembert.runtime.ode.vectorized.layout import LaneFunctions, LaneLayout, LaneStepBuilder
from dalembert.runtime.ode.vectorized.step import step_texts
from dalembert.runtime.ode.vectorized.taylor import taylor_texts

EXPORTS: Final = ("advance",)
NO_PROGRESS: Final = 1 + max(StepCause)
_ZEROED: Final = (
    "streak",
    "steps",
    "rejected",
    "cause",
    "h",
    "error",
    "mark_attempts",
    "drift",
    "scale",
    "learned",
)


def module_ir(functions: LaneFunctions, target: Target) -> str:
    """The whole module of a worker."""
    compiled, work = [], {}
    for name, function in functions.all_functions.items():
        body, work[name] = function.ir_for(target, name)
        compiled.append(body)
    layout = LaneLayout(functions, target.lanes, work)
    intrinsics = dict.fromkeys(
        [intrinsic_declarations(DOUBLE), intrinsic_declarations(layout.kind)]
    )
    steps = (
        step_texts(layout) if functions.series is None else taylor_texts(layout, functions.series)
    )
    own = [*intrinsics, *steps, *functionals_ir(layout), _load_next_runs(layout), _begin(layout)]
    own += [_retire(layout), _retire_finished(layout), _attempt(layout), _advance(layout)]
    return merge_modules(("", part) for part in (*compiled, "\n".join(own)))


def _load_next_runs(layout: LaneLayout) -> str:
    """The next members into the vacant lanes; where there are none left, the last one, whose result
    is not used.
    """
    native = LaneStepBuilder(layout, "refill")
    f, functions, job = native.function, layout.functions, native.job
    job.vacant, job.filled = 0, 1
    with (
        f.loop(f.value(layout.lanes, INT64)) as lane,
        f.if_then(~(native.lane_scalars("active")[lane] > 0.0)),
    ):
        drawn = f.emit(INT64, f"atomicrmw add {job.next}, i64 1 monotonic")
        exists = drawn < job.count
        member = f.select(exists, drawn, job.count - 1)
        native.lane_scalars("member", INT64)[lane] = member
        for name in ("active", "fresh"):
            native.lane_scalars(name)[lane] = f.select(exists, f.value(1.0, DOUBLE), 0.0)
        for name in _ZEROED:
            native.lane_scalars(name)[lane] = 0.0
        for name in ("t", "mark_t", "t_new"):
            native.lane_scalars(name)[lane] = job.t_start
        native.lane_scalars("place", INT64)[lane] = 0
        _load(native, "starts", "y", functions.n, (member, functions.n, 0), lane)
        if functions.quadrature is not None:
            native.lane_scalars("y")[(functions.n + 1) * layout.lanes + lane] = 0.0
        for name, function in functions.parameterized_functions.items():
            row = member, functions.n_parameters, functions.first_parameter[name]
            _load(native, "parameters", f"p.{name}", function.n_parameters, row, lane)
    for name in functions.parameterized_functions:
        p, w = native.row(f"p.{name}"), native.row(f"w.{name}")
        f.line(f"call void @{name}.prologue({p.pointer}, {w.pointer})")
    return native.finish()


def _load(
    native: LaneStepBuilder,
    table: str,
    target: str,
    count: int,
    row: tuple[Value, int, int],
    lane: Value,
) -> None:
    """A part of a member's row into its lane."""
    f, (member, width, first) = native.function, row
    source, numbers = native.table(table, member, width), native.lane_scalars(target)
    with f.loop(f.value(count, INT64)) as i:
        numbers[i * native.layout.lanes + lane] = source[i + first]


def _begin(layout: LaneLayout) -> str:
    """k₀ = f(t₀, y₀), the first step size and the first sample of the fresh lanes; those that
    cannot begin are retired.
    """
    native = LaneStepBuilder(layout, "begin")
    f, fresh, y, k, first = (
        native.function,
        native.mask("fresh"),
        native.row("y"),
        native.row("k0"),
        native.row("k1"),
    )
    native.rate(native["t"], y, first)
    carry = native.row("compensation")

    def put(i: Operand) -> None:
        carry[i] = f.select(fresh, native.broadcast(0.0), carry[i])
        k[i] = f.select(fresh, first[i], k[i])

    native.for_each_component(put)
    native["good"] = native.as_number(fresh & native.not_finite(y, k))
    native.call("first_size")
    initialize_functionals(native, y)
    if layout.functions.energy is not None:
        native.call("account", y.pointer)
    end = native.row("end")
    with f.loop(f.value(layout.functions.n, INT64)) as i:
        end[i] = y[i]
    with (
        f.loop(f.value(layout.lanes, INT64)) as lane,
        f.if_then(native.lane_scalars("fresh")[lane] > 0.0),
    ):
        native.call("deliver", lane)
        with f.if_then(native.lane_scalars("good")[lane] > 0.0):
            native.lane_scalars("cause")[lane] = float(StepCause.NOT_FINITE)
            native.call("retire", lane)
    native["fresh"] = 0.0
    return native.finish()


def _retire(layout: LaneLayout) -> str:
    """A member's results into its row, and its lane free."""
    native = LaneStepBuilder(layout, "retire", INT64)
    f, (lane,), functions = native.function, native.arguments, layout.functions
    columns = functions.columns
    out = native.table("results", native.lane_scalars("member", INT64)[lane], columns[""])
    for name in ("t", "steps", "rejected", "cause", "h", "drift", "scale"):
        out[columns[name]] = native.lane_scalars(name)[lane]
    rows = [("y", columns["y"], functions.n, 0), ("k0", columns["slope"], functions.n, 0)]
    rows.append(("functionals", columns["functionals"], len(functions.functionals), 0))
    if functions.quadrature is not None:
        rows.append(("y", columns["y"] + functions.n, 1, functions.n + 1))
    for name, column, count, first in rows:
        numbers = native.lane_scalars(name)
        with f.loop(f.value(count, INT64)) as i:
            out[i + column] = numbers[(i + first) * layout.lanes + lane]
    native.lane_scalars("active")[lane] = 0.0
    native.job.vacant, native.job.done = 1, native.job.done + 1
    return native.finish()


def _retire_finished(layout: LaneLayout) -> str:
    """Retire the lanes that have arrived, and those without hope: a collapsed step, a streak of
    rejections, a stall.
    """
    native = LaneStepBuilder(layout, "leave")
    f, job, t = native.function, native.job, native["t"]
    arrived = t >= native["t_end"]
    collapsed = native["h"] * 0.1 <= f.intrinsic("fabs", t) * step_size_control.ROUNDING
    hopeless = collapsed | (native["streak"] >= float(step_size_control.MAX_REJECTIONS))
    attempts = native["steps"] + native["rejected"]
    long = attempts - native["mark_attempts"] >= float(failure_diagnosis.STALL_STEPS)
    slow = long & (
        t - native["mark_t"]
        < native.broadcast((job.t_end - job.t_start) * failure_diagnosis.MIN_PROGRESS)
    )
    native.masked_store("mark_t", t, long & ~slow)
    native.masked_store("mark_attempts", attempts, long & ~slow)
    native.masked_store("cause", float(NO_PROGRESS), slow & ~arrived & ~hopeless)
    leaving = native.mask("active") & (arrived | hopeless | slow)
    native["good"] = native.as_number(leaving)
    with (
        f.if_then(f.any_lane(leaving)),
        f.loop(f.value(layout.lanes, INT64)) as lane,
        f.if_then(native.lane_scalars("good")[lane] > 0.0),
    ):
        native.call("retire", lane)
    return native.finish()


def _attempt(layout: LaneLayout) -> str:
    """A step in every lane, taken where it is good."""
    native = LaneStepBuilder(layout, "attempt")
    f, functions, t, h = native.function, layout.functions, native["t"], native["h"]
    t_end = native["t_end"]
    # the last two steps are made equal, so that the last is not tiny
    rest, last = t_end - t, t + h >= t_end
    t_new = f.select(last, t_end, t + f.intrinsic("minnum", h, rest * 0.5))
    native["t_new"] = t_new = f.select(native.mask("active"), t_new, t)
    native["h_try"] = t_new - t
    native.call("trial")
    with f.if_then(f.any_lane(native.mask("good"))):
        wanted = native.mask("good") & (native["next_at"] <= native["t_new"])
        if functions.functionals:
            native.call("interpolant")
            native.call("watch")
        else:
            with f.if_then(f.any_lane(wanted)):
                native.call("interpolant")
        with f.if_then(f.any_lane(wanted)):
            native["crossed"] = native.as_number(wanted)
            with (
                f.loop(f.value(layout.lanes, INT64)) as lane,
                f.if_then(native.lane_scalars("crossed")[lane] > 0.0),
            ):
                native.call("deliver", lane)
        if functions.energy is not None:
            native.call("account", native.row("end").pointer)
        native.call("take")
    with f.if_then(f.any_lane(native.mask("active") & ~native.mask("good"))):
        native.call("reject")
    return native.finish()


def _advance(layout: LaneLayout) -> str:
    native = LaneStepBuilder(layout, "advance", exported=True)
    f, job = native.function, native.job
    with f.loop_forever():
        native.call("leave")
        job.filled = 0
        with f.if_then(job.vacant.not_equal(0)):
            native.call("refill")
            native.call("begin")
        with f.if_then(~job.filled.not_equal(0)):
            with f.if_then(~f.any_lane(native.mask("active"))):
                f.ret(0)
            with f.if_then(job.budget <= 0):
                f.ret(1)
            job.budget = job.budget - 1
            native.call("attempt")
    return f.text()
