from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings

from algebra.expressions import NAMES, RATIONAL, Rationals, at, close, fresh, points, texts
from dalembert.errors import BadExpression
from dalembert.symbolic.algebra import functions
from dalembert.symbolic.algebra.functions import atan2, cos, exp, log, sin, sqrt, tan
from dalembert.symbolic.algebra.parser import parse
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sympy_conversion import from_sympy, to_sympy
from dalembert.symbolic.algebra.tape import FUNCTIONS

X, Y, Z = sympy.symbols(NAMES)


@pytest.fixture
def system():
    tape, names = fresh()
    names["m"] = Scalar(tape, tape.symbol("m"))
    names["theta"] = Scalar(tape, tape.moving_symbol("theta"))
    return tape, names


# ---- there ---------------------------------------------------------------------------------


def test_symbols_go_by_name_and_numbers_exactly(system):
    _, n = system
    assert to_sympy(n["theta"]) == sympy.Symbol("theta")
    assert to_sympy(n["theta"].dot) == sympy.Symbol("theta'")
    assert to_sympy(n["theta"].dot.dot) == sympy.Symbol("theta''")
    assert to_sympy(9.81 * n["x"]) == sympy.Rational(981, 100) * X
    assert to_sympy(n["x"] - n["x"]) == 0


def test_operators_and_functions_become_sympy_s(system):
    _, n = system
    x, y = n["x"], n["y"]
    assert to_sympy(x + y - x * y / (x - 2)) == X + Y - X * Y / (X - 2)
    assert to_sympy(-(x**3)) == -(X**3)
    assert to_sympy(atan2(x, y)) == sympy.atan2(X, Y)
    assert to_sympy(tan(x)) == sympy.sin(X) / sympy.cos(X)
    for name in FUNCTIONS:
        expected = sympy.Abs(X) if name == "abs" else getattr(sympy, name)(X)
        assert to_sympy(Scalar(x.tape, x.tape.call(name, x.i))) == expected


def test_a_scalar_hands_itself_out(system):
    assert system[1]["x"].sympy() == X


@given(texts(), points)
@settings(max_examples=60)
def test_sympy_gets_the_same_value(text, point):
    tape, names = fresh()
    e = parse(text, names, tape)
    values = {k: sympy.Rational(v.numerator, v.denominator) for k, v in point.items()}
    expected = at(e, point)
    actual = to_sympy(e).evalf(30, values)
    assert close(expected, type(expected)(str(actual)))


def test_what_sympy_finds_to_be_infinite_is_refused(system):
    _, n = system
    x, y = n["x"], n["y"]
    hidden = (x + y) - x - y
    with pytest.raises(
        BadExpression, match="division by zero: for SymPy a denominator vanishes identically"
    ):
        to_sympy(x / hidden)
    with pytest.raises(BadExpression, match=r"log\(0\) is not a finite number"):
        to_sympy(log(hidden))
    with pytest.raises(BadExpression, match=r"atan2\(0, 0\) is not a number"):
        to_sympy(atan2(hidden, hidden))


def test_a_long_sum_takes_a_moment(system):
    tape, n = system
    e = n["x"]
    for k in range(1500):
        term = Scalar(tape, tape.symbol(f"c{k}")) * (k + 1)
        e = term - e if k % 3 else e + term
    terms = to_sympy(e).args
    assert len(terms) == 1501
    assert from_sympy(tape, sympy.Add(*terms)).value is None


def test_sums_used_again_and_again_are_added_up_once(system):
    _, n = system
    a, b = n["x"], n["y"]
    for _ in range(200):
        a, b = a + b, a
    coefficients = to_sympy(a).as_coefficients_dict()
    assert {X: sympy.fibonacci(201), Y: sympy.fibonacci(200)} == dict(coefficients)


def test_what_is_too_deep_for_sympy_is_refused(system, monkeypatch):
    def recurse(e):
        return recurse(e)

    monkeypatch.setattr(sympy, "sin", recurse)
    with pytest.raises(BadExpression, match="the expression is nested too deeply for SymPy"):
        to_sympy(sin(system[1]["x"]))


# ---- and back ------------------------------------------------------------------------------


@given(texts(RATIONAL), points)
@settings(max_examples=100)
def test_rational_expressions_return_exactly(text, point):
    tape, names = fresh()
    e = parse(text, names, tape)
    back = from_sympy(tape, to_sympy(e))
    exact = Rationals()
    assert at(e, point, exact) == at(back, point, exact)


@given(texts(), points)
@settings(max_examples=100)
def test_expressions_return_with_the_same_value(text, point):
    tape, names = fresh()
    e = parse(text, names, tape)
    back = from_sympy(tape, to_sympy(e))
    assert close(at(e, point), at(back, point), 30)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_returns(system, name):
    x = system[1]["x"]
    e = Scalar(x.tape, x.tape.call(name, x.i))
    assert e == from_sympy(x.tape, to_sympy(e))


@pytest.mark.parametrize(
    ("expr", "make"),
    [
        (X + 2 * Y, lambda x, y: x + 2 * y),
        (X / Y, lambda x, y: x / y),
        (X**-2, lambda x, y: 1 / x**2),
        (sympy.sqrt(X), lambda x, y: sqrt(x)),
        (X ** sympy.Rational(3, 2), lambda x, y: sqrt(x) ** 3),
        (X ** sympy.Rational(-1, 2), lambda x, y: 1 / sqrt(x)),
        (X ** sympy.Rational(1, 4), lambda x, y: sqrt(sqrt(x))),
        (X ** sympy.Rational(1, 3), lambda x, y: exp(Fraction(1, 3) * log(x))),
        (X**Y, lambda x, y: exp(y * log(x))),
        (2**X, lambda x, y: 2**x),
        (sympy.exp(X), lambda x, y: exp(x)),
        (sympy.tan(X), lambda x, y: tan(x)),
        (sympy.tanh(X), lambda x, y: functions.tanh(x)),
        (sympy.cot(X), lambda x, y: cos(x) / sin(x)),
        (sympy.sec(X), lambda x, y: 1 / cos(x)),
        (sympy.csc(X), lambda x, y: 1 / sin(x)),
        (sympy.Abs(X), lambda x, y: abs(x)),
        (sympy.atan2(X, Y), atan2),
    ],
)
def test_what_sympy_writes_has_one_meaning_here(system, expr, make):
    tape, n = system
    assert make(n["x"], n["y"]) == from_sympy(tape, expr)


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (sympy.Integer(7), 7),
        (sympy.Rational(2, 3), Fraction(2, 3)),
        (sympy.Rational(1, 2), Fraction(1, 2)),
        (sympy.Float(9.81), Fraction(981, 100)),
        (sympy.Float("0.1", 50), Fraction(1, 10)),
        (sympy.Float(0.1 + 0.2), Fraction(repr(0.1 + 0.2))),
        (sympy.Integer(0), 0),
        (sympy.Integer(-1), -1),
    ],
)
def test_numbers_arrive_exactly(system, number, value):
    assert value == from_sympy(system[0], number).value


def test_pi_and_e(system):
    tape, n = system
    assert from_sympy(tape, sympy.pi).i == tape.pi
    assert from_sympy(tape, sympy.E) == exp(n["x"] / n["x"])
    assert from_sympy(tape, sympy.cos(sympy.pi * X)) == cos(Scalar(tape, tape.pi) * n["x"])


def test_rates_are_found_or_made(system):
    tape, n = system
    assert "theta'" not in tape.names
    assert from_sympy(tape, sympy.Symbol("theta''")) == n["theta"].dot.dot


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (
            sympy.Symbol("thet") + X,
            "unknown symbol 'thet' in a SymPy expression: did you mean 'theta'?",
        ),
        (sympy.Symbol("qqq"), "unknown symbol 'qqq' in a SymPy expression"),
        (sympy.Symbol("m'"), "unknown symbol 'm'' in a SymPy expression: did you mean 'm'?"),
        (sympy.I * X, "a SymPy expression contains I: dalembert computes with finite real numbers"),
        (
            sympy.oo,
            "a SymPy expression contains oo, which is not a finite number that dalembert knows",
        ),
        (
            sympy.nan,
            "a SymPy expression contains nan, which is not a finite number that dalembert knows",
        ),
        (sympy.zoo, "a SymPy expression contains zoo: dalembert computes with finite real numbers"),
        (
            sympy.EulerGamma + X,
            (
                "a SymPy expression contains EulerGamma, which is not a finite number that "
                "dalembert "
                "knows"
            ),
        ),
        (sympy.gamma(X), "a SymPy expression contains the unknown function 'gamma'"),
        (sympy.Function("f")(X), "a SymPy expression contains the unknown function 'f'"),
        (
            sympy.Derivative(sympy.Function("f")(X), X),
            "a SymPy expression contains the unknown function 'Derivative'",
        ),
        (
            sympy.Piecewise((X, sympy.Eq(X, 0)), (Y, True)),
            (
                "a SymPy expression has a piece for Eq(x, 0); pieces are selected by inequalities "
                ""
                "such as t < 2"
            ),
        ),
        (sympy.Integral(X, X), "a SymPy expression contains the unknown function 'Integral'"),
        (X > 0, "expected a SymPy expression, got StrictGreaterThan"),
        (sympy.Matrix([X]), "expected a SymPy expression, got MutableDenseMatrix"),
        (sympy.true, "expected a SymPy expression, got BooleanTrue"),
        ((-1) ** X, "log(-1) is not a real number"),
        (X**1001, "exponent 1001 is too large: at most 1000 in size"),
    ],
)
def test_what_has_no_meaning_here_is_refused(system, expr, message):
    with pytest.raises(BadExpression) as refused:
        from_sympy(system[0], expr)
    assert message == str(refused.value)


def test_a_large_expression_is_read_without_recursion(system):
    tape, n = system
    e = X
    for k in range(3000):
        e = sympy.Mul(sympy.Add(e, sympy.Integer(k + 2), evaluate=False), Y, evaluate=False)
    f = n["x"]
    for k in range(3000):
        f = n["y"] * (f + (k + 2))
    assert f == from_sympy(tape, e)
