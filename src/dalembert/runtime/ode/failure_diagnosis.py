"""Why a run stopped, or makes no progress, as data: the time, the component most likely at fault
and what to look for.
Keywords: stiffness detection.

A run that makes no progress is recognised within 10⁵ steps.

chattering   a slope jumps to and fro from step to step: the motion slides along a jump of the
             right-hand side
stiffness    h |∂f/∂y| stays at the limit of stability, some 6 for this method, while the solution
             itself is smooth
otherwise    too many steps to store
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.runtime.ode.failures import (
    Cause,
    NoProgress,
    NotFinite,
    ProjectionFailed,
    RightHandSideFailed,
    RunStopped,
    StepCollapsed,
    StepRefused,
)
from dalembert.runtime.ode.integrator_state import IntegratorState, StepCause

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.runtime.ode.integration import Integrator
    from dalembert.runtime.ode.solution import Solution

    Numbers = NDArray[np.float64]

# y/|y'| against t: a component that would double within so small a part of the time passed is
# running away
_RUNAWAY: Final = 1e-6
# a finished run with more steps is examined for stiffness
STIFF_STEPS: Final = 100_000
STALL_STEPS: Final = 100_000
# of the whole run, within this number of steps: at this pace the end is 10⁸ steps away
MIN_PROGRESS: Final = 1e-3
# bytes of stored steps
_MOST_BYTES: Final = 2 * 10**9
_N_RECENT: Final = 400
# the part of its size by which a rate must change, and the part of that change which must happen
# between two of this number of samples
_MIN_RATE_CHANGE: Final = 0.2
_JUMP_SHARE: Final = 0.5
_SAMPLES: Final = 33
# h |∂f/∂y| beyond which accuracy cannot be what holds the step down
_STABILITY: Final = 2.0
_POWERS: Final = 8
_NUDGE: Final = 1e-7


def run_stopped_error(run: IntegratorState, solution: Solution, slope: Numbers) -> RunStopped:
    """The error to raise for a run that stopped, with the motion so far."""
    kind, cause = _CAUSES.get(run.cause, (StepCollapsed, Cause.STEP_SIZE))
    if kind is StepCollapsed:
        return _step_collapse_reason(run, solution, slope)
    if kind is NotFinite and not solution.steps:
        cause = Cause.NOT_FINITE_AT_START
    return kind(cause, solution, code=run.code, t=run.t, h=run.h)


def _step_collapse_reason(
    run: IntegratorState, solution: Solution, slope: Numbers
) -> StepCollapsed:
    """The component that changes fastest, and whether it runs away."""
    y, rate = solution.y[-1, : slope.size], slope
    growth = np.abs(rate) / np.maximum(np.abs(y), np.finfo(float).tiny)
    worst = int(np.argmax(growth * (np.abs(y) > np.median(np.abs(y)) * _RUNAWAY)))
    runs_away = growth[worst] * max(abs(run.t), solution.t[-1] - solution.t[0]) > 1.0 / _RUNAWAY
    cause, facts = (
        Cause.BLOW_UP if runs_away else Cause.STEP_SIZE,
        {"t": run.t, "h": run.h, "value": y[worst], "rate": rate[worst]},
    )
    return StepCollapsed(cause, solution, component=worst, code=run.code, **facts)


_CAUSES: Final[dict[int, tuple[type[RunStopped], Cause]]] = {
    StepCause.NOT_FINITE: (NotFinite, Cause.NOT_FINITE),
    StepCause.RHS: (RightHandSideFailed, Cause.RIGHT_HAND_SIDE),
    StepCause.PROJECT: (ProjectionFailed, Cause.PROJECTION),
    StepCause.ACCEPT: (StepRefused, Cause.ACCEPTANCE),
}


class StallDetector:
    """Looks at a run every so often."""

    def __init__(self, integration: Integrator) -> None:
        self._t, self._length, self._attempts = (
            integration.t,
            integration.problem.t1 - integration.t,
            integration.attempts,
        )

    def check_progress(self, integration: Integrator) -> None:
        """Raise `NoProgress` where the last 10⁵ steps have brought next to nothing, or where
        memory would run out.
        """
        if integration.stored_bytes > _MOST_BYTES:
            raise self._failure(integration)
        if integration.attempts - self._attempts < STALL_STEPS:
            return
        part = (integration.t - self._t) / self._length
        if part < MIN_PROGRESS:
            raise self._failure(integration)
        self._t, self._attempts = integration.t, integration.attempts

    def _failure(self, integration: Integrator) -> NoProgress:
        return _chattering_or_stiffness(integration) or _step_count_reason(
            integration, self._length
        )


def _step_count_reason(integration: Integrator, length: float) -> NoProgress:
    done = integration.t - integration.problem.t0
    needed = integration.steps * length / done if done > 0.0 else np.inf
    return _no_progress(integration, Cause.TOO_MANY_STEPS, needed=needed)


def _no_progress(
    integration: Integrator, cause: Cause, component: int | None = None, **facts: Any
) -> NoProgress:
    return NoProgress(
        cause,
        integration.partial_solution(),
        component=component,
        t=integration.t,
        steps=integration.steps,
        **facts,
    )


def _chattering_or_stiffness(integration: Integrator) -> NoProgress | None:
    """What the last steps show."""
    t, y, slopes = _recent_steps(integration)
    if len(t) < _N_RECENT // 2:
        return None
    jump = _find_discontinuity(integration, t, y, slopes)
    if jump is not None:
        place, low, high = jump
        return _no_progress(
            integration, Cause.CHATTERING, place, low=low, high=high, h=np.diff(t).mean()
        )
    h, (steep, fast) = float(np.median(np.diff(t))), _spectral_radius(integration, t[-1], y[-1])
    return (
        _no_progress(integration, Cause.STIFFNESS, fast, rate=steep, h=h)
        if h * steep > _STABILITY
        else None
    )


def ends_stiff(integration: Integrator) -> bool:
    """Whether a run of very many steps ended at the limit of stability: h |λ| is at that limit."""
    if integration.steps < STIFF_STEPS or not integration.problem.dense:
        return False
    t, y, _ = _recent_steps(integration)
    if len(t) < _N_RECENT // 2:
        return False
    steep, _ = _spectral_radius(integration, t[-1], y[-1])
    return float(np.median(np.diff(t))) * steep > _STABILITY


def _recent_steps(integration: Integrator) -> tuple[Numbers, Numbers, Numbers]:
    """Times, states and slopes where the last steps began."""
    n, first = (
        integration.problem.n_in_norm,
        max(integration.first_step, integration.steps - _N_RECENT),
    )
    # without jumps, which take no time
    steps = [
        s for k in range(first, integration.steps + 1) if (s := integration.step(k)).end > s.begin
    ]
    t = np.array([s.begin for s in steps])
    h = np.array([s.end - s.begin for s in steps])[:, np.newaxis]
    states = np.array([s.rows[0, :n] for s in steps])
    return t, states, np.array([s.slope_at_begin[:n] for s in steps]) / h


def _spectral_radius(integration: Integrator, t: float, y: Numbers) -> tuple[float, int]:
    """|λ| of the fastest mode of ∂f/∂y, by powers of it, and the component in which that mode
    shows most.
    """
    here, v = integration.evaluate_rhs(t, y), np.ones(y.size)
    steep = 0.0
    for _ in range(_POWERS):
        nudge = _NUDGE * (1.0 + float(np.abs(y).max())) / float(np.linalg.norm(v))
        change = (integration.evaluate_rhs(t, y + nudge * v) - here) / nudge
        steep = float(np.linalg.norm(change) / np.linalg.norm(v))
        if not np.isfinite(steep) or steep == 0.0:
            break
        v = change / np.linalg.norm(change)
    return (steep, int(np.argmax(np.abs(v)))) if np.isfinite(steep) else (0.0, 0)


def _find_discontinuity(
    integration: Integrator, t: Numbers, y: Numbers, slopes: Numbers
) -> tuple[int, float, float] | None:
    """The component whose rate jumps on the way from one state to the next, and the rates on both
    sides.

    On a short way a smooth rate changes evenly, however steep it is; one that jumps does so between
    two neighbours.
    """
    size = np.abs(slopes).max(axis=0)
    turns = np.abs(np.diff(slopes, axis=0)) / np.where(size > 0.0, size, np.inf)
    k, place = np.unravel_index(int(np.argmax(turns)), turns.shape)
    way = np.linspace(0.0, 1.0, _SAMPLES)[:, np.newaxis]
    rates = np.array(
        [integration.evaluate_rhs(t[k], row) for row in y[k] + way * (y[k + 1] - y[k])]
    )[:, place]
    changes = np.abs(np.diff(rates))
    if turns[k, place] < _MIN_RATE_CHANGE or changes.max() <= _JUMP_SHARE * changes.sum():
        return None
    return int(place), float(rates.min()), float(rates.max())
