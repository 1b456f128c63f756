"""θ ± σ_θ: what was identified, how well, and what is not separately identifiable."""

from __future__ import annotations

import itertools
import os
import textwrap
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.atomic_write import slug, unused_path, write_text
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.late_imports import late_module
from dalembert.runtime.simulation.plotting.chart import (
    COLOURS,
    GREY,
    MOST_PANELS,
    Chart,
    Curve,
    Panel,
)
from dalembert.runtime.simulation.plotting.plot import Plot, display

if TYPE_CHECKING:
    from dalembert.analysis.studies.identifiability import Inseparable
    from dalembert.runtime.simulation.trajectory import Trajectory
    from dalembert.symbolic.algebra.scalar import Scalar


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """What was measured, and model less measurement; σ as given or as estimated."""

    run: Trajectory
    key: Scalar | str
    t: FloatArray
    values: FloatArray
    residuals: FloatArray
    sigma: float

    def model(self) -> tuple[FloatArray, FloatArray]:
        """The curve of the model, at all available times."""
        times = self.run.solution.t
        fine = (
            self.run.at(np.linspace(times[0], times[-1], 1000))
            if self.run.solution.has_full_dense_output
            else self.run
        )
        return fine.t, fine[self.key]


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Displayable):
    """Identified values: `fit.values["m"]`, `fit.standard_errors["m"]`, and `fit.runs`, the
    motion of each table with them.
    """

    names: tuple[str, ...]
    theta: FloatArray
    covariance: FloatArray
    # by name, theta, or theta[1] for that of the first of several tables
    columns: dict[str, FittedColumn] = field(repr=False)
    # on these data, and by the structure of the equations
    inseparable: Inseparable
    structure: Inseparable
    runs: tuple[Trajectory, ...] = field(repr=False)
    # Σ (r/σ)² over the degrees of freedom
    chi_square: float
    evaluations: int
    converged: bool
    # whether σ was given
    noise_known: bool

    @property
    def run(self) -> Trajectory:
        """The motion with the best values; of several tables that of the first."""
        return self.runs[0]

    @property
    def noise(self) -> dict[str, float]:
        """σ of every column, as given or as estimated."""
        return {name: c.sigma for name, c in self.columns.items()}

    @property
    def values(self) -> dict[str, float]:
        """The best values."""
        return dict(zip(self.names, self.theta.tolist(), strict=True))

    @property
    def standard_errors(self) -> dict[str, float]:
        """One standard deviation of each; infinite where it is not separately identifiable."""
        return dict(zip(self.names, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def correlations(self) -> FloatArray:
        """ρ_ij of the estimates; not a number where one of them is not separately identifiable."""
        s = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore"):
            rho: FloatArray = self.covariance / np.outer(s, s)
        rho[np.isfinite(s), np.isfinite(s)] = 1.0
        return rho

    def distance(self, values: Mapping[str, float]) -> float:
        """(θ − θ̂)ᵀ C⁻¹ (θ − θ̂): below the quantile of χ² the set lies in the joint ellipsoid."""
        d = np.array([values[n] for n in self.names]) - self.theta
        if not np.isfinite(self.covariance).all():
            msg = "distance: some unknowns are not separately identifiable; see fit.inseparable"
            raise NotApplicable(msg)
        scale = np.sqrt(np.diag(self.covariance))
        return float(d / scale @ np.linalg.solve(self.correlations, d / scale))

    def contains(self, values: Mapping[str, float], level: float = 0.95) -> bool:
        """Whether a set of values lies in the joint confidence ellipsoid of this level."""
        from scipy.stats import chi2

        return self.distance(values) <= float(chi2.ppf(level, len(self.names)))

    @property
    def residuals(self) -> dict[str, FloatArray]:
        """Model less measurement, column by column."""
        return {name: c.residuals for name, c in self.columns.items()}

    def plot(self, *, path: str | os.PathLike[str] | None = None) -> Plot:
        """Each column with what the model gives, and below them all residuals in units of σ."""
        panels = []
        for name, c in itertools.islice(self.columns.items(), MOST_PANELS):
            panels.append(
                Panel(
                    name,
                    (
                        Curve("measured", c.t, c.values, COLOURS[1]),
                        Curve("model", *c.model(), COLOURS[0]),
                    ),
                )
            )
        scaled = [Curve(name, c.t, c.residuals / c.sigma) for name, c in self.columns.items()]
        facts = ", ".join(
            f"{n} = {v:.5g} ± {e:.1g}"
            for (n, v), e in zip(self.values.items(), self.standard_errors.values(), strict=True)
        )
        span = min(float(run.t[0]) for run in self.runs), max(float(run.t[-1]) for run in self.runs)
        below = Panel("residuals in units of σ", tuple(scaled), zero_line=True)
        heading = textwrap.shorten(facts, _HEADING, placeholder=" …")
        return display(
            Chart(self.run.system.name, heading, GREY, span, tuple(panels), below),
            self.run.system.name,
            path,
        )

    def page(self, path: str | os.PathLike[str] | None = None) -> Path:
        """One HTML file: values with confidence, measured and fitted curves, residuals,
        correlations, the motion.
        """
        text = late_module("fit page").fit_document(self)
        target = unused_path(f"{slug(self.run.system.name)}-fit.html") if path is None else path
        return write_text(target, text)

    def __str__(self) -> str:
        count = f"{sum(len(c.t) for c in self.columns.values())} values" + (
            f" in {len(self.runs)} tables" if len(self.runs) > 1 else ""
        )
        lines = [f"fit of {self.run.system.name!r}: {count}, {len(self.names)} unknowns"]
        width = max(map(len, self.names))
        for name, value in self.values.items():
            error = self.standard_errors[name]
            lines.append(
                f"  {name:<{width}}  {value:.8g} ± {error:.2g}"
                if np.isfinite(error)
                else f"  {name:<{width}}  {value:.8g}, undetermined"
            )
        how = "given" if self.noise_known else "estimated"
        lines.append(
            f"noise, {how}: "
            + ", ".join(f"{name} {s:.3g}" for name, s in self.noise.items())
            + f"; χ²/ν = {self.chi_square:.3g}"
        )
        strong = [
            f"{a} and {b} {rho:+.3f}"
            for (i, a), (j, b) in itertools.combinations(enumerate(self.names), 2)
            if abs(rho := self.correlations[i, j]) > _STRONG
        ]
        lines += [f"strongly correlated: {', '.join(strong)}"] if strong else []
        lines += [
            f"not separately identifiable from these data: {', '.join(group)}"
            for group in self.inseparable.groups
        ]
        lines += self._structure_lines()
        if not self.converged:
            lines.append("NOT CONVERGED: the best values were not reached")
        return "\n".join(lines)

    __repr__ = __str__

    def _structure_lines(self) -> list[str]:
        """What the structure of the equations says of identifiability."""
        if not self.structure.decided:
            return [f"by the structure of the equations: not decided, {self.structure.why}"]
        return [
            f"not separately identifiable from any data of these columns: {', '.join(group)}"
            for group in self.structure.groups
        ] or ["by the structure of the equations all are identifiable"]


_STRONG = 0.95
# letters of a heading
_HEADING = 92
