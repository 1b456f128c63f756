"""d/dt ∂T/∂q̇ − ∂T/∂q = Q + Aᵀλ: a formula of the books as the tree that is written, with the parentheses it needs."""

from __future__ import annotations

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

    def of(self, a: f.Formula) -> Tree:
        """Any formula."""
        match a:
            case f.Symbol():
                below, above = (tuple(map(self._index, indices)) for indices in (a.below, a.above))
                return Letter(a.letter, below, above, a.dots, "bar" if a.bar else "hat" if a.hat else "", a.star)
            case f.Name(name):
                return self.symbol(name)
            case f.Number(value):
                return Numeral(value, small=True)
            case f.Negative(of):
                return SignedTerms(((True, self._factor(of)),))
            case f.Sum(terms):
                return SignedTerms(tuple((True, self._factor(x.of)) if isinstance(x, f.Negative) else (False, self.of(x)) for x in terms))
            case f.Product(factors):
                return self._product(factors)
            case f.Dot(left, right):
                return Infix(self._vector(left), "·", self._vector(right))
            case f.Cross(left, right):
                return Infix(self._vector(left), "×", self._vector(right))
            case f.Quotient(numerator, denominator):
                return FractionBar(self.of(numerator), self.of(denominator))
            case f.Partial(of, by):
                return FractionBar(Adjacent((Letter("∂"), self._atom(of))), Adjacent((Letter("∂"), self._atom(by))))
            case f.Rate(of, by):
                return self._rate(of, by)
            case f.Squared(of):
                return Raised(self.of(of) if isinstance(of, f.Size) else self._atom(of), 2)
            case f.Transposed(of):
                return Raised(self._atom(of), "T")
            case f.Inverse(of):
                return Raised(self._atom(of), "-1")
            case f.Total(of, over):
                return SummationSign(self._factor(of), over)
            case f.Component(of, index):
                return Indexed(self._atom(of), self._index(index))
            case f.Equation(left, right):
                return Sides(self.of(left), self.of(right))
            case _:
                return self._other(a)

    def _other(self, a: f.Formula) -> Tree:
        """What stands in few formulas."""
        match a:
            case f.Size(of):
                return Call("abs", (self.of(of),))
            case f.Varied(of):
                return Adjacent((Letter("δ"), self._atom(of)))
            case f.IntegralOver(of, by):
                return IntegralSign(self._factor(of), self.of(by))
            case f.Function(of, arguments):
                return Adjacent((self._atom(of), Group(Listed(tuple(map(self.of, arguments))))))
            case f.With(of, given):
                return Adjacent((self.of(of), Prose(", with "), Listed(tuple(map(self.of, given)))))
            case f.Words(text):
                return Prose(text)
            case f.All(several):
                return Listed(tuple(map(self.of, several)))
            case f.Least(of, subject_to):
                return Adjacent((Prose("min "), self.of(of), Prose(" subject to "), self.of(subject_to)))
        raise TypeError(a)

    def _product(self, factors: tuple[f.Formula, ...]) -> Tree:
        *first, last = map(self._factor, factors)
        if first and isinstance(factors[-2], f.Transposed) and isinstance(factors[-1], f.Symbol):
            # Aᵀλ, but M q̇
            last = Adjacent((first.pop(), last))
        return Factors((*first, last)) if first else last

    def _rate(self, of: f.Formula, by: f.Formula) -> Tree:
        below = Letter(f"d{by.letter}") if isinstance(by, f.Symbol) else Adjacent((Letter("d"), self.of(by)))
        if isinstance(of, f.Symbol):
            return FractionBar(Adjacent((Letter("d"), self.of(of))), below)
        return Factors((FractionBar(Letter("d"), below), self._factor(of)))
