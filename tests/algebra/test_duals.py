import math

import numpy as np
import pytest

from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.dual_numbers import jacobian
from dalembert.symbolic.algebra.expression_graph import evaluate, gradient
from dalembert.symbolic.algebra.tape import Tape

ONE = ("sin", "cos", "exp", "log", "sqrt", "sinh", "cosh", "atan", "asin", "acos", "abs")


def expressions(t, x, y):
    """Every operation of the tape at least once."""
    made = [t.call(f, t.mul(x, y)) for f in ONE]
    made += [
        t.add(x, t.const(3)),
        t.sub(t.const(2), y),
        t.neg(x),
        t.div(x, y),
        t.div(t.const(1), y),
        t.atan2(x, y),
        t.mul(x, t.mul(y, x)),
    ]
    return [*made, t.mul(made[0], t.call("sign", x)), t.const(7), t.pi]


@pytest.mark.parametrize("point", [(0.3, 0.7), (0.9, 0.1)])
def test_slopes_equal_the_gradient_on_the_tape(point):
    t = Tape()
    x, y = t.symbol("x"), t.symbol("y")
    outs = expressions(t, x, y)
    state = dict(zip((x, y), point, strict=True))
    values, slopes = jacobian(t, outs, (x, y), state)
    expected = [
        evaluate(t, gradient(t, {e: t.one}, (x, y)), state.__getitem__, FloatArithmetic())
        for e in outs
    ]
    assert (
        pytest.approx(evaluate(t, outs, state.__getitem__, FloatArithmetic()), rel=1e-15)
        == values[0]
    )
    assert np.abs(slopes[0] - expected).max() <= 1e-14


def test_many_points_at_once():
    t = Tape()
    x, a = t.symbol("x"), t.symbol("a")
    at = np.linspace(0.1, 2, 5)
    values, slopes = jacobian(t, [t.mul(a, t.call("sin", x)), a], (x,), {x: at, a: 3.0}, len(at))
    assert (5, 2) == values.shape
    assert pytest.approx(3 * np.cos(at)) == slopes[:, 0, 0]
    assert [0] * 5 == list(slopes[:, 1, 0])


def test_what_is_not_defined_is_nan():
    t = Tape()
    x = t.symbol("x")
    values, _ = jacobian(t, [t.call("log", x)], (x,), {x: -1.0})
    assert math.isnan(values[0, 0])
