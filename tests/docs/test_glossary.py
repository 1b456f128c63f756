"""The glossary is the index of the source: a search for a term leads to the file that has it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dalembert

ROOT = Path(dalembert.__file__).parent
GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"
ROW = re.compile(r"^\| (?P<term>[^|]+) \| [^|]+ \| `(?P<file>[^`]+)` \|$", re.MULTILINE)
TERMS = {m["term"]: m["file"] for m in ROW.finditer(GLOSSARY.read_text(encoding="utf-8"))}


def first_paragraph(path: Path) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.sub(r"\s+", " ", doc.split("\n\n")[0]).lower()


@pytest.fixture(scope="module", name="paragraphs")
def first_paragraphs() -> dict[str, str]:
    """Of every file; the introduction of a chapter may name what its files do."""
    return {
        path.relative_to(ROOT).as_posix(): first_paragraph(path)
        for path in ROOT.rglob("*.py")
        if path.name != "__init__.py"
    }


def test_the_glossary_has_about_sixty_terms_in_order():
    assert 60 <= len(TERMS)
    assert sorted(TERMS, key=str.lower) == list(TERMS)


@pytest.mark.parametrize("term", TERMS)
def test_a_search_for_the_term_leads_to_its_file(term, paragraphs):
    files = [file for file, paragraph in paragraphs.items() if term.lower() in paragraph]
    assert TERMS[term] in files
    assert len(files) <= 3, files
