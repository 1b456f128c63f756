"""Every command that prints a result writes it to a file with -o."""

from __future__ import annotations

import json

import click
import pytest

from cli.running import run
from dalembert.cli.command_line import WITHOUT_OUTPUT, _command, app
from dalembert.cli.command_registry import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_it(name):
    options = {name for p in _command(name).params for name in p.opts}
    assert ("-o" in options) != (name in WITHOUT_OUTPUT)


def test_the_file_has_what_is_printed(tmp_path):
    path = tmp_path / "pendulum.toml"
    result = run("new", "pendulum", "-o", str(path))
    assert f"written: {path}\n" == result.stdout
    assert path.read_text(encoding="utf-8") == run("new", "pendulum").stdout


def test_the_ending_chooses_json(tmp_path):
    path = tmp_path / "rows.json"
    assert 0 == run("constraints", "rolling-disk", "-o", str(path)).exit_code
    assert 2 == json.loads(path.read_text(encoding="utf-8"))["velocity_rank"]


def test_pages_are_refused_with_the_command_that_writes_them(tmp_path):
    result = run("agree", "simple-pendulum", "-o", str(tmp_path / "a.html"))
    assert 2 == result.exit_code
    assert "give FILE.txt or FILE.json, or use dalembert report" in result.stderr
    assert [] == list(tmp_path.iterdir())


def test_a_verdict_is_still_the_exit_code(tmp_path):
    path = tmp_path / "wrong.txt"
    result = run("verify", "simple-pendulum", "phi'' = 0", "-o", str(path))
    assert 1 == result.exit_code
    assert "missing" in path.read_text(encoding="utf-8")


def test_the_list_of_commands_has_whole_sentences():
    listed = click.Context(app, terminal_width=80)
    text = app.get_help(listed)
    assert "..." not in text.partition("Commands:")[2]
