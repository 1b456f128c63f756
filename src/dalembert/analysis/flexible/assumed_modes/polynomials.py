"""p(ξ) = Σ c_k ξᵏ over the rational numbers, on 0 ≤ ξ ≤ 1: exact derivatives, integrals and
orthogonal bases.

∫₀ᴸ c(x) f(x/L) g(x/L) dx for a property c of a member is exact where c, f and g are polynomials,
else to rounding: ∫₀¹ p dξ = Σ w_k p(ξ_k) with rational nodes near those of Gauss and Legendre, and
weights that make the rule exact in ℚ. Gauss's own nodes are irrational. A rule through m rational
nodes is exact for polynomials below degree m, whatever the nodes are; near Gauss's nodes its
weights are positive, so that the nodes can carry masses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, Protocol

from flint import fmpq, fmpq_poly

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.model.flexible_member import Member
from dalembert.symbolic.algebra.expression_graph import Substitution, symbols_of
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, Term, to_scalar
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Number


class AdmissibleFunction(Protocol):
    """φ(ξ) on 0 ≤ ξ ≤ 1; its degree is None where it is no polynomial."""

    @property
    def degree(self) -> int | None: ...
    def at(self, xi: Number, order: int = 0) -> Fraction:
        """φ⁽ᵏ⁾(ξ)"""
        ...


class Polynomial:
    """Coefficients from the constant term up; the arithmetic is flint's."""

    __slots__ = ("_p",)

    def __init__(self, p: fmpq_poly) -> None:
        self._p = p

    @staticmethod
    def of(coefficients: Iterable[Number]) -> Polynomial:
        """From coefficients that may end in zeros."""
        return Polynomial(fmpq_poly([_rational(c) for c in coefficients]))

    @property
    def coefficients(self) -> tuple[Fraction, ...]:
        """From the constant term up, without a vanishing leading one."""
        return tuple(fraction(c) for c in self._p.coeffs())

    @property
    def degree(self) -> int:
        """The degree; 0 for a constant and for zero."""
        return max(int(self._p.degree()), 0)

    def __bool__(self) -> bool:
        return bool(self._p.degree() >= 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.coefficients == other.coefficients

    def __hash__(self) -> int:
        return hash(self.coefficients)

    def __reduce__(self) -> tuple[object, ...]:
        return Polynomial.of, (self.coefficients,)

    def __repr__(self) -> str:
        return f"Polynomial({', '.join(map(str, self.coefficients))})"

    def __add__(self, other: Polynomial) -> Polynomial:
        return Polynomial(self._p + other._p)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return Polynomial(self._p - other._p)

    def __mul__(self, other: Polynomial) -> Polynomial:
        return Polynomial(self._p * other._p)

    def scale(self, k: Number) -> Polynomial:
        """k p"""
        return Polynomial(self._p * _rational(k))

    def derivative(self, order: int) -> Polynomial:
        """dᵏp/dξᵏ"""
        p = self._p
        for _ in range(order):
            p = p.derivative()
        return Polynomial(p)

    @property
    def antiderivative(self) -> Polynomial:
        """∫₀^ξ p dξ"""
        return Polynomial(self._p.integral())

    def __call__(self, xi: Number) -> Fraction:
        return fraction(self._p(_rational(xi)))

    def at(self, xi: Number, order: int = 0) -> Fraction:
        """The value of a derivative at ξ."""
        return self.derivative(order)(xi)


def _rational(x: Number) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def fraction(x: fmpq) -> Fraction:
    """A rational number of flint as one of Python."""
    return Fraction(int(x.p), int(x.q))


InnerProduct = Callable[[Polynomial, Polynomial], Fraction]


def inner_product(order: int) -> InnerProduct:
    """⟨p, r⟩ = ∫₀¹ p⁽ᵏ⁾ r⁽ᵏ⁾ dξ"""

    def inner(p: Polynomial, r: Polynomial) -> Fraction:
        return (p.derivative(order) * r.derivative(order)).antiderivative(1)

    return inner


def gram_schmidt(candidates: Sequence[Polynomial], inner: InnerProduct) -> list[Polynomial]:
    """p_i − Σ_j ⟨p_i, o_j⟩/⟨o_j, o_j⟩ o_j   (Gram and Schmidt, exact)"""
    basis: list[Polynomial] = []
    squares: list[Fraction] = []
    for p in candidates:
        rest = p
        for o, square in zip(basis, squares, strict=True):
            rest = rest - o.scale(inner(p, o) / square)
        basis.append(rest)
        squares.append(inner(rest, rest))
    return basis


def polynomial_coefficients(e: Scalar, x: Scalar) -> dict[int, Scalar] | None:
    """{n: c_n} with e = Σ c_n xⁿ; None where e is no polynomial in x."""
    (form,) = normal_form(e.tape, (e.i,))
    hidden = any(x.name in f.symbols() for a in form.atoms() for f in a.arguments)
    if hidden or any(a.name == x.name for term in form.denominator for a, _ in term.powers):
        return None
    terms_by_power: dict[int, list[Term]] = {}
    for term in form.numerator:
        n = next((k for a, k in term.powers if a.name == x.name), 0)
        terms_by_power.setdefault(n, []).append(
            term._replace(powers=tuple(p for p in term.powers if p[0].name != x.name))
        )
    return {
        n: to_scalar(RationalForm(tuple(terms), form.denominator), e.tape)
        for n, terms in terms_by_power.items()
    }


# ---- rules and integrals -------------------------------------------------------------------------

# the digits to which Gauss's nodes are rounded, and the most that are tried until all weights are
# positive
_MIN_DIGITS: Final = 2
_MAX_DIGITS: Final = 8
# nodes that integrate a smooth function which is no polynomial to rounding
_SMOOTH_NODES: Final = 32


@dataclass(frozen=True)
class QuadratureRule:
    """Nodes and weights on 0 ≤ ξ ≤ 1; `exact` up to this degree in ℚ, None: to rounding only."""

    nodes: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    exact: int | None

    def __len__(self) -> int:
        return len(self.nodes)


@lru_cache(maxsize=64)
def exact_rule(degree: int) -> QuadratureRule:
    """A rule that integrates every polynomial up to this degree exactly."""
    count = degree + 1
    for digits in range(_MIN_DIGITS, _MAX_DIGITS + 1):
        nodes = _rational_nodes(count, 10**digits)
        if len(set(nodes)) == count and nodes[0] > 0:
            weights = _weights(nodes)
            if min(weights) > 0:
                return QuadratureRule(nodes, weights, degree)
    msg = f"no rational rule for degree {degree}"
    raise AssertionError(msg)


@lru_cache(maxsize=64)
def gauss_rule(count: int) -> QuadratureRule:
    """Gauss and Legendre's rule, its nodes and weights to rounding."""
    nodes, weights = _gauss(count)
    return QuadratureRule(tuple(map(Fraction, nodes)), tuple(map(Fraction, weights)), None)


def _gauss(count: int) -> tuple[list[float], list[float]]:
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(count)
    return [(1 + float(x)) / 2 for x in nodes], [float(w) / 2 for w in weights]


def _rational_nodes(count: int, scale: int) -> tuple[Fraction, ...]:
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
    weights = []
    for x in nodes:
        # Horner's scheme divides by ξ − ξ_k; the quotient at ξ_k is the denominator
        quotient = [Fraction(0)] * len(nodes)
        carry = Fraction(0)
        for i in range(len(nodes), 0, -1):
            carry = coefficients[i] + carry * x
            quotient[i - 1] = carry
        others = Polynomial.of(quotient)
        weights.append(others.antiderivative(1) / others(x))
    return tuple(weights)


def degree_in_x(member: Member, e: Scalar) -> int | None:
    """The degree of a property in the place x; None where it is no polynomial."""
    if member.x.i not in symbols_of(e.tape, (e.i,)):
        return 0
    powers = polynomial_coefficients(e, member.x)
    return None if powers is None else max(powers, default=0)


def max_degree(degrees: Iterable[int | None]) -> int | None:
    """The highest of some degrees; None where one of them is that of no polynomial."""
    degree_list = list(degrees)
    return (
        None if None in degree_list else max((d for d in degree_list if d is not None), default=0)
    )


def property_at(member: Member, e: Scalar, xi: Number) -> Scalar:
    """A property at x = ξ L."""
    return Scalar(e.tape, Substitution(e.tape, {member.x.i: (member.length * xi).i})(e.i))


def quadrature_for_degree(degree: int | None) -> QuadratureRule:
    """The rule that is exact for polynomials of this degree; for what is no polynomial, one that
    is good to rounding.
    """
    return gauss_rule(_SMOOTH_NODES) if degree is None else exact_rule(degree)


def modal_integrals(
    member: Member,
    c: Scalar,
    first: Sequence[tuple[AdmissibleFunction, int]],
    second: Sequence[tuple[AdmissibleFunction, int]],
) -> list[list[Scalar]]:
    """∫₀¹ c f⁽ᵏ⁾ g⁽ˡ⁾ dξ for all pairs (f, k), (g, l)."""
    degree = degree_in_x(member, c)
    if degree == 0:
        return [[c * _overlap_integral(f, k, g, l) for g, l in second] for f, k in first]
    shape = max_degree(
        None if f.degree is None else max(f.degree - k, 0) for f, k in (*first, *second)
    )
    rule = quadrature_for_degree(None if shape is None or degree is None else 2 * shape + degree)
    here = [property_at(member, c, xi) * w for xi, w in zip(rule.nodes, rule.weights, strict=True)]
    left, right = (
        [[f.at(xi, k) for xi in rule.nodes] for f, k in each] for each in (first, second)
    )
    zero = Scalar(c.tape, c.tape.zero)
    return [
        [
            sum((e * (x * y) for e, x, y in zip(here, a, b, strict=True) if x * y), start=zero)
            for b in right
        ]
        for a in left
    ]


def _overlap_integral(f: AdmissibleFunction, k: int, g: AdmissibleFunction, l: int) -> Fraction:
    """∫₀¹ f⁽ᵏ⁾ g⁽ˡ⁾ dξ"""
    if isinstance(f, Polynomial) and isinstance(g, Polynomial):
        return (f.derivative(k) * g.derivative(l)).antiderivative(1)
    rule = quadrature_for_degree(None)
    return sum(
        (w * f.at(x, k) * g.at(x, l) for w, x in zip(rule.weights, rule.nodes, strict=True)),
        start=Fraction(0),
    )
