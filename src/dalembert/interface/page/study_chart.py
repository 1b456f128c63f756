"""What a study kept, drawn like the other charts of a page: a curve over one axis, a map over two.

A click on a chart plays the run of that place, where the page can simulate its system.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any, Final

import numpy as np

from dalembert.analysis.studies.parameter_grid import DRAW
from dalembert.foundation.array_types import FloatArray
from dalembert.interface.page.plot_area import PlotArea
from dalembert.interface.page.time_plots import WIDTH, axis_limits, tick_label
from dalembert.interface.page.typeset_symbols import expression_html
from dalembert.runtime.simulation.plotting.chart import ticks, ticks_inside

_HEIGHT: Final = 3_000
_MOST_CELLS: Final = 4_096
_LABELS: Final = 6
# viridis at even steps
_SCALE: Final = ("440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30")
_GROUPS: Final = {"start": "Start", "constant": "Constants", "input": "Inputs"}


def study_chart(data: Any, name: str) -> str:
    """The figure of one variable over one or two axes of the grid; nothing for other forms, which
    matplotlib draws.
    """
    kept = data[name]
    dims = [dim for dim in kept.dims if kept.sizes[dim] > 1]
    if not 1 <= len(dims) <= 2 or any(
        d in (DRAW, "time", "t") or d not in data.coords for d in dims
    ):
        return ""
    values = np.asarray(kept.transpose(*reversed(dims), ...).values, dtype=float)
    values = values.reshape(tuple(kept.sizes[d] for d in reversed(dims)))
    axes = [np.asarray(data.coords[d].values, dtype=float) for d in dims]
    orders = [np.argsort(x) for x in axes]
    axes = [x[k] for x, k in zip(axes, orders, strict=True)]
    values = values[np.ix_(*reversed(orders))]
    if values.size > _MOST_CELLS:
        return ""
    places = json.dumps(
        [
            {"key": _slider_key(data.coords[d], d), "x": x.tolist()}
            for d, x in zip(dims, axes, strict=True)
        ]
    )
    field = _curve(axes[0], values) if len(dims) == 1 else _map(axes, values)
    titles = [axis_title(data.coords[d], d) for d in dims]
    side = "" if len(dims) == 1 else f'<span class="upward">{titles[1]}</span>'
    unit = kept.attrs.get("units", "")
    return (
        f'<figure class="plot wide study-chart" data-axes="{escape(places)}"><figcaption>'
        f'<span class="title">{expression_html(name)}{escape(f" [{unit}]" if unit else "")}</span>'
        f"{side}{'' if len(dims) == 1 else _key(values)}</figcaption>"
        f'<div class="area"><div class="field">{field}<i class="chosen" hidden></i></div></div>'
        f'<p class="across">{titles[0]}</p></figure>'
    )


def _slider_key(coordinate: Any, name: str) -> str:
    """What the panel of a page calls what varied."""
    group = _GROUPS.get(coordinate.attrs["role"], "")
    return f"{group}.{coordinate.attrs.get('symbol', name)}"


def axis_title(coordinate: Any, name: str) -> str:
    """The symbol of an axis with its unit."""
    unit = coordinate.attrs.get("units", "")
    symbol = coordinate.attrs.get("symbol", name)
    return expression_html(symbol) + escape(f" [{unit}]" if unit else "")


def _curve(x: FloatArray, values: FloatArray) -> str:
    low, high, _ = axis_limits([values])
    area = PlotArea((float(x[0]), float(x[-1])), (low, high), 0, 0, WIDTH, _HEIGHT, unit=1)
    xs, ys = ticks_inside(*area.x, _LABELS), ticks(*area.y, 4)
    numbers = [("y", "top", area.y_pixel(y) / _HEIGHT, y) for y in ys]
    numbers += [("x", "left", area.x_pixel(v) / WIDTH, v) for v in xs]
    lines = f'<path class="grid" d="{area.grid(xs, ys)}"/>'
    return _labels(numbers) + _svg(f'{lines}<path class="curve c0" d="{area.path(x, values)}"/>')


def _map(axes: list[FloatArray], values: FloatArray) -> str:
    rows, columns = values.shape
    high, wide = _HEIGHT / rows, WIDTH / columns
    known = values[np.isfinite(values)]
    low, size = (float(known.min()), float(np.ptp(known)) or 1.0) if known.size else (0.0, 1.0)
    cells = []
    for r in range(rows):
        for c in range(columns):
            fill = _colour((values[r, c] - low) / size) if np.isfinite(values[r, c]) else ""
            style = f'fill="#{fill}"' if fill else 'class="missing"'
            # cells overlap by a unit, so that no seam is seen
            x, y = round(c * wide), round(_HEIGHT - (r + 1) * high)
            cells.append(f'<path {style} d="M{x} {y}h{round(wide) + 1}v{round(high) + 1}H{x}z"/>')
    numbers = [
        (kind, side, (k + 0.5) / len(x) if kind == "x" else 1 - (k + 0.5) / len(x), float(x[k]))
        for kind, side, x in (("x", "left", axes[0]), ("y", "top", axes[1]))
        for k in sorted({round(i) for i in np.linspace(0, len(x) - 1, min(_LABELS, len(x)))})
    ]
    return _labels(numbers) + _svg("".join(cells))


def _labels(numbers: list[tuple[str, str, float, float]]) -> str:
    return "".join(
        f'<span class="{kind}" style="{side}:{100 * part:.2f}%">{_short(x)}</span>'
        for kind, side, part, x in numbers
    )


def _short(x: float) -> str:
    return tick_label(float(f"{x:.4g}"))


def _svg(inside: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f"{inside}</svg>"
    )


def _key(values: FloatArray) -> str:
    """The scale of the colours with its ends."""
    known = values[np.isfinite(values)]
    if not known.size:
        return ""
    stops = ", ".join(f"#{c}" for c in _SCALE)
    bar = f'<i class="scale" style="background:linear-gradient(90deg, {stops})"></i>'
    return f"<span>{_short(float(known.min()))} {bar} {_short(float(known.max()))}</span>"


def _colour(part: float) -> str:
    """A colour by linear interpolation."""
    at = min(max(part, 0.0), 1.0) * (len(_SCALE) - 1)
    k = min(int(at), len(_SCALE) - 2)
    pairs = zip(bytes.fromhex(_SCALE[k]), bytes.fromhex(_SCALE[k + 1]), strict=True)
    return bytes(round(a + (b - a) * (at - k)) for a, b in pairs).hex()
