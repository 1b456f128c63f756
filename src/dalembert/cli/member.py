"""member: modes, static shape and buckling loads of a string, bar, shaft or beam."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from dalembert.cli.declared import Option
from dalembert.cli.options import Given, SystemName, numbers
from dalembert.cli.output import Json, tell, wrote
from dalembert.cli.program import subject
from dalembert.errors import Unknown

MODES: Final = 6

Which = Annotated[str, Option("--member", metavar="NAME", help="Which member, where there are several.")]
Modes = Annotated[int | None, Option("--modes", metavar="N", help=f"So many natural modes (without other options {MODES}).")]
Loads = Annotated[int | None, Option("--buckling", metavar="N", help="So many critical compressive forces.")]
Plot = Annotated[Path | None, Option("--plot", metavar="FILE.png", help="Where to save the shapes.")]


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
    from dalembert.flexible.member.small_motion import which as chosen
    from dalembert.flexible.modes.deflection import member_deflection
    from dalembert.flexible.modes.modes_and_buckling import member_buckling, member_modes

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
