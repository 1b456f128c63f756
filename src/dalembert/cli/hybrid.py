"""hybrid: the equations of systems that carry strings, bars, shafts or beams."""

from __future__ import annotations

from typing import Annotated, Final

from dalembert.cli.declared import Option
from dalembert.cli.options import Given, SystemName
from dalembert.cli.output import File, Format, emit, known, style_of
from dalembert.cli.program import subject
from dalembert.report import document
from dalembert.report.writing import Writing

ALONG: Final = ("coordinates", "speeds")


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
    from dalembert.flexible.hybrid.extended_hamilton import extended_hamilton
    from dalembert.flexible.member.small_motion import check_declared
    from dalembert.report.hybrid import hybrid as shown

    style = style_of(style, output)
    speeds = known("--along", along, ALONG) == "speeds" if along else None
    chosen = subject(system, values, complete=False)
    check_declared(chosen.system)
    found = extended_hamilton(chosen.system, speeds=speeds)
    emit([*document.heading(chosen), *shown(found, Writing(), steps=steps)], style, output)
