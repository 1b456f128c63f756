"""One page of an identification: values with confidence, measured against fitted curves, residuals
and correlations.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.interface.page.data_blocks import data_block, scene_data
from dalembert.interface.page.html_elements import (
    html_document,
    inline_svg,
    page_header,
    section,
    shown_name,
    table,
)
from dalembert.interface.page.parts.motion import arrow_legend, player
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg
from dalembert.interface.page.time_plots import Plots
from dalembert.runtime.simulation.plotting.chart import COLOURS, GREY, Curve, Panel

if TYPE_CHECKING:
    from dalembert.analysis.studies.fit_result import Fit

# two-sided 95 % of a normal distribution
_NORMAL: Final = 1.959964
_LAGS: Final = 40
_PARTS: Final = (
    ("values", "Values"),
    ("curves", "Measured and model"),
    ("residuals", "Residuals"),
    ("correlation", "Correlation"),
    ("motion", "Motion"),
)


def fit_document(fit: Fit) -> str:
    """The HTML text; the motion of the first table is animated."""
    run = fit.run
    name, drawn = run.system.name, build_scene(sample_frames(run))
    first, last = (f(float(x.t[k]) for x in fit.runs) for f, k in ((min, 0), (max, -1)))
    plots = Plots(first, last, None, "s" if run.system.has_units else "")
    still = svg(draw_scene(drawn, 0, 900, 460), f"{name} at the start")
    moving = player(still, plots, arrow_legend(drawn, run.system))
    inside = {
        "values": f"{_values(fit)}<pre>{escape(str(fit))}</pre>",
        "curves": plots.grid(_curves(fit)),
        "residuals": plots.grid(_residuals(fit)) + inline_svg(_residual_figure(fit), "residuals"),
        "correlation": _correlations(fit),
        "motion": moving,
    }
    links = "".join(f'<a href="#{identity}">{words}</a>' for identity, words in _PARTS)
    parts = "".join(section(identity, words, inside[identity]) for identity, words in _PARTS)
    head = f"<h1>{escape(name)}: identification</h1>"
    body = f"{page_header(name, links)}<main>{head}{parts}</main>"
    data = f"{data_block('plots', plots.json_data())}{data_block('scene', scene_data(drawn))}"
    return html_document(f"{name} · identification · dalembert", f"{body}{data}")


def _values(fit: Fit) -> str:
    """Each unknown with its standard error and its 95 % interval."""
    rows = []
    for n, x in fit.values.items():
        error = fit.standard_errors[n]
        known = np.isfinite(error)
        low, high = x - _NORMAL * error, x + _NORMAL * error
        interval = f"{low:.6g} … {high:.6g}" if known else "not separately identifiable"
        rows.append([_name(fit, n), f"{x:.8g}", f"{error:.2g}" if known else "–", interval])
    return table(("unknown", "value", "standard error", "95 % interval"), rows)


def _name(fit: Fit, n: str) -> str:
    return escape(shown_name(fit.run.system, n))


def _curves(fit: Fit) -> list[Panel]:
    return [
        Panel(
            _name(fit, n),
            (
                Curve("measured", c.t, c.values, COLOURS[1]),
                Curve("model", c.t, c.values + c.residuals, COLOURS[0]),
            ),
            coinciding=True,
        )
        for n, c in fit.columns.items()
    ]


def _residuals(fit: Fit) -> list[Panel]:
    """Model less measurement over σ, point by point."""
    return [
        Panel(
            f"{_name(fit, n)}: residual / σ",
            (Curve("residual", c.t, c.residuals / c.sigma),),
            zero_line=True,
            dotted=True,
        )
        for n, c in fit.columns.items()
    ]


def _residual_figure(fit: Fit) -> Any:
    """The distribution of the residuals against the normal one, and their autocorrelation."""
    from matplotlib.figure import Figure

    count = len(fit.columns)
    figure = Figure(figsize=(9.0, 2.5 * count), layout="constrained")
    axes = figure.subplots(count, 2, squeeze=False)
    z = np.linspace(-4.0, 4.0, 200)
    for (left, right), (n, c) in zip(axes, fit.columns.items(), strict=True):
        r = c.residuals / c.sigma
        left.hist(np.clip(r, -4.5, 4.5), bins=np.linspace(-4.5, 4.5, 37), density=True, color=GREY)
        left.plot(z, np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), color=COLOURS[0])
        left.set_title(f"{n}: residual / σ, and the normal density", fontsize=9)
        lags = np.arange(1, min(_LAGS, len(r) - 1) + 1)
        rho = [float(r[k:] @ r[:-k]) / max(float(r @ r), 1e-300) for k in lags]
        right.bar(lags, rho, color=COLOURS[0], width=0.4)
        for side in (-1, 1):
            right.axhline(side * _NORMAL / np.sqrt(len(r)), color=GREY, linestyle="--")
        right.set_title(f"{n}: autocorrelation over the lag, 95 % band", fontsize=9)
    return figure


def _correlations(fit: Fit) -> str:
    """ρ_ij as a table whose cells are shaded by |ρ|."""
    names = [_name(fit, n) for n in fit.names]
    rows = []
    for name, row in zip(names, fit.correlations, strict=True):
        cells = [
            f'<span style="display:block;padding:.1em .4em;background:rgba(214,93,14,'
            f'{0.6 * abs(x) if np.isfinite(x) else 0:.2f})">'
            f"{f'{x:+.3f}' if np.isfinite(x) else '–'}</span>"
            for x in row.tolist()
        ]
        rows.append([name, *cells])
    return table(("", *(shown_name(fit.run.system, n) for n in fit.names)), rows)
