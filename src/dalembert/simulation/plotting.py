"""Coordinates over time, one small panel for each, and below them what became of the energy."""

from __future__ import annotations

import io
import itertools
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.algebra.printing.names import latex_name, parts, superscript, unicode_name
from dalembert.algebra.scalar import Scalar
from dalembert.geometry.vector import Vector
from dalembert.simulation.failures import Unwritable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dalembert.simulation.trajectory import Trajectory

# Okabe and Ito's colours, which everyone can tell apart
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_GREY: Final = "#666666"
_STYLE: Final[Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "axes.edgecolor": "#999999",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "axes.xmargin": 0.0,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 9.5,
}
_SYMBOL: Final[Any] = {"fontsize": 13, "fontfamily": "DejaVu Serif", "fontstyle": "italic", "math_fontfamily": "dejavuserif"}
_DPI: Final = 144
# inches: for one, two and three columns; above, for each and below the panels
_WIDTHS: Final = (7.2, 9.6, 12.0)
_HEAD: Final = 1.05
_PANEL: Final = 1.6
_FOOT: Final = 0.55
_MOST_PANELS: Final = 24
_MOST_POINTS: Final = 20_000


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure that shows itself in a notebook, and the file it was saved to."""

    figure: Figure
    path: str | None = None

    def save(self, path: str | os.PathLike[str]) -> Plot:
        """Write it to a file; the ending decides on the format."""
        try:
            self.figure.savefig(path, dpi=_DPI)
        except OSError as problem:
            msg = f"cannot write {os.fspath(path)}: {problem.strerror or problem}; the run is kept, plot it somewhere else"
            raise Unwritable(msg) from problem
        return Plot(self.figure, os.fspath(path))

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.figure.savefig(data, dpi=_DPI, format="png")
        return data.getvalue()

    def __repr__(self) -> str:
        return f"Plot({self.path or 'not saved'})"


def plot(run: Trajectory, what: Sequence[Any], path: str | os.PathLike[str] | None) -> Plot:
    """Inline in a notebook; elsewhere a file named after the system, its name printed."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with mpl.rc_context(_STYLE):
        made = Plot(_figure(run, what))
        FigureCanvasAgg(made.figure)
        if path is None and in_notebook():
            return made
        made = made.save(f"{file_name(run.system.name)}.png" if path is None else path)
    if path is None:
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


# ---- the figure ----------------------------------------------------------------------------------


def _figure(run: Trajectory, what: Sequence[Any]) -> Figure:
    """Panels in up to three columns, the energy over the whole width, one time axis."""
    from matplotlib.figure import Figure

    asked = [(w if isinstance(w, tuple | list) else (w,)) for w in what] or [(name,) for name in run.names[: run.q.shape[1]]]
    panels = asked[:_MOST_PANELS]
    columns = 1 if len(panels) <= 4 else 2 if len(panels) <= 10 else 3
    rows = -(-len(panels) // columns)
    width, height = _WIDTHS[columns - 1], _HEAD + _PANEL * (rows + 1) + _FOOT
    figure = Figure(figsize=(width, height), facecolor="white")
    # inches from the edges; the titles of the panels stand in the gaps between them
    edges = {"left": 0.7 / width, "right": 1 - 0.25 / width, "top": 1 - _HEAD / height, "bottom": _FOOT / height}
    grid = figure.add_gridspec(rows + 1, columns, **edges, hspace=0.42 if columns == 1 else 0.5, wspace=0.22)
    bottom = figure.add_subplot(grid[rows, :])
    smooth = _smooth(run)
    for k, keys in enumerate(panels):
        axes = figure.add_subplot(grid[divmod(k, columns)], sharex=bottom)
        axes.tick_params(labelbottom=columns > 1 and k + columns >= len(panels))
        _panel(axes, smooth, keys)
    _energy(bottom, run)
    bottom.set_xlabel("t", **_SYMBOL)
    _title(figure, run, len(asked) - len(panels))
    return figure


def _smooth(run: Trajectory) -> Trajectory:
    """The run at so many times that no corner is seen."""
    if run.solution.dense is None or len(run) < 2:
        return run
    n = min(max(1000, 6 * len(run)), max(_MOST_POINTS, len(run)))
    return run.at(np.linspace(run.t[0], run.t[-1], n))


def _panel(axes: Axes, run: Trajectory, keys: Sequence[Any]) -> None:
    """Quantities that share their axes, named above."""
    lines = [line for key in keys for line in _lines(run, key)]
    for (name, x), colour in zip(lines, itertools.cycle(COLOURS), strict=False):
        axes.plot(run.t, x, color=colour, label=name)
    _steady(axes, np.concatenate([x for _, x in lines]))
    if len(lines) == 1:
        name = lines[0][0]
        axes.set_title(name, loc="left", pad=6, **(_SYMBOL if _is_symbol(keys[0]) else {"fontsize": 10}))
    else:
        _legend(axes)
    axes.yaxis.set_major_locator(_locator())


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
    if not _is_symbol(key):
        return text
    name = text.replace(".dot", "'")
    # a dot over a letter is lost in plain text, but formulas cost time
    return f"${latex_name(name)}$" if parts(name).dots else unicode_name(name)


def _legend(axes: Axes) -> None:
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=8, borderaxespad=0.0, handlelength=1.2, columnspacing=1.6)


def _locator() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4, steps=[1, 2, 2.5, 5, 10])


def _steady(axes: Axes, x: Any) -> None:
    """What does not move is drawn as a straight line, not as magnified rounding."""
    finite = x[np.isfinite(x)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or size < 1e-12:
        half = 0.5 * size if size >= 1e-12 else 0.5
        axes.set_ylim(low - half, high + half)


def _energy(axes: Axes, run: Trajectory) -> None:
    """E − E₀ where it must stay zero, otherwise T, V and their sum."""
    title = "energy"
    if run.conserves_energy:
        E, T = run.energy, float(np.max(run.kinetic_energy, initial=0.0))
        drift = (E - E[:1]) / (T or 1.0)
        exponent = int(np.floor(np.log10(largest))) if (largest := float(np.max(np.abs(drift), initial=0.0))) else 0
        axes.axhline(0.0, color=_GREY, linewidth=0.8)
        axes.plot(run.t, drift / 10.0**exponent, color=COLOURS[1], linewidth=1.1)
        title = "energy drift (E − E₀) / max T" + (f"  in 10{superscript(exponent)}" if exponent else "")
    else:
        smooth = _smooth(run)
        parts = ("T", smooth.kinetic_energy, COLOURS[0]), ("V", smooth.potential_energy, COLOURS[2]), ("T + V", smooth.energy, COLOURS[6])
        for name, x, colour in parts:
            axes.plot(smooth.t, x, color=colour, label=name, linewidth=1.2)
        _legend(axes)
    axes.set_title(title, loc="left", fontsize=10, pad=6)
    axes.yaxis.set_major_locator(_locator())


def _title(figure: Figure, run: Trajectory, left_out: int) -> None:
    """The system, and in one line what must be known to trust the picture."""
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
    width, height = figure.get_size_inches()
    figure.text(0.25 / width, 1 - 0.27 / height, run.system.name, fontsize=14, fontweight="bold", va="center")
    colour = _GREY if run.finished else COLOURS[1]
    figure.text(0.25 / width, 1 - 0.54 / height, "  ·  ".join(facts), fontsize=9.5, color=colour, va="center")
