"""The energies, powers and energy integrals of a system, to read."""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.algebra.formula import Rate, Symbol
from dalembert.algebra.printing.formula_layout import formula_text
from dalembert.integrals.energy_integrals import EnergyIntegral, EnergyIntegrals
from dalembert.report.blocks import Block, Display, FormulaSpan, Heading, Line, Span, TableBlock, VerdictSpan, words
from dalembert.report.writing import Writing

_WHY = (
    "𝒰 is what the generalized work of the loads with a potential leaves behind, Mit22 (19); Z collects what is neither in K₂ nor in 𝒰, "
    "Ż = σ_R − 𝒫_nonconservative, Mit22 (3). The table's conditions (Mit22 34.1) are sufficient; the verdict is decided by the derivative "
    "along every motion, so that an integral may be constant where the table's condition fails."
)
HEADINGS = ("integral", "", "what", "verdict", "table's condition")


def energy_integrals(found: EnergyIntegrals, writing: Writing) -> Iterator[Block]:
    """Every quantity of the chapter, the table of verdicts, what else is constant."""
    writing = writing.on(found.K2.tape)
    yield Heading(2, "Energies and powers")
    yield words(
        f"In the speeds {', '.join(found.speeds)}, on which K₂, K₁, K₀ and the verdicts depend where a velocity has a part without them."
        + " Energies are in J, powers in W." * found.has_units
    )
    yield from _quantities(found, writing)
    yield Heading(2, "Energy integrals")
    yield words(_WHY)
    yield TableBlock(HEADINGS, tuple(_row(v, writing) for v in found.verdicts))
    if found.potential_exists is False:
        yield words(f"There is no potential energy U: {found.why_no_potential}.")
    if found.generalized_potential_exists is False:
        yield words(f"There is no generalized potential energy 𝒰: {found.why_no_generalized_potential}.")
    for load in found.loads:
        yield words(f"{load}.")
    yield from _identities(found, writing)
    yield from _first(found, writing)


def _row(v: EnergyIntegral, writing: Writing) -> tuple[Span, ...]:
    verdict = v.statement if v.constant is False else VerdictSpan(v.statement, holds=v.constant)
    sufficient = {True: "holds", False: "does not hold", None: "undecided"}[v.sufficient]
    return writing.general(v.left), writing.general(v.formula), v.name, verdict, sufficient


def _quantities(found: EnergyIntegrals, writing: Writing) -> Iterator[Block]:
    rows = (
        (Symbol("K", ("2",)), found.K2),
        (Symbol("K", ("1",)), found.K1),
        (Symbol("K", ("0",)), found.K0),
        (Symbol("𝒰"), found.generalized_potential),
        (Symbol("σ", ("R",)), found.sigma_R),
        (Symbol("σ"), found.sigma),
        (Symbol("𝒫", ("nonconservative",)), found.nonconservative_power),
        (Rate(Symbol("Z")), found.Z_dot),
    )
    written, definitions = writing.scalars(found.K2.tape, [e.i for _, e in rows])
    yield Display(
        tuple(Line(w, left=(writing.general(name),)) for (name, _), w in zip(rows, map(FormulaSpan, written), strict=True)), definitions
    )


def _identities(found: EnergyIntegrals, writing: Writing) -> Iterator[Block]:
    failed = [formula_text(identity) for identity, holds in found.identities if holds is False]
    names = [span for identity, holds in found.identities if holds is not None for span in ("; ", writing.general(identity))][1:]
    yield words(VerdictSpan(f"FAILED: {'; '.join(failed)}" if failed else "On every motion, exactly:", holds=not failed), " ", *names, ".")
    if found.undecided:
        yield words(VerdictSpan(f"Undecided in part: {found.undecided}.", holds=None))
    elif found.bound:
        yield words(f"What is called constant is not with a probability below {found.bound:.0e}.")


def _first(found: EnergyIntegrals, writing: Writing) -> Iterator[Block]:
    new = [f for f in found.first if not f.is_H]
    if new:
        yield Heading(2, "First integrals")
        written, definitions = writing.scalars(new[0].expression.tape, [f.expression.i for f in new])
        lines = (Line(FormulaSpan(w), left=(f.name,), note=(f.why,)) for f, w in zip(new, written, strict=True))
        yield Display(tuple(lines), definitions)
