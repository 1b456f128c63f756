"""Every function that an expression can contain, in every format."""

from __future__ import annotations

import math

import pytest

import dalembert as da
from dalembert.exchange.exports.formats import FORMATS
from dalembert.symbolic.algebra import tape

FUNCTIONS = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt"),
    *("sign", "abs", "step", "pulse", "saturate", "atan2", "minimum", "maximum"),
)


def system(name):
    """ẍ = f(x) for 0 < x < 1."""
    s = da.System("Function")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(applied(name, x) * s.N.x, at=P)
    return s


def applied(name, x):
    if name == "abs":
        return abs(x - 0.3)
    f = getattr(da, name)
    return {
        "atan2": lambda: f(x, 2),
        "minimum": lambda: f(x, 0.2),
        "maximum": lambda: f(x, 0.2),
        "pulse": lambda: f(x, 0.1, 0.2),
        "saturate": lambda: f(x, 0.1, 0.4),
    }.get(name, lambda: f(x))()


def all_functions():
    """ẍ = Σ f(x) over all functions."""
    s = da.System("Functions")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    for name in FUNCTIONS:
        s.force(applied(name, x) * s.N.x, at=P)
    return s


def exported(s, kind):
    return da.export(s, kind, **({"binary": "no"} if kind == "fmu" else {})).files


def test_no_function_of_the_tape_is_left_out():
    assert {*tape.FUNCTIONS, "atan2"} <= set(FUNCTIONS)


@pytest.mark.parametrize("kind", [*FORMATS])
def test_every_function_can_be_exported(kind):
    assert exported(all_functions(), kind)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_module_for_numpy_has_the_values_of_the_native_code(name):
    s = system(name)
    text = next(t for f, t in exported(s, "numpy").items() if f.endswith(".py"))
    module = {}
    exec(compile(text, "exported", "exec"), module)
    native = da.compile(s)
    for x in (0.15, 0.45, 0.8):
        assert math.isclose(
            float(native([x], [0.0])[0]), float(module["rates"](0.0, [x, 0.0])[1]), rel_tol=1e-14
        )
