"""Every key that is cited stands for a work."""

import re
from pathlib import Path

from dalembert import gallery
from dalembert.interface.report.bibliography import REFERENCES, cited_references
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES

SOURCES = Path(__file__).parents[1] / "src"


def test_every_source_of_the_gallery_and_of_the_principles_is_known():
    sources = [gallery.entry(n).source for n in gallery.names()] + [p.source for p, _ in PRINCIPLES]
    unknown = [s for s in sources if not cited_references(s) and s != "our own"]
    assert [] == unknown


def test_keys_in_docstrings_are_known():
    keys = {
        k
        for path in SOURCES.rglob("*.py")
        for k in re.findall(r"\b([A-Z][a-z]{2,3}\d\d)\b", path.read_text(encoding="utf-8"))
    }
    assert set() == keys - set(REFERENCES)
