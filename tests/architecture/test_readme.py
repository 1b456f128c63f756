"""What the README shows is what happens, and what it links is there."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dalembert.cli.command_line import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
sys.path.insert(0, str(ROOT / "docs"))

from measured import with_speeds  # noqa: E402 - the folder of the pages is no package

COMMANDS = re.findall(r"^ {4}dalembert (.+)$", README, re.MULTILINE)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_example_prints_what_is_shown(monkeypatch):
    monkeypatch.setenv("DALEMBERT_SEED", "7")
    (code,), (shown,) = blocks("python"), blocks("text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert shown == printed.getvalue()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, shlex.split(command.partition("#")[0]))
    assert 0 == result.exit_code, result.output


def test_the_commands_were_seen():
    assert {"gallery", "derive", "agree", "simulate", "report"} == {
        line.split()[0] for line in COMMANDS
    }
    assert {"demo", "test"} == set(re.findall(r"^ {4}make (\w+)", README, re.MULTILINE))


def test_every_file_that_is_linked_is_there():
    linked = re.findall(r"\]\(([^)#:]+)\)|src=\"([^\"]+)\"", README)
    assert len(linked) > 12
    assert [] == sorted(
        path for pair in linked for path in pair if path and not (ROOT / path).exists()
    )


def test_the_speeds_are_those_measured_last():
    assert with_speeds(README) == README, "run: python docs/measured.py"
    with pytest.raises(LookupError):
        with_speeds_of("no such tool")


def with_speeds_of(tool: str) -> str:
    import measured

    return measured._cell("chain 7, native loop", tool)[0]


def test_the_readme_is_short():
    assert README.count("\n") <= 120
