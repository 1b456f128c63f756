"""Bar00 Table 1 for a system, with what each route costs, to read."""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.agreement.comparison import APPROACHES, COLUMNS, Comparison, Route
from dalembert.report.blocks import Block, Span, TableBlock, words

MEASURES = ("operations", "CPU time")


def comparison(c: Comparison) -> Iterator[Block]:
    """The table of approaches and velocity variables, then who is best and who does not apply."""
    headings = ("approach", *(h for column in COLUMNS.values() for h in (column, *MEASURES)))
    rows = [
        ("" if number else approach, *_cell(left), *_cell(right))
        for approach in APPROACHES
        for number, (left, right) in enumerate(c.lines(approach))
    ]
    yield TableBlock(headings, tuple(rows))
    yield words(f"{c.statement[:1].upper()}{c.statement[1:]}.")
    for r in c.routes:
        if not r.applicable:
            yield words(f"{r.principle.title} does not apply: {r.why_not}.")
    yield words("Operations are those of the native form of each principle. Gauss's principle stands in both rows.", quiet=True)


def _cell(r: Route | None) -> tuple[Span, Span, Span]:
    if r is None:
        return "", "", ""
    if not r.applicable:
        return r.principle.title, "—", "not applicable"
    return r.principle.title, str(r.operations), f"{1e3 * r.seconds:.1f} ms"
