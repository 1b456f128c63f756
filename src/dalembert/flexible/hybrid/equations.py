"""What Hamilton's extended principle ends in: ordinary and partial differential equations, and conditions at the ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from dalembert.algebra.tape import Tape
from dalembert.flexible.hybrid.continuum import Continuum
from dalembert.flexible.hybrid.integrals import Integral
from dalembert.flexible.hybrid.variation import Variation
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.quantity import Quantity
from dalembert.notebook import Shown
from dalembert.principles.base import Principle, Step, steps_of


@dataclass(frozen=True)
class OrdinaryEquation:
    """outside + Σ ∫ inside dx = 0, one for each rigid variable."""

    name: str
    outside: int
    # by the name of the member
    inside: dict[str, int]
    # both together, with integrals as symbols
    residual: int


@dataclass(frozen=True)
class FieldEquation:
    """residual(x, t) = 0 for 0 < x < length, one for each field."""

    member: str
    field: str
    residual: int


@dataclass(frozen=True)
class BoundaryCondition(Shown):
    """residual(t) = 0 at one end, from the variation of a field or of one of its derivatives there."""

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
    """Ordinary equations for the rigid variables, partial ones for the fields, and the conditions at the ends."""

    principle: Principle
    kinematics: Kinematics = field(repr=False)
    told: tuple[Quantity | Step, ...] = field(repr=False, compare=False)
    along: Literal["q", "u"]
    ordinary: tuple[OrdinaryEquation, ...]
    partial: tuple[FieldEquation, ...]
    boundary: tuple[BoundaryCondition, ...]
    continua: dict[str, Continuum] = field(repr=False)
    accelerations: tuple[int, ...] = field(repr=False, default=())
    # what multiplies the variations at a section of each member: shear force, bending moment
    sections: dict[str, dict[Variation, int]] = field(repr=False, default_factory=dict)
    # what deserves a second look
    remarks: tuple[str, ...] = ()

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every quantity that is told, for this system."""
        return steps_of(self.kinematics, self.told)

    @property
    def tape(self) -> Tape:
        """The tape this derivation was written on."""
        return self.kinematics.tape

    @property
    def integrals(self) -> dict[str, Integral]:
        """Every integral that occurs, by the name of its symbol."""
        return {name: found for c in self.continua.values() for name, found in c.integrals.found.items()}

    def at(self, member: str, end: Literal[0, 1]) -> tuple[BoundaryCondition, ...]:
        """The conditions at one end of a member."""
        return tuple(b for b in self.boundary if b.member == member and b.end == end)

    def __repr__(self) -> str:
        counts = f"{len(self.ordinary)} ordinary, {len(self.partial)} partial, {len(self.boundary)} conditions"
        return f"HybridEquations({self.kinematics.system.name!r}: {counts})"

    def __str__(self) -> str:
        from dalembert.flexible.hybrid.reading import plain

        return plain(self)

    def _repr_latex_(self) -> str:
        from dalembert.flexible.hybrid.reading import latex

        return latex(self)
