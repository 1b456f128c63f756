"""Rosenbrock's method for a system: ∂f/∂(q, u, t) of the motion and of what rides along, from the tape, joined to the integrator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dalembert.errors import NotApplicable
from dalembert.numerics import jit
from dalembert.ode.constrained.rates import ConstrainedRates
from dalembert.once import made_once
from dalembert.simulation.context_fields import COPY, load

if TYPE_CHECKING:
    from dalembert.simulation.context import Context
    from dalembert.simulation.energy_audit.audit import Watched
    from dalembert.simulation.model import NativeModel

_TEXT: Final = f"""
{COPY}
define i32 @jacobian(double %t, ptr %y, ptr %J, ptr %c) {{
{load("x", "p", "n_state", "jacobian", "jacobian_work", "jacobian_audit")}
  call void @copy(ptr %y, ptr %x, i64 %n_state, double %t)
  call void %jacobian(ptr %x, ptr %p, ptr %J, ptr %jacobian_work)
  %none = icmp eq ptr %jacobian_audit, null
  br i1 %none, label %done, label %audit
audit:
{load("audit_p", "jacobian_audit_work")}
  %across = add i64 %n_state, 1
  %numbers = mul i64 %across, %n_state
  %after = getelementptr double, ptr %J, i64 %numbers
  call void %jacobian_audit(ptr %x, ptr %audit_p, ptr %after, ptr %jacobian_audit_work)
  br label %done
done:
  ret i32 0
}}
"""


@made_once
def _library() -> jit.Library:
    return jit.load(_TEXT, ("jacobian",))


def native_jacobian(context: Context, model: NativeModel, watched: Watched | None, obstacle: str) -> int:
    """The address of ∂f/∂y, whose functions the context is told about."""
    if isinstance(model.rates, ConstrainedRates) or obstacle:
        why = obstacle or "these equations have rows beside them"
        msg = f"Rosenbrock's method needs rates in closed form, and {why}; leave out integrator='rosenbrock'"
        raise NotApplicable(msg)
    audit = None if watched is None or watched.audit.rates is None else watched.audit.jacobian
    context.linearize(model.jacobian, audit)
    return _library().address("jacobian")
