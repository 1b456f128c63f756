"""da.lyapunov: how fast neighbours of a motion part from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dalembert.api.compile import what_to_integrate
from dalembert.api.simulate import checked_system
from dalembert.errors import NotApplicable
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.studies.lyapunov import LyapunovExponent


def lyapunov(
    system: System,
    duration: float,
    *,
    start: Mapping[Any, float] | None = None,
    guess: Mapping[Any, float] | None = None,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-9,
    max_step: float = math.inf,
    t0: float = 0.0,
    seed: int = 0,
) -> LyapunovExponent:
    """The largest Lyapunov exponent of a motion, with its own error, from the varied equations along it.

    duration   the longer the smaller the error: about with 1/√duration for chaotic motions, with 1/duration for regular ones
    seed       of the direction in which the neighbour begins
    The rest is as in da.simulate.
    """
    from dalembert.simulation.run_options import RunOptions
    from dalembert.studies.lyapunov import lyapunov_of_motion

    checked_system(system, "lyapunov")
    if system.contacts:
        msg = "lyapunov: contacts and dry friction change the equations on the way, which the neighbour does not see"
        raise NotApplicable(msg)
    options = RunOptions(
        start=start or {}, guess=guess or {}, values=values or {}, inputs=inputs or {}, rtol=rtol, atol=atol, max_step=max_step, t0=t0
    )
    return lyapunov_of_motion(*what_to_integrate(system, options.integrator), duration, options, seed)
