"""One HTML file that shows everything dalembert knows about a system, and needs nothing but a browser."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np

from dalembert import files
from dalembert.errors import NotASystem, Unknown
from dalembert.files import file_name
from dalembert.model.system import System
from dalembert.nearest_name import options_by_name
from dalembert.numerics.symbol_values import without_units
from dalembert.page.bracket_font import bracket_style
from dalembert.page.embedding import Packing, floats, scene_data, script
from dalembert.page.parts.equations import agreement, equations
from dalembert.page.parts.head import head
from dalembert.page.parts.motion import energy, motion
from dalembert.page.parts.reproduction import of_study, reproduction, trial
from dalembert.page.plots import Plots
from dalembert.page.scene import frames_of, scene
from dalembert.page.sketch import picture, svg
from dalembert.page.study import ReportRequest, Study, page_run, study
from dalembert.page.vibration import linear
from dalembert.report.document import Subject
from dalembert.simulation.tables import columns_of

PARTS: Final = (
    ("system", "System"),
    ("equations", "Equations"),
    ("agreement", "Agreement"),
    ("motion", "Motion"),
    ("energy", "Energy"),
    ("linear", "Modes"),
    ("reproduction", "Reproduce"),
)
SCRIPTS: Final = ("scene.js", "charts.js", "trial.js", "page.js")
_MOST_ROWS: Final = 5000
# before the first paint: light or dark, as chosen last time or as the computer is set
_EARLY: Final = (
    '{const d=document.documentElement;let t=null;try{t=localStorage.getItem("dalembert-theme")}catch{}'
    'd.dataset.theme=t||(matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light")}'
)


@cache
def asset(name: str) -> str:
    """A file that is put into every page."""
    return resources.files("dalembert.page").joinpath("assets", name).read_text(encoding="utf-8")


def shell(title: str, body: str, *, scripts: bool = True) -> str:
    """A document that holds all it needs; nothing may be fetched."""
    own = "script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; {own}; img-src data: blob:; font-src data:"
    code = f"<script>{chr(10).join(map(asset, SCRIPTS))}</script>" if scripts else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{asset('page.css')}{bracket_style()}</style>\n<script>{_EARLY}</script>\n"
        "<noscript><style>.panel[hidden],.group[hidden]{display:block}.controls,.tabs{display:none}</style></noscript>\n"
        f"</head>\n<body>\n{body}\n{code}\n</body>\n</html>\n"
    )


def header(title: str, links: str = "") -> str:
    """The bar that stays: title, links to the parts, light or dark."""
    theme = '<button class="theme" type="button" aria-label="Light or dark" title="Light or dark">◐</button>'
    return f'<header class="bar"><div><b>{escape(title)}</b><nav aria-label="Parts">{links}</nav>{theme}</div></header>'


def page(study: Study) -> str:
    """The whole page."""
    packing = Packing()
    # scene and plots share their times, and so what is computed there
    even = None if study.run is None else frames_of(study.run)
    drawn = scene(even) if even is not None and study.system.bodies else None
    title = study.subject.title
    sketch = "" if drawn is None else svg(picture(drawn, letters=True), f"Sketch of {title} at its start")
    still = "" if drawn is None else svg(picture(drawn, 0, 900, 460))
    run = study.run
    plots = None if run is None else Plots.of_run(run)
    panel, live = trial(of_study(study), drawn)
    parts = [
        head(study, sketch, packing),
        equations(study, packing),
        agreement(study),
        motion(study, even, plots, drawn, still, panel),
        energy(study, plots, packing),
        linear(study),
        reproduction(study),
    ]
    links = "".join(f'<a href="#{identity}">{escape(words)}</a>' for identity, words in PARTS)
    bar = f'<a class="skip" href="#system">Skip to the page</a>{header(title, links)}'
    data = "" if run is None or plots is None else "\n".join([script("plots", plots.embedded()), script("table", _table(study))])
    data += "" if drawn is None else "\n" + script("scene", scene_data(drawn))
    data += f"\n{live}"
    foot = "<footer>Made with dalembert. This file holds everything it shows.</footer>"
    return shell(f"{title} · dalembert", f"{bar}\n<main>\n{chr(10).join(parts)}\n{foot}\n</main>\n{data}")


def _table(study: Study) -> dict[str, Any]:
    """The motion for a CSV file: times, coordinates, speeds at the integrator's steps, or at even times where these are too many."""
    run = study.run
    assert run is not None
    even = len(run) > _MOST_ROWS and run.solution.anywhere
    shown = run.at(np.linspace(float(run.t[0]), float(run.t[-1]), _MOST_ROWS)) if even else run
    columns = columns_of(shown)
    values = np.column_stack([shown.t, *columns.values()])
    return {"names": ["t", *columns], "values": floats(values, "<f8"), "file": f"{file_name(study.subject.title)}.csv"}


def write(text: str, path: str | os.PathLike[str]) -> Path:
    """The file appears whole or not at all."""
    return files.write(path, text)


@options_by_name
def write_report(
    system: System,
    path: str | os.PathLike[str],
    *,
    duration: float = 10.0,
    start: Mapping[Any, float] | None = None,
    values: Mapping[Any, float] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    events: Sequence[Any] = (),
    description: str = "",
) -> Path:
    """Everything about a system in one HTML file: description, equations, agreement, motion, energy, modes.

    duration, start, values, inputs and events are those of `simulate`.
    """
    if not isinstance(system, System):
        msg = f"write_report: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    if not str(path).lower().endswith((".html", ".htm")):
        msg = f"write_report: {path} — a report is a page; give a path that ends in .html, and print it from the browser for a PDF"
        raise Unknown(msg)
    given = {"start": without_units(system, start), "values": without_units(system, values)}
    named = {name: {_name(key): x for key, x in numbers.items()} for name, numbers in given.items()}
    motions = {_name(key): x for key, x in (inputs or {}).items()}
    request = ReportRequest(duration, page_run(named["start"], named["values"], motions, events))
    return write(page(study(Subject(system, system.name, system.source, description), request)), path)


def _name(key: Any) -> str:
    return str(getattr(key, "name", None) or key)
