"""The page of a system that is described in a program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dalembert.errors import NotASystem, Unknown
from dalembert.model.system import System
from dalembert.nearest_name import options_by_name
from dalembert.numerics.symbol_values import without_units
from dalembert.page.html_page import page, write
from dalembert.page.study import ReportRequest, page_run, study
from dalembert.report.document import Subject


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
