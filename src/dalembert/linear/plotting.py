"""Re λ and Im λ over a parameter: a root locus as text for the terminal, or as an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dalembert.simulation.plotting.plot import save_figure

if TYPE_CHECKING:
    from os import PathLike

    from dalembert.linear.locus import RootLocus

_ROWS: Final = 19
_REAL, _PAIR, _ZERO = "•", "◦", "─"
_COLOURS: Final = ("#0072B2", "#D55E00")


def text_plot(locus: RootLocus, columns: int = 72) -> str:
    """Re λ over the parameter: • for a real eigenvalue, ◦ for a pair."""
    z = locus.eigenvalues
    top, bottom = float(z.real.max(initial=0.0)), float(z.real.min(initial=0.0))
    low, high = locus.values.min(), locus.values.max()
    grid = [[" "] * columns for _ in range(_ROWS)]
    height = (top - bottom) or 1.0

    def row(x: float) -> int:
        return round((top - x) / height * (_ROWS - 1))

    if 0 <= row(0.0) < _ROWS:
        grid[row(0.0)] = [_ZERO] * columns
    for p, line in zip(locus.values, z, strict=True):
        column = round((p - low) / ((high - low) or 1.0) * (columns - 1))
        for x in line:
            if 0 <= row(x.real) < _ROWS:
                grid[row(x.real)][column] = _PAIR if abs(x.imag) > 1e-9 * (1 + abs(x)) else _REAL
    labels = {0: top, row(0.0): 0.0, _ROWS - 1: top - height}
    lines = [f"{labels[k]:>9.3g} │" + "".join(cells) if k in labels else " " * 10 + "│" + "".join(cells) for k, cells in enumerate(grid)]
    foot = f"{low:.6g}".ljust(columns - 10) + f"{high:.6g}".rjust(10)
    return "\n".join([f"Re λ over {locus.parameter}   {_REAL} real   {_PAIR} pair", *lines, " " * 11 + foot])


def save(locus: RootLocus, path: str | PathLike[str]) -> None:
    """Re λ and |Im λ| over the parameter, as an image."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True)
    for part, axes, name, colour in ((locus.eigenvalues.real, above, "Re λ", 0), (np.abs(locus.eigenvalues.imag), below, "|Im λ|", 1)):
        axes.plot(locus.values, part, ".", markersize=3, color=_COLOURS[colour])
        axes.axhline(0.0, color="#999999", linewidth=0.8)
        axes.set_ylabel(name)
        axes.grid(color="#e6e6e6")
    below.set_xlabel(locus.parameter)
    above.set_title(f"{locus.models[0].system}: eigenvalues over {locus.parameter}")
    save_figure(figure, path)
