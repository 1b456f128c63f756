"""The energy integrals along a run, what their drift is due to, the works of the loads, and the verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Final

from dalembert.page.bounded_forms import BoundedForms
from dalembert.page.packing import Packing, shortened
from dalembert.page.parts.words import section, shell_name, short, table, typeset
from dalembert.page.plots import PlotCurve, PlotPanel, Plots
from dalembert.page.study import Study
from dalembert.report.blocks import Heading
from dalembert.report.energy_integrals import energy_integrals
from dalembert.units.quantity import labelled

if TYPE_CHECKING:
    from dalembert.integrals.audit import RunIntegrals
    from dalembert.simulation.trajectory import Trajectory

_ABOUT: Final = (
    "E_Z = K₂ + 𝒰 + Z is constant on every motion, whatever the loads do; how far a run departs from that is its own error. "
    "E = K₂ + 𝒰, 𝓗 = K₂ − K₀ + 𝒰 and C = K + 𝒰 are constant only under conditions, which are decided below."
)
_CURVES: Final = 6


def energy(study: Study, plots: Plots | None, packing: Packing) -> str:
    """Along the run first, then in general."""
    parts = list(_kept(study.run, plots)) if study.run is not None and plots is not None else []
    if study.integrals is None:
        parts.append(f"<p>The energy integrals were not decided: {escape(study.why_no_integrals)}</p>")
    else:
        command = f"dalembert integrals {shell_name(study.request.name)}"
        blocks = shortened(list(energy_integrals(study.integrals, BoundedForms())), command)
        parts.append(packing.html([Heading(3, b.words) if isinstance(b, Heading) else b for b in blocks]))
    return section("energy", "Energy", *parts)


def _kept(run: Trajectory, plots: Plots) -> Iterator[str]:
    if run.energy_audit is None:
        parts = (("T", run.kinetic_energy), ("V", run.potential_energy), ("T + V", run.energy))
        keys = ("T", "V", "C")
        curves = tuple(PlotCurve(typeset(name), x, key) for (name, x), key in zip(parts, keys, strict=True))
        yield plots.grid([PlotPanel("Energies [J]" if run.system.has_units else "Energies", run.t, curves, wide=True)])
        return
    found = run.integrals
    yield f"<p>{typeset(_ABOUT)}</p>"
    yield plots.grid(list(_panels(found)))
    yield _errors(found)


def _panels(found: RunIntegrals) -> Iterator[PlotPanel]:
    t, J = found.t, found.unit.strip()
    drift = (found.E_Z - found.E_Z[:1]) / (found.scale or 1.0)
    yield PlotPanel(typeset("Drift of E_Z, as a part of its scale"), t, (PlotCurve("", drift, "drift"),), wide=True)
    integrals = (("E_Z", found.E_Z), ("E", found.E), ("𝓗", found.H), ("C", found.C))
    yield PlotPanel(
        labelled("Integrals", J),
        t,
        tuple(PlotCurve(typeset(name), x, "H" if name == "𝓗" else name) for name, x in integrals),
        coinciding=True,
    )
    parts = (("K₂", found.K2), ("𝒰", found.potential), ("Z", found.Z))
    yield PlotPanel(
        labelled(typeset("E_Z = K₂ + 𝒰 + Z"), J),
        t,
        tuple(PlotCurve(typeset(name), x, key) for (name, x), key in zip(parts, ("K2", "V", "Z"), strict=True)),
    )
    works = [PlotCurve(escape(name), w.classical, f"w:{k}") for k, (name, w) in enumerate(found.works.items())]
    for k in range(0, len(works), _CURVES):
        yield PlotPanel(labelled("Work of each load", J), t, tuple(works[k : k + _CURVES]))


def _errors(found: RunIntegrals) -> str:
    model = "none" if found.model_is_right else short(found.model_error) + found.unit
    rows = (
        ("model", model, f"K̇₂ + σ_R = 𝒫 at single states, to {short(found.model_residual)} of the powers"),
        (
            "constraints",
            short(found.constraint_drift) + found.unit,
            "jumps of K₂ + 𝒰 where the motion is brought back onto the constraints",
        ),
        ("integrator", short(found.integrator_error) + found.unit, "the rest"),
    )
    J = found.unit
    change = f"Largest change of E_Z: {short(found.drift)}{J}, which is {short(found.relative_drift)} of the scale {found.scale:.4g}{J}."
    shown = table(("due to", "size", "how it is told"), [(escape(a), escape(b), typeset(c)) for a, b, c in rows])
    return f"<h3>Three kinds of error</h3><p>{typeset(change)}</p>{shown}"
