"""Taylor's method for a system: coefficients of the motion and of what rides along, joined to the integrator.

The right-hand side is order 0 of the coefficients; the integrator asks for the others at points that it has accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dalembert.errors import NotApplicable
from dalembert.numerics import jit
from dalembert.ode.constrained.rates import ConstrainedRates
from dalembert.ode.problem import TaylorSeries
from dalembert.once import made_once
from dalembert.simulation.context_fields import load
from dalembert.simulation.run_options import AUTO, TAYLOR
from dalembert.simulation.taylor_cost import best_order, taylor_is_cheaper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dalembert.simulation.context import Context
    from dalembert.simulation.energy_audit.audit import Watched
    from dalembert.simulation.model import NativeModel

_TEXT: Final = f"""
define i32 @rhs(double %t, ptr %y, ptr %dy, ptr %c) {{
{load("jets", "jets_audit", "n_state")}
  %first = load ptr, ptr %jets
  call void %first(ptr %jets, double %t, ptr %y, ptr %dy)
  %none = icmp eq ptr %jets_audit, null
  br i1 %none, label %done, label %audit
audit:
  %first_audit = load ptr, ptr %jets_audit
  %after = getelementptr double, ptr %dy, i64 %n_state
  call void %first_audit(ptr %jets_audit, double %t, ptr %y, ptr %after)
  br label %done
done:
  ret i32 0
}}

define i32 @expand(double %h, i64 %order, ptr %rows, i64 %width, ptr %c) {{
{load("jets", "jets_audit")}
  %raise.at = getelementptr ptr, ptr %jets, i64 1
  %raise = load ptr, ptr %raise.at
  call void %raise(ptr %jets, double %h, i64 %order, ptr %rows, i64 %width)
  %none = icmp eq ptr %jets_audit, null
  br i1 %none, label %done, label %audit
audit:
  %raise_audit.at = getelementptr ptr, ptr %jets_audit, i64 1
  %raise_audit = load ptr, ptr %raise_audit.at
  call void %raise_audit(ptr %jets_audit, double %h, i64 %order, ptr %rows, i64 %width)
  br label %done
done:
  ret i32 0
}}
"""


@made_once
def _library() -> jit.Library:
    return jit.load(_TEXT, ("rhs", "expand"))


def taylor_series(context: Context, model: NativeModel, p: NDArray[np.float64], watched: Watched | None, rtol: float) -> TaylorSeries:
    """The series of a run, whose context is told about them."""
    remedy = "leave out integrator='taylor'"
    if isinstance(model.rates, ConstrainedRates):
        msg = f"Taylor's method needs independent speeds in closed form, which these equations do not have; {remedy}"
        raise NotApplicable(msg)
    try:
        motion = model.jets
    except NotApplicable as problem:
        msg = f"{problem}; {remedy}"
        raise NotApplicable(msg) from problem
    audit = None if watched is None or watched.audit.rates is None else watched.audit.jets.space(watched.p)
    order = best_order(motion, rtol)
    context.expand(_library().address("rhs"), order, motion.space(p), audit)
    return TaylorSeries(_library().address("expand"), order)


def chosen_series(
    name: str, context: Context, model: NativeModel, p: NDArray[np.float64], watched: Watched | None, rtol: float, obstacle: str
) -> TaylorSeries | None:
    """The series of a run by Taylor's method, where it was asked for or is the cheaper one; None for the other.

    An `obstacle` is what keeps this run from having series.
    """
    if name == TAYLOR:
        if obstacle:
            msg = f"Taylor's method needs series of everything that moves, and {obstacle}; leave out integrator='taylor'"
            raise NotApplicable(msg)
        return taylor_series(context, model, p, watched, rtol)
    if name != AUTO or obstacle or not taylor_is_cheaper(model, rtol):
        return None
    try:
        return taylor_series(context, model, p, watched, rtol)
    except NotApplicable:
        # something that rides along
        return None
