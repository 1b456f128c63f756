"""Why a run stopped, or does not get on, in words: the time, the component most likely at fault and what to look for.

A run that does not get on is recognised within 10⁵ steps.

chattering    a slope jumps to and fro from step to step: the motion slides along a jump of the right-hand side
stiffness     h |∂f/∂y| stays at the limit of stability, some 6 for this method, while the solution itself is smooth
otherwise     so many steps that they could not be kept
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.ode.failures import Crawling, NotFinite, ProjectionFailed, RightHandSideFailed, RunStopped, StepCollapsed, StepRefused
from dalembert.ode.run import Cause, Run
from dalembert.ode.solution import slope_at_begin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dalembert.ode.loop import Integration
    from dalembert.ode.solution import Solution

    Numbers = NDArray[np.float64]

# y/|y'| against t: a component that would double within so small a part of the time passed is running away
_RUNAWAY: Final = 1e-6
STEPS: Final = 100_000
# of the whole run, within so many steps: at this pace the end is 10⁸ steps away
LEAST_PART: Final = 1e-3
# bytes of stored steps
_MOST_BYTES: Final = 2 * 10**9
_LOOK: Final = 400
# the part of its size by which a rate must change, and the part of that change which must happen between two of so many samples
_TURN: Final = 0.2
_JUMP: Final = 0.5
_SAMPLES: Final = 33
# h |∂f/∂y| beyond which accuracy cannot be what holds the step down
_STABILITY: Final = 2.0
_POWERS: Final = 8
_NUDGE: Final = 1e-7


def stopped(run: Run, solution: Solution, slope: Numbers) -> RunStopped:
    """The error to raise for a run that stopped, with the motion so far."""
    kind, reason = _REASONS.get(run.cause, (StepCollapsed, ""))
    if kind is StepCollapsed:
        reason = _collapse(run, solution, slope)
    if kind is NotFinite and not solution.steps:
        reason = "the right-hand side is infinite or not a number already at the start"
    where = f"stopped at t = {run.t:.17g} after {solution.steps} steps: "
    return kind(where + reason.format(code=run.code, h=run.h), solution, run.code)


def _collapse(run: Run, solution: Solution, slope: Numbers) -> str:
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


class CrawlWatch:
    """Looks at a run every so often."""

    def __init__(self, integration: Integration) -> None:
        self._t, self._length, self._attempts = integration.t, integration.problem.t1 - integration.t, integration.attempts

    def look(self, integration: Integration) -> None:
        """Raise `Crawling` where the last 10⁵ steps have brought next to nothing, or where memory would run out."""
        if integration.stored_bytes > _MOST_BYTES:
            raise _error(integration, _reason(integration) or _too_many(integration, self._length))
        if integration.attempts - self._attempts < STEPS:
            return
        part = (integration.t - self._t) / self._length
        if part < LEAST_PART:
            raise _error(integration, _reason(integration) or _too_many(integration, self._length))
        self._t, self._attempts = integration.t, integration.attempts


def _error(integration: Integration, why: str) -> Crawling:
    where = f"stopped at t = {integration.t:.17g} after {integration.steps} steps: "
    return Crawling(where + why, integration.so_far())


def _too_many(integration: Integration, length: float) -> str:
    done = integration.t - integration.problem.t0
    steps = integration.steps * length / done if done > 0.0 else np.inf
    return (
        f"at this pace the run takes {steps:.0e} steps, more than can be kept; "
        "make it shorter, loosen rtol and atol, or go on from this state in a new run"
    )


def _reason(integration: Integration) -> str | None:
    """Chattering or stiffness, from the last steps."""
    t, y, slopes = _last(integration)
    if len(t) < _LOOK // 2:
        return None
    jump = _jump(integration, t, y, slopes)
    if jump is not None:
        place, low, high = jump
        way = "declare the friction that it is (s.friction), smooth it (tanh(v/ε)), or let an event end or change the motion there"
        cure = f"where sign or |·| of a velocity holds it, {way}"
        what = f"chattering: the rate of component {place} jumps between {low:.6g} and {high:.6g} from step to step"
        return f"{what}, and steps have shrunk to {np.diff(t).mean():.1e}; {cure}"
    h, (steep, fast) = float(np.median(np.diff(t))), _steepness(integration, t[-1], y[-1])
    if h * steep > _STABILITY:
        what = f"stiffness: something around component {fast} settles {steep:.0e} times in a unit of time"
        return f"{what}, and no longer step than {h:.1e} is stable; choose integrator='rosenbrock', 'Radau', 'BDF' or 'CVODE'"
    return None


def _last(integration: Integration) -> tuple[Numbers, Numbers, Numbers]:
    """Times, states and slopes where the last steps began."""
    n, first = integration.problem.in_norm, max(integration.first_step, integration.steps - _LOOK)
    # without jumps, which take no time
    steps = [s for k in range(first, integration.steps + 1) if (s := integration.step(k)).end > s.begin]
    t = np.array([s.begin for s in steps])
    h = np.array([s.end - s.begin for s in steps])[:, np.newaxis]
    states = np.array([s.rows[0, :n] for s in steps])
    return t, states, np.array([slope_at_begin(s.rows[:, :n]) for s in steps]) / h


def _steepness(integration: Integration, t: float, y: Numbers) -> tuple[float, int]:
    """|λ| of the fastest mode of ∂f/∂y, by powers of it, and the component in which that mode shows most."""
    here, v = integration.rates(t, y), np.ones(y.size)
    steep = 0.0
    for _ in range(_POWERS):
        nudge = _NUDGE * (1.0 + float(np.abs(y).max())) / float(np.linalg.norm(v))
        change = (integration.rates(t, y + nudge * v) - here) / nudge
        steep = float(np.linalg.norm(change) / np.linalg.norm(v))
        if not np.isfinite(steep) or steep == 0.0:
            break
        v = change / np.linalg.norm(change)
    return (steep, int(np.argmax(np.abs(v)))) if np.isfinite(steep) else (0.0, 0)


def _jump(integration: Integration, t: Numbers, y: Numbers, slopes: Numbers) -> tuple[int, float, float] | None:
    """The component whose rate jumps on the way from one state to the next, and the rates on both sides.

    On a short way a smooth rate changes evenly, however steep it is; one that jumps does so between two neighbours.
    """
    size = np.abs(slopes).max(axis=0)
    turns = np.abs(np.diff(slopes, axis=0)) / np.where(size > 0.0, size, np.inf)
    k, place = np.unravel_index(int(np.argmax(turns)), turns.shape)
    way = np.linspace(0.0, 1.0, _SAMPLES)[:, np.newaxis]
    rates = np.array([integration.rates(t[k], row) for row in y[k] + way * (y[k + 1] - y[k])])[:, place]
    changes = np.abs(np.diff(rates))
    if turns[k, place] < _TURN or changes.max() <= _JUMP * changes.sum():
        return None
    return int(place), float(rates.min()), float(rates.max())
