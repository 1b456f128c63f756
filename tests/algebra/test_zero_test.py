"""Zero, not zero, or undecided: never a wrong word, and a bound for every yes."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction

import pytest

from dalembert.symbolic.algebra.exact import verdict
from dalembert.symbolic.algebra.exact.branches import BranchAnalysis
from dalembert.symbolic.algebra.exact.finite_field import extension_sqrt, mul, reciprocal, sub
from dalembert.symbolic.algebra.exact.signs_and_roots import (
    FactorAnalysis,
    denest_root,
    square_part,
)
from dalembert.symbolic.algebra.exact.verdict import TimeLimit, Undecided
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint, ZeroTest
from dalembert.symbolic.algebra.functions import asin, atan2, cos, exp, log, sign, sin, sqrt
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape


def symbols(names: str) -> list[Scalar]:
    tape = Tape()
    return [Scalar(tape, tape.symbol(name)) for name in names.split()]


def decide(e: Scalar, seed: int = 1) -> verdict.Decision:
    return ZeroTest(e.tape, seed=seed).decide([e.i])


def number(x: Scalar, value: int) -> Scalar:
    return Scalar(x.tape, x.tape.const(value))


X, Y, Z = symbols("x y z")
R2 = sqrt(number(X, 2))
R3 = sqrt(number(X, 3))

# true identities that must be shown
SHOWN = {
    "3 + 2√2 is a square": sqrt(3 + 2 * R2) - R2 - 1,
    "3 − 2√2 is a square": sqrt(3 - 2 * R2) - R2 + 1,
    "2 + √3": 2 * sqrt(2 + R3) - R2 * R3 - R2,
    "√50": (sqrt(number(X, 50)) - 5 * R2) * X,
    "a number under a root": sqrt(25 * X) - 5 * sqrt(X),
    "a decimal square": sqrt(Fraction(981, 100) ** 2 * X**2 * Y)
    - Fraction(981, 100) * abs(X) * sqrt(Y),
    "|5 x|": abs(5 * X) - 5 * abs(X),
    "|1 + x²|": abs(1 + X**2) - 1 - X**2,
    "|x² + exp y|": sign(X**2 + exp(Y)) - 1,
    "|√2 − 1|": (abs(R2 - 1) - R2 + 1) * X,
    "|1 − √2|": (abs(1 - R2) + 1 - R2) * X,
    "√x² = |x|": sqrt(X**2) - abs(X),
    "eight signs": abs(X * Y * Z) - abs(X) * abs(Y) * abs(Z),
    "independent roots": (sqrt(X) + sqrt(Y)) ** 2 - X - Y - 2 * sqrt(X) * sqrt(Y),
    "hidden product": sqrt(X**2 - Y**2) - sqrt(X - Y) * sqrt(X + Y),
    "atan2": cos(atan2(Y, X)) * sqrt(X**2 + Y**2) - X,
    "√(2 + √2)": (sqrt(2 + R2) ** 2 - 2 - R2) * X,
}
# true identities that a prime field may not see: these are never denied
NOT_DENIED = {
    "a square in disguise with a number": sqrt(25 * X**2 + 50 * X * Y + 25 * Y**2) - 5 * abs(X + Y),
    "never negative": abs(X**2 + X * Y + Y**2) - X**2 - X * Y - Y**2,
    "logarithms": log(exp(X) * (1 + Y**2)) - X - log(1 + Y**2),
    "an arc": asin(sin(Fraction(1, 10) + 0 * X)) - Fraction(1, 10),
    "two nested roots": (sqrt(2 + R2) * (1 + R2) - sqrt((2 + R2) * (3 + 2 * R2))) * X,
}
WRONG = {
    "3 + 2√2, other branch": (sqrt(3 + 2 * R2) + R2 + 1) * X,
    "3 − 2√2, other branch": (sqrt(3 - 2 * R2) - 1 + R2) * X,
    "√50, other branch": (sqrt(number(X, 50)) + 5 * R2) * X,
    "√25x, other branch": sqrt(25 * X) + 5 * sqrt(X),
    "|x|": abs(X) - X,
    "|x| |y|": (abs(X) - X) * (abs(Y) - Y),
    "five signs": (abs(X) - X)
    * (abs(Y) - Y)
    * (abs(Z) - Z)
    * (abs(X - Y) - X + Y)
    * (abs(Y - Z) - Y + Z),
    "root of a square": sqrt(X**2) - X,
    "hidden product": sqrt(X**2 - Y**2) + sqrt(X - Y) * sqrt(X + Y),
    "hidden square": sqrt(25 * X**2 + 50 * X * Y + 25 * Y**2) - 5 * (X + Y),
    "atan2 is not atan": cos(atan2(Y, X)) * sqrt(X**2 + Y**2) - abs(X),
    "atan2, sign": atan2(Y, X) - atan2(Y, abs(X)),
}


@pytest.mark.parametrize("name", SHOWN)
def test_true_identities_are_shown(name):
    for seed in range(4):
        found = decide(SHOWN[name], seed)
        assert found.zero == (True,), found
        assert found.bound <= 1e-30


@pytest.mark.parametrize("name", NOT_DENIED)
def test_true_identities_are_not_denied(name):
    for seed in range(4):
        found = decide(NOT_DENIED[name], seed)
        assert found.zero[0] is not False
        assert found.zero[0] or found.why


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refuted(name):
    assert [(False,)] * 6 == [decide(WRONG[name], seed).zero for seed in range(6)]


# ---- degrees
# ---------------------------------------------------------------------------------------


def test_decimal_angles_leave_a_bound():
    x, y = symbols("x y")
    a, b = Fraction("1.5707963267948966"), Fraction("0.7853981633974483")
    e = sin(x + a) * cos(y - b) - sin(x + a - y + b) / 2 - sin(x + a + y - b) / 2
    found = decide(e)
    assert found.all_zero
    assert 0 < found.bound <= 1e-30
    # 0.7853981633974483 is half of it: the field knows
    assert decide(sin(x + 2 * b) - sin(x + a)).all_zero
    assert decide(sin(x + a) - cos(x)).zero == (False,)


def test_decimal_multiples_of_coordinates_and_time():
    x, t = symbols("x t")
    w = Fraction("6.2831853071795862")
    e = cos(w * t + Fraction("0.1234567890123") * x) - cos(w * t) * cos(
        Fraction("0.1234567890123") * x
    )
    assert decide(e + sin(w * t) * sin(Fraction("0.1234567890123") * x)).bound <= 1e-30
    assert decide(e).zero == (False,)


def test_a_large_degree_takes_a_larger_prime():
    x, y = symbols("x y")
    small = Fraction(1, 10**40)
    found = decide(
        sin(x * small + y) - sin(x * small) * cos(y) - cos(x * small) * sin(y) + sin(x) - sin(x)
    )
    assert found.all_zero
    found = decide(sin(x + small * x) - sin(x) * cos(small * x) - cos(x) * sin(small * x))
    assert found.all_zero
    assert found.bits > 127
    assert 0 < found.bound <= 1e-30


def test_a_degree_beyond_all_primes_is_undecided():
    x, y = symbols("x y")
    tiny = Fraction(1, 10**400)
    found = decide(sin(x + tiny * x) - sin(x) * cos(tiny * x) - cos(x) * sin(tiny * x))
    assert found.zero == (None,)
    assert found.bound == 1
    assert "degree" in found.why
    assert y is not None


# ---- roots and signs
# -------------------------------------------------------------------------------


def springs(count: int) -> tuple[Scalar, list[Scalar]]:
    x, y = symbols("x y")
    lengths = [sqrt((x - k) ** 2 + (y - k * k) ** 2 + 1) for k in range(1, count + 1)]
    return x, lengths


def test_many_roots_of_the_same_symbols_need_no_luck():
    x, lengths = springs(24)
    total = sum(lengths, 0 * x)
    e = total * total - sum((a * b for a in lengths for b in lengths), 0 * x)
    found = decide(e)
    assert found.all_zero, found.why
    assert found.bound <= 1e-30
    assert decide(e + lengths[3] - lengths[4] / 1000).zero == (False,)
    assert decide(lengths[7] ** 2 - (x - 8) ** 2 - 1).zero == (False,)


def test_many_signs_are_drawn():
    tape = Tape()
    xs = [Scalar(tape, tape.symbol(f"x{k}")) for k in range(12)]
    right = sum((abs(a) * abs(a) - a * a for a in xs), 0 * xs[0])
    found = decide(right)
    assert found.all_zero, found.why
    assert found.bound <= 1e-30
    assert found.points > 200
    assert decide(right + (abs(xs[3]) - xs[3]) * (abs(xs[9]) - xs[9])).zero == (False,)


def test_signs_that_would_all_have_to_coincide_are_undecided():
    tape = Tape()
    xs = [Scalar(tape, tape.symbol(f"x{k}")) for k in range(14)]
    product = 0 * xs[0] + 1
    for a in xs:
        product = product * (abs(a) - a)
    same = 0 * xs[0] + 1
    for a in reversed(xs):
        same = same * (abs(a) - a)
    found = decide(product - same)
    assert found.zero == (None,)
    assert "coincide" in found.why


def test_branches_are_counted_row_by_row():
    x, y, z = symbols("x y z")
    rows = [x * y, abs(x) * y, abs(x) * sign(y * z) + sqrt(z**2 * x)]
    branches = BranchAnalysis(x.tape, lambda k: SamplePoint(x.tape, k, redraw=False))
    assert [len(branches.of([r.i]).atoms) for r in rows] == [0, 1, 3]
    assert [branches.of([r.i]).related for r in rows] == [0, 0, 0]


def test_relations_between_radicands_are_found():
    x, y = symbols("x y")
    branches = BranchAnalysis(
        x.tape,
        lambda k: SamplePoint(
            x.tape, 100 + k, 2**89 * 0 + SamplePoint(x.tape, 1).prime, redraw=False
        ),
    )
    assert not branches.of([(sqrt(x) + sqrt(y) + sqrt(x + y)).i]).dependent
    # x² − y² is a product that the structure does not show
    assert branches.of([(sqrt(x - y) + sqrt(x + y) + sqrt(x**2 - y**2)).i]).related == 1
    assert branches.of([(sqrt(7 * x) + sqrt(x)).i]).related == 0


# ---- time
# ------------------------------------------------------------------------------------------


def test_what_takes_too_long_is_undecided(monkeypatch):
    x, y = symbols("x y")
    e = (x + y) ** 2 - x**2 - 2 * x * y - y**2
    now = iter(range(0, 1000, 4))
    monkeypatch.setattr(verdict.time, "thread_time", lambda: float(next(now)))
    found = ZeroTest(e.tape, seed=1, clock=TimeLimit(3.0)).decide([e.i])
    assert found.zero == (None,)
    assert "not decided within 3 s" in found.why


def test_a_clock_stops(monkeypatch):
    monkeypatch.setattr(verdict.time, "thread_time", lambda: 100.0)
    clock = TimeLimit(5.0)
    clock.check()
    monkeypatch.setattr(verdict.time, "thread_time", lambda: 106.0)
    with pytest.raises(Undecided, match="within 5 s"):
        clock.check()


# ---- what it rests on
# ------------------------------------------------------------------------------


def test_points_end_with_their_test():
    t = Tape()
    x, y = t.symbol("x"), t.symbol("y")
    e = t.sub(t.call("cos", t.add(x, y)), t.mul(t.call("cos", x), t.call("cos", y)))
    test = ZeroTest(t)
    assert test.decide([e]).zero == (False,)
    point = weakref.ref(test.first_point)
    gc.disable()
    try:
        del test
        # no cycle keeps its values until the next garbage collection
        assert point() is None
    finally:
        gc.enable()


def test_roots_in_the_quadratic_extension():
    p = SamplePoint(Tape(), 1).prime
    for x in (2, 5, 7, p - 3, 10**20, (3, 4), (0, 2)):
        try:
            y = extension_sqrt(x, p)
        except ArithmeticError:
            continue
        assert mul(y, y, p) == x
        assert mul(reciprocal(x, p), x, p) == 1
        assert sub(x, x, p) == 0


def test_factors_and_squares():
    x, y = symbols("x y")
    structure = FactorAnalysis(x.tape)
    assert structure.factors((-12 * x**2 * y / (x + y) ** 3).i) == (
        -12,
        {x.i: 2, y.i: 1, (x + y).i: -3},
    )
    assert structure.is_nonnegative((x**2 + sqrt(y) + 3).i)
    assert not structure.is_nonnegative((x**2 - 1).i)
    assert structure.is_nonpositive((-(x**2) * sqrt(y)).i)
    assert square_part(Fraction(50, 9)) == (Fraction(5, 3), 2)


def test_simpler_roots():
    (x,) = symbols("x")
    r2 = sqrt(number(x, 2))
    assert denest_root(x.tape, (3 + 2 * r2).i) == {1: 1, 2: 1}
    assert denest_root(x.tape, (3 - 2 * r2).i) == {1: -1, 2: 1}
    assert denest_root(x.tape, (2 + r2).i) is None
