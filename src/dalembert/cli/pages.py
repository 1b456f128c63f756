"""The page of one system, and those of the whole gallery."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from dalembert import gallery
from dalembert.cli.declared import Option
from dalembert.cli.errors import PROGRAM_FAILED, Ended, exit_by_verdict, say
from dalembert.cli.options import numbers, pairs
from dalembert.cli.output import echo
from dalembert.cli.program import FILES, proposed, proposed_start, subject
from dalembert.cli.simulate import DURATION
from dalembert.errors import DalembertError, Unknown
from dalembert.files import write
from dalembert.report import terminal
from dalembert.report.blocks import VerdictSpan
from dalembert.report.document import Subject

if TYPE_CHECKING:
    from dalembert.page.html_page import ReportRequest, Study

FOLDER: Final = "gallery"

Output = Annotated[Path | None, Option("-o", "--output", metavar="FILE.html", help="Where to write the page.", show_default="SYSTEM.html")]
Duration = Annotated[float | None, Option("--for", metavar="SECONDS", help="How long it runs.", show_default="the gallery's")]
Open = Annotated[bool, Option("--open", help="Open the page in the browser.")]
All = Annotated[bool, Option("--all", help="Every system of the gallery, and an index; -o names the folder.")]
Meshes = Annotated[bool, Option("--meshes", help="Draw the links of a robot by the meshes of its file.")]
Root = Annotated[Path | None, Option("--root", metavar="FOLDER", help="The folder that holds them.", show_default="that of the file")]
Picture = Annotated[Path | None, Option("--png", metavar="FILE.png", help="Also a picture of the start.")]
Gif = Annotated[Path | None, Option("--gif", metavar="FILE.gif", help="Also the motion as a moving picture.")]
Film = Annotated[Path | None, Option("--mp4", metavar="FILE.mp4", help="Also the motion as a film, where ffmpeg is installed.")]


def style_of(output: Path | None, endings: Mapping[str, str]) -> str:
    """A page, unless the ending of the file means something else."""
    ending = "" if output is None else output.suffix.lower()
    known = {**endings, "": "html"}
    if ending not in known:
        msg = f"-o {output}: nothing is known about {ending}; give FILE.html (or .txt, .tex, .md), and pictures by --png, --gif, --mp4"
        raise Unknown(msg)
    return known[ending]


def drawn_by(root: Path | None, *, meshes: bool) -> tuple[dict[str, Any], list[str]]:
    """How the links of a robot are drawn, for `subject`; and the same as it was typed."""
    chosen: dict[str, Any] = ({"meshes": True} if meshes else {}) | ({} if root is None else {"root": root})
    return chosen, ["--meshes"] * meshes + ([] if root is None else ["--root", str(root)])


def wished(
    name: str, described: Subject, duration: float | None, options: dict[str, list[str] | None], typed: Iterable[str] = ()
) -> ReportRequest:
    """What the command line asks for, on top of what the gallery proposes."""
    from dalembert.page.html_page import ReportRequest, page_run

    shown = proposed(name, described.system)
    start, values = (numbers(described.system, option, options[option]) for option in ("--start", "--set"))
    inputs = {**(shown.inputs if shown else {}), **dict(pairs("--input", options["--input"]))}
    length = duration if duration is not None else shown.duration if shown else DURATION
    given = [text for option, texts in options.items() for x in texts or () for text in (option, x)]
    asked = (["--for", f"{duration:g}"] if duration is not None else []) + given
    events = shown.events if shown else ()
    run = page_run(start or dict(shown.start if shown else proposed_start(described.system)), values, inputs, events)
    return ReportRequest(length, run, name, (*asked, *typed))


def one(
    name: str, request: ReportRequest, described: Subject, output: Path | None, pictures: Iterable[Path | None], *, show: bool = False
) -> None:
    """The page of one system, and the three lines that matter; `show` opens it."""
    from dalembert.page.film import film
    from dalembert.page.html_page import page, study

    target = output or Path(f"{file_of(name)}.html")
    with _progress(described.title) as tell:
        found = study(described, request, tell)
        tell("writing the page")
        text = page(found)
    for line in matters(found):
        terminal.line(terminal.output(), *line)
    written = write(target, text)
    echo(f"written: {written.resolve()} ({written.stat().st_size / 1e6:.1f} MB)")
    if show:
        opened(written)
    for picture in pictures:
        if picture is None:
            continue
        if found.run is None:
            msg = f"{picture}: there is no motion to show: {found.why_no_run}"
            raise Unknown(msg)
        echo(f"written: {film(found.run, picture).resolve()}")
    exit_by_verdict([found.agreed.holds])


def of_study_file(path: Path, output: Path | None, *, show: bool = False) -> None:
    """The page of a saved study."""
    from dalembert.page.ensemble_page import ensemble_page
    from dalembert.studies.store import open_study

    written = write(output or Path(f"{path.stem}.html"), ensemble_page(open_study(path), str(path)))
    echo(f"written: {written.resolve()} ({written.stat().st_size / 1e6:.1f} MB)")
    if show:
        opened(written)


@contextmanager
def _progress(title: str) -> Iterator[Callable[[str], None]]:
    """A bar that says what is being worked on, where someone watches."""
    out = terminal.output()
    if isinstance(out, terminal.PlainLines) or not out.is_terminal:
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from dalembert.page.html_page import STAGES

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        # the first stage begins, and so ends, nothing
        task = bar.add_task(title, total=len(STAGES) + 1, completed=-1)

        def tell(what: str) -> None:
            bar.update(task, advance=1, description=f"{title}: {what}", refresh=True)

        yield tell


def matters(found: Study) -> Iterator[tuple[str | VerdictSpan, ...]]:
    """Agreement, energy drift, constraint residual."""
    from dalembert.page.parts.equations import energy_line
    from dalembert.report.results import SMALL

    agreed, run = found.agreed, found.run
    statement = agreed.statement[:1].upper() + agreed.statement[1:]
    yield "agreement    ", VerdictSpan(statement, agreed.holds)
    if run is None:
        yield "motion       ", VerdictSpan(f"not run: {found.why_no_run}", holds=False)
        return
    size, what = energy_line(run)
    yield "energy       ", VerdictSpan(f"{size:.1e}", size <= SMALL), f": {what}"
    if run.residuals:
        yield "constraints  ", VerdictSpan(f"{run.worst_residual:.1e}", run.worst_residual <= SMALL), ": largest residual"
    else:
        yield "constraints  ", "none"
    for remark in found.remarks:
        yield ("note         ", remark)


def every(folder: Path) -> None:
    """A page for each system of the gallery, and the index that leads to them."""
    from dalembert.page.html_page import page, study
    from dalembert.page.index import card, index

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        msg = f"cannot make the folder {folder}: {problem.strerror or problem}; name another with -o"
        raise Unknown(msg) from problem
    cards, failed = [], 0
    names = gallery.names()
    width = max(map(len, names))
    for number, name in enumerate(names, 1):
        described = subject(name)
        try:
            found = study(described, wished(name, described, None, {"--start": None, "--set": None, "--input": None}))
            written = write(folder / f"{name}.html", page(found))
        except DalembertError as problem:
            failed += 1
            say(f"{name}: {problem}")
            continue
        cards.append(card(name, found))
        failed += not found.agreed.agree
        echo(f"{number:3} of {len(names)}  {name:{width}}  {written.stat().st_size / 1e6:.1f} MB")
    echo(f"written: {write(folder / 'index.html', index(cards)).resolve()}")
    if failed:
        raise Ended(PROGRAM_FAILED)


def opened(page: Path) -> None:
    """Let the browser show a page; where there is none, say what to do."""
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        echo("no browser was found here: open that file in one; it needs no network")


def file_of(name: str) -> str:
    """rolling-disk, or the function of path/to/file.py:function, or panda of path/to/panda.urdf"""
    from dalembert.files import file_name

    path = name.rpartition(":")[0] or name
    return Path(path).stem if path.lower().endswith(FILES) else file_name(name.rpartition(":")[2])
