"""Balls contain the truth, and one that does not contain zero is a proof."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb, ctx

from comparisons import contains_zero, vanish
from dalembert.errors import Unknown
from dalembert.symbolic.algebra.arithmetic import evaluate_balls, is_regular_somewhere
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
)
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

TAPE = Tape()
X, Y = (Scalar(TAPE, TAPE.symbol(name)) for name in "xy")
PI = Scalar(TAPE, TAPE.pi)
VALUES = {X.i: Fraction(3, 10), Y.i: 0.7}


def ball(e: Scalar, digits: int = 50) -> arb:
    return evaluate_balls(TAPE, [e.i], VALUES, digits)[0]


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (sin(X), math.sin(0.3)), (cos(X), math.cos(0.3)), (exp(X), math.exp(0.3)), (log(X),
        math.log(0.3)), (sqrt(X), math.sqrt(0.3)),
        (sinh(X), math.sinh(0.3)), (cosh(X), math.cosh(0.3)), (asin(X), math.asin(0.3)), (acos(X),
        math.acos(0.3)),
        (atan(X), math.atan(0.3)), (abs(X - Y), 0.4), (sign(X - Y), -1.0), (atan2(Y, X),
        math.atan2(0.7, 0.3)), (PI, math.pi),
        (X / Y - X * Y + X, 0.3 / 0.7 - 0.21 + 0.3), (-X, -0.3),
    ],
)  # fmt: skip
def test_every_operation(e, expected):
    assert float(ball(e)) == pytest.approx(expected, rel=1e-14)


def test_fifty_digits():
    assert ball(X / 3 + PI).rel_accuracy_bits() > 50 * math.log2(10)
    assert ball(sin(X), 200).rel_accuracy_bits() > 200 * math.log2(10)


def test_floats_are_the_decimals_the_user_typed():
    assert contains_zero(ball(10 * Y - 7))
    assert contains_zero(ball(Y - Fraction(7, 10)))


def test_flints_precision_is_left_as_it_was():
    before = ctx.prec
    ball(sin(X))
    assert ctx.prec == before


def test_true_and_false_identities():
    true = sin(X) ** 2 + cos(X) ** 2 - 1
    product = log(X * Y) - log(X) - log(Y)
    positive = abs(X**2 + Y**2) - X**2 - Y**2
    nested = sin(cos(X) ** 2) - sin(1 - sin(X) ** 2)
    false = true + Fraction(1, 10**45)
    assert vanish(TAPE, [e.i for e in (true, product, positive, nested, false)], VALUES) == [
        True,
        True,
        True,
        True,
        False,
    ]


def test_what_cannot_be_decided_is_said_to_be_so():
    hidden = sin(X) ** 2 + cos(X) ** 2 - 1
    assert vanish(TAPE, [(X / hidden).i, sqrt(hidden - 1).i], VALUES) == [None, None]
    assert contains_zero(ball(X / hidden))
    # zero to few digits only
    assert vanish(TAPE, [(hidden * 10**30).i], VALUES, digits=20) == [None]


def test_a_ball_may_be_given():
    wide = arb(1, 0.5)
    (x,) = evaluate_balls(TAPE, [(X - 1).i], {X.i: wide})
    assert contains_zero(x)
    (x,) = evaluate_balls(TAPE, [(X - 2).i], {X.i: wide})
    assert not contains_zero(x)


def test_a_missing_value_is_named():
    with pytest.raises(Unknown, match="no value for y"):
        evaluate_balls(TAPE, [(X + Y).i], {X.i: 1})


def test_a_matrix_is_regular_where_a_ball_of_its_determinant_has_no_zero():
    tape = Tape()
    x, y = (Scalar(tape, tape.symbol(name)) for name in "xy")
    c, s = cos(x), sin(x)
    assert is_regular_somewhere(tape, [])
    assert is_regular_somewhere(tape, [{0: c.i, 1: s.i}, {0: (-s).i, 1: c.i}])
    # x y − y x, sin² + cos² − 1, a column of zeros: singular in every state
    assert not is_regular_somewhere(tape, [{0: x.i, 1: y.i}, {0: (x * y).i, 1: (y * y).i}])
    assert not is_regular_somewhere(tape, [{0: (c * c + s * s - 1).i}])
    assert not is_regular_somewhere(tape, [{0: x.i}, {0: y.i}])
    # regular on one side of a branch alone: only of what moves is the other side tried
    q, r = (Scalar(tape, tape.moving_symbol(name)) for name in "qr")
    assert is_regular_somewhere(tape, [{0: (abs(q) - q).i}])
    assert is_regular_somewhere(tape, [{0: ((1 - sign(q)) * (1 + sign(r))).i}])
    assert not is_regular_somewhere(tape, [{0: (abs(x) - x).i}])
    # no value at the state that was drawn: nothing is claimed
    assert not is_regular_somewhere(tape, [{0: sqrt(-x).i}])
    assert not is_regular_somewhere(tape, [{0: (1 / (c * c + s * s - 1)).i}])
