"""E_Z, E, 𝓗 and C over time in one figure."""

from __future__ import annotations

from os import PathLike

from dalembert.runtime.simulation.plotting.chart import COLOURS, GREY, Chart, Curve, Panel
from dalembert.runtime.simulation.plotting.plot import Plot
from dalembert.runtime.simulation.plotting.run_chart import refine
from dalembert.runtime.simulation.trajectory import Trajectory
from dalembert.symbolic.units.quantities import label_with_unit


def plot_integrals(run: Trajectory, path: str | PathLike[str] | None = None) -> Plot:
    """The four integrals in one panel, and below it how far E_Z strays.

    Source: Mit22, Figure 34.1.
    """
    smooth_integrals, step_integrals, J = (
        refine(run).integrals,
        run.integrals,
        "J" if run.system.has_units else "",
    )
    four = (
        ("E_Z = K₂ + 𝒰 + Z", smooth_integrals.E_Z),
        ("E = K₂ + 𝒰", smooth_integrals.E),
        ("𝓗 = K₂ − K₀ + 𝒰", smooth_integrals.H),
        ("C = K + 𝒰", smooth_integrals.C),
    )
    above = Panel(
        f"[{J}]" if J else "",
        tuple(Curve(name, smooth_integrals.t, x) for name, x in four),
        coinciding=True,
    )
    drift = Curve("", step_integrals.t, step_integrals.E_Z - step_integrals.E_Z[:1], COLOURS[1])
    below = Panel(
        label_with_unit(f"E_Z − E_Z(t₀), relative at most {step_integrals.relative_drift:.1e}", J),
        (drift,),
        zero_line=True,
    )
    span = float(run.t[0]), float(run.t[-1])
    made = Plot(
        Chart(
            run.system.name,
            "energy integrals",
            GREY,
            span,
            (above, below),
            x_label=label_with_unit("t", run.system.unit("t")),
        )
    )
    return made if path is None else made.save(path)
