"""Hybrid equations as lines of text or LaTeX: what a program or a notebook shows of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dalembert.algebra.printing import equation, readable
from dalembert.algebra.printing.latex_notation import Latex, escaped
from dalembert.algebra.printing.layout import Naming, Printer, naming
from dalembert.algebra.printing.names import base, field
from dalembert.algebra.printing.notation import Text
from dalembert.algebra.printing.tree import Sides, Tree
from dalembert.algebra.printing.zform import equation_with_intermediates
from dalembert.flexible.hybrid.integrals import integral_naming

if TYPE_CHECKING:
    from dalembert.flexible.hybrid.equations import BoundaryCondition, HybridEquations


def plain(h: HybridEquations) -> str:
    """All equations in Unicode, one on each line."""
    return "\n".join([h.principle.title, *(f"  {Text()(line)}    [{note}]" for line, note in lines(h))])


def latex(h: HybridEquations) -> str:
    """All equations as one aligned display."""
    found = [f"& {Latex()(line)} && \\text{{{escaped(note)}}}" for line, note in lines(h)]
    return "$$\\begin{aligned}\n" + " \\\\\n".join(found) + "\n\\end{aligned}$$"


def lines(h: HybridEquations) -> Iterator[tuple[Tree, str]]:
    """(equation, what it is about)"""
    symbol = integral_naming(h.tape, h.integrals)
    for o in h.ordinary:
        yield written(h, o.residual, own_first(h, o.name), symbol), f"along {Text()(symbol(o.name))}"
    for p in h.partial:
        yield written(h, p.residual, second(h, p.member, p.field), symbol), inside(h, p.member, p.field)
    for b in h.boundary:
        yield written(h, b.residual, (), symbol), condition(h, b)


def own_first(h: HybridEquations, name: str) -> tuple[int, ...]:
    """The accelerations of the rigid variables, the equation's own before the others."""
    place = [o.name for o in h.ordinary].index(name)
    return (h.accelerations[place], *h.accelerations[:place], *h.accelerations[place + 1 :])


def inside(h: HybridEquations, member: str, field: str) -> str:
    """Where a field equation holds."""
    c = h.continua[member]
    what = Text()(naming(h.tape)(field))
    return f"{what}(x, t), 0 < x < {c.places[2].label}" + (f", {member}" if len(h.continua) > 1 else "")


def condition(h: HybridEquations, b: BoundaryCondition) -> str:
    """What kind of condition it is, and where."""
    place = h.continua[b.member].places[1 + b.end].label
    return f"{b.kind}, x = {place}" + (f", {b.member}" if len(h.continua) > 1 else "")


def second(h: HybridEquations, member: str, field: str) -> tuple[int, ...]:
    """The field's own acceleration first, then those of the rigid variables."""
    fields = h.continua[member].fields
    others = [fields.symbol(name, 0, 2) for name in fields.names if name != field]
    return (fields.symbol(field, 0, 2), *others, *h.accelerations)


def written(h: HybridEquations, residual: int, unknowns: Sequence[int], symbol: Naming) -> Tree:
    """residual = 0, accelerations first, everything that moves on the left."""
    tape = h.tape
    form = readable(tape, residual)
    if form is None:
        return equation_with_intermediates(tape, residual, symbol=symbol)
    fields = {name for c in h.continua.values() for name in c.fields.names}
    flexible = [name for name in form.symbols() if name.startswith("∫") or base(field(name)[0]) in fields]
    sides, ranking = equation(form, tape, [str(tape.nodes[i][1]) for i in unknowns], flexible)
    printer = Printer(symbol, ranking)
    return Sides(printer.form(sides.left), printer.form(sides.right))
