"""Hybrid equations to read: the principle, its steps, ordinary and partial differential equations, conditions at the ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dalembert.algebra.printing.tree import Prose, Tree
from dalembert.flexible.hybrid.equations import HybridEquations
from dalembert.flexible.hybrid.integrals import integral_naming
from dalembert.flexible.hybrid.reading import condition, inside, own_first, written
from dalembert.flexible.hybrid.reading import second as accelerations_of
from dalembert.geometry.vector import Vector
from dalembert.principles.base import Item, Step
from dalembert.report.blocks import Block, Display, FormulaSpan, Heading, Line, words
from dalembert.report.labels import label
from dalembert.report.steps import is_zero
from dalembert.report.writing import Writing, along_axes, components


def hybrid(h: HybridEquations, writing: Writing, *, steps: bool = False) -> Iterator[Block]:
    """The principle, its steps if asked for, and the hybrid set."""
    writing = _knowing(h, writing)
    yield Heading(2, h.principle.title)
    yield words(writing.general(h.principle.statement), f"  [{h.principle.source}]")
    shown = [step for step in h.steps if step.items] if steps else []
    for number, step in enumerate(shown, 1):
        yield Heading(3, f"{number}. {step.title}")
        yield words(writing.general(step.formula), f"  [{step.source}]" * bool(step.source), quiet=True)
        if step.why:
            yield words(step.why)
        yield _quantities(h, step, writing)
    yield from _result(h, writing)
    for remark in h.remarks:
        yield words(remark, quiet=True)


def _knowing(h: HybridEquations, writing: Writing) -> Writing:
    """The same writing, which now knows integrals and the names of this derivation."""
    return replace(writing, naming=integral_naming(h.tape, h.integrals))


def _quantities(h: HybridEquations, step: Step, writing: Writing) -> Display:
    nodes = [i for item in step.items for i in _nodes(item)]
    results, definitions = writing.scalars(h.tape, nodes)
    following = iter(results)
    lines = []
    for item in step.items:
        found = [next(following) for _ in _nodes(item)]
        if isinstance(item.value, Vector):
            entries = [(F, axis, w) for (F, axis, _), w in zip(components(item.value), found, strict=True)]
            right = along_axes(entries)
        else:
            right = found[0] if found else Prose(str(item.value))
        lines.append(
            Line(FormulaSpan(right), label(item.label, writing, h.tape.names, item.of), sign=":" if is_zero(step.formula) else "=")
        )
    return Display(tuple(lines), definitions)


def _nodes(item: Item) -> list[int]:
    if isinstance(item.value, Vector):
        return [c for _, _, c in components(item.value)]
    return [item.value] if isinstance(item.value, int) else []


def _result(h: HybridEquations, writing: Writing) -> Iterator[Block]:
    if h.ordinary:
        yield Heading(3, f"Ordinary differential equations, along the {'speeds' if h.along == 'u' else 'coordinates'}")
        yield Display(
            tuple(
                Line(FormulaSpan(_line(h, o.residual, own_first(h, o.name), writing)), note=("along ", writing.symbol(o.name)))
                for o in h.ordinary
            )
        )
    yield Heading(3, "Partial differential equations" if len(h.partial) > 1 else "Partial differential equation")
    yield Display(
        tuple(
            Line(FormulaSpan(_line(h, p.residual, accelerations_of(h, p.member, p.field), writing)), note=(inside(h, p.member, p.field),))
            for p in h.partial
        )
    )
    yield Heading(3, "Boundary conditions")
    yield Display(tuple(Line(FormulaSpan(_line(h, b.residual, (), writing)), note=(condition(h, b),)) for b in h.boundary))


def _line(h: HybridEquations, residual: int, unknowns: Sequence[int], writing: Writing) -> Tree:
    return written(h, residual, unknowns, writing.naming)
