"""π ± σ: inertial parameters that were identified, how well, and the loads that they predict."""

from __future__ import annotations

import itertools
import os
import textwrap
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.analysis.studies.pseudo_inertia import is_consistent
from dalembert.foundation.array_types import FloatArray
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
    from dalembert.analysis.inverse.regressor import Regressor
    from dalembert.mechanics.model.system import System

_HEADING = 92


@dataclass(frozen=True, eq=False)
class BodyInertia(Displayable):
    """m, the mass centre seen from the body's reference point, and the inertia about the mass
    centre, along the axes of the body's frame.
    """

    mass: float
    com: FloatArray
    inertia: FloatArray

    @classmethod
    def of(cls, pi: FloatArray) -> BodyInertia:
        """From the ten parameters about the reference point; a particle has its mass alone."""
        m = float(pi[-1])
        if len(pi) == 1:
            return cls(m, np.zeros(3), np.zeros((3, 3)))
        xx, xy, xz, yy, yz, zz = pi[:6]
        c = pi[6:9] / m
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return cls(m, c, I - m * (c @ c * np.eye(3) - np.outer(c, c)))


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Displayable):
    """Identified inertial parameters: `result.base["m of link"]` with `result.base_errors`,
    `result.parameters` of physical bodies, and `result.write_urdf("new.urdf")`.
    """

    system: System = field(repr=False)
    regressor: Regressor = field(repr=False)
    # base parameters, then friction: by least squares, with their covariance
    names: tuple[str, ...]
    theta: FloatArray
    covariance: FloatArray
    # the same of the physical bodies
    consistent_theta: FloatArray
    # all parameters of the physical bodies, their standard deviations, and those of least squares
    pi: FloatArray
    pi_errors: FloatArray
    least_squares_pi: FloatArray
    bodies: dict[str, BodyInertia]
    # σ of every load
    noise: dict[str, float]
    noise_known: bool
    # Σ (r/σ)² over the degrees of freedom, of least squares and of the physical bodies
    chi_square: float
    consistent_chi_square: float
    t: FloatArray = field(repr=False)
    loads: FloatArray = field(repr=False)
    residuals: FloatArray = field(repr=False)

    @property
    def base(self) -> dict[str, float]:
        """Base parameters and friction by least squares."""
        return dict(zip(self.names, self.theta.tolist(), strict=True))

    @property
    def base_errors(self) -> dict[str, float]:
        """Their standard deviations; infinite where the motion does not show them."""
        return dict(zip(self.names, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def consistent_base(self) -> dict[str, float]:
        """The same numbers of the physical bodies."""
        return dict(zip(self.names, self.consistent_theta.tolist(), strict=True))

    @property
    def friction(self) -> dict[str, float]:
        """The friction of every joint."""
        return dict(itertools.islice(self.consistent_base.items(), self.regressor.base.count, None))

    @property
    def parameters(self) -> dict[str, float]:
        """All inertial parameters of the physical bodies; what the motion leaves open is nearest to
        the description.
        """
        names = [p.name for p in self.regressor.parameters]
        return dict(zip(names, self.pi.tolist(), strict=True))

    @property
    def unphysical(self) -> tuple[str, ...]:
        """Bodies that cannot exist with the parameters of plain least squares."""
        owners = [p.body for p in self.regressor.parameters]
        return tuple(
            name
            for name in self.bodies
            if not is_consistent(self.least_squares_pi[[o == name for o in owners]])
        )

    def write_urdf(self, path: str | os.PathLike[str]) -> Path:
        """The file that the robot was loaded from, with the identified masses, mass centres and
        inertias.
        """
        written: Path = late_module("URDF writer").write_urdf(self.system, self.bodies, path)
        return written

    def plot(self, *, path: str | os.PathLike[str] | None = None) -> Plot:
        """Each load with what the model gives, and all residuals in units of σ."""
        panels, scaled = [], []
        for k, (name, sigma) in enumerate(self.noise.items()):
            y, r = self.loads[:, k], self.residuals[:, k]
            curves = Curve("measured", self.t, y, COLOURS[1]), Curve("model", self.t, y + r)
            panels.append(Panel(name, curves))
            scaled.append(Curve(name, self.t, r / sigma))
        below = Panel("residuals in units of σ", tuple(scaled[:MOST_PANELS]), zero_line=True)
        span = float(self.t.min()), float(self.t.max())
        heading = textwrap.shorten(str(self).splitlines()[0], _HEADING, placeholder=" …")
        name = self.system.name
        chart = Chart(name, heading, GREY, span, tuple(panels[:MOST_PANELS]), below)
        return display(chart, name, path)

    def __str__(self) -> str:
        base = self.regressor.base
        lines = [
            f"identification of {self.system.name!r}: {self.loads.size} loads, {base.count} base "
            f"parameters"
            + (f", {len(self.names) - base.count} of friction" if self.friction else "")
        ]
        lines.append("  (combinations by their first parameter; regressor.base lists them)")
        width = max(map(len, self.names))
        for name, x in self.base.items():
            e, y = self.base_errors[name], self.consistent_base[name]
            lines.append(f"  {name:<{width}}  {x:11.5g} ± {e:<8.2g}  physical {y:11.5g}")
        how = "given" if self.noise_known else "estimated"
        lines.append(f"noise, {how}: " + ", ".join(f"{n} {s:.3g}" for n, s in self.noise.items()))
        lines.append(
            f"χ²/ν = {self.chi_square:.4g} by least squares, {self.consistent_chi_square:.4g} of "
            f"the physical bodies"
        )
        if self.unphysical:
            listed = ", ".join(self.unphysical)
            lines.append(f"by plain least squares these bodies could not exist: {listed}")
        lines += [
            f"{name}: m = {b.mass:.5g}, mass centre {_row(b.com)}, principal moments "
            f"{_row(np.linalg.eigvalsh(b.inertia))}"
            for name, b in self.bodies.items()
        ]
        return "\n".join(lines)

    __repr__ = __str__


def _row(x: Any) -> str:
    return "(" + ", ".join(f"{v:.4g}" for v in x) + ")"
