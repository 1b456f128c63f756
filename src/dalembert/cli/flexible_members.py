"""hybrid, member: systems that carry strings, bars, shafts or beams: their equations; modes, static shape and buckling loads of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from dalembert.cli.command_registry import Option
from dalembert.cli.output import File, Format, Json, emit, known, style_of, tell, wrote
from dalembert.cli.shared_options import Given, SystemName, numbers
from dalembert.cli.system_lookup import subject
from dalembert.errors import Unknown
from dalembert.interface.report import system_report

ALONG: Final = ("coordinates", "speeds")
MODES: Final = 6

Which = Annotated[str, Option("--member", metavar="NAME", help="Which member, where there are several.")]
Modes = Annotated[int | None, Option("--modes", metavar="N", help=f"So many natural modes (without other options {MODES}).")]
Loads = Annotated[int | None, Option("--buckling", metavar="N", help="So many critical compressive forces.")]
Plot = Annotated[Path | None, Option("--plot", metavar="FILE.png", help="Where to save the shapes.")]


def hybrid(
    system: SystemName,
    along: Annotated[str, Option(metavar="|".join(ALONG), help="Variables of the ordinary equations.")] = "",
    style: Format = "",
    output: File = None,
    values: Given = None,
    *,
    steps: Annotated[bool, Option("--steps", help="Show every step.")] = False,
) -> None:
    r"""Derive hybrid equations: rigid bodies with strings, bars, shafts and beams.

    By Hamilton's extended principle: ordinary differential equations for the rigid variables with integrals over the members, partial ones
    for the fields v(x, t), …, and every boundary condition, marked geometric (the support says so) or natural (the variation is free).
    Where bending shortens a member, s is how far it is drawn in and N the axial force. --along coordinates writes the ordinary
    equations in coordinates and their rates, --along speeds in the declared speeds. A system of the gallery is taken before its
    members are expanded in functions.

    \b
    dalembert hybrid beam-on-ball-joint --steps
    dalembert hybrid beam-with-tip-mass
    dalembert hybrid file.py:build --along coordinates -o beam.tex
    """
    from dalembert.analysis.flexible.hybrid.extended_hamilton import extended_hamilton
    from dalembert.analysis.flexible.linear_vibration.linearization import check_declared
    from dalembert.interface.report.formula_writer import Writing
    from dalembert.interface.report.hybrid_report import hybrid as shown

    style = style_of(style, output)
    speeds = known("--along", along, ALONG) == "speeds" if along else None
    chosen = subject(system, values, complete=False)
    check_declared(chosen.system)
    found = extended_hamilton(chosen.system, speeds=speeds)
    emit([*system_report.heading(chosen), *shown(found, Writing(), steps=steps)], style, output)


def member(
    system: SystemName,
    which: Which = "",
    modes: Modes = None,
    buckling: Loads = None,
    values: Given = None,
    plot: Plot = None,
    *,
    static: Annotated[bool, Option("--static", help="The shape at rest under its loads.")] = False,
    as_json: Json = False,
) -> None:
    r"""Modes, static shape and buckling of a string, bar, shaft or beam.

    Its frame is held where it is, or moves as specified. Uniform members: the characteristic equation as a book prints it, its roots
    enclosed to all digits, none missed. Others: polynomials, whose degree grows until the digits stand. The error is printed
    with every result. --set changes constants; --plot saves the shapes.

    \b
    dalembert member cantilever
    dalembert member beam-with-tip-mass --modes 4 --set m=2
    dalembert member pinned-beam --buckling 3 --plot buckled.png
    dalembert member rotating-beam --set Omega=5
    dalembert member file.py:build --static
    """
    from dalembert.analysis.flexible.linear_vibration.linearization import which as chosen
    from dalembert.analysis.flexible.modes.natural_modes import member_buckling, member_modes
    from dalembert.analysis.flexible.modes.static_deflection import member_deflection

    s = subject(system, values, complete=False).system
    beam = chosen(s, which or None)
    setting = numbers(s, "--set", values)
    if plot is not None and sum((modes is not None, buckling is not None, static)) > 1:
        msg = "--plot: one picture shows one thing; ask for --modes, --buckling or --static"
        raise Unknown(msg)
    found: list[object] = []
    if static:
        found.append(member_deflection(s, beam, values=setting))
    if buckling is not None:
        found.append(member_buckling(s, beam, buckling, values=setting))
    if modes is not None or not found:
        found.append(member_modes(s, beam, MODES if modes is None else modes, values=setting))
    tell(found, "\n\n".join(map(str, found)), as_json=as_json)
    if plot is not None:
        found[0].plot(plot)  # type: ignore[attr-defined]
        wrote(plot, as_json=as_json)
