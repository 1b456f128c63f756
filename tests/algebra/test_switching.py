"""max, min, step, pulse, saturate: as NumPy has them, from Python, text and SymPy, and known to
a run.
"""

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.exchange.modelfile.reader import read_model
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate

X, Y = sympy.symbols("x y")
WAYS = [
    (da.maximum, "max(x, y)", sympy.Max(X, Y), np.maximum),
    (da.minimum, "min(x, y)", sympy.Min(X, Y), np.minimum),
    (lambda x, y: da.step(x - y), "step(x - y)", sympy.Heaviside(X - Y), lambda x,
    y: np.heaviside(x - y, 0.5)),
    (lambda x, y: da.pulse(x, 0, 1), "pulse(x, 0, 1)", sympy.Heaviside(X) - sympy.Heaviside(X - 1),
    lambda x, y: float(0 < x < 1)),
    (lambda x, y: da.saturate(x, -1, 1), "saturate(x, -1, 1)", sympy.Min(sympy.Max(X, -1), 1),
    lambda x, y: np.clip(x, -1, 1)),
    (lambda x, y: y * da.step(x - 1) + x * x * da.step(1 - x), "y*step(x - 1) + x**2*step(1 - x)",
     sympy.Piecewise((X**2, X < 1), (Y, True)), lambda x, y: x * x if x < 1 else y),
    (lambda x, y: x * da.step(x), ("Piecewise((x, x>0), (0, "
        "True))"), sympy.Piecewise((X, X > 0), (0, True)), lambda x, y: max(x, 0.0)),
    (lambda x, y: da.maximum(da.maximum(x, y), 1), "Max(x, y, 1)", sympy.Max(X, Y, 1), lambda x,
    y: max(x, y, 1)),
    (lambda x, y: da.step(-x) + 2 * da.pulse(x, 0, 1), "Piecewise((1, x < 0), (2, 0 <= x < 1))",
     sympy.Piecewise((1, X < 0), (2, sympy.And(X >= 0, X < 1)), (0, True)), lambda x,
     y: 1 if x < 0 else 2 if x < 1 else 0),
    (lambda x, y: 1 - da.pulse(x, 0, 1) * da.step(-y), ("Piecewise((1, (x < 0) | (x > 1) or y "
        "> 0), "
        "(0, True))"),
     sympy.Piecewise((1, sympy.Or(X < 0, X > 1, Y > 0)), (0, True)), lambda x,
     y: float(x < 0 or x > 1 or y > 0)),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "text", "theirs", "expected"), WAYS)
def test_every_way_to_write_it_gives_the_same_numbers(ours, text, theirs, expected):
    s = da.System("s")
    x, y = s.coordinates("x y")
    nodes = [ours(x, y).i, s.expression(text).i, (x - x + theirs).i]
    for values in [(-2.0, 0.5), (0.25, -3.0), (3.0, 4.0), (1.5, 1.25)]:
        numbers = evaluate(
            x.tape, nodes, dict(zip((x.i, y.i), values, strict=True)).__getitem__, FloatArithmetic()
        )
        np.testing.assert_allclose(numbers, expected(*values), rtol=1e-15, atol=1e-15)


def test_numbers_stay_numbers():
    assert (2.0, 1.0) == (da.maximum(1.0, 2.0), da.minimum(1.0, 2.0))
    assert (1.0, 0.0, 1.0) == (da.step(3.0), da.pulse(2.0, 0, 1), da.saturate(5.0, 0, 1))


@pytest.mark.parametrize(
    "condition", [sympy.And(X > 0, X < 1), sympy.Or(X > 2, sympy.And(X < 0, Y > X)), X <= Y]
)
def test_what_sympy_prints_is_read(condition):
    s = da.System("s")
    x, y = s.coordinates("x y")
    e = sympy.Piecewise((X - Y, condition), (3, True))
    for a, b in [(-2.0, 0.5), (0.25, -3.0), (3.0, 4.0), (-1.5, -2.0)]:
        numbers = evaluate(
            x.tape,
            [s.expression(str(e)).i, (x - x + e).i],
            {x.i: a, y.i: b}.__getitem__,
            FloatArithmetic(),
        )
        assert [float(e.subs({X: a, Y: b}))] * 2 == numbers


def test_pieces_that_no_inequality_tells_apart_are_refused():
    x = da.System("s").coordinate("x")
    with pytest.raises(da.BadExpression, match="selected by inequalities such as t < 2"):
        x + sympy.Piecewise((1, sympy.Eq(X, 1)), (0, True))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (
            "Piecewise(x, x > 0, 0)",
            "takes pairs of a value and a condition, Piecewise((a, x > 0), (b, True))",
        ),
        ("Piecewise((x, 3))", "takes pairs of a value and a condition"),
        ("Piecewise((x > 0, x))", "takes pairs of a value and a condition"),
        (
            "Piecewise((x, x > 0), (0, otherwise))",
            "unknown name 'otherwise' at column 27: write True",
        ),
        ("Piecewise((x, x == 0), (0, True))", "pieces are selected by inequalities"),
        ("Piecewise((1, x < 0 | x > 1), (0, True))", "write (x > 0) & (x < 1), or 0 < x < 1"),
        ("Piecewise((x, y > True))", "numbers are compared"),
        ("Piecewise((x*(x > 0), True))", "a condition where a value is meant at column 12"),
        ("x + True", "a condition where a value is meant at column 4"),
        (
            "x > 0",
            (
                "unexpected '>' at column 3: what depends on a condition is written "
                "Piecewise((a, x > "
                "0), (b, True))"
            ),
        ),
        ("x if x > 0 else 0", "'if' at column 3: what depends on a condition is written"),
        ("max(x)", "max with 1 arguments at column 1: it takes 2 or more"),
        ("np.sin(x)", "unknown function 'np.sin' at column 1: write sin"),
        ("arcsin(x)", "write asin"),
        ("clip(x, 0, 1)", "write saturate(x, low, high)"),
    ],
)
def test_what_is_no_piece_gets_its_sentence(text, answer):
    s = da.System("s")
    s.coordinates("x y")
    with pytest.raises(da.BadExpression) as refused:
        s.expression(text)
    assert answer in str(refused.value)


def test_pieces_in_time_have_steps_of_their_own_wherever_text_is_taken():
    """m v = ∫ F dt, with F = 3 for 1 < t < 1.001, by an input and by the load of a model file"""
    law = "Piecewise((0, t < 1), (3, t <= 1.001), (0, True))"
    text = f"""coordinates = "x"
point.C = "x*N.x"
particle.cart = {{ mass = 2, at = "C" }}
force.push = {{ F = "{law}*N.x", at = "C" }}
"""
    s = da.System("cart")
    x = s.coordinate("x")
    C = s.O.offset(x * s.N.x)
    s.particle("cart", 2, C)
    s.force(s.input("F") * s.N.x, at=C)
    for run in (da.simulate(s, 5, inputs={"F": law}), da.simulate(read_model(text), 5)):
        np.testing.assert_allclose(run["x.dot"][-1], 3 * 0.001 / 2, rtol=1e-10)
    start = {x: "Piecewise((1, 2 > 1), (0, True))"}
    assert 1.0 == da.simulate(s, 0.1, inputs={"F": 0}, start=start)["x"][0]


def test_a_short_pulse_is_not_stepped_over():
    """m v = ∫ F dt = 1/1000"""
    s = da.System("cart")
    x = s.coordinate("x")
    C = s.O.offset(x * s.N.x)
    s.particle("cart", 2, C)
    s.force(s.input("F") * s.N.x, at=C)
    run = da.simulate(s, 10, inputs={"F": da.pulse(s.t, 5, 5.001)})
    np.testing.assert_allclose(run["x.dot"][-1], 0.001 / 2, rtol=1e-10)
