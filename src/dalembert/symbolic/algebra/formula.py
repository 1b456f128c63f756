"""d/dt ∂T/∂q̇ − ∂T/∂q = Q + Aᵀλ: formulas of the books as trees.

A formula says how a quantity follows from others; it is independent of a system's numbers and of
notation: text, LaTeX and MathML are three ways to write one tree. A `Symbol` is a letter of the
books (T, q̇_k, F_r*), a `Name` a symbol of the model (theta_1') by the name it has on the tape. Two
trees are equal where they say the same in the same order. Trees are never modified, but not
`frozen` either: every derivation makes a hundred small ones, and frozen they take three times as
long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, Final, dataclass_transform

from dalembert.foundation.deferred_dataclass import dataclass


@dataclass_transform()
class Formula:
    """Any formula, a dataclass; the operators build larger ones and simplify nothing but signs."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclass(unsafe_hash=True)(cls)

    def __add__(self, other: Formula) -> Sum:
        return Sum((*terms(self), *terms(other)))

    def __sub__(self, other: Formula) -> Sum:
        return Sum((*terms(self), *(-term for term in terms(other))))

    def __neg__(self) -> Formula:
        return Negative(self)

    def __mul__(self, other: Formula) -> Product:
        return Product((*factors(self), *factors(other)))

    @property
    def T(self) -> Transpose:
        """Xᵀ"""
        return Transpose(self)

    def dot(self, other: Formula) -> Dot:
        """a·b"""
        return Dot(self, other)

    def cross(self, other: Formula) -> Cross:
        """a × b"""
        return Cross(self, other)


class Symbol(Formula):
    """T, q̇_k, T̄, T̂, F_r*, γ³₁₂: a letter with indices below and above, dots, a bar, a star, a
    hat.
    """

    letter: str
    below: tuple[str | Formula, ...] = ()
    above: tuple[str | Formula, ...] = ()
    dots: int = 0
    bar: bool = False
    star: bool = False
    hat: bool = False


TIME: Final = Symbol("t")


@cache
def letter(
    a: str, below: tuple[str, ...] = (), dots: int = 0, *, bar: bool = False, star: bool = False
) -> Symbol:
    """The symbol of a letter, the same one for all who ask: every derivation names the same
    thirty.
    """
    return Symbol(a, below, (), dots, bar, star)


class Name(Formula):
    """A symbol of the model, theta_1', by its name on the tape; it is written as expressions
    write it.
    """

    name: str


class Number(Formula):
    """½"""

    value: Fraction


class Negative(Formula):
    """−a"""

    of: Formula

    def __neg__(self) -> Formula:
        return self.of


class Sum(Formula):
    """a + b − c, each term with its sign: a term to be taken away is a `Negative`."""

    terms: tuple[Formula, ...]


class Product(Formula):
    """a b c: factors in a row, also of matrices and columns."""

    factors: tuple[Formula, ...]


class Dot(Formula):
    """a·b of two vectors, or of a dyadic and a vector."""

    left: Formula
    right: Formula


class Cross(Formula):
    """a × b"""

    left: Formula
    right: Formula


class Quotient(Formula):
    """a/b"""

    above: Formula
    below: Formula


class Square(Formula):
    """a²"""

    of: Formula


class Magnitude(Formula):
    """|a|"""

    of: Formula


class Partial(Formula):
    """∂a/∂x, everything else held"""

    of: Formula
    by: Formula


class Rate(Formula):
    """da/dt along the motion, or da/dx along a member"""

    of: Formula
    by: Formula = TIME


class Variation(Formula):
    """δa"""

    of: Formula


class Transpose(Formula):
    """Aᵀ"""

    of: Formula


class Inverse(Formula):
    """A⁻¹"""

    of: Formula


class Summation(Formula):
    """Σ_i a; without an index over all bodies, points or loads that have the quantity."""

    of: Formula
    over: str = ""


class IntegralOver(Formula):
    """∫a dt, ∫a dx"""

    of: Formula
    by: Formula


class Component(Formula):
    """(Aᵀλ)_k: one component of a column that has no symbol of its own."""

    of: Formula
    index: str | Formula


class Function(Formula):
    """V(q, t): a quantity with what it depends on."""

    of: Formula
    arguments: tuple[Formula, ...]


class Equation(Formula):
    """a = b"""

    left: Formula
    right: Formula


class With(Formula):
    """a, with x = b, …: a, where every x is replaced by b, and every rate of x by that of b."""

    of: Formula
    given: tuple[Equation, ...]


class Words(Formula):
    """by vectors: what no symbol stands for"""

    text: str


class All(Formula):
    """a = b, c = d: several at once."""

    of: tuple[Formula, ...]


class Minimum(Formula):
    """min a subject to b = 0"""

    of: Formula
    subject_to: Equation


def substitute(a: Formula, new: Mapping[Formula, Formula]) -> Formula:
    """The formula with some of its parts replaced by others."""
    if a in new:
        return new[a]

    def inside(part: object) -> object:
        if isinstance(part, Formula):
            return substitute(part, new)
        return tuple(map(inside, part)) if isinstance(part, tuple) else part

    return type(a)(*(inside(getattr(a, name.name)) for name in fields(a)))


HALF: Final = Number(Fraction(1, 2))
ZERO: Final = Number(Fraction(0))


def terms(a: Formula) -> tuple[Formula, ...]:
    """What a sum is made of; anything else is one term."""
    return a.terms if isinstance(a, Sum) else (a,)


def factors(a: Formula) -> tuple[Formula, ...]:
    """What a product is made of; anything else is one factor."""
    return a.factors if isinstance(a, Product) else (a,)
