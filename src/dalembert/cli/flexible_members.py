"""hybrid, member: systems that carry strings, bars, shafts or beams: their equations; modes,
static shape and buckling loads of one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from dalembert.cli.command_registry import Option
from dalembert.cli.output import (
    File,
    Format,
    Json,
    check_choice,
    output_format,
    print_result,
    report_written,
    write_document,
)
from dalembert.cli.shared_options import SetValues, SystemName, parse_numbers
from dalembert.cli.system_lookup import find_system
from dalembert.errors import Unknown
from dalembert.interface.report import system_report

ALONG: Final = ("coordinates", "speeds")
MODES: Final = 6

Which = Annotated[
    str, Option("--member", metavar="NAME", help="Name of the member, if there are several.")
]
Modes = Annotated[
    int | None,
    Option(
        "--modes", metavar="N", help=f"Number of natural modes (without other options {MODES})."
    ),
]
Loads = Annotated[int | None, Option("--buckling", metavar="N", help="Number of buckling loads.")]
Plot = Annotated[
    Path | None, Option("--plot", metavar="FILE.png", help="Write a plot of the shapes.")
]


def hybrid(
    system: SystemName,
    along: Annotated[
        str, Option(metavar="|".join(ALONG), help="Variables of the ordinary equations.")
    ] = "",
    style: Format = "",
    output: File = None,
    values: SetValues = None,
    *,
    steps: Annotated[bool, Option("--steps", help="Show every step.")] = False,
) -> None:
    r"""Derive the equations of bodies with flexible members.

    By Hamilton's extended principle: ordinary differential equations for the rigid variables
    with integrals over the members, partial differential equations for the fields v(x, t), …,
    and every boundary condition, geometric (prescribed by the support) or natural (the
    variation is free). Where bending shortens a member, s is the shortening and N the axial
    force. --along coordinates writes the ordinary equations in coordinates and their rates,
    --along speeds in the declared speeds. A system of the gallery is used before its members
    are expanded in functions.

    \b
    dalembert hybrid beam-on-ball-joint --steps
    dalembert hybrid beam-with-tip-mass
    dalembert hybrid file.py:build --along coordinates -o beam.tex
    """
    from dalembert.analysis.flexible.hybrid.extended_hamilton import extended_hamilton
    from dalembert.analysis.flexible.linear_vibration.linearization import check_members_positive
    from dalembert.interface.report.formula_writer import FormulaWriter
    from dalembert.interface.report.hybrid_report import hybrid as shown

    style = output_format(style, output)
    speeds = check_choice("--along", along, ALONG) == "speeds" if along else None
    chosen = find_system(system, values, complete=False)
    check_members_positive(chosen.system)
    equations = extended_hamilton(chosen.system, speeds=speeds)
    write_document(
        [*system_report.title_blocks(chosen), *shown(equations, FormulaWriter(), steps=steps)],
        style,
        output,
    )


def member(
    system: SystemName,
    which: Which = "",
    modes: Modes = None,
    buckling: Loads = None,
    values: SetValues = None,
    plot: Plot = None,
    *,
    static: Annotated[bool, Option("--static", help="Static deflection under its loads.")] = False,
    as_json: Json = False,
) -> None:
    r"""Modes, static shape and buckling of a flexible member.

    The frame of the member is fixed or in prescribed motion. Uniform members: the
    characteristic equation as a book prints it, all roots enclosed to full precision. Others:
    polynomials of increasing degree until the results converge. The error is printed with every
    result. --set changes constants; --plot saves the shapes.

    \b
    dalembert member cantilever
    dalembert member beam-with-tip-mass --modes 4 --set m=2
    dalembert member pinned-beam --buckling 3 --plot buckled.png
    dalembert member rotating-beam --set Omega=5
    dalembert member file.py:build --static
    """
    from dalembert.analysis.flexible.linear_vibration.linearization import select_member as chosen
    from dalembert.analysis.flexible.modes.natural_modes import member_buckling, member_modes
    from dalembert.analysis.flexible.modes.static_deflection import member_deflection

    s = find_system(system, values, complete=False).system
    beam = chosen(s, which or None)
    setting = parse_numbers(s, "--set", values)
    if plot is not None and sum((modes is not None, buckling is not None, static)) > 1:
        msg = "--plot: a plot shows one result; give --modes, --buckling or --static"
        raise Unknown(msg)
    results: list[object] = []
    if static:
        results.append(member_deflection(s, beam, values=setting))
    if buckling is not None:
        results.append(member_buckling(s, beam, buckling, values=setting))
    if modes is not None or not results:
        results.append(member_modes(s, beam, MODES if modes is None else modes, values=setting))
    print_result(results, "\n\n".join(map(str, results)), as_json=as_json)
    if plot is not None:
        results[0].plot(plot)  # type: ignore[attr-defined]
        report_written(plot, as_json=as_json)
