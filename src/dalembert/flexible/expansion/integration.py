"""∫₀ᴸ c(x) f(x/L) g(x/L) dx for a property c of a member: exact where c, f and g are polynomials, else to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dalembert.algebra.folds import Rewrite, evaluate
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Number
from dalembert.flexible.expansion.admissible import SMOOTH_NODES, AdmissibleFunction
from dalembert.flexible.expansion.polynomials import Polynomial
from dalembert.flexible.expansion.quadrature import Rule, exact_rule, gauss_rule
from dalembert.model.member import Member


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
    return gauss_rule(SMOOTH_NODES) if degree is None else exact_rule(degree)


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
