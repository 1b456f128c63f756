"""λ = lim (1/t) ln |w(t)|/|w(0)|,  ẇ = ∂f/∂x w: how fast neighbours of a motion part from it.
Keywords: Lyapunov exponent.

w is integrated alongside the motion and rescaled to length one repeatedly; the logarithms of its
growth are summed. The first tenth is left out, in which w turns into the direction that grows
fastest.

The error has two parts: the scatter of the mean over twenty parts of the run, and ln(T/t₁)/(T −
t₁), which a regular motion gives, whose neighbours part at most as fast as t.

Source: Ben76 (the method).
"""

from __future__ import annotations

from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Integrator
from dalembert.runtime.simulation.forward_sensitivity.variational_equations import variational_model
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.simulation.run_options import RunOptions, time_span
from dalembert.runtime.simulation.run_setup import prepare_run
from dalembert.runtime.states.initial_conditions import InitialState
from dalembert.runtime.states.run_values import RunValues, run_values
from dalembert.runtime.states.tables import check_spans
from dalembert.symbolic.algebra.dual_numbers import jacobian

if TYPE_CHECKING:
    from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
    from dalembert.mechanics.equations.saddle_point import SaddlePointEquations
    from dalembert.mechanics.kinematics.system_kinematics import Kinematics


_SEGMENTS: Final = 2000
_TRANSIENT: Final = 0.1
_BATCHES: Final = 20
_RANK: Final = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class LyapunovExponent(Displayable):
    """The largest Lyapunov exponent of a motion, per unit of time, and its own error."""

    value: float
    error: float
    # the ends of the segments, and ln |w| there
    t: FloatArray = field(repr=False)
    growth: FloatArray = field(repr=False)
    system: str = ""

    @property
    def chaotic(self) -> bool:
        """Whether neighbours part exponentially, beyond twice the error."""
        return self.value > 2.0 * self.error

    @property
    def estimates(self) -> FloatArray:
        """ln |w|/(t − t₀) as it settles."""
        return np.asarray(self.growth / (self.t - 2 * self.t[0] + self.t[1]))

    def __str__(self) -> str:
        statement = (
            f"neighbouring motions diverge by a factor e in {1.0 / self.value:.3g}"
            if self.chaotic
            else "no exponential divergence beyond the error"
        )
        return (
            f"largest Lyapunov exponent of {self.system!r}: {self.value:.5g} ± "
            f"{self.error:.2g} "
            f"per unit of time; {statement}"
        )

    __repr__ = __str__


def lyapunov_of_motion(
    kin: Kinematics,
    equations: ExplicitEquations | SaddlePointEquations,
    duration: float,
    options: RunOptions,
    seed: int,
) -> LyapunovExponent:
    """The exponent along a motion from its start, for a duration."""
    t0, t1 = time_span(duration, options)
    chosen = run_values(kin, options.values, options.inputs)
    check_spans(chosen.table_inputs, t0, t1)
    model = native_model(chosen, equations)
    setup = prepare_run(chosen, model, options, t0).at_row_rank()
    start = setup.start
    context = setup.context(variational_model(chosen.kin, setup.model, (None,)))
    times = np.linspace(t0, t1, _SEGMENTS + 1)
    y = np.concatenate([start.y, _random_tangent(chosen, start, seed)])
    log_growth, integration = [], None
    for begin, end in pairwise(times.tolist()):
        problem = InitialValueProblem(
            rhs=context.rhs,
            project=context.project,
            context=context.address,
            y0=y,
            t0=begin,
            t1=end,
            rtol=options.rtol,
            atol=options.atol,
            max_step=options.max_step,
            dense=False,
        )
        if integration is None:
            integration = Integrator(problem)
        else:
            integration.restart(problem)
        y, growth = _integrate_segment(integration, len(start.y))
        log_growth.append(growth)
    return _estimate_exponent(times, np.array(log_growth), kin.system.name)


def _integrate_segment(integration: Integrator, n: int) -> tuple[FloatArray, float]:
    """The state at the end with w of length one, and ln |w| before."""
    while not integration.advance():
        pass
    y = integration.state
    length = float(np.linalg.norm(y[n:]))
    y[n:] /= length
    return y, float(np.log(length))


def _random_tangent(chosen: RunValues, start: InitialState, seed: int) -> FloatArray:
    """A random direction that the rows allow: ∂φ/∂q w = 0 and ∂e/∂(q, u) w = 0."""
    evaluator = chosen.evaluator
    kin = evaluator.kin
    w = np.random.default_rng(seed).normal(size=len(kin.state))
    rows = [row.phi for row in kin.linear_rows if row.phi is not None] + [
        row.e for row in kin.velocity_rows
    ]
    if rows:
        state = {
            **evaluator.numbers,
            **dict(zip(kin.state, start.y, strict=True)),
            evaluator.time: start.t,
        }
        J = jacobian(evaluator.tape, [evaluator.in_state(i) for i in rows], kin.state, state)[1][0]
        w -= np.linalg.lstsq(J, J @ w, rcond=_RANK)[0]
    return np.asarray(w / np.linalg.norm(w))


def _estimate_exponent(times: FloatArray, grown: FloatArray, system: str) -> LyapunovExponent:
    if not np.isfinite(grown).all():
        msg = (
            "lyapunov: the neighbouring motion diverges between two renormalizations; take a "
            "shorter duration"
        )
        raise NotApplicable(msg)
    first = int(_TRANSIENT * len(grown))
    length = float(times[-1] - times[first])
    value = float(grown[first:].sum()) / length
    error = (
        _standard_error(grown[first:]) * (len(grown) - first) / length
        + float(np.log(1.0 / _TRANSIENT)) / length
    )
    return LyapunovExponent(value, error, times[1:], np.cumsum(grown), system)


def _standard_error(grown: FloatArray) -> float:
    """The standard error of the mean, from means over parts that are long enough to be
    independent.
    """
    means = [part.mean() for part in np.array_split(grown, _BATCHES)]
    return float(np.std(means, ddof=1) / np.sqrt(_BATCHES))
