"""What several commands are given: the system, and name=value, as often as needed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Final, TypedDict, get_type_hints

from dalembert.cli.command_registry import Argument, Option
from dalembert.errors import DalembertError, Unknown
from dalembert.foundation.shared_keywords import declare_keywords
from dalembert.mechanics.model.system import System


def _complete_system(incomplete: str) -> list[str]:
    """The gallery's names that begin so, for the shell."""
    from dalembert.gallery import names

    return [name for name in names() if name.startswith(incomplete)]


_SYSTEM = (
    "A name from the gallery, a model file (.toml, .json, .urdf, MJCF .xml), or "
    "path/to/file.py:function."
)
SystemName = Annotated[str, Argument("SYSTEM", _SYSTEM, _complete_system)]
AnySystem = Annotated[str, Argument("[SYSTEM]", _SYSTEM, _complete_system)]
SetValues = Annotated[
    list[str] | None,
    Option(
        "--set", metavar="NAME=VALUE", help="Value of a constant, or n of a family; repeatable."
    ),
]
Start = Annotated[
    list[str] | None,
    Option(
        "--start",
        metavar="NAME=VALUE",
        help="Initial value of a coordinate, rate (theta.dot) or speed.",
    ),
]
Guess = Annotated[
    list[str] | None,
    Option(
        "--guess", metavar="NAME=VALUE", help="Initial guess of a coordinate that is solved for."
    ),
]
Input = Annotated[
    list[str] | None,
    Option(
        "--input", metavar="NAME=EXPRESSION", help="Input or prescribed motion, such as 2*sin(t)."
    ),
]
RunTime = Annotated[
    float | None, Option("--for", metavar="SECONDS", help="Duration.", show_default="the gallery's")
]
# None: not given, so that the model file or the library decides
StartTime = Annotated[
    float | None, Option("--from", metavar="SECONDS", help="Initial time.", show_default="0")
]
RelativeTolerance = Annotated[
    float | None, Option(help="Relative tolerance of each step.", show_default="1e-9")
]
AbsoluteTolerance = Annotated[
    float | None, Option(help="Absolute tolerance of each step.", show_default="1e-9")
]


class RunFlags(TypedDict, total=False):
    """Options of every command that runs a system."""

    values: SetValues
    start: Start
    guess: Guess
    inputs: Input
    t0: StartTime
    rtol: RelativeTolerance
    atol: AbsoluteTolerance


_RUN_FLAGS: Final = get_type_hints(RunFlags, include_extras=True)
# the decorator for a command with `**flags: Unpack[RunFlags]`
take_run_flags: Final = declare_keywords(_RUN_FLAGS, dict.fromkeys(_RUN_FLAGS))


def check_system_or_all(system: str, *, every: bool) -> None:
    """A system is named, or --all is given."""
    if every == bool(system):
        msg = (
            "name one system, or say --all"
            if not system
            else "name one system or say --all, not both"
        )
        raise Unknown(msg)


# "1, beta=2"
_SECOND_ASSIGNMENT: Final = re.compile(r"[,;]\s*([A-Za-z_][\w.']*\s*=[^=].*)$")


def parse_assignments(
    option: str, given: Iterable[str] | None, form: str = "value"
) -> list[tuple[str, str]]:
    """name=value, each name once."""
    assignments: dict[str, str] = {}
    for text in given or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            msg = f"{option} {text!r}: write it as {option} name={form}"
            raise Unknown(msg)
        if several := _SECOND_ASSIGNMENT.search(value):
            first, second = f"{name}={value[: several.start()].strip()}", several[1].strip()
            msg = f"{option} {text!r}: one name for each option, {option} {first} {option} {second}"
            raise Unknown(msg)
        if name in assignments:
            msg = f"{option} {name}: it is given twice, as {assignments[name]} and as {value}"
            raise Unknown(msg)
        assignments[name] = value
    return list(assignments.items())


def parse_numbers(system: System, option: str, given: Iterable[str] | None) -> dict[str, float]:
    """{name: number} of name=value."""
    # the values of --set were taken when the system was built, and n of a family is no symbol
    return {
        name: parse_number(system, option, name, text)
        for name, text in parse_assignments(option, given)
        if option != "--set" or name in system.symbols
    }


def parse_number(system: System, option: str, name: str, text: str) -> float:
    """0.5, an expression without symbols such as pi/3, or a number with a unit of the dimension
    that the symbol has.
    """
    try:
        return float(text)
    except ValueError:
        pass
    from dalembert.exchange.modelfile.number_parser import as_float

    try:
        return as_float(text, system.dimension(name) if name in system.symbols else None)
    except DalembertError as problem:
        msg = (
            f"{option} {name}={text}: {text!r} is not a number"
            if isinstance(problem, Unknown)
            else f"{option} {name}={text}: {problem}"
        )
        raise Unknown(msg) from problem
