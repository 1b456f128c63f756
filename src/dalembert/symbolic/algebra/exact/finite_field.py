"""F_p with p ≡ 23 mod 24 behaves like the reals: −1 is no square, √2 and √3 exist, and "positive"
means "a square".
Keywords: finite field.

Squares form a group of odd order, so every positive number has exactly one positive root, as over
the reals: √(ab) = √a √b and √(x²) = |x| hold in F_p because x ↦ x^((p−1)/2) is a sign that
multiplies and flips with x. Angles are points of the circle c² + s² = 1, a cyclic group of order p
+ 1 ≡ 0 mod 24: multiples of π/12 are its elements of order 24, and the part of the group without
such torsion can be divided by 2, 3, … in one way only.

F_{p²} = F_p(i), i² = −1: every number of F_p has a root there, √f = i √−f where f is no square of
F_p. A number a + b i is the pair (a, b); one with b = 0 is the plain number a, so that zero is 0
wherever it comes from. √f √g = √(f g) and signs are not kept: the caller has to show that the roots
are independent of one another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from dalembert.errors import DalembertError

if TYPE_CHECKING:
    from random import Random

Circle = tuple[int, int]
Pair = tuple[int, int]
Element = int | Pair

SMALLEST_PERIOD: Final = 24
# the sizes of primes, the smallest first
SIZES: Final = (127, 255, 511, 1023)
_SMALL_PRIMES: Final = 7 * 11 * 13
_SIEVE: Final = math.prod(
    q for q in range(5, 400) if all(q % k for k in range(2, math.isqrt(q) + 1))
)
# no practical expression has √q next to cos(π/q) for a prime q above this
_LARGEST_GAUSS_SUM: Final = 1000


class BadPoint(DalembertError):
    """A random point at which the expression has no value: draw another one."""


class NoRoot(BadPoint):
    """A root of a number that is not positive (not a square) at this point: half of all points
    are like that.
    """


class NeverReal(NoRoot):
    """A root of something that is negative wherever it is not zero: no other point will do."""


# ---- primes ------------------------------------------------------------------------------------


def is_prime(n: int) -> bool:
    """Baillie–PSW: proved below 2⁶⁴, and no composite number that passes is known above."""
    from flint import fmpz

    return n > 1 and bool(fmpz(n).is_probable_prime())


def jacobi(a: int, n: int) -> int:
    """(a/n) for odd n: 1 for a square and −1 for a non-square when n is prime."""
    from flint import fmpz

    return int(fmpz(a % n).jacobi(n))


def random_prime(
    rng: Random, period: int = SMALLEST_PERIOD, squares: Iterable[int] = (), bits: int = SIZES[0]
) -> int:
    """A prime p of the given number of bits with p + 1 = period·m, m prime to the period, in which
    all of `squares` are squares.

    `period` is a multiple of 24, so p ≡ 23 mod 24; the circle then has an angle of a `period`-th of
    a full turn.
    """
    roots = tuple(squares)
    # √5 exists only where 5 divides p ± 1, so roots of other numbers give up division of angles by
    # 5
    avoid = _SMALL_PRIMES if roots else 5 * _SMALL_PRIMES
    coprime = period * avoid
    low = 1 << bits - 1
    m = rng.randrange(low // period + 1, 2 * low // period)
    while True:
        m += 1
        p = period * m - 1
        if math.gcd(m, coprime) != 1 or math.gcd(p - 1, avoid) != 1 or math.gcd(p, _SIEVE) != 1:
            continue
        if all(jacobi(a, p) == 1 for a in roots) and is_prime(p):
            return p


# ---- positive numbers --------------------------------------------------------------------------


def sign(x: int, p: int) -> int:
    """1, −1 or 0: whether x is a square, which multiplies, and changes its sign with x."""
    return jacobi(x, p) if x else 0


def square_root(f: int, p: int) -> int:
    """√f = f^((p+1)/4), the root that is itself a square; NoRoot where f is none."""
    y = pow(f, (p + 1) // 4, p)
    if y * y % p != f:
        msg = "the square root of something that is not positive at this point"
        raise NoRoot(msg)
    return y


def positive_power(x: int, n: int, d: int, p: int) -> int:
    """x^(n/d); for d > 1 the positive one, of a positive x."""
    if x == 0:
        msg = "a power of zero"
        raise BadPoint(msg)
    if d == 1:
        return pow(x, n, p)
    if sign(x, p) != 1:
        msg = f"a root of order {d} of something that is not positive at this point"
        raise NoRoot(msg)
    return pow(x, n * modular_inverse(d, (p - 1) // 2), p)


def modular_inverse(d: int, m: int) -> int:
    """1/d mod m; BadPoint where there is none (another prime will do)."""
    try:
        return pow(d, -1, m)
    except ValueError:
        msg = f"no division by {d} in this field"
        raise BadPoint(msg) from None


# ---- angles ------------------------------------------------------------------------------------


def circle_point(x: int, p: int) -> Circle:
    """((1 − x²)/(1 + x²), 2x/(1 + x²)); the denominator never vanishes because −1 is no square."""
    d = pow(1 + x * x, -1, p)
    return (1 - x * x) * d % p, 2 * x * d % p


def add_angles(a: Circle, b: Circle, p: int) -> Circle:
    """(cos(α + β), sin(α + β))"""
    return (a[0] * b[0] - a[1] * b[1]) % p, (a[0] * b[1] + a[1] * b[0]) % p


def multiply_angle(a: Circle, k: int, p: int) -> Circle:
    """(cos kα, sin kα)"""
    c, s = a
    if k < 0:
        k, s = -k, -s % p
    if k == 1:
        return c, s
    x, y = 1, 0
    while k:
        if k & 1:
            x, y = (x * c - y * s) % p, (x * s + y * c) % p
        c, s = (2 * c * c - 1) % p, 2 * c * s % p
        k >>= 1
    return x, y


def half_angle(a: Circle, p: int) -> Circle:
    """(cos α/2, sin α/2) for −π < α < π, where the cosine is positive."""
    c = square_root((1 + a[0]) * ((p + 1) // 2) % p, p)
    return c, a[1] * modular_inverse(2 * c, p) % p


def torsion(period: int, p: int) -> int:
    """The part of p + 1 made of the primes of `period`: multiples of it have no such torsion
    left.
    """
    rest = p + 1
    while (common := math.gcd(rest, period)) != 1:
        rest //= common
    return (p + 1) // rest


def unit_root(period: int, p: int) -> Circle:
    """(cos 2π/period, sin 2π/period), with the square roots in it positive."""
    if (p + 1) % period:
        msg = f"no angle of 1/{period} turn in this field"
        raise BadPoint(msg)
    r2, r6 = square_root(2, p), square_root(6, p)
    quarter = modular_inverse(4, p)
    twelfth = ((r6 + r2) * quarter % p, (r6 - r2) * quarter % p)
    if period == SMALLEST_PERIOD:
        return twelfth
    a = _primitive(period, p)
    # any generator satisfies the relations between angles; this picks the one that also agrees with
    # the roots √2, √3, √5, …
    odd = [q for q in prime_factors(period) if 3 < q < _LARGEST_GAUSS_SUM]
    for k in range(1, period):
        if (
            math.gcd(k, period) == 1
            and multiply_angle(a, k * (period // SMALLEST_PERIOD), p) == twelfth
        ):
            b = multiply_angle(a, k, p)
            if all(
                _gauss_sum(multiply_angle(b, period // q, p), q, p) == square_root(q, p)
                for q in odd
            ):
                return b
    raise AssertionError


def _primitive(period: int, p: int) -> Circle:
    for x in range(2, 10_000):
        a = multiply_angle(circle_point(x, p), (p + 1) // period, p)
        if all(multiply_angle(a, period // q, p) != (1, 0) for q in prime_factors(period)):
            return a
    raise AssertionError


def _gauss_sum(a: Circle, q: int, p: int) -> int:
    """Σ_j cos(2πj²/q) = √q for q ≡ 1 mod 4, and the same with sines for q ≡ 3 mod 4."""
    return sum(multiply_angle(a, j * j % q, p)[q % 4 == 3] for j in range(q)) % p


def prime_factors(n: int) -> list[int]:
    """The primes that divide n, in their order."""
    from flint import fmpz

    return [int(q) for q, _ in fmpz(n).factor()]


# ---- F_{p²} ------------------------------------------------------------------------------------


def pair(x: Element) -> Pair:
    """a + b i as (a, b)."""
    return x if isinstance(x, tuple) else (x, 0)


def element(a: int, b: int, p: int) -> Element:
    """a + b i, plain where b = 0."""
    a, b = a % p, b % p
    return (a, b) if b else a


def add(x: Element, y: Element, p: int) -> Element:
    """x + y"""
    if x.__class__ is int and y.__class__ is int:
        return (x + y) % p
    (a, b), (c, d) = pair(x), pair(y)
    return element(a + c, b + d, p)


def sub(x: Element, y: Element, p: int) -> Element:
    """x − y"""
    if x.__class__ is int and y.__class__ is int:
        return (x - y) % p
    (a, b), (c, d) = pair(x), pair(y)
    return element(a - c, b - d, p)


def mul(x: Element, y: Element, p: int) -> Element:
    """x y"""
    if x.__class__ is int and y.__class__ is int:
        return x * y % p
    (a, b), (c, d) = pair(x), pair(y)
    return element(a * c - b * d, a * d + b * c, p)


def neg(x: Element, p: int) -> Element:
    """−x"""
    return -x % p if isinstance(x, int) else element(-x[0], -x[1], p)


def reciprocal(x: Element, p: int) -> Element:
    """1/x; BadPoint for zero."""
    if not x:
        msg = "division by zero"
        raise BadPoint(msg)
    if isinstance(x, int):
        return pow(x, -1, p)
    a, b = x
    # a² + b² ≠ 0 because −1 is no square of F_p
    n = pow(a * a + b * b, -1, p)
    return element(a * n, -b * n, p)


def extension_sqrt(x: Element, p: int) -> Element:
    """A number with the square x: always there for x in F_p, for half of the others."""
    if isinstance(x, int):
        if sign(x, p) >= 0:
            return pow(x, (p + 1) // 4, p)
        return element(0, pow(-x % p, (p + 1) // 4, p), p)
    a, b = x
    norm = (a * a + b * b) % p
    if sign(norm, p) != 1:
        msg = "a root inside a root that does not exist at this point"
        raise NoRoot(msg)
    half = (p + 1) // 2
    s = pow(norm, (p + 1) // 4, p)
    t = (a + s) * half % p
    if sign(t, p) != 1:
        t = (a - s) * half % p
    c = pow(t, (p + 1) // 4, p)
    return element(c, b * half * pow(c, -1, p), p)
