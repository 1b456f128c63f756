"""periodic, continue: a periodic motion, and families, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from dalembert.cli.command_registry import Option
from dalembert.cli.output import Json, check_image_path, print_result, report_written
from dalembert.cli.shared_options import (
    Guess,
    Input,
    SetValues,
    Start,
    SystemName,
    parse_assignments,
    parse_numbers,
)
from dalembert.cli.system_lookup import find_system, run_options
from dalembert.errors import Unknown
from dalembert.foundation.atomic_write import check_extension

if TYPE_CHECKING:
    from dalembert.analysis.periodic.family import Family
    from dalembert.analysis.periodic.orbit import PeriodicOrbit
    from dalembert.mechanics.model.system import System

ENDINGS: Final = (".csv", ".json", ".zarr")
Period = Annotated[
    str | None,
    Option(
        "--period", metavar="T", help="A guess of the period, or an expression such as 2*pi/Omega."
    ),
]
Mode = Annotated[
    int | None,
    Option(
        "--mode", metavar="NUMBER", help="Begin with this linear mode of the equilibrium --start."
    ),
]
Amplitude = Annotated[float, Option("--amplitude", metavar="SIZE", help="Amplitude of the mode.")]
Energy = Annotated[
    float | None,
    Option(
        "--energy", metavar="E", help="The energy of the orbit.", show_default="that of the start"
    ),
]
Hold = Annotated[
    str, Option("--hold", metavar="energy|period", help="What a conservative system keeps.")
]
Subharmonic = Annotated[
    int,
    Option(
        "--subharmonic", metavar="N", help="Periods of the drive after which the motion repeats."
    ),
]
Shift = Annotated[
    list[str] | None,
    Option(
        "--shift",
        metavar="NAME",
        help="A coordinate that may advance in a period.",
        show_default="found",
    ),
]
Section = Annotated[
    str | None, Option("--section", metavar="EVENT", help="The event after which a period ends.")
]
Picture = Annotated[
    Path | None, Option("--plot", metavar="FILE.png", help="Where to save a picture.")
]


def periodic(
    system: SystemName,
    period: Period = None,
    start: Start = None,
    guess: Guess = None,
    values: SetValues = None,
    inputs: Input = None,
    mode: Mode = None,
    amplitude: Amplitude = 0.02,
    energy: Energy = None,
    hold: Hold = "energy",
    subharmonic: Subharmonic = 1,
    shift: Shift = None,
    section: Section = None,
    output: Annotated[
        Path | None,
        Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The orbit: .html is a page, .json, .csv or .zarr a result to go on from.",
        ),
    ] = None,
    plot: Picture = None,
    multipliers: Annotated[
        Path | None,
        Option("--multipliers", metavar="FILE.png", help="A picture of the multipliers."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    r"""Find a periodic motion and its Floquet multipliers.

    The search begins at --start with a guess of --period, or with a linear mode of an equilibrium.
    A forced system has
    the period of its drive. Multipliers that must be one are named; the others decide on stability.

    \b
    dalembert periodic double-pendulum --mode 1 --amplitude 0.3
    dalembert periodic double-pendulum --start alpha=0.5 --start beta=0.3 --period 2 --plot
    swing.png
    """
    for picture in (plot, multipliers):
        check_image_path(picture)
    if output is not None:
        check_extension(output, (".html", *ENDINGS))
    options = (
        period,
        start,
        guess,
        values,
        inputs,
        mode,
        amplitude,
        energy,
        hold,
        subharmonic,
        shift,
        section,
    )
    orbit = _orbit(system, find_system(system, values).system, options)
    from dalembert.analysis.periodic.storage import orbit_data

    print_result(orbit_data(orbit) if as_json else orbit, as_json=as_json)
    if output is not None:
        if output.suffix.lower() == ".html":
            orbit.page(output)
        else:
            orbit.save(output)
        report_written(output, as_json=as_json)
    if plot is not None:
        orbit.plot(path=plot)
        report_written(plot, as_json=as_json)
    if multipliers is not None:
        orbit.plot_multipliers(path=multipliers)
        report_written(multipliers, as_json=as_json)


def continuation(
    system: SystemName,
    parameter: Annotated[
        str, Option("--in", metavar="NAME", help="A constant, energy or period.")
    ] = "",
    over: Annotated[
        str, Option("--over", metavar="FROM:TO", help="The first and the last value.")
    ] = "",
    equilibria: Annotated[
        bool, Option("--equilibria", help="Follow equilibria, from --start.")
    ] = False,
    period: Period = None,
    start: Start = None,
    guess: Guess = None,
    values: SetValues = None,
    inputs: Input = None,
    mode: Mode = None,
    amplitude: Amplitude = 0.02,
    energy: Energy = None,
    hold: Hold = "energy",
    subharmonic: Subharmonic = 1,
    shift: Shift = None,
    section: Section = None,
    step: Annotated[
        float, Option("--step", metavar="LENGTH", help="Along the family; the range counts as one.")
    ] = 0.02,
    points: Annotated[
        int, Option("--points", metavar="COUNT", help="Orbits in each direction at most.")
    ] = 500,
    show: Annotated[
        str,
        Option(
            "--show",
            metavar="QUANTITY",
            help="What the picture shows: period, energy, or an expression.",
        ),
    ] = "period",
    output: Annotated[
        Path | None,
        Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The family: .html is a page, .csv, .json or .zarr a result to go on from.",
        ),
    ] = None,
    plot: Picture = None,
    resume: Annotated[
        Path | None,
        Option("--resume", metavar="FILE", help="Go on from the last orbit of a saved family."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    r"""Follow a family of periodic motions, or of equilibria.

    Folds, period doublings, tori and branch points are located and named; equilibria have Hopf
    points too.

    \b
    dalembert continue double-pendulum --mode 1 --in energy --over=-19.62:0 -o family.csv --plot
    family.png
    dalembert continue bead-on-hoop --equilibria --in R --over 0.1:0.3
    """
    check_image_path(plot)
    if output is not None:
        check_extension(output, (".html", *ENDINGS))
    span = _span(parameter, over)
    described = find_system(system, values).system
    if equilibria:
        if output is not None:
            msg = "-o is for families of periodic motions; use --json for equilibria"
            raise Unknown(msg)
        _equilibria(
            described, parameter, span, (start, values, inputs), step, plot, as_json=as_json
        )
        return
    from dalembert.analysis.periodic.continuation import continuation as follow
    from dalembert.analysis.periodic.storage import family_data
    from dalembert.runtime.simulation.progress import progress_bar

    options = (
        period,
        start,
        guess,
        values,
        inputs,
        mode,
        amplitude,
        energy,
        hold,
        subharmonic,
        shift,
        section,
    )
    begin = (
        _orbit(system, described, options)
        if resume is None
        else _saved(system, described, options, resume)
    )
    with progress_bar(
        points, lambda count, value: (count, f"{count} orbits, {parameter} = {value:.6g}")
    ) as progress:
        family = follow(begin, parameter, span, step=step, points=points, on_progress=progress)
    print_result(family_data(family) if as_json else family, as_json=as_json)
    if output is not None:
        if output.suffix.lower() == ".html":
            family.page(output, quantity=show)
        else:
            family.save(output)
        report_written(output, as_json=as_json)
    if plot is not None:
        family.plot(show, path=plot)
        report_written(plot, as_json=as_json)


def _saved(name: str, system: System, options: tuple[Any, ...], path: Path) -> Family:
    """The family of a file, with the events and inputs of the system."""
    from dalembert.analysis.periodic.storage import open_family

    _, start, guess, values, inputs, *_ = options
    _, wish = run_options(name, system, None, values, start, inputs, guess)
    return open_family(path, system, events=wish["events"], inputs=wish["inputs"])


def _orbit(name: str, system: System, options: tuple[Any, ...]) -> PeriodicOrbit:
    """The orbit that the options describe."""
    from dalembert.analysis.periodic.periodic import periodic as find

    (
        period,
        start,
        guess,
        values,
        inputs,
        mode,
        amplitude,
        energy,
        hold,
        subharmonic,
        shift,
        section,
    ) = options
    _, wish = run_options(name, system, None, values, start, inputs, guess)
    begin = parse_numbers(system, "--start", start) if start or mode is not None else wish["start"]
    return find(
        system,
        begin,
        _number_or_text(period),
        guess=wish["guess"],
        values=wish["values"],
        inputs=wish["inputs"],
        events=wish["events"],
        section=section,
        mode=mode,
        amplitude=amplitude,
        energy=energy,
        hold=hold,
        subharmonic=subharmonic,
        shift=shift or None,
    )


def _number_or_text(text: str | None) -> float | str | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _span(parameter: str, over: str) -> tuple[float, float]:
    if not parameter:
        msg = "--in: name what changes along the family: a constant, energy or period"
        raise Unknown(msg)
    first, _, last = over.partition(":")
    try:
        return float(first), float(last)
    except ValueError:
        msg = f"--over {over!r}: write the first and the last value as --over 0.5:2"
        raise Unknown(msg) from None


def _equilibria(
    system: System,
    parameter: str,
    span: tuple[float, float],
    given: tuple[Any, Any, Any],
    step: float,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    from dalembert.analysis.periodic.continuation import continuation as follow

    start, values, inputs = given
    family = follow(
        system,
        parameter,
        span,
        guess=parse_numbers(system, "--start", start),
        values=parse_numbers(system, "--set", values),
        inputs=dict(parse_assignments("--input", inputs)),
        step=step,
    )
    data = {
        "parameter": family.parameter,
        "values": family.values,
        "points": family.points,
        "eigenvalues": family.eigenvalues,
        "marks": [(m.kind, m.parameter) for m in family.special_points],
        "changes": [(m.kind, m.parameter) for m in family.changes],
    }
    print_result(data if as_json else family, as_json=as_json)
    if plot is not None:
        family.plot(path=plot)
        report_written(plot, as_json=as_json)
