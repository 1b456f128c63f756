"""verify: whether an answer is right, and which terms are wrong."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Annotated, Any, Final

from dalembert.analysis.verify.result import RowReport, Verification
from dalembert.analysis.verify.tokens import CannotRead
from dalembert.analysis.verify.verify import verify as verify_answer
from dalembert.cli.command_registry import Argument, Option
from dalembert.cli.exit_handling import exit_by_verdict
from dalembert.cli.output import Json, print_result
from dalembert.cli.shared_options import SetValues, SystemName, parse_assignments
from dalembert.cli.system_lookup import find_system
from dalembert.errors import Unknown
from dalembert.interface.report import terminal_renderer
from dalembert.interface.report.document_blocks import VerdictSpan

LARGEST: Final = 2**20
_ANSWER: Final = (
    "Equations as text or LaTeX, a file of them (.txt, .tex, .csv for numbers), or - for the "
    "standard input."
)


Of = Annotated[
    str,
    Option("--of", metavar="QUANTITY", help="What the answer is: T, L, p_theta, W, dof, …"),
]
Let = Annotated[
    list[str] | None,
    Option(
        "--let", metavar="NAME=NAME", help="A name of the answer, and what it is in the system."
    ),
]
Marks = Annotated[
    float,
    Option(
        "--marks",
        metavar="POINTS",
        help="Points for a right answer; a partly right one gets some of them.",
    ),
]


def verify(
    system: SystemName,
    answer: Annotated[str, Argument("ANSWER", _ANSWER)],
    values: SetValues = None,
    *,
    of: Of = "",
    let: Let = None,
    marks: Marks = 0.0,
    as_json: Json = False,
) -> None:
    r"""Check your own equations exactly and locate wrong terms.

    The exit code is 0 if the answer is right, 1 if it is wrong or incomplete, 2 if it cannot be
    read, 3 if it is undecided.

    \b
    dalembert verify cart-and-bar answer.txt
    dalembert verify simple-pendulum "phi'' + g/l*sin(phi) = 0"
    dalembert verify cart-and-bar "T = 1/2 (M + m) x'^2" --marks 10
    dalembert verify rolling-disk answer.tex --let th=theta
    """
    chosen = find_system(system, values)
    given = _given(answer)
    names = dict(parse_assignments("--let", let, "name"))
    result = verify_answer(chosen.system, given, of=of or None, let=names, marks=marks or None)
    if as_json:
        print_result(result, as_json=True)
    else:
        show(result)
    exit_by_verdict([result.holds])


def _given(answer: str) -> Any:
    """The text itself, or what a file or the standard input holds."""
    if answer == "-":
        return _check_size(sys.stdin.buffer.read(LARGEST + 1), "the standard input")
    if "=" in answer or "\n" in answer or len(answer) > 400:
        return answer
    path = Path(answer)
    try:
        is_file = path.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        if path.suffix.lower() in (".txt", ".tex", ".md", ".csv"):
            msg = f"there is no file {answer}"
            raise Unknown(msg)
        return answer
    if path.stat().st_size > LARGEST:
        msg = (
            f"{answer} has {path.stat().st_size / 2**20:.1f} MB; an answer has at most "
            f"{LARGEST // 2**20}"
        )
        raise CannotRead(msg)
    data = path.read_bytes()
    return _table(data, answer) if path.suffix.lower() == ".csv" else data


def _check_size(data: bytes, where: str) -> bytes:
    if len(data) > LARGEST:
        msg = f"{where} has more than {LARGEST // 2**20} MB"
        raise CannotRead(msg)
    return data


def _table(data: bytes, name: str) -> dict[str, list[float]]:
    """Columns of numbers with headings."""
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
        return {
            heading: [float(row[heading]) for row in rows] for heading in (rows[0] if rows else {})
        }
    except (UnicodeDecodeError, ValueError, TypeError, csv.Error) as problem:
        msg = f"{name} is no table of numbers with headings: {problem}"
        raise CannotRead(msg) from None


def show(result: Verification) -> None:
    """The verdict, with wrong terms coloured where the terminal has colours."""
    out = terminal_renderer.output()
    terminal_renderer.print_line(
        out, f"{result.system}: ", VerdictSpan(result.sentence, result.holds)
    )
    if result.bound:
        terminal_renderer.print_line(
            out, f"The probability that this is wrong is below {max(result.bound, 1e-99):.0e}."
        )
    for line in (*(f"  {text}" for text in result.combination), *result.notes):
        terminal_renderer.print_line(out, line)
    for k, row in enumerate(result.rows, 1):
        if row.holds is not True or row.note or row.points is not None:
            _show_row(out, k, row)
    if result.points is not None:
        terminal_renderer.print_line(out, f"marks: {result.points:g} of {result.most:g}")


def _show_row(out: terminal_renderer.Output, k: int, row: RowReport) -> None:
    points = "" if row.points is None else f"  [{row.points:g} of {row.most:g}]"
    state = {True: "right", False: "wrong", None: "undecided"}[row.holds]
    terminal_renderer.print_line(out, f"row {k}: ", VerdictSpan(state, row.holds), points)
    spans = [VerdictSpan(text, False) if wrong else text for text, wrong in row.pieces()]
    terminal_renderer.print_line(out, "  ", *spans)
    for line in str(row).split("\n")[1:]:
        terminal_renderer.print_line(out, line)
