"""Shapes of members as images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from dalembert.simulation.plotting.chart import COLOURS
from dalembert.simulation.plotting.plot import save_figure

if TYPE_CHECKING:
    from os import PathLike

    from dalembert.flexible.modes.buckling import MemberBuckling
    from dalembert.flexible.modes.deflection import Deflection
    from dalembert.flexible.modes.natural_modes import MemberModes

POINTS: Final = 401


def save_modes(found: MemberModes, path: str | PathLike[str], chosen: Sequence[int] | None = None) -> None:
    """Mode shapes over x, the largest deflection being 1."""
    import numpy as np

    curves = []
    for k, m in enumerate(found.modes, 1):
        if m.shapes and (chosen is None or k in chosen):
            x = np.linspace(0.0, m.shapes[m.fields[0]].length, POINTS)
            curves.append((x, m.shape(x), f"{k}: {m.fields[0]}, ω = {m.frequency:.6g}"))
    save_curves(curves, f"{found.member.name}: mode shapes", "shape", path)


def save_buckling(found: MemberBuckling, path: str | PathLike[str]) -> None:
    """The shapes into which a member buckles."""
    import numpy as np

    curves = []
    for k, load in enumerate(found.loads, 1):
        if load.shapes:
            x = np.linspace(0.0, load.shapes[load.fields[0]].length, POINTS)
            curves.append((x, load.shape(x), f"{k}: P = {load.force:.6g}"))
    save_curves(curves, f"{found.member.name}: buckling", "shape", path)


def save_deflection(found: Deflection, path: str | PathLike[str]) -> None:
    """The static shape of every field."""
    import numpy as np

    curves = []
    for name, shape in found.shapes.items():
        x = np.linspace(0.0, shape.length, POINTS)
        curves.append((x, shape(x), name))
    save_curves(curves, f"{found.member.name}: at rest", "deflection", path)


def save_curves(curves: Sequence[tuple[Any, Any, str]], title: str, label: str, path: str | PathLike[str]) -> None:
    """Curves over the place along a member."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.axhline(0.0, color="#999999", linewidth=0.8)
    for k, (x, y, name) in enumerate(curves):
        axes.plot(x, y, color=COLOURS[k % len(COLOURS)], label=name)
    axes.set_xlabel("x")
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.grid(color="#e6e6e6")
    if curves:
        figure.legend(loc="outside right upper", fontsize="small")
    save_figure(figure, path)
