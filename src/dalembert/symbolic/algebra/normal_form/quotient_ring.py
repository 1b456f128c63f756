"""ℚ[x, …, c, s, …] / (s² + c² − 1, y² − f, …): the ring in which expressions are multiplied out.
Keywords: quotient ring.

Generators are added as they are met: symbols, the cosine and sine of basic angles, roots and other
functions. The youngest stands first in the lexicographic order, so that dividing by a relation such
as s² + c² − 1 replaces s² everywhere. Fractions are pairs (n, d); d is None where nothing is
divided by.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dalembert.errors import BadExpression, DalembertError
from dalembert.symbolic.algebra.tape import Number

# flint's polynomials carry no type hints
Poly = Any
Value = tuple[Poly, Poly | None]

MOST_PRODUCTS = 4_000_000
LONGEST_GCD = 1_000
LONGEST_TRIAL = 60
VANISHES = "division by zero: the denominator vanishes identically"


class TooLong(DalembertError):
    """An expression that has more terms, multiplied out, than anyone would read."""


class Ring:
    """Polynomials and fractions over generators that can be added to, modulo relations of degree
    two.
    """

    def __init__(self, limit: int, room: int = 0) -> None:
        import flint

        self.flint = flint
        self.limit = limit
        self.size = 0
        # generators of the context, some of which may wait to be used: a new context costs a
        # conversion of every polynomial
        self.room = -1
        self.expected = room
        self.context: Any = None
        # (generator, monic polynomial of degree two in it), youngest first
        self.relations: list[tuple[int, Poly]] = []
        # (generator, n, d) for y² = n/d
        self.fractions: list[tuple[int, Poly, Poly]] = []
        # generators whose sign may be turned to find a denominator's conjugate
        self.conjugates: list[int] = []
        self.grow(0)

    def grow(self, count: int) -> range:
        """Adds generators and returns their numbers; older polynomials must be brought along
        with `carried`.
        """
        new = range(self.size, self.size + count)
        self.size += count
        if self.size <= self.room:
            return new
        self.room = max(self.size, self.expected)
        names = [f"x{k}" for k in reversed(range(self.room))]
        self.context = self.flint.fmpq_mpoly_ctx.get(names, self.flint.Ordering.lex)
        self.one = self.context.constant(1)
        self.relations = [(k, self.in_current_context(p)) for k, p in self.relations]
        self.fractions = [
            (k, self.in_current_context(n), self.in_current_context(d))
            for k, n, d in self.fractions
        ]
        return new

    def in_current_context(self, p: Poly) -> Poly:
        return p if p.context() is self.context else p.project_to_context(self.context)

    def value_in_context(self, v: Value) -> Value:
        n, d = v
        return self.in_current_context(n), None if d is None else self.in_current_context(d)

    def generator(self, k: int) -> Poly:
        return self.context.gen(self.room - 1 - k)

    def relate(self, k: int, square: Value) -> None:
        """y² = n/d for generator k, where n and d have older generators only."""
        n, d = square
        self.conjugates.append(k)
        if d is None:
            self.relations.insert(0, (k, self.generator(k) ** 2 - n))
        else:
            self.fractions.insert(0, (k, n, d))

    def relate_circle(self, c: int, s: int) -> None:
        """s² = 1 − c²"""
        self.relate(s, (self.one - self.generator(c) ** 2, None))
        self.conjugates.append(c)

    def monomials(self, p: Poly) -> Iterator[tuple[tuple[tuple[int, int], ...], Any]]:
        """Each term's ((generator, exponent), …), oldest generator first, with its coefficient."""
        top = self.room - 1
        for exponents, k in p.terms():
            yield tuple((top - n, int(e)) for n, e in reversed(list(enumerate(exponents))) if e), k

    # ---- arithmetic --------------------------------------------------------------------------

    def const(self, value: Number) -> Value:
        return self.context.constant(self.flint.fmpq(value.numerator, value.denominator)), None

    def neg(self, a: Value) -> Value:
        return -a[0], a[1]

    def add(self, a: Value, b: Value) -> Value:
        (n, d), (m, e) = a, b
        if d is None and e is None:
            return self._check_length(n + m), None
        if d == e:
            return self.cancel(n + m, d)
        if d is None or e is None:
            below = e if d is None else d
            return self.cancel(
                self.times(n, below) + m if d is None else n + self.times(m, below), below
            )
        g = self._gcd(d, e)
        d_, e_ = d / g, e / g
        return self.cancel(self.times(n, e_) + self.times(m, d_), self.times(d, e_))

    def sub(self, a: Value, b: Value) -> Value:
        return self.add(a, (-b[0], b[1]))

    def mul(self, a: Value, b: Value) -> Value:
        (n, d), (m, e) = a, b
        if d is None and e is None and not self.fractions:
            return self.times(n, m), None
        below = self.one
        for x in (d, e):
            below = below if x is None else self.times(below, x)
        return self.cancel(self.times(n, m), below)

    def div(self, a: Value, b: Value) -> Value:
        (n, d), (m, e) = a, b
        if m.is_zero():
            raise BadExpression(VANISHES)
        if e is None and m.is_constant():
            return n / m, d
        top = n if e is None else self.times(n, e)
        return self.rationalize(*self.cancel(top, m if d is None else self.times(d, m)))

    def times(self, p: Poly, q: Poly) -> Poly:
        """p q, reduced by the relations."""
        if len(p) * len(q) > MOST_PRODUCTS:
            raise TooLong(self._message())
        return self._check_length(self.reduce(p * q))

    def reduce(self, p: Poly) -> Poly:
        if not self.relations:
            return p
        top = self.room - 1
        degrees = p.degrees()
        for k, relation in self.relations:
            if degrees[top - k] > 1:
                p = p % relation
                degrees = p.degrees()
        return p

    def _check_length(self, p: Poly) -> Poly:
        if len(p) > self.limit:
            raise TooLong(self._message())
        return p

    def _message(self) -> str:
        return f"more than {self.limit} terms when multiplied out"

    # ---- fractions ---------------------------------------------------------------------------

    def _gcd(self, p: Poly, q: Poly) -> Poly:
        if len(p) > LONGEST_GCD or len(q) > LONGEST_GCD:
            raise TooLong(self._message())
        return p.gcd(q)

    def cancel(self, n: Poly, d: Poly) -> Value:
        """n/d without common factor, with the denominator's leading coefficient 1."""
        n, d = self._without_squares(n, d)
        if d.is_zero():
            raise BadExpression(VANISHES)
        if n.is_zero():
            return n, None
        g = self._gcd(n, d)
        n, d = n / g, d / g
        k = d.leading_coefficient()
        return (
            (self._check_length(n / k), None)
            if d.is_constant()
            else (self._check_length(n / k), self._check_length(d / k))
        )

    def _without_squares(self, n: Poly, d: Poly) -> tuple[Poly, Poly]:
        """y² = a/b replaced above and below the bar."""
        for k, a, b in self.fractions:
            n, up = self._clear_squares(n, k, a, b)
            d, down = self._clear_squares(d, k, a, b)
            n, d = self.times(n, down), self.times(d, up)
        return n, d

    def _clear_squares(self, p: Poly, k: int, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        """(q, bʰ) with p = q/bʰ and q of degree below two in generator k."""
        half = int(p.degrees()[self.room - 1 - k]) // 2
        if half < 1:
            return p, self.one
        parts: dict[int, dict[tuple[int, ...], Any]] = {}
        at = self.room - 1 - k
        for exponents, coefficient in p.terms():
            e = int(exponents[at])
            parts.setdefault(e // 2, {})[(*exponents[:at], e % 2, *exponents[at + 1 :])] = (
                coefficient
            )
        total = self.context.constant(0)
        for h in sorted(parts):
            total += self.times(
                self.context.from_dict(parts[h]), self.reduce(a**h * b ** (half - h))
            )
        return self.reduce(total), self.reduce(b**half)

    def rationalize(self, n: Poly, d: Poly | None) -> Value:
        """n/d, or n d̄/(d d̄) where a conjugate d̄ of the denominator makes it shorter: (1 −
        cos²)/sin = sin.
        """
        if d is None:
            return n, None
        for k in self.conjugates:
            if d is None or len(n) + len(d) > LONGEST_TRIAL or d.degrees()[self.room - 1 - k] < 1:
                continue
            other = self._conjugate(d, k)
            square = self.times(d, other)
            if square.is_zero():
                continue
            top, below = self.cancel(self.times(n, other), square)
            if len(top) + (0 if below is None else len(below)) < len(n) + len(d):
                n, d = top, below
        return n, d

    def _conjugate(self, p: Poly, k: int) -> Poly:
        """p with the sign of generator k turned."""
        at = self.room - 1 - k
        return self.context.from_dict({e: -c if e[at] % 2 else c for e, c in p.terms()})
