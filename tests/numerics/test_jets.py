"""Taylor coefficients against the rates themselves: along the polynomial they give, d/dτ of it
is f of it.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from dalembert.errors import NotApplicable
from dalembert.runtime.numerics.compiled_function import CompiledFunction
from dalembert.runtime.numerics.taylor_code import CompiledTaylor
from dalembert.runtime.numerics.taylor_recurrence import ImplicitRates, TaylorRecurrence
from dalembert.runtime.numerics.taylor_simplify import TaylorSimplifier
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.elimination import factor_symmetric
from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.tape import Tape

ORDER, H = 24, 0.05
START = np.array([0.7, -0.4, 0.3])


def system(name: str) -> tuple[Tape, list[int], list[int], list[int]]:
    """x' = y z + …, where the operation stands in the rate of x; parameters a, b."""
    t = Tape()
    x, y, z, time, a, b = (t.symbol(n) for n in ("x", "y", "z", "t", "a", "b"))
    inside = t.add(t.mul(a, x), t.mul(y, time))
    positive = t.add(t.const(2), t.mul(inside, inside))
    small = t.mul(b, t.call("sin", t.add(inside, z)))
    rates = {
        "mul": t.mul(t.mul(x, y), t.mul(z, inside)),
        "div": t.div(t.add(x, b), positive),
        "reciprocal": t.mul(inside, t.div(t.one, positive)),
        "square": t.mul(small, small),
        "sqrt": t.call("sqrt", positive),
        "log": t.call("log", positive),
        "atan2": t.atan2(t.add(x, t.const(2)), t.sub(y, z)),
        "atan2 of a constant": t.atan2(inside, b),
        "neg": t.neg(t.mul(x, x)),
        "unit circle": t.add(
            *(t.mul(t.mul(x, t.call(f, y)), t.call(f, y)) for f in ("sin", "cos"))
        ),
        "jump in time": t.mul(x, t.call("sign", t.sub(time, t.one))),
        "kink in time": t.mul(x, t.call("abs", t.sub(time, t.one))),
    }
    if name not in rates:
        rates[name] = t.call(name, small if name in ("asin", "acos") else inside)
    outs = [rates[name], t.sub(z, t.mul(x, y)), t.add(t.call("cos", x), time)]
    return t, outs, [x, y, z, time], [a, b]


def rows_of(jets: CompiledTaylor, p: np.ndarray, t0: float) -> np.ndarray:
    space = jets.workspace(p)
    rows, rates = np.zeros((ORDER + 1, 4)), np.zeros(4)
    rows[0, :3] = START
    first, later = jets.function_addresses()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(
        first
    )(space.address, t0, rows.ctypes.data, rates.ctypes.data)
    ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64
    )(later)(space.address, H, ORDER, rows.ctypes.data, 4)
    return rows[:, :3]


NAMES = (
    "sin",
    "cos",
    "exp",
    "sinh",
    "cosh",
    "asin",
    "acos",
    "atan",
    "mul",
    "div",
    "reciprocal",
    "square",
    "sqrt",
    "log",
    "atan2",
)
OTHERS = ("atan2 of a constant", "neg", "unit circle", "jump in time", "kink in time")


@pytest.mark.each_time(8)
@pytest.mark.parametrize("name", NAMES + OTHERS)
def test_the_slope_of_the_polynomial_is_the_rate(name: str) -> None:
    tape, outs, state, parameters = system(name)
    check_slope(
        CompiledTaylor(tape, outs, state, parameters),
        CompiledFunction(tape, outs, state, parameters),
    )


def check_slope(jets: CompiledTaylor, f: CompiledFunction) -> None:
    p, t0 = np.array([1.3, 0.6]), 0.2
    rows = rows_of(jets, p, t0)
    powers = np.arange(ORDER + 1)
    for tau in (0.0, 0.5, 1.0):
        y = (rows * tau ** powers[:, None]).sum(0)
        slope = (rows[1:] * powers[1:, None] * tau ** powers[:-1, None]).sum(0) / H
        assert f.call(np.append(y, t0 + H * tau), p) == pytest.approx(slope, rel=2e-14, abs=2e-14)


def test_rates_that_are_implied_are_those_solved_for_and_take_fewer_sums() -> None:
    """(2 + cos x, sin x; sin x, 2) (y', z') = (x z, a cos y + t z): M, its factors and the
    quotients have no series.
    """
    t = Tape()
    x, y, z, time, a, b, dy, dz = (t.symbol(n) for n in ("x", "y", "z", "t", "a", "b", "y'", "z'"))
    s, c = t.call("sin", x), t.call("cos", x)
    M = [[t.add(t.const(2), c), s], [s, t.const(2)]]
    f = [t.mul(x, z), t.add(t.mul(a, t.call("cos", y)), t.mul(time, z))]
    residuals = [
        t.sub(t.add(t.mul(row[0], dy), t.mul(row[1], dz)), right)
        for row, right in zip(M, f, strict=True)
    ]
    outs = [t.mul(b, y), *factor_symmetric(t, M).solve(f)]
    implied = ImplicitRates((dy, dz), tuple(residuals), tuple(outs[1:]))
    state, parameters = [x, y, z, time], [a, b]
    jets = CompiledTaylor(t, outs, state, parameters, implied=implied)
    assert jets.pairs < CompiledTaylor(t, outs, state, parameters).pairs
    check_slope(jets, CompiledFunction(t, outs, state, parameters))


@pytest.mark.parametrize("function", ["abs", "sign"])
def test_a_kink_of_something_that_moves_is_refused(function: str) -> None:
    tape, outs, state, _ = system(function)
    with pytest.raises(NotApplicable, match="kink"):
        TaylorRecurrence(tape, outs, state)


@pytest.mark.parametrize("most_terms", [1, 8, 32])
@pytest.mark.parametrize("name", NAMES + OTHERS)
def test_the_short_form_has_the_same_value(name: str, most_terms: int) -> None:
    tape, outs, state, parameters = system(name)
    form = TaylorSimplifier(tape, state, most_terms)
    short = form(outs)
    values = dict(zip((*state, *parameters), (0.7, -0.4, 0.3, 0.2, 1.3, 0.6), strict=True))
    assert evaluate(tape, outs, values.__getitem__, FloatArithmetic()) == pytest.approx(
        evaluate(form.tape, short, values.__getitem__, FloatArithmetic()), rel=1e-14
    )


def test_the_short_form_finds_what_cancels() -> None:
    """x sin² y + x cos² y is x, whatever order the factors come in, and has no product left."""
    tape, outs, state, _ = system("unit circle")
    form = TaylorSimplifier(tape, state, 8)
    assert form(outs[:1]) == [state[0]]
    assert not TaylorRecurrence(form.tape, [state[0]], state).pairs
