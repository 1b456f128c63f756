"""What every principle returns: a derivation with its steps, its native form and the common form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from dalembert.algebra.formula import Formula
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.equations.chetaev import with_nonlinear_rows
from dalembert.equations.form import Equations, common_form
from dalembert.equations.reduction import contracted_with_W
from dalembert.errors import NotApplicable
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.model.system import System
from dalembert.notebook import Shown

Family = Literal["positions", "velocities", "accelerations", "kinetic energy", "momenta", "free bodies"]


@dataclass(frozen=True)
class Principle:
    """A classical principle: its name, what it says, where it is printed, and the route it takes."""

    name: str
    title: str
    statement: str
    source: str
    family: Family
    # Bar00 table 1: by vectors or by scalar functions, in the rates q̇ or in the speeds u
    approach: Literal["vector", "scalar", "both"]
    variables: Literal["q̇", "u", "q, p"]
    # what it says, in words
    why: str = ""


@dataclass(frozen=True)
class Matrix:
    """Entries in rows, and what the rows and the columns belong to."""

    rows: tuple[tuple[int, ...], ...]
    down: tuple[str, ...]
    across: tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """One quantity of a step: what it is called, as a formula or in words, what it is for this system, and which body or point has it."""

    label: str | Formula
    value: int | Vector | str | Matrix
    of: str = ""


def items(names: Iterable[str], values: Iterable[int | Vector | str]) -> tuple[Item, ...]:
    """Named quantities."""
    return tuple(Item(name, value) for name, value in zip(names, values, strict=True))


@dataclass(frozen=True)
class Step:
    """One step of a derivation: the formula in general, the same for this system, its source, and why it is taken."""

    title: str
    formula: str | Formula
    items: tuple[Item, ...]
    source: str = ""
    why: str = ""
    # many of its quantities vanish, and those need not be shown
    sparse: bool = False


@dataclass(frozen=True)
class NativeForm:
    """The equations as the principle itself gives them: residuals = 0, linear in the unknowns.

    `along` says what they are projected on: the speeds u (unknown u̇) or the coordinates q (unknown q̈ and λ).
    """

    along: Literal["u", "q"]
    residuals: tuple[int, ...]
    accelerations: tuple[int, ...]
    multipliers: tuple[int, ...] = ()
    # the equations as the book prints them, where they are not the residuals themselves
    printed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Derivation(Shown):
    """A principle applied to a system."""

    principle: Principle
    kinematics: Kinematics = field(repr=False)
    steps: tuple[Step, ...] = field(repr=False)
    native: NativeForm = field(repr=False)

    @property
    def tape(self) -> Tape:
        """The tape this derivation was written on."""
        return self.kinematics.tape

    @cached_property
    def equations(self) -> Equations:
        """The common form M u̇ = f, q̇ = W u + X."""
        native = self.native
        if native.along == "u":
            residuals = list(native.residuals)
        else:
            contracted = contracted_with_W(self.kinematics, native.residuals, native.multipliers)
            residuals = with_nonlinear_rows(self.kinematics, contracted)
        return common_form(self.kinematics, residuals)

    def scalar(self, i: int) -> Scalar:
        """A node of this derivation as an expression."""
        return Scalar(self.tape, i)

    def __str__(self) -> str:
        return f"{self.principle.title}\n{self.equations}"

    def _repr_latex_(self) -> str:
        return self.equations._repr_latex_()


Derive = Callable[[Kinematics], Derivation]


def on_fork(system: System | Kinematics, *, nonlinear: bool = False) -> Kinematics:
    """A kinematics of its own for one derivation; `nonlinear` where the principle has a place for rows not linear in the rates."""
    kin = (system if isinstance(system, Kinematics) else kinematics(system)).fork()
    if kin.nonlinear and not nonlinear:
        which = " and ".join(repr(row.name) for row in kin.nonlinear)
        msg = f"{which} is not linear in the velocities, as its virtual displacements must be"
        raise NotApplicable(msg)
    return kin


def chetaev_step(kin: Kinematics) -> tuple[Step, ...]:
    """What is assumed of rows that are not linear in the velocities; nothing where there are none."""
    if not kin.nonlinear:
        return ()
    rows = [Item(row.name, row.nonlinear) for row in kin.nonlinear if row.nonlinear is not None]
    slopes = [Item(f"∂φ_{j}/∂{kin.name(kin.qdot[k])}", a) for j, row in enumerate(kin.nonlinear, 1) for k, a in row.A.items()]
    why = (
        "An assumption, for nothing else says which displacements such a row allows: those with ∂φ/∂q̇·δq = 0 (Chetaev), so that the"
        " reaction is Aᵀλ. Where φ is linear in the velocities this is the usual rule."
    )
    after = "The row holds at every instant, so its rate vanishes too; that is linear in the accelerations."
    return (
        Step("Rows nonlinear in the velocities", "φ(q, q̇, t) = 0", tuple(rows), "NF72", why),
        Step("Their slopes", "A = ∂φ/∂q̇, with A q̈ + (∂φ/∂q)·q̇ + ∂φ/∂t = 0 beside the equations", tuple(slopes), "NF72", after),
    )
