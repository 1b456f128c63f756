"""report: one page that shows everything, or the same as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dalembert.api.agreement import agreement
from dalembert.cli import pages
from dalembert.cli.declared import Option
from dalembert.cli.errors import exit_by_verdict
from dalembert.cli.options import AnySystem, Given, Input, Start
from dalembert.cli.output import ENDINGS, FORMATS, Format, emit, known
from dalembert.cli.program import subject
from dalembert.errors import Unknown
from dalembert.report import document

if TYPE_CHECKING:
    from dalembert.page.html_page import ReportRequest


def report(
    system: AnySystem = "",
    output: pages.Output = None,
    duration: pages.Duration = None,
    values: Given = None,
    start: Start = None,
    inputs: Input = None,
    style: Format = "",
    png: pages.Picture = None,
    gif: pages.Gif = None,
    mp4: pages.Film = None,
    root: pages.Root = None,
    *,
    meshes: pages.Meshes = False,
    text: Annotated[bool, Option("--text", help="Print it as text instead of writing a page.")] = False,
    every: pages.All = False,
    show: pages.Open = False,
) -> None:
    """Everything about one system, as a page or as text, or the pages of the whole gallery."""
    if every == bool(system):
        msg = "name one system, or say --all" if not system else "name one system or say --all, not both"
        raise Unknown(msg)
    if every:
        if any((duration is not None, values, start, inputs, style, png, gif, mp4, text, show, meshes, root)):
            msg = "--all takes the gallery's own runs and only -o beside it; name one system for other wishes"
            raise Unknown(msg)
        pages.every(output or Path(pages.FOLDER))
        return
    if system.endswith(".zarr"):
        if any((duration is not None, values, start, inputs, style, png, gif, mp4, text, meshes, root)):
            msg = f"{system} is a study, whose page takes only -o and --open beside it"
            raise Unknown(msg)
        pages.of_study_file(Path(system), output, show=show)
        return
    drawn, typed = pages.drawn_by(root, meshes=meshes)
    chosen = subject(system, values, drawn=drawn)
    request = pages.wished(system, chosen, duration, {"--set": values, "--start": start, "--input": inputs}, typed)
    wanted = "text" if text else known("--format", style, FORMATS) if style else pages.style_of(output, ENDINGS)
    if wanted != "html" and (png or gif or mp4 or show):
        msg = "--png, --gif, --mp4 and --open go with the page: leave out --text and --format"
        raise Unknown(msg)
    if wanted == "html":
        pages.one(system, request, chosen, output, (png, gif, mp4), show=show)
    else:
        _text_report(chosen, request, wanted, output)


def _text_report(chosen: document.Subject, request: ReportRequest, style: str, output: Path | None) -> None:
    from dalembert.agreement.catalogue import PRINCIPLES
    from dalembert.cli.simulate import demonstration
    from dalembert.kinematics.system_kinematics import kinematics
    from dalembert.report.writing import Writing

    agreed = agreement(chosen.system)
    first = next(derive for (_, derive), row in zip(PRINCIPLES, agreed.rows, strict=True) if row.applicable)
    derived = first(kinematics(chosen.system))
    seen = list(
        demonstration(chosen.system, request.duration, request.run.start, request.run.values, request.run.inputs, request.run.events)
    )
    emit(document.report(chosen, derived, agreed, Writing(), seen), style, output, whole=True)
    exit_by_verdict([agreed.holds])
