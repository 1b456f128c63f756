"""Coordinates over time, one small panel for each, and below them what became of the energy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import IllPosed
from dalembert.mechanics.geometry.vector import Vector
from dalembert.runtime.simulation.plotting.chart import (
    COLOURS,
    GREY,
    MOST_PANELS,
    Chart,
    Curve,
    Panel,
)
from dalembert.runtime.simulation.plotting.plot import Appearance, Plot, display
from dalembert.symbolic.algebra.printing.symbol_names import superscript, unicode_name
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import label_with_unit

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

_MOST_POINTS: Final = 20_000
_MODE_COLOURS: Final = {
    "off": "#ffffff",
    "open": COLOURS[5],
    "closed": COLOURS[0],
    "sticks": COLOURS[2],
    "slips": COLOURS[1],
    "slips +": COLOURS[1],
    "slips −": COLOURS[4],
}


Others = Mapping[str, "Trajectory"] | Sequence["Trajectory"]


def plot(
    run: Trajectory,
    /,
    *what: Any,
    path: str | os.PathLike[str] | None = None,
    compare: Others = (),
    **appearance: Any,
) -> Plot:
    """Coordinates over time, or whatever is named, with the energy below; several in a tuple share
    their axes.

    In a notebook the plot appears below the cell; elsewhere it is saved, and the name of the file
    is printed.
    """
    look = Appearance(**appearance)
    # axes of the caller are as many as the requested panels
    chart = run_chart(run, what, compare, differences=look.ax is None)
    return display(chart, run.system.name, path, look)


def run_chart(
    run: Trajectory,
    what: Sequence[Any] = (),
    compare: Others = (),
    *,
    differences: bool = False,
) -> Chart:
    """The requested quantities, or every coordinate, and below it the energy; with other runs in
    the same panels, and with their differences where they coincide.
    """
    asked = [(w if isinstance(w, tuple | list) else (w,)) for w in what] or [
        (name,) for name in run.names[: run.q.shape[1]]
    ]
    fine, others = refine(run), _runs_by_name(compare)
    panels = tuple(_comparison_panel(fine, others, keys) for keys in asked[:MOST_PANELS])
    if differences and others:
        panels = tuple(_with_differences(panels))[:MOST_PANELS]
    if run.contact_modes is not None:
        panels = (*panels[: MOST_PANELS - 1], _modes(fine))
    facts, colour = (
        _subtitle(run, max(len(asked) - len(panels), 0)),
        GREY if run.finished else COLOURS[1],
    )
    ends = [(float(r.t[0]), float(r.t[-1])) for r in (run, *others.values()) if len(r)]
    times = (min(a for a, _ in ends), max(b for _, b in ends)) if ends else (0.0, 1.0)
    across = label_with_unit("t", run.system.unit("t") or ("s" if run.system.has_units else ""))
    bottom = None if others else _energy(run)
    return Chart(run.system.name, facts, colour, times, panels, bottom, x_label=across)


def _runs_by_name(compare: Others) -> dict[str, Trajectory]:
    """Other runs, refined, by the names they have in the legend."""
    given = (
        dict(compare)
        if isinstance(compare, Mapping)
        else {f"run {k}": r for k, r in enumerate(compare, 2)}
    )
    for name, other in given.items():
        if not hasattr(other, "solution"):
            msg = f"plot: compare= takes runs, and {name!r} is {type(other).__name__}"
            raise IllPosed(msg)
    return {str(name): refine(other) for name, other in given.items()}


def _comparison_panel(
    run: Trajectory, others: Mapping[str, Trajectory], keys: Sequence[Any]
) -> Panel:
    """A panel of one run with the same quantities of others."""
    own = _panel(run, keys)
    if not others:
        return own
    curves = [
        replace(c, name=f"{c.name}, run 1" if len(own.curves) > 1 else "run 1") for c in own.curves
    ]
    for name, other in others.items():
        theirs = _panel(other, keys).curves
        curves += [
            replace(c, name=f"{c.name}, {name}" if len(theirs) > 1 else name) for c in theirs
        ]
    title = own.title or ", ".join(c.name for c in own.curves)
    return Panel(title, tuple(curves), own.is_symbol)


def _with_differences(panels: Sequence[Panel]) -> Iterator[Panel]:
    """Each panel of one quantity, followed by the differences of runs that coincide."""
    for panel in panels:
        apart = panel.differences(f"{panel.title}: difference from run 1")
        yield panel
        if apart is not None and panel.curves[0].name == "run 1":
            yield apart


def refine(run: Trajectory) -> Trajectory:
    """The run at enough times that no corner is visible."""
    if not run.solution.has_full_dense_output or len(run) < 2:
        return run
    n = min(max(1000, 6 * len(run)), max(_MOST_POINTS, len(run)))
    return run.at(np.linspace(run.t[0], run.t[-1], n))


def _panel(run: Trajectory, keys: Sequence[Any]) -> Panel:
    """Quantities that share their axes."""
    lines = [line for key in keys for line in _labelled_series(run, key)]
    curves = tuple(Curve(name, run.t, x) for name, x in lines)
    return Panel(lines[0][0], curves, _is_symbol(keys[0])) if len(lines) == 1 else Panel("", curves)


def _labelled_series(run: Trajectory, key: Any) -> list[tuple[str, Any]]:
    values = run[key]
    if isinstance(key, Vector):
        return [(f"along {axis}", values[:, k]) for k, axis in enumerate("xyz")]
    unit = run.system.unit(key)
    return [(f"{_name(key)}  [{unit}]" if unit else _name(key), values)]


def _is_symbol(key: Any) -> bool:
    text = (key.name or "") if isinstance(key, Scalar) else str(key)
    return re.fullmatch(r"\w+'*(\.dot)*", text) is not None


def _name(key: Scalar | str) -> str:
    """A symbol as a book prints it, θ̇₁; anything else as it was written."""
    text = str(key.name or key) if isinstance(key, Scalar) else key
    return unicode_name(text.replace(".dot", "'")) if _is_symbol(key) else text


def _modes(run: Trajectory) -> Panel:
    """A line for each contact, in the colour of what it does."""
    curves = []
    for text, colour in _MODE_COLOURS.items():
        lines = [
            np.where(np.array(modes) == text, float(k + 1), np.nan)
            for k, modes in enumerate(run.modes.values())
        ]
        if any(np.isfinite(line).any() for line in lines):
            curves += [
                Curve(text if not k else "", run.t, line, colour) for k, line in enumerate(lines)
            ]
    # what stands left of the axis has room for some nine letters
    levels = tuple(name if len(name) <= 9 else f"{name[:8]}…" for name in run.modes)
    return Panel(
        "modes", tuple(c for c in curves if c.name or np.isfinite(c.values).any()), levels=levels
    )


def _energy(run: Trajectory) -> Panel:
    """E − E₀ where it must stay zero, otherwise T, V and their sum."""
    if not run.conserves_energy:
        fine = refine(run)
        parts = (
            ("T", fine.kinetic_energy, COLOURS[0]),
            ("V", fine.potential_energy, COLOURS[2]),
            ("T + V", fine.energy, COLOURS[6]),
        )
        return Panel(
            "energy  [J]" if run.system.has_units else "energy",
            tuple(Curve(name, fine.t, x, colour) for name, x, colour in parts),
        )
    drift = run.energy_change / (float(np.max(run.kinetic_energy, initial=0.0)) or 1.0)
    exponent = (
        int(np.floor(np.log10(largest)))
        if (largest := float(np.max(np.abs(drift), initial=0.0)))
        else 0
    )
    title = "energy drift (E − E₀) / max T" + (
        f"  in 10{superscript(exponent)}" if exponent else ""
    )
    return Panel(
        title, (Curve("drift", run.t, drift / 10.0**exponent, COLOURS[1]),), zero_line=True
    )


def _subtitle(run: Trajectory, left_out: int) -> str:
    """In one line what must be known to trust the picture."""
    solution = run.solution
    facts = [f"{solution.steps} steps"]
    if run.conserves_energy:
        facts.append(f"energy drift {run.energy_drift:.1e}")
    if run.residuals:
        facts.append(
            f"constraints to {run.worst_residual:.1e}"
            if run.worst_residual
            else "constraints exact"
        )
    if not run.finished:
        facts.insert(0, f"{solution.outcome.value.upper()} at t = {solution.t[-1]:.6g}")
    if left_out:
        facts.append(f"{left_out} more not shown")
    return "  ·  ".join(facts)
