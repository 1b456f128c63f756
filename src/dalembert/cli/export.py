"""export: the equations of a system as files for another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from dalembert.cli.command_registry import Option
from dalembert.cli.exit_handling import print_error
from dalembert.cli.output import print_line
from dalembert.cli.shared_options import (
    Input,
    SetValues,
    Start,
    SystemName,
    parse_assignments,
    parse_numbers,
)
from dalembert.cli.system_lookup import default_run, find_system
from dalembert.errors import Unknown
from dalembert.exchange.exports.formats import FORMATS, find_format

To = Annotated[str, Option("--to", metavar="FORMAT", help=f"{', '.join(FORMATS)}.")]
Place = Annotated[
    Path,
    Option(
        "-o",
        "--output",
        metavar="PATH",
        help="The folder, or the file where a format has only one.",
    ),
]
Outputs = Annotated[
    list[str] | None,
    Option("--out", metavar="EXPRESSION", help="An output expression; repeatable."),
]
Processor = Annotated[
    str,
    Option(
        "--target",
        metavar="TRIPLE",
        help="The processor of an object file, such as aarch64-linux-gnu.",
    ),
]
FormatOption = Annotated[
    list[str] | None,
    Option("--option", metavar="NAME=VALUE", help="An option of the format, such as real=float."),
]


Linear = Annotated[bool, Option("--linear", help="Also write A = df/dx and B = df/dw.")]


def export(
    system: SystemName,
    to: To = "",
    output: Place = Path(),
    values: SetValues = None,
    start: Start = None,
    inputs: Input = None,
    outputs: Outputs = None,
    target: Processor = "",
    option: FormatOption = None,
    *,
    linear: Linear = False,
) -> None:
    r"""Write the equations for another tool.

    The files compute rates, mass matrix and forcing, constraint rows and their projection, energies
    and outputs; constants stay parameters. The header documents the order of the state.

    \b
    dalembert export double-pendulum --to c -o pendulum
    dalembert export rolling-disk --to numpy -o disk.py --linear
    dalembert export cart-and-bar --to c -o cart --set M=3 --option real=float
    """
    from dalembert.exchange.exports.export import export as written

    if not to:
        msg = f"--to: say which format; known are {', '.join(FORMATS)}"
        raise Unknown(msg)
    find_format(to)
    described = find_system(system, values).system
    entry = default_run(system, described)
    options: dict[str, Any] = dict(parse_assignments("--option", option))
    options |= {"target": target} if target else {}
    made = written(
        described,
        to,
        values=parse_numbers(described, "--set", values),
        start=parse_numbers(described, "--start", start) or dict(entry.start if entry else {}),
        inputs=dict(parse_assignments("--input", inputs)),
        outputs=outputs or (),
        linear=linear,
        **options,
    )
    for file in made.write(output):
        print_line(f"written: {file}")
    if entry and entry.events:
        names = ", ".join(str(e.name) for e in entry.events)
        print_error(
            f"events are not part of {to}: {names}; the equations hold between these events"
        )
