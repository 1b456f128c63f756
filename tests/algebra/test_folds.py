from __future__ import annotations

import math
from fractions import Fraction

import numpy
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.expressions import (
    DIGITS,
    NAMES,
    RATIONAL,
    Rationals,
    at,
    close,
    fresh,
    points,
    rationals,
    texts,
)
from dalembert.errors import NotLinear
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic, FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    dependencies,
    evaluate,
    function_derivative,
    gradient,
    nodes_depending_on,
    operands,
    symbols_of,
)
from dalembert.symbolic.algebra.functions import atan2, cos, exp, log, sin, sqrt
from dalembert.symbolic.algebra.parser import parse
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sympy_conversion import to_sympy
from dalembert.symbolic.algebra.tape import FUNCTIONS

STEP = Fraction(1, 10**15)


def central_difference(e: Scalar, point: dict[str, Fraction], along: dict[str, Fraction]):
    """(e(p + h d) − e(p − h d)) / 2h in fifty digits: good to about thirty."""
    ahead = at(e, {k: v + STEP * along[k] for k, v in point.items()})
    behind = at(e, {k: v - STEP * along[k] for k, v in point.items()})
    return (ahead - behind) / DIGITS.const(2 * STEP)


# ---- evaluate ------------------------------------------------------------------------------


@given(texts(), points)
@settings(max_examples=60)
def test_floats_and_arrays_agree_with_fifty_digits(text, point):
    tape, names = fresh()
    e = parse(text, names, tape)
    expected = at(e, point)
    values = {tape.names[k]: float(v) for k, v in point.items()}
    assert float(expected) == pytest.approx(
        evaluate(tape, [e.i], values.__getitem__, FloatArithmetic())[0], rel=1e-6, abs=1e-6
    )
    many = {i: numpy.full(3, v) for i, v in values.items()}
    batch = evaluate(tape, [e.i], many.__getitem__, ArrayArithmetic())[0]
    assert numpy.broadcast_to(batch, 3) == pytest.approx([float(expected)] * 3, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", [-0.7, 0.0, 0.4])
def test_each_function_in_floats_and_arrays(function, x):
    if function in ("log", "sqrt") and x <= 0:
        x = 0.25
    tape, names = fresh()
    e = tape.call(function, names["x"].i)
    expected = {"abs": abs, "sign": lambda a: math.copysign(1, a) if a else 0}.get(
        function
    ) or getattr(math, function)
    assert expected(x) == evaluate(tape, [e], lambda _: x, FloatArithmetic())[0]
    assert [expected(x)] * 2 == pytest.approx(
        evaluate(tape, [e], lambda _: numpy.array([x, x]), ArrayArithmetic())[0]
    )


def test_given_values_stand_in_for_nodes():
    tape, names = fresh()
    inner = sin(names["x"])
    e = inner * 2 + names["y"]
    assert evaluate(
        tape, [e.i, inner.i], {names["y"].i: 1.0}.__getitem__, FloatArithmetic(), {inner.i: 10.0}
    ) == [21.0, 10.0]


def test_needed_lists_operands_first_and_symbols_in_order_of_creation():
    tape, names = fresh()
    e = sin(names["z"] * names["x"]) + names["z"] / 3
    nodes = dependencies(tape, [e.i])
    for place, i in enumerate(nodes):
        assert all(a in nodes[:place] for a in operands(*tape.nodes[i]))
    assert [names["x"].i, names["z"].i] == symbols_of(tape, [e.i])
    assert names["y"].i not in nodes


def test_depends_on_marks_only_what_contains_the_symbols():
    tape, names = fresh()
    inside = sin(names["x"])
    outside = cos(names["y"])
    e = inside * outside
    moved = nodes_depending_on(tape, [e.i], [names["x"].i])
    assert {names["x"].i, inside.i, e.i} == moved


# ---- derivative and gradient -----------------------------------------------------------------


@given(texts(), points, points)
@settings(max_examples=150)
def test_the_derivative_along_rates_is_the_limit_of_differences(text, point, rates):
    tape, names = fresh()
    e = parse(text, names, tape)
    rate = {tape.names[k]: tape.const(v) for k, v in rates.items()}
    d = Scalar(tape, Derivative(tape, rate.get)(e.i))
    assert close(central_difference(e, point, rates), at(d, point))


@given(texts(), points)
@settings(max_examples=150)
def test_the_gradient_is_the_derivative_along_each_symbol(text, point):
    tape, names = fresh()
    e = parse(text, names, tape)
    wrt = [names[k].i for k in NAMES]
    for k, g in zip(NAMES, gradient(tape, {e.i: tape.one}, wrt), strict=True):
        unit = {name: Fraction(name == k) for name in NAMES}
        assert close(central_difference(e, point, unit), at(Scalar(tape, g), point))


@given(texts(max_leaves=4), points)
@settings(max_examples=40)
def test_the_derivative_is_that_of_sympy(text, point):
    tape, names = fresh()
    e = parse(text, names, tape)
    one = {names["x"].i: tape.one}
    d = Scalar(tape, Derivative(tape, one.get)(e.i))
    expected = sympy.diff(to_sympy(e), sympy.Symbol("x")).evalf(
        30, {k: sympy.Rational(v.numerator, v.denominator) for k, v in point.items()}
    )
    assert close(DIGITS.mp.mpf(str(expected)), at(d, point))


@given(texts(RATIONAL), texts(RATIONAL), points, rationals, rationals)
@settings(max_examples=60)
def test_seeds_weigh_several_expressions(first, second, point, a, b):
    tape, names = fresh()
    e, f = parse(first, names, tape), parse(second, names, tape)
    wrt = [names[k].i for k in NAMES]
    seeds: dict[int, int] = {}
    for node, weight in ((e.i, a), (f.i, b)):
        seeds[node] = tape.add(seeds.get(node, tape.zero), tape.const(weight))
    together = gradient(tape, seeds, wrt)
    for k, total in zip(wrt, together, strict=True):
        (ge,), (gf,) = gradient(tape, {e.i: tape.one}, [k]), gradient(tape, {f.i: tape.one}, [k])
        exact = Rationals()
        expected = a * at(Scalar(tape, ge), point, exact) + b * at(Scalar(tape, gf), point, exact)
        assert expected == at(Scalar(tape, total), point, exact)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_slope_of_each_function(function):
    tape, names = fresh()
    x = names["x"]
    e = Scalar(tape, tape.call(function, x.i))
    d = Scalar(tape, function_derivative(tape, function, x.i, e.i))
    point = {"x": Fraction(2, 7)}
    assert close(central_difference(e, point, {"x": Fraction(1)}), at(d, point), 20)


def test_derivatives_of_what_does_not_move_add_no_nodes():
    tape, names = fresh()
    m = tape.symbol("m")
    e = Scalar(tape, m) ** 2 * sin(Scalar(tape, m))
    length = len(tape)
    assert Derivative(tape, tape.rate)(e.i) == tape.zero
    assert gradient(tape, {e.i: tape.one}, [names["x"].i]) == [tape.zero]
    assert length == len(tape)


def test_found_derivatives_are_kept():
    tape, names = fresh()
    asked = []

    def rate(i):
        asked.append(i)
        return tape.rate(i)

    derivative = Derivative(tape, rate)
    e = sin(names["x"]) * names["y"]
    assert derivative(e.i) == derivative(e.i)
    derivative((e + names["x"]).i)
    assert sorted(asked) == [names["x"].i, names["y"].i]


# ---- linear ----------------------------------------------------------------------------------


@given(st.lists(texts(RATIONAL, 3), min_size=3, max_size=3), points, points)
@settings(max_examples=60)
def test_linear_finds_the_coefficients(coefficients, point, speeds):
    tape, names = fresh()
    u = [Scalar(tape, tape.symbol(f"u{k}")) for k in range(3)]
    k0, k1, k2 = (parse(text, names, tape) for text in coefficients)
    e = k0 * (u[0] - k1) / (1 + k2**2) - (k1 * u[1] - u[0]) * k2 + 2 * u[2] / 3
    c, ks = LinearCoefficients(tape, [a.i for a in u])(e.i)
    values = point | {f"u{r}": speeds[name] for r, name in enumerate(NAMES)}
    exact = Rationals()
    parts = [at(Scalar(tape, k), point, exact) * values[f"u{r}"] for r, k in ks.items()]
    assert at(e, values, exact) == at(Scalar(tape, c), point, exact) + sum(parts)


def test_linear_keeps_only_nonzero_coefficients():
    tape, names = fresh()
    x, y, z = (names[k] for k in NAMES)
    linear = LinearCoefficients(tape, [x.i, y.i])
    assert linear((z * (x + y) - z * y).i) == (tape.zero, {0: z.i})
    assert linear(sin(z).i) == (sin(z).i, {})
    assert linear(tape.const(7)) == (tape.const(7), {})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x, y, _: x * y, "not linear in x, y"),
        (lambda x, _, z: x**2 * z, "not linear in x"),
        (lambda x, _, z: z / x, "not linear in x"),
        (lambda _, y, z: z + sin(y), "not linear in y"),
        (lambda x, y, z: atan2(x, z) + y, "not linear in x"),
        (lambda x, _, z: sqrt(x * z), "not linear in x"),
    ],
)
def test_what_is_not_linear_is_refused_by_name(make, message):
    tape, names = fresh()
    x, y, z = (names[k] for k in NAMES)
    with pytest.raises(NotLinear) as refused:
        LinearCoefficients(tape, [x.i, y.i])(make(x, y, z).i)
    assert message == str(refused.value)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x, y, z: sin(x + z - x) * y, lambda y, z: (0, {1: sin(z)})),
        (lambda x, y, z: (x + z - x) * y, lambda y, z: (0, {1: z})),
        (lambda x, y, z: y / (x + z - x), lambda y, z: (0, {1: 1 / z})),
        (lambda x, y, z: y - atan2(z, x + z - x), lambda y, z: (-atan2(z, z), {1: 1})),
    ],
)
def test_what_cancels_does_not_make_an_expression_nonlinear(make, expected):
    tape, names = fresh()
    x, y, z = (names[k] for k in NAMES)
    c, ks = expected(y, z)
    found, coefficients = LinearCoefficients(tape, [x.i, y.i])(make(x, y, z).i)
    assert Scalar(tape, found) == c
    assert list(coefficients) == list(ks)
    assert all(Scalar(tape, coefficients[r]) == k for r, k in ks.items())


# ---- rewrite -----------------------------------------------------------------------------------


@given(texts(RATIONAL), texts(RATIONAL, 3), points)
@settings(max_examples=60)
def test_rewrite_replaces_a_symbol_wherever_it_occurs(text, by, point):
    tape, names = fresh()
    e, f = parse(text, names, tape), parse(by, names, tape)
    exact = Rationals()
    replaced = Scalar(tape, Substitution(tape, {names["x"].i: f.i})(e.i))
    assert at(e, point | {"x": at(f, point, exact)}, exact) == at(replaced, point, exact)


def test_rewrite_replaces_at_once_not_in_turn():
    tape, names = fresh()
    x, y = names["x"], names["y"]
    swap = Substitution(tape, {x.i: y.i, y.i: x.i})
    assert Scalar(tape, swap((sin(x) - exp(y) * log(y)).i)) == sin(y) - exp(x) * log(x)


def test_rewrite_leaves_the_rest_alone_and_folds():
    tape, names = fresh()
    x, y, z = (names[k] for k in NAMES)
    assert Substitution(tape, {x.i: tape.zero})((sin(x) * y + cos(z)).i) == cos(z).i
    assert Substitution(tape, {sin(x).i: y.i})((sin(x) + cos(x)).i) == (y + cos(x)).i
