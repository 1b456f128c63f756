"""v_N⁺ ≥ 0 and v_N⁺ = −e v_N⁻: whether every jump of the speeds in a run is an impact of its law.

The check reads nothing but the states before and after each jump and the declared contacts. So it
does not share an error with the code that computes impacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dalembert.errors import warn
from dalembert.foundation.array_types import BoolArray, FloatArray, IndexArray
from dalembert.mechanics.model.elements import UnilateralContact

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

# a gap below this part of the largest coordinate is closed
_CLOSED: Final = 1e-7
# and above this one, which is rounding, it has not closed yet
_OPEN: Final = 1e-13
# velocities below this part of the largest speed are zero, and so are differences of them
_NO_SPEED: Final = 1e-6
# in what happens at the end of bouncing
_RESTS: Final = "rests"


class _Jumps(NamedTuple):
    """Gaps and normal velocities of contacts (rows) before and after every jump (columns)."""

    t: FloatArray
    gap: FloatArray
    before: FloatArray
    after: FloatArray
    restitution: FloatArray


def warn_of_wrong_impacts(run: Trajectory) -> bool:
    """Warn about the first jump that no impact explains; whether there is one.

    v_N⁺ ≥ 0 at every closed contact. Where one contact alone is closed, v_N⁺ = −e v_N⁻, or 0 at
    the end of bouncing; Poisson's law with friction has no such rule.
    """
    contacts = [
        c
        for c in run.system.contacts
        if c.gap is not None and c.approach is not None and not c.two_sided and c.active is None
    ]
    # friction alone has no impacts
    if not contacts or run.declared_events:
        return False
    steps = _jump_steps(run)
    if not steps.size:
        return False
    jumps = _jumps(run, contacts, steps)
    kin, y = run.kinematics, run.solution.y
    speeds = y[:, kin.speed_offset : len(kin.state)]
    size, speed = (float(np.abs(x).max()) for x in (y[:, : kin.n_q], speeds))
    closed = np.abs(jumps.gap) <= _CLOSED * max(size, 1.0)
    small = _NO_SPEED * max(speed, float(np.abs(jumps.before).max()))
    # one that is as close and unchanged, or not closed yet, closes an instant later
    changed = np.abs(jumps.after - jumps.before) > small
    touches = closed & (jumps.gap <= _OPEN * max(size, 1.0))
    enters = touches & changed & (jumps.after < -small)
    alone = closed & (closed.sum(axis=0) == 1) & (jumps.before < -small)
    simple = _follows_newton(run, contacts)
    rebound = -jumps.restitution * jumps.before
    wrong = alone & simple[:, None] & (np.abs(jumps.after - rebound) > small)
    if wrong.any():
        rests = np.array([_last_rest(run, c.name) for c in contacts])
        wrong &= (np.abs(jumps.after) > small) | (jumps.t > rests[:, None])
    return _report(contacts, jumps, rebound, enters | wrong)


def _follows_newton(run: Trajectory, contacts: Sequence[UnilateralContact]) -> BoolArray:
    """At which contacts v_N⁺ = −e v_N⁻ must hold."""
    rough = any(c.slip is not None for c in run.system.contacts)
    return np.array([c.law == "newton" or not rough for c in contacts])


def _last_rest(run: Trajectory, name: str) -> float:
    """When the bounces of a contact last came to their limit; −∞ where they never did."""
    return max((o.t for o in run.events if o.name == name and _RESTS in o.action), default=-np.inf)


def _report(
    contacts: list[UnilateralContact], jumps: _Jumps, rebound: FloatArray, wrong: FloatArray
) -> bool:
    if not wrong.any():
        return False
    jump = int(np.argmax(wrong.any(axis=0)))
    k = int(np.argmax(wrong[:, jump]))
    warn(
        f"{contacts[k].name!r}: after the impact at t = {jumps.t[jump]:.6g} the gap opens at "
        f"{jumps.after[k, jump]:.6g}, not at {rebound[k, jump]:.6g} (restitution "
        f"{jumps.restitution[k, jump]:g}): this is not the system's motion; report it as a fault"
    )
    return True


def _jump_steps(run: Trajectory) -> IndexArray:
    """The steps that take no time and change the speeds."""
    kin, still = run.kinematics, np.flatnonzero(np.diff(run.solution.t) == 0.0)
    speeds = run.solution.y[:, kin.speed_offset : len(kin.state)]
    changed = (speeds[still] != speeds[still + 1]).any(axis=1)
    steps: IndexArray = still[changed]
    return steps


def _jumps(run: Trajectory, contacts: list[UnilateralContact], steps: IndexArray) -> _Jumps:
    evaluator, m = run.values.evaluator, len(contacts)
    quantities = [[c.gap, c.approach, c.restitution] for c in contacts]
    nodes = [evaluator.in_state(x.i) for row in quantities for x in row if x is not None]
    both = np.concatenate([steps, steps + 1])
    width = len(evaluator.kin.state)
    columns = zip(evaluator.kin.state, run.solution.y[both, :width].T, strict=True)
    state = {**dict(columns), evaluator.time: run.solution.t[both]}
    table = evaluator.values_along(nodes, state, len(both)).reshape(m, 3, 2, len(steps))
    return _Jumps(
        run.solution.t[steps], table[:, 0, 0], table[:, 1, 0], table[:, 1, 1], table[:, 2, 0]
    )
