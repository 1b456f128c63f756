"""The tape machine: every operation of the tape, with the bits of compiled code."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from dalembert.runtime.derivatives import tape_function, tape_machine
from dalembert.runtime.derivatives.tape_function import TapeFunction
from dalembert.runtime.derivatives.tape_machine import TapeMachine, runs_of_equal_operations
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.lowering import lower
from dalembert.runtime.numerics.python_binding import BadArguments
from dalembert.symbolic.algebra.tape import FUNCTIONS, Tape


def _random_tape(seed: int) -> tuple[Tape, list[int], list[int], list[int]]:
    """Every operation at least once, then operations at random on values of moderate size."""
    random, t = np.random.default_rng(seed), Tape()
    state, parameters = [t.symbol(f"x{k}") for k in range(4)], [t.symbol(f"p{k}") for k in range(3)]
    values = [*state, *parameters, t.pi, t.const(2)]
    domain = {"log": "exp", "sqrt": "exp", "asin": "sin", "acos": "sin"}
    for function in FUNCTIONS:
        for a in (values[int(random.integers(4))], values[4 + int(random.integers(3))]):
            inside = t.call(domain[function], a) if function in domain else a
            values.append(t.call(function, inside))
    values.append(t.atan2(values[0], values[-1]))
    for _ in range(80):
        a, b = (values[int(k)] for k in random.integers(len(values), size=2))
        bounded = t.call("sin", a)
        choices = [
            t.add(a, b),
            t.sub(bounded, b),
            t.mul(bounded, b),
            t.div(b, t.add(t.const(3), bounded)),
        ]
        values.append(choices[int(random.integers(4))])
    return t, values, state, parameters


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("states", [1, 31, 70])
def test_bits_are_those_of_compiled_code(seed: int, states: int) -> None:
    t, outs, state, parameters = _random_tape(seed)
    machine, compiled = (
        make(t, outs, state, parameters) for make in (TapeMachine, CompiledFunction)
    )
    random = np.random.default_rng(100 + seed)
    X, p = random.uniform(-2, 2, (states, 4)), random.uniform(0.5, 2, 3)
    expected = compiled.batch(X, p)
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(expected, machine.batch(X, p))
    np.testing.assert_array_equal(expected[0], machine.call(X[0], p))
    P = random.uniform(0.5, 2, (states, 3))
    np.testing.assert_array_equal(compiled.batch(X, P), machine.batch(X, P))


@pytest.mark.parametrize("states", [1, 2])
def test_the_narrow_machine_has_the_same_bits(states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    t, outs, state, parameters = _random_tape(3)
    random = np.random.default_rng(5)
    X, P = random.uniform(-2, 2, (states, 4)), random.uniform(0.5, 2, (states, 3))
    machine = TapeMachine(t, outs, state, parameters)
    for p in (P[0], P):
        expected = machine.batch(X, p)
        with monkeypatch.context() as patch:
            patch.setattr(tape_machine, "_LARGE", 0)
            np.testing.assert_array_equal(expected, machine.batch(X, p))
    assert vars(machine).keys() >= {"_wide", "_narrow"}


def test_equal_operations_follow_one_another() -> None:
    t, outs, state, parameters = _random_tape(3)
    body = lower(t.nodes, outs, state, parameters, fuse=True).body
    runs = runs_of_equal_operations(body)
    assert sorted(map(repr, body)) == sorted(map(repr, runs))
    changes = [sum(a.op != b.op for a, b in pairwise(order)) for order in (body, runs)]
    assert changes[1] < 0.6 * changes[0]


def test_infinite_and_undefined_values_are_passed_on() -> None:
    t = Tape()
    x = t.symbol("x")
    outs = [t.div(t.one, x), t.call("log", x), t.call("sign", x), t.call("sin", x)]
    machine, compiled = (make(t, outs, [x], []) for make in (TapeMachine, CompiledFunction))
    X = np.array([[0.0], [-0.0], [-1.0], [np.inf], [np.nan], [1e300], [5e-324]])
    np.testing.assert_array_equal(compiled.batch(X, np.zeros(0)), machine.batch(X, np.zeros(0)))


def test_threads_do_not_share_slots() -> None:
    t, outs, state, parameters = _random_tape(9)
    machine, p = TapeMachine(t, outs, state, parameters), np.ones(3)
    groups = [np.random.default_rng(k).uniform(-1, 1, (500, 4)) for k in range(8)]
    expected = [machine.batch(X, p) for X in groups]
    with ThreadPoolExecutor(4) as pool:
        for a, b in zip(expected, pool.map(lambda X: machine.batch(X, p), groups), strict=True):
            np.testing.assert_array_equal(a, b)


def test_leaves_and_repeated_outputs() -> None:
    t = Tape()
    x, y, p = (t.symbol(name) for name in "xyp")
    e = t.mul(x, y)
    machine = TapeMachine(t, [x, e, t.const(3), p, e, x], [x, y], [p])
    np.testing.assert_array_equal(
        [[2, 10, 3, 7, 10, 2]], machine.batch(np.array([[2.0, 5.0]]), np.array([7.0]))
    )
    assert (0, 6) == machine.batch(np.zeros((0, 2)), np.zeros(1)).shape


def test_wrong_shapes_are_refused() -> None:
    t = Tape()
    x, p = t.symbol("x"), t.symbol("p")
    machine = TapeMachine(t, [t.add(x, p)], [x], [p])
    with pytest.raises(BadArguments, match="states of 1 numbers"):
        machine.batch(np.zeros((3, 2)), np.zeros(1))
    with pytest.raises(BadArguments, match="1 parameters"):
        machine.batch(np.zeros((3, 1)), np.zeros(2))


def test_a_function_that_is_evaluated_often_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape_function, "_PAYS", 100)
    t, outs, state, parameters = _random_tape(5)
    f, X, p = (
        TapeFunction(t, outs, state, parameters),
        np.random.default_rng(0).uniform(-1, 1, (60, 4)),
        np.ones(3),
    )
    first = f.batch(X, p)
    assert f._compiled is None
    np.testing.assert_array_equal(first, f.batch(X, p))
    assert f._compiled is not None
