"""What has no relations is an independent random number; everything else follows from its generator.

A generator g is known by its value in F_p, so two ways of writing it agree. It carries an angle (a point of the
circle for cos g, sin g) and a positive number (for eᵍ), both independent of its value as θ, sin θ and e^θ are;
values of log, asin and atan remember what they came from, so that e^(log x) = x and sin(asin x) = x.
All are found by hashing (seed, what it is): nothing depends on the order of asking or on the run.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from hashlib import shake_128
from random import Random

from dalembert.algebra.exact.modular import (
    SMALLEST_PERIOD,
    BadPoint,
    Circle,
    circle_point,
    full_turn,
    half,
    inverse,
    multiple,
    positive_power,
    random_prime,
    square_root,
    torsion,
)
from dalembert.algebra.tape import Number


class Generators:
    """The random numbers, angles and positive numbers of one point."""

    __slots__ = ("_bases", "_bytes", "_origins", "_unit", "period", "pi", "prime", "salts", "seed", "spread")

    def __init__(self, seed: int, prime: int, period: int) -> None:
        if prime % SMALLEST_PERIOD != SMALLEST_PERIOD - 1:
            msg = f"{prime} is no prime ≡ 23 mod 24: its field lacks √2 or √3, or has √−1"
            raise ValueError(msg)
        self.seed, self.prime, self.period = seed, prime, period
        # eight bytes to spare, so that no residue is much likelier than another
        self._bytes = prime.bit_length() // 8 + 9
        # angles are spread over this many points of the circle; every other generator has more values
        self.spread = (prime + 1) // torsion(period, prime)
        self.salts: dict[str, int] = {}
        self.pi = self.fresh("pi", "")
        self._unit: Circle | None = None
        self._bases: dict[int, Circle] = {}
        self._origins: dict[int, tuple[str, int]] = {}

    def random(self, kind: str, identity: object) -> int:
        """A number of more bits than any prime has that depends on nothing but the seed and its arguments."""
        return int.from_bytes(shake_128(f"{self.seed}|{kind}|{identity}".encode()).digest(self._bytes), "little")

    def fresh(self, kind: str, identity: object) -> int:
        """A random number in the lower half of the field, so that it and its negative are told apart."""
        return 1 + self.random(kind, identity) % ((self.prime - 1) // 2)

    def symbol(self, name: str) -> int:
        """The value of a symbol, never zero."""
        salt = self.salts.get(name)
        return 1 + self.random("symbol", name if salt is None else f"{salt}|{name}") % (self.prime - 1)

    # ---- angles ------------------------------------------------------------------------------

    def angle(self, key: int, c: Number) -> Circle:
        """(cos c g, sin c g)"""
        if key == self.pi:
            return self._turn(c)
        n, d = c.numerator, c.denominator
        kind, x = self.origin(key)
        if kind in ("asin", "atan"):
            point = self._arc(kind, x)
            while d % 2 == 0:
                point, d = half(point, self.prime), d // 2
            if d == 1:
                return multiple(point, n, self.prime)
            # there is no rational way to a third of an arc: let it be independent
        k = n if c.denominator == 1 else n * inverse(c.denominator, self.spread) % self.spread
        return multiple(self._base(key), k, self.prime)

    def _turn(self, c: Number) -> Circle:
        """(cos cπ, sin cπ)"""
        steps = Fraction(c * self.period, 2)
        if steps.denominator != 1:
            msg = f"no angle of {c} half turns in this field"
            raise BadPoint(msg)
        if self._unit is None:
            self._unit = full_turn(self.period, self.prime)
        return multiple(self._unit, steps.numerator % self.period, self.prime)

    def _base(self, key: int) -> Circle:
        """A random point of that part of the circle in which angles can be divided."""
        found = self._bases.get(key)
        if found is None:
            p = self.prime
            found = self._bases[key] = multiple(circle_point(self.random("angle", key) % p, p), (p + 1) // self.spread, p)
        return found

    def _arc(self, kind: str, x: int) -> Circle:
        """(√(1 − x²), x) for asin x and (1, x)/√(1 + x²) for atan x"""
        p = self.prime
        if kind == "asin":
            return square_root((1 - x * x) % p, p), x
        c = inverse(square_root((1 + x * x) % p, p), p)
        return c, c * x % p

    # ---- positive numbers --------------------------------------------------------------------

    def power(self, key: int, c: Number) -> int:
        """e^(c g): the power of an independent positive number, or xᶜ if g = log x."""
        kind, x = self.origin(key)
        if kind != "log":
            x = self.fresh("exp", key)
            x = x * x % self.prime
        return positive_power(x, c.numerator, c.denominator, self.prime)

    # ---- inverse functions -------------------------------------------------------------------

    def origin(self, key: int) -> tuple[str, int]:
        """(function, x) if g = function(x) for log, asin or atan."""
        return self._origins.get(key, ("", 0))

    def log(self, x: int) -> int:
        if not x:
            msg = "the logarithm of zero"
            raise BadPoint(msg)
        return self._inverse("log", x)

    def odd(self, function: str, x: int) -> int:
        """asin x or atan x, which change their signs with x."""
        if not x:
            return 0
        return self._inverse(function, x) if 2 * x < self.prime else self.prime - self._inverse(function, self.prime - x)

    def _inverse(self, function: str, x: int) -> int:
        value = self.fresh(function, x)
        self._origins[value] = function, x
        return value


@lru_cache(maxsize=256)
def prime_for(seed: int, period: int, squares: tuple[int, ...], bits: int) -> int:
    """The prime that belongs to a seed."""
    return random_prime(Random(f"{seed}|prime"), period, squares, bits)  # noqa: S311 - a random point, not a secret
