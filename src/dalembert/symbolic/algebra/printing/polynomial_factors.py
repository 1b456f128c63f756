"""m₂ (x₁ − x₂)/(z₁ − z₂) u̇₁: coefficients and denominators as products of their factors, with
common factors cancelled.

A factor that is a sum is an atom of a term, ("sum", …): it is ordered, raised and cancelled as
symbols are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final

from dalembert.symbolic.algebra.normal_form.rational_form import (
    Atom,
    Powers,
    RationalForm,
    Term,
    collect,
)
from dalembert.symbolic.algebra.printing.binomial_squares import collect_squares

SUM: Final = "sum"
# factors of longer polynomials are not looked for
MAX_TERMS: Final = 400


def factored_form(form: RationalForm, fast: Iterable[str]) -> RationalForm | None:
    """Each coefficient of the products of rates in factors, over the denominator in factors; None
    where the denominator is a single product already, contains rates, or is too long.
    """
    names = list(fast)
    rates = {Atom("symbol", name) for name in names}
    if len(form.denominator) == 1 or rates.intersection(RationalForm(form.denominator).atoms()):
        return None
    if form.term_count > MAX_TERMS:
        return None
    factors = _Factors(form.atoms())
    below = factors.of(form.denominator)
    numerator: list[Term] = []
    for powers, coefficient in collect(RationalForm(form.numerator), names).items():
        above = factors.of(coefficient.numerator)
        cancels = {a for a, _ in above.powers} & {a for a, _ in below.powers}
        if powers or cancels or not any(a.op == SUM for a, _ in above.powers):
            numerator.append(Term(above.coefficient, above.powers + powers))
        else:
            # nothing to collect on and nothing to cancel: the sum stays open
            numerator += coefficient.numerator
    return RationalForm(tuple(numerator), (below,))


def squares_of_coordinates(terms: Sequence[Term], rates: frozenset[Atom]) -> tuple[Term, ...]:
    """(x₁ − x₂)² for x₁² − 2 x₁ x₂ + x₂² among the terms of a sum, as in a distance; not where
    they are rates or have a factor, as in a kinetic energy.
    """
    squares, _ = collect_squares(terms)
    chosen = [
        s
        for s in squares
        if not (s.factor.powers or rates.intersection(a for t in s.base for a, _ in t.powers))
    ]
    if not chosen:
        return tuple(terms)
    new = list(terms)
    for s in chosen:
        atom = Atom(SUM, arguments=(RationalForm(s.base),))
        new[new.index(s.first)] = Term(s.factor.coefficient, (*s.factor.powers, (atom, 2)))
        new = [t for t in new if t not in s.replaced]
    return tuple(new)


class _Factors:
    """Polynomials in the given atoms, by flint."""

    def __init__(self, atoms: Sequence[Atom]) -> None:
        import flint

        self._flint, self._atoms = flint, tuple(atoms)
        names = tuple(f"a{k}" for k in range(len(atoms)))
        self._context: Any = flint.fmpq_mpoly_ctx.get(names, flint.Ordering.lex)

    def of(self, terms: Sequence[Term]) -> Term:
        """k · Π aⁿ · Π (sum)ⁿ"""
        k, factors = self._polynomial(terms).factor()
        coefficient = Fraction(int(k.p), int(k.q))
        powers: list[tuple[Atom, int]] = []
        for factor, exponent in factors:
            inside = self._terms(factor)
            if len(inside) == 1:
                coefficient *= inside[0].coefficient ** int(exponent)
                powers += [(a, n * int(exponent)) for a, n in inside[0].powers]
                continue
            sign, whole = _primitive(inside)
            coefficient *= sign ** int(exponent)
            powers.append((Atom(SUM, arguments=(RationalForm(whole),)), int(exponent)))
        return Term(coefficient, tuple(powers))

    def _polynomial(self, terms: Sequence[Term]) -> Any:
        place = {a: k for k, a in enumerate(self._atoms)}
        entries: dict[tuple[int, ...], Any] = {}
        for t in terms:
            exponents = [0] * len(self._atoms)
            for a, n in t.powers:
                exponents[place[a]] = n
            k = t.coefficient
            entries[tuple(exponents)] = self._flint.fmpq(k.numerator, k.denominator)
        return self._context.from_dict(entries)

    def _terms(self, polynomial: Any) -> tuple[Term, ...]:
        return tuple(
            Term(Fraction(int(k.p), int(k.q)), self._powers(exponents))
            for exponents, k in polynomial.to_dict().items()
        )

    def _powers(self, exponents: Iterable[int]) -> Powers:
        return tuple((a, int(n)) for a, n in zip(self._atoms, exponents, strict=True) if n)


def _primitive(terms: Sequence[Term]) -> tuple[Fraction, tuple[Term, ...]]:
    """A number, and the sum with whole coefficients that begins with a plus."""
    from dalembert.symbolic.algebra.normal_form.rational_form import content

    k = content(terms)
    return k, tuple(Term(t.coefficient / k, t.powers) for t in terms)
