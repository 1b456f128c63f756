"""Every piece of code in the documentation runs, and what is to be refused is refused."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts and p.parent.name != "decisions" and p.name != "api.md")

_spec = importlib.util.spec_from_file_location("running", DOCS / "running.py")
running = sys.modules["running"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(running)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_the_code_of_the_page_runs(page):
    text = page.read_text(encoding="utf-8")
    shown = running.run_page(text, page.name)
    assert text.count("```python") + text.count("```console") == shown.count("```python\n") + shown.count("```console\n")


def test_every_page_is_in_a_table_of_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    missing = [p for p in PAGES if p.name != "index.md" and str(p.relative_to(DOCS).with_suffix("")) not in index]
    assert missing == [DOCS / "principles" / "index.md"] or not missing


def test_code_that_fails_is_not_passed_over():
    with pytest.raises(ZeroDivisionError):
        running.run_page("```python\n1 / 0\n```", "page")
    with pytest.raises(AssertionError, match="was to be refused"):
        running.run_page("```python refused\n1 + 1\n```", "page")
    with pytest.raises(AssertionError, match="ended with 2"):
        running.run_page("```console\n$ dalembert derive no-such-system\n```", "page")


def test_what_is_printed_stands_below():
    assert "```{code-block} text\n:class: output\n4\n```" in running.run_page("```python\nx = 2\nprint(2 * x)\n```", "page")
