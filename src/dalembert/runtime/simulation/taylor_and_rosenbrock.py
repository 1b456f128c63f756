"""Taylor's and Rosenbrock's methods for a system: series and slopes of the motion and of the
quadratures, joined to the integrator.

Rosenbrock's method asks for ∂f/∂(q, u, t), from the tape. By Taylor's the right-hand side is order
0 of the coefficients, and the integrator asks for the others at points that it has accepted. What a
unit of time costs by each method, counted in operations, decides on the order, and on whether
Taylor's or Runge and Kutta's is taken:

    Taylor        (1.6 b (n + 2) + 0.67 s n² + 100 n + 2000) (ε/100)^(−1/(n + 1)) × 1.7      b
    operations of one order, s sums Runge–Kutta   (12 (1.3 r + 22 a) + 4300) ε^(−1/8)
    r operations of the rates, a sines and cosines

ε is rtol; Taylor's method estimates its error sharply and is held to a hundredth of it. That steps
go with these powers of ε holds within a few per cent from 1e-4 to 1e-14; that Taylor's are 1.7
times as many at ε = 1, and the relative cost of each kind of operation, was measured
(docs/decisions/0019).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import cached_call
from dalembert.runtime.numerics import jit
from dalembert.runtime.numerics.ir_builder import VectorArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT32, INT64, POINTER
from dalembert.runtime.numerics.taylor_code import LARGEST_ORDER
from dalembert.runtime.ode.initial_value_problem import SMALLEST_ORDER, TaylorSeries
from dalembert.runtime.simulation.context_ir import ContextFunction, copy_state_ir
from dalembert.runtime.simulation.run_options import AUTO, TAYLOR

if TYPE_CHECKING:
    from dalembert.runtime.numerics.taylor_code import CompiledTaylor
    from dalembert.runtime.simulation.context import Context
    from dalembert.runtime.simulation.energy_audit import BoundAudit
    from dalembert.runtime.simulation.model import NativeModel


def _taylor_ir() -> str:
    """`rhs`, order 0 of the motion and of the quadratures, and `expand`, the orders above."""
    f = ContextFunction("rhs", INT32, DOUBLE, POINTER, POINTER, exported=True)
    t, y, dy = f.arguments
    for jets, out in ((f.c.jets, dy), (f.c.jets_audit, f.offset(dy, f.c.n_state))):
        with f.if_then(jets.not_equal(0)):
            f.call_void(VectorArray(jets, POINTER)[0], jets, t, y, out)
    g = ContextFunction("expand", INT32, DOUBLE, INT64, POINTER, INT64, exported=True)
    for jets in (g.c.jets, g.c.jets_audit):
        with g.if_then(jets.not_equal(0)):
            g.call_void(VectorArray(jets, POINTER)[1], jets, *g.arguments)
    return f"{f.finish(0)}\n\n{g.finish(0)}\n"


@cached_call
def _taylor_library() -> jit.Library:
    return jit.load(_taylor_ir, ("rhs", "expand"))


def taylor_series(
    context: Context, model: NativeModel, p: FloatArray, watched: BoundAudit | None, rtol: float
) -> TaylorSeries:
    """The series of a run, which are registered in the context."""
    remedy = "leave out integrator='taylor'"
    if not model.rates.closed_form:
        msg = (
            f"Taylor's method needs independent speeds in closed form, which these equations do "
            f"not have; {remedy}"
        )
        raise NotApplicable(msg)
    try:
        motion = model.jets
    except NotApplicable as problem:
        msg = f"{problem}; {remedy}"
        raise NotApplicable(msg) from problem
    audit = (
        None
        if watched is None or watched.audit.rates is None
        else watched.audit.jets.workspace(watched.p)
    )
    order = best_order(motion, rtol)
    context.expand(_taylor_library().address("rhs"), order, motion.workspace(p), audit)
    return TaylorSeries(_taylor_library().address("expand"), order)


def select_taylor_series(
    name: str,
    context: Context,
    model: NativeModel,
    p: FloatArray,
    watched: BoundAudit | None,
    rtol: float,
    obstacle: str,
) -> TaylorSeries | None:
    """The series of a run by Taylor's method, where it was requested or is the cheaper one; None
    for the other.

    An `obstacle` is what keeps this run from having series.
    """
    if name == TAYLOR:
        if obstacle:
            msg = (
                f"Taylor's method needs series of everything that moves, and {obstacle}; leave "
                f"out integrator='taylor'"
            )
            raise NotApplicable(msg)
        return taylor_series(context, model, p, watched, rtol)
    if name != AUTO or obstacle or not taylor_is_cheaper(model, rtol):
        return None
    try:
        return taylor_series(context, model, p, watched, rtol)
    except NotApplicable:
        # a quadrature without a series
        return None


# of a step, and of an order, in addition to the coefficients
_STEP: Final = 2000.0
_ORDER: Final = 100.0
_PER_OPERATION_OF_ORDER: Final = 1.6
_PER_SUM: Final = 0.67
_STRICT: Final = 0.01
_MORE_STEPS: Final = 1.7
# of a step of twelve stages, in addition to its evaluations
_STAGES: Final = 12
_STAGES_STEP: Final = 4300.0
_PER_OPERATION: Final = 1.3
_PER_ANGLE: Final = 22.0
# beyond this number of operations of the rates little was ever gained, and much would be compiled
# to find that out
_LARGEST: Final = 1400


def best_order(jets: CompiledTaylor, rtol: float) -> int:
    """The order that takes a run through at the least cost."""
    return _best_order(jets.operations, jets.pairs, rtol)


@functools.lru_cache(maxsize=1024)
def _best_order(operations: int, pairs: int, rtol: float) -> int:
    return min(
        range(SMALLEST_ORDER, LARGEST_ORDER + 1),
        key=lambda n: _taylor_cost(operations, pairs, n) * _relative_step_count(n, rtol),
    )


def _relative_step_count(order: int, rtol: float) -> float:
    return float((_STRICT * rtol) ** (-1.0 / (order + 1)))


def taylor_step_cost(jets: CompiledTaylor, order: int) -> float:
    """Operations of one step by Taylor's method."""
    return _taylor_cost(jets.operations, jets.pairs, order)


def _taylor_cost(operations: int, pairs: int, order: int) -> float:
    return (
        _STEP
        + _ORDER * order
        + _PER_OPERATION_OF_ORDER * operations * (order + 2)
        + _PER_SUM * pairs * order**2
    )


def runge_kutta_step_cost(model: NativeModel) -> float:
    """Operations of one step by Runge and Kutta's method."""
    operations, angles = model.operation_counts
    return _STAGES * (_PER_OPERATION * operations + _PER_ANGLE * angles) + _STAGES_STEP


def taylor_is_cheaper(model: NativeModel, rtol: float) -> bool:
    """Whether Taylor's method is applicable and the cheaper one."""
    if not model.rates.closed_form or model.operation_counts[0] > _LARGEST:
        return False
    try:
        jets = model.jets
    except NotApplicable:
        return False
    order = best_order(jets, rtol)
    # for a unit of time, which is the same unknown one for both methods
    other = float(rtol ** (-1.0 / 8)) / _MORE_STEPS
    return (
        taylor_step_cost(jets, order) * _relative_step_count(order, rtol)
        < runge_kutta_step_cost(model) * other
    )


def _jacobian_ir() -> str:
    """`jacobian`: the rows of the motion, then those of the quadratures."""
    f = ContextFunction("jacobian", INT32, DOUBLE, POINTER, POINTER, exported=True)
    (t, y, J), c, n = f.arguments, f.c, f.c.n_state
    x, audit = f.state_and_time(t, y), c.jacobian_audit
    f.call_void(c.jacobian, x, c.p, J, c.jacobian_work)
    with f.if_then(audit.not_equal(0)):
        f.call_void(audit, x, c.audit_p, f.offset(J, (n + 1) * n), c.jacobian_audit_work)
    return f"{copy_state_ir()}\n\n{f.finish(0)}\n"


@cached_call
def _jacobian_library() -> jit.Library:
    return jit.load(_jacobian_ir, ("jacobian",))


def bind_jacobian(
    context: Context, model: NativeModel, watched: BoundAudit | None, obstacle: str
) -> int:
    """The address of ∂f/∂y, whose functions are registered in the context."""
    if not model.rates.closed_form or obstacle:
        why = obstacle or "these equations are in augmented form"
        msg = (
            f"Rosenbrock's method needs rates in closed form, and {why}; leave out "
            f"integrator='rosenbrock'"
        )
        raise NotApplicable(msg)
    audit = None if watched is None or watched.audit.rates is None else watched.audit.jacobian
    context.linearize(model.jacobian, audit)
    return _jacobian_library().address("jacobian")
