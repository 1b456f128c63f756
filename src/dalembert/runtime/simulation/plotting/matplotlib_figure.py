"""A chart as a figure of matplotlib, for PNG, PDF and everything else it can write."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final, cast

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dalembert.errors import IllPosed
from dalembert.runtime.simulation.plotting.chart import (
    PANEL_WIDTH,
    legend_rows,
    panel_height,
    y_limits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dalembert.runtime.simulation.plotting.chart import Chart, Panel

STYLE: Final[Any] = {
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
_SYMBOL: Final[Any] = {"fontsize": 13, "fontfamily": "DejaVu Serif", "fontstyle": "italic"}
# inches: for one, two and three columns; above and below the panels, for a further row of names
_WIDTHS: Final = (7.2, 9.6, 12.0)
_HEAD: Final = 1.05
_FOOT: Final = 0.55
_NAMES: Final = 0.2
# for each pixel of a panel in SVG
_INCHES: Final = 1 / 70
# points that are seen singly
_FEW: Final = 40
# letters that its font lacks
_LETTERS: Final = str.maketrans({"𝒰": "$\\mathcal{U}$", "𝓗": "$\\mathcal{H}$"})


def draw_on(axes: Any, chart: Chart) -> Figure:
    """The panels of a chart on axes of the caller, one panel on each; a single axes takes the
    first panel. The style is that of the axes.
    """
    places = list(np.ravel(axes))
    panels = chart.panels[: len(places)]
    if len(places) > len(chart.panels):
        msg = f"plot: {len(places)} axes were given for {len(chart.panels)} panels"
        raise IllPosed(msg)
    for place, panel in zip(places, panels, strict=True):
        if not hasattr(place, "plot"):
            msg = f"plot: ax= takes axes of matplotlib, not {type(place).__name__}"
            raise IllPosed(msg)
        _draw(place, panel)
        place.set_xlabel(chart.x_label)
        place.set_xlim(*chart.span)
    return cast("Figure", places[0].figure)


def figure(chart: Chart, figsize: tuple[float, float] | None = None, style: Any = None) -> Figure:
    """Panels in up to three columns, the one below them over the whole width, one axis across.

    figsize is in inches; style is a style of matplotlib, by name or as a dictionary.
    """
    with mpl.rc_context(STYLE), _style_context(style):
        below = () if chart.bottom_panel is None else (chart.bottom_panel,)
        rows = -(-len(chart.panels) // chart.columns)
        width, head = (
            _WIDTHS[chart.columns - 1],
            _HEAD + _NAMES * (max(len(legend_rows(p, PANEL_WIDTH)) for p in chart.panels) - 1),
        )
        height = head + panel_height(chart) * _INCHES * (rows + len(below)) + _FOOT
        width, height = figsize or (width, height)
        fig = Figure(figsize=(width, height), facecolor="white")
        FigureCanvasAgg(fig)
        # inches from the edges; the titles of the panels are in the gaps between them
        edges = {
            "left": 0.7 / width,
            "right": 1 - 0.25 / width,
            "top": 1 - head / height,
            "bottom": _FOOT / height,
        }
        grid = fig.add_gridspec(
            rows + len(below),
            chart.columns,
            **edges,
            hspace=0.42 if chart.columns == 1 else 0.5,
            wspace=0.22,
        )
        places = [(grid[rows, :], panel) for panel in below]
        places += [(grid[divmod(k, chart.columns)], panel) for k, panel in enumerate(chart.panels)]
        axes: Any = None
        for k, (place, panel) in enumerate(places, -len(below)):
            axes = fig.add_subplot(place, sharex=axes)
            # numbers are printed below the last of several columns, and below the lowest panel
            ends = (chart.columns > 1 or not below) and k + chart.columns >= len(chart.panels)
            axes.tick_params(labelbottom=ends or k < 0)
            _draw(axes, panel)
            axes.set_xlim(*chart.span)
        fig.axes[0 if below else -1].set_xlabel(
            chart.x_label, **(_SYMBOL if len(chart.x_label) == 1 else {})
        )
        fig.text(
            0.25 / width,
            1 - 0.27 / height,
            chart.title,
            fontsize=14,
            fontweight="bold",
            va="center",
        )
        fig.text(
            0.25 / width,
            1 - 0.54 / height,
            chart.facts,
            fontsize=9.5,
            color=chart.facts_colour,
            va="center",
        )
    return fig


def _style_context(style: Any) -> Any:
    """A style of matplotlib for a while."""
    if style is None:
        return nullcontext()
    from matplotlib import style as styles

    return styles.context(style)


def _draw(axes: Axes, panel: Panel) -> None:
    """Curves, the title above them, their names on the right where there are several."""
    if panel.zero_line:
        axes.axhline(0.0, color="#666666", linewidth=0.8)
    for k, c in enumerate(panel.curves):
        style: Any = (
            {"linestyle": "", "marker": ".", "markersize": 3 if len(c.x) > _FEW else 9}
            if panel.dotted
            else {"dashes": panel.dashes(k) or (None, None)}
        )
        axes.plot(c.x, c.values, color=panel.colour(k), label=c.name.translate(_LETTERS), **style)
    if panel.title:
        axes.set_title(
            panel.title, loc="left", pad=6, **(_SYMBOL if panel.is_symbol else {"fontsize": 10})
        )
    if sum(bool(c.name) for c in panel.curves) > 1:
        several = len(legend_rows(panel, PANEL_WIDTH)[0]) or 1
        axes.legend(
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=several,
            borderaxespad=0.0,
            handlelength=1.8,
            columnspacing=1.6,
        )
    axes.set_ylim(*y_limits(panel))
    if panel.levels:
        axes.set_yticks(range(1, len(panel.levels) + 1), panel.levels)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
