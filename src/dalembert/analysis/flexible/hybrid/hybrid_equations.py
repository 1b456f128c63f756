"""What Hamilton's extended principle ends in: ordinary and partial differential equations, and
conditions at the ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import Literal

from dalembert.analysis.flexible.hybrid.energy_densities import Continuum
from dalembert.analysis.flexible.hybrid.field_variation import Integral, Variation, integral_naming
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.principles.derivation import Principle, Step, steps_of
from dalembert.symbolic.algebra.printing import equation, readable_form, symbol_names
from dalembert.symbolic.algebra.printing.common_subexpressions import equation_with_intermediates
from dalembert.symbolic.algebra.printing.latex_notation import Latex, escape
from dalembert.symbolic.algebra.printing.print_tree import Equality, Tree
from dalembert.symbolic.algebra.printing.term_layout import Naming, Printer, symbol_namer
from dalembert.symbolic.algebra.printing.unicode_notation import Text
from dalembert.symbolic.algebra.tape import Tape, base_name


@dataclass(frozen=True)
class OrdinaryEquation:
    """outside + Σ ∫ inside dx = 0, one for each rigid variable."""

    name: str
    rigid_part: int
    # by the name of the member
    integrands: dict[str, int]
    # both together, with integrals as symbols
    residual: int


@dataclass(frozen=True)
class FieldEquation:
    """residual(x, t) = 0 for 0 < x < length, one for each field."""

    member: str
    field: str
    residual: int


@dataclass(frozen=True)
class BoundaryCondition(Displayable):
    """residual(t) = 0 at one end, from the variation of a field or of one of its derivatives
    there.
    """

    member: str
    field: str
    order: int
    end: Literal[0, 1]
    kind: Literal["geometric", "natural"]
    residual: int

    def __str__(self) -> str:
        primes, end = "'" * self.order, "far" if self.end else "near"
        return f"{self.kind} condition on {self.field}{primes} at the {end} end of {self.member}"


@dataclass(frozen=True)
class HybridEquations:
    """Ordinary equations for the rigid variables, partial ones for the fields, and the
    conditions at the ends.
    """

    principle: Principle
    kinematics: Kinematics = field(repr=False)
    quantities: tuple[Quantity | Step, ...] = field(repr=False, compare=False)
    along: Literal["q", "u"]
    ordinary: tuple[OrdinaryEquation, ...]
    partial: tuple[FieldEquation, ...]
    boundary: tuple[BoundaryCondition, ...]
    continua: dict[str, Continuum] = field(repr=False)
    accelerations: tuple[int, ...] = field(repr=False, default=())
    # what multiplies the variations at a section of each member: shear force, bending moment
    sections: dict[str, dict[Variation, int]] = field(repr=False, default_factory=dict)
    # what deserves a second look
    notes: tuple[str, ...] = ()

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every quantity of the derivation, for this system."""
        return steps_of(self.kinematics, self.quantities)

    @property
    def tape(self) -> Tape:
        """The tape this derivation was written on."""
        return self.kinematics.tape

    @property
    def integrals(self) -> dict[str, Integral]:
        """Every integral that occurs, by the name of its symbol."""
        return {
            name: found
            for c in self.continua.values()
            for name, found in c.integrals.by_name.items()
        }

    def at(self, member: str, end: Literal[0, 1]) -> tuple[BoundaryCondition, ...]:
        """The conditions at one end of a member."""
        return tuple(b for b in self.boundary if b.member == member and b.end == end)

    def __repr__(self) -> str:
        counts = (
            f"{len(self.ordinary)} ordinary, {len(self.partial)} partial, "
            f"{len(self.boundary)} conditions"
        )
        return f"HybridEquations({self.kinematics.system.name!r}: {counts})"

    def __str__(self) -> str:
        return "\n".join(
            [
                self.principle.title,
                *(f"  {Text()(line)}    [{note}]" for line, note in self._lines()),
            ]
        )

    def _repr_latex_(self) -> str:
        lines = [f"& {Latex()(line)} && \\text{{{escape(note)}}}" for line, note in self._lines()]
        return "$$\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}$$"

    def _lines(self) -> Iterator[tuple[Tree, str]]:
        """(equation, what it is about)"""
        symbol = integral_naming(self.tape, self.integrals)
        for o in self.ordinary:
            yield (
                equation_tree(self, o.residual, ordered_accelerations(self, o.name), symbol),
                f"along {Text()(symbol(o.name))}",
            )
        for p in self.partial:
            yield (
                equation_tree(
                    self, p.residual, ordered_field_accelerations(self, p.member, p.field), symbol
                ),
                domain_text(self, p.member, p.field),
            )
        for b in self.boundary:
            yield equation_tree(self, b.residual, (), symbol), condition_text(self, b)


# ---- how they are written ------------------------------------------------------------------------


def ordered_accelerations(h: HybridEquations, name: str) -> tuple[int, ...]:
    """The accelerations of the rigid variables, the equation's own before the others."""
    place = [o.name for o in h.ordinary].index(name)
    return (h.accelerations[place], *h.accelerations[:place], *h.accelerations[place + 1 :])


def domain_text(h: HybridEquations, member: str, field: str) -> str:
    """Where a field equation holds."""
    c = h.continua[member]
    what = Text()(symbol_namer(h.tape)(field))
    return f"{what}(x, t), 0 < x < {c.stations[2].label}" + (
        f", {member}" if len(h.continua) > 1 else ""
    )


def condition_text(h: HybridEquations, b: BoundaryCondition) -> str:
    """What kind of condition it is, and where."""
    place = h.continua[b.member].stations[1 + b.end].label
    return f"{b.kind}, x = {place}" + (f", {b.member}" if len(h.continua) > 1 else "")


def ordered_field_accelerations(h: HybridEquations, member: str, field: str) -> tuple[int, ...]:
    """The field's own acceleration first, then those of the rigid variables."""
    fields = h.continua[member].fields
    others = [fields.symbol(name, 0, 2) for name in fields.names if name != field]
    return (fields.symbol(field, 0, 2), *others, *h.accelerations)


def equation_tree(
    h: HybridEquations, residual: int, unknowns: Sequence[int], symbol: Naming
) -> Tree:
    """residual = 0, accelerations first, everything that moves on the left."""
    tape = h.tape
    form = readable_form(tape, residual)
    if form is None:
        return equation_with_intermediates(tape, residual, symbol=symbol)
    fields = {name for c in h.continua.values() for name in c.fields.names}
    flexible = [
        name
        for name in form.symbols()
        if name.startswith("∫") or base_name(symbol_names.field(name)[0]) in fields
    ]
    sides, ranking = equation(form, tape, [str(tape.nodes[i][1]) for i in unknowns], flexible)
    printer = Printer(symbol, ranking)
    return Equality(printer.form(sides.left), printer.form(sides.right))
