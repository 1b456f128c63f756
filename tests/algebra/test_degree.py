"""The bounds are never below the true degrees, and for polynomials in sines and cosines they do
not grow with every sum.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from flint import fmpq, fmpq_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.symbolic.algebra.exact.degree_bound import degrees, row_degrees
from dalembert.symbolic.algebra.exact.finite_field import is_prime
from dalembert.symbolic.algebra.exact.verdict import (
    DegreeBound,
    draws_for,
    error_after_draws,
    error_after_points,
    points_for,
    prime_bits_for,
)
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint
from dalembert.symbolic.algebra.expression_graph import dependencies, evaluate
from dalembert.symbolic.algebra.functions import (
    asin,
    atan2,
    cos,
    cosh,
    exp,
    log,
    sign,
    sin,
    sinh,
    sqrt,
)
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape


def symbols(names: str) -> list[Scalar]:
    tape = Tape()
    return [Scalar(tape, tape.symbol(name)) for name in names.split()]


def degree(e: Scalar) -> tuple[int, int]:
    return degrees(e.tape, [e.i])[0]


# ---- the bounds themselves ---------------------------------------------------------------------


def test_exponents_beyond_a_machine_word_are_exact():
    a, b = symbols("a b")
    e = sin(a) * cos(b)
    for _ in range(200):
        e = e * e
    # over (1 + x²)^(2^200) for each angle; the sum has the larger of the two denominators
    assert degree(e) == (4 * 2**200, 4 * 2**200)
    assert degree(e + sin(a) / cos(b)) == (4 * 2**200 + 2, 4 * 2**200 + 2)


def test_polynomials():
    x, y = symbols("x y")
    assert degree(x) == (1, 0)
    assert degree(0 * x + 7) == (0, 0)
    assert degree(x**5 * y + x**2) == (6, 0)
    assert degree(-(x**3) * Fraction(1, 7)) == (3, 0)


def test_quotients_share_their_denominators():
    x, y = symbols("x y")
    assert degree(x / y) == (1, 1)
    assert degree(x / y + y / x) == (2, 2)
    assert degree(1 / x + 1 / x**2 + 1 / x**3) == (2, 3)
    assert degree((x / y) / (x / y + 1)) == (1, 1)
    e = 0 * x
    for k in range(1, 20):
        e = e + x**k / (x + y)
    assert degree(e) == (19, 1)


def test_a_polynomial_in_sines_has_the_denominator_of_its_largest_term():
    x, y, a, b = symbols("x y a b")
    assert degree(sin(x)) == (2, 2)
    assert degree(sin(x) ** 2 + cos(x) ** 2) == (4, 4)
    assert degree(sin(x) * a + cos(x) * b + a * b) == (4, 2)
    assert degree(sin(x) * cos(y) + cos(x) * sin(y) - sin(x + y)) == (4, 4)
    e = 0 * x
    for k in range(1, 30):
        e = e + k * sin(x) * cos(y) ** 2 + a**k
    assert degree(e) == (29 + 6, 6)


def test_multiples_and_fractions_of_angles():
    (x,) = symbols("x")
    assert degree(sin(3 * x)) == (6, 6)
    # in the half tangent of x/6
    assert degree(sin(x / 2) + cos(x / 3)) == (6, 6)
    assert degree(sin(x) + cos(x / 3)) == (6, 6)
    assert degree(sin(x + Scalar(x.tape, x.tape.pi) / 3)) == (2, 2)


def test_functions():
    x, y = symbols("x y")
    assert degree(exp(x - 2 * y)) == (3, 3)
    assert degree(exp(x / 2) + exp(x / 3)) == (3, 3)
    assert degree(cosh(x) ** 2 - sinh(x) ** 2) == (4, 2)
    assert degree(cosh(2 * x)) == (4, 2)
    assert degree(log(x * y)) == (1, 0)
    assert degree(abs(x**3) * sign(y)) == (3, 0)
    assert degree(sqrt(x**4 + y)) == (2, 0)
    assert degree(sqrt(x / y)) == (1, 1)
    assert degree(x ** Fraction(7, 3)) == (3, 0)
    assert degree(log(exp(x * y))) == (2, 0)
    assert degree(sin(asin(x * y))) == (2, 2)
    assert degree(cos(atan2(x, y) / 2)) == (1, 1)


def test_given_nodes_share_one_denominator():
    x, y, a = symbols("x y a")
    e = x * a + y * a**2
    assert degrees(e.tape, [e.i], given={x.i: (10, 12), y.i: (11, 12)}) == [(13, 12)]
    product = x * y
    assert degrees(e.tape, [(a / product).i], given={product.i: (3, 0)}) == [(1, 3)]


def test_a_chain_of_divisions_doubles():
    (x,) = symbols("x")
    e = x
    for k in range(10):
        e = 1 / (e + k) + e
    assert degree(e)[0] > 1000


# ---- the bounds against the truth --------------------------------------------------------------


class Lines:
    """Rational functions of one variable: each random number of a point moves on a line of its
    own.
    """

    def __init__(self, point: SamplePoint, units: dict[tuple[bool, int], int]) -> None:
        self.point, self.units = point, units
        self.rng = random.Random(1)
        self.lines: dict[object, fmpq_poly] = {}

    def line(self, key: object) -> fmpq_poly:
        if key not in self.lines:
            self.lines[key] = fmpq_poly([self.rng.randrange(1, 1000), self.rng.randrange(1, 1000)])
        return self.lines[key]

    def const(self, value):
        return fmpq_poly([fmpq(value.numerator, value.denominator)]), fmpq_poly([1])

    def pi(self):
        return self.line("pi"), fmpq_poly([1])

    def _reduced(self, n, d):
        if d.degree() < 0:
            raise ZeroDivisionError
        g = n.gcd(d)
        return n // g, d // g

    def add(self, a, b):
        return self._reduced(a[0] * b[1] + b[0] * a[1], a[1] * b[1])

    def sub(self, a, b):
        return self._reduced(a[0] * b[1] - b[0] * a[1], a[1] * b[1])

    def mul(self, a, b):
        return self._reduced(a[0] * b[0], a[1] * b[1])

    def div(self, a, b):
        return self._reduced(a[0] * b[1], a[1] * b[0])

    def neg(self, a):
        return -a[0], a[1]

    def atan2(self, a, b):
        raise NotImplementedError

    def call(self, function, a, node):
        one = self.const(1)
        c, s, e = one, self.const(0), one
        for g, k in self.point.form(node).items():
            n = k * self.units[function == "exp", g]
            assert n.denominator == 1
            if function == "exp":
                x = self.line(("exp", g)), fmpq_poly([1])
                for _ in range(abs(int(n))):
                    e = self.mul(e, x) if n > 0 else self.div(e, x)
                continue
            x = self.line(("angle", g))
            c1, s1 = (1 - x * x, 1 + x * x), (2 * x if n > 0 else -2 * x, 1 + x * x)
            for _ in range(abs(int(n))):
                c, s = (
                    self.sub(self.mul(c, c1), self.mul(s, s1)),
                    self.add(self.mul(c, s1), self.mul(s, c1)),
                )
        return {"sin": s, "cos": c, "exp": e}[function]


def true_degrees(e: Scalar) -> tuple[int, int]:
    point = SamplePoint(e.tape, 5)
    point(e.i)
    units: dict[tuple[bool, int], int] = {}
    for i in dependencies(e.tape, [e.i]):
        op, a, _ = e.tape.nodes[i]
        if op in ("sin", "cos", "exp"):
            for g, c in point.form(a).items():
                units[op == "exp", g] = math.lcm(units.get((op == "exp", g), 1), c.denominator)
    lines = Lines(point, units)
    ((n, d),) = evaluate(e.tape, [e.i], lambda i: (lines.line(i), fmpq_poly([1])), lines)
    return max(n.degree(), 0), d.degree()


def grown(choices: list[tuple[int, int, int]]) -> Scalar:
    """An expression that grows by one operation after the other."""
    x, y = symbols("x y")
    pool = [x, y, sin(x), cos(x + y / 2)]
    for op, i, j in choices:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        if op == 3:
            pool.append(a if b.value == 0 else a / b)
        else:
            pool.append((a + b, a - b, a * b, a, a * a + b, sin(x * 2 + y), exp(x - y))[op])
    return pool[-1]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 20), st.integers(0, 20)), max_size=8))
def test_bounds_dominate_the_truth(choices):
    e = grown(choices)
    try:
        n, d = true_degrees(e)
    except (ZeroDivisionError, ValueError):
        # an identically vanishing denominator
        return
    assert (n <= degree(e)[0], d <= degree(e)[1]) == (True, True)


@pytest.mark.parametrize("k", range(1, 5))
def test_bounds_are_sharp_for_polynomials_in_sines(k):
    x, y, a = symbols("x y a")
    e = a * sin(k * x) * cos(y) + sin(x) ** k * cos(y) + a
    assert true_degrees(e) == degree(e) == (2 * k + 3, 2 * k + 2)


# ---- probabilities -----------------------------------------------------------------------------


def test_the_bound_is_what_the_field_shows():
    # over a small field the probability can be counted: p ≡ 23 mod 24
    x, y = symbols("x y")
    e = (x - 1) * (y - 2) * (x + y - 3)
    p = 71
    points = [SamplePoint(e.tape, seed, prime=p) for seed in range(4000)]
    frequency = sum(point(e.i) == 0 for point in points) / len(points)
    (row,) = row_degrees(e.tape, [e.i], points[0])
    assert 0.5 * 3 / p < frequency < 1.1 * row.zero_probability(points[0].generators.spread)


def test_angles_are_spread_evenly():
    (x,) = symbols("x")
    p = 77 * 24 - 1
    assert is_prime(p)
    seen = {SamplePoint(x.tape, seed, prime=p)(sin(x).i) for seed in range(1500)}
    # π − α is none of these angles, so their sines are all different
    assert len(seen) == 77


def test_degrees_count_the_roots_of_their_own_row():
    x, y = symbols("x y")
    e, f, g = x * y, sqrt(x) + y, sqrt(x) + sqrt(y + 1)
    assert [(r.above, r.log2_branches) for r in row_degrees(e.tape, [e.i, f.i, g.i])] == [
        (2, 0),
        (1, 2),
        (1, 4),
    ]


def test_bounds_of_points_and_draws():
    row = DegreeBound(8, 0)
    assert row.zero_probability(1 << 20) == pytest.approx(2**-17)
    assert error_after_points(row, 1 << 20, 3) == pytest.approx(2**-51)
    assert DegreeBound(8, 0, 3.0).zero_probability(1 << 20) == pytest.approx(2**-14)
    assert DegreeBound(0, 5).zero_probability(1 << 20) == 0
    # the denominator leaves no value
    assert DegreeBound(1, 1 << 20).zero_probability(1 << 20) == 1
    t = points_for([row], 1 << 20)
    assert error_after_points(row, 1 << 20, t) <= 1e-36 < error_after_points(row, 1 << 20, t - 1)
    # two signs that must coincide: (3/4)^k
    k = draws_for(2, 0.0)
    assert error_after_draws(DegreeBound(0, 0), 1 << 20, 2, k) == pytest.approx(0.75**k)
    assert 0.75**k <= 1e-36 < 0.75 ** (k - 1)
    assert draws_for(20, 0.0) is None


def test_larger_degrees_take_larger_primes():
    assert [
        prime_bits_for([DegreeBound(10**k, 0)], 24, 1e-12) for k in (2, 20, 60, 130, 290, 400)
    ] == [127, 127, 255, 511, 1023, None]


def test_the_statistics_of_missed_patterns():
    # an error that shows only where three signs coincide, in 4000 runs of 8 draws each
    rng = random.Random(3)
    missed = sum(all(rng.getrandbits(3) for _ in range(8)) for _ in range(4000)) / 4000
    assert missed == pytest.approx(error_after_draws(DegreeBound(0, 0), 1 << 60, 3, 8), abs=0.03)
