"""A chart as a figure of matplotlib, for SVG, PNG, PDF and everything else it can write."""

from __future__ import annotations

import io
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
    from matplotlib.gridspec import GridSpec

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
_SVG: Final[Any] = {"svg.fonttype": "none", "svg.hashsalt": "dalembert"}
_DPI: Final = 144
_SYMBOL: Final[Any] = {"fontsize": 13, "fontfamily": "DejaVu Serif", "fontstyle": "italic"}
# inches: for one, two and three columns; above and below the panels, for a further row of names
_WIDTHS: Final = (7.2, 9.6, 12.0)
_HEAD: Final = 1.05
_FOOT: Final = 0.55
_NAMES: Final = 0.2
# between rows, and of a panel in a picture that is too small
_GAP: Final = 0.4
_LEAST: Final = 0.1
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
        head = _HEAD + _NAMES * (max(len(legend_rows(p, PANEL_WIDTH)) for p in chart.panels) - 1)
        width, height = figsize or (_WIDTHS[chart.columns - 1], _height(chart, head))
        fig = Figure(figsize=(width, height), facecolor="white")
        FigureCanvasAgg(fig)
        # inches from the edges; the titles of the panels are in the gaps between them
        grid = fig.add_gridspec(
            _rows(chart),
            chart.columns,
            left=0.7 / width,
            right=1 - 0.25 / width,
            top=1 - head / height,
            bottom=_FOOT / height,
            hspace=_row_gap(chart, height - head - _FOOT),
            wspace=0.22,
        )
        _draw_panels(fig, grid, chart)
        left = 0.25 / width
        fig.text(left, 1 - 0.27 / height, chart.title, fontsize=14, fontweight="bold", va="center")
        facts: Any = {"fontsize": 9.5, "color": chart.facts_colour}
        fig.text(left, 1 - 0.54 / height, chart.facts, va="center", **facts)
    return fig


def _rows(chart: Chart) -> int:
    """Rows of panels, with that over the whole width."""
    return -(-len(chart.panels) // chart.columns) + (chart.bottom_panel is not None)


def _height(chart: Chart, head: float) -> float:
    """Inches of the whole picture."""
    return head + panel_height(chart) * _INCHES * _rows(chart) + _FOOT


def _row_gap(chart: Chart, inside: float) -> float:
    """The gap between rows relative to the height of a panel; in a small picture it has room for
    a title.
    """
    usual, rows = 0.42 if chart.columns == 1 else 0.5, _rows(chart)
    panel = (inside - _GAP * (rows - 1)) / rows
    return max(usual, _GAP / max(panel, _LEAST))


def _draw_panels(fig: Figure, grid: GridSpec, chart: Chart) -> None:
    """All panels with one axis across, and its name."""
    below = () if chart.bottom_panel is None else (chart.bottom_panel,)
    places = [(grid[_rows(chart) - 1, :], panel) for panel in below]
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


def render(fig: Figure, form: str) -> bytes:
    """A figure in a format of matplotlib; the same figure gives the same SVG, whose letters stay
    text and which may also be a part of a document.
    """
    data = io.BytesIO()
    dated: Any = {"metadata": {"Date": None}} if form in ("svg", "svgz") else {}
    with mpl.rc_context(_SVG):
        fig.savefig(data, dpi=_DPI, format=form, **dated)
    picture = data.getvalue()
    return picture[picture.index(b"<svg") :] if form == "svg" else picture


def _style_context(style: Any) -> Any:
    """A style of matplotlib for a while."""
    if style is None:
        return nullcontext()
    from matplotlib import style as styles

    return styles.context(style)


def _with_subscript(symbol: str) -> str:
    """θ_R with its index lowered."""
    stem, _, index = symbol.partition("_")
    return f"{stem}$_{{\\mathit{{{index}}}}}$" if index.isalnum() else symbol


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
            _with_subscript(panel.title) if panel.is_symbol else panel.title,
            loc="left",
            pad=6,
            **(_SYMBOL if panel.is_symbol else {"fontsize": 10}),
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
