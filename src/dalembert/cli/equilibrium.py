"""equilibrium, modes: where a system rests, and how it moves near a point."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from dalembert.cli.command_registry import Option
from dalembert.cli.output import Json, print_line, print_result, report_written
from dalembert.cli.shared_options import (
    Input,
    SetValues,
    SystemName,
    parse_assignments,
    parse_number,
    parse_numbers,
)
from dalembert.cli.system_lookup import find_system
from dalembert.errors import NotApplicable, Unknown
from dalembert.exchange.modelfile.run_settings import Settings
from dalembert.mechanics.model.system import System

if TYPE_CHECKING:
    from dalembert.analysis.linear.root_locus import RootLocus

POINTS: Final = 51
COLUMNS: Final = 72

At = Annotated[
    list[str] | None,
    Option("--at", metavar="NAME=VALUE", help="A coordinate, rate or speed that has this value."),
]
Near = Annotated[
    list[str] | None,
    Option("--near", metavar="NAME=VALUE", help="Initial guess; rates are solved for."),
]
Box = Annotated[
    list[str] | None,
    Option("--box", metavar="NAME=LOW:HIGH", help="All equilibria with coordinates in this range."),
]
About = Annotated[
    list[str] | None,
    Option("--about", metavar="NAME=VALUE", help="A coordinate, rate or speed of the point."),
]
Sweep = Annotated[
    str,
    Option(
        "--sweep", metavar="NAME=FROM:TO[:POINTS]", help="Follow the eigenvalues over this range."
    ),
]
Plot = Annotated[
    Path | None, Option("--plot", metavar="FILE.png", help="Write a plot of the sweep.")
]


Steps = Annotated[
    bool,
    Option("--steps", help="Show the derivation by virtual work and by the potential."),
]


def equilibrium(
    system: SystemName,
    at: At = None,
    near: Near = None,
    box: Box = None,
    values: SetValues = None,
    inputs: Input = None,
    steps: Steps = False,
    *,
    as_json: Json = False,
) -> None:
    r"""Find equilibria or steady motions.

    By virtual work, and by stationary potential where every load has one. --at fixes coordinates,
    rates or speeds; a rate that --near names is solved for; a rate that is not named is zero.
    --box searches a whole box of coordinates.

    \b
    dalembert equilibrium mass-on-incline
    dalembert equilibrium bead-on-hoop --box theta=-0.1:3.2
    dalembert equilibrium rolling-disk --at theta=pi/3 --at phi.dot=1 \
        --near psi.dot=-5
    """
    from dalembert.analysis.statics.equilibrium import equilibria
    from dalembert.analysis.statics.equilibrium import equilibrium as equilibrium_near

    s = find_system(system, values, complete=not steps).system
    if steps:
        return _print_derivation(s)
    if near and box:
        msg = "--near and --box: give one of them; --box searches the whole range"
        raise Unknown(msg)
    setting, loads = parse_numbers(s, "--set", values), dict(parse_assignments("--input", inputs))
    given, guess = parse_numbers(s, "--at", at), parse_numbers(s, "--near", near)
    limits = _box_limits(s, box) if box else None
    if isinstance(s.settings, Settings) and not (at or near or box):
        asked = s.settings.equilibrium
        given, guess, limits = dict(asked.get("at", {})), asked.get("near", {}), asked.get("box")
        loads = {**asked.get("inputs", {}), **loads}
    if limits is None:
        point = equilibrium_near(s, given, guess=guess, values=setting, inputs=loads)
        return print_result(point, as_json=as_json)
    points = equilibria(s, limits, given, values=setting, inputs=loads)
    none = f"{s.name}: no equilibrium in the box"
    return print_result(points, "\n\n".join(map(str, points)) or none, as_json=as_json)


def _box_limits(s: System, box: list[str]) -> dict[str, tuple[float, float]]:
    """{coordinate: (least, greatest)} of --box."""
    ranges = {
        name: _range(s, "--box", name, text)
        for name, text in parse_assignments("--box", box, "from:to")
    }
    return {name: (limits[0], limits[1]) for name, limits in ranges.items()}


def _print_derivation(s: System) -> None:
    """Both routes, or why one does not apply."""
    from dalembert.analysis.statics.virtual_work import stationary_potential, virtual_work

    print_line(virtual_work(s).explain())
    try:
        print_line(f"\n{stationary_potential(s).explain()}")
    except NotApplicable as reason:
        print_line(f"\nNot applicable: {reason}")


def modes(
    system: SystemName,
    about: About = None,
    sweep: Sweep = "",
    values: SetValues = None,
    inputs: Input = None,
    plot: Plot = None,
    *,
    as_json: Json = False,
) -> None:
    r"""Linearize about a point: eigenvalues, damping, mode shapes.

    Values that --about does not name are zero where the constraints allow it. --sweep follows
    the eigenvalues over a range of one coordinate, rate, speed or constant, and shows where
    stability changes; --plot saves the same as an image.

    \b
    dalembert modes double-pendulum
    dalembert modes whipple-bicycle --about v=5
    dalembert modes whipple-bicycle --sweep v=0:10 --plot bicycle.png
    dalembert modes rolling-disk --about theta=pi/2 --sweep psi.dot=1:4:61
    """
    from dalembert.analysis.linear.linearize import linearize

    s = find_system(system, values).system
    point, setting, loads = (
        parse_numbers(s, "--about", about),
        parse_numbers(s, "--set", values),
        dict(parse_assignments("--input", inputs)),
    )
    if isinstance(s.settings, Settings) and not about:
        point, loads = (
            dict(s.settings.linear.get("about", {})),
            {**s.settings.linear.get("inputs", {}), **loads},
        )
    if sweep:
        locus = _root_locus(s, sweep, point, setting, loads)
        result = {
            "parameter": locus.parameter,
            "values": locus.values,
            "eigenvalues": locus.eigenvalues,
            "changes": locus.stability_changes,
        }
        print_result(result, _locus_text(locus), as_json=as_json)
        if plot is not None:
            locus.plot(plot)
            report_written(plot, as_json=as_json)
    elif plot is not None:
        msg = "--plot: give --sweep too, which is plotted"
        raise Unknown(msg)
    else:
        model = linearize(s, point, values=setting, inputs=loads)
        print_result(model, as_json=as_json, modes=model.modes().modes)


def _root_locus(
    s: System, sweep: str, point: dict[str, float], setting: dict[str, float], loads: dict[str, str]
) -> RootLocus:
    import numpy as np

    from dalembert.analysis.linear.root_locus import root_locus

    ((name, text),) = parse_assignments("--sweep", [sweep], "from:to")
    low, high, count = _range(s, "--sweep", name, text)
    return root_locus(s, name, np.linspace(low, high, count), point, values=setting, inputs=loads)


def _locus_text(locus: RootLocus) -> str:
    lines = [locus.text_plot(min(len(locus.values), COLUMNS))]
    lines += [
        f"stability changes between {locus.parameter} = {a:.6g} and {b:.6g}"
        for a, b in locus.stability_changes
    ]
    if locus.structural:
        lines.append(
            f"not shown: 0, {locus.structural} times (ignorable coordinates and free speeds)"
        )
    return "\n".join(lines)


def _range(s: System, option: str, name: str, text: str) -> tuple[float, float, int]:
    """0:10 or 0:10:101"""
    parts = text.split(":")
    if len(parts) not in ((2, 3) if option == "--sweep" else (2,)) or (
        len(parts) == 3 and not (parts[2].isdigit() and int(parts[2]) > 1)
    ):
        msg = f"{option} {name}={text}: write it as {option} {name}=from:to" + (
            " or from:to:points" if option == "--sweep" else ""
        )
        raise Unknown(msg)
    low, high = (parse_number(s, option, name, x) for x in parts[:2])
    return low, high, int(parts[2]) if len(parts) == 3 else POINTS
