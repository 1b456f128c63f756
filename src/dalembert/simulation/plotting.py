"""Coordinates over time, one small panel for each, and below them what became of the energy."""

from __future__ import annotations

import io
import itertools
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.algebra.printing.names import superscript, unicode_name
from dalembert.algebra.scalar import Scalar
from dalembert.geometry.vector import Vector
from dalembert.simulation.failures import Unwritable
from dalembert.simulation.svg import svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from dalembert.simulation.trajectory import Trajectory

    Numbers = NDArray[np.float64]

# Okabe and Ito's colours, which everyone can tell apart
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_GREY: Final = "#666666"
_DPI: Final = 144
_MOST_PANELS: Final = 24
_MOST_POINTS: Final = 20_000


@dataclass(frozen=True, eq=False)
class Curve:
    """One quantity over its own times."""

    name: str
    t: Numbers = field(repr=False)
    values: Numbers = field(repr=False)
    colour: str


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share their axes; a symbol as title is set as a book does, anything else as it was written."""

    title: str
    curves: tuple[Curve, ...]
    is_symbol: bool = False
    zero_line: bool = False


@dataclass(frozen=True, eq=False)
class Chart:
    """Panels in columns, one over the whole width below them, one time axis."""

    title: str
    facts: str
    facts_colour: str
    times: tuple[float, float]
    panels: tuple[Panel, ...]
    below: Panel

    @property
    def columns(self) -> int:
        """How many panels stand side by side."""
        return 1 if len(self.panels) <= 4 else 2 if len(self.panels) <= 10 else 3


@dataclass(frozen=True, eq=False)
class Plot:
    """A picture that shows itself in a notebook, and the file it was saved to."""

    source: Chart | Figure
    path: str | None = None

    @property
    def figure(self) -> Figure:
        """The same as a figure of matplotlib, to be changed at will."""
        if not isinstance(self.source, Chart):
            return self.source
        from dalembert.simulation.raster import figure

        return figure(self.source)

    def save(self, path: str | os.PathLike[str]) -> Plot:
        """Write it to a file; the ending decides on the format. SVG needs no plotting package."""
        name = os.fspath(path)
        try:
            if isinstance(self.source, Chart) and name.lower().endswith(".svg"):
                with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 - the name may be anything that can be opened
                    file.write(svg(self.source))
            else:
                self.figure.savefig(path, dpi=_DPI)
        except OSError as problem:
            msg = f"cannot write {name}: {problem.strerror or problem}; the run is kept, plot it somewhere else"
            raise Unwritable(msg) from problem
        return Plot(self.source, name)

    def _repr_svg_(self) -> str | None:
        return svg(self.source) if isinstance(self.source, Chart) else None

    def _repr_png_(self) -> bytes | None:
        if isinstance(self.source, Chart):
            return None
        data = io.BytesIO()
        self.source.savefig(data, dpi=_DPI, format="png")
        return data.getvalue()

    def __repr__(self) -> str:
        return f"Plot({self.path or 'not saved'})"


def plot(run: Trajectory, what: Sequence[Any], path: str | os.PathLike[str] | None) -> Plot:
    """Inline in a notebook; elsewhere a file named after the system, its name printed."""
    made = Plot(chart(run, what))
    if path is not None:
        return made.save(path)
    if in_notebook():
        return made
    made = made.save(f"{file_name(run.system.name)}.svg")
    print(f"saved {made.path}")  # noqa: T201 - in a terminal this is the only sign of the plot
    return made


def in_notebook() -> bool:
    """Whether a notebook shows what the last line of a cell returns."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return getattr(shell, "kernel", None) is not None


def file_name(title: str) -> str:
    """Double pendulum → double-pendulum"""
    return re.sub(r"[^\w]+", "-", title.lower()).strip("-_") or "plot"


# ---- the chart -----------------------------------------------------------------------------------


def chart(run: Trajectory, what: Sequence[Any] = ()) -> Chart:
    """What was asked for, or every coordinate, and below it the energy."""
    asked = [(w if isinstance(w, tuple | list) else (w,)) for w in what] or [(name,) for name in run.names[: run.q.shape[1]]]
    smooth = _smooth(run)
    panels = tuple(_panel(smooth, keys) for keys in asked[:_MOST_PANELS])
    facts, colour = _facts(run, len(asked) - len(panels)), _GREY if run.finished else COLOURS[1]
    times = (float(run.t[0]), float(run.t[-1])) if len(run) else (0.0, 1.0)
    return Chart(run.system.name, facts, colour, times, panels, _energy(run))


def _smooth(run: Trajectory) -> Trajectory:
    """The run at so many times that no corner is seen."""
    if run.solution.dense is None or len(run) < 2:
        return run
    n = min(max(1000, 6 * len(run)), max(_MOST_POINTS, len(run)))
    return run.at(np.linspace(run.t[0], run.t[-1], n))


def _panel(run: Trajectory, keys: Sequence[Any]) -> Panel:
    """Quantities that share their axes."""
    lines = [line for key in keys for line in _lines(run, key)]
    curves = tuple(Curve(name, run.t, x, colour) for (name, x), colour in zip(lines, itertools.cycle(COLOURS), strict=False))
    return Panel(lines[0][0], curves, _is_symbol(keys[0])) if len(lines) == 1 else Panel("", curves)


def _lines(run: Trajectory, key: Any) -> list[tuple[str, Any]]:
    values = run[key]
    if isinstance(key, Vector):
        return [(f"along {axis}", values[:, k]) for k, axis in enumerate("xyz")]
    return [(_name(key), values)]


def _is_symbol(key: Any) -> bool:
    text = (key.name or "") if isinstance(key, Scalar) else str(key)
    return re.fullmatch(r"\w+'*(\.dot)*", text) is not None


def _name(key: Scalar | str) -> str:
    """A symbol as a book prints it, θ̇₁; anything else as it was written."""
    text = str(key.name or key) if isinstance(key, Scalar) else key
    return unicode_name(text.replace(".dot", "'")) if _is_symbol(key) else text


def _energy(run: Trajectory) -> Panel:
    """E − E₀ where it must stay zero, otherwise T, V and their sum."""
    if not run.conserves_energy:
        smooth = _smooth(run)
        parts = ("T", smooth.kinetic_energy, COLOURS[0]), ("V", smooth.potential_energy, COLOURS[2]), ("T + V", smooth.energy, COLOURS[6])
        return Panel("energy", tuple(Curve(name, smooth.t, x, colour) for name, x, colour in parts))
    drift = run.energy_change / (float(np.max(run.kinetic_energy, initial=0.0)) or 1.0)
    exponent = int(np.floor(np.log10(largest))) if (largest := float(np.max(np.abs(drift), initial=0.0))) else 0
    title = "energy drift (E − E₀) / max T" + (f"  in 10{superscript(exponent)}" if exponent else "")
    return Panel(title, (Curve("drift", run.t, drift / 10.0**exponent, COLOURS[1]),), zero_line=True)


def _facts(run: Trajectory, left_out: int) -> str:
    """In one line what must be known to trust the picture."""
    solution = run.solution
    facts = [f"{solution.steps} steps"]
    if run.conserves_energy:
        facts.append(f"energy drift {run.energy_drift:.1e}")
    if run.residuals:
        facts.append(f"constraints to {run.worst_residual:.1e}" if run.worst_residual else "constraints exact")
    if not run.finished:
        facts.insert(0, f"{solution.outcome.value.upper()} at t = {solution.t[-1]:.6g}")
    if left_out:
        facts.append(f"{left_out} more not shown")
    return "  ·  ".join(facts)
