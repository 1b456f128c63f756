"""w = w₀(t) − K(t) (x − x₀(t)): the time-varying linear-quadratic regulator along a motion.

−Ṗ = Aᵀ P + P A − P B R⁻¹ Bᵀ P + Q backwards from P(T) = Q_T, on the independent states ξ, δx = N ξ,
with A = Nᵀ f_x N and B = Nᵀ f_w along the motion and a basis N that is carried without turning.
Each step is the exponential of the Hamiltonian matrix at its middle, which is stable for steps of
any size.

Source: H. Kwakernaak, R. Sivan, Linear Optimal Control Systems (1972), section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.control.regulator import Regulator, without_rounding
from dalembert.analysis.control.state_model import (
    BadControl,
    Numbers,
    StateModel,
    drive_names,
    exponential,
    tangent_basis,
    weights,
)
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.kinematics.system_kinematics import kinematics, unreduced_kinematics
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory
    from dalembert.runtime.states.inputs import RunState


@dataclass(frozen=True, eq=False)
class Tracker(Displayable):
    """K, x₀ and w₀ at times t; cubic splines between them, the last values afterwards."""

    system: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    t: Numbers = field(repr=False)
    # times × inputs × states
    K: Numbers = field(repr=False)
    x0: Numbers = field(repr=False)
    w0: Numbers = field(repr=False)
    # the cost matrix on the independent states at every time
    P: Numbers = field(repr=False)
    model: StateModel = field(repr=False)

    def __call__(self, t: float, x: Any) -> Numbers:
        """w at a time and a state x = (q, first-order states, u)."""
        n, m = len(self.states), len(self.inputs)
        now = self._splines(min(max(t, float(self.t[0])), float(self.t[-1])))
        x0, w0, K = now[:n], now[n : n + m], now[n + m :].reshape(m, n)
        return np.asarray(w0 - K @ self.model.error(np.asarray(x, dtype=float), x0))

    @cached_property
    def _splines(self) -> Callable[[float], Numbers]:
        from scipy.interpolate import CubicSpline

        rows = np.hstack([self.x0, self.w0, self.K.reshape(len(self.t), -1)])
        return CubicSpline(self.t, rows)  # type: ignore[no-any-return]

    @property
    def law(self) -> dict[str, Callable[[float, RunState], float]]:
        """{input: function of the time and the state}, for inputs= of simulate; da.sampled holds
        them.
        """
        return {name: self._input(k) for k, name in enumerate(self.inputs)}

    def _input(self, place: int) -> Callable[[float, RunState], float]:
        def value(t: float, now: RunState) -> float:
            return float(self(t, [now[name] for name in self.states])[place])

        return value

    def table(self) -> dict[str, Numbers]:
        """{"t": …, "K[F, theta]": …, "theta": …, "F": …}: the gains and the motion by columns."""
        columns = {"t": self.t}
        columns |= {name: self.x0[:, k] for k, name in enumerate(self.states)}
        columns |= {name: self.w0[:, k] for k, name in enumerate(self.inputs)}
        for i, w in enumerate(self.inputs):
            columns |= {f"K[{w}, {x}]": self.K[:, i, j] for j, x in enumerate(self.states)}
        return columns

    def __str__(self) -> str:
        largest = np.abs(self.K).max(axis=(0, 2))
        gains = ", ".join(f"{name}: {x:.4g}" for name, x in zip(self.inputs, largest, strict=True))
        span = f"t = {self.t[0]:g} … {self.t[-1]:g}, {len(self.t)} points"
        return f"tracking of {self.system!r}, {span}; largest gains {gains}"


@check_options
def track(
    run: Trajectory,
    *,
    Q: Any = None,
    R: Any = None,
    final: Any = None,
    drives: Sequence[Any] | None = None,
    points: int = 400,
) -> Tracker:
    """The gains K(t) that keep a system near a motion; tracker.law is what da.simulate takes as
    inputs.

    Q, R    weights of states and inputs: {name: weight}, a number, a row, or a matrix; by default 1
    final   the weight of the state at the end, or a regulator whose cost continues from there; by
            default Q
    drives  the inputs that are set; by default all
    points  how many gains are computed
    """
    _check(run, points)
    kin = kinematics(run.system)
    if kin.state_dependent_pivots and not kin.system.speed_list:
        kin = unreduced_kinematics(kin)
    model = StateModel(kin, drive_names(kin, drives), run.values.numbers)
    times = np.linspace(run.t[0], run.t[-1], 2 * points - 1)
    x, w = _motion(model, run, times)
    slopes = model.slopes(x, w, times)
    N = _nearest_bases(slopes.G)
    A = np.swapaxes(N, 1, 2) @ slopes.x @ N
    B = np.swapaxes(N, 1, 2) @ slopes.w
    W, V = weights("Q", Q, model.names), weights("R", R, model.drives)
    end = _final(final, W, N[-1], model)
    P = _riccati_backwards(A[1::2], B[1::2], N[1::2], W, V, end, times[2] - times[0])
    gains = np.linalg.solve(V, np.swapaxes(B[::2], 1, 2) @ P) @ np.swapaxes(N[::2], 1, 2)
    named = (run.system.name, model.names, model.drives, times[::2])
    return Tracker(*named, without_rounding(gains), x[::2], w[::2], P, model)


def _check(run: Any, points: int) -> None:
    from dalembert.runtime.simulation.trajectory import Trajectory

    if not isinstance(run, Trajectory):
        msg = f"track: give a run, as da.simulate returns it, not {type(run).__name__}"
        raise BadControl(msg)
    if run.contact_modes is not None:
        msg = (
            "track: this run has contacts, whose modes change; track the parts between the changes"
        )
        raise BadControl(msg)
    if not isinstance(points, int) or points < 2:
        msg = f"track: points={points!r:.40}; give a whole number, at least 2"
        raise BadControl(msg)


def _motion(model: StateModel, run: Trajectory, times: Numbers) -> tuple[Numbers, Numbers]:
    """x and w along the run."""
    inside, kin = run.at(times), model.kin
    keys = [Scalar(kin.tape, i) for i in (*kin.q, *kin.x, *kin.definitions)]
    x = np.column_stack([np.broadcast_to(inside[key], len(times)) for key in keys])
    w = [np.broadcast_to(inside[name], len(times)) for name in model.drives]
    return x, np.column_stack(w)


def _nearest_bases(G: Numbers) -> Numbers:
    """N at every time, each as near as possible to the one before it."""
    bases = [tangent_basis(G[0])]
    for rows in G[1:]:
        bases.append(tangent_basis(rows, bases[-1]))
    return np.array(bases)


def _final(final: Any, W: Numbers, N: Numbers, model: StateModel) -> Numbers:
    """P at the end."""
    if isinstance(final, Regulator):
        if final.states != model.names:
            msg = (
                f"track: the regulator has the states {', '.join(final.states)}, the run "
                f"{', '.join(model.names)}"
            )
            raise BadControl(msg)
        return np.asarray(N.T @ final.N @ final.P @ final.N.T @ N)
    return np.asarray(N.T @ (W if final is None else weights("final", final, model.names)) @ N)


def _riccati_backwards(
    A: Numbers, B: Numbers, N: Numbers, Q: Numbers, R: Numbers, end: Numbers, h: float
) -> Numbers:
    """P at the ends of all steps, from the coefficients in their middles."""
    n = A.shape[1]
    over_R = np.linalg.inv(R)
    H = np.zeros((len(A), 2 * n, 2 * n))
    H[:, :n, :n], H[:, n:, n:] = A, -np.swapaxes(A, 1, 2)
    H[:, :n, n:] = -B @ over_R @ np.swapaxes(B, 1, 2)
    H[:, n:, :n] = -(np.swapaxes(N, 1, 2) @ Q @ N)
    back, P = exponential(-h * H), [end]
    for E in back[::-1]:
        X, Y = E[:n, :n] + E[:n, n:] @ P[-1], E[n:, :n] + E[n:, n:] @ P[-1]
        new = np.linalg.solve(X.T, Y.T).T
        P.append((new + new.T) / 2)
    return np.array(P[::-1])
