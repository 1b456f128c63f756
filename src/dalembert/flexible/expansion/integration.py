"""∫₀ᴸ c(x) f(x/L) g(x/L) dx for a property c of a member: exact where c, f and g are polynomials, else to rounding.

∫₀¹ p dξ = Σ w_k p(ξ_k) with rational nodes near those of Gauss and Legendre, and weights that make the rule exact in ℚ. Gauss's own
nodes are irrational. A rule through m rational nodes is exact for polynomials below degree m, whatever the nodes are; near Gauss's
nodes its weights are positive, so that the nodes can carry masses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dalembert.algebra.folds import Rewrite, symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Number
from dalembert.flexible.expansion.polynomials import AdmissibleFunction, Polynomial, in_powers
from dalembert.model.member import Member

# the digits to which Gauss's nodes are rounded, and the most that are tried until all weights are positive
_FEWEST_DIGITS: Final = 2
_MOST_DIGITS: Final = 8
# nodes that integrate a smooth function which is no polynomial to rounding
_SMOOTH_NODES: Final = 32


@dataclass(frozen=True)
class Rule:
    """Nodes and weights on 0 ≤ ξ ≤ 1; `exact` up to this degree in ℚ, None: to rounding only."""

    nodes: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    exact: int | None

    def __len__(self) -> int:
        return len(self.nodes)


@lru_cache(maxsize=64)
def exact_rule(degree: int) -> Rule:
    """A rule that integrates every polynomial up to this degree exactly."""
    count = degree + 1
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        nodes = _rounded(count, 10**digits)
        if len(set(nodes)) == count and nodes[0] > 0:
            weights = _weights(nodes)
            if min(weights) > 0:
                return Rule(nodes, weights, degree)
    msg = f"no rational rule for degree {degree}"
    raise AssertionError(msg)


@lru_cache(maxsize=64)
def gauss_rule(count: int) -> Rule:
    """Gauss and Legendre's rule, its nodes and weights to rounding."""
    nodes, weights = _gauss(count)
    return Rule(tuple(map(Fraction, nodes)), tuple(map(Fraction, weights)), None)


def _gauss(count: int) -> tuple[list[float], list[float]]:
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(count)
    return [(1 + float(x)) / 2 for x in nodes], [float(w) / 2 for w in weights]


def _rounded(count: int, scale: int) -> tuple[Fraction, ...]:
    """Gauss's nodes as fractions of `scale`, symmetric about ½."""
    left = [Fraction(round(x * scale), scale) for x in _gauss(count)[0][: count // 2]]
    middle = [Fraction(1, 2)] if count % 2 else []
    return (*left, *middle, *(1 - x for x in reversed(left)))


def _weights(nodes: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """w_k = ∫₀¹ Π_{j≠k} (ξ − ξ_j)/(ξ_k − ξ_j) dξ"""
    whole = Polynomial.of([1])
    for x in nodes:
        whole *= Polynomial.of([-x, 1])
    coefficients = whole.coefficients
    found = []
    for x in nodes:
        # Horner's scheme divides by ξ − ξ_k; the quotient at ξ_k is the denominator
        quotient = [Fraction(0)] * len(nodes)
        carry = Fraction(0)
        for i in range(len(nodes), 0, -1):
            carry = coefficients[i] + carry * x
            quotient[i - 1] = carry
        others = Polynomial.of(quotient)
        found.append(others.primitive(1) / others(x))
    return tuple(found)


def degree_in_x(member: Member, e: Scalar) -> int | None:
    """The degree of a property in the place x; None where it is no polynomial."""
    if member.x.i not in symbols_of(e.tape, (e.i,)):
        return 0
    powers = in_powers(e, member.x)
    return None if powers is None else max(powers, default=0)


def highest(degrees: Iterable[int | None]) -> int | None:
    """The highest of some degrees; None where one of them is that of no polynomial."""
    found = list(degrees)
    return None if None in found else max((d for d in found if d is not None), default=0)


def at_share(member: Member, e: Scalar, xi: Number) -> Scalar:
    """A property at x = ξ L."""
    return Scalar(e.tape, Rewrite(e.tape, {member.x.i: (member.length * xi).i})(e.i))


def rule_for(degree: int | None) -> Rule:
    """The rule that is exact for polynomials of this degree; for what is no polynomial, one that is good to rounding."""
    return gauss_rule(_SMOOTH_NODES) if degree is None else exact_rule(degree)


def moments(
    member: Member, c: Scalar, first: Sequence[tuple[AdmissibleFunction, int]], second: Sequence[tuple[AdmissibleFunction, int]]
) -> list[list[Scalar]]:
    """∫₀¹ c f⁽ᵏ⁾ g⁽ˡ⁾ dξ for all pairs (f, k), (g, l)."""
    degree = degree_in_x(member, c)
    if degree == 0:
        return [[c * _overlap(f, k, g, l) for g, l in second] for f, k in first]
    shape = highest(None if f.degree is None else max(f.degree - k, 0) for f, k in (*first, *second))
    rule = rule_for(None if shape is None or degree is None else 2 * shape + degree)
    here = [at_share(member, c, xi) * w for xi, w in zip(rule.nodes, rule.weights, strict=True)]
    left, right = ([[f.at(xi, k) for xi in rule.nodes] for f, k in each] for each in (first, second))
    zero = Scalar(c.tape, c.tape.zero)
    return [[sum((e * (x * y) for e, x, y in zip(here, a, b, strict=True) if x * y), start=zero) for b in right] for a in left]


def _overlap(f: AdmissibleFunction, k: int, g: AdmissibleFunction, l: int) -> Fraction:
    """∫₀¹ f⁽ᵏ⁾ g⁽ˡ⁾ dξ"""
    if isinstance(f, Polynomial) and isinstance(g, Polynomial):
        return (f.derivative(k) * g.derivative(l)).primitive(1)
    rule = rule_for(None)
    return sum((w * f.at(x, k) * g.at(x, l) for w, x in zip(rule.weights, rule.nodes, strict=True)), start=Fraction(0))
