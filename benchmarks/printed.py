"""Everything that the gallery prints, in files to compare: every system by every principle, as
text, LaTeX, Markdown and HTML.

    python benchmarks/printed.py FOLDER [SYSTEM ...]

Run it before and after a change to the printers and compare the two folders with `diff -r`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from dalembert import gallery
from dalembert.errors import DalembertError, NotApplicable
from dalembert.interface.report import system_report, terminal_renderer
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import HTML, LATEX, MARKDOWN
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.mechanics.principles.derivation import Derivation
from dalembert.symbolic.algebra.normal_form.expansion import operation_count
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm
from dalembert.symbolic.algebra.tape import Tape

# beyond this no short form is searched for: it takes too long, and none is found
SHORT = 300


class _Bounded(FormulaWriter):
    def form_of(self, tape: Tape, i: int) -> RationalForm | None:
        return super().normal_form(tape, i) if operation_count(tape, (i,)) <= SHORT else None


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
    subject = system_report.ReportSubject(
        found[0].kinematics.system, entry.title, entry.source, entry.description
    )
    blocks = list(system_report.derivation_report(subject, found, _Bounded(), level="teach"))
    yield "txt", terminal_renderer.render_text(blocks)
    yield "tex", LATEX.text(blocks)
    yield "md", MARKDOWN.text(blocks)
    yield "html", HTML.text(blocks)
    yield (
        "eq.txt",
        terminal_renderer.render_text(
            system_report.derivation_report(subject, found[:1], _Bounded())
        ),
    )


def main(folder: Path, names: list[str]) -> None:
    """Write all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or gallery.names():
        try:
            for style, text in printed(name):
                (folder / f"{name}.{style}").write_text(
                    text.replace("><", ">\n<") if style == "html" else text, encoding="utf-8"
                )
        except DalembertError as problem:
            (folder / f"{name}.error").write_text(str(problem), encoding="utf-8")
        print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
