"""report, view: one page that shows everything, or the same as text; the pages of the whole
gallery.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from dalembert import gallery
from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import PROGRAM_FAILED, CommandExit, exit_by_verdict, print_error
from dalembert.cli.output import (
    FORMAT_BY_SUFFIX,
    FORMATS,
    Format,
    check_choice,
    print_line,
    write_document,
)
from dalembert.cli.shared_options import AnySystem, Input, SetValues, Start, check_system_or_all
from dalembert.cli.system_lookup import FILES, find_system, run_options
from dalembert.errors import DalembertError, Unknown
from dalembert.foundation.atomic_write import slug, write_text
from dalembert.interface.api.agreement import agreement
from dalembert.interface.api.simulate import simulate
from dalembert.interface.report import system_report, terminal_renderer
from dalembert.interface.report.document_blocks import Block, VerdictSpan
from dalembert.interface.report.system_report import ReportSubject
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.object_cache import ObjectCache

if TYPE_CHECKING:
    from dalembert.interface.page.report_page import ReportData, ReportRequest
    from dalembert.runtime.simulation.trajectory import Trajectory

# where pages go: those of the whole gallery, unless -o names a folder, and in the cache that of
# `view`
GALLERY: Final = "gallery"
VIEWED: Final = "pages"

Output = Annotated[
    Path | None,
    Option(
        "-o",
        "--output",
        metavar="FILE.html",
        help="Output file.",
        show_default="SYSTEM.html",
    ),
]
Duration = Annotated[
    float | None,
    Option(
        "--for", metavar="SECONDS", help="Duration of the simulation.", show_default="the gallery's"
    ),
]
Open = Annotated[bool, Option("--open", help="Open the page in the browser.")]
All = Annotated[
    bool, Option("--all", help="Every system of the gallery, and an index; -o names the folder.")
]
Meshes = Annotated[
    bool, Option("--meshes", help="Draw the links of a robot with the meshes of its file.")
]
Root = Annotated[
    Path | None,
    Option(
        "--root",
        metavar="FOLDER",
        help="Folder of the meshes.",
        show_default="that of the file",
    ),
]
Picture = Annotated[
    Path | None,
    Option("--png", metavar="FILE.png", help="Also write an image of the initial state."),
]
Gif = Annotated[Path | None, Option("--gif", metavar="FILE.gif", help="Also write an animation.")]
Film = Annotated[
    Path | None,
    Option("--mp4", metavar="FILE.mp4", help="Also write a video (needs ffmpeg)."),
]


Text = Annotated[bool, Option("--text", help="Print it as text instead of writing a page.")]


def report(
    system: AnySystem = "",
    output: Output = None,
    duration: Duration = None,
    values: SetValues = None,
    start: Start = None,
    inputs: Input = None,
    style: Format = "",
    png: Picture = None,
    gif: Gif = None,
    mp4: Film = None,
    root: Root = None,
    *,
    meshes: Meshes = False,
    text: Text = False,
    every: All = False,
    show: Open = False,
) -> None:
    r"""Write one interactive page.

    An HTML file that opens in any browser and needs no network: description, equations of
    motion by every principle with their derivations, agreement and audit, the motion in three
    dimensions with plots, energy, equilibria and linear modes, and how to reproduce it. Without
    --start and --for a system of the gallery runs as the gallery proposes, any other for 10 s
    from zero. --text prints description, equations, proofs and motion instead; --format and the
    endings .tex and .md write the same as LaTeX or Markdown. --meshes draws a robot by its
    meshes (STL, OBJ, MSH) instead of bars; only those inside --root are opened.

    \b
    dalembert report rolling-disk
    dalembert report double-pendulum --for 20 --start alpha=pi/2 \
        -o swing.html --gif swing.gif
    dalembert report rolling-disk --text
    dalembert report file.py:pendulum -o pendulum.tex
    dalembert report panda/urdf/panda.urdf --meshes --root panda
    dalembert report --all -o gallery
    """
    check_system_or_all(system, every=every)
    other = any(
        (duration is not None, values, start, inputs, style, png, gif, mp4, text, meshes, root)
    )
    if every or system.endswith(".zarr"):
        _write_collection(system, output, every=every, show=show, other=other)
        return
    drawn, typed = _mesh_options(root, meshes=meshes)
    chosen = find_system(system, values, mesh_options=drawn)
    request = _report_request(
        system, chosen, duration, {"--set": values, "--start": start, "--input": inputs}, typed
    )
    chosen_style = check_choice("--format", style, FORMATS) if style else _report_format(output)
    wanted = "text" if text else chosen_style
    if wanted != "html" and (png or gif or mp4 or show):
        msg = "--png, --gif, --mp4 and --open go with the page: leave out --text and --format"
        raise Unknown(msg)
    if wanted == "html":
        _write_page(system, request, chosen, output, (png, gif, mp4), show=show)
    else:
        _text_report(chosen, request, wanted, output)


def _write_collection(
    system: str, output: Path | None, *, every: bool, show: bool, other: bool
) -> None:
    """The pages of the gallery, or the page of a study; `other` options do not apply to them."""
    if every and (other or show):
        msg = "--all takes no option but -o; name one system for other options"
        raise Unknown(msg)
    if every:
        _write_gallery_pages(output or Path(GALLERY))
        return
    if other:
        msg = f"{system} is a study, whose page takes only -o and --open"
        raise Unknown(msg)
    _study_page(Path(system), output, show=show)


def view(
    system: AnySystem,
    duration: Duration = None,
    values: SetValues = None,
    start: Start = None,
    inputs: Input = None,
) -> None:
    r"""Open the page of a system in the browser.

    The page of `dalembert report`, written to the cache folder. Change constants and
    initial values there under "Try it".

    \b
    dalembert view rolling-disk
    dalembert view double-pendulum --for 20 --start alpha=pi/2
    """
    chosen = find_system(system, values)
    request = _report_request(
        system, chosen, duration, {"--set": values, "--start": start, "--input": inputs}
    )
    folder = Path(ObjectCache.from_environment().directory or tempfile.gettempdir())
    target = folder / VIEWED / f"{_file_stem(system)}.html"
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write_page(system, request, chosen, target, (), show=True)


def _report_format(output: Path | None) -> str:
    """A page, unless the ending of the file means something else."""
    ending = "" if output is None else output.suffix.lower()
    endings = {**FORMAT_BY_SUFFIX, "": "html"}
    if ending not in endings:
        msg = (
            f"-o {output}: there is no format {ending}; give FILE.html (or .txt, .tex, "
            f".md), "
            f"and pictures by --png, --gif, --mp4"
        )
        raise Unknown(msg)
    return endings[ending]


def _mesh_options(root: Path | None, *, meshes: bool) -> tuple[dict[str, Any], list[str]]:
    """How the links of a robot are drawn, for `subject`; and the same as it was typed."""
    chosen: dict[str, Any] = ({"meshes": True} if meshes else {}) | (
        {} if root is None else {"root": root}
    )
    return chosen, ["--meshes"] * meshes + ([] if root is None else ["--root", str(root)])


def _report_request(
    name: str,
    described: ReportSubject,
    duration: float | None,
    options: dict[str, list[str] | None],
    typed: Iterable[str] = (),
) -> ReportRequest:
    """What the command line asks for, on top of what the gallery proposes."""
    from dalembert.interface.page.report_page import ReportRequest, report_run_options

    length, run = run_options(
        name, described.system, duration, options["--set"], options["--start"], options["--input"]
    )
    given = [text for option, texts in options.items() for x in texts or () for text in (option, x)]
    asked = (["--for", f"{duration:g}"] if duration is not None else []) + given
    return ReportRequest(
        length,
        report_run_options(run["start"], run["values"], run["inputs"], run["events"]),
        name,
        (*asked, *typed),
    )


def _text_report(
    chosen: ReportSubject, request: ReportRequest, style: str, output: Path | None
) -> None:
    from dalembert.interface.report.formula_writer import FormulaWriter
    from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
    from dalembert.mechanics.kinematics.system_kinematics import kinematics

    agreed = agreement(chosen.system)
    first = next(
        derive for (_, derive), row in zip(PRINCIPLES, agreed.rows, strict=True) if row.applicable
    )
    derived = first(kinematics(chosen.system))
    write_document(
        system_report.report(
            chosen, derived, agreed, FormulaWriter(), list(_run_blocks(chosen.system, request))
        ),
        style,
        output,
        standalone=True,
    )
    exit_by_verdict([agreed.holds])


def _run_blocks(system: System, request: ReportRequest) -> Iterator[Block]:
    """A run for a report, or the reason why there is none."""
    from dalembert.interface.report.result_blocks import missing_run, run_summary

    wish = request.run
    try:
        run = simulate(
            system,
            request.duration,
            start=wish.start,
            values=wish.values,
            inputs=wish.inputs,
            events=wish.events,
            progress=False,
        )
    except DalembertError as problem:
        return missing_run(str(problem))
    return run_summary(run)


def _write_page(
    name: str,
    request: ReportRequest,
    described: ReportSubject,
    output: Path | None,
    pictures: Iterable[Path | None],
    *,
    show: bool = False,
) -> None:
    """The page of one system, and the three lines that matter; `show` opens it."""
    from dalembert.interface.page.image_export import save_image
    from dalembert.interface.page.report_page import compute_report, render_page

    target = output or Path(f"{_file_stem(name)}.html")
    with _progress(described.title) as show_progress:
        report_data = compute_report(described, request, show_progress)
        show_progress("writing the page")
        text = render_page(report_data)
    for line in _summary_lines(report_data):
        terminal_renderer.print_line(terminal_renderer.output(), *line)
    _report_page(write_text(target, text), show=show)
    for picture in pictures:
        if picture is None:
            continue
        if report_data.run is None:
            msg = f"{picture}: there is no motion to show: {report_data.run_failure}"
            raise Unknown(msg)
        print_line(f"written: {save_image(report_data.run, picture).resolve()}")
    exit_by_verdict([report_data.agreement.holds])


def _study_page(path: Path, output: Path | None, *, show: bool = False) -> None:
    """The page of a saved study."""
    from dalembert.analysis.studies.zarr_store import open_study
    from dalembert.interface.page.ensemble_page import ensemble_page

    data = open_study(path)
    page = ensemble_page(data, str(path), _study_run(data))
    _report_page(write_text(output or Path(f"{path.stem}.html"), page), show=show)


def _study_run(data: Any) -> Trajectory | None:
    """One run of a study, in the middle of what varied, made again; None where the system is not
    known. A program is never run for that.
    """
    import json

    import numpy as np

    from dalembert.analysis.studies.zarr_store import COMMAND

    command = json.loads(data.attrs.get(COMMAND, "{}"))
    name = command.pop("system", "")
    if name not in gallery.names() and not name.lower().endswith((".toml", ".json")):
        return None
    try:
        system = find_system(name, command["values"]).system
        length, wish = run_options(name, system, **command)
        for key, x in data.coords.items():
            role = x.attrs.get("role", "")
            group = {"start": "start", "constant": "values", "input": "inputs"}.get(role)
            if group is not None and x.ndim == 1:
                symbol = x.attrs.get("symbol", str(key))
                wish[group] |= {symbol: float(np.sort(x.values)[len(x) // 2])}
        return simulate(system, length, progress=False, **wish)
    except DalembertError as problem:
        print_line(f"no run is shown in the page: {problem}")
        return None


def _report_page(page: Path, *, show: bool) -> None:
    """Where a page is; and let the browser show it, or say what to do where there is none."""
    print_line(f"written: {page.resolve()} ({page.stat().st_size / 1e6:.1f} MB)")
    if show:
        import webbrowser

        if not webbrowser.open(page.resolve().as_uri()):
            print_line("no browser was found here: open that file in one; it needs no network")


@contextmanager
def _progress(title: str) -> Iterator[Callable[[str], None]]:
    """A bar that says what is being worked on, where someone watches."""
    out = terminal_renderer.output()
    if isinstance(out, terminal_renderer.PlainOutput) or not out.is_terminal:
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from dalembert.interface.page.report_page import STAGES

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        # the first stage begins, and so ends, nothing
        task = bar.add_task(title, total=len(STAGES) + 1, completed=-1)

        def advance(what: str) -> None:
            bar.update(task, advance=1, description=f"{title}: {what}", refresh=True)

        yield advance


def _summary_lines(report_data: ReportData) -> Iterator[tuple[str | VerdictSpan, ...]]:
    """Agreement, energy drift, constraint residual."""
    from dalembert.interface.page.parts.first_screen import energy_error
    from dalembert.interface.report.result_blocks import ACCEPTABLE_DRIFT

    agreed, run = report_data.agreement, report_data.run
    statement = agreed.statement[:1].upper() + agreed.statement[1:]
    yield "agreement    ", VerdictSpan(statement, agreed.holds)
    if run is None:
        yield "motion       ", VerdictSpan(f"not run: {report_data.run_failure}", holds=False)
        return
    size, what = energy_error(run)
    yield "energy       ", VerdictSpan(f"{size:.1e}", size <= ACCEPTABLE_DRIFT), f": {what}"
    if run.residuals:
        yield (
            "constraints  ",
            VerdictSpan(f"{run.worst_residual:.1e}", run.worst_residual <= ACCEPTABLE_DRIFT),
            ": largest violation",
        )
    else:
        yield "constraints  ", "none"
    for remark in report_data.remarks:
        yield ("note         ", remark)


def _write_gallery_pages(folder: Path) -> None:
    """A page for each system of the gallery, and the index that leads to them."""
    from dalembert.interface.page.index import gallery_card, index
    from dalembert.interface.page.report_page import compute_report, render_page

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        msg = (
            f"cannot make the folder {folder}: {problem.strerror or problem}; name another with -o"
        )
        raise Unknown(msg) from problem
    cards, failed = [], 0
    names = gallery.names()
    width = max(map(len, names))
    for number, name in enumerate(names, 1):
        described = find_system(name)
        try:
            report_data = compute_report(
                described,
                _report_request(
                    name, described, None, {"--start": None, "--set": None, "--input": None}
                ),
            )
            written = write_text(folder / f"{name}.html", render_page(report_data))
        except DalembertError as problem:
            failed += 1
            print_error(f"{name}: {problem}")
            continue
        cards.append(gallery_card(name, report_data))
        failed += not report_data.agreement.agree
        print_line(
            f"{number:3} of {len(names)}  {name:{width}}  {written.stat().st_size / 1e6:.1f} MB"
        )
    print_line(f"written: {write_text(folder / 'index.html', index(cards)).resolve()}")
    if failed:
        raise CommandExit(PROGRAM_FAILED)


def _file_stem(name: str) -> str:
    """rolling-disk, or the function of path/to/file.py:function, or panda of path/to/panda.urdf"""
    path = name.rpartition(":")[0] or name
    return Path(path).stem if path.lower().endswith(FILES) else slug(name.rpartition(":")[2])
