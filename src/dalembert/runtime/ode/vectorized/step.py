"""A step of every lane: the formulas of a single run (`dalembert.runtime.ode.runge_kutta_step`, `dalembert.runtime.ode.step_size_control`), with masks instead of branches."""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import Array, Operand, Value
from dalembert.runtime.numerics.llvm_types import POINTER, WHOLE
from dalembert.runtime.ode.dop853_coefficients import END_STAGE
from dalembert.runtime.ode.integrator_state import StepCause
from dalembert.runtime.ode.runge_kutta_step import estimate_text, interpolant_text, stages_text
from dalembert.runtime.ode.step_size_control import eighth_root, euler_step, first_size, size_after_rejection, size_after_step
from dalembert.runtime.ode.vectorized.layout import LaneFunction, LaneLayout

_MOST_PROJECTIONS: Final = 8
_LOOSE: Final = 1e3


def step_texts(layout: LaneLayout) -> list[str]:
    """The functions of a step."""
    shared = {"stages": stages_text, "estimate": estimate_text, "interpolant": interpolant_text}
    parts = [text(LaneFunction(layout, name)) for name, text in shared.items()]
    own = [_evaluate(layout), _first_size(layout), _trial(layout), *finish_texts(layout, "stage"), _take(layout), _reject(layout)]
    return [*parts, *own]


def finish_texts(layout: LaneLayout, spare: str) -> list[str]:
    """The end of a step; where it is projected a spare row is written over."""
    return [_finish(layout)] if layout.functions.projection is None else [_finish(layout), _project(layout, spare)]


def _evaluate(layout: LaneLayout) -> str:
    native = LaneFunction(layout, "evaluate", POINTER, POINTER)
    y, k = (Array(pointer, layout.kind) for pointer in native.arguments)
    native.compiled("rates", y, k)
    if layout.functions.ride is not None:
        native.compiled("ride", y, native.behind(k, layout.functions.n + 1))
    return native.done()


def _trial(layout: LaneLayout) -> str:
    """A step in every lane, with its end where it is good."""
    native = LaneFunction(layout, "trial")
    native["good"] = native["active"]
    native.call("stages")
    native.call("estimate")
    with native.function.when(native.function.any(native.mask("good"))):
        native.call("finish")
    return native.done()


def _first_size(layout: LaneLayout) -> str:
    """h of the fresh lanes."""
    native = LaneFunction(layout, "first_size")
    fresh = native.mask("fresh")
    slope, euler = euler_step(native)
    native.put("h", euler * 1e-3, fresh)
    stage, after = native.row("stage"), native.row("k1")
    native.rate(native["t"] + euler, stage, after)
    native.put("h", first_size(native, slope, euler), fresh & ~native.not_finite(stage, after))
    return native.done()


def _finish(layout: LaneLayout) -> str:
    """The end of the step, projected if there is a projection, and f there."""
    native = LaneFunction(layout, "finish")
    new, rate, end, end_rate = (native.row(name) for name in ("new", f"k{END_STAGE}", "end", "end_rate"))
    native.rate(native["t_new"], new, rate)
    native.refuse(native.not_finite(new, rate), StepCause.NOT_FINITE)

    def copy(i: Operand) -> None:
        end[i] = new[i]
        end_rate[i] = rate[i]

    native.each(copy)
    end[layout.functions.n] = native["t_new"]
    if layout.functions.projection is not None:
        native.call("project")
    return native.done()


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
            native.refuse(moving & ~small & ~near, StepCause.PROJECT)
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
        native.rate(native["t_new"], end, rate)
        native.refuse(native.mask("zero") & native.not_finite(end, rate), StepCause.NOT_FINITE)

        def replace(i: Operand) -> None:
            end_rate[i] = f.choose(native.mask("zero"), rate[i], end_rate[i])

        native.each(replace)
    return native.done()


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
    """(t, y) ← (t + h, y₁) in the good lanes, and the next step size."""
    native = step_taken(layout)
    good = native.mask("good")
    native.put("h", size_after_step(native, eighth_root), good)
    native.put("streak", 0.0, good)
    return native.done()


def step_rejected(layout: LaneLayout) -> tuple[LaneFunction, Value]:
    """The beginning of every `reject`, and the lanes that are meant."""
    native = LaneFunction(layout, "reject")
    bad = native.mask("active") & ~native.mask("good")
    for count in ("rejected", "streak"):
        native.put(count, native[count] + 1.0, bad)
    return native, bad


def _reject(layout: LaneLayout) -> str:
    """A shorter step in the active lanes that are not good."""
    native, bad = step_rejected(layout)
    native.put("h", size_after_rejection(native, eighth_root), bad)
    return native.done()
