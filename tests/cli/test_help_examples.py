"""The lines that `--help` proposes can be copied: whole commands, no wider than a terminal."""

import re

import pytest

from dalembert.cli.command_registry import COMMANDS, load_command

WIDTH = 78


def examples(help_text: str) -> list[str]:
    """The lines of the blocks that begin with a line of a backslash and b."""
    blocks = re.findall(r"^[ ]*\\b\n(.*?)(?:\n\s*\n|\Z)", help_text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.rstrip().splitlines()]
    indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return [line[indent:] for line in lines]


def faults(lines: list[str]) -> list[str]:
    """Lines that are too wide, or that are neither a command nor the rest of one."""
    before = ["", *lines[:-1]]
    return [
        line
        for line, last in zip(lines, before, strict=True)
        if len(line) > WIDTH or not (line.startswith("dalembert ") or last.endswith("\\"))
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_can_be_copied(command):
    lines = examples(load_command(command).__doc__ or "")
    assert [] == faults(lines)
    assert lines, "the help of a command shows how it is called"


def test_faults_are_seen():
    text = "Do.\n\n    \\b\n    dalembert a --plot\n    x.png\n    dalembert b \\\n        --c\n"
    assert ["x.png"] == faults(examples(text))
    assert ["dalembert " + "a" * WIDTH] == faults(["dalembert " + "a" * WIDTH])
