"""Objects of JAX and CasADi: derivatives, batches and loops work on them."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

pytestmark = pytest.mark.slow


def test_jit_vmap_and_grad_of_jax_functions():
    jax = pytest.importorskip("jax", reason="JAX is not installed (extra: export)")
    s = gallery.build("double-pendulum")
    m, f = da.to_jax(s), da.compile(s)
    X = np.random.default_rng(1).uniform(-1, 1, (16, 4))
    rates = jax.jit(jax.vmap(m.rates, (None, 0)))
    assert np.allclose(rates(0.0, X)[:, 2:], f(X[:, :2], X[:, 2:]), rtol=1e-12, atol=1e-12)
    slopes = jax.jacfwd(lambda x: m.rates(0.0, x))(X[0])
    linear = da.linearize(
        s, {"alpha": X[0, 0], "beta": X[0, 1], "alpha.dot": X[0, 2], "beta.dot": X[0, 3]}
    )
    assert np.allclose(slopes, linear.A, rtol=1e-10, atol=1e-10)
    # dT/du = M u
    momentum = jax.grad(lambda x: m.energies(0.0, x)[0])(X[0])[2:]
    assert np.allclose(momentum, m.mass_matrix(0.0, X[0]) @ X[0, 2:], rtol=1e-12)


def test_casadi_functions_have_derivatives():
    casadi = pytest.importorskip("casadi", reason="CasADi is not installed (extra: export)")
    s = gallery.build("double-pendulum")
    functions = da.to_casadi(s)
    p = [float(c.value) for c in s.symbols.values() if c.kind == "constant"]
    x = [0.3, -0.2, 0.5, 0.7]
    rates = functions["rates"]
    assert np.allclose(
        rates(0, x, [], p).full().ravel()[2:], da.compile(s)(x[:2], x[2:]), rtol=1e-12
    )
    t, X, w, P = (
        casadi.MX.sym("t"),
        casadi.MX.sym("x", 4),
        casadi.MX.sym("w", 0),
        casadi.MX.sym("p", len(p)),
    )
    A = casadi.Function("A", [t, X, w, P], [casadi.jacobian(rates(t, X, w, P), X)])
    linear = da.linearize(s, {"alpha": 0.3, "beta": -0.2, "alpha.dot": 0.5, "beta.dot": 0.7})
    assert np.allclose(A(0, x, [], p).full(), linear.A, rtol=1e-10, atol=1e-10)
