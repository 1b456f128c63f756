"""The page of a study: what varied, how the members ended, a picture of everything that was
kept, and who failed.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.studies.parameter_grid import DRAW
from dalembert.analysis.studies.result import CAUSE, OUTCOMES, counted_causes
from dalembert.interface.page.html_elements import (
    html_document,
    inline_svg,
    page_header,
    scientific,
    section,
    table,
    typeset,
)
from dalembert.interface.page.public_path import public_path
from dalembert.interface.page.run_viewer import run_request, viewer_parts
from dalembert.interface.page.study_chart import axis_title, study_chart

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory

_OWN: Final = frozenset({"outcome", CAUSE, "reached", "steps", "drift", "reason"})
_MOST_PICTURES: Final = 24
_MOST_FAILURES: Final = 20
_PARTS: Final = (
    ("system", "Study"),
    ("pictures", "Results"),
    ("members", "Runs"),
    ("failures", "Failures"),
)


def ensemble_page(data: Any, source: str, run: Trajectory | None = None) -> str:
    """The whole page; it needs nothing but a browser. `run` is one of the runs: with it a click on
    a chart plays the run of that place.
    """
    title = str(data.attrs.get("study system", "Study"))
    links = "".join(f'<a href="#{identity}">{escape(words)}</a>' for identity, words in _PARTS)
    member, blocks = ("", "") if run is None else _member(run)
    parts = [
        _head(data, title, source),
        member,
        _figures(data, title, live=bool(member)),
        _runs_section(data),
        _failures(data),
    ]
    foot = "<footer>Made with dalembert. This file holds everything it shows.</footer>"
    bar = f'<a class="skip" href="#system">Skip to the page</a>{page_header(title, links)}'
    return html_document(
        f"{title} · study · dalembert",
        f"{bar}\n<main>\n{chr(10).join(parts)}\n{foot}\n</main>{blocks}",
    )


def _member(run: Trajectory) -> tuple[str, str]:
    """One run of the study with its panel, and the data behind it."""
    body, data, _ = viewer_parts(run, run_request(run))
    return section("member", "One run", body), data


def _head(data: Any, title: str, source: str) -> str:
    counts = _counts(data)
    total = sum(counts.values())
    outcomes = ", ".join(f"{n} {name}" for name, n in counts.items())
    lead = (
        f'<p class="lead">{total} runs of {escape(data.attrs.get("study duration", ""))} each: '
        f"{escape(outcomes)}.</p>"
    )
    rows = [
        [axis_title(data.coords[name], name), _sweep_axis(data, dim, length, name)]
        for dim, length, names in json.loads(data.attrs["axes"])
        for name in names
    ]
    asked = [
        (name, data.attrs.get(f"study {name}", ""))
        for name in ("rtol", "atol", "start", "values", "inputs")
    ]
    rest = [[escape(name), escape(value)] for name, value in asked if value]
    rest += [["runs", escape(data.attrs.get("members run", ""))]]
    rest += [["file", escape(public_path(source))]]
    inside = (
        f"<h1>{escape(title)}</h1>{lead}<h3>What "
        f"varied</h3>{table(('', 'values'), rows)}<h3>Fixed values and "
        f"results</h3>{table(('', ''), rest)}"
    )
    return f'<section id="system" aria-label="The study">{inside}</section>'


def _counts(data: Any) -> dict[str, int]:
    counts = np.bincount(data["outcome"].values.ravel(), minlength=len(OUTCOMES))
    return {name: int(n) for name, n in zip(OUTCOMES, counts, strict=True) if n}


def _sweep_axis(data: Any, dim: str, length: int, name: str) -> str:
    values = data.coords[name].values
    how = f"{length} draws" if dim == DRAW else f"{length} values"
    role = {"start": "start value", "amplitude": "amplitude"}.get(
        data.coords[name].attrs.get("role", ""), ""
    )
    span = f"{values.min():.6g} … {values.max():.6g}"
    return escape(", ".join(filter(None, (span, how, role))))


def _figures(data: Any, title: str, *, live: bool) -> str:
    names = [name for name in data.data_vars if name not in _OWN]
    shown = [
        study_chart(data, str(name)) or _figure(data, title, str(name))
        for name in names[:_MOST_PICTURES]
    ]
    if live and any("study-chart" in each for each in shown):
        shown.insert(0, "<p>Click in a chart to play that run above.</p>")
    more = (
        f"<p>{len(names) - _MOST_PICTURES} more are in the file.</p>"
        if len(names) > _MOST_PICTURES
        else ""
    )
    return section("pictures", "Results", *shown, more)


def _figure(data: Any, title: str, name: str) -> str:
    from dalembert.analysis.studies.plotting import figure

    svg = inline_svg(figure(data, title, name), name)
    x = data[name].values
    known = x[np.isfinite(x)]
    numbers = (
        f"{known.min():.6g} … {known.max():.6g}, mean {known.mean():.6g}, deviation "
        f"{known.std():.3g}"
        if known.size
        else "no value"
    )
    return (
        f'<figure class="study"><figcaption><b>{escape(name)}</b> '
        f"{escape(numbers)}</figcaption>{svg}</figure>"
    )


def _runs_section(data: Any) -> str:
    rows = [
        ["steps", f"{int(data['steps'].sum())} in all, {float(data['steps'].max()):.0f} at most"]
    ]
    if "drift" in data and np.isfinite(data["drift"].values).any():
        most, usual = (
            scientific(float(of(data["drift"].values))) for of in (np.nanmax, np.nanmedian)
        )
        rows.append([typeset("drift of E_Z"), f"at most {most}, median {usual}"])
    return section("members", "Runs", table(("", ""), rows))


def _failures(data: Any) -> str:
    outcome, reasons = data["outcome"].values.ravel(), data["reason"].values.ravel()
    failed = np.flatnonzero(np.isin(outcome, (1, 2)))
    if not failed.size:
        return section("failures", "Failures", "<p>None.</p>")
    kinds = counted_causes(data, {int(k): str(reasons[k]) for k in failed})
    counted = table(
        ("runs", "cause", "the first of them"),
        [[str(n), escape(kind), escape(why)] for kind, n, why in kinds],
    )
    shape, axes = data["outcome"].shape, json.loads(data.attrs["axes"])
    rows = []
    for k in failed[:_MOST_FAILURES]:
        places = np.unravel_index(k, shape)
        values = [
            f"{data.coords[n].values[p]:.6g}"
            for (_, _, names), p in zip(axes, places, strict=True)
            for n in names
        ]
        rows.append([str(k), *values, escape(str(reasons[k]))])
    names = [n for _, _, each in axes for n in each]
    more = (
        f"<p>The first {_MOST_FAILURES} of {failed.size}.</p>"
        if failed.size > _MOST_FAILURES
        else ""
    )
    return section("failures", "Failures", counted, more, table(("member", *names, "reason"), rows))
