"""Hybrid equations to read: the principle, its steps, ordinary and partial differential
equations, conditions at the ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from dalembert.analysis.flexible.hybrid.field_variation import integral_naming
from dalembert.analysis.flexible.hybrid.hybrid_equations import (
    HybridEquations,
    OrdinaryEquation,
    condition_text,
    domain_text,
    equation_tree,
    ordered_accelerations,
)
from dalembert.analysis.flexible.hybrid.hybrid_equations import (
    ordered_field_accelerations as accelerations_of,
)
from dalembert.interface.report.derivation_steps import quantities
from dalembert.interface.report.document_blocks import (
    Block,
    Display,
    FormulaSpan,
    Heading,
    Line,
    paragraph,
)
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.symbolic.algebra.printing.print_tree import Tree


def hybrid(h: HybridEquations, writing: FormulaWriter, *, steps: bool = False) -> Iterator[Block]:
    """The principle, its steps if asked for, and the hybrid set."""
    writing = _with_integral_names(h, writing)
    yield Heading(2, h.principle.title)
    yield paragraph(writing.general_formula(h.principle.statement), f"  [{h.principle.source}]")
    # several quantities of one kind share a heading
    shown = groupby(h.steps if steps else (), key=lambda step: (step.title, step.why))
    for number, ((title, why), alike) in enumerate(shown, 1):
        yield Heading(3, f"{number}. {title}")
        if why:
            yield paragraph(why)
        for step in alike:
            yield from quantities(step, h, writing)
    yield from _result(h, writing)
    for remark in h.notes:
        yield paragraph(remark, quiet=True)


def _with_integral_names(h: HybridEquations, writing: FormulaWriter) -> FormulaWriter:
    """The same writing, which now knows integrals and the names of this derivation."""
    return replace(writing, naming=integral_naming(h.tape, h.integrals))


def _result(h: HybridEquations, writing: FormulaWriter) -> Iterator[Block]:
    if h.ordinary:
        along = "speeds" if h.along == "u" else "coordinates"
        yield Heading(3, f"Ordinary differential equations, along the {along}")
        yield Display(tuple(_ordinary_line(h, o, writing) for o in h.ordinary))
    yield Heading(
        3,
        "Partial differential equations" if len(h.partial) > 1 else "Partial differential equation",
    )
    yield Display(
        tuple(
            Line(
                FormulaSpan(_line(h, p.residual, accelerations_of(h, p.member, p.field), writing)),
                note=(domain_text(h, p.member, p.field),),
            )
            for p in h.partial
        )
    )
    yield Heading(3, "Boundary conditions")
    yield Display(
        tuple(
            Line(FormulaSpan(_line(h, b.residual, (), writing)), note=(condition_text(h, b),))
            for b in h.boundary
        )
    )


def _ordinary_line(h: HybridEquations, o: OrdinaryEquation, writing: FormulaWriter) -> Line:
    formula = _line(h, o.residual, ordered_accelerations(h, o.name), writing)
    return Line(FormulaSpan(formula), note=("along ", writing.symbol(o.name)))


def _line(
    h: HybridEquations, residual: int, unknowns: Sequence[int], writing: FormulaWriter
) -> Tree:
    return equation_tree(h, residual, unknowns, writing.naming)
