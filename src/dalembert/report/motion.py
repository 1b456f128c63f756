"""A run in a report: how it began, how long it took, how well energy and constraints are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dalembert.report.blocks import Block, Heading, TableBlock, VerdictSpan, words

if TYPE_CHECKING:
    from dalembert.simulation.trajectory import Trajectory

# a residual or a drift that a reader need not worry about, at the tolerances of a report
SMALL = 1e-6


def motion(run: Trajectory) -> Iterator[Block]:
    """The start, the effort, the energy, the residual of every row."""
    yield Heading(2, "Motion")
    given = run.start.given()
    steps = f"{run.solution.steps} steps of the integrator"
    yield words(f"From {given or 'zero'}: {run.t[-1] - run.t[0]:.6g} s in {steps}.")
    yield words(*_energy(run))
    sizes = {name: float(np.max(np.abs(r), initial=0.0)) for name, r in run.residuals.items()}
    if sizes:
        rows = tuple((name, VerdictSpan(f"{size:.1e}", size <= SMALL)) for name, size in sizes.items())
        yield TableBlock(("constraint", "largest residual"), rows)


def not_run(reason: str) -> Iterator[Block]:
    """Why there is no motion to show."""
    yield Heading(2, "Motion")
    yield words(f"Not run: {reason}", quiet=True)


def _energy(run: Trajectory) -> tuple[str | VerdictSpan, ...]:
    if not run.conserves_energy:
        J = " J" if run.system.has_units else ""
        return (f"T + V goes from {run.energy[0]:.6g}{J} to {run.energy[-1]:.6g}{J}: loads or moving constraints do work.",)
    drift = run.energy_drift
    return "T + V drifts by ", VerdictSpan(f"{drift:.1e}", drift <= SMALL), " of the largest kinetic energy."
