"""∫₀ᴸ c(x) f(x/L) g(x/L) dx for a property c of a member: exact where c, f and g are polynomials, else to rounding.

∫₀¹ p dξ = Σ w_k p(ξ_k) with rational nodes near those of Gauss and Legendre, and weights that make the rule exact in ℚ. Gauss's own
nodes are irrational. A rule through m rational nodes is exact for polynomials below degree m, whatever the nodes are; near Gauss's
nodes its weights are positive, so that the nodes can carry masses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dalembert.algebra.folds import Rewrite, evaluate
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Number
from dalembert.flexible.expansion.polynomials import AdmissibleFunction, Polynomial
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


class _Degrees:
    """Bounds on the degree in one symbol; None where an expression is no polynomial in it."""

    def const(self, _value: Number) -> int | None:
        return 0

    def pi(self) -> int | None:
        return 0

    def add(self, a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else max(a, b)

    sub = add

    def mul(self, a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else a + b

    def div(self, a: int | None, b: int | None) -> int | None:
        return a if b == 0 else None

    def neg(self, a: int | None) -> int | None:
        return a

    def atan2(self, a: int | None, b: int | None) -> int | None:
        return 0 if a == b == 0 else None

    def call(self, _function: str, a: int | None, _node: int) -> int | None:
        return 0 if a == 0 else None


def degree_in_x(member: Member, e: Scalar) -> int | None:
    """The degree of a property in the place x; None where it is no polynomial."""
    return evaluate(e.tape, [e.i], lambda i: 1 if i == member.x.i else 0, _Degrees())[0]


def at_share(member: Member, e: Scalar, xi: Number) -> Scalar:
    """A property at x = ξ L."""
    return Scalar(e.tape, Rewrite(e.tape, {member.x.i: (member.length * xi).i})(e.i))


def rule_for(degree: int | None) -> Rule:
    """The rule that is exact for polynomials of this degree; for what is no polynomial, one that is good to rounding."""
    return gauss_rule(_SMOOTH_NODES) if degree is None else exact_rule(degree)


def total(degrees: Sequence[int | None]) -> int | None:
    """The degree of a product."""
    known = [d for d in degrees if d is not None]
    return sum(known) if len(known) == len(degrees) else None


def lowered(f: AdmissibleFunction, order: int) -> int | None:
    """The degree of a derivative."""
    return None if f.degree is None else max(f.degree - order, 0)


def moments(
    member: Member, c: Scalar, first: Sequence[tuple[AdmissibleFunction, int]], second: Sequence[tuple[AdmissibleFunction, int]]
) -> list[list[Scalar]]:
    """∫₀¹ c f⁽ᵏ⁾ g⁽ˡ⁾ dξ for all pairs (f, k), (g, l)."""
    degree = degree_in_x(member, c)
    if degree == 0:
        return [[c * _overlap(f, k, g, l) for g, l in second] for f, k in first]
    lowest = [lowered(f, k) for f, k in (*first, *second)]
    shape = None if None in lowest else 2 * max((d for d in lowest if d is not None), default=0)
    rule = rule_for(total([shape, degree]))
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
