"""p = ∂T/∂q̇: a quantity is its formula and its value, made together.

The operators of quantities build the formula and compute the value in one stroke, so that what is
shown cannot differ from what was computed. A quantity that has a symbol appears in later formulas
by its symbol, any other by its own formula. An operator leaves its rule, `Formula.__add__` for a +
b, and the tree is written when somebody reads it: most derivations are made for their equations
alone. Nothing here is ever changed; it is not `frozen`, since derivations make many quantities and
frozen ones take three times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from operator import neg
from typing import Any

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinetics.spatial_fields import Contraction, SpatialField, VelocityPartials
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.formula import Equation, Formula, Symbol
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix, gradient_column
from dalembert.symbolic.algebra.tape import Tape

Value = Scalar | Vector | Column | SparseMatrix | SpatialField | Contraction


@dataclass(eq=False)
class Quantity:
    """A scalar, a column, a matrix or a field of vectors, with how it is made, what it is made
    of, and its explanation.
    """

    # its formula; the rule that writes it with the symbols of the parts; or the quantity whose
    # formula it shares
    rule: Formula | Callable[..., Formula] | Quantity = field(repr=False)
    value: Any
    parts: tuple[Quantity, ...] = field(default=(), repr=False)
    symbol: Formula | None = None
    # what each entry of a column, or each row of a matrix, belongs to: coordinates, speeds or
    # numbers; the same for a matrix's columns
    row_labels: tuple[str | Formula, ...] = ()
    column_labels: tuple[str | Formula, ...] = ()
    # what a step of a derivation says about it; without a title it is not shown
    title: str = ""
    source: str = ""
    why: str = ""
    sparse: bool = False

    @property
    def formula(self) -> Formula:
        """How it is made of its parts."""
        made_by = self.rule
        if not isinstance(made_by, Formula):
            made_by = (
                made_by.formula
                if isinstance(made_by, Quantity)
                else made_by(*(part.ref for part in self.parts))
            )
            self.rule = made_by
        return made_by

    @property
    def ref(self) -> Formula:
        """How it appears in other formulas."""
        return self.formula if self.symbol is None else self.symbol

    @property
    def statement(self) -> Formula:
        """symbol = formula; what has no symbol, or no formula but its symbol, as it is."""
        return (
            self.formula
            if self.symbol is None or self.symbol == self.formula
            else Equation(self.symbol, self.formula)
        )

    @property
    def by_formula(self) -> Quantity:
        """The same, to appear in other formulas by its own formula."""
        return Quantity(self, self.value, (self,), None, self.row_labels, self.column_labels)

    def with_letter(
        self, letter: str, *below: str, star: bool = False, bar: bool = False, dots: int = 0
    ) -> Quantity:
        """The same with a symbol of its own."""
        return self.with_symbol(f.letter(letter, below, dots, bar=bar, star=star))

    def with_symbol(self, symbol: Formula) -> Quantity:
        """The same with a symbol that is no letter alone: δq̇, ∂T/∂π."""
        return Quantity(
            self.rule, self.value, self.parts, symbol, self.row_labels, self.column_labels
        )

    def with_parts(self, *parts: Quantity) -> Quantity:
        """The same, with these as its parts."""
        return Quantity(self, self.value, parts, self.symbol, self.row_labels, self.column_labels)

    def at(self, letter: str) -> Quantity:
        """A column that has a symbol, with its index: q̇_k."""
        assert isinstance(self.symbol, Symbol)
        s = self.symbol
        symbol = (
            f.letter(s.letter, (letter,), s.dots, bar=s.bar, star=s.star)
            if not s.above
            else replace(s, below=(letter,))
        )
        return Quantity(
            symbol if self.is_variable else self,
            self.value,
            (self,),
            symbol,
            self.row_labels,
            self.column_labels,
        )

    def first(self, count: int) -> Quantity:
        """The upper part of a column; the left part of a matrix, Φ_I of Φ."""
        if isinstance(self.value, SparseMatrix) and isinstance(self.symbol, Symbol):
            left = replace(self.symbol, below=("I",))
            return Quantity(
                left,
                self.value.first(count),
                (self,),
                left,
                self.row_labels,
                self.column_labels[:count],
            )
        return Quantity(
            self, self.value.first(count), (self,), self.symbol, self.row_labels[:count]
        )

    def as_step(self, title: str, source: str, why: str, *, sparse: bool = False) -> Quantity:
        """The same as a step of a derivation; `sparse` where what vanishes need not be shown."""
        return Quantity(
            self.rule,
            self.value,
            self.parts,
            self.symbol,
            self.row_labels,
            self.column_labels,
            title,
            source,
            why,
            sparse,
        )

    # ---- operators -----------------------------------------------------------------------------

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(
            Formula.__add__, self.value + other.value, (self, other), None, self.row_labels
        )

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(
            Formula.__sub__, self.value - other.value, (self, other), None, self.row_labels
        )

    def __neg__(self) -> Quantity:
        return Quantity(neg, -self.value, (self,), None, self.row_labels)

    def __mul__(self, other: Quantity) -> Quantity:
        """k a, m v: a number or a scalar field times anything."""
        lifted = isinstance(self.value, Scalar) and isinstance(other.value, SpatialField)
        value = other.value.scale(self.value) if lifted else self.value * other.value
        return Quantity(Formula.__mul__, value, (self, other), None, other.row_labels)

    def __matmul__(self, other: Quantity) -> Quantity:
        """A x of a matrix and a column, x·y of two columns or vectors."""
        value = self.value @ other.value
        if isinstance(self.value, Column | Vector):
            return Quantity(f.Dot, value, (self, other))
        return Quantity(
            Formula.__mul__,
            value,
            (self, other),
            row_labels=self.row_labels,
            column_labels=other.column_labels,
        )

    @property
    def T(self) -> Quantity:
        """Aᵀ"""
        return Quantity(
            f.Transpose,
            self.value.T,
            (self,),
            row_labels=self.column_labels,
            column_labels=self.row_labels,
        )

    def dot(self, other: Quantity) -> Quantity:
        """a·b at every place."""
        return Quantity(
            f.Dot,
            self.value.dot(other.value),
            (self, other),
            None,
            self.row_labels or other.row_labels,
        )

    def cross(self, other: Quantity) -> Quantity:
        """a × b at every place."""
        return Quantity(f.Cross, self.value.cross(other.value), (self, other))

    def with_index(self, letter: str) -> Quantity:
        """(…)_k: a column whose formula shall show its index."""
        return Quantity(
            partial(f.Component, index=letter),
            self.value,
            (self,),
            None,
            self.row_labels,
            self.column_labels,
        )

    def map(self, tree: Callable[[Formula], Formula], rule: Callable[[Any], Any]) -> Quantity:
        """One rule for every entry, and what it does to the formula."""
        value = (
            Scalar(self.value.tape, rule(self.value.i))
            if isinstance(self.value, Scalar)
            else self.value.map(rule)
        )
        return Quantity(
            tree, value, (self,), row_labels=self.row_labels, column_labels=self.column_labels
        )

    def substitute(
        self,
        tape: Tape,
        *given: tuple[Quantity, Quantity],
        rates: Callable[[int], int] | None = None,
    ) -> Quantity:
        """The same with x = b for every pair, and ẋ = db/dt where rates are given."""
        new: dict[int, int] = {}
        for x, b in given:
            new |= dict(zip(x.value, b.value, strict=True))
            if rates is not None:
                new |= {tape.rate(i) or i: rates(e) for i, e in zip(x.value, b.value, strict=True)}

        def tree(of: Formula) -> Formula:
            return f.With(
                of,
                tuple(
                    Equation(x.ref, b.formula if b.symbol == x.symbol else b.ref) for x, b in given
                ),
            )

        return self.map(tree, Substitution(tape, new)).with_parts(self, *(b for _, b in given))

    @property
    def dependencies(self) -> tuple[Quantity, ...]:
        """All quantities behind this one, those first that are needed first, and itself."""
        visited: dict[int, Quantity] = {}
        _collect(self, visited)
        return tuple(visited.values())

    @property
    def is_variable(self) -> bool:
        """Whether it is a column of symbols, such as q̇."""
        return isinstance(self.value, Column) and (
            self.symbol is self.rule or self.symbol == self.formula
        )


def _collect(a: Quantity, visited: dict[int, Quantity]) -> None:
    for part in a.parts:
        if id(part) not in visited:
            _collect(part, visited)
    visited[id(a)] = a


def diff(a: Quantity, x: Quantity) -> Quantity:
    """∂a/∂x of a scalar or of a field of velocities."""
    value = (
        VelocityPartials(a.value, x.value)
        if isinstance(a.value, SpatialField)
        else gradient_column(a.value, x.value)
    )
    return Quantity(f.Partial, value, (a, x), None, x.row_labels)


def total(a: Quantity, over: str = "") -> Quantity:
    """Σ a over all places that have it."""
    return Quantity(
        partial(f.Summation, over=over) if over else f.Summation,
        a.value.total(),
        (a,),
        None,
        a.row_labels,
    )


def equation(left: Quantity, right: Quantity | None = None) -> Quantity:
    """left = right; its value is left − right, which vanishes along every motion. Without a
    right side it is zero.
    """
    if right is None:
        return Quantity(_equals_zero, left.value, (left,), row_labels=left.row_labels)
    return Quantity(Equation, left.value - right.value, (left, right), row_labels=left.row_labels)


def _equals_zero(left: Formula) -> Formula:
    return Equation(left, f.ZERO)
