"""Overviews of chapters and the architecture page name files that are there."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "dalembert"
CHAPTERS = sorted(p for p in SOURCE.rglob("__init__.py") if p.parent != SOURCE)
# the program itself
COMMAND = "dalembert"


@pytest.mark.parametrize("file", CHAPTERS, ids=lambda p: str(p.parent.relative_to(SOURCE)))
def test_files_named_in_the_overview_exist(file):
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*)/?`", text)) - {COMMAND}
    missing = {
        name
        for name in named
        if not (file.parent / name).is_dir() and not (file.parent / f"{name}.py").is_file()
    }
    assert set() == missing


def test_files_named_in_the_architecture_page_exist():
    page = SOURCE.parents[1] / "docs" / "architecture.md"
    named = set(re.findall(r"[\w/]+\.py\b", page.read_text(encoding="utf-8")))
    known = {str(p.relative_to(SOURCE)) for p in SOURCE.rglob("*.py")}
    known |= {"tests/architecture/test_layers.py"}
    short = {name.rpartition("/")[2] for name in known}
    assert set() == {n for n in named if n not in (known if "/" in n else short)}
