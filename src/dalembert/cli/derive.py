"""derive: the equations of motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import print_error
from dalembert.cli.output import (
    File,
    Format,
    Json,
    check_choice,
    output_format,
    print_result,
    write_document,
)
from dalembert.cli.shared_options import SetValues, SystemName
from dalembert.cli.system_lookup import find_system
from dalembert.errors import NotApplicable, Unknown
from dalembert.interface.report import system_report
from dalembert.interface.report.derivation_fields import derivation_fields
from dalembert.interface.report.derivation_steps import LEVELS, Level
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.mechanics.agreement.principle_registry import PRINCIPLE_NAMES, load_principle
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation

By = Annotated[str, Option(metavar="PRINCIPLE", help=f"{', '.join(PRINCIPLE_NAMES)}, or all.")]
Steps = Annotated[str, Option(metavar="|".join(LEVELS), help="Level of detail of the derivation.")]
Frame = Annotated[
    str,
    Option(metavar="NAME", help="Frame along whose axes all vectors are written."),
]
About = Annotated[
    str,
    Option(
        metavar="BODY=POINT",
        help="Points about which Newton-Euler takes the moments of bodies, with commas.",
    ),
]
Everything = Annotated[bool, Option("--all", help="Print the equations of large systems too.")]


def derive(
    system: SystemName,
    by: By = PRINCIPLE_NAMES[0],
    steps: Steps = "",
    frame: Frame = "",
    about: About = "",
    style: Format = "",
    output: File = None,
    everything: Everything = False,
    values: SetValues = None,
    as_json: Json = False,
) -> None:
    r"""Derive the equations of motion.

    Without --steps only the equations are printed. --steps brief shows every quantity of the
    principle with its formula; full adds the description, the kinematics and the elimination;
    teach adds the reason for each step. Vectors are written in the frame in which they are
    shortest; --frame writes all of them in one. -o writes a complete document in the format of
    its ending. For large systems the size and the recursive form are printed; --all or -o gives
    all equations.

    \b
    dalembert derive rolling-disk
    dalembert derive rolling-disk --by maggi --steps teach
    dalembert derive vehicle --steps brief --frame N
    dalembert derive vehicle --by newton-euler --steps brief --about vehicle=A
    dalembert derive vehicle --by boltzmann-hamel --steps teach -o vehicle.html
    dalembert derive rolling-disk --by all --format markdown > disk.md
    dalembert derive file.py:pendulum --format latex
    dalembert derive rolling-disk --json
    """
    style = output_format(style, output)
    chosen_level = check_choice("--steps", steps, LEVELS) if steps else "equations"
    level: Level = chosen_level  # type: ignore[assignment]
    wanted = (
        list(PRINCIPLE_NAMES)
        if check_choice("--by", by, (*PRINCIPLE_NAMES, "all")) == "all"
        else [by]
    )
    chosen = find_system(system, values)
    if frame:
        check_choice("--frame", frame, [F.name for F in chosen.system.space.frames])
    points = _moment_points(chosen.system, wanted, about) if about else {}
    derivations = list(_derivations(chosen.system, wanted, points))
    if as_json:
        fields = [derivation_fields(d, latex=style == "latex") for d in derivations]
        print_result(fields if by == "all" else fields[0], as_json=True)
        return
    complete = everything or output is not None
    written = system_report.derivation_report(
        chosen, derivations, FormulaWriter(frame=frame), level=level, complete=complete
    )
    write_document(written, style, output)


def _moment_points(system: System, wanted: list[str], about: str) -> dict[Body | str, Point]:
    """{body: point} of BODY=POINT, with commas between them."""
    if wanted != ["newton-euler"]:
        msg = "--about: moments of single bodies are taken by Newton–Euler; add --by newton-euler"
        raise Unknown(msg)
    points = {P.name: P for P in system.space.points}
    chosen: dict[Body | str, Point] = {}
    for pair in about.split(","):
        body, _, point = (part.strip() for part in pair.partition("="))
        check_choice("--about", body, [b.name for b in system.bodies])
        chosen[body] = points[check_choice(f"--about {body}=", point, list(points))]
    return chosen


def _derivations(
    system: System, wanted: list[str], about: dict[Body | str, Point]
) -> Iterator[Derivation]:
    if about:
        from dalembert.mechanics.principles.newton_euler import newton_euler

        yield newton_euler(kinematics(system), about=about)
        return
    for name in wanted:
        try:
            yield load_principle(name)[1](kinematics(system))
        except NotApplicable as reason:
            if len(wanted) == 1:
                raise
            print_error(f"{name} does not apply: {reason}")
