"""A derivation to read: the principle in general, each step for this system, the equations it ends in.

The explanation is the computation: what is shown are the steps the principle recorded, in whatever notation is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dalembert.geometry.vector import Vector
from dalembert.principles.base import Derivation, Item, Step
from dalembert.report.blocks import Block, Display, Formula, Heading, Line, Span, words
from dalembert.report.writing import Writing, components


def derivation(d: Derivation, writing: Writing, *, steps: bool = False) -> Iterator[Block]:
    """The principle, its steps if asked for, and the equations of motion."""
    yield Heading(2, d.principle.title)
    yield words(writing.general(d.principle.statement), f"  [{d.principle.source}]")
    parts = [list(_step(step, d, writing)) for step in d.steps if step.items] if steps else []
    along_q = d.native.along == "q" and d.native.residuals != d.equations.residuals
    if along_q:
        parts.append(list(_native(d, writing)))
    parts.append(list(_result(d, writing, reduced=along_q)))
    for number, (title, *rest) in enumerate(parts, 1):
        if steps and isinstance(title, Heading):
            yield Heading(title.level, f"{number}. {title.words}")
        elif len(parts) > 1:
            yield title
        yield from rest


def _step(step: Step, d: Derivation, writing: Writing) -> Iterator[Block]:
    yield Heading(3, step.title)
    yield words(writing.general(step.formula), f"  [{step.source}]" * bool(step.source), quiet=True)
    yield Display(*_lines(step, d, writing))


def _lines(step: Step, d: Derivation, writing: Writing) -> tuple[tuple[Line, ...], tuple[str, ...]]:
    """Every quantity of a step; what is too long to be read shares its intermediates, zeros share a line."""
    written, definitions = writing.scalars(d.tape, [i for item in step.items for i in _nodes(item)])
    following = iter(written)
    lines: list[Line] = []
    for item in step.items:
        line = _line(step, item, [next(following) for _ in _nodes(item)], writing)
        if lines and line.left and line.right == lines[-1].right == Formula("0"):
            line = Line(line.right, (*lines.pop().left, Formula(" = "), *line.left))
        # a speed that is itself a rate needs no line
        if line.left != (line.right,):
            lines.append(line)
    return tuple(lines) or (Line(writing.general("u = q̇")),), definitions


def _line(step: Step, item: Item, written: list[str], writing: Writing) -> Line:
    right = _right(item, written, writing)
    if step.formula.endswith("= 0") and isinstance(right, Formula):
        return Line(Formula(f"{right.written} = 0"), note=item.label)
    partial = re.search(r"∂(\w)/∂\w_r$", step.formula)
    place, comma, variable = item.label.partition(", ")
    if partial and comma:
        return Line(right, writing.partial(partial[1], place, variable))
    return Line(right, writing.label(item.label))


def _nodes(item: Item) -> list[int]:
    if isinstance(item.value, Vector):
        return [c for _, _, c in components(item.value)]
    return [item.value] if isinstance(item.value, int) else []


def _right(item: Item, written: list[str], writing: Writing) -> Formula | str:
    if isinstance(item.value, Vector):
        axes = [(F, axis) for F, axis, _ in components(item.value)]
        return Formula(writing.along_axes((F, axis, w) for (F, axis), w in zip(axes, written, strict=True)))
    return Formula(written[0]) if isinstance(item.value, int) else item.value


def _native(d: Derivation, writing: Writing) -> Iterator[Block]:
    """The equations as the principle itself gives them, one per coordinate."""
    native = d.native
    yield Heading(3, "Along the coordinates" + ", with a multiplier for each constraint row" * bool(native.multipliers))
    yield writing.equations(d.tape, native.residuals, native.accelerations, d.kinematics.qdot)


def _result(d: Derivation, writing: Writing, *, reduced: bool) -> Iterator[Block]:
    """M u̇ = f"""
    e = d.equations
    yield Heading(3, "Equations of motion in the independent speeds" if reduced else "Equations of motion")
    if reduced and d.native.multipliers:
        removed = (writing.general("Wᵀ Aᵀ = 0"), " removes the multipliers, ")
        yield words("multiplied by ", writing.general("Wᵀ"), "; ", *removed, writing.general("q̇ = W u + X"), quiet=True)
    elif reduced:
        yield words("multiplied by ", writing.general("Wᵀ"), ", with ", writing.general("q̇ = W u + X"), quiet=True)
    yield writing.equations(e.tape, e.residuals, e.udot, e.u)


def rates(d: Derivation, writing: Writing) -> Iterator[Block]:
    """q̇ = W u + X, where it says more than that each speed is a rate."""
    kin = d.kinematics
    pairs = [(x, e) for x, e in zip(kin.qdot, kin.qdot_of_u, strict=True) if x != e]
    if not pairs:
        yield words("The speeds are the rates of the coordinates, ", writing.general("u = q̇"), ".")
        return
    written, definitions = writing.scalars(d.tape, [e for _, e in pairs])
    yield words("Speeds u: ", *writing.listed(kin.name(u) for u in kin.u), ". Rates ", writing.general("q̇ = W u + X"), ":")
    yield Display(tuple(Line(Formula(w), _left(writing, kin.name(x))) for (x, _), w in zip(pairs, written, strict=True)), definitions)


def _left(writing: Writing, name: str) -> tuple[Span, ...]:
    return (writing.symbol(name),)
