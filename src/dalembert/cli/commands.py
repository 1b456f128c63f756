"""gallery, derive, agree, report, simulate: what can be asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dalembert import gallery as systems
from dalembert.agreement.agreement_table import Agreement
from dalembert.agreement.catalogue import PRINCIPLES
from dalembert.algebra.parser import nearest
from dalembert.api.agreement import agreement
from dalembert.cli import compare, constraints, export, integrals, manual, model_files
from dalembert.cli import equilibrium as rest
from dalembert.cli import member as members
from dalembert.cli import report as reporting
from dalembert.cli import simulate as runs
from dalembert.cli import view as viewing
from dalembert.cli.errors import Edge, exit_by_verdict, say
from dalembert.cli.options import Given, Input, Start, SystemName
from dalembert.cli.program import subject
from dalembert.errors import NotApplicable, Unknown
from dalembert.files import write
from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System
from dalembert.principles.base import Derivation, Derive
from dalembert.report import document, html, latex, markdown, terminal
from dalembert.report.blocks import Block, Table, VerdictSpan
from dalembert.report.comparison import agreement as comparison
from dalembert.report.steps import LEVELS, Level
from dalembert.report.writing import Writing

if TYPE_CHECKING:
    from dalembert.page.study import ReportRequest

BY: Final[dict[str, Derive]] = {principle.name: derive for principle, derive in PRINCIPLES}
FORMATS: Final = ("text", "latex", "markdown", "html")
ENDINGS: Final = {".tex": "latex", ".md": "markdown", ".html": "html", ".htm": "html"}
ALONG: Final = ("coordinates", "speeds")
# narrower windows show a system's description without its title
WIDE: Final = 110

app = typer.Typer(cls=Edge, pretty_exceptions_enable=False, rich_markup_mode=None)

Format = Annotated[str, typer.Option("--format", metavar="|".join(FORMATS), help="How to write it.")]
File = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write a document to a file instead.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"dalembert {version('dalembert')}")
        except PackageNotFoundError:
            typer.echo("dalembert, not installed")
        raise typer.Exit


@app.callback(invoke_without_command=True, help=manual.DALEMBERT)
def dalembert(
    ctx: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")] = False,  # noqa: ARG001
) -> None:
    """Without a subcommand it shows its help."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command(help=manual.GALLERY)
def gallery() -> None:
    """Name, title, source and description of every solved system."""
    out = terminal.console()
    entries = [systems.entry(name) for name in systems.names()]
    if out.width >= WIDE:
        table = Table(("name", "title", "source", "what"), tuple((e.name, e.title, e.source, e.description) for e in entries))
    else:
        table = Table(("name", "source", "what"), tuple((e.name, e.source, e.description) for e in entries))
    terminal.show([table], out)
    if out.is_terminal:
        terminal.line(out, "\nTry one: dalembert report rolling-disk")


@app.command(help=manual.DERIVE)
def derive(
    system: SystemName,
    by: Annotated[str, typer.Option(metavar="PRINCIPLE", help=f"{', '.join(BY)}, or all.")] = next(iter(BY)),
    steps: Annotated[str, typer.Option(metavar="|".join(LEVELS), help="How much of the way to show.")] = "",
    style: Format = "",
    output: File = None,
    values: Given = None,
) -> None:
    """The equations of motion of one system by one principle or by all."""
    style = _style(style, output)
    level: Level = _known("--steps", steps, LEVELS) if steps else "equations"  # type: ignore[assignment]
    wanted = list(BY) if _known("--by", by, (*BY, "all")) == "all" else [by]
    chosen = subject(system, values)
    found = list(_derivations(chosen.system, wanted))
    _emit(document.derivations(chosen, found, Writing(), level=level), style, output)


def _derivations(system: System, wanted: list[str]) -> Iterator[Derivation]:
    for name in wanted:
        try:
            yield BY[name](kinematics(system))
        except NotApplicable as reason:
            if len(wanted) == 1:
                raise
            say(f"{name} does not apply: {reason}")


@app.command(help=manual.AGREE)
def agree(
    system: Annotated[
        str,
        typer.Argument(
            metavar="[SYSTEM]", help="A name from the gallery, a model file (.toml, .json, .urdf, MJCF .xml), or path/to/file.py:function."
        ),
    ] = "",
    values: Given = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All systems of the gallery.")] = False,
    times: Annotated[bool, typer.Option("--times", help="Also show what each derivation costs.")] = False,
) -> None:
    """The certificate: every principle compared exactly, on one system or on all."""
    if every == bool(system):
        msg = "name one system, or say --all" if not system else "name one system or say --all, not both"
        raise Unknown(msg)
    verdicts = _all_agreements() if every else [_agreement(system, values, times=times)]
    exit_by_verdict(verdicts)


def _agreement(name: str, values: list[str] | None, *, times: bool) -> bool | None:
    chosen = subject(name, values)
    found = agreement(chosen.system)
    terminal.show([*document.heading(chosen), *comparison(found, times=times)])
    return found.holds


def _all_agreements() -> list[bool | None]:
    """One line for each system, as soon as it is known."""
    out = terminal.console()
    width = max(map(len, systems.names()))
    verdicts: list[bool | None] = []
    for name in systems.names():
        found = agreement(systems.build(name))
        verdicts.append(found.holds)
        terminal.line(out, f"{name:{width}}  ", VerdictSpan(_summary(found), found.holds))
    terminal.line(out, VerdictSpan(f"{verdicts.count(True)} of {len(verdicts)} systems agree.", all(verdicts)))
    return verdicts


def _summary(found: Agreement) -> str:
    verdict = f"{found.counted} principles agree exactly, error < {found.bound:.0e}" if found.agree else found.statement
    return f"{verdict}; audit {sum(f.holds is True for f in found.audit)}/{len(found.audit)}"


@app.command(help=manual.REPORT)
def report(
    system: reporting.System = "",
    output: reporting.Output = None,
    duration: reporting.Duration = None,
    values: Given = None,
    start: Start = None,
    inputs: Input = None,
    style: Format = "",
    png: reporting.Picture = None,
    gif: reporting.Gif = None,
    mp4: reporting.Film = None,
    root: reporting.Root = None,
    *,
    meshes: reporting.Meshes = False,
    text: Annotated[bool, typer.Option("--text", help="Print it as text instead of writing a page.")] = False,
    every: reporting.All = False,
    show: reporting.Open = False,
) -> None:
    """Everything about one system, as a page or as text, or the pages of the whole gallery."""
    if every == bool(system):
        msg = "name one system, or say --all" if not system else "name one system or say --all, not both"
        raise Unknown(msg)
    if every:
        if any((duration is not None, values, start, inputs, style, png, gif, mp4, text, show, meshes, root)):
            msg = "--all takes the gallery's own runs and only -o beside it; name one system for other wishes"
            raise Unknown(msg)
        reporting.every(output or Path(reporting.FOLDER))
        return
    drawn, typed = reporting.drawn_by(root, meshes=meshes)
    chosen = subject(system, values, drawn=drawn)
    request = reporting.wished(system, chosen, duration, {"--set": values, "--start": start, "--input": inputs}, typed)
    wanted = "text" if text else _known("--format", style, FORMATS) if style else reporting.style_of(output, ENDINGS)
    if wanted != "html" and (png or gif or mp4 or show):
        msg = "--png, --gif, --mp4 and --open go with the page: leave out --text and --format"
        raise Unknown(msg)
    if wanted == "html":
        reporting.one(system, request, chosen, output, (png, gif, mp4), show=show)
    else:
        _text_report(chosen, request, wanted, output)


def _text_report(chosen: document.Subject, request: ReportRequest, style: str, output: Path | None) -> None:
    agreed = agreement(chosen.system)
    first = next(derive for (_, derive), row in zip(PRINCIPLES, agreed.rows, strict=True) if row.applicable)
    derived = first(kinematics(chosen.system))
    seen = list(
        runs.demonstration(chosen.system, request.duration, request.run.start, request.run.values, request.run.inputs, request.run.events)
    )
    _emit(document.report(chosen, derived, agreed, Writing(), seen), style, output, whole=True)
    exit_by_verdict([agreed.holds])


@app.command(help=manual.HYBRID)
def hybrid(
    system: SystemName,
    along: Annotated[str, typer.Option(metavar="|".join(ALONG), help="Variables of the ordinary equations.")] = "",
    style: Format = "",
    output: File = None,
    values: Given = None,
    *,
    steps: Annotated[bool, typer.Option("--steps", help="Show every step.")] = False,
) -> None:
    """The hybrid equations of a system that carries strings, bars, shafts or beams."""
    from dalembert.flexible.hybrid.extended_hamilton import extended_hamilton
    from dalembert.report.hybrid import hybrid as shown

    style = _style(style, output)
    speeds = _known("--along", along, ALONG) == "speeds" if along else None
    chosen = subject(system, values, complete=False)
    found = extended_hamilton(chosen.system, speeds=speeds)
    _emit([*document.heading(chosen), *shown(found, Writing(), steps=steps)], style, output)


app.command("equilibrium", help=manual.EQUILIBRIUM)(rest.equilibrium)
app.command("member", help=manual.MEMBER)(members.member)
app.command("modes", help=manual.MODES)(rest.modes)
app.command("compare", help=manual.COMPARE)(compare.compare)
app.command("constraints", help=manual.CONSTRAINTS)(constraints.constraints)
app.command("export", help=manual.EXPORT)(export.export)
app.command("integrals", help=manual.INTEGRALS)(integrals.integrals)
app.command("view", help=manual.VIEW)(viewing.view)
app.command("simulate", help=manual.SIMULATE)(runs.simulate)
app.command("check", help=manual.CHECK)(model_files.check)
app.command("new", help=manual.NEW)(model_files.new)
app.command("convert", help=manual.CONVERT)(model_files.convert)
app.command("schema", help=manual.SCHEMA)(model_files.schema)


def _known(option: str, given: str, known: Iterable[str]) -> str:
    if given not in known:
        msg = f"{option} {given!r}: {nearest(given, known) or 'unknown'} ({option} takes {', '.join(known)})"
        raise Unknown(msg)
    return given


def _style(style: str, output: Path | None) -> str:
    """The wanted format; where none is named, what the ending of the file means."""
    if style:
        return _known("--format", style, FORMATS)
    return ENDINGS.get(output.suffix.lower(), "text") if output is not None else "text"


def _emit(blocks: Iterable[Block], style: str, output: Path | None = None, *, whole: bool = False) -> None:
    """Write a document in the wanted style, to the terminal or to a file."""
    if style == "text" and output is None:
        terminal.show(blocks)
        return
    written = _written(blocks, style, whole=whole or output is not None) + "\n"
    if output is None:
        sys.stdout.write(written)
        return
    write(output, written)
    say(f"wrote {output}")


def _written(blocks: Iterable[Block], style: str, *, whole: bool) -> str:
    if style == "text":
        return terminal.text(blocks)
    if style == "markdown":
        return markdown.text(blocks)
    if style == "html":
        return html.document(blocks)
    return latex.document(blocks) if whole else latex.body(blocks)
