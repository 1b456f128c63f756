"""min_θ Σ_i ((y_i − y(t_i; θ)) / σ_i)²: constants and start values from measured time series.

The Jacobian ∂y/∂θ comes from the sensitivities of the run. Where σ is not given, each column has
one of its own, estimated from its residuals, over all tables that have it. Standard errors are
those of the linearized problem, cov θ = (Jᵀ J)⁻¹ with rows of J over σ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.studies.fit_data import BadData, MeasuredColumn
from dalembert.analysis.studies.fit_result import Fit, FittedColumn
from dalembert.analysis.studies.identifiability import (
    Inseparable,
    combine_tables,
    practical_identifiability,
    structural_identifiability,
)
from dalembert.analysis.studies.sensor_model import (
    HUBER,
    Priors,
    SensorModel,
    huber_inflation,
    robust_scale,
)
from dalembert.errors import DalembertError, warn
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    # the run of one table with these values of its unknowns, with its sensitivities
    Runner = Callable[[FloatArray], Trajectory]

_MAX_REWEIGHTINGS: Final = 8
# σ of a column that changes by less is settled
_SETTLED: Final = 1e-3
_TIGHT: Final = 1e-12
# a column of the Jacobian below this fraction of the largest carries no information
_NOTHING: Final = 1e-10


class BadFit(DalembertError):
    """An identification that cannot be made, with the reason."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """One table of measurements, and the run that belongs to it."""

    columns: tuple[MeasuredColumn, ...]
    # its unknowns by the names they have in the system, and their indices in θ
    names: tuple[str, ...]
    indices: tuple[int, ...]
    runner: Runner

    def run(self, theta: FloatArray) -> Trajectory:
        """The motion with these values of all unknowns."""
        return self.runner(theta[list(self.indices)])


@dataclass
class FitProblem:
    """Residuals and their Jacobian at any θ; the runs of the last θ are kept."""

    experiments: tuple[Experiment, ...]
    names: tuple[str, ...]
    # [run(θ) for each experiment], in threads or one after the other
    map_experiments: Callable[
        [Callable[[Experiment], Trajectory], Iterable[Experiment]], Iterable[Trajectory]
    ] = map
    # σ of every column
    sigma: FloatArray = field(default_factory=lambda: np.ones(0))
    sensors: SensorModel = field(default_factory=SensorModel)
    priors: Priors = field(default_factory=Priors)
    # whether outliers count by their size instead of its square
    robust: bool = False
    evaluations: int = 0
    _last: tuple[bytes, list[Trajectory] | None] = field(default=(b"", None), repr=False)

    @property
    def columns(self) -> list[MeasuredColumn]:
        """Those of all experiments."""
        return [c for e in self.experiments for c in e.columns]

    @property
    def column_names(self) -> list[str]:
        """The names of columns, each once."""
        return list(dict.fromkeys(c.name for c in self.columns))

    def labels(self) -> list[str]:
        """A column's name, with the number of its table where there are several."""
        many = len(self.experiments) > 1
        return [
            f"{c.name}[{k}]" if many else c.name
            for k, e in enumerate(self.experiments, 1)
            for c in e.columns
        ]

    def simulate(self, theta: FloatArray) -> list[Trajectory]:
        """The motion of each experiment."""
        return list(self.map_experiments(lambda e: e.run(theta), self.experiments))

    def runs(self, theta: FloatArray) -> list[Trajectory] | None:
        """The motions with these values; None where one of them does not exist."""
        key = theta.tobytes()
        if self._last[0] != key:
            self.evaluations += 1
            try:
                runs: list[Trajectory] | None = self.simulate(theta)
            except DalembertError:
                runs = None
            self._last = key, runs
        return self._last[1]

    def residuals(self, theta: FloatArray) -> FloatArray:
        """(y(t; θ) − y) / σ of all columns, one after the other."""
        runs = self.runs(theta)
        if runs is None:
            return np.full(self.n_values + len(self.priors.places), np.nan)
        parts = [
            self.sensors.model(run, c, theta) - c.values
            for run, e in zip(runs, self.experiments, strict=True)
            for c in e.columns
        ]
        scaled = [r / s for r, s in zip(parts, self.sigma, strict=True)]
        return np.concatenate([*scaled, self.priors.residuals(theta)])

    def jacobian(self, theta: FloatArray) -> FloatArray:
        """∂ residuals/∂θ: zero for start values of other tables"""
        runs = self.runs(theta)
        assert runs is not None
        blocks = []
        for run, e in zip(runs, self.experiments, strict=True):
            blocks += [self.sensors.jacobian(run, c, theta, e.names, e.indices) for c in e.columns]
        scaled = [block / s for block, s in zip(blocks, self.sigma, strict=True)]
        return np.vstack([*scaled, self.priors.jacobian(len(self.names))])

    @property
    def n_values(self) -> int:
        """The number of measured values."""
        return sum(len(c.t) for c in self.columns)

    def split_by_column(self, residuals: FloatArray) -> list[FloatArray]:
        """The residuals of each column."""
        ends = np.cumsum([len(c.t) for c in self.columns])
        return np.split(residuals[: ends[-1]], ends[:-1])

    def pool_by_name(
        self, measure: Callable[[FloatArray], float], parts: Sequence[FloatArray]
    ) -> FloatArray:
        """A number for each column, found from all columns of its name together."""
        statistics = {
            n: measure(
                np.concatenate([r for c, r in zip(self.columns, parts, strict=True) if c.name == n])
            )
            for n in self.column_names
        }
        return np.array([statistics[c.name] for c in self.columns])


def solve_fit(
    experiments: tuple[Experiment, ...],
    names: tuple[str, ...],
    initial_guess: FloatArray,
    noise: Mapping[str, float] | None,
    bounds: tuple[Sequence[float], Sequence[float]],
    max_evaluations: int,
    threads: int,
    sensors: SensorModel | None = None,
    priors: Priors | None = None,
    *,
    robust: bool = False,
) -> Fit:
    """The best θ from a first guess, its errors, and which are not separately identifiable;
    experiments are dealt to threads.
    """
    problem = FitProblem(
        experiments,
        names,
        sensors=sensors or SensorModel(first=len(names)),
        priors=priors or Priors(),
        robust=robust,
    )
    if min(threads, len(experiments)) == 1:
        return _solve_reweighted(problem, initial_guess, noise, bounds, max_evaluations)
    with ThreadPoolExecutor(min(threads, len(experiments))) as pool:
        problem.map_experiments = pool.map
        return _solve_reweighted(problem, initial_guess, noise, bounds, max_evaluations)


def _solve_reweighted(
    problem: FitProblem,
    first: FloatArray,
    noise: Mapping[str, float] | None,
    bounds: Any,
    most: int,
) -> Fit:
    columns = problem.columns
    at_first = problem.simulate(first)
    for run, e in zip(at_first, problem.experiments, strict=True):
        _check_columns(run, e.columns)
    given = None if noise is None else np.array([noise[c.name] for c in columns])
    spreads = problem.pool_by_name(lambda x: float(np.std(x)) or 1.0, [c.values for c in columns])
    problem.sigma = spreads if given is None else given
    _check_sensitivity(problem, first)
    pairs = zip(at_first, problem.experiments, strict=True)
    structure = combine_tables(
        [structural_identifiability(r, [c.key for c in e.columns]) for r, e in pairs]
    )
    theta, solution = first, None
    for _ in range(1 if given is not None else _MAX_REWEIGHTINGS):
        solution = _least_squares(problem, theta, bounds, most)
        theta = np.asarray(solution.x)
        spread = _estimate_sigma(problem, problem.residuals(theta)) * problem.sigma
        settled = (np.abs(spread - problem.sigma) <= _SETTLED * problem.sigma).all()
        if given is None:
            problem.sigma = np.where(spread > 0.0, spread, problem.sigma)
        if settled or (len(problem.column_names) == 1 and not problem.robust):
            break
    assert solution is not None
    return _build_fit(
        problem, theta, structure, converged=bool(solution.success), known=given is not None
    )


def _least_squares(problem: FitProblem, theta: FloatArray, bounds: Any, most: int) -> Any:
    from scipy.optimize import least_squares

    low, high = (np.asarray(b, dtype=np.float64) for b in bounds)
    loss = {"loss": "huber", "f_scale": HUBER} if problem.robust else {}
    return least_squares(
        problem.residuals,
        np.clip(theta, low, high),
        problem.jacobian,
        bounds=(low, high),
        x_scale=_scales(theta),
        ftol=_TIGHT,
        xtol=_TIGHT,
        gtol=_TIGHT,
        max_nfev=most,
        **loss,
    )


def _scales(theta: FloatArray) -> FloatArray:
    """What counts as a change of order one."""
    return np.where(theta != 0.0, np.abs(theta), 1.0)


def _estimate_sigma(problem: FitProblem, residuals: FloatArray) -> FloatArray:
    """σ̂ of each column, with its share of the unknowns taken off its number of values."""
    share = 1.0 - len(problem.names) / problem.n_values

    def spread(r: FloatArray) -> float:
        if problem.robust:
            return robust_scale(r)
        return float(np.sqrt(np.sum(r**2) / max(len(r) * share, 1.0)))

    return problem.pool_by_name(spread, problem.split_by_column(residuals))


def _check_columns(run: Trajectory, columns: Sequence[MeasuredColumn]) -> None:
    """Every column must be an expression of the system."""
    for c in columns:
        try:
            value = run[c.key]
        except DalembertError as problem:
            msg = f"data: column {c.name!r} is no expression of {run.system.name!r}: {problem}"
            raise BadData(msg) from problem
        if not np.isfinite(value).all():
            msg = (
                f"data: column {c.name!r} has no finite value at t = "
                f"{run.t[~np.isfinite(value)][0]:.6g} in the run with the first guess"
            )
            raise BadData(msg)


def _check_sensitivity(problem: FitProblem, theta: FloatArray) -> None:
    """Refuse unknowns on which no column depends, and more unknowns than values."""
    J = problem.jacobian(theta) * _scales(theta)
    if not np.isfinite(J).all():
        msg = (
            "fit: the run with the first guess has no derivative after a change of its contacts, "
            "which a warning names; end the data before it, or begin later"
        )
        raise BadFit(msg)
    if len(J) < len(theta):
        msg = (
            f"fit: {len(theta)} unknowns and {len(J)} measured values; measure more, or name "
            f"fewer unknowns"
        )
        raise BadFit(msg)
    lengths = np.linalg.norm(J, axis=0)
    # J is relative to the spread of the columns, so that one unknown alone has a measure too
    largest = max(float(lengths.max(initial=0.0)), float(np.sqrt(len(J))))
    idle = [n for n, x in zip(problem.names, lengths, strict=True) if x <= _NOTHING * largest]
    if idle:
        what, which = ", ".join(problem.column_names), ", ".join(idle)
        msg = (
            f"fit: nothing that was measured ({what}) depends on {which} at the first guess; "
            f"leave it out, change the first guess or measure more"
        )
        raise BadFit(msg)


def _build_fit(
    problem: FitProblem, theta: FloatArray, structure: Inseparable, *, converged: bool, known: bool
) -> Fit:
    runs, names = problem.runs(theta), problem.names
    assert runs is not None
    residuals = problem.residuals(theta)
    covariance, local = _covariance(problem, residuals, problem.jacobian(theta))
    _warn_of_fit(local, converged=converged)
    belongs = [run for run, e in zip(runs, problem.experiments, strict=True) for _ in e.columns]
    split, sigma = problem.split_by_column(residuals), problem.sigma.tolist()
    fitted = zip(problem.labels(), belongs, problem.columns, split, sigma, strict=True)
    columns = {
        label: FittedColumn(run, c.key, c.t, c.values, r * s, s) for label, run, c, r, s in fitted
    }
    measured = residuals[: problem.n_values]
    chi2 = float(measured @ measured) / max(len(residuals) - len(theta), 1)
    return Fit(
        names,
        theta,
        covariance,
        columns,
        local,
        structure,
        tuple(runs),
        chi2,
        problem.evaluations,
        converged,
        known,
    )


def _warn_of_fit(local: Inseparable, *, converged: bool) -> None:
    """Values that were not reached, and values that the data do not separate."""
    if not converged:
        warn(
            "fit: the best values were not reached; allow more evaluations (most=…) or begin nearer"
        )
    for group in local.groups:
        warn(
            f"fit: {', '.join(group)} are not separately identifiable from these data; one of "
            "their values may be given, or another column measured"
        )


def _covariance(
    problem: FitProblem, residuals: FloatArray, J: FloatArray
) -> tuple[FloatArray, Inseparable]:
    """The covariance of θ, infinite for what the data do not separate, and its groups."""
    # columns of length one: a value that happens to be nearly zero has an error as others have
    lengths = np.linalg.norm(J, axis=0)
    lengths[lengths == 0.0] = 1.0
    J = J / lengths
    local = practical_identifiability(J, problem.names)
    together = np.array([name in local.names for name in problem.names])
    covariance = np.linalg.pinv(J.T @ J, rcond=1e-14, hermitian=True) / np.outer(lengths, lengths)
    if problem.robust:
        covariance = covariance * huber_inflation(residuals[: problem.n_values])
    covariance[together] = covariance[:, together] = np.nan
    covariance[together, together] = np.inf
    return covariance, local
