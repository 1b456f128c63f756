"""Guesses of periodic motions: a run that returns, or a linear mode of an equilibrium.

Source: Lyapunov's centre theorem: every frequency ω of a conservative system that is no divisor
of another has a family of periodic motions with T → 2π/ω.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from dalembert.analysis.periodic.flow import Flow
from dalembert.analysis.periodic.shooting import NoPeriodicMotion
from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.numerics.symbol_values import BadValue
from dalembert.runtime.simulation.trajectory import Trajectory

_SAMPLES: Final = 4000
_AT_REST: Final = 1e-7
_UNDAMPED: Final = 1e-5


def guess_from_run(run: Trajectory) -> tuple[dict[str, float], float]:
    """The state at the end of a run and the time since the run was nearest to it before."""
    begin, end = float(run.t[0]), float(run.t[-1])
    times = np.linspace(begin, end, _SAMPLES)
    names = state_names(run)
    states = np.column_stack([run.at(times)[name] for name in names])
    size = np.maximum(np.ptp(states, axis=0), 1e-12)
    # angles that advance and coordinates that drift are not part of the distance
    distances = np.linalg.norm((states - states[-1]) / size, axis=1)[::-1]
    away = np.flatnonzero(distances > 0.5 * distances.max())
    if not away.size:
        msg = "periodic: the run does not move; start off the equilibrium"
        raise NoPeriodicMotion(msg, 0.0)
    inner = (
        np.flatnonzero((distances[1:-1] <= distances[:-2]) & (distances[1:-1] <= distances[2:])) + 1
    )
    later = inner[inner > away[0]]
    if not later.size:
        msg = (
            "periodic: the run does not come back to where it ends; simulate longer, or give "
            "start and period"
        )
        raise NoPeriodicMotion(msg, float(distances[away[0] :].min()))
    good = later[distances[later] <= 2.0 * distances[later].min() + 0.02]
    k = int(good[0])
    return dict(zip(names, states[-1].tolist(), strict=True)), float(times[-1] - times[-1 - k])


def state_names(run: Trajectory) -> tuple[str, ...]:
    """The names of the state of a run."""
    from dalembert.runtime.states.evaluator import label

    kin = run.kinematics
    return tuple(label(kin.name(i)) for i in kin.state)


class LinearMode(NamedTuple):
    """λ = σ ± iω with its eigenvector, positions real."""

    sigma: float
    omega: float
    vector: FloatArray


def rate_slopes(flow: Flow, x: FloatArray, t: float) -> FloatArray:
    """∂f/∂x; of constrained equations from the flow over a short time."""
    if not flow.constrained:
        J = np.asarray(flow.model.jacobian.call(np.append(x, t), flow.p)).reshape(flow.n, -1)
        return J[:, : flow.n]
    tau = 1e-4
    size = np.linalg.norm(flow(x, t, t + tau).Phi - np.eye(flow.n)) / tau
    tau = 0.02 / max(float(size), 1e-3)
    whole = flow(x, t, t + tau).Phi - np.eye(flow.n)
    # logarithm of Φ(τ) = exp(A τ)
    values, vectors = np.linalg.eig(whole + np.eye(flow.n))
    return np.asarray((vectors @ np.diag(np.log(values)) @ np.linalg.inv(vectors)).real / tau)


def linear_modes(flow: Flow, x: FloatArray) -> list[LinearMode]:
    """Oscillations near an equilibrium, slowest first."""
    values, vectors = np.linalg.eig(rate_slopes(flow, x, flow.given.t0))
    modes = []
    n_q = flow.kin.n_q
    for k in np.argsort(values.imag):
        if values[k].imag <= 1e-9 * max(1.0, float(np.abs(values).max())):
            continue
        v = vectors[:, k]
        lead = v[int(np.argmax(np.abs(v[:n_q])))]
        # the phase in which the coordinates are largest and the speeds vanish
        modes.append(LinearMode(float(values[k].real), float(values[k].imag), v / lead))
    return modes


def guess_from_mode(flow: Flow, mode: int, amplitude: float) -> tuple[Flow, float]:
    """The flow with a start off its equilibrium along a mode, and 2π/ω."""
    x, t0 = flow.x0, flow.given.t0
    rate = flow.rate(x, t0)
    if np.abs(rate).max() > _AT_REST * max(1.0, float(np.abs(x).max())):
        msg = (
            "periodic: mode= needs an equilibrium as start, and there are accelerations here; "
            "find it with da.equilibrium"
        )
        raise NotApplicable(msg)
    modes = linear_modes(flow, x)
    if not isinstance(mode, int) or not 1 <= mode <= len(modes):
        listed = ", ".join(f"{m.omega:.6g}" for m in modes) or "none"
        msg = (
            f"periodic: mode={mode!r}; the equilibrium has {len(modes)} oscillations, with ω = "
            f"{listed}"
        )
        raise BadValue(msg)
    chosen = modes[mode - 1]
    if abs(chosen.sigma) > _UNDAMPED * chosen.omega:
        msg = (
            f"periodic: mode {mode} has the growth rate {chosen.sigma:.6g} and starts no family; "
            "continue the equilibrium to its Hopf point"
        )
        raise NotApplicable(msg)
    flow.x0 = x + amplitude * chosen.vector.real
    return flow, float(2 * np.pi / chosen.omega)
