from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
import sympy

from algebra.expressions import Rationals, at, close
from dalembert.errors import BadExpression
from dalembert.symbolic.algebra.functions import (
    acos,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    exp,
    log,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from dalembert.symbolic.algebra.scalar import Scalar, apply, as_node, common_tape, exact
from dalembert.symbolic.algebra.tape import Tape


@pytest.fixture
def tape():
    return Tape()


@pytest.fixture
def x(tape):
    return Scalar(tape, tape.moving_symbol("x"))


@pytest.fixture
def y(tape):
    return Scalar(tape, tape.moving_symbol("y"))


# ---- numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (9.81, Fraction(981, 100)),
        (0.1, Fraction(1, 10)),
        (1e-3, Fraction(1, 1000)),
        (2, 2),
        (Fraction(2, 6), Fraction(1, 3)),
        (Decimal("0.125"), Fraction(1, 8)),
        (numpy.float64(0.1), Fraction(1, 10)),
        (numpy.float32(0.5), Fraction(1, 2)),
        (numpy.int64(7), 7),
    ],
)
def test_numbers_are_taken_as_the_decimals_that_were_typed(number, value):
    assert value == exact(number)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (math.nan, "nan is not a finite number"),
        (math.inf, "inf is not a finite number"),
        (-math.inf, "-inf is not a finite number"),
        (Decimal("NaN"), "NaN is not a finite number"),
        (1j, "1j is complex: dalembert computes with real numbers"),
        (numpy.complex128(1 + 2j), "is complex: dalembert computes with real numbers"),
        (True, "expected a number or an expression, got True"),
        ("9.81", "expected a number or an expression, got '9.81'"),
        (None, "expected a number or an expression, got None"),
    ],
)
def test_what_is_no_finite_real_number_is_refused(number, message):
    with pytest.raises(BadExpression) as refused:
        exact(number)
    assert message in str(refused.value)


@pytest.mark.parametrize("number", [math.nan, math.inf, 1j])
def test_operators_refuse_bad_numbers(x, number):
    for operation in (
        lambda: x + number,
        lambda: number - x,
        lambda: x * number,
        lambda: number / x,
        lambda: x**number,
    ):
        with pytest.raises(BadExpression):
            operation()


@pytest.mark.parametrize("other", ["1", None, [1], object()])
def test_operators_leave_strangers_to_python(x, other):
    for operation in (lambda: x + other, lambda: other - x, lambda: x * other, lambda: x / other):
        with pytest.raises(TypeError):
            operation()


# ---- operators -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "k",
    [
        3,
        0.25,
        Fraction(2, 7),
        Decimal("1.5"),
        numpy.float64(1.25),
        numpy.int64(4),
        sympy.Rational(2, 3),
    ],
)
def test_operators_with_numbers_on_either_side(x, k):
    number = Fraction(int(k.p), int(k.q)) if isinstance(k, sympy.Rational) else Fraction(exact(k))
    v = Fraction(5, 11)
    for e, expected in (
        (x + k, v + number),
        (k + x, v + number),
        (x - k, v - number),
        (k - x, number - v),
        (x * k, v * number),
        (k * x, v * number),
        (x / k, v / number),
        (k / x, number / v),
    ):
        assert isinstance(e, Scalar)
        assert expected == at(e, {"x": v}, Rationals())


def test_operators_are_the_tape_s(tape, x, y):
    assert tape.add(x.i, y.i) == (x + y).i
    assert tape.sub(x.i, y.i) == (x - y).i
    assert tape.mul(x.i, y.i) == (x * y).i
    assert tape.div(x.i, y.i) == (x / y).i
    assert tape.neg(x.i) == (-x).i
    assert x == +x
    assert tape.call("abs", x.i) == abs(x).i


def test_powers(x, y):
    assert x * x == x**2
    assert 1 / (x * x * x) == x**-3
    assert sqrt(x) == x**0.5 == x ** Fraction(1, 2)
    assert sqrt(x) ** 3 == x**1.5
    assert exp(y * log(x)) == x**y
    assert exp(Fraction(1, 3) * log(x)) == x ** Fraction(1, 3)
    assert x**2 == x ** (x / x + 1)
    with pytest.raises(BadExpression, match="exponent 1001 is too large"):
        x**1001


def test_powers_of_numbers_stay_exact(x):
    two = Scalar(x.tape, x.tape.const(2))
    assert exp(x * log(two)) == 2**x
    assert exp(x) == math.e**x
    assert close(at(10**x, {"x": Fraction(3)}), 1000, 40)
    with pytest.raises(
        BadExpression, match=r"\(-2\)\*\*x is not real for every x: the base must be positive"
    ):
        (-2) ** x


def test_division_by_what_vanishes_identically(x):
    with pytest.raises(
        BadExpression, match="division by zero: the denominator vanishes identically"
    ):
        1 / (x - x)


# ---- identity ------------------------------------------------------------------------------


def test_equality_means_the_same_node(x, y):
    assert x + y == y + x
    assert x + y != x - y
    assert len({x + y, y + x, x * y}) == 2
    assert (x - x) == 0
    assert (x / x) == 1
    assert x != 1
    assert {x + y: "sum"}[y + x] == "sum"


def test_an_expression_is_neither_true_nor_false(x):
    with pytest.raises(TypeError, match="an expression is neither true nor false"):
        bool(x)


def test_value_and_name(x):
    assert x.name == "x"
    assert (x + 1).name is None
    assert x.value is None
    assert (x - x + 9.81).value == Fraction(981, 100)


def test_scalars_survive_pickling(x, y):
    e = sin(x) * y
    copy, cx, cy = pickle.loads(pickle.dumps((e, x, y)))
    assert copy == sin(cx) * cy
    assert copy != e


# ---- time ----------------------------------------------------------------------------------


def test_dot_is_the_total_derivative(tape, x, y):
    t = Scalar(tape, tape.symbol("t"))
    m = Scalar(tape, tape.symbol("m"))
    tape.moving.add(t.i)
    tape.rates[t.i] = tape.one
    assert x.dot.name == "x'"
    assert x.dot.dot.name == "x''"
    assert cos(x) * x.dot == sin(x).dot
    assert x.dot * y + x * y.dot == (x * y).dot
    assert cos(t) == sin(t).dot
    assert m.dot == 0
    assert m * x.dot == (m * x).dot


def test_the_rate_of_an_input_is_refused(tape, x):
    F = Scalar(tape, tape.symbol("F"))
    tape.inputs.add(F.i)
    with pytest.raises(BadExpression, match="the rate of the input F is unknown"):
        (F * x).dot  # noqa: B018 - asking is the test


# ---- relatives -----------------------------------------------------------------------------


def test_expressions_of_relatives_meet_on_the_younger_tape(tape, x, y):
    child = tape.fork()
    grown = Scalar(child, child.mul(x.i, y.i))
    assert (grown + x).tape is child
    assert (x + grown).tape is child
    assert grown + x == x + grown
    assert common_tape(tape, child) is common_tape(child, tape) is child


def test_expressions_of_siblings_can_be_combined(tape, x, y):
    left, right = tape.fork(), tape.fork()
    a, b = Scalar(left, left.call("sin", x.i)), Scalar(right, right.call("cos", y.i))
    e = a * b
    assert sin(Scalar(e.tape, x.i)) * cos(Scalar(e.tape, y.i)) == e
    assert a != b
    assert a.i == b.i


def test_systems_do_not_mix(x):
    stranger = Scalar(Tape(), 0)
    for operation in (
        lambda: x + stranger,
        lambda: stranger * x,
        lambda: as_node(x.tape, stranger),
        lambda: atan2(x, stranger),
    ):
        with pytest.raises(BadExpression, match="these belong to different systems"):
            operation()
    assert x != Scalar(Tape(), x.i)


def test_on_finds_numbers_and_sympy_expressions(tape, x):
    assert as_node(tape, 9.81) == tape.const(Fraction(981, 100))
    assert as_node(tape, sympy.Symbol("x") ** 2) == (x**2).i


# ---- functions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function", [sin, cos, tan, exp, log, sqrt, sinh, cosh, tanh, asin, acos, atan]
)
def test_functions_of_expressions_and_of_plain_numbers(x, function):
    v = Fraction(3, 8)
    expected = getattr(math, function.__name__)(0.375)
    assert expected == float(function(0.375))
    assert isinstance(function(x), Scalar)
    assert float(at(function(x), {"x": v})) == pytest.approx(expected, rel=1e-14)


def test_sign_and_atan2(x, y):
    assert (sign(-2.5), sign(0), sign(0.1)) == (-1, 0, 1)
    assert float(at(sign(x), {"x": Fraction(-3)})) == -1
    assert float(atan2(1.0, -1.0)) == math.atan2(1, -1)
    for e, point in (
        (atan2(x, y), {"x": 1, "y": -1}),
        (atan2(x, -1), {"x": 1}),
        (atan2(1, y), {"y": -1}),
    ):
        assert float(at(e, point)) == pytest.approx(math.atan2(1, -1))


def test_apply_refuses_plain_things():
    with pytest.raises(BadExpression, match=r"sin\('x'\): expected an expression of a system"):
        apply("sin", "x")
