"""p(ξ) = Σ c_k ξᵏ over the rational numbers, on 0 ≤ ξ ≤ 1: exact derivatives, integrals and orthogonal bases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dalembert.algebra.tape import Number
from dalembert.errors import NotApplicable


@dataclass(frozen=True)
class Polynomial:
    """Coefficients from the constant term up, without a vanishing leading one."""

    coefficients: tuple[Fraction, ...]

    @staticmethod
    def of(coefficients: Iterable[Number]) -> Polynomial:
        """From coefficients that may end in zeros."""
        c = [Fraction(x) for x in coefficients]
        while c and not c[-1]:
            c.pop()
        return Polynomial(tuple(c))

    @property
    def degree(self) -> int:
        """The degree; 0 for a constant and for zero."""
        return max(len(self.coefficients) - 1, 0)

    def __bool__(self) -> bool:
        return bool(self.coefficients)

    def __add__(self, other: Polynomial) -> Polynomial:
        a, b = self.coefficients, other.coefficients
        size = max(len(a), len(b))
        return Polynomial.of((a[k] if k < len(a) else Fraction(0)) + (b[k] if k < len(b) else Fraction(0)) for k in range(size))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scaled(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        product = [Fraction(0)] * max(len(self.coefficients) + len(other.coefficients) - 1, 0)
        for i, a in enumerate(self.coefficients):
            if a:
                for j, b in enumerate(other.coefficients):
                    product[i + j] += a * b
        return Polynomial.of(product)

    def scaled(self, k: Number) -> Polynomial:
        """k p"""
        return Polynomial.of(k * c for c in self.coefficients)

    @cached_property
    def slope(self) -> Polynomial:
        """dp/dξ"""
        return Polynomial.of(k * c for k, c in enumerate(self.coefficients) if k)

    def derivative(self, order: int) -> Polynomial:
        """dᵏp/dξᵏ"""
        p = self
        for _ in range(order):
            p = p.slope
        return p

    @cached_property
    def primitive(self) -> Polynomial:
        """∫₀^ξ p dξ"""
        return Polynomial.of([0, *(c / (k + 1) for k, c in enumerate(self.coefficients))])

    def __call__(self, xi: Number) -> Fraction:
        value = Fraction(0)
        for c in reversed(self.coefficients):
            value = value * xi + c
        return value

    def at(self, xi: Number, order: int = 0) -> Fraction:
        """The value of a derivative at ξ."""
        return self.derivative(order)(xi)


Inner = Callable[[Polynomial, Polynomial], Fraction]


def product_of(order: int) -> Inner:
    """⟨p, r⟩ = ∫₀¹ p⁽ᵏ⁾ r⁽ᵏ⁾ dξ"""

    def inner(p: Polynomial, r: Polynomial) -> Fraction:
        return (p.derivative(order) * r.derivative(order)).primitive(1)

    return inner


def orthogonalised(candidates: Sequence[Polynomial], inner: Inner) -> list[Polynomial]:
    """p_i − Σ_j ⟨p_i, o_j⟩/⟨o_j, o_j⟩ o_j   (Gram and Schmidt, exact)"""
    found: list[Polynomial] = []
    squares: list[Fraction] = []
    for p in candidates:
        rest = p
        for o, square in zip(found, squares, strict=True):
            rest = rest - o.scaled(inner(p, o) / square)
        found.append(rest)
        squares.append(inner(rest, rest))
    return found


class PolynomialArithmetic:
    """Evaluates a tape in ℚ[ξ]; what is no polynomial is refused."""

    def const(self, value: Number) -> Polynomial:
        return Polynomial.of([value])

    def pi(self) -> Polynomial:
        raise NotApplicable("π")  # noqa: EM101 - caught where polynomials are told from other functions

    def add(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a + b

    def sub(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a - b

    def mul(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a * b

    def div(self, a: Polynomial, b: Polynomial) -> Polynomial:
        if b.degree or not b:
            raise NotApplicable("a quotient")  # noqa: EM101, TRY003 - as above
        return a.scaled(1 / b.coefficients[0])

    def neg(self, a: Polynomial) -> Polynomial:
        return a.scaled(-1)

    def atan2(self, _a: Polynomial, _b: Polynomial) -> Polynomial:
        raise NotApplicable("atan2")  # noqa: EM101 - as above

    def call(self, function: str, _a: Polynomial, _node: int) -> Polynomial:
        raise NotApplicable(function)
