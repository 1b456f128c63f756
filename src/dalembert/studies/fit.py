"""min_θ Σ_i ((y_i − y(t_i; θ)) / σ_i)²: constants and start values from measured time series.

The Jacobian ∂y/∂θ comes from the sensitivities of the run. Where σ is not given, each column has one of its own, estimated from
its residuals. Standard errors are those of the linearized problem, cov θ = (Jᵀ J)⁻¹ with rows of J over σ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import DalembertError, warn
from dalembert.simulation.trajectory import Trajectory
from dalembert.studies.fit_data import BadData, MeasuredColumn
from dalembert.studies.fit_identifiability import Inseparable, by_structure, on_the_data
from dalembert.studies.fit_result import Fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    # the run with these values of the unknowns, with its sensitivities
    Runner = Callable[[Numbers], Trajectory]

_PASSES: Final = 8
# σ of a column that changes by less is settled
_SETTLED: Final = 1e-3
_TIGHT: Final = 1e-12
# a column of the Jacobian that is smaller than this part of the largest says nothing
_NOTHING: Final = 1e-10


class BadFit(DalembertError):
    """An identification that cannot be made, with the reason."""


@dataclass
class FitProblem:
    """Residuals and their Jacobian at any θ; the run of the last θ is kept."""

    columns: tuple[MeasuredColumn, ...]
    names: tuple[str, ...]
    runner: Runner
    sigma: Numbers
    evaluations: int = 0
    _last: tuple[bytes, Trajectory | None] = field(default=(b"", None), repr=False)

    @property
    def times(self) -> Numbers:
        """All times, each once."""
        return np.unique(np.concatenate([c.t for c in self.columns]))

    def run(self, theta: Numbers) -> Trajectory | None:
        """The motion with these values; None where there is none."""
        key = theta.tobytes()
        if self._last[0] != key:
            self.evaluations += 1
            try:
                found: Trajectory | None = self.runner(theta)
            except DalembertError:
                found = None
            self._last = key, found
        return self._last[1]

    def residuals(self, theta: Numbers) -> Numbers:
        """(y(t; θ) − y) / σ of all columns, one after the other."""
        run = self.run(theta)
        if run is None:
            return np.full(sum(len(c.t) for c in self.columns), np.nan)
        parts = [run[c.key][np.searchsorted(run.t, c.t)] - c.values for c in self.columns]
        return np.concatenate([r / s for r, s in zip(parts, self.sigma, strict=True)])

    def jacobian(self, theta: Numbers) -> Numbers:
        """∂ residuals/∂θ"""
        run = self.run(theta)
        assert run is not None
        rows = []
        for c, s in zip(self.columns, self.sigma, strict=True):
            at = np.searchsorted(run.t, c.t)
            rows.append(np.column_stack([run.sensitivity(c.key, name)[at] for name in self.names]) / s)
        return np.vstack(rows)

    def by_column(self, residuals: Numbers) -> list[Numbers]:
        """The residuals of each column."""
        return np.split(residuals, np.cumsum([len(c.t) for c in self.columns])[:-1])


def fit_runs(
    columns: tuple[MeasuredColumn, ...],
    names: tuple[str, ...],
    first: Numbers,
    runner: Runner,
    noise: Mapping[str, float] | None,
    bounds: tuple[Sequence[float], Sequence[float]],
    most: int,
) -> Fit:
    """The best θ from a first guess, its errors, and what cannot be told apart."""
    sigma = np.ones(len(columns)) if noise is None else np.array([noise[c.name] for c in columns])
    problem = FitProblem(columns, names, runner, sigma)
    start_run = runner(first)
    _check_columns(start_run, columns)
    problem.sigma = sigma if noise is not None else np.array([np.std(c.values) or 1.0 for c in columns])
    _check_influence(problem, first)
    structure = by_structure(start_run, [c.key for c in columns])
    theta, solution = first, None
    for _ in range(1 if noise is not None else _PASSES):
        solution = _solved(problem, theta, bounds, most)
        theta = np.asarray(solution.x)
        spread = _spread(problem, problem.residuals(theta), len(names)) * problem.sigma
        settled = (np.abs(spread - problem.sigma) <= _SETTLED * problem.sigma).all()
        if noise is None:
            problem.sigma = np.where(spread > 0.0, spread, problem.sigma)
        if settled or len(columns) == 1:
            break
    assert solution is not None
    run = problem.run(theta)
    assert run is not None
    return _result(problem, run, theta, structure, _sizes(theta), converged=bool(solution.success), known=noise is not None)


def _solved(problem: FitProblem, theta: Numbers, bounds: Any, most: int) -> Any:
    from scipy.optimize import least_squares

    low, high = (np.asarray(b, dtype=np.float64) for b in bounds)
    return least_squares(
        problem.residuals,
        np.clip(theta, low, high),
        problem.jacobian,
        bounds=(low, high),
        x_scale=_sizes(theta),
        ftol=_TIGHT,
        xtol=_TIGHT,
        gtol=_TIGHT,
        max_nfev=most,
    )


def _sizes(theta: Numbers) -> Numbers:
    """What counts as a change of order one."""
    return np.where(theta != 0.0, np.abs(theta), 1.0)


def _spread(problem: FitProblem, residuals: Numbers, count: int) -> Numbers:
    """σ̂ of each column, with its share of the unknowns taken off its number of values."""
    total = len(residuals)
    parts = problem.by_column(residuals)
    free = [max(len(r) * (1.0 - count / total), 1.0) for r in parts]
    return np.array([np.sqrt(np.sum(r**2) / n) for r, n in zip(parts, free, strict=True)])


def _check_columns(run: Trajectory, columns: Sequence[MeasuredColumn]) -> None:
    """Every column must be an expression of the system."""
    for c in columns:
        try:
            value = run[c.key]
        except DalembertError as problem:
            msg = f"data: column {c.name!r} is no expression of {run.system.name!r}: {problem}"
            raise BadData(msg) from problem
        if not np.isfinite(value).all():
            msg = f"data: column {c.name!r} has no finite value at t = {run.t[~np.isfinite(value)][0]:.6g} in the run with the first guess"
            raise BadData(msg)
    if sum(len(c.t) for c in columns) < 1:
        msg = "data: nothing was measured"
        raise BadData(msg)


def _check_influence(problem: FitProblem, theta: Numbers) -> None:
    """Refuse unknowns on which no column depends, and more unknowns than values."""
    J = problem.jacobian(theta) * _sizes(theta)
    if len(J) < len(theta):
        msg = f"fit: {len(theta)} unknowns and {len(J)} measured values; measure more, or name fewer unknowns"
        raise BadFit(msg)
    lengths = np.linalg.norm(J, axis=0)
    idle = [name for name, x in zip(problem.names, lengths, strict=True) if x <= _NOTHING * lengths.max(initial=0.0)]
    if idle:
        what, which = ", ".join(c.name for c in problem.columns), ", ".join(idle)
        msg = f"fit: nothing that was measured ({what}) depends on {which} at the first guess; leave out, begin elsewhere or measure more"
        raise BadFit(msg)


def _result(
    problem: FitProblem, run: Trajectory, theta: Numbers, structure: Inseparable, sizes: Numbers, *, converged: bool, known: bool
) -> Fit:
    names, residuals, J = problem.names, problem.residuals(theta), problem.jacobian(theta) * sizes
    local = on_the_data(J, names)
    together = np.array([name in local.names for name in names])
    covariance = np.linalg.pinv(J.T @ J, rcond=1e-14, hermitian=True) * np.outer(sizes, sizes)
    covariance[together] = covariance[:, together] = np.nan
    covariance[together, together] = np.inf
    if not converged:
        warn("fit: the best values were not reached; allow more evaluations (most=…) or begin nearer")
    for group in local.groups:
        warn(f"fit: {', '.join(group)} cannot be told apart by these data; one of their values may be given, or another column measured")
    columns = {c.name: (c.t, c.values, r * s) for c, r, s in zip(problem.columns, problem.by_column(residuals), problem.sigma, strict=True)}
    noise = dict(zip(columns, problem.sigma.tolist(), strict=True))
    chi2 = float(residuals @ residuals) / max(len(residuals) - len(theta), 1)
    return Fit(names, theta, covariance, columns, noise, local, structure, run, chi2, problem.evaluations, converged, known)
