"""The run again: versions, parameters, the command and the Python that make a page."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from html import escape
from importlib.metadata import PackageNotFoundError, version
from shlex import quote
from typing import TYPE_CHECKING, Any

from dalembert.interface.page.html_elements import (
    demote_headings,
    section,
    table,
)
from dalembert.interface.page.public_path import public_path
from dalembert.interface.report import system_report
from dalembert.interface.report.renderers import HTML
from dalembert.runtime.simulation.events.event import Event, EventAction
from dalembert.symbolic.algebra.printing import source
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    from dalembert.interface.page.report_page import ReportData, ReportRequest


_PACKAGES = ("dalembert", "numpy", "llvmlite", "python-flint")


def reproduction(study: ReportData) -> str:
    """The last part."""
    made_with = table((), [(escape(a), escape(b)) for a, b in versions(study)])
    data = (
        '<p><button class="download" type="button">Download the motion as CSV</button></p>'
        if study.run is not None
        else ""
    )
    asked = (
        f"<h3>Command</h3><pre><code>{escape(shell_command(study.request))}</code></pre>"
        if study.request.name
        else ""
    )
    python = f"<h3>Python</h3><pre><code>{escape(python_program(study))}</code></pre>"
    works = demote_headings(
        HTML.text(
            system_report.sources(
                public_path(study.subject.source), *(d.principle.source for d in study.derivations)
            )
        )
    )
    left = f"<div><h3>Versions, values and tolerances</h3>{made_with}{data}</div>"
    return section(
        "reproduction",
        "How to make this page again",
        f'<div class="columns">{left}<div>{asked}{python}</div></div>',
        works,
    )


def shell_command(request: ReportRequest) -> str:
    """As a shell takes it."""
    words = [request.name, *request.options]
    return " ".join(["dalembert report", *(quote(public_path(word)) for word in words)])


def python_program(study: ReportData) -> str:
    """As Python takes it."""
    request = study.request
    lines = [system_code(study)]
    given = {
        "start": request.run.start,
        "values": request.run.values,
        "inputs": {name: as_source(x) for name, x in request.run.inputs.items()},
    }
    extra = "".join(f", {name}={dict(x)!r}" for name, x in given.items() if x)
    happening = (
        f", events=[{', '.join(map(event_text, request.run.events))}]" if request.run.events else ""
    )
    lines += [
        (
            f"run = da.simulate(s, {request.duration!r}{extra}{happening}, "
            f"rtol={request.run.rtol!r}, "
            f"atol={request.run.atol!r})"
        ),
        "print(da.agreement(s))",
        "print(run)",
        'da.write_report(s, "report.html", duration=' + f"{request.duration!r}{extra}{happening})",
    ]
    return "\n".join(lines)


def system_code(study: ReportData) -> str:
    """The lines that describe the system."""
    name, lines = public_path(study.request.name), ["import dalembert as da"]
    path, colon, function = name.rpartition(":")
    if colon and path:
        lines += ["import runpy", "", f"s = runpy.run_path({path!r})[{function!r}]()"]
    elif name.lower().endswith((".toml", ".json", ".urdf", ".xml", ".mjcf")):
        typed = study.request.options
        drawn = (", meshes=True" if "--meshes" in typed else "") + (
            f", root={public_path(typed[typed.index('--root') + 1])!r}" if "--root" in typed else ""
        )
        lines += ["", f"s = da.load({name!r}{drawn})"]
    elif name:
        lines += ["from dalembert import gallery", "", f"s = gallery.build({name!r})"]
    else:
        lines += ["", f"s = ...  # {study.system.name!r}, as it was described"]
    return "\n".join(lines)


def versions(study: ReportData) -> list[tuple[str, str]]:
    """Packages, values of the constants, tolerances."""
    request = study.request
    entries = [(name, _version(name)) for name in _PACKAGES]
    entries.append(
        ("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    )
    entries += [
        (s.name, _value(request.run.values, s.name, s.value))
        for s in study.system.symbols.values()
        if s.kind == "constant"
    ]
    entries += [(name, str(as_source(x))) for name, x in request.run.inputs.items()]
    entries += [
        ("duration", f"{request.duration:g}"),
        ("rtol", f"{request.run.rtol:g}"),
        ("atol", f"{request.run.atol:g}"),
    ]
    return entries


def as_source(x: Any) -> Any:
    """An input as it can be given again: text that `s.expression` reads for an expression,
    anything else as it is.
    """
    return source(x) if isinstance(x, Scalar) else x


def event_text(e: Event) -> str:
    """An event as Python takes it."""
    what, name = repr(str(as_source(e.expression))), f", name={e.name!r}" if e.name else ""
    if e.action is EventAction.IMPACT:
        return f"da.impact({what}, {as_source(e.restitution)!r}{name})"
    changes = {str(key): as_source(x) for key, x in e.changes.items()}
    how = (f", direction={e.direction!r}" if e.direction != "any" else "") + ", stop=True" * (
        e.action is EventAction.STOP
    )
    supports = "".join(f", {k}={list(x)!r}" for k, x in (("add", e.add), ("drop", e.drop)) if x)
    return f"da.event({what}{how}{f', reset={changes!r}' if changes else ''}{supports}{name})"


def _value(given: Mapping[str, float], name: str, declared: Any) -> str:
    value = given.get(name, declared)
    return "no value" if value is None else f"{float(value):.12g}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"
