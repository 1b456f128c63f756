"""NumPy modules, and those for JAX and CasADi where these are installed, against our own
numbers.
"""

from __future__ import annotations

import types

import numpy as np
import pytest

from dalembert.exchange.exports.python import python_source
from exports.cases import CLOSE, COUNT, SYSTEMS, back_on_rows, case, near_rows, off


def module(one, dialect):
    made = types.ModuleType(one.identifier)
    exec(compile(python_source(one.model, dialect), one.identifier, "exec"), made.__dict__)
    return made, made.Parameters(*[one.p[v.name] for v in one.model.parameters])


def in_rows(results):
    results = results if isinstance(results, tuple) else (results,)
    return np.concatenate([np.asarray(r).reshape(COUNT, -1) for r in results], axis=1)


def check(one, dialect):
    made, p = module(one, dialect)
    for f in one.model.public_functions:
        found = in_rows(getattr(made, f.name)(one.t, one.x, one.w, p))
        assert off(found, one.expected(f.name)) < CLOSE, f.name
        if f.name == "rates":
            assert off(found, one.rates) < CLOSE
    if one.model.has_projection:
        assert off(made.project(one.t, near_rows(one), one.w, p), back_on_rows(one)) < CLOSE


@pytest.mark.parametrize("name", SYSTEMS)
def test_numpy_gives_our_numbers(name):
    check(case(name), "numpy")


def test_one_state_is_one_row_of_many():
    one = case("rolling-disk")
    made, p = module(one, "numpy")
    many = made.rates(one.t, one.x, one.w, p)
    assert np.array_equal(made.rates(one.t[3], one.x[3], one.w[3], p), many[3])
    assert made.mass_matrix(0.0, one.x[3], (), p).shape == (3, 3)
    assert made.DEFAULTS._asdict() == {
        n: v.value for n, v in zip(made.Parameters._fields, one.model.parameters, strict=True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_jax_gives_our_numbers(name):
    jax = pytest.importorskip("jax", reason="JAX is not installed (extra: export)")
    jax.config.update("jax_enable_x64", True)
    check(case(name), "jax")


@pytest.mark.slow
def test_jax_refuses_32_bits():
    jax = pytest.importorskip("jax", reason="JAX is not installed (extra: export)")
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(RuntimeError, match="jax_enable_x64"):
            module(case("double-pendulum"), "jax")
    finally:
        jax.config.update("jax_enable_x64", True)


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_casadi_gives_our_numbers(name):
    pytest.importorskip("casadi", reason="CasADi is not installed (extra: export)")
    one = case(name)
    made, p = module(one, "casadi")

    def values(f, x):
        F = made.function(f)
        rows = []
        for t, state, w in zip(one.t, x, one.w, strict=True):
            found = F(t, state, w, list(p))
            rows.append(
                np.concatenate(
                    [y.full().ravel() for y in (found if isinstance(found, tuple) else (found,))]
                )
            )
        return np.array(rows)

    for f in one.model.public_functions:
        assert off(values(getattr(made, f.name), one.x), one.expected(f.name)) < CLOSE, f.name
    assert off(values(made.rates, one.x), one.rates) < CLOSE
    if one.model.has_projection:
        assert off(values(made.project, near_rows(one)), back_on_rows(one)) < CLOSE
