"""fit: constants and start values from a file of measured columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dalembert.cli.command_registry import Argument, Option
from dalembert.cli.exit_handling import PROGRAM_FAILED, CommandExit
from dalembert.cli.output import Json, check_image_path, print_result, report_written
from dalembert.cli.shared_options import (
    Guess,
    Input,
    SetValues,
    Start,
    SystemName,
    parse_assignments,
    parse_number,
    parse_numbers,
)
from dalembert.cli.system_lookup import default_run, find_system
from dalembert.errors import Unknown

if TYPE_CHECKING:
    from dalembert.mechanics.model.system import System

Unknowns = Annotated[
    list[str] | None,
    Option(
        "--unknown",
        metavar="NAME[=GUESS]",
        help="Unknowns, separated by commas; repeatable.",
    ),
]


Data = Annotated[
    str,
    Argument(
        "DATA.csv", "Measured columns under a line of names: t, and expressions of the system."
    ),
]
Noise = Annotated[
    float | None,
    Option(metavar="SIGMA", help="Standard deviation of all columns.", show_default="estimated"),
]
Plot = Annotated[
    Path | None,
    Option(metavar="FILE.png", help="Write a plot of data, model and residuals."),
]
Output = Annotated[
    Path | None,
    Option("-o", "--output", metavar="FILE.html", help="Write a page of the identification."),
]


def fit(
    system: SystemName,
    data: Data,
    unknown: Unknowns = None,
    values: SetValues = None,
    start: Start = None,
    guess: Guess = None,
    inputs: Input = None,
    noise: Noise = None,
    plot: Plot = None,
    output: Output = None,
    *,
    as_json: Json = False,
) -> None:
    r"""Identify constants and initial values from measured columns.

    The file has a line of names, t and expressions of the system (theta, l*sin(theta)), and
    numbers below; an empty cell is a gap. --unknown names the unknowns, with a first guess
    where there is a better one than the declared value. Values, standard errors and groups that
    are not separately identifiable are printed. The exit code is 1 if the search did not
    converge.

    \b
    dalembert fit simple-pendulum swing.csv --unknown l --unknown phi
    dalembert fit cart-and-bar run.csv --unknown k=8,m --start theta=0.5 \
        --input F=0 --plot residuals.png
    dalembert fit simple-pendulum swing.csv --unknown l,phi -o fit.html
    """
    from dalembert.interface.api.fit import fit as fitted

    check_image_path(plot)
    described = find_system(system, values).system
    shown = default_run(system, described)
    names, constants, initial = _parse_unknowns(described, unknown)
    result = fitted(
        described,
        data,
        names,
        start=parse_numbers(described, "--start", start) | initial,
        guess=parse_numbers(described, "--guess", guess),
        values=parse_numbers(described, "--set", values) | constants,
        inputs={**(shown.inputs if shown else {}), **dict(parse_assignments("--input", inputs))},
        noise=noise,
    )
    print_result(result, as_json=as_json)
    if plot is not None:
        result.plot(path=plot)
        report_written(plot, as_json=as_json)
    if output is not None:
        report_written(result.page(output), as_json=as_json)
    if not result.converged:
        raise CommandExit(PROGRAM_FAILED)


def _parse_unknowns(
    system: System, unknown: list[str] | None
) -> tuple[list[str], dict[str, float], dict[str, float]]:
    """Names of the unknowns, and the first guesses of constants and of initial values."""
    texts = [text.strip() for given in unknown or () for text in given.split(",") if text.strip()]
    if not texts:
        msg = "fit: name the unknowns, such as --unknown m --unknown theta=0.5"
        raise Unknown(msg)
    guesses = {
        name: parse_number(system, "--unknown", name, x)
        for name, x in parse_assignments("--unknown", [text for text in texts if "=" in text])
    }
    constants = {
        name: x
        for name, x in guesses.items()
        if name in system.symbols and system.symbols[name].kind in ("constant", "input")
    }
    initial = {name: x for name, x in guesses.items() if name not in constants}
    return [text.partition("=")[0].strip() for text in texts], constants, initial
