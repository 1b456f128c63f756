"""The equations by each principle behind a switch, and how each comes about, step by step; and whether they agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import inf

from dalembert.algebra.normal_form.normal import operation_count
from dalembert.page.bounded_forms import BoundedForms
from dalembert.page.embedding import Packing, Trimming, lacks, shortened
from dalembert.page.parts.words import lowered, panel, section, shell_name, switch
from dalembert.page.study import Study
from dalembert.principles.base import Derivation
from dalembert.report import comparison, steps, tables
from dalembert.report.blocks import Block, Display, Heading, words
from dalembert.report.comparison import printed
from dalembert.report.html import html
from dalembert.report.preliminaries import preliminaries


def equations(study: Study, packing: Packing) -> str:
    """One panel for each principle, the shortest chosen; what they share comes after them."""
    first = study.derivations[0]
    patient = BoundedForms()
    writing = patient.on(first.tape)
    command = f"dalembert derive {shell_name(study.request.name)}"
    # those of few operations first: they are likely to be read, and are not to find patience used up
    written = {d.principle.name: _principle(d, patient, packing, command) for d in sorted(study.derivations, key=_operations)}
    chosen = _shortest(study.derivations, {name: length for name, (length, _) in written.items()})
    panels = [
        panel("panel", "principle", d.principle.name, d.principle.title, written[d.principle.name][1], first=d is chosen)
        for d in study.derivations
    ]
    rates = packing.html(shortened(list(steps.rates(first, writing)), command))
    gone = html(list(tables.dropped_out(first, writing)))
    trimming = Trimming()
    common = steps.numbered(list(preliminaries(study.derivations, writing, trimming.step)), "teach")
    shared = _folded(common, packing, f"{command} --steps full", trimming)
    named = [(d.principle.name, d.principle.title) for d in study.derivations]
    return section(
        "equations",
        "Equations of motion",
        switch("Principles", "principle", named, study.derivations.index(chosen)),
        f'<p class="quiet">The page opens on {escape(chosen.principle.title)}: no principle gives a shorter form here.</p>',
        *panels,
        f"<h3>Rates of the coordinates</h3>{rates}{gone}",
        f"<h3>From the description to the kinematics</h3><p>What all principles share.</p>{shared}",
        lowered(html(printed(study.subject.results, study.subject.source, first, writing))),
    )


def _operations(d: Derivation) -> int:
    """What the equations take as the principle gives them."""
    return operation_count(d.tape, tuple(d.native.printed or d.native.residuals))


def _shortest(derivations: Sequence[Derivation], lengths: Mapping[str, float]) -> Derivation:
    """The principle whose equations are printed with fewest letters; among equally short ones, to two digits, that of fewest operations.

    Balances of free bodies also name every reaction: they are no form of the equations of motion.
    """
    known = [d for d in derivations if d.principle.family != "free bodies"]
    return min(known, key=lambda d: (_two_digits(lengths[d.principle.name]), _two_digits(_operations(d))))


def _two_digits(x: float) -> float:
    return float(f"{x:.1e}")


def _length(blocks: Sequence[Block], packing: Packing) -> float:
    """Letters, signs and numbers of the first display and of its intermediates; without end where something was left out."""
    display = next((b for b in blocks if isinstance(b, Display)), Display(()))
    if lacks(display):
        return inf
    return sum(text.count("<m") for text in packing.written(display)) if display.lines else 0


def _principle(d: Derivation, writing: BoundedForms, packing: Packing, command: str) -> tuple[float, str]:
    """What it says, the equations it gives, and the steps to them, folded; and how long the equations are."""
    command = f"{command} --by {d.principle.name}"
    brief = [b for b in steps.derivation(d, writing, level="equations") if not (isinstance(b, Heading) and b.level == 2)]
    statement, rest = html(brief[:1]), packing.html(shortened(brief[1:], command))
    trimming = Trimming()
    long = _folded(steps.derivation(trimming.derivation(d), writing, level="teach"), packing, f"{command} --steps teach", trimming)
    return _length(brief, packing), f'<div class="statement">{statement}</div>{rest}<h3>Derivation step by step</h3>{long}'


def _folded(blocks: Iterable[Block], packing: Packing, command: str, trimming: Trimming) -> str:
    """Every step under its title, to be unfolded, and how many quantities it lacks."""
    parts: list[tuple[str, list[Block]]] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level == 3:
            parts.append((block.words, []))
        elif parts:
            parts[-1][1].append(block)
    found = []
    for title, inside in parts:
        lacks = trimming.missing.get(title.partition(". ")[2], 0)
        rest = [words(f"… and {lacks} more quantities: too many for a page; {command} prints them all.", quiet=True)] if lacks else []
        shown = packing.html([*shortened(inside, command), *rest])
        found.append(f"<details><summary>{escape(title)}</summary>{shown}</details>")
    return "".join(found)


def agreement(study: Study) -> str:
    """The table of principles with families and effort, the exactness statement, the audit."""
    return section("agreement", "Agreement of the principles", html(comparison.agreement(study.agreed)))
