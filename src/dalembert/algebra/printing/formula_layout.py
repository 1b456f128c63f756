"""d/dt ∂T/∂q̇ − ∂T/∂q = Q + Aᵀλ: a formula of the books as the tree that is written, with the parentheses it needs."""

from __future__ import annotations

from functools import singledispatchmethod

from dalembert.algebra import formula as f
from dalembert.algebra.printing.layout import Naming
from dalembert.algebra.printing.notation import Text
from dalembert.algebra.printing.tree import (
    Adjacent,
    Call,
    Factors,
    FractionBar,
    Group,
    Indexed,
    Infix,
    IntegralSign,
    Letter,
    Listed,
    NamedSymbol,
    Numeral,
    Prose,
    Raised,
    Sides,
    SignedTerms,
    SummationSign,
    Tree,
)  # fmt: skip


def formula_tree(a: f.Formula, symbol: Naming = lambda name: NamedSymbol(name, name)) -> Tree:
    """The formula to be written; `symbol` says what is shown for a symbol of the model."""
    return _Layout(symbol).of(a)


def formula_text(a: f.Formula) -> str:
    """The formula on one line of Unicode."""
    return Text()(formula_tree(a))


class _Layout:
    def __init__(self, symbol: Naming) -> None:
        self.symbol = symbol

    def _index(self, index: str | f.Formula) -> Tree:
        return Letter(index) if isinstance(index, str) else self.of(index)

    def _factor(self, a: f.Formula) -> Tree:
        """In parentheses where a sign or a sum stands inside."""
        return Group(self.of(a)) if isinstance(a, f.Sum | f.Negative | f.With | f.Equation) else self.of(a)

    def _vector(self, a: f.Formula) -> Tree:
        """Beside a dot or a cross, where a cross needs parentheses too."""
        return Group(self.of(a)) if isinstance(a, f.Cross | f.Total) else self._factor(a)

    def _atom(self, a: f.Formula) -> Tree:
        """Under a derivative or an index: anything but a single symbol stands in parentheses."""
        return self.of(a) if isinstance(a, f.Symbol | f.Name | f.Partial | f.Varied) else Group(self.of(a))

    @singledispatchmethod
    def of(self, a: f.Formula) -> Tree:
        """Any formula."""
        raise TypeError(a)

    @of.register
    def _symbol(self, a: f.Symbol) -> Tree:
        below, above = (tuple(map(self._index, indices)) for indices in (a.below, a.above))
        return Letter(a.letter, below, above, a.dots, "bar" if a.bar else "hat" if a.hat else "", a.star)

    @of.register
    def _name(self, a: f.Name) -> Tree:
        return self.symbol(a.name)

    @of.register
    def _number(self, a: f.Number) -> Tree:
        return Numeral(a.value, small=True)

    @of.register
    def _negative(self, a: f.Negative) -> Tree:
        return SignedTerms(((True, self._factor(a.of)),))

    @of.register
    def _sum(self, a: f.Sum) -> Tree:
        return SignedTerms(tuple((True, self._factor(x.of)) if isinstance(x, f.Negative) else (False, self.of(x)) for x in a.terms))

    @of.register
    def _product(self, a: f.Product) -> Tree:
        *first, last = map(self._factor, a.factors)
        if first and isinstance(a.factors[-2], f.Transposed) and isinstance(a.factors[-1], f.Symbol):
            # Aᵀλ, but M q̇
            last = Adjacent((first.pop(), last))
        return Factors((*first, last)) if first else last

    @of.register
    def _dot(self, a: f.Dot) -> Tree:
        return Infix(self._vector(a.left), "·", self._vector(a.right))

    @of.register
    def _cross(self, a: f.Cross) -> Tree:
        return Infix(self._vector(a.left), "×", self._vector(a.right))

    @of.register
    def _quotient(self, a: f.Quotient) -> Tree:
        return FractionBar(self.of(a.above), self.of(a.below))

    @of.register
    def _squared(self, a: f.Squared) -> Tree:
        return Raised(self.of(a.of) if isinstance(a.of, f.Size) else self._atom(a.of), 2)

    @of.register
    def _size(self, a: f.Size) -> Tree:
        return Call("abs", (self.of(a.of),))

    @of.register
    def _partial(self, a: f.Partial) -> Tree:
        return FractionBar(Adjacent((Letter("∂"), self._atom(a.of))), Adjacent((Letter("∂"), self._atom(a.by))))

    @of.register
    def _rate(self, a: f.Rate) -> Tree:
        below = Letter(f"d{a.by.letter}") if isinstance(a.by, f.Symbol) else Adjacent((Letter("d"), self.of(a.by)))
        if isinstance(a.of, f.Symbol):
            return FractionBar(Adjacent((Letter("d"), self.of(a.of))), below)
        return Factors((FractionBar(Letter("d"), below), self._factor(a.of)))

    @of.register
    def _varied(self, a: f.Varied) -> Tree:
        return Adjacent((Letter("δ"), self._atom(a.of)))

    @of.register
    def _transposed(self, a: f.Transposed) -> Tree:
        return Raised(self._atom(a.of), "T")

    @of.register
    def _inverse(self, a: f.Inverse) -> Tree:
        return Raised(self._atom(a.of), "-1")

    @of.register
    def _total(self, a: f.Total) -> Tree:
        return SummationSign(self._factor(a.of), a.over)

    @of.register
    def _integral(self, a: f.IntegralOver) -> Tree:
        return IntegralSign(self._factor(a.of), self.of(a.by))

    @of.register
    def _component(self, a: f.Component) -> Tree:
        return Indexed(self._atom(a.of), self._index(a.index))

    @of.register
    def _function(self, a: f.Function) -> Tree:
        return Adjacent((self._atom(a.of), Group(Listed(tuple(map(self.of, a.arguments))))))

    @of.register
    def _equation(self, a: f.Equation) -> Tree:
        return Sides(self.of(a.left), self.of(a.right))

    @of.register
    def _with(self, a: f.With) -> Tree:
        return Adjacent((self.of(a.of), Prose(", with "), Listed(tuple(map(self.of, a.given)))))

    @of.register
    def _words(self, a: f.Words) -> Tree:
        return Prose(a.text)

    @of.register
    def _all(self, a: f.All) -> Tree:
        return Listed(tuple(map(self.of, a.of)))

    @of.register
    def _least(self, a: f.Least) -> Tree:
        return Adjacent((Prose("min "), self.of(a.of), Prose(" subject to "), self.of(a.subject_to)))
