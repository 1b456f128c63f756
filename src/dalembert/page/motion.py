"""Coordinates, speeds, residuals and reactions of a run, as panels over the time."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.algebra.printing.mathml import math
from dalembert.page.plots import MOST_POINTS, Curve, Panel
from dalembert.report.writing import LatexWriting

if TYPE_CHECKING:
    from dalembert.simulation.trajectory import Trajectory

_MOST_PANELS: Final = 60


def smooth(run: Trajectory) -> Trajectory:
    """The run at even times, so many that no corner is seen."""
    if run.solution.dense is None or len(run) < 2:
        return run
    return run.at(np.linspace(float(run.t[0]), float(run.t[-1]), MOST_POINTS))


def groups(run: Trajectory) -> Iterator[tuple[str, list[Panel]]]:
    """Titles and panels; empty groups are left to the caller."""
    even, kin = smooth(run), run.kinematics
    writing = LatexWriting().on(kin.tape)

    def named(i: int) -> str:
        return math(writing.symbol(kin.name(i)).written)

    yield "Coordinates", [Panel("", even.t, (Curve(named(i), x),)) for i, x in zip(kin.q, even.q.T, strict=True)][:_MOST_PANELS]
    yield "Speeds", [Panel("", even.t, (Curve(named(i), x),)) for i, x in zip(kin.u, even.u.T, strict=True)][:_MOST_PANELS]
    # at the steps themselves: between them the polynomials add an error of their own
    yield "Constraint residuals", [Panel("", run.t, (Curve(escape(name), x),)) for name, x in run.residuals.items()][:_MOST_PANELS]
