"""A curve, a fan, a map or a histogram of what a study kept, as its axes ask for.

one axis          a curve over it
two axes          a map
draws             a histogram
axis and draws    a fan over the axis: median, and the bands that hold 50 % and 90 % of the draws
times             the same over time: curves of a few members, a fan of many
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.studies.parameter_grid import DRAW
from dalembert.analysis.studies.result import TIME, Ensemble
from dalembert.runtime.simulation.plotting.chart import COLOURS
from dalembert.runtime.simulation.plotting.plot import Plot, display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE: Final = (7.2, 4.6)
_FEW: Final = 7
_BANDS: Final = ((5.0, 95.0, 0.18), (25.0, 75.0, 0.32))


def plot(study: Ensemble, name: str | None, path: str | None) -> Plot:
    """Inline in a notebook; elsewhere a file, whose name is printed unless it was given."""
    chosen = name if name is not None else study.plan.outputs[0].name
    study[chosen]
    system = study.plan.system.name
    return display(figure(study.data, system, chosen), f"{system} {chosen}", path)


def figure(study: Any, title: str, name: str) -> Any:
    """The picture of one variable of a dataset as a figure of matplotlib."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from dalembert.runtime.simulation.plotting.matplotlib_figure import STYLE

    data, cut = _slice_to_two_dims(study[name])
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=_SIZE, facecolor="white", layout="constrained")
        FigureCanvasAgg(fig)
        axes = fig.add_subplot()
        _draw(axes, data, name)
        lost = int(np.isnan(study[name].values).sum())
        notes = [cut, f"{lost} of {study[name].size} without a value" if lost else ""]
        axes.set_title(title, loc="left", fontweight="bold")
        if any(notes):
            axes.set_title("; ".join(filter(None, notes)), loc="right", fontsize=9, color="#666666")
    return fig


def _slice_to_two_dims(data: Any) -> tuple[Any, str]:
    """Two axes can be drawn; of the others the middle, which the title reports."""
    keep = [dim for dim in data.dims if dim in (TIME, DRAW)]
    keep += [dim for dim in data.dims if dim not in keep][: 2 - len(keep)]
    others = [dim for dim in data.dims if dim not in keep]
    places = {dim: data.sizes[dim] // 2 for dim in others}
    cut = data.isel(places)
    cut_text = ", ".join(
        f"{dim} = {float(cut.coords[dim]):.4g}" if dim in cut.coords else f"{dim} {places[dim]}"
        for dim in others
    )
    return cut, cut_text


def _draw(axes: Axes, data: Any, name: str) -> None:
    dims = [dim for dim in data.dims if data.sizes[dim] > 1] or list(data.dims)[:1]
    data = data.isel({dim: 0 for dim in data.dims if dim not in dims})
    over = next((dim for dim in (TIME, *dims) if dim in dims and dim != DRAW), None)
    if over is None:
        _histogram(axes, data.values.ravel(), _label(data, name))
        return
    others = [dim for dim in dims if dim != over]
    if not others:
        _curve(axes, _axis_values(data, over), data.values, name)
    elif over == TIME and others[0] != DRAW and data.sizes[others[0]] <= _FEW:
        for k in range(data.sizes[others[0]]):
            one = data.isel({others[0]: k})
            value = f"{float(one.coords[others[0]]):.4g}" if others[0] in one.coords else str(k)
            axes.plot(
                _axis_values(data, over),
                one.values,
                color=COLOURS[k % len(COLOURS)],
                label=f"{others[0]} = {value}",
            )
        axes.legend()
    elif over == TIME or others[0] == DRAW:
        _fan_chart(axes, _axis_values(data, over), data.transpose(over, others[0]).values)
    else:
        _heat_map(axes, data.transpose(others[0], over), (over, others[0]), name)
        return
    axes.set_xlabel(_label(data.coords[over], over) if over in data.coords else over)
    axes.set_ylabel(_label(data, name))


def _axis_values(data: Any, dim: str) -> Any:
    return data.coords[dim].values if dim in data.coords else np.arange(data.sizes[dim])


def _label(data: Any, name: str) -> str:
    unit = data.attrs.get("units", "")
    return f"{name} [{unit}]" if unit else name


def _curve(axes: Axes, x: Any, y: Any, name: str) -> None:
    order = np.argsort(x)
    few = len(x) <= 60
    axes.plot(
        x[order], y[order], color=COLOURS[0], marker="o" if few else None, markersize=3, label=name
    )


def _fan_chart(axes: Axes, x: Any, rows: Any) -> None:
    order = np.argsort(x)
    known = rows[order]
    whole = ~np.isnan(known).all(axis=1)
    x, known = x[order][whole], known[whole]
    for low, high, shade in _BANDS:
        a, b = np.nanpercentile(known, (low, high), axis=1)
        axes.fill_between(
            x, a, b, color=COLOURS[0], alpha=shade, linewidth=0, label=f"{high - low:.0f} %"
        )
    axes.plot(x, np.nanmedian(known, axis=1), color=COLOURS[0], label="median")
    axes.legend()


def _histogram(axes: Axes, values: Any, name: str) -> None:
    known = values[np.isfinite(values)]
    if known.size:
        axes.hist(
            known, bins=min(80, max(8, int(np.sqrt(known.size)))), color=COLOURS[0], alpha=0.75
        )
        median = float(np.median(known))
        axes.axvline(median, color=COLOURS[1], label=f"median {median:.4g}")
        axes.legend()
    axes.set_xlabel(name)
    axes.set_ylabel("members")


def _heat_map(axes: Axes, data: Any, dims: tuple[str, str], name: str) -> None:
    x, y = (_axis_values(data, dim) for dim in dims)
    order = np.ix_(np.argsort(y), np.argsort(x))
    mesh = axes.pcolormesh(
        np.sort(x),
        np.sort(y),
        data.values[order],
        shading="nearest",
        cmap="viridis",
        rasterized=True,
    )
    axes.grid(visible=False)
    axes.figure.colorbar(mesh, ax=axes, label=_label(data, name))
    horizontal, vertical = (
        _label(data.coords[dim], dim) if dim in data.coords else dim for dim in dims
    )
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
