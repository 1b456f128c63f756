"""d/dt ∂T/∂q̇ − ∂T/∂q = Q + Aᵀλ: a formula of the books as the tree that is written, with the
parentheses it needs.
"""

from __future__ import annotations

from collections.abc import Container

from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.printing import print_tree as t
from dalembert.symbolic.algebra.printing.term_layout import Naming
from dalembert.symbolic.algebra.printing.unicode_notation import Text


def formula_tree(
    a: f.Formula,
    symbol: Naming = lambda name: t.NamedSymbol(name, name),
    vectors: Container[f.Formula] = (),
) -> t.Tree:
    """The formula to be written; `symbol` says what is shown for a symbol of the model, `vectors`
    which letters are bold.
    """
    return _Layout(symbol, vectors).of(a)


def formula_text(a: f.Formula) -> str:
    """The formula on one line of Unicode."""
    return Text()(formula_tree(a))


class _Layout:
    def __init__(self, symbol: Naming, vectors: Container[f.Formula]) -> None:
        self.symbol, self.vectors = symbol, vectors

    def _index(self, index: str | f.Formula) -> t.Tree:
        return t.Letter(index) if isinstance(index, str) else self.of(index)

    def _factor(self, a: f.Formula) -> t.Tree:
        """In parentheses where a sign or a sum stands inside."""
        return (
            t.Group(self.of(a))
            if isinstance(a, f.Sum | f.Negative | f.With | f.Equation)
            else self.of(a)
        )

    def _vector(self, a: f.Formula) -> t.Tree:
        """Next to a dot or a cross, where a cross needs parentheses too."""
        return t.Group(self.of(a)) if isinstance(a, f.Cross | f.Summation) else self._factor(a)

    def _atom(self, a: f.Formula) -> t.Tree:
        """Under a derivative or an index: anything but a single symbol gets parentheses."""
        return (
            self.of(a)
            if isinstance(a, f.Symbol | f.Name | f.Partial | f.Variation)
            else t.Group(self.of(a))
        )

    def of(self, a: f.Formula) -> t.Tree:
        """Any formula."""
        match a:
            case f.Symbol():
                return self._letter(a)
            case f.Name(name):
                return self.symbol(name)
            case f.Number(value):
                return t.Numeral(value, small=True)
            case f.Negative(of):
                return t.SignedTerms(((True, self._factor(of)),))
            case f.Sum(terms):
                return t.SignedTerms(tuple(map(self._signed_term, terms)))
            case f.Product(factors):
                return self._product(factors)
            case f.Dot(left, right):
                return t.Infix(self._vector(left), "·", self._vector(right))
            case f.Cross(left, right):
                return t.Infix(self._vector(left), "×", self._vector(right))
            case f.Quotient(numerator, denominator):
                return t.FractionBar(self.of(numerator), self.of(denominator))
            case f.Partial() | f.Rate():
                return self._derivative(a)
            case f.Square() | f.Transpose() | f.Inverse():
                return self._superscript(a)
            case f.Summation(of, over):
                return t.SummationSign(self._factor(of), over)
            case f.Component(of, index):
                return t.Subscript(self._atom(of), self._index(index))
            case f.Equation(left, right):
                return t.Equality(self.of(left), self.of(right))
            case _:
                return self._other(a)

    def _other(self, a: f.Formula) -> t.Tree:
        """Formulas that occur rarely."""
        match a:
            case f.Magnitude(of):
                return t.Call("abs", (self.of(of),))
            case f.Variation(of):
                return t.Adjacent((t.Letter("δ"), self._atom(of)))
            case f.IntegralOver(of, by):
                return t.IntegralSign(self._factor(of), self.of(by))
            case f.Function(of, arguments):
                return t.Adjacent(
                    (self._atom(of), t.Group(t.CommaList(tuple(map(self.of, arguments)))))
                )
            case f.With(of, given):
                return t.Adjacent(
                    (self.of(of), t.Prose(", with "), t.CommaList(tuple(map(self.of, given))))
                )
            case f.Words(text):
                return t.Prose(text)
            case f.All(several):
                return t.CommaList(tuple(map(self.of, several)))
            case f.Minimum(of, subject_to):
                return t.Adjacent(
                    (t.Prose("min "), self.of(of), t.Prose(" subject to "), self.of(subject_to))
                )
        raise TypeError(a)

    def _letter(self, a: f.Symbol) -> t.Tree:
        below, above = (tuple(map(self._index, indices)) for indices in (a.below, a.above))
        accent = "bar" if a.bar else "hat" if a.hat else ""
        return t.Letter(a.letter, below, above, a.dots, accent, a.star, a in self.vectors)

    def _signed_term(self, a: f.Formula) -> tuple[bool, t.Tree]:
        """Whether a term of a sum is negative, and the term."""
        return (True, self._factor(a.of)) if isinstance(a, f.Negative) else (False, self.of(a))

    def _superscript(self, a: f.Square | f.Transpose | f.Inverse) -> t.Tree:
        match a:
            case f.Square(f.Magnitude() as of):
                return t.Superscript(self.of(of), 2)
            case f.Square(of):
                return t.Superscript(self._atom(of), 2)
            case f.Transpose(of):
                return t.Superscript(self._atom(of), "T")
            case f.Inverse(of):
                return t.Superscript(self._atom(of), "-1")

    def _derivative(self, a: f.Partial | f.Rate) -> t.Tree:
        if isinstance(a, f.Rate):
            return self._rate(a.of, a.by)
        return t.FractionBar(
            t.Adjacent((t.Letter("∂"), self._atom(a.of))),
            t.Adjacent((t.Letter("∂"), self._atom(a.by))),
        )

    def _product(self, factors: tuple[f.Formula, ...]) -> t.Tree:
        *first, last = map(self._factor, factors)
        if first and isinstance(factors[-2], f.Transpose) and isinstance(factors[-1], f.Symbol):
            # Aᵀλ, but M q̇
            last = t.Adjacent((first.pop(), last))
        return t.Factors((*first, last)) if first else last

    def _rate(self, of: f.Formula, by: f.Formula) -> t.Tree:
        below = (
            t.Letter(f"d{by.letter}")
            if isinstance(by, f.Symbol)
            else t.Adjacent((t.Letter("d"), self.of(by)))
        )
        if isinstance(of, f.Symbol):
            return t.FractionBar(t.Adjacent((t.Letter("d"), self.of(of))), below)
        return t.Factors((t.FractionBar(t.Letter("d"), below), self._factor(of)))
