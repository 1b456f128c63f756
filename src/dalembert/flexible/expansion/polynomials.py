"""p(ξ) = Σ c_k ξᵏ over the rational numbers, on 0 ≤ ξ ≤ 1: exact derivatives, integrals and orthogonal bases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Protocol

from flint import fmpq, fmpq_poly

from dalembert.algebra.normal_form.forms import Form, Term, to_scalar
from dalembert.algebra.normal_form.normal import normal_form
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Number


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

    def scaled(self, k: Number) -> Polynomial:
        """k p"""
        return Polynomial(self._p * _rational(k))

    def derivative(self, order: int) -> Polynomial:
        """dᵏp/dξᵏ"""
        p = self._p
        for _ in range(order):
            p = p.derivative()
        return Polynomial(p)

    @property
    def primitive(self) -> Polynomial:
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


def in_powers(e: Scalar, x: Scalar) -> dict[int, Scalar] | None:
    """{n: c_n} with e = Σ c_n xⁿ; None where e is no polynomial in x."""
    (form,) = normal_form(e.tape, (e.i,))
    hidden = any(x.name in f.symbols() for a in form.atoms() for f in a.arguments)
    if hidden or any(a.name == x.name for term in form.denominator for a, _ in term.powers):
        return None
    found: dict[int, list[Term]] = {}
    for term in form.numerator:
        n = next((k for a, k in term.powers if a.name == x.name), 0)
        found.setdefault(n, []).append(term._replace(powers=tuple(p for p in term.powers if p[0].name != x.name)))
    return {n: to_scalar(Form(tuple(terms), form.denominator), e.tape) for n, terms in found.items()}
