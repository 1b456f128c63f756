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
