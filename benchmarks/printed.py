"""Everything that the gallery prints, in files to compare: every system by every principle, as text, LaTeX, Markdown and HTML.

    python benchmarks/printed.py FOLDER [SYSTEM ...]

Run it before and after a change to the printers and compare the two folders with `diff -r`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from dalembert import gallery
from dalembert.agreement.catalogue import PRINCIPLES
from dalembert.algebra.normal_form.forms import Form
from dalembert.algebra.normal_form.normal import operation_count
from dalembert.algebra.tape import Tape
from dalembert.errors import DalembertError, NotApplicable
from dalembert.principles.base import Derivation
from dalembert.report import document, terminal
from dalembert.report.layouts import HTML, LATEX, MARKDOWN
from dalembert.report.writing import Writing

# beyond this no short form is searched for: it takes too long, and none is found
SHORT = 300


class _Bounded(Writing):
    def form_of(self, tape: Tape, i: int) -> Form | None:
        return super().form_of(tape, i) if operation_count(tape, (i,)) <= SHORT else None


def derived(name: str) -> list[Derivation]:
    """One system by every principle that applies."""
    found = []
    for _, derive in PRINCIPLES:
        try:
            found.append(derive(gallery.build(name)))
        except NotApplicable:
            continue
    return found


def printed(name: str) -> Iterator[tuple[str, str]]:
    """(style, text) of one system."""
    entry = gallery.entry(name)
    found = derived(name)
    subject = document.Subject(found[0].kinematics.system, entry.title, entry.source, entry.description)
    blocks = list(document.derivations(subject, found, _Bounded(), level="teach"))
    yield "txt", terminal.text(blocks)
    yield "tex", LATEX.text(blocks)
    yield "md", MARKDOWN.text(blocks)
    yield "html", HTML.text(blocks)
    yield "eq.txt", terminal.text(document.derivations(subject, found[:1], _Bounded()))


def main(folder: Path, names: list[str]) -> None:
    """Write all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or gallery.names():
        try:
            for style, text in printed(name):
                (folder / f"{name}.{style}").write_text(text.replace("><", ">\n<") if style == "html" else text, encoding="utf-8")
        except DalembertError as problem:
            (folder / f"{name}.error").write_text(str(problem), encoding="utf-8")
        print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
