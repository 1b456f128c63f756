"""E_Z, E, 𝓗 and C over time, each beside the others: what is constant is seen at a glance."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from dalembert.simulation.plotting.chart import COLOURS
from dalembert.simulation.plotting.plot import Plot
from dalembert.simulation.trajectory import Trajectory
from dalembert.units.quantity import labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dalembert.integrals.audit import RunIntegrals

_POINTS = 1000


def plot_integrals(run: Trajectory, path: str | PathLike[str] | None = None) -> Plot:
    """The four integrals in one panel, and below it how far E_Z strays.

    Source: Mit22, Figure 34.1.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 5.4), facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    smooth = run.at(np.linspace(run.t[0], run.t[-1], _POINTS)) if run.solution.anywhere and len(run) > 1 else run
    _four(above, smooth.integrals)
    strayed = run.integrals
    below.plot(strayed.t, strayed.E_Z - strayed.E_Z[:1], color=COLOURS[1], linewidth=1.1)
    below.set_title(f"E_Z − E_Z(t₀), at most {strayed.relative_drift:.1e} of the scale", loc="left", fontsize=10)
    below.set_xlabel(labelled("t", run.system.unit("t")))
    for axes in (above, below):
        axes.set_ylabel("J" if run.system.has_units else "")
    figure.suptitle(run.system.name, x=0.02, ha="left", fontweight="bold")
    made = Plot(figure)
    return made if path is None else made.save(path)


def _four(axes: Axes, found: RunIntegrals) -> None:
    curves = (("E_Z = K₂ + 𝒰 + Z", found.E_Z), ("E = K₂ + 𝒰", found.E), ("𝓗 = K₂ − K₀ + 𝒰", found.H), ("C = K + 𝒰", found.C))
    for (name, x), colour, style in zip(curves, COLOURS, ("-", "--", "-.", ":"), strict=False):
        axes.plot(found.t, x, color=colour, linestyle=style, label=name.replace("𝒰", "$\\mathcal{U}$").replace("𝓗", "$\\mathcal{H}$"))
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, fontsize=9)
