"""EI v⁗ + P v″ = 0: the compressive forces under which a straight member can be bent at rest.

Source: the field equation and the boundary conditions of Hamilton's extended principle, with P as the unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dalembert.flexible.member.boundary_problem import Problem
from dalembert.flexible.member.characteristic import CharacteristicEquation
from dalembert.flexible.member.shapes import ChebyshevShape, Shaped, save_shapes
from dalembert.flexible.member.small_motion import small_motion
from dalembert.flexible.member.values import heading
from dalembert.flexible.modes.natural_modes import checked_count, eigenmotions, eigenvalue_table
from dalembert.model.member import Member
from dalembert.model.system import System
from dalembert.notebook import Typeset

if TYPE_CHECKING:
    from os import PathLike


@dataclass(frozen=True)
class CriticalLoad(Shaped):
    """P at which the member buckles, its relative error bound, kL with k² = P/EI, and the shapes it buckles into."""

    force: float
    error: float
    fields: tuple[str, ...]
    wave_number: float | None
    shaped: Callable[[], dict[str, ChebyshevShape]] = field(repr=False, compare=False)


@dataclass(frozen=True)
class MemberBuckling(Typeset):
    """The critical compressive forces of a member, lowest first."""

    member: Member
    loads: tuple[CriticalLoad, ...]
    characteristic: tuple[CharacteristicEquation, ...]
    remarks: tuple[str, ...]

    @property
    def critical(self) -> float:
        """The lowest critical force."""
        return self.loads[0].force

    @property
    def forces(self) -> list[float]:
        """P₁, P₂, …"""
        return [load.force for load in self.loads]

    def __repr__(self) -> str:
        return f"MemberBuckling({self.member.name!r}: P = {', '.join(f'{load.force:.6g}' for load in self.loads)})"

    def __str__(self) -> str:
        title = heading(self.member, "critical compressive forces")
        rows = [(load.fields, load.force, load.wave_number) for load in self.loads]
        return eigenvalue_table(title, ("load", "of", "P", "kL"), rows, self.characteristic, self.remarks)

    def plot(self, path: str | PathLike[str]) -> None:
        """The shapes into which the member buckles, as an image."""
        bent = [(k, load) for k, load in enumerate(self.loads, 1) if load.shapes]
        named = [(f"{k}: P = {load.force:.6g}", load.shapes[load.fields[0]]) for k, load in bent]
        save_shapes(named, f"{self.member.name}: buckling", "shape", path)


def member_buckling(
    system: System, member: str | Member | None = None, count: int = 3, *, values: Mapping[Any, Any] | None = None
) -> MemberBuckling:
    """The lowest compressive forces under which a member buckles; they replace the tension it was declared with.

    The force keeps its direction, and the far end is free to approach the near one.
    """
    wanted = checked_count("critical loads", count)
    found: list[CriticalLoad] = []
    equations: list[CharacteristicEquation] = []
    remarks: list[str] = []
    for motion in small_motion(system, member, values=values, compressed=True):
        if motion.compression not in motion.symbols:
            # stretch and twist do not notice the force
            continue
        motions, equation, degree = eigenmotions(Problem(motion, "compression"), wanted)
        found += [CriticalLoad(e.value, e.error, motion.fields, wave, shaped) for e, wave, shaped in motions]
        equations += [] if equation is None else [equation]
        if degree:
            remarks.append(f"properties vary: polynomials of degree {degree}, the error is the change since the degree before")
    found.sort(key=lambda load: load.force)
    worst = max((load.error for load in found[:wanted]), default=0.0)
    remarks.insert(0, f"error of P: at most {worst:.0e} of its value; counting shows that none is missing")
    return MemberBuckling(motion.member, tuple(found[:wanted]), tuple(equations), tuple(dict.fromkeys(remarks)))
