"""A derivation to read: the principle in general, each step for this system, the equations it ends in.

The explanation is the computation: what is shown are the steps the principle recorded, in whatever notation is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dalembert.geometry.vector import Vector
from dalembert.principles.base import Derivation, Item, Step
from dalembert.report.blocks import Block, Display, Formula, Heading, Line, Span, words
from dalembert.report.writing import Writing, components

# v_r = ∂v/∂u_r: a step about partial velocities
_PARTIAL: Final = re.compile(r"∂(\w)/∂\w_r$")
# Q_k = …: a step with one quantity for each coordinate
_INDEXED: Final = re.compile(r"(\w+)_[ki](?: =|$)")

Shown = dict[Display, str]


def derivation(d: Derivation, writing: Writing, *, steps: bool = False, shown: Shown | None = None) -> Iterator[Block]:
    """The principle, its steps if asked for, and the equations of motion.

    `shown` remembers equations and by which principle they were shown first, so that they are not repeated.
    """
    shown = {} if shown is None else shown
    yield Heading(2, d.principle.title)
    yield words(writing.general(d.principle.statement), f"  [{d.principle.source}]")
    parts = [list(_step(step, d, writing)) for step in d.steps if step.items] if steps else []
    own = list(_own_form(d, writing, steps=steps))
    parts += [own] if own else []
    parts.append(list(_result(d, writing, reduced=bool(own))))
    for number, (title, *rest) in enumerate(parts, 1):
        if isinstance(title, Heading) and len(parts) > 1:
            yield Heading(title.level, f"{number}. {title.words}") if steps else title
        yield from (_once(block, d, shown) if number >= len(parts) - bool(own) else block for block in rest)


def _once(block: Block, d: Derivation, shown: Shown) -> Block:
    if not isinstance(block, Display):
        return block
    first = shown.setdefault(block, d.principle.title)
    return block if first == d.principle.title else words(f"The same as by {first}.")


# ---- steps -----------------------------------------------------------------------------------


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
        right = _right(item, [next(following) for _ in _nodes(item)], writing)
        line = _line(step, item, right, d, writing)
        if lines and line.left and line.sign == "=" and line.right == lines[-1].right == Formula("0"):
            line = Line(line.right, (*lines.pop().left, Formula(" = "), *line.left))
        # a speed that is itself a rate needs no line
        if line.left[:1] != (line.right,):
            lines.append(line)
    return tuple(lines) or (Line(writing.general("u = q̇")),), definitions


def _line(step: Step, item: Item, right: Formula | str, d: Derivation, writing: Writing) -> Line:
    names = d.tape.names
    if step.formula.endswith("= 0") and isinstance(right, Formula):
        about = ("along ", writing.symbol(item.label)) if item.label in names else (item.label,) * (not item.label.isdigit())
        return Line(Formula(f"{right.written} = 0"), note=about)
    place, comma, variable = item.label.partition(", ")
    partial = _PARTIAL.search(step.formula)
    if partial and comma:
        return Line(right, (writing.partial(partial[1], variable), f" of {_owner(d, place)}"))
    if item.label in [d.kinematics.name(q) for q in d.kinematics.q]:
        indexed = _INDEXED.match(step.formula)
        if not indexed:
            return Line(right, ("along ", writing.symbol(item.label)), sign=":")
        return Line(right, writing.label(f"{indexed[1]}_{item.label}", names))
    return Line(right, writing.label(item.label, names))


def _owner(d: Derivation, place: str) -> str:
    """The body that a mass centre or a frame belongs to."""
    owners = [b.name for b in d.kinematics.system.bodies if place == b.G.name or (b.frame is not None and place == b.frame.name)]
    return owners[0] if owners else place


def _nodes(item: Item) -> list[int]:
    if isinstance(item.value, Vector):
        return [c for _, _, c in components(item.value)]
    return [item.value] if isinstance(item.value, int) else []


def _right(item: Item, written: list[str], writing: Writing) -> Formula | str:
    if isinstance(item.value, Vector):
        axes = [(F, axis) for F, axis, _ in components(item.value)]
        return Formula(writing.along_axes((F, axis, w) for (F, axis), w in zip(axes, written, strict=True)))
    return Formula(written[0]) if isinstance(item.value, int) else item.value


# ---- equations -------------------------------------------------------------------------------


def _own_form(d: Derivation, writing: Writing, *, steps: bool) -> Iterator[Block]:
    """The equations as the principle itself gives them, where that is not yet the common form."""
    native, kin = d.native, d.kinematics
    if native.printed:
        values = {item.value for step in d.steps for item in step.items if isinstance(item.value, int)}
        if not steps or not values.issuperset(native.printed):
            yield Heading(3, "As the principle gives them")
            yield writing.equations(d.tape, native.printed, (*kin.qddot, *kin.udot), (*kin.qdot, *kin.u))
    elif native.along == "q" and native.residuals != d.equations.residuals:
        yield Heading(3, "Along the coordinates" + ", with a multiplier for each constraint row" * bool(native.multipliers))
        yield writing.equations(d.tape, native.residuals, native.accelerations, kin.qdot)


def _result(d: Derivation, writing: Writing, *, reduced: bool) -> Iterator[Block]:
    """M u̇ = f"""
    e, native = d.equations, d.native
    yield Heading(3, "Equations of motion in the independent speeds" if reduced else "Equations of motion")
    if reduced and native.along == "q":
        gone = (writing.general("Wᵀ Aᵀ = 0"), " removes the multipliers, ") if native.multipliers else ()
        yield words("multiplied by ", writing.general("Wᵀ"), "; ", *gone, writing.general("q̇ = W u + X"), quiet=True)
    yield writing.equations(e.tape, e.residuals, e.udot, e.u)


def rates(d: Derivation, writing: Writing) -> Iterator[Block]:
    """q̇ = W u + X, where it says more than that each speed is a rate."""
    kin = d.kinematics
    pairs = [(x, e) for x, e in zip(kin.qdot, kin.qdot_of_u, strict=True) if x != e]
    if not pairs:
        yield words("The speeds are the rates of the coordinates, ", writing.general("u = q̇"), ".")
        return
    written, definitions = writing.scalars(d.tape, [e for _, e in pairs])
    lefts: list[tuple[Span, ...]] = [(writing.symbol(kin.name(x)),) for x, _ in pairs]
    yield words("Speeds u: ", *writing.listed(kin.name(u) for u in kin.u), ". Rates ", writing.general("q̇ = W u + X"), ":")
    yield Display(tuple(Line(Formula(w), left) for left, w in zip(lefts, written, strict=True)), definitions)
