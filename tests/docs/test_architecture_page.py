"""The page about the architecture names files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import dalembert

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
SRC = Path(dalembert.__file__).parent


def test_every_file_that_a_walk_or_a_recipe_names_is_there():
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"\b((?:[a-z_]+/)+[a-z_]+\.py)\b", text)) - {
        "tests/architecture/test_layers.py"
    }
    assert len(named) > 40
    assert [] == sorted(name for name in named if not (SRC / name).is_file())
    # a walk for each of the four questions
    assert ["derive", "agree", "simulate", "report"] == re.findall(
        r"^```text\n(\w+):", text, re.MULTILINE
    )


def test_every_native_structure_has_the_owner_that_is_named():
    text = (PAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    owners = re.findall(r"^\| [^|]+ \| `(\w*FIELDS)`, `([\w/]+\.py)` \|$", text, re.MULTILINE)
    assert len(owners) >= 6
    for name, file in owners:
        assert f"\n{name}: Final" in (SRC / file).read_text(encoding="utf-8"), file
    named = re.findall(r"`(runtime/[\w/]+\.py)`", text)
    assert [] == [file for file in named if not (SRC / file).is_file()]
