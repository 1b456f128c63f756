"""A compiled system that is run again and again, and what its runs cost for the error they
achieve.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy
from measure import Timing
from numpy.typing import NDArray

import dalembert as da
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem, TaylorSeries
from dalembert.runtime.ode.integration import Integrator
from dalembert.runtime.simulation.context import Context
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.simulation.run_options import AUTO
from dalembert.runtime.simulation.taylor_and_rosenbrock import select_taylor_series
from dalembert.runtime.states.run_values import parameter_vector, run_values

State = NDArray[numpy.float64]
# the last state, the number of steps, and whether the tool itself calls the run a success
Outcome = tuple[State, int, bool]


class Ours:
    """dalembert's loop alone, by the integrator that "auto" chooses or another: no start values
    to find, no Trajectory to make.
    """

    def __init__(self, system: da.System, integrator: str = AUTO) -> None:
        self.system, self._integrator = system, integrator
        chosen = run_values(kinematics(system), {}, {})
        self._model = native_model(chosen, da.forward_dynamics(system))
        self._p = numpy.array(parameter_vector(chosen, self._model.parameters), dtype=float)
        self._chosen: dict[float, tuple[Context, TaylorSeries | None]] = {}
        self._made: dict[
            float, tuple[tuple[Sequence[float], float], InitialValueProblem, Integrator]
        ] = {}
        self.names = [chosen.kin.name(i) for i in (*chosen.kin.q, *chosen.kin.u)]

    def run(self, start: Sequence[float], duration: float, tolerance: float) -> Outcome:
        """To the last state, without dense output, by an integration that was made before, as
        heyoka's integrator was.
        """
        asked, problem, integration = self._made.get(tolerance, (None, None, None))
        if asked != (start, duration):
            problem = self._problem(start, duration, tolerance)
            integration = integration or Integrator(problem)
            self._made[tolerance] = (start, duration), problem, integration
        assert problem is not None
        assert integration is not None
        integration.restart(problem)
        while not integration.advance():
            pass
        return integration.state, integration.steps, True

    def _problem(
        self, start: Sequence[float], duration: float, tolerance: float
    ) -> InitialValueProblem:
        """The run as the integrator is told of it."""
        if tolerance not in self._chosen:
            self._chosen[tolerance] = self._by_auto(tolerance)
        c, series = self._chosen[tolerance]
        return InitialValueProblem(
            rhs=c.rhs,
            project=c.project,
            context=c.address,
            y0=start,
            t0=0.0,
            t1=duration,
            rtol=tolerance,
            atol=tolerance,
            dense=False,
            taylor=series,
        )

    def _by_auto(self, tolerance: float) -> tuple[Context, TaylorSeries | None]:
        """A context, and the series where Taylor's method is the cheaper one: what is not
        counted, as heyoka's compilation is not.
        """
        model = self._model
        context = Context(model.rates, self._p, model.projection, autonomous=model.autonomous)
        return context, select_taylor_series(
            self._integrator, context, model, self._p, None, tolerance, ""
        )


class Point(NamedTuple):
    """One run of one tool at one tolerance."""

    tolerance: float
    error: float
    timing: Timing
    steps: int
    success: bool


def front(points: Sequence[Point]) -> list[Point]:
    """Runs that no other run of the tool beats in both time and error, most accurate first."""
    best: list[Point] = []
    for p in sorted((p for p in points if p.success), key=lambda p: p.timing.cpu):
        if not best or p.error < best[-1].error:
            best.append(p)
    return best[::-1]


def time_at(points: Sequence[Point], error: float) -> Timing | None:
    """The time for an error, between runs by a straight line in logarithms; none outside the
    runs.
    """
    best = front(points)
    x = [log(p.error) for p in best]
    if len(best) < 2 or not x[0] <= log(error) <= x[-1]:
        return None
    cpu, wall = (
        float(numpy.exp(numpy.interp(log(error), x, [log(s) for s in column])))
        for column in zip(*((p.timing.cpu, p.timing.wall) for p in best), strict=True)
    )
    return Timing(cpu, wall, max(p.timing.noise for p in best))
