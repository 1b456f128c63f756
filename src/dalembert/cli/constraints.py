"""constraints: what the rows of a system leave free, which repeat others, which are positions in
disguise.
"""

from __future__ import annotations

from typing import Annotated

from dalembert.cli.command_registry import Option
from dalembert.cli.output import Json, print_result
from dalembert.cli.shared_options import (
    Guess,
    Input,
    SetValues,
    SystemName,
    parse_assignments,
    parse_numbers,
)
from dalembert.cli.system_lookup import default_coordinates, find_system

Place = Annotated[
    list[str] | None,
    Option("--start", metavar="NAME=VALUE", help="A coordinate that has this value."),
]
Time = Annotated[
    float, Option("--at-time", metavar="SECONDS", help="Time, for moving constraints.")
]


def constraints(
    system: SystemName,
    values: SetValues = None,
    start: Place = None,
    guess: Guess = None,
    inputs: Input = None,
    t0: Time = 0.0,
    *,
    as_json: Json = False,
) -> None:
    r"""Count degrees of freedom; find redundant constraints.

    Degrees of freedom at configuration and velocity level; redundant constraints by name;
    velocity constraints that integrate to position constraints, alone or together.
    Contradictory constraints are refused with the residual. Some constraints are redundant only
    where all of them hold: --start and --guess give the position at (or near) which this is
    checked, --set gives constants.

    \b
    dalembert constraints rolling-disk
    dalembert constraints two-wheeled-robot
    dalembert constraints four-bar --start theta_1=1 --guess theta_3=1.5
    """
    from dalembert.analysis.constraint_analysis.analysis import constraints as analysis

    s = find_system(system, values, complete=False).system
    given = parse_numbers(s, "--start", start)
    near = parse_numbers(s, "--guess", guess)
    if not given and not near:
        near = default_coordinates(system, s)
    result = analysis(
        s,
        start=given,
        guess=near,
        values=parse_numbers(s, "--set", values),
        inputs=dict(parse_assignments("--input", inputs)),
        t0=t0,
    )
    print_result(result, as_json=as_json)
