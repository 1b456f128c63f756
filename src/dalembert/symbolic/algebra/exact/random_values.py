"""What has no relations is an independent random number; everything else follows from its
generator.

A generator g is known by its value in F_p, so two ways of writing it agree. It carries an angle (a
point of the circle for cos g, sin g) and a positive number (for eᵍ), both independent of its value
as θ, sin θ and e^θ are; values of log, asin and atan remember what they came from, so that e^(log
x) = x and sin(asin x) = x. All are found by hashing (seed, what it is): nothing depends on the
order of asking or on the run.

i = Σ c g with rational c: the arguments of sines, cosines and exponentials are linear forms in
generators. A generator is neither a sum nor a product with a number (the smaller of ±); rational
numbers have g = 1. A full turn is divided finely enough that sines and cosines of all occurring
multiples of π have values.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Container, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import shake_128
from random import Random
from typing import TYPE_CHECKING, Final

from dalembert.symbolic.algebra.exact import finite_field
from dalembert.symbolic.algebra.exact.finite_field import (
    SMALLEST_PERIOD,
    BadPoint,
    Circle,
    Element,
    NoRoot,
    modular_inverse,
    multiply_angle,
)
from dalembert.symbolic.algebra.expression_graph import dependencies, has_pi
from dalembert.symbolic.algebra.tape import Number, Tape

if TYPE_CHECKING:
    from dalembert.symbolic.algebra.exact.sample_point import SamplePoint


def common_period(tape: Tape, outs: Sequence[int]) -> int:
    """The least multiple of 24 such that all multiples of π under sines and cosines are
    multiples of 2π/period.
    """
    period, pi = SMALLEST_PERIOD, tape.pi
    if not has_pi(tape, outs):
        return period
    turns = {
        a
        for op, a, _ in map(tape.nodes.__getitem__, dependencies(tape, outs))
        if op in ("sin", "cos")
    }
    if not has_pi(tape, turns):
        return period
    # each node's rational part and its multiple of π, as in its form
    parts: dict[int, tuple[Number, Number]] = {pi: (0, 1)}
    for i in dependencies(tape, sorted(turns)):
        op, a, b = tape.nodes[i]
        if op == "const":
            parts[i] = a, 0
        elif op in ("add", "sub", "mul", "neg"):
            (m, k), (n, j) = parts.get(a, (0, 0)), parts.get(b, (0, 0))
            part = {
                "add": (m + n, k + j),
                "sub": (m - n, k - j),
                "mul": (m * n, m * j + n * k),
                "neg": (-m, -k),
            }[op]
            if any(part):
                parts[i] = part
    return math.lcm(period, *(2 * parts.get(a, (0, 0))[1].denominator for a in turns))


class RandomValues:
    """The random numbers, angles and positive numbers of one point."""

    __slots__ = (
        "_bases",
        "_bytes",
        "_origins",
        "_unit",
        "period",
        "pi",
        "prime",
        "redraws",
        "seed",
        "spread",
    )

    def __init__(self, seed: int, prime: int, period: int) -> None:
        if prime % SMALLEST_PERIOD != SMALLEST_PERIOD - 1:
            msg = f"{prime} is no prime ≡ 23 mod 24: its field lacks √2 or √3, or has √−1"
            raise ValueError(msg)
        self.seed, self.prime, self.period = seed, prime, period
        # eight bytes to spare, so that no residue is much likelier than another
        self._bytes = prime.bit_length() // 8 + 9
        # angles are spread over this many points of the circle; every other generator has more
        # values
        self.spread = (prime + 1) // finite_field.torsion(period, prime)
        self.redraws: dict[str, int] = {}
        self.pi = self.independent_value("pi", "")
        self._unit: Circle | None = None
        self._bases: dict[int, Circle] = {}
        self._origins: dict[int, tuple[str, int]] = {}

    def random(self, kind: str, identity: object) -> int:
        """A number of more bits than any prime has that depends on nothing but the seed and its
        arguments.
        """
        return int.from_bytes(
            shake_128(f"{self.seed}|{kind}|{identity}".encode()).digest(self._bytes), "little"
        )

    def independent_value(self, kind: str, identity: object) -> int:
        """A random number in the lower half of the field, so that it and its negative are
        distinct.
        """
        return 1 + self.random(kind, identity) % ((self.prime - 1) // 2)

    def symbol(self, name: str) -> int:
        """The value of a symbol, never zero."""
        salt = self.redraws.get(name)
        return 1 + self.random("symbol", name if salt is None else f"{salt}|{name}") % (
            self.prime - 1
        )

    # ---- angles ------------------------------------------------------------------------------

    def angle(self, key: int, c: Number) -> Circle:
        """(cos c g, sin c g)"""
        if key == self.pi:
            return self._pi_multiple(c)
        n, d = c.numerator, c.denominator
        kind, x = self.origin(key)
        if kind in ("asin", "atan"):
            point = self._arc(kind, x)
            while d % 2 == 0:
                point, d = finite_field.half_angle(point, self.prime), d // 2
            if d == 1:
                return multiply_angle(point, n, self.prime)
            # there is no rational way to a third of an arc: let it be independent
        k = (
            n
            if c.denominator == 1
            else n * modular_inverse(c.denominator, self.spread) % self.spread
        )
        return multiply_angle(self._angle_point(key), k, self.prime)

    def _pi_multiple(self, c: Number) -> Circle:
        """(cos cπ, sin cπ)"""
        steps = Fraction(c * self.period, 2)
        if steps.denominator != 1:
            msg = f"no angle of {c} half turns in this field"
            raise BadPoint(msg)
        if self._unit is None:
            self._unit = finite_field.unit_root(self.period, self.prime)
        return multiply_angle(self._unit, steps.numerator % self.period, self.prime)

    def _angle_point(self, key: int) -> Circle:
        """A random point of that part of the circle in which angles can be divided."""
        angle_point = self._bases.get(key)
        if angle_point is None:
            p = self.prime
            angle_point = self._bases[key] = multiply_angle(
                finite_field.circle_point(self.random("angle", key) % p, p),
                (p + 1) // self.spread,
                p,
            )
        return angle_point

    def _arc(self, kind: str, x: int) -> Circle:
        """(√(1 − x²), x) for asin x and (1, x)/√(1 + x²) for atan x"""
        p = self.prime
        if kind == "asin":
            return finite_field.square_root((1 - x * x) % p, p), x
        c = modular_inverse(finite_field.square_root((1 + x * x) % p, p), p)
        return c, c * x % p

    # ---- positive numbers --------------------------------------------------------------------

    def power(self, key: int, c: Number) -> int:
        """e^(c g): the power of an independent positive number, or xᶜ if g = log x."""
        kind, x = self.origin(key)
        if kind != "log":
            x = self.independent_value("exp", key)
            x = x * x % self.prime
        return finite_field.positive_power(x, c.numerator, c.denominator, self.prime)

    # ---- inverse functions -------------------------------------------------------------------

    def origin(self, key: int) -> tuple[str, int]:
        """(function, x) if g = function(x) for log, asin or atan."""
        return self._origins.get(key, ("", 0))

    def log(self, x: int) -> int:
        if not x:
            msg = "the logarithm of zero"
            raise BadPoint(msg)
        return self._inverse("log", x)

    def odd_inverse(self, function: str, x: int) -> int:
        """asin x or atan x, which change their signs with x."""
        if not x:
            return 0
        return (
            self._inverse(function, x)
            if 2 * x < self.prime
            else self.prime - self._inverse(function, self.prime - x)
        )

    def _inverse(self, function: str, x: int) -> int:
        value = self.independent_value(function, x)
        self._origins[value] = function, x
        return value


@lru_cache(maxsize=256)
def prime_for(seed: int, period: int, squares: tuple[int, ...], bits: int) -> int:
    """The prime that belongs to a seed."""
    # a random point, not a secret
    return finite_field.random_prime(Random(f"{seed}|prime"), period, squares, bits)  # noqa: S311


Form = dict[int, Number]

# products of sums inside an angle are expanded up to this many terms: Ω(t + τ) is Ωt + Ωτ
_LARGEST_PRODUCT: Final = 200


class LinearCombinations:
    """The forms of the nodes of one point, found when asked for."""

    __slots__ = ("_given", "_known", "_point_reference")

    def __init__(self, point: SamplePoint, given: Container[int]) -> None:
        # the point keeps these forms; a cycle would outlive it until the next garbage collection
        self._point_reference, self._given = weakref.ref(point), given
        self._known: dict[int, Form] = {}

    @property
    def _point(self) -> SamplePoint:
        point = self._point_reference()
        assert point is not None
        return point

    def forget(self, i: int) -> None:
        """Node i has another value now."""
        self._known.pop(i, None)

    def __call__(self, i: int) -> Form:
        """{value of g: c}"""
        self._point(i)
        forms = self._known
        stack = [i]
        while stack:
            j = stack[-1]
            if j not in forms:
                missing = [k for k in self._terms(j) if k not in forms]
                if missing:
                    stack.extend(missing)
                    continue
                forms[j] = self._form(j)
            stack.pop()
        return forms[i]

    def _terms(self, i: int) -> tuple[int, ...]:
        """The nodes whose forms make up the form of i."""
        op, a, b = self._point.tape.nodes[i]
        if i in self._given:
            return ()
        if op in ("add", "sub", "mul", "div"):
            return (a, b)
        if op == "neg":
            return (a,)
        return (self._point.tape.nodes[a][1],) if op == "log" and self.is_exp(a) else ()

    def is_exp(self, i: int) -> bool:
        """Whether node i is an exponential, whose logarithm is known."""
        return i not in self._given and bool(self._point.tape.nodes[i][0] == "exp")

    def _form(self, i: int) -> Form:
        if i in self._given:
            return self._generator(self._point(i))
        op, a, b = self._point.tape.nodes[i]
        if op == "const":
            return {1: a} if a else {}
        if op == "acos":
            return _sum(
                {self._point.generators.pi: Fraction(1, 2)},
                self._generator(
                    self._point.generators.odd_inverse("asin", self._point.real_value(a))
                ),
                -1,
            )
        if op == "atan2":
            t, k = self._point.direction(a, b)
            return _sum(
                self._generator(self._point.generators.odd_inverse("atan", t)),
                {self._point.generators.pi: k} if k else {},
                1,
            )
        terms = [self._known[k] for k in self._terms(i)]
        if op in ("add", "sub"):
            return _sum(terms[0], terms[1], 1 if op == "add" else -1)
        if op == "neg":
            return {g: -c for g, c in terms[0].items()}
        if op == "mul" and len(terms[0]) * len(terms[1]) <= _LARGEST_PRODUCT:
            return self._product(terms[0], terms[1])
        if op == "div" and len(terms[0]) <= _LARGEST_PRODUCT:
            return self._product(terms[0], self._reciprocal(b))
        return terms[0] if op == "log" and terms else self._generator(self._point(i))

    def _generator(self, value: Element, c: Number = 1) -> Form:
        if not value:
            return {}
        if isinstance(value, tuple):
            msg = "an angle or an exponent with a root that is not real at this point"
            raise NoRoot(msg)
        return {value: c} if 2 * value < self._point.prime else {self._point.prime - value: -c}

    def _product(self, x: Form, y: Form) -> Form:
        if len(x) == 1 and 1 in x:
            return {g: x[1] * c for g, c in y.items()}
        product: Form = {}
        for g, c in x.items():
            for h, d in y.items():
                for key, k in self._generator(g * h % self._point.prime, c * d).items():
                    product[key] = product.get(key, 0) + k
        return {g: c for g, c in product.items() if c}

    def _reciprocal(self, b: int) -> Form:
        if len(self._known[b]) == 1:
            ((g, c),) = self._known[b].items()
            return self._generator(pow(g, -1, self._point.prime), 1 / Fraction(c))
        return self._generator(pow(self._point.real_value(b), -1, self._point.prime))


def _sum(x: Form, y: Form, factor: int) -> Form:
    """x + factor y, without zeros."""
    total = x | {g: x.get(g, 0) + factor * c for g, c in y.items()}
    return {g: c for g, c in total.items() if c}
