"""F(t, y, ẏ) = 0: the equations of motion for solvers of differential-algebraic equations.

    q̇ − E z − X = 0,   𝓜 ż − f − Aᵀλ = 0,   A ż + γ + 2α e + α² φ = 0

With y = (q, z, quadratures, λ) this is a system of index one: λ is determined by equations that contain no ẏ but ż.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dalembert.ode.constrained.rates import ConstrainedRates, Workspace
from dalembert.ode.problem import InitialValueProblem
from dalembert.simulation.energy_audit.audit import Watched

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


class Implicit(Protocol):
    """F and a consistent start."""

    def __call__(self, t: float, y: Numbers, yp: Numbers, /) -> Numbers: ...

    def start(self, problem: InitialValueProblem, /) -> tuple[Numbers, Numbers]:
        """y and ẏ to begin with."""
        ...


class Explicit:
    """ẏ − f(t, y) = 0"""

    def __init__(self, rates: Callable[[float, Numbers], Numbers]) -> None:
        self._rates = rates

    def __call__(self, t: float, y: Numbers, yp: Numbers, /) -> Numbers:
        found: Numbers = yp - self._rates(t, y)
        return found

    def start(self, problem: InitialValueProblem, /) -> tuple[Numbers, Numbers]:
        """The start itself, and f there."""
        return problem.start, self._rates(problem.t0, problem.start)


class IndexOne:
    """Rows beside the equations; those that are kept are chosen once, at the start."""

    def __init__(self, rates: ConstrainedRates, p: Numbers, problem: InitialValueProblem, watched: Watched | None) -> None:
        self._rates, self._p, self._watched = rates, p, watched
        self._n, self._size = problem.in_norm, problem.size
        space = Workspace(rates, p, alpha=rates.alpha)
        x = np.append(problem.start[: self._n], problem.t0)
        space.choose_rows(x)
        self._kept = np.sort(space.order[: rates.cap])
        self._yp, self._lam = space.evaluate(x), space.multipliers[: rates.layout.m].copy()

    def start(self, problem: InitialValueProblem, /) -> tuple[Numbers, Numbers]:
        """The start with its λ, and the rates there."""
        x = np.append(problem.start[: self._n], problem.t0)
        y = np.concatenate([problem.start, self._lam[self._kept]])
        riding = self._audit(x, self._lam)
        return y, np.concatenate([self._yp, riding, np.zeros(len(self._kept))])

    def __call__(self, t: float, y: Numbers, yp: Numbers, /) -> Numbers:
        n_q, n, rates = self._rates.layout.n_q, self._n, self._rates
        x = np.append(y[:n], t)
        at = {name: table[0] for name, table in rates.rows(x[np.newaxis], self._p).items()}
        A, kept, alpha = at["A"], self._kept, rates.alpha
        lam = np.zeros(len(A))
        lam[kept] = y[self._size :]
        zdot = yp[n_q:n]
        dynamics = at["M"] @ zdot - at["f"] - A.T @ lam
        rows = (A @ zdot + at["gamma"] + 2 * alpha * at["e"] + alpha**2 * at["phi"])[kept]
        riding = yp[n : self._size] - self._audit(x, lam)
        return np.concatenate([yp[:n_q] - at["qdot"], dynamics, riding, rows])

    def _audit(self, x: Numbers, lam: Numbers) -> Numbers:
        """The rates of what rides along."""
        watched = self._watched
        if watched is None or watched.audit.rates is None:
            return np.zeros(self._size - self._n)
        return watched.audit.rates.call(np.concatenate([x, lam]) if watched.audit.takes_multipliers else x, watched.p)
