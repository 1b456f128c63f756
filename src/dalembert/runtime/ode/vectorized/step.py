"""A step of every lane: the formulas of a single run (`dalembert.runtime.ode.runge_kutta_step`,
`dalembert.runtime.ode.step_size_control`), with masks instead of branches.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import Operand, Value, VectorArray
from dalembert.runtime.numerics.llvm_types import INT64, POINTER
from dalembert.runtime.ode.dop853_coefficients import END_STAGE
from dalembert.runtime.ode.integrator_state import StepCause
from dalembert.runtime.ode.runge_kutta_step import dense_output_ir, error_estimate_ir, stages_ir
from dalembert.runtime.ode.step_size_control import (
    eighth_root,
    euler_step,
    initial_step_size,
    size_after_rejection,
    size_after_step,
)
from dalembert.runtime.ode.vectorized.layout import LaneLayout, LaneStepBuilder

_MOST_PROJECTIONS: Final = 8
_LOOSE: Final = 1e3


def step_texts(layout: LaneLayout) -> list[str]:
    """The functions of a step."""
    shared = {"stages": stages_ir, "estimate": error_estimate_ir, "interpolant": dense_output_ir}
    parts = [text(LaneStepBuilder(layout, name)) for name, text in shared.items()]
    own = [
        _evaluate(layout),
        _first_size(layout),
        _trial(layout),
        *finish_texts(layout, "stage"),
        _take(layout),
        _reject(layout),
    ]
    return [*parts, *own]


def finish_texts(layout: LaneLayout, spare: str) -> list[str]:
    """The end of a step; where it is projected a spare row is written over."""
    return (
        [_finish(layout)]
        if layout.functions.projection is None
        else [_finish(layout), _project(layout, spare)]
    )


def _evaluate(layout: LaneLayout) -> str:
    native = LaneStepBuilder(layout, "evaluate", POINTER, POINTER)
    y, k = (VectorArray(pointer, layout.kind) for pointer in native.arguments)
    native.call_compiled("rates", y, k)
    if layout.functions.quadrature is not None:
        native.call_compiled("quadrature", y, native.array_after(k, layout.functions.n + 1))
    return native.finish()


def _trial(layout: LaneLayout) -> str:
    """A step in every lane, with its end where it is good."""
    native = LaneStepBuilder(layout, "trial")
    native["good"] = native["active"]
    native.call("stages")
    native.call("estimate")
    with native.function.if_then(native.function.any_lane(native.mask("good"))):
        native.call("finish")
    return native.finish()


def _first_size(layout: LaneLayout) -> str:
    """h of the fresh lanes."""
    native = LaneStepBuilder(layout, "first_size")
    fresh = native.mask("fresh")
    slope, euler = euler_step(native)
    native.masked_store("h", euler * 1e-3, fresh)
    stage, after = native.row("stage"), native.row("k1")
    native.rate(native["t"] + euler, stage, after)
    native.masked_store(
        "h", initial_step_size(native, slope, euler), fresh & ~native.not_finite(stage, after)
    )
    return native.finish()


def _finish(layout: LaneLayout) -> str:
    """The end of the step, projected if there is a projection, and f there."""
    native = LaneStepBuilder(layout, "finish")
    new, rate, end, end_rate = (
        native.row(name) for name in ("new", f"k{END_STAGE}", "end", "end_rate")
    )
    native.rate(native["t_new"], new, rate)
    native.reject_lanes(native.not_finite(new, rate), StepCause.NOT_FINITE)

    def copy(i: Operand) -> None:
        end[i] = new[i]
        end_rate[i] = rate[i]

    native.for_each_component(copy)
    end[layout.functions.n] = native["t_new"]
    if layout.functions.projection is not None:
        native.call("project")
    return native.finish()


def _project(layout: LaneLayout, spare: str) -> str:
    """q ← q + δq until the constraints hold, and f at the end of the lanes that were moved."""
    native = LaneStepBuilder(layout, "project")
    f, functions = native.function, layout.functions
    assert functions.projection is not None
    n_q = functions.projection.n_out - 1
    new, end, rate, end_rate = (native.row(name) for name in ("new", "end", spare, "end_rate"))
    delta = native.row("results")
    # crossed: lanes that still move
    native["crossed"] = native["good"]
    with (
        f.loop(f.value(_MOST_PROJECTIONS + 1, INT64)) as round_,
        f.if_then(f.any_lane(native.mask("crossed"))),
    ):
        native.call_compiled("projection", end, delta)
        residual, moving = delta[n_q], native.mask("crossed")
        small = residual <= native.broadcast(native.job.tolerance)
        last = f.compare("ge", round_, _MOST_PROJECTIONS)
        with f.if_then(last):
            near = residual <= native.broadcast(native.job.tolerance * _LOOSE)
            native.reject_lanes(moving & ~small & ~near, StepCause.PROJECT)
            native["crossed"] = 0.0
        with f.if_then(~last):
            moving = moving & ~small
            native["crossed"] = native.as_number(moving)
            with f.loop(f.value(n_q, INT64)) as i:
                end[i] = f.select(moving, end[i] + delta[i], end[i])
    moved = f.variable(native.broadcast(0.0))
    with f.loop(f.value(functions.n, INT64)) as i:
        moved.value = moved.value + f.intrinsic("fabs", end[i] - new[i])
    native["zero"] = native.as_number(moved.value.not_equal(0.0))
    with f.if_then(f.any_lane(native.mask("zero") & native.mask("good"))):
        native.rate(native["t_new"], end, rate)
        native.reject_lanes(
            native.mask("zero") & native.not_finite(end, rate), StepCause.NOT_FINITE
        )

        def replace(i: Operand) -> None:
            end_rate[i] = f.select(native.mask("zero"), rate[i], end_rate[i])

        native.for_each_component(replace)
    return native.finish()


def begin_accept(layout: LaneLayout) -> LaneStepBuilder:
    """The beginning of every `take`: (t, y) ← (t + h, y₁) in the good lanes."""
    native = LaneStepBuilder(layout, "take")
    f, good = native.function, native.mask("good")
    y, k, new, end, end_rate, carry, lost = (
        native.row(name) for name in ("y", "k0", "new", "end", "end_rate", "compensation", "lost")
    )

    def replace(i: Operand) -> None:
        carry[i] = f.select(
            good, f.select(end[i].not_equal(new[i]), native.broadcast(0.0), lost[i]), carry[i]
        )
        y[i] = f.select(good, end[i], y[i])
        k[i] = f.select(good, end_rate[i], k[i])

    native.for_each_component(replace)
    native.masked_store("t", native["t_new"], good)
    native.masked_store("steps", native["steps"] + 1.0, good)
    return native


def _take(layout: LaneLayout) -> str:
    """(t, y) ← (t + h, y₁) in the good lanes, and the next step size."""
    native = begin_accept(layout)
    good = native.mask("good")
    native.masked_store("h", size_after_step(native, eighth_root), good)
    native.masked_store("streak", 0.0, good)
    return native.finish()


def begin_reject(layout: LaneLayout) -> tuple[LaneStepBuilder, Value]:
    """The beginning of every `reject`, and the lanes that are meant."""
    native = LaneStepBuilder(layout, "reject")
    bad = native.mask("active") & ~native.mask("good")
    for count in ("rejected", "streak"):
        native.masked_store(count, native[count] + 1.0, bad)
    return native, bad


def _reject(layout: LaneLayout) -> str:
    """A shorter step in the active lanes that are not good."""
    native, bad = begin_reject(layout)
    native.masked_store("h", size_after_rejection(native, eighth_root), bad)
    return native.finish()
