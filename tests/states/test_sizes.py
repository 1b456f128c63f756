"""A residual is measured against what its terms could be."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.ode.failures import BadStart
from dalembert.runtime.states.magnitude_bounds import magnitude_bounds
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.tape import Tape


def size_of(build, **values):
    t = Tape()
    node = build(t, *(t.symbol(name) for name in values))
    known = {t.symbol(name): x for name, x in values.items()}
    return evaluate(t, [node, *magnitude_bounds(t, [node])], known.__getitem__, FloatArithmetic())


def test_terms_that_cancel_are_still_counted():
    value, size = size_of(
        lambda t, x, y: t.sub(t.mul(x, y), t.mul(y, x)) if x > y else t.sub(t.add(x, y), x),
        x=1e8,
        y=1.0,
    )
    assert 1.0 == value
    assert 2e8 + 1.0 == size


@pytest.mark.parametrize(
    "function",
    ["sin", "cos", "exp", "log", "sqrt", "sinh", "cosh", "asin", "acos", "atan", "abs", "sign"],
)
def test_functions_are_as_large_as_their_value_at_least(function):
    value, size = size_of(lambda t, x: t.call(function, x), x=0.3)
    assert size >= abs(value) > 0.0
    assert math.isfinite(size)


@pytest.mark.parametrize(("function", "x"), [("asin", 1.0), ("acos", -1.0), ("sqrt", 0.0)])
def test_where_the_slope_is_infinite_the_size_is_not(function, x):
    value, size = size_of(lambda t, x: t.call(function, x), x=x)
    assert abs(value) + abs(x) == size


def squares():
    """A row whose moving part is k (sin² θ + cos² θ − 1), which is zero but for rounding."""
    s = da.System("a row with dust in it")
    x, y, theta = s.coordinates("x y theta")
    k = s.constant("k", 1)
    s.body(
        "B",
        1,
        s.O.offset(x * s.N.x + y * s.N.y, "G"),
        s.N.rotated(theta, s.N.z, "F"),
        da.inertia(s.N, 1, 1, 1),
    )
    s.constrain(x.dot - k * (da.sin(theta) ** 2 + da.cos(theta) ** 2 - 1), name="row")
    return s


def test_rounding_is_no_contradiction():
    s = squares()
    angles = np.random.default_rng(1).uniform(-3, 3, 40)
    assert any(math.sin(a) ** 2 + math.cos(a) ** 2 != 1.0 for a in angles)
    for angle in angles:
        assert 0.1 == da.simulate(s, 0.1, start={"theta": angle, "x.dot": 0}).t[-1]


def test_a_millionth_is_a_contradiction():
    with pytest.raises(BadStart, match=r"x\.dot = 1e-06 .*residual"):
        da.simulate(squares(), 0.1, start={"theta": 1.0, "x.dot": 1e-6})
