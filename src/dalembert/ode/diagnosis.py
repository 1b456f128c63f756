"""Why a run stopped, in words: the time, the component most likely at fault and what to look for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.ode.failures import (
    NotFinite,
    ProjectionFailed,
    RightHandSideFailed,
    RunStopped,
    StepCollapsed,
    StepRefused,
)
from dalembert.ode.run import Cause, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.ode.solution import Solution

# y/|y'| against t: a component that would double within so small a part of the time passed is running away
_RUNAWAY: Final = 1e-6


def stopped(run: Run, solution: Solution, slope: NDArray[np.float64]) -> RunStopped:
    """The error to raise for a run that stopped, with the motion so far."""
    kind, reason = _REASONS.get(run.cause, (StepCollapsed, ""))
    if kind is StepCollapsed:
        reason = _collapse(run, solution, slope)
    if kind is NotFinite and not solution.steps:
        reason = "the right-hand side is infinite or not a number already at the start"
    where = f"stopped at t = {run.t:.17g} after {solution.steps} steps: "
    return kind(where + reason.format(code=run.code, h=run.h), solution, run.code)


def _collapse(run: Run, solution: Solution, slope: NDArray[np.float64]) -> str:
    """The component that changes fastest, and whether it runs away."""
    y, rate = solution.y[-1, : slope.size], slope
    growth = np.abs(rate) / np.maximum(np.abs(y), np.finfo(float).tiny)
    worst = int(np.argmax(growth * (np.abs(y) > np.median(np.abs(y)) * _RUNAWAY)))
    fact = f"the step has shrunk to {run.h:.1e}; component {worst} is {y[worst]:.6g} and changes at {rate[worst]:.6g} per unit of time"
    if growth[worst] * max(abs(run.t), solution.t[-1] - solution.t[0]) > 1.0 / _RUNAWAY:
        return fact + ": it grows without bound in finite time"
    return fact + ": look for a jump or a kink in the right-hand side, or loosen the tolerance"


_REASONS: Final[dict[int, tuple[type[RunStopped], str]]] = {
    Cause.NOT_FINITE: (NotFinite, "the right-hand side is infinite or not a number just beyond, even for a step of {h:.1e}"),
    Cause.RHS: (RightHandSideFailed, "the right-hand side cannot be evaluated just beyond (code {code})"),
    Cause.PROJECT: (ProjectionFailed, "the projection finds no point on the constraints just beyond (code {code})"),
    Cause.ACCEPT: (StepRefused, "the acceptance test refuses every step, down to {h:.1e} (code {code})"),
}
