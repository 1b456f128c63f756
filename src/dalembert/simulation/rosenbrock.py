"""Rosenbrock's method for a system: ∂f/∂(q, u, t) of the motion and of what rides along, from the tape, joined to the integrator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.errors import NotApplicable
from dalembert.numerics import jit
from dalembert.numerics.llvm_types import CODE, POINTER, REAL
from dalembert.ode.constrained.rates import ConstrainedRates
from dalembert.once import made_once
from dalembert.simulation.run_text import ContextFunction, copy

if TYPE_CHECKING:
    from dalembert.simulation.context import Context
    from dalembert.simulation.energy_audit import Watched
    from dalembert.simulation.model import NativeModel


def _jacobian_text() -> str:
    """`jacobian`: the rows of the motion, and behind them those of what rides along."""
    f = ContextFunction("jacobian", CODE, REAL, POINTER, POINTER, exported=True)
    (t, y, J), c, n = f.arguments, f.c, f.c.n_state
    x, audit = f.beside(t, y), c.jacobian_audit
    f.do(c.jacobian, x, c.p, J, c.jacobian_work)
    with f.when(audit.differs(0)):
        f.do(audit, x, c.audit_p, f.behind(J, (n + 1) * n), c.jacobian_audit_work)
    return f"{copy()}\n\n{f.done(0)}\n"


@made_once
def _library() -> jit.Library:
    return jit.load(_jacobian_text, ("jacobian",))


def native_jacobian(context: Context, model: NativeModel, watched: Watched | None, obstacle: str) -> int:
    """The address of ∂f/∂y, whose functions the context is told about."""
    if isinstance(model.rates, ConstrainedRates) or obstacle:
        why = obstacle or "these equations have rows beside them"
        msg = f"Rosenbrock's method needs rates in closed form, and {why}; leave out integrator='rosenbrock'"
        raise NotApplicable(msg)
    audit = None if watched is None or watched.audit.rates is None else watched.audit.jacobian
    context.linearize(model.jacobian, audit)
    return _library().address("jacobian")
