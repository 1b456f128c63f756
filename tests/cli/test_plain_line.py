"""A plain line means the same with and without typer."""

import inspect
from random import Random
from typing import get_args, get_origin, get_type_hints

import pytest
import typer

from dalembert.cli.command_registry import COMMANDS, Argument, load_command
from dalembert.cli.fast_parser import parse_fast
from dalembert.cli.typer_app import app

GROUP = typer.main.get_command(app)
TEXTS = (
    "rolling-disk",
    "m=2",
    "theta=pi/2",
    "x",
    "a b",
    "é",
    "path/to/file.py:f",
    "1.5",
    "--by",
    "",
    "-3",
    "all",
    "=",
)
NUMBERS = ("3", "-2", "1e-3", "0.5", "nan", "1_000", " 4", "1.", "+7", "many", "0x10")


def by_typer(line):
    """{parameter: value} as typer reads it, or the error it has."""
    try:
        with GROUP.commands[line[0]].make_context(line[0], list(line[1:])) as ctx:
            return {
                name: value or None if isinstance(value, list | tuple) else value
                for name, value in ctx.params.items()
            }
    except (typer.Exit, Exception) as problem:  # noqa: BLE001 - any refusal is one
        return type(problem)


def plainly(line):
    """The same without typer; None where the line is left to it."""
    found = parse_fast(line)
    if found is None:
        return None
    defaults = {p.name: p.default for p in inspect.signature(found.func).parameters.values()}
    return {**defaults, **found.keywords}


@pytest.mark.parametrize(
    "line",
    [
        "derive rolling-disk",
        "derive rolling-disk --by lagrange --steps full -o out.tex",
        "derive --set m=2 rolling-disk --set r=3",
        "derive rolling-disk --by=all --format=latex",
        "agree --all",
        "agree rolling-disk --times",
        "simulate rolling-disk --for 2 --from -1 --start theta=1 --start phi.dot=2",
        "report rolling-disk --text --for 1e-1",
        "equilibrium bead-on-hoop --at theta=0 --box q=-1:1",
        "export rolling-disk --to c -o disk",
        "gallery",
        "schema",
    ],
)
def test_plain_lines_are_read_without_typer(line):
    words = line.split()
    assert plainly(words) is not None
    assert by_typer(words) == plainly(words)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--help",
        "derive --help",
        "derive",
        "derive a b",
        "derive a --bye x",
        "derive a --by",
        "unknown",
        "derive a -ofile",
        "simulate a --for x",
    ],
)
def test_other_lines_are_left_to_typer(line):
    assert None is parse_fast(line.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_random_lines_mean_the_same(command):
    draw = Random(command)
    hints = get_type_hints(load_command(command), include_extras=True)
    hints.pop("return")
    read = 0
    for _ in range(80):
        line = [command]
        for name, hint in hints.items():
            kind, declared = get_args(hint)
            if isinstance(declared, Argument):
                line += [draw.choice(TEXTS)] * draw.choice((1, 1, 1, 1, 0, 2))
                continue
            if draw.random() < 0.7:
                continue
            option = draw.choice(declared.names or ("--" + name.replace("_", "-"),))
            number = float in (kind, *get_args(kind)) or int in (kind, *get_args(kind))
            text = draw.choice(NUMBERS if number else TEXTS)
            several = list in (get_origin(part) for part in (kind, *get_args(kind)))
            for _ in range(draw.choice((1, 2)) if several else draw.choice((1,) * 9 + (2,))):
                line += (
                    [option]
                    if kind is bool
                    else draw.choice(([option, text], [f"{option}={text}"]))
                )
        plain = plainly(line)
        if plain is not None:
            read += 1
            assert by_typer(line) == plain, line
    assert read > 3
