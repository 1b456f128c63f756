"""What every principle returns: a derivation with its steps, its native form and the common form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.equations.form import Equations, common_form
from dalembert.equations.reduction import contracted_with_W
from dalembert.geometry.vector import Vector
from dalembert.kinematics.kinematics import Kinematics, kinematics
from dalembert.model.system import System

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


@dataclass(frozen=True)
class Item:
    """One quantity of a step: what it is called and what it is for this system."""

    label: str
    value: int | Vector | str


def items(names: Iterable[str], values: Iterable[int | Vector | str]) -> tuple[Item, ...]:
    """Named quantities."""
    return tuple(Item(name, value) for name, value in zip(names, values, strict=True))


@dataclass(frozen=True)
class Step:
    """One step of a derivation: the formula in general, the same for this system, and its source."""

    title: str
    formula: str
    items: tuple[Item, ...]
    source: str = ""


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
class Derivation:
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
            residuals = contracted_with_W(self.kinematics, native.residuals, native.multipliers)
        return common_form(self.kinematics, residuals)

    def scalar(self, i: int) -> Scalar:
        """A node of this derivation as an expression."""
        return Scalar(self.tape, i)

    def __str__(self) -> str:
        return f"{self.principle.title}\n{self.equations}"

    def _repr_latex_(self) -> str:
        return self.equations._repr_latex_()


Derive = Callable[[Kinematics], Derivation]


def on_fork(system: System | Kinematics) -> Kinematics:
    """A kinematics of its own for one derivation."""
    return (system if isinstance(system, Kinematics) else kinematics(system)).fork()
