"""Pictures: bifurcation diagrams, orbits in a plane, multipliers in the unit circle; pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.periodic.family import LETTERS, Family
from dalembert.foundation.atomic_write import slug, unused_path, write_text
from dalembert.foundation.late_imports import late_module
from dalembert.runtime.simulation.plotting.chart import COLOURS
from dalembert.runtime.simulation.plotting.plot import Plot, display

if TYPE_CHECKING:
    from dalembert.analysis.periodic.diagram import BifurcationDiagram
    from dalembert.analysis.periodic.equilibria import EquilibriumFamily
    from dalembert.analysis.periodic.orbit import PeriodicOrbit

_WIDE: Final = (7.2, 4.6)
_SQUARE: Final = (5.4, 5.4)
_KNOWN: Final = ("period", "energy", "frequency")


def _figure(size: tuple[float, float], draw: Callable[[Any], None], title: str) -> Any:
    """A figure of matplotlib in the style of the other plots."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from dalembert.runtime.simulation.plotting.matplotlib_figure import STYLE

    with mpl.rc_context(STYLE):
        made = Figure(figsize=size, facecolor="white", layout="constrained")
        FigureCanvasAgg(made)
        axes = made.add_subplot()
        draw(axes)
        axes.set_title(title, loc="left", fontweight="bold")
    return made


def family_plot(families: Sequence[Family], quantity: Any, path: Any) -> Plot:
    """Stable orbits as full lines, unstable ones dashed, special points with letters."""
    title = f"{families[0].orbits[0].system.name} {families[0].parameter}"
    return display(family_figure(families, quantity), title, path)


def family_figure(families: Sequence[Family], quantity: Any) -> Any:
    """The bifurcation diagram as a figure."""
    name = families[0].parameter

    def draw(axes: Any) -> None:
        for k, family in enumerate(families):
            x, y = family.values, _along(family, quantity)
            _line_by_stability(
                axes, x, y, [s is not False for s in family.stable], COLOURS[k % len(COLOURS)]
            )
            for mark in family.marks:
                place = float(np.interp(mark.position, np.arange(len(y)), y))
                _letter(axes, mark.value, place, LETTERS[mark.kind])
        axes.set_xlabel(name)
        axes.set_ylabel(str(quantity) if str(quantity) in _KNOWN else f"max |{quantity}|")
        _legend(axes, {m.kind for f in families for m in f.marks})
        axes.margins(x=0.03, y=0.08)

    return _figure(_WIDE, draw, families[0].orbits[0].system.name)


def _along(family: Family, quantity: Any) -> Any:
    if str(quantity) in _KNOWN:
        return family[str(quantity)]
    return family.maxima(quantity)


def _line_by_stability(axes: Any, x: Any, y: Any, stable: Sequence[bool], colour: str) -> None:
    """One line, full or dashed by the stability of its points."""
    begin = 0
    for k in range(1, len(x) + 1):
        if k == len(x) or stable[k] != stable[begin]:
            part = slice(begin, min(k + 1, len(x)))
            axes.plot(
                x[part], y[part], color=colour, linestyle="-" if stable[begin] else (0, (4, 2))
            )
            begin = k


def _letter(axes: Any, x: float, y: float, letter: str) -> None:
    axes.plot([x], [y], marker="o", markersize=5, color="black")
    axes.annotate(letter, (x, y), xytext=(5, 5), textcoords="offset points", fontweight="bold")


def _legend(axes: Any, kinds: set[str]) -> None:
    axes.plot([], [], color="#444444", label="stable")
    axes.plot([], [], color="#444444", linestyle=(0, (4, 2)), label="unstable")
    for kind in sorted(kinds):
        axes.plot(
            [],
            [],
            marker="o",
            linestyle="none",
            color="black",
            markersize=5,
            label=f"{LETTERS.get(kind, kind[0].upper())}: {kind}",
        )
    axes.legend()


def equilibrium_plot(family: EquilibriumFamily, quantity: Any, path: Any) -> Plot:
    """Equilibria over the parameter, full where they are not unstable."""
    name = quantity or next(iter(family.points[0]))

    def draw(axes: Any) -> None:
        _line_by_stability(
            axes, family.values, family[name], [s is not False for s in family.stable], COLOURS[0]
        )
        letters = {"fold": "F", "bifurcation": "B", "Hopf": "H", "collision": "C"}
        for mark in family.special_points:
            _letter(axes, mark.parameter, mark.point[name], letters[mark.kind])
        for change in family.changes:
            _letter(axes, change.parameter, change.point[name], letters[change.kind])
        axes.set_xlabel(family.parameter)
        axes.set_ylabel(str(name))
        _legend(axes, {m.kind for m in family.special_points} | {m.kind for m in family.changes})
        axes.margins(x=0.03, y=0.08)

    system = family.curve.balance.kin.system.name
    return display(_figure(_WIDE, draw, system), f"{system} {family.parameter}", path)


def multiplier_plot(orbit: PeriodicOrbit, path: Any) -> Plot:
    """The multipliers and the unit circle."""
    return display(multiplier_figure(orbit), f"{orbit.system.name} multipliers", path)


def multiplier_figure(orbit: PeriodicOrbit) -> Any:
    """The multipliers and the unit circle as a figure; those that must be one as a square."""

    def draw(axes: Any) -> None:
        angle = np.linspace(0.0, 2 * np.pi, 241)
        axes.plot(np.cos(angle), np.sin(angle), color="#999999", linewidth=1.0)
        axes.axhline(0.0, color="#cccccc", linewidth=0.8)
        outside = np.abs(orbit.multipliers) > 1.0 + 1e-6
        for chosen, colour, label in (
            (~outside, COLOURS[0], "inside or on the circle"),
            (outside, COLOURS[1], "outside"),
        ):
            values = orbit.multipliers[chosen]
            if len(values):
                axes.plot(values.real, values.imag, "o", color=colour, label=label)
        if orbit.unit_multipliers:
            axes.plot(
                [1.0],
                [0.0],
                marker="s",
                linestyle="none",
                color="black",
                fillstyle="none",
                markersize=9,
                label=f"{len(orbit.unit_multipliers)} that must be one",
            )
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel("Re μ")
        axes.set_ylabel("Im μ")
        axes.margins(0.08)
        axes.legend(loc="center")

    return _figure(_SQUARE, draw, f"{orbit.system.name}, T = {orbit.period:.9g}")


def orbit_plot(orbit: PeriodicOrbit, expressions: Sequence[Any], path: Any) -> Plot:
    """One expression over a period; two in their plane; more over a period together."""
    run = orbit.run()
    times = np.linspace(float(run.t[0]), float(run.t[-1]), 801)
    motion = run.at(times)
    names = list(expressions) or list(orbit.start)[: orbit_coordinates(orbit)]

    def draw(axes: Any) -> None:
        if len(names) == 2 and expressions:
            axes.plot(motion[names[0]], motion[names[1]], color=COLOURS[0])
            axes.set_xlabel(str(names[0]))
            axes.set_ylabel(str(names[1]))
            axes.margins(0.05)
            return
        for k, name in enumerate(names):
            axes.plot(
                (times - times[0]) / orbit.period,
                motion[name],
                color=COLOURS[k % len(COLOURS)],
                label=str(name),
            )
        axes.set_xlabel("t/T")
        axes.legend()

    title = f"{orbit.system.name}, T = {orbit.period:.9g}, {orbit.stability}"
    return display(_figure(_WIDE, draw, title), f"{orbit.system.name} orbit", path)


def orbit_coordinates(orbit: PeriodicOrbit) -> int:
    """The number of coordinates of an orbit."""
    return len(orbit.system.q)


def diagram_plot(diagram: BifurcationDiagram, path: Any) -> Plot:
    """Section points over a parameter."""

    def draw(axes: Any) -> None:
        axes.plot(diagram.parameter, diagram.values, ",", color=COLOURS[0])
        axes.set_xlabel(diagram.name)
        axes.set_ylabel(f"{diagram.quantity} at {diagram.section} = 0")

    return display(
        _figure(_WIDE, draw, f"{diagram.quantity} over {diagram.name}"),
        f"{diagram.quantity} over {diagram.name}",
        path,
    )


def write_page(
    orbit: PeriodicOrbit,
    path: str | os.PathLike[str] | None,
    family: Family | None = None,
    quantity: Any = "period",
) -> Path:
    """One HTML file: the orbit in motion, its multipliers, and the diagram of its family."""
    page = late_module("orbit page")
    target = unused_path(f"{slug(orbit.system.name)}-orbit.html") if path is None else path
    return write_text(target, page.orbit_document(orbit, family, quantity))
