"""periodic, continue: a periodic motion, and families, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict, Unpack, get_type_hints

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
from dalembert.foundation.shared_keywords import declare_keywords

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
    str,
    Option(
        "--hold", metavar="energy|period", help="Quantity that stays fixed (conservative systems)."
    ),
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


class OrbitFlags(TypedDict, total=False):
    """Where the search for a periodic motion begins, and what it keeps."""

    period: Period
    start: Start
    guess: Guess
    values: SetValues
    inputs: Input
    mode: Mode
    amplitude: Amplitude
    energy: Energy
    hold: Hold
    subharmonic: Subharmonic
    shift: Shift
    section: Section


_ORBIT_FLAGS: Final = get_type_hints(OrbitFlags, include_extras=True)
_DEFAULTS: Final = {"amplitude": 0.02, "hold": "energy", "subharmonic": 1}
_take_orbit_flags: Final = declare_keywords(
    _ORBIT_FLAGS, {**dict.fromkeys(_ORBIT_FLAGS), **_DEFAULTS}
)


Output = Annotated[
    Path | None,
    Option(
        "-o",
        "--output",
        metavar="FILE",
        help="The orbit: .html is a page, .json, .csv or .zarr a result to continue from.",
    ),
]
Multipliers = Annotated[
    Path | None,
    Option("--multipliers", metavar="FILE.png", help="A picture of the multipliers."),
]


@_take_orbit_flags
def periodic(
    system: SystemName,
    output: Output = None,
    plot: Picture = None,
    multipliers: Multipliers = None,
    *,
    as_json: Json = False,
    **flags: Unpack[OrbitFlags],
) -> None:
    r"""Find a periodic motion and its Floquet multipliers.

    The search begins at --start with a guess of --period, or with a linear mode of an
    equilibrium. A forced system has the period of its drive. Multipliers that must be one are
    named; the others decide about stability.

    \b
    dalembert periodic double-pendulum --mode 1 --amplitude 0.3
    dalembert periodic double-pendulum --start alpha=0.5 --start beta=0.3 \
        --period 2 --plot swing.png
    """
    for picture in (plot, multipliers):
        check_image_path(picture)
    if output is not None:
        check_extension(output, (".html", *ENDINGS))
    orbit = _orbit(system, find_system(system, flags.get("values")).system, flags)
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


Parameter = Annotated[str, Option("--in", metavar="NAME", help="A constant, energy or period.")]
Over = Annotated[str, Option("--over", metavar="FROM:TO", help="The first and the last value.")]
Equilibria = Annotated[bool, Option("--equilibria", help="Follow equilibria, from --start.")]
Step = Annotated[
    float, Option("--step", metavar="LENGTH", help="Step along the family, relative to the range.")
]
Points = Annotated[
    int, Option("--points", metavar="COUNT", help="Orbits in each direction at most.")
]
Show = Annotated[
    str,
    Option(
        "--show",
        metavar="QUANTITY",
        help="What the picture shows: period, energy, or an expression.",
    ),
]
ContinuationOutput = Annotated[
    Path | None,
    Option(
        "-o",
        "--output",
        metavar="FILE",
        help="The family: .html is a page, .csv, .json or .zarr a result to continue from.",
    ),
]
Resume = Annotated[
    Path | None,
    Option("--resume", metavar="FILE", help="Continue from the last orbit of a saved family."),
]


@_take_orbit_flags
def continuation(
    system: SystemName,
    parameter: Parameter = "",
    over: Over = "",
    equilibria: Equilibria = False,
    step: Step = 0.02,
    points: Points = 500,
    show: Show = "period",
    output: ContinuationOutput = None,
    plot: Picture = None,
    resume: Resume = None,
    *,
    as_json: Json = False,
    **flags: Unpack[OrbitFlags],
) -> None:
    r"""Follow a family of periodic motions, or of equilibria.

    Folds, period doublings, tori and branch points are located and named; equilibria have Hopf
    points too.

    \b
    dalembert continue double-pendulum --mode 1 --in energy --over=-19.62:0 \
        -o family.csv --plot family.png
    dalembert continue bead-on-hoop --equilibria --in R --over 0.1:0.3
    """
    check_image_path(plot)
    if output is not None:
        check_extension(output, (".html", *ENDINGS))
    span = _span(parameter, over)
    described = find_system(system, flags.get("values")).system
    if equilibria:
        if output is not None:
            msg = "-o is for families of periodic motions; use --json for equilibria"
            raise Unknown(msg)
        _equilibria(described, parameter, span, flags, step, plot, as_json=as_json)
        return
    from dalembert.analysis.periodic.continuation import continuation as follow
    from dalembert.analysis.periodic.storage import family_data
    from dalembert.runtime.simulation.progress import progress_bar

    begin = _first_member(system, described, flags, resume)
    with progress_bar(
        points, lambda count, value: (count, f"{count} orbits, {parameter} = {value:.6g}")
    ) as progress:
        family = follow(begin, parameter, span, step=step, points=points, on_progress=progress)
    print_result(family_data(family) if as_json else family, as_json=as_json)
    _write_family(family, show, output, plot, as_json=as_json)


def _first_member(
    name: str, system: System, flags: OrbitFlags, resume: Path | None
) -> PeriodicOrbit | Family:
    """The first orbit of a family, or the family of a file that is continued."""
    return (
        _orbit(name, system, flags)
        if resume is None
        else _open_saved_family(name, system, flags, resume)
    )


def _write_family(
    family: Family, show: str, output: Path | None, plot: Path | None, *, as_json: bool
) -> None:
    """Page or data of the family, and its diagram."""
    if output is not None:
        if output.suffix.lower() == ".html":
            family.page(output, quantity=show)
        else:
            family.save(output)
        report_written(output, as_json=as_json)
    if plot is not None:
        family.plot(show, path=plot)
        report_written(plot, as_json=as_json)


def _open_saved_family(name: str, system: System, flags: OrbitFlags, path: Path) -> Family:
    """The family of a file, with the events and inputs of the system."""
    from dalembert.analysis.periodic.storage import open_family

    wish = _run_options(name, system, flags)
    return open_family(path, system, events=wish["events"], inputs=wish["inputs"])


def _orbit(name: str, system: System, flags: OrbitFlags) -> PeriodicOrbit:
    """The orbit that the options describe."""
    from dalembert.analysis.periodic.periodic import periodic as find

    wish, start, mode = _run_options(name, system, flags), flags.get("start"), flags.get("mode")
    # a line that is read without Typer has only the options that it names
    given: dict[str, Any] = {**_DEFAULTS, **flags}
    if start or mode is not None:
        wish["start"] = parse_numbers(system, "--start", start)
    return find(
        system,
        wish["start"],
        _number_or_text(flags.get("period")),
        guess=wish["guess"],
        values=wish["values"],
        inputs=wish["inputs"],
        events=wish["events"],
        section=flags.get("section"),
        mode=mode,
        amplitude=given["amplitude"],
        energy=flags.get("energy"),
        hold=given["hold"],
        subharmonic=given["subharmonic"],
        shift=flags.get("shift") or None,
    )


def _run_options(name: str, system: System, flags: OrbitFlags) -> dict[str, Any]:
    values, start, inputs = flags.get("values"), flags.get("start"), flags.get("inputs")
    return run_options(name, system, None, values, start, inputs, flags.get("guess"))[1]


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
    flags: OrbitFlags,
    step: float,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    from dalembert.analysis.periodic.continuation import continuation as follow

    family = follow(
        system,
        parameter,
        span,
        guess=parse_numbers(system, "--start", flags.get("start")),
        values=parse_numbers(system, "--set", flags.get("values")),
        inputs=dict(parse_assignments("--input", flags.get("inputs"))),
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
