"""max, min, step, pulse, saturate: as NumPy has them, from Python, text and SymPy, and known to a run."""

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.folds import evaluate

X, Y = sympy.symbols("x y")
WAYS = [
    (da.maximum, "max(x, y)", sympy.Max(X, Y), np.maximum),
    (da.minimum, "min(x, y)", sympy.Min(X, Y), np.minimum),
    (lambda x, y: da.step(x - y), "step(x - y)", sympy.Heaviside(X - Y), lambda x, y: np.heaviside(x - y, 0.5)),
    (lambda x, y: da.pulse(x, 0, 1), "pulse(x, 0, 1)", sympy.Heaviside(X) - sympy.Heaviside(X - 1), lambda x, y: float(0 < x < 1)),
    (lambda x, y: da.saturate(x, -1, 1), "saturate(x, -1, 1)", sympy.Min(sympy.Max(X, -1), 1), lambda x, y: np.clip(x, -1, 1)),
    (lambda x, y: y * da.step(x - 1) + x * x * da.step(1 - x), "y*step(x - 1) + x**2*step(1 - x)",
     sympy.Piecewise((X**2, X < 1), (Y, True)), lambda x, y: x * x if x < 1 else y),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "text", "theirs", "expected"), WAYS)
def test_every_way_to_write_it_gives_the_same_numbers(ours, text, theirs, expected):
    s = da.System("s")
    x, y = s.coordinates("x y")
    nodes = [ours(x, y).i, s.expression(text).i, (x - x + theirs).i]
    for values in [(-2.0, 0.5), (0.25, -3.0), (3.0, 4.0), (1.5, 1.25)]:
        numbers = evaluate(x.tape, nodes, dict(zip((x.i, y.i), values, strict=True)).__getitem__, Floats())
        np.testing.assert_allclose(numbers, expected(*values), rtol=1e-15, atol=1e-15)


def test_numbers_stay_numbers():
    assert (2.0, 1.0) == (da.maximum(1.0, 2.0), da.minimum(1.0, 2.0))
    assert (1.0, 0.0, 1.0) == (da.step(3.0), da.pulse(2.0, 0, 1), da.saturate(5.0, 0, 1))


def test_pieces_that_no_inequality_tells_apart_are_refused():
    x = da.System("s").coordinate("x")
    with pytest.raises(da.BadExpression, match="one inequality such as t < 2"):
        x + sympy.Piecewise((1, sympy.And(X > 0, X < 1)), (0, True))


def test_a_short_pulse_is_not_stepped_over():
    """m v = ∫ F dt = 1/1000"""
    s = da.System("cart")
    x = s.coordinate("x")
    C = s.O.offset(x * s.N.x)
    s.particle("cart", 2, C)
    s.force(s.input("F") * s.N.x, at=C)
    run = da.simulate(s, 10, inputs={"F": da.pulse(s.t, 5, 5.001)})
    np.testing.assert_allclose(run["x.dot"][-1], 0.001 / 2, rtol=1e-10)
