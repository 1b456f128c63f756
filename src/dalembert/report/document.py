"""The whole report of a system, from its description to the results it reproduces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dalembert.model.system import System
from dalembert.principles.base import Derivation
from dalembert.report import steps
from dalembert.report.blocks import Block, Heading, TableBlock, words
from dalembert.report.comparison import PrintedResult, printed
from dalembert.report.steps import Level, StepPart
from dalembert.report.writing import Writing

if TYPE_CHECKING:
    from dalembert.agreement.agreement_table import Agreement


@dataclass(frozen=True)
class Subject:
    """A system and what is said about it: where it comes from, what it is, what is printed about it."""

    system: System
    title: str
    source: str = ""
    description: str = ""
    results: tuple[PrintedResult, ...] = ()


def heading(subject: Subject) -> Iterator[Block]:
    """Title, what it is, where it comes from."""
    yield Heading(1, subject.title)
    if subject.description:
        yield words(subject.description)
    if subject.source:
        yield words("Source: ", subject.source, quiet=True)


def derivations(subject: Subject, found: Sequence[Derivation], writing: Writing, *, level: Level = "equations") -> Iterator[Block]:
    """The equations of motion by each principle, as far back as `level` asks for."""
    yield from heading(subject)
    writing = writing.on(found[0].tape)
    shown: steps.Shown = {}
    first: list[StepPart] = []
    if level in ("full", "teach"):
        from dalembert.report.preliminaries import preliminaries

        yield Heading(2, "Description and kinematics")
        first = list(preliminaries(found, writing))
        yield from steps.numbered(first, level)
    for d in found:
        yield from steps.derivation(d, writing, level=level, first=len(first) + 1, shown=shown)
    if first:
        yield from sources(subject.source, "Bar00, Gre03, Mei85", *(text for d in found for text in _cited(d)))
    else:
        yield from steps.rates(found[0], writing)


def _cited(d: Derivation) -> Iterator[str]:
    yield d.principle.source
    yield from (step.source for step in d.steps)


def report(subject: Subject, d: Derivation, agreed: Agreement, writing: Writing, motion: Iterable[Block] = ()) -> Iterator[Block]:
    """Description, freedoms, equations of motion, agreement, audit, printed results, and a motion if there is one."""
    from dalembert.report import comparison, constraint_tables, tables

    kin = d.kinematics
    writing = writing.on(d.tape)
    yield from heading(subject)
    yield Heading(2, "Symbols")
    yield tables.symbols(subject.system, writing)
    yield Heading(2, "Bodies")
    yield tables.bodies(subject.system, writing)
    yield Heading(2, "Loads")
    yield from tables.loads(kin, writing)
    yield Heading(2, "Constraints and freedoms")
    yield from constraint_tables.constraints(kin, writing)
    yield constraint_tables.freedoms(kin)
    yield Heading(2, "Equations of motion")
    yield writing.equations(d.tape, d.equations.residuals, d.equations.udot, d.equations.u)
    yield from steps.rates(d, writing)
    yield from tables.dropped_out(d, writing)
    yield Heading(2, "Agreement of the principles")
    yield from comparison.agreement(agreed)
    yield from printed(subject.results, subject.source, d, writing)
    yield from motion
    yield from sources(subject.source, *(r.principle.source for r in agreed.rows))


def sources(*texts: str) -> Iterator[Block]:
    """The works behind the keys."""
    from dalembert.references import cited

    works = cited(" ".join(texts))
    if works:
        yield Heading(2, "Sources")
        yield TableBlock(("key", "work"), tuple(works.items()))
