"""Numbers that stay exact: √2² = 2, sin² 0.3 + cos² 0.3 = 1, wherever they are taken up."""

import math
import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert.symbolic.algebra.exact.zero_test import provably_zero


def test_equality_is_exact():
    r = da.sqrt(2)
    assert r * r == 2
    assert r**2 == 2
    assert r != 1.4142135623730951
    assert da.sin(0.3) ** 2 + da.cos(0.3) ** 2 == 1
    assert da.sin(da.pi / 4) == r / 2
    assert da.sqrt(4) == 2
    assert da.sqrt(8) == 2 * r
    assert da.pi * da.pi == da.pi**2
    assert da.tan(0.3) == da.sin(0.3) / da.cos(0.3)
    assert not da.sin(0)
    assert hash(da.sqrt(4)) == hash(2)


@pytest.mark.parametrize(
    "function",
    ["sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "asin", "acos", "atan"],
)
def test_values_are_those_of_math(function):
    assert math.isclose(getattr(da, function)(0.3), getattr(math, function)(0.3), rel_tol=1e-15)


def test_they_stand_where_floats_stand():
    r = da.sqrt(2)
    assert np.sin(r) == math.sin(math.sqrt(2))
    assert np.array([r, 1.0], dtype=float)[0] == math.sqrt(2)
    assert f"{r:.3f} {r}" == "1.414 √2"
    assert r > 1.4
    assert abs(-r) == r
    assert pickle.loads(pickle.dumps(r)) == r
    assert sorted([r, 1, da.sin(0.3), 2]) == [da.sin(0.3), 1, r, 2]
    # a sum that a program goes on adding to does not grow without end
    assert sum([da.sin(0.3)] * 1000).size < 400
    assert math.isclose(da.atan2(1, 2), math.atan2(1, 2))


def test_they_stay_exact_in_a_description():
    s = da.System("s", gravity=9.81)
    x = s.coordinate("x")
    r = da.sqrt(2)
    # an axis at 45 degrees, of length one exactly
    F = s.N.rotated(x, (s.N.x + s.N.y) / r)
    s.particle("p", 1, s.O.offset(r * F.z))
    (v2,) = [(s.bodies[0].G.v @ s.bodies[0].G.v) - 2 * x.dot**2]
    assert provably_zero(v2.tape, [v2.i]) == [True]
    assert str(r * x) == "√2 x"
    assert str(x / da.pi**2 * da.pi) == "x/π"
    run = da.simulate(s, 0.1, start={"x": da.sin(0.3)})
    assert run["x"][0] == math.sin(0.3)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: da.sqrt(-1),
        lambda: da.log(0),
        lambda: da.asin(2),
        lambda: da.sin("x"),
        lambda: da.sqrt(2) / 0,
        lambda: da.exp(1e4),
    ],
)
def test_what_is_not_defined_is_refused(wrong):
    with pytest.raises(da.BadExpression):
        wrong()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: da.tan(da.pi / 2), "cosine of it is zero"),
        (lambda: 1 / da.sin(da.pi), "division by zero"),
        (lambda: da.pi / da.sin(da.pi), "division by zero"),
        (lambda: 1 / (da.pi - da.pi), r"\(1\)/\(0\): division by zero"),
        (lambda: da.sin(da.pi) ** -1, "power of zero"),
        (lambda: da.sqrt(2) * math.inf, "inf is not a finite number"),
        (lambda: da.sqrt(2) * 1e300 * 1e300, "larger than any floating-point number"),
    ],
)
def test_what_is_no_number_is_refused_where_it_is_written(make, sentence):
    # by value they would be 1.6e16, or infinite
    with pytest.raises(da.BadExpression, match=sentence):
        make()


@pytest.mark.parametrize("x", [da.sqrt(2), da.pi])
def test_python_and_numpy_ask_what_they_ask_of_a_float(x):
    v = float(x)
    assert (x // 1, x % 1, divmod(x, 1), 7 // x, 7 % x) == (
        v // 1,
        v % 1,
        divmod(v, 1),
        7 // v,
        7 % v,
    )
    assert (round(x), round(x, 3), int(x), math.trunc(x), math.floor(x)) == (
        round(v),
        round(v, 3),
        int(v),
        math.trunc(v),
        math.floor(v),
    )
    assert x <= v
    assert x >= v
    assert x < math.inf
    assert 1 <= x <= 4
    steps = np.array([1.0, v])
    assert np.array_equal(steps % x, steps % v)
    assert np.array_equal(x % steps, v % steps)
    assert np.array_equal(x < 2 * steps, v < 2 * steps)
    with pytest.raises(TypeError):
        x < "2"  # noqa: B015


def test_powers_with_an_exact_base_stay_exact():
    x = da.System("any").coordinate("x")
    assert 2**da.pi == da.exp(da.pi * da.log(2))
    assert str(da.pi**x) == "exp(log(π) x)"
    assert str(da.sqrt(2) ** x) == "exp(log(√2) x)"
    assert 0 ** da.sqrt(2) == 0
