"""The model in tables, its equations by each principle, behind a switch and step by step, and
whether they agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import inf
from typing import TYPE_CHECKING

from dalembert.interface.page.formula_budget import (
    BudgetedFormulaWriter,
    CompressingRenderer,
    StepLimiter,
    has_omissions,
    truncate_displays,
)
from dalembert.interface.page.html_elements import (
    demote_headings,
    section,
    shell_argument,
    tab_bar,
    tab_panel,
)
from dalembert.interface.page.parts.robot_omissions import left_out
from dalembert.interface.page.public_path import public_path
from dalembert.interface.report import (
    derivation_steps,
    large_systems,
    result_blocks,
    system_tables,
)
from dalembert.interface.report.document_blocks import Block, Display, Heading, paragraph
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.renderers import HTML
from dalembert.interface.report.system_report import kinematics_steps
from dalembert.mechanics.principles.derivation import Derivation
from dalembert.symbolic.algebra.normal_form.expansion import operation_count

if TYPE_CHECKING:
    from dalembert.interface.page.report_page import ReportData


def description(study: ReportData, sketch: str, packing: CompressingRenderer) -> str:
    """What the system is made of: its sketch, symbols, bodies, loads and constraints."""
    subject, kin = study.subject, study.derivations[0].kinematics
    writing = FormulaWriter().on(study.derivations[0].tape)
    where = escape(public_path(subject.source))
    source = f'<p class="source">Source: {where}</p>' if where else ""
    picture = f'<div class="picture">{sketch}</div>' if sketch else ""
    blocks: dict[str, list[Block]] = {
        "Coordinates, speeds and constants": [system_tables.symbol_table(subject.system, writing)],
        "Bodies": [system_tables.body_table(subject.system, writing)],
        "Loads": list(system_tables.load_table(kin, writing)),
        "Constraints and degrees of freedom": [
            *system_tables.constraints(kin, writing),
            system_tables.dof_summary(kin),
        ],
    }
    command = f"dalembert derive {shell_argument(study.request.name)}"
    symbols, *others = (
        f"<h3>{escape(title)}</h3>{packing.text(truncate_displays(inside, command))}"
        for title, inside in blocks.items()
    )
    right = f"{picture}{''.join(others)}{left_out(subject.system)}"
    parts = f'<div class="columns description"><div>{symbols}</div><div>{right}</div></div>'
    return section("description", "Model", source, parts)


def equations(study: ReportData, packing: CompressingRenderer) -> str:
    """One panel for each principle, the shortest chosen; what they share comes after them."""
    first = study.derivations[0]
    budgeted_writer = BudgetedFormulaWriter()
    writing = budgeted_writer.on(first.tape)
    command = f"dalembert derive {shell_argument(study.request.name)}"
    # those of few operations first: they are likely to be read, and are not to find patience used
    # up
    written = {
        d.principle.name: _principle(d, budgeted_writer, packing, command)
        for d in sorted(study.derivations, key=_operation_count)
    }
    chosen = _shortest(study.derivations, {name: length for name, (length, _) in written.items()})
    named = [(d.principle.name, d.principle.title) for d in study.derivations]
    return section(
        "equations",
        "Equations of motion",
        tab_bar("Principles", "principle", named, study.derivations.index(chosen)),
        f'<p class="quiet">The page opens on {escape(chosen.principle.title)}: no principle gives '
        f"a shorter form here.</p>",
        *_principle_panels(study.derivations, written, chosen),
        *_common_parts(study, writing, packing, command),
    )


def _principle_panels(
    derived: Sequence[Derivation], written: Mapping[str, tuple[float, str]], chosen: Derivation
) -> list[str]:
    """A panel for each principle; that of `chosen` is open."""
    return [
        tab_panel(
            "panel",
            "principle",
            d.principle.name,
            d.principle.title,
            written[d.principle.name][1],
            first=d is chosen,
        )
        for d in derived
    ]


def _common_parts(
    study: ReportData, writing: FormulaWriter, packing: CompressingRenderer, command: str
) -> list[str]:
    """What all principles share: recursion of large systems, rates, kinematics, printed results."""
    first = study.derivations[0]
    large = large_systems.is_large(study.derivations)
    recursion = HTML.text(large_systems.recursion(first.kinematics)) if large else ""
    rates = packing.text(truncate_displays(list(derivation_steps.rates(first, writing)), command))
    absent = HTML.text(result_blocks.absent_parameters(first, writing))
    shared = _shared_steps(study.derivations, writing, packing, f"{command} --steps full")
    printed = result_blocks.published_results(
        study.subject.results, study.subject.source, first, writing
    )
    return [
        recursion,
        f"<h3>Rates of the coordinates</h3>{rates}{absent}",
        f"<h3>From the description to the kinematics</h3><p>What all principles share.</p>{shared}",
        demote_headings(HTML.text(printed)),
    ]


def _shared_steps(
    derived: Sequence[Derivation],
    writing: FormulaWriter,
    packing: CompressingRenderer,
    command: str,
) -> str:
    """Description and kinematics step by step; of a large system the command that prints them."""
    if large_systems.is_large(derived):
        bodies = len(derived[0].kinematics.system.bodies)
        text = (
            f"Velocities of {bodies} bodies are too long to be read: {command} --all prints them."
        )
        return HTML.text([paragraph(text, quiet=True)])
    trimming = StepLimiter()
    steps = list(kinematics_steps(derived, writing, trimming.step))
    common = derivation_steps.numbered_blocks(steps, "teach")
    return _collapsible_steps(common, packing, command, trimming)


def _operation_count(d: Derivation) -> int:
    """What the equations take as the principle gives them."""
    return operation_count(d.tape, tuple(d.native.printed or d.native.residuals))


def _shortest(derivations: Sequence[Derivation], lengths: Mapping[str, float]) -> Derivation:
    """The principle whose equations are printed with fewest letters; among equally short ones, to
    two digits, that of fewest operations.

    Balances of free bodies also name every reaction: they are no form of the equations of motion.
    """
    known = [d for d in derivations if d.principle.family != "free bodies"]
    return min(
        known,
        key=lambda d: (_two_digits(lengths[d.principle.name]), _two_digits(_operation_count(d))),
    )


def _two_digits(x: float) -> float:
    return float(f"{x:.1e}")


def _printed_length(blocks: Sequence[Block], packing: CompressingRenderer) -> float:
    """Letters, signs and numbers of the first display and of its intermediates; without end
    where something was left out.
    """
    display = next((b for b in blocks if isinstance(b, Display)), Display(()))
    if has_omissions(display):
        return inf
    return sum(text.count("<m") for text in packing.render_display(display)) if display.lines else 0


def _principle(
    d: Derivation, writing: BudgetedFormulaWriter, packing: CompressingRenderer, command: str
) -> tuple[float, str]:
    """What it says, the equations it gives, and the steps to them, folded; and how long the
    equations are.
    """
    command = f"{command} --by {d.principle.name}"
    if large_systems.is_large([d]):
        return inf, _large(d, writing.on(d.tape), packing, command)
    brief = [
        b
        for b in derivation_steps.derivation(d, writing, level="equations")
        if not (isinstance(b, Heading) and b.level == 2)
    ]
    statement, rest = HTML.text(brief[:1]), packing.text(truncate_displays(brief[1:], command))
    trimming = StepLimiter()
    long = _collapsible_steps(
        derivation_steps.derivation(trimming.derivation(d), writing, level="teach"),
        packing,
        f"{command} --steps teach",
        trimming,
    )
    return _printed_length(
        brief, packing
    ), f'<div class="statement">{statement}</div>{rest}<h3>Derivation step by step</h3>{long}'


def _large(
    d: Derivation, writing: FormulaWriter, packing: CompressingRenderer, command: str
) -> str:
    """What a principle says, the size of its equations, and its steps without their quantities."""
    statement = HTML.text([derivation_steps.principle_statement(d, writing)])
    size = HTML.text([large_systems.size(d, f"{command} --all prints them.")])
    outline = large_systems.step_outline(d, writing)
    steps = _collapsible_steps(outline, packing, command, StepLimiter())
    return f'<div class="statement">{statement}</div>{size}<h3>Derivation in outline</h3>{steps}'


def _collapsible_steps(
    blocks: Iterable[Block], packing: CompressingRenderer, command: str, trimming: StepLimiter
) -> str:
    """Every step under its title, to be unfolded, and how many quantities it lacks."""
    parts: list[tuple[str, list[Block]]] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level == 3:
            parts.append((block.words, []))
        elif parts:
            parts[-1][1].append(block)
    details = []
    for title, inside in parts:
        lacks = trimming.missing.get(title.partition(". ")[2], 0)
        rest = (
            [
                paragraph(
                    f"… and {lacks} more quantities: too many for a page; {command} prints them "
                    f"all.",
                    quiet=True,
                )
            ]
            if lacks
            else []
        )
        shown = packing.text([*truncate_displays(inside, command), *rest])
        details.append(f"<details><summary>{escape(title)}</summary>{shown}</details>")
    return "".join(details)


def agreement(study: ReportData) -> str:
    """The table of principles with families and effort, the exactness statement, the audit."""
    return section(
        "agreement",
        "Agreement of the principles",
        HTML.text(result_blocks.agreement(study.agreement)),
    )
