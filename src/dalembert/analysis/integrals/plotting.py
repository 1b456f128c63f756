"""E_Z, E, 𝓗 and C over time, each beside the others: what is constant is seen at a glance."""

from __future__ import annotations

from os import PathLike

from dalembert.runtime.simulation.plotting.chart import COLOURS, GREY, Chart, Curve, Panel
from dalembert.runtime.simulation.plotting.plot import Plot
from dalembert.runtime.simulation.plotting.run_chart import smooth
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.symbolic.units.quantities import labelled


def plot_integrals(run: Trajectory, path: str | PathLike[str] | None = None) -> Plot:
    """The four integrals in one panel, and below it how far E_Z strays.

    Source: Mit22, Figure 34.1.
    """
    found, strayed, J = smooth(run).integrals, run.integrals, "J" if run.system.has_units else ""
    four = (("E_Z = K₂ + 𝒰 + Z", found.E_Z), ("E = K₂ + 𝒰", found.E), ("𝓗 = K₂ − K₀ + 𝒰", found.H), ("C = K + 𝒰", found.C))
    above = Panel(f"[{J}]" if J else "", tuple(Curve(name, found.t, x) for name, x in four), coinciding=True)
    drift = Curve("", strayed.t, strayed.E_Z - strayed.E_Z[:1], COLOURS[1])
    below = Panel(labelled(f"E_Z − E_Z(t₀), at most {strayed.relative_drift:.1e} of the scale", J), (drift,), zero_line=True)
    span = float(run.t[0]), float(run.t[-1])
    made = Plot(Chart(run.system.name, "energy integrals", GREY, span, (above, below), across=labelled("t", run.system.unit("t"))))
    return made if path is None else made.save(path)
