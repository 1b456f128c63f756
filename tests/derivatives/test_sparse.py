"""Sparse Jacobians and sum_of_products Hessians against complex steps, and their patterns against
the expressions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dalembert.gallery import double_pendulum, rolling_disk, spatial_chain
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.runtime.derivatives import sparse
from dalembert.runtime.derivatives.sparse import contracted_gradient, hessian_times_vector
from dalembert.runtime.derivatives.tape_function import TapeDerivatives, TapeFunction
from dalembert.runtime.dynamics.required_loads import required_loads
from dalembert.symbolic.algebra.arithmetic import ArrayArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of
from dalembert.symbolic.algebra.tape import Tape

_STEP = 1e-30


def _at(tape: Tape, outs: Any, symbols: Any, x: Any) -> Any:
    values = dict(zip(symbols, x, strict=True))
    return np.array(
        evaluate(tape, outs, lambda i: np.asarray(values[i]), ArrayArithmetic())
    ).squeeze()


def _complex_step(tape: Tape, outs: Any, symbols: Any, x: Any, count: int) -> Any:
    """∂outs/∂x for the first `count` symbols, by imaginary steps."""
    columns = []
    for k in range(count):
        moved = np.array(x, dtype=complex)
        moved[k] += 1j * _STEP
        columns.append(_at(tape, outs, symbols, moved).imag / _STEP)
    return np.stack(columns, axis=-1)


_SYSTEMS = {
    "chain": lambda: spatial_chain.build(3),
    "pendulum": double_pendulum.build,
    "disk": rolling_disk.build,
}


@pytest.mark.parametrize("name", _SYSTEMS)
@pytest.mark.parametrize("wide", [0, 99])
def test_required_loads_against_complex_steps(
    name: str, wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse, "_WIDE", wide)
    loads = required_loads(kinematics(_SYSTEMS[name]()))
    kin, t = loads.kinematics, loads.tape
    z = (*kin.q, *kin.u, *kin.udot)
    p = tuple(i for i in symbols_of(t, loads.nodes) if i not in z)
    d, random = TapeDerivatives(t, loads.nodes, z, p), np.random.default_rng(3)
    X, P = random.uniform(0.3, 1.2, (5, len(z))), random.uniform(0.5, 1.5, len(p))
    MU = random.uniform(-1, 1, (5, len(loads.nodes)))
    J, H = d.jacobian(X, P), d.hessian(X, MU, P)
    mu = [d.tape.private_symbol(f"multiplier {k}") for k in range(len(loads.nodes))]
    slopes = contracted_gradient(d.tape, loads.nodes, mu, z)
    for k, x in enumerate(X):
        expected = _complex_step(t, loads.nodes, (*z, *p), (*x, *P), len(z)).reshape(
            len(loads.nodes), -1
        )
        full = np.zeros_like(expected)
        full[d.jacobian_rows, d.jacobian_columns] = J[k]
        np.testing.assert_allclose(full, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        expected = _complex_step(d.tape, slopes, (*z, *p, *mu), (*x, *P, *MU[k]), len(z))
        full = np.zeros_like(expected)
        full[d.hessian_rows, d.hessian_columns] = full[d.hessian_columns, d.hessian_rows] = H[k]
        np.testing.assert_allclose(full, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_places_that_vanish_identically_are_left_out() -> None:
    loads = required_loads(kinematics(spatial_chain.build(4)))
    kin = loads.kinematics
    z = (*kin.q, *kin.u, *kin.udot)
    d = TapeDerivatives(loads.tape, loads.nodes, z, symbols_of(loads.tape, loads.nodes))
    H = np.zeros((12, 12), dtype=bool)
    H[d.hessian_rows, d.hessian_columns] = True
    # accelerations enter linearly, and no product of one with a speed occurs
    assert not H[8:, 4:].any()
    assert H[8:, :4].any()
    assert (d.hessian_columns <= d.hessian_rows).all()


def test_hessian_times_vector_is_the_product() -> None:
    loads = required_loads(kinematics(spatial_chain.build(3)))
    kin, t = loads.kinematics, loads.tape.fork()
    z = (*kin.q, *kin.u, *kin.udot)
    p = tuple(i for i in symbols_of(t, loads.nodes) if i not in z)
    mu, v = (
        [t.private_symbol(f"{name} {k}") for k in range(n)] for name, n in (("mu", 3), ("v", 9))
    )
    f = TapeFunction(t, hessian_times_vector(t, loads.nodes, mu, z, v), (*z, *mu, *v), p)
    d, random = TapeDerivatives(loads.tape, loads.nodes, z, p), np.random.default_rng(5)
    X, P = random.uniform(-1, 1, (4, 21)), random.uniform(0.5, 1.5, len(p))
    H, entries = np.zeros((4, 9, 9)), d.hessian(X[:, :9], X[:, 9:12], P)
    H[:, d.hessian_rows, d.hessian_columns] = H[:, d.hessian_columns, d.hessian_rows] = entries
    np.testing.assert_allclose(
        f.batch(X, P), np.einsum("kij,kj->ki", H, X[:, 12:]), rtol=0, atol=1e-12
    )


def test_every_function_is_differentiated() -> None:
    t = Tape()
    x, y = t.symbol("x"), t.symbol("y")
    names = (
        "sin",
        "cos",
        "exp",
        "log",
        "sqrt",
        "sinh",
        "cosh",
        "asin",
        "acos",
        "atan",
        "abs",
        "sign",
    )
    outs = [
        *(t.mul(y, t.call(name, t.mul(x, y))) for name in names),
        t.atan2(x, y),
        t.div(x, t.sub(y, t.mul(x, x))),
    ]
    d, point = TapeDerivatives(t, outs, (x, y)), np.array([[0.4, 0.7]])
    J = np.zeros((len(outs), 2))
    J[d.jacobian_rows, d.jacobian_columns] = d.jacobian(point)[0]
    near = [d.values(point + step)[0] - d.values(point - step)[0] for step in 1e-5 * np.eye(2)]
    np.testing.assert_allclose(J, np.stack(near, axis=1) / 2e-5, rtol=1e-8, atol=1e-9)
