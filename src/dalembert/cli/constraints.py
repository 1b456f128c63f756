"""constraints: what the rows of a system leave free, which repeat others, which are positions in disguise."""

from __future__ import annotations

from typing import Annotated

from dalembert.cli.declared import Option
from dalembert.cli.options import Given, Guess, Input, SystemName, numbers, pairs
from dalembert.cli.output import Json, tell
from dalembert.cli.program import proposed, subject

Place = Annotated[list[str] | None, Option("--start", metavar="NAME=VALUE", help="A coordinate that has this value.")]
Time = Annotated[float, Option("--at-time", metavar="SECONDS", help="When, for rows that move.")]


def constraints(
    system: SystemName,
    values: Given = None,
    start: Place = None,
    guess: Guess = None,
    inputs: Input = None,
    t0: Time = 0.0,
    *,
    as_json: Json = False,
) -> None:
    """The account of one system's rows."""
    from dalembert.constraint_analysis.analysis import constraints as analysis

    s = subject(system, values, complete=False).system
    given = numbers(s, "--start", start)
    near = numbers(s, "--guess", guess)
    shown = proposed(system, s)
    if not given and not near and shown is not None:
        # where the run that is proposed for it begins
        coordinates = {q.name for q in s.q}
        near = {name: x for name, x in shown.start.items() if name in coordinates}
    found = analysis(s, start=given, guess=near, values=numbers(s, "--set", values), inputs=dict(pairs("--input", inputs)), t0=t0)
    tell(found, as_json=as_json)
