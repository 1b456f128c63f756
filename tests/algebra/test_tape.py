from __future__ import annotations

import pickle
import subprocess
import sys
from fractions import Fraction

import pytest

from dalembert.errors import BadExpression
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    copy_expressions,
    dependencies,
    evaluate,
    gradient,
)
from dalembert.symbolic.algebra.tape import LARGEST_POWER, Tape


@pytest.fixture
def tape():
    return Tape()


@pytest.fixture
def xyz(tape):
    return tuple(tape.moving_symbol(name) for name in "xyz")


# ---- interning -----------------------------------------------------------------------------


def test_equal_expressions_are_one_node(tape, xyz):
    x, y, z = xyz
    once = tape.mul(tape.add(x, y), tape.call("sin", z))
    length = len(tape)
    again = tape.mul(tape.call("sin", z), tape.add(y, x))
    assert once == again
    assert length == len(tape)


def test_operands_of_sums_and_products_stand_in_order_of_creation(tape, xyz):
    x, y, _ = xyz
    assert ("add", x, y) == tape.nodes[tape.add(y, x)]
    assert ("mul", x, y) == tape.nodes[tape.mul(y, x)]


def test_operands_of_differences_and_quotients_stand_as_written(tape, xyz):
    x, y, _ = xyz
    assert ("sub", y, x) == tape.nodes[tape.sub(y, x)]
    assert ("div", y, x) == tape.nodes[tape.div(y, x)]
    assert ("atan2", y, x) == tape.nodes[tape.atan2(y, x)]


def test_operands_come_before_the_nodes_made_of_them(tape, xyz):
    x, y, z = xyz
    e = tape.div(tape.call("cos", tape.sub(x, tape.mul(y, z))), tape.add(tape.power(x, 5), tape.pi))
    for i in dependencies(tape, [e]):
        assert all(
            a < i
            for a in tape.nodes[i][1:]
            if isinstance(a, int) and tape.nodes[i][0] not in ("const", "symbol")
        )


def test_a_constant_is_stored_once_however_it_is_written(tape):
    assert tape.const(2) == tape.const(Fraction(4, 2))
    assert isinstance(tape.value(tape.const(Fraction(4, 2))), int)
    assert tape.value(tape.const(Fraction(981, 100))) == Fraction(981, 100)
    assert tape.value(tape.symbol("m")) is None


# ---- folding -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        (lambda t, x, y: t.add(x, t.zero), lambda t, x, y: x),
        (lambda t, x, y: t.add(t.zero, x), lambda t, x, y: x),
        (lambda t, x, y: t.add(x, x), lambda t, x, y: t.mul(t.const(2), x)),
        (lambda t, x, y: t.add(x, t.neg(y)), lambda t, x, y: t.sub(x, y)),
        (lambda t, x, y: t.add(t.neg(x), y), lambda t, x, y: t.sub(y, x)),
        (lambda t, x, y: t.add(t.const(2), t.const(3)), lambda t, x, y: t.const(5)),
        (lambda t, x, y: t.sub(x, x), lambda t, x, y: t.zero),
        (lambda t, x, y: t.sub(x, t.zero), lambda t, x, y: x),
        (lambda t, x, y: t.sub(t.zero, x), lambda t, x, y: t.neg(x)),
        (lambda t, x, y: t.sub(x, t.neg(y)), lambda t, x, y: t.add(x, y)),
        (lambda t, x, y: t.sub(t.neg(x), y), lambda t, x, y: t.neg(t.add(x, y))),
        (lambda t, x, y: t.sub(t.const(2), t.const(3)), lambda t, x, y: t.const(-1)),
        (lambda t, x, y: t.neg(t.neg(x)), lambda t, x, y: x),
        (lambda t, x, y: t.neg(t.sub(x, y)), lambda t, x, y: t.sub(y, x)),
        (lambda t, x, y: t.neg(t.const(3)), lambda t, x, y: t.const(-3)),
        (lambda t, x, y: t.mul(x, t.zero), lambda t, x, y: t.zero),
        (lambda t, x, y: t.mul(x, t.one), lambda t, x, y: x),
        (lambda t, x, y: t.mul(t.one, x), lambda t, x, y: x),
        (lambda t, x, y: t.mul(t.neg(x), y), lambda t, x, y: t.neg(t.mul(x, y))),
        (lambda t, x, y: t.mul(t.neg(x), t.neg(y)), lambda t, x, y: t.mul(x, y)),
        (lambda t, x, y: t.mul(t.const(-1), x), lambda t, x, y: t.neg(x)),
        (lambda t, x, y: t.mul(x, t.const(-2)), lambda t, x, y: t.neg(t.mul(t.const(2), x))),
        (
            lambda t, x, y: t.mul(t.const(2), t.mul(t.const(3), x)),
            lambda t, x, y: t.mul(t.const(6), x),
        ),
        (lambda t, x, y: t.mul(t.const(2), t.mul(t.const(Fraction(1, 2)), x)), lambda t, x, y: x),
        (lambda t, x, y: t.div(x, x), lambda t, x, y: t.one),
        (lambda t, x, y: t.div(t.zero, x), lambda t, x, y: t.zero),
        (lambda t, x, y: t.div(x, t.one), lambda t, x, y: x),
        (lambda t, x, y: t.div(x, t.const(4)), lambda t, x, y: t.mul(t.const(Fraction(1, 4)), x)),
        (lambda t, x, y: t.div(t.const(6), t.const(4)), lambda t, x, y: t.const(Fraction(3, 2))),
        (lambda t, x, y: t.div(t.neg(x), y), lambda t, x, y: t.neg(t.div(x, y))),
        (lambda t, x, y: t.div(x, t.neg(y)), lambda t, x, y: t.neg(t.div(x, y))),
        (lambda t, x, y: t.power(x, 0), lambda t, x, y: t.one),
        (lambda t, x, y: t.power(x, 1), lambda t, x, y: x),
        (lambda t, x, y: t.power(x, 2), lambda t, x, y: t.mul(x, x)),
        (lambda t, x, y: t.power(x, -1), lambda t, x, y: t.div(t.one, x)),
        (lambda t, x, y: t.power(t.const(2), 10), lambda t, x, y: t.const(1024)),
    ],
)
def test_arithmetic_folds(tape, xyz, written, folded):
    x, y, _ = xyz
    assert folded(tape, x, y) == written(tape, x, y)


@pytest.mark.parametrize(
    ("function", "sign"),
    [
        ("cos", 1),
        ("cosh", 1),
        ("abs", 1),
        ("sin", -1),
        ("sinh", -1),
        ("asin", -1),
        ("atan", -1),
        ("sign", -1),
    ],
)
def test_even_functions_lose_the_sign_and_odd_ones_pass_it_on(tape, xyz, function, sign):
    x, _, _ = xyz
    e = tape.call(function, x)
    assert (e if sign > 0 else tape.neg(e)) == tape.call(function, tape.neg(x))


@pytest.mark.parametrize(
    ("function", "argument", "value"),
    [
        ("sin", 0, 0),
        ("cos", 0, 1),
        ("exp", 0, 1),
        ("log", 1, 0),
        ("sqrt", 0, 0),
        ("sqrt", 9, 3),
        ("sqrt", Fraction(4, 25), Fraction(2, 5)),
        ("sinh", 0, 0),
        ("cosh", 0, 1),
        ("asin", 0, 0),
        ("acos", 1, 0),
        ("atan", 0, 0),
        ("abs", -3, 3),
        ("abs", 3, 3),
        ("sign", -3, -1),
        ("sign", 0, 0),
        ("sign", Fraction(1, 7), 1),
    ],
)
def test_functions_of_numbers_that_are_numbers(tape, function, argument, value):
    assert value == tape.value(tape.call(function, tape.const(argument)))


@pytest.mark.parametrize("twelfths", range(-30, 31))
def test_sin_and_cos_of_multiples_of_pi(tape, twelfths):
    angle = tape.mul(tape.const(Fraction(twelfths, 12)), tape.pi)
    for name in ("sin", "cos"):
        e = tape.call(name, angle)
        plain = evaluate(tape, [angle], lambda _: 0.0, FloatArithmetic())[0]
        assert evaluate(tape, [e], lambda _: 0.0, FloatArithmetic())[0] == pytest.approx(
            FloatArithmetic().call(name, plain, 0), abs=1e-14
        )
        folded = not any(tape.nodes[i][0] in ("sin", "cos") for i in dependencies(tape, [e]))
        assert folded == (twelfths % 2 == 0 or twelfths % 3 == 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t.div(t.one, t.zero), "division by zero: the denominator vanishes identically"),
        (lambda t: t.power(t.zero, -2), "division by zero: the denominator vanishes identically"),
        (
            lambda t: t.power(t.symbol("x"), LARGEST_POWER + 1),
            "exponent 1001 is too large: at most 1000 in size",
        ),
        (
            lambda t: t.power(t.symbol("x"), -LARGEST_POWER - 1),
            "exponent -1001 is too large: at most 1000 in size",
        ),
        (lambda t: t.call("log", t.zero), "log(0) is not a real number"),
        (lambda t: t.call("log", t.const(-2)), "log(-2) is not a real number"),
        (lambda t: t.call("sqrt", t.const(-2)), "sqrt(-2) is not a real number"),
        (lambda t: t.call("asin", t.const(2)), "asin(2) is not a real number"),
        (lambda t: t.call("acos", t.const(-2)), "acos(-2) is not a real number"),
    ],
)
def test_what_is_not_a_number_is_refused(tape, make, message):
    with pytest.raises(BadExpression) as refused:
        make(tape)
    assert message == str(refused.value)


def test_powers_share_their_squares(tape, xyz):
    x, _, _ = xyz
    before = len(tape)
    tape.power(x, 1000)
    assert len(tape) - before <= 20


# ---- rates ---------------------------------------------------------------------------------


def test_rates_are_made_when_first_asked_for(tape):
    x = tape.moving_symbol("x")
    length = len(tape)
    xd = tape.rate(x)
    assert length + 1 == len(tape)
    assert ("symbol", "x'", None) == tape.nodes[xd]
    assert xd == tape.rate(x) == tape.names["x'"]
    assert ("symbol", "x''", None) == tape.nodes[tape.rate(xd)]


def test_a_constant_symbol_has_no_rate_and_an_input_no_known_one(tape):
    assert tape.rate(tape.symbol("m")) is None
    F = tape.symbol("F")
    tape.inputs.add(F)
    with pytest.raises(
        BadExpression,
        match=r"the rate of the input F is unknown: declare it with s\.specified\(\.\.\.\) instead",
    ):
        tape.rate(F)


# ---- forking -------------------------------------------------------------------------------


def test_a_fork_agrees_below_and_grows_on_its_own(tape, xyz):
    x, y, _ = xyz
    shared = tape.add(x, y)
    left, right = tape.fork(), tape.fork()
    a = left.mul(x, y)
    b = right.call("sin", x)
    assert a == b
    assert left.nodes[a] != right.nodes[b]
    assert shared == left.add(y, x) == right.add(y, x)
    assert len(tape) == len(left) - 1 == len(right) - 1
    assert tape.root is left.root is right.root


def test_a_fork_of_a_prefix_forgets_what_came_later(tape):
    x = tape.moving_symbol("x")
    length = len(tape)
    xd = tape.rate(x)
    y = tape.symbol("y")
    early = tape.fork(length)
    assert length == len(early)
    assert set(early.names) == {"x"}
    assert early.moving == {x}
    assert early.rates == {}
    assert early.symbol("y") == xd != y


def test_shared_length_of_relatives(tape, xyz):
    x, y, z = xyz
    n = len(tape)
    child = tape.fork()
    tape.add(x, y)
    child.add(y, z)
    child.add(x, z)
    grandchild = child.fork()
    grandchild.mul(x, y)
    sibling = tape.fork()
    assert n == child.shared_length(tape) == tape.shared_length(child)
    assert n == grandchild.shared_length(tape)
    assert n + 2 == grandchild.shared_length(child)
    assert n == grandchild.shared_length(sibling) == sibling.shared_length(grandchild)
    assert len(grandchild) == grandchild.shared_length(grandchild)
    assert Tape().shared_length(tape) == 0


def test_transplant_makes_the_same_expression_on_a_relative(tape, xyz):
    x, y, z = xyz
    left, right = tape.fork(), tape.fork()
    right.call("exp", z)
    e = left.div(
        left.sub(left.call("sin", x), left.mul(left.const(Fraction(2, 3)), left.symbol("m"))),
        left.atan2(y, z),
    )
    (moved,) = copy_expressions(left, right, [e])
    values = {"x": 0.3, "y": 0.7, "z": 1.1, "m": 2.5}
    expected = evaluate(left, [e], lambda k: values[left.nodes[k][1]], FloatArithmetic())
    assert expected == evaluate(
        right, [moved], lambda k: values[right.nodes[k][1]], FloatArithmetic()
    )
    assert [e] == copy_expressions(right, left, [moved])


def test_transplanted_rates_still_vary_with_time(tape, xyz):
    x, _, _ = xyz
    left, right = tape.fork(), tape.fork()
    (xd,) = copy_expressions(left, right, [left.rate(x)])
    assert right.nodes[right.rate(xd)] == ("symbol", "x''", None)
    assert xd == right.rate(x)


# ---- size and order ------------------------------------------------------------------------


def test_long_chains_of_nodes_do_not_recurse(tape, xyz):
    x, y, z = xyz
    e = x
    # twenty times as deep as Python lets functions call themselves
    length = 20 * sys.getrecursionlimit()
    for k in range(length):
        e = tape.add(tape.mul(e, y) if k % 2 else e, z)
    value = evaluate(tape, [e], {x: 1.0, y: 1.0, z: 1.0}.__getitem__, FloatArithmetic())[0]
    assert value == length + 1
    assert Derivative(tape, tape.rate)(e) != tape.zero
    assert all(g != tape.zero for g in gradient(tape, {e: tape.one}, [x, y, z]))
    assert set(LinearCoefficients(tape, [x, z])(e)[1]) == {0, 1}
    assert Substitution(tape, {y: tape.one, z: tape.zero})(e) == x
    assert len(copy_expressions(tape, tape.fork(len(tape) // 2), [e])) == 1


def test_a_tape_survives_pickling(tape, xyz):
    x, y, _ = xyz
    fork = tape.fork()
    e = fork.mul(fork.call("sin", x), y)
    copy, parent = pickle.loads(pickle.dumps((fork, tape)))
    assert fork.nodes == copy.nodes
    assert copy.parent is parent
    assert copy.root is parent
    assert e == copy.mul(y, copy.call("sin", x))


PROGRAM = """
from dalembert.symbolic.algebra.expression_graph import Derivative, gradient
from dalembert.symbolic.algebra.tape import Tape
t = Tape()
q = [t.moving_symbol(f"q{k}") for k in range(6)]
e = t.one
for a in q:
    e = t.add(t.mul(e, t.call("sin", a)), t.div(t.call("cos", t.add(a, e)), t.add(a, t.const(3))))
gradient(t, {Derivative(t, t.rate)(e): t.one}, q)
print(t.nodes)
"""


def test_the_same_bytes_for_every_hash_seed():
    runs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
