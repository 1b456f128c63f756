"""The motion of a run at other times than its steps, or in other states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.ode.failures import OutsideRun

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dalembert.runtime.simulation.trajectory import Trajectory


def at(run: Trajectory, times: ArrayLike) -> Trajectory:
    """The same motion at other times, by the polynomials between the steps."""
    try:
        wanted = np.atleast_1d(np.asarray(times, dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as problem:
        msg = f"{times!r:.60} is not a time or a list of times"
        raise OutsideRun(msg) from problem
    if wanted.ndim != 1:
        msg = f"give one time or a list of times, not an array of shape {wanted.shape}"
        raise OutsideRun(msg)
    return replace(
        run, sampled=(wanted, _project_between_steps(run, wanted, run.solution.at(wanted)))
    )


def with_states(run: Trajectory, times: ArrayLike, q: ArrayLike, u: ArrayLike) -> Trajectory:
    """The same system and values in other states: rows of coordinates and speeds, each at its
    time; first-order states are zero.
    """
    t, given = (
        np.asarray(times, dtype=np.float64),
        [np.asarray(each, dtype=np.float64) for each in (q, u)],
    )
    layout = run.values.kin.layout
    rows = np.zeros((len(given[0]), layout.size))
    rows[:, layout.q], rows[:, layout.u] = given
    return replace(run, sampled=(t, rows), quadrature_names=(), energy_audit=None, variation=None)


def _project_between_steps(run: Trajectory, t: FloatArray, y: FloatArray) -> FloatArray:
    """Between its ends a step leaves the rows by as much as its error: back onto them, as at the
    ends.
    """
    kin = run.values.kin
    between = np.flatnonzero(~np.isin(t, run.solution.t)) if kin.multipliers else ()
    if run.accelerations is not None and len(between):
        state = kin.layout.state
        y = y.copy()
        y[between, state] = run.accelerations.project(y[between, state], t[between])
    return y
