"""Coordinates over time, one small panel for each, and below them what became of the energy."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.algebra.names import latex_name
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
_STYLE: Final[dict[str, Any]] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "mathtext.fontset": "stix",
    "axes.edgecolor": "#999999",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
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
_DPI: Final = 144
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
    width, height = (7.2, 9.6, 12.0)[columns - 1], 1.15 + 1.45 * rows + 1.75
    figure = Figure(figsize=(width, height), facecolor="white")
    edges = {"left": 0.82 / width, "right": 1 - 0.25 / width, "top": 1 - 0.78 / height, "bottom": 0.55 / height}
    grid = figure.add_gridspec(rows + 1, columns, **edges, hspace=0.34, wspace=0.24, height_ratios=[1.0] * rows + [1.05])
    smooth = _smooth(run)
    bottom = figure.add_subplot(grid[rows, :])
    for k, keys in enumerate(panels):
        axes = figure.add_subplot(grid[k % rows, k // rows], sharex=bottom)
        axes.tick_params(labelbottom=False)
        _panel(axes, smooth, keys)
    _energy(bottom, run)
    bottom.set_xlabel("$t$", fontsize=12)
    _title(figure, run, len(asked) - len(panels), height)
    return figure


def _smooth(run: Trajectory) -> Trajectory:
    """The run at so many times that no corner is seen."""
    if run.solution.dense is None or len(run) < 2:
        return run
    n = min(max(1000, 6 * len(run)), max(_MOST_POINTS, len(run)))
    return run.at(np.linspace(run.t[0], run.t[-1], n))


def _panel(axes: Axes, run: Trajectory, keys: Sequence[Any]) -> None:
    """Quantities that share their axes; a single one is named at the side."""
    lines = [line for key in keys for line in _lines(run, key)]
    for (name, x), colour in zip(lines, _cycled(len(lines)), strict=True):
        axes.plot(run.t, x, color=colour, label=name)
    _steady(axes, np.concatenate([x for _, x in lines]))
    axes.yaxis.set_major_locator(_locator())
    if len(lines) == 1:
        name = lines[0][0]
        short = len(re.sub(r"\\[a-z]+|[${}_^]", "", name)) <= 4
        axes.set_ylabel(
            name, rotation=0 if short else 90, ha="center", va="center", labelpad=14 if short else 10, fontsize=15 if short else 10
        )
        axes.yaxis.set_label_coords(-0.62 / axes.get_position().width / axes.figure.get_size_inches()[0], 0.5)
    else:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=len(lines), borderaxespad=0.0, handlelength=1.2)


def _lines(run: Trajectory, key: Any) -> list[tuple[str, Any]]:
    values = run[key]
    if isinstance(key, Vector):
        return [(f"along ${axis}$", values[:, k]) for k, axis in enumerate("xyz")]
    return [(_name(key), values)]


def _name(key: Scalar | str) -> str:
    """A symbol as a book prints it; anything else as it was written."""
    text = str(key.name or key) if isinstance(key, Scalar) else key
    symbol = re.fullmatch(r"(\w+?)('*)((?:\.dot)*)", text)
    return f"${latex_name(symbol[1] + symbol[2] + symbol[3].count('.') * chr(39))}$" if symbol else text


def _cycled(n: int) -> list[str]:
    return [COLOURS[k % len(COLOURS)] for k in range(n)]


def _locator() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4, steps=[1, 2, 2.5, 5, 10])


def _steady(axes: Axes, x: Any) -> None:
    """What does not move is drawn as a straight line, not as magnified rounding."""
    finite = x[np.isfinite(x)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or size < 1e-12:
        half = 0.5 * size if size >= 1e-12 else 0.5
        axes.set_ylim(low - half, high + half)


def _energy(axes: Axes, run: Trajectory) -> None:
    """E − E₀ where it must stay zero, otherwise T, V and their sum."""
    if run.conserves_energy:
        E, T = run.energy, np.max(run.kinetic_energy, initial=0.0)
        axes.axhline(0.0, color=_GREY, linewidth=0.8)
        axes.plot(run.t, (E - E[:1]) / (T or 1.0), color=COLOURS[1], linewidth=1.1)
        axes.set_title("energy drift  $(E-E_0)\\,/\\,\\max T$", loc="left", fontsize=10, pad=6)
    else:
        parts = (("$T$", run.kinetic_energy), ("$V$", run.potential_energy), ("$T+V$", run.energy))
        for (name, x), colour in zip(parts, (COLOURS[0], COLOURS[2], COLOURS[6]), strict=True):
            axes.plot(run.t, x, color=colour, label=name, linewidth=1.2)
        axes.set_title("energy", loc="left", fontsize=10, pad=6)
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=3, borderaxespad=0.0, handlelength=1.2)
    axes.yaxis.set_major_locator(_locator())


def _title(figure: Figure, run: Trajectory, left_out: int, height: float) -> None:
    """The system, and in one line what must be known to trust the picture."""
    solution = run.solution
    facts = [f"{solution.steps} steps"]
    if run.conserves_energy:
        facts.append(f"energy drift {run.energy_drift:.1e}")
    if run.residuals:
        facts.append(f"constraints to {run.worst_residual:.1e}")
    if not run.finished:
        facts.insert(0, f"{solution.outcome.value.upper()} at t = {solution.t[-1]:.6g}")
    if left_out:
        facts.append(f"{left_out} more not shown")
    figure.text(0.25 / figure.get_size_inches()[0], 1 - 0.26 / height, run.system.name, fontsize=14, fontweight="bold", va="center")
    colour = _GREY if run.finished else COLOURS[1]
    figure.text(0.25 / figure.get_size_inches()[0], 1 - 0.53 / height, "  ·  ".join(facts), fontsize=9.5, color=colour, va="center")
