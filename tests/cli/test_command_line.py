"""What a line means: the arguments of each command, its refusals, and what a shell may complete."""

import inspect
import os
from pathlib import Path

import click
import pytest

from cli.running import start
from dalembert.cli.command_line import app
from dalembert.cli.command_registry import COMMANDS, load_command


def arguments(line):
    """{parameter: value} of a line, without those at their defaults."""
    name, *words = line.split()
    defaults = {"output": None} | {
        p.name: p.default for p in inspect.signature(load_command(name)).parameters.values()
    }
    with app.get_command(None, name).make_context(name, words) as ctx:
        return {k: v for k, v in ctx.params.items() if v != defaults[k]}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("derive rolling-disk", {"system": "rolling-disk"}),
        (
            "derive rolling-disk --by lagrange --steps full -o out.tex",
            {
                "system": "rolling-disk",
                "by": "lagrange",
                "steps": "full",
                "output": Path("out.tex"),
            },
        ),
        ("derive --set m=2 disk --set r=3", {"system": "disk", "values": ["m=2", "r=3"]}),
        ("derive disk --by=all --format=latex", {"system": "disk", "by": "all", "style": "latex"}),
        ("agree --all", {"every": True}),
        (
            "simulate disk --for 2 --from -1 --start theta=1 --start phi.dot=2",
            {"system": "disk", "duration": 2.0, "t0": -1.0, "start": ["theta=1", "phi.dot=2"]},
        ),
        ("report disk --text --for 1e-1", {"system": "disk", "text": True, "duration": 0.1}),
        ("gallery", {}),
    ],
)
def test_a_line_means_its_arguments(line, expected):
    assert expected == arguments(line)


@pytest.mark.parametrize(
    "line", ["derive", "derive a b", "derive a --bye x", "derive a --by", "simulate a --for x"]
)
def test_other_lines_are_refused(line):
    with pytest.raises(click.UsageError):
        arguments(line)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_default_is_that_of_the_function(command):
    parameters = inspect.signature(load_command(command)).parameters.values()
    required = ["x" for p in parameters if p.default is p.empty]
    given = [p.name for p in parameters if p.default is p.empty]
    assert dict.fromkeys(given, "x") == arguments(" ".join([command, *required]))


@pytest.mark.parametrize(
    ("words", "suggestions"),
    [
        ("dalembert der", {"derive"}),
        ("dalembert derive rolling-d", {"rolling-disk", "rolling-disk-centre"}),
        ("dalembert derive --b", {"--by"}),
    ],
)
def test_a_shell_completes_commands_systems_and_options(words, suggestions):
    last = str(len(words.split()) - 1)
    result = start(_DALEMBERT_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=last)
    assert suggestions == {line.partition(",")[2] for line in result.stdout.split()}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_once(shell, tmp_path):
    home = {"HOME": str(tmp_path), "SHELL": f"/bin/{shell}"}
    first = start("--install-completion", **home)
    assert 0 == first.returncode
    script = Path(first.stdout.splitlines()[0].partition(" installed in ")[2])
    assert script.read_text() == start("--show-completion", **home).stdout.removesuffix("\n")
    before = {p: p.read_text() for p in tmp_path.rglob("*") if p.is_file()}
    assert 0 == start("--install-completion", **home).returncode
    assert before == {p: p.read_text() for p in tmp_path.rglob("*") if p.is_file()}


def test_an_unknown_shell_is_refused():
    result = start("--show-completion", SHELL="/bin/" + os.urandom(2).hex())
    assert 2 == result.returncode
    assert "bash, zsh, fish" in result.stderr
