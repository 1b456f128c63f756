"""k c (a + b)² for k c a² + 2 k c a b + k c b²: squares of binomials inside a sum, as books leave
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import isqrt
from typing import NamedTuple

from dalembert.symbolic.algebra.normal_form.rational_form import Powers, Term, divide_powers


class BinomialSquare(NamedTuple):
    """factor · (base)², and the three terms that it replaces."""

    factor: Term
    base: tuple[Term, Term]
    first: Term
    replaced: tuple[Term, Term, Term]


def collect_squares(terms: Sequence[Term]) -> tuple[list[BinomialSquare], list[Term]]:
    """The squares of binomials in a sum, and the other terms; each term is used once."""
    squares: list[BinomialSquare] = []
    rest = list(terms)
    for square, used in _squares(terms):
        if all(t in rest for t in used):
            squares.append(square)
            rest = [t for t in rest if t not in used]
    return squares, rest


def _squares(terms: Sequence[Term]) -> Iterator[tuple[BinomialSquare, tuple[Term, Term, Term]]]:
    if len(terms) < 3:
        return
    by_powers = {frozenset(t.powers): t for t in terms}
    for s, t in combinations(terms, 2):
        shared = _common(s.powers, t.powers)
        a, b = _root(divide_powers(s.powers, shared)), _root(divide_powers(t.powers, shared))
        sizes = _roots_of_ratio(s.coefficient, t.coefficient)
        if a is None or b is None or sizes is None:
            continue
        cross = by_powers.get(frozenset(_product(shared, a, b)))
        if cross is None:
            continue
        alpha, beta = sizes
        k = s.coefficient / alpha**2
        if cross.coefficient not in (2 * k * alpha * beta, -2 * k * alpha * beta):
            continue
        minus = cross.coefficient / k < 0
        base = (Term(alpha, a), Term(-beta if minus else beta, b))
        used = (s, t, cross)
        first = min(used, key=terms.index)
        yield BinomialSquare(Term(k, shared), base, first, used), used


def _common(a: Powers, b: Powers) -> Powers:
    """What both products contain."""
    other = dict(b)
    return tuple((x, min(k, other[x])) for x, k in a if x in other)


def _root(powers: Powers) -> Powers | None:
    """The square root of a product; None where it is none."""
    return None if any(k % 2 for _, k in powers) else tuple((x, k // 2) for x, k in powers)


def _product(*factors: Powers) -> Powers:
    powers: dict[object, int] = {}
    for factor in factors:
        for x, k in factor:
            powers[x] = powers.get(x, 0) + k
    return tuple(powers.items())  # type: ignore[arg-type]


def _roots_of_ratio(a: Fraction, b: Fraction) -> tuple[Fraction, Fraction] | None:
    """α, β without common factor, with a/b = α²/β²; None where there are none."""
    ratio = a / b
    if ratio <= 0:
        return None
    top, bottom = isqrt(ratio.numerator), isqrt(ratio.denominator)
    if top**2 != ratio.numerator or bottom**2 != ratio.denominator:
        return None
    return Fraction(top), Fraction(bottom)
