"""da.derivatives against imaginary steps through other equations, differences, and itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import Unknown
from dalembert.gallery import (
    cart_and_bar,
    double_pendulum,
    pendulum_absolute,
    rolling_disk,
    spatial_chain,
)
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.runtime.derivatives import column_function
from dalembert.runtime.derivatives.column_function import ColumnFunction
from dalembert.runtime.derivatives.parts import ImplicitPart, TreePart
from dalembert.runtime.derivatives.tree_columns import TreeColumns
from dalembert.runtime.derivatives.tree_tables import tree_tables
from dalembert.runtime.dynamics import acceleration_derivatives
from dalembert.runtime.numerics.python_binding import BadArguments
from dalembert.symbolic.algebra.expression_graph import dependencies
from derivatives.trees import cartesian_pendulum, complex_steps, gimbal, states, walker

_TREES = {
    "chain": lambda: spatial_chain.build(7),
    "pendulum": double_pendulum.build,
    "gimbal": gimbal,
    "walker with quaternions": lambda: walker(quaternions=True),
}


def _worst(found: Any, expected: Any) -> float:
    """The largest error of a state relative to its largest entry."""
    return float(
        (np.abs(found - expected).max(axis=(1, 2)) / np.abs(expected).max(axis=(1, 2))).max()
    )


def _inputs(system: da.System) -> dict[str, float]:
    return {s.name: 0.7 for s in system.symbols.values() if s.kind == "input"}


@pytest.mark.parametrize(
    "name",
    [
        "chain",
        "pendulum",
        "gimbal",
        pytest.param("walker with quaternions", marks=pytest.mark.slow),
    ],
)
def test_trees_against_imaginary_steps_through_articulated_bodies(name: str) -> None:
    s = _TREES[name]()
    d, inputs = da.derivatives(s), _inputs(s)
    assert isinstance(d.parts[0], TreePart)
    q, u = states(s, 200 if name == "chain" else 20)
    assert _worst(d(q, u, **inputs), complex_steps(s, q, u, inputs)) < 1e-12


@pytest.mark.parametrize("name", ["gimbal", "pendulum"])
def test_generic_kernel_gives_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    s = _TREES[name]()
    wrt = ("u", "loads", "q", *_inputs(s))
    q, u = states(s, 9)
    expected = da.derivatives(s, with_respect_to=wrt)(q, u, **_inputs(s))
    monkeypatch.setattr(acceleration_derivatives, "_WRITTEN_OUT", 0)
    # nine states in several parts
    monkeypatch.setattr(column_function, "_CACHE", 1)
    d = da.derivatives(s, with_respect_to=wrt)
    assert isinstance(d.parts[0].slopes, ColumnFunction)
    found = d(q, u, **_inputs(s))
    assert _worst(found, expected) < 1e-13
    for k in range(9):
        np.testing.assert_array_equal(found[k], d(q[k], u[k], **_inputs(s)))


def test_a_planted_error_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_gyroscopic_term(self: TreeColumns, i: Any, j: Any) -> int:
        return self.x.dot(j.psi2, i.g)

    monkeypatch.setattr(TreeColumns, "_moved", without_gyroscopic_term)
    s = spatial_chain.build(4)
    q, u = states(s, 5)
    assert _worst(da.derivatives(s)(q, u), complex_steps(s, q, u, {})) > 1e-3


def test_loads_are_the_inverse_of_the_mass_matrix() -> None:
    s = gimbal()
    q, u = states(s, 3)
    inverse = da.derivatives(s, with_respect_to="loads")(q, u, F=0)
    np.testing.assert_allclose(inverse, np.swapaxes(inverse, 1, 2), rtol=0, atol=1e-12)
    M = da.derivatives(s, "inverse dynamics", "udot")(q, u, udot=np.zeros((3, u.shape[1])), F=0)
    np.testing.assert_allclose(
        inverse @ M, np.broadcast_to(np.eye(u.shape[1]), M.shape), rtol=0, atol=1e-11
    )
    push = da.derivatives(s, with_respect_to="F")(q, u, F=0)[:, :, 0]
    udot = da.compile(s)
    np.testing.assert_allclose(push, udot(q, u, F=1.0) - udot(q, u, F=0.0), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("build", [rolling_disk.build, pendulum_absolute.build])
def test_constrained_systems_against_imaginary_steps(build: Any) -> None:
    s = build()
    d, (q, u) = da.derivatives(s), states(s, 12)
    assert isinstance(d.parts[0], (ImplicitPart, TreePart))
    assert _worst(d(q, u), complex_steps(s, q, u, {})) < 1e-11


def _differences(f: Any, x: Any, h: float = 1e-5) -> Any:
    """∂f/∂x of order four."""
    steps = [(k, w) for k, w in ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))]
    return np.stack(
        [sum(w * f(x + k * h * e) for k, w in steps) / h for e in np.eye(len(x))], axis=-1
    )


def test_saddle_point_form_follows_the_native_elimination() -> None:
    s = cartesian_pendulum()
    f, d = da.compile(s, speeds="all"), da.derivatives(s, speeds="all")
    q, u = np.array([0.6, -0.8]), np.array([0.8, 0.6])
    np.testing.assert_allclose(d.values(q, u), f(q, u), rtol=1e-9, atol=1e-9)
    n = len(q)
    expected = _differences(lambda x: f(x[:n], x[n:]), np.r_[q, u])
    np.testing.assert_allclose(d(q, u), expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("of", ["qdot", "rates", "M", "f", "constraints", "T", "V", "rates by all"])
def test_every_quantity_against_differences(of: str) -> None:
    s = rolling_disk.build() if of != "constraints" else cartesian_pendulum()
    speeds = "all" if of == "constraints" else None
    wrt = ("q", "u", "constants") if of == "rates by all" else ("q", "u")
    d = da.derivatives(s, of.removesuffix(" by all"), wrt, speeds=speeds)
    random = np.random.default_rng(2)
    sizes = d._state
    q, u = random.uniform(0.3, 1.0, sizes["q"]), random.uniform(-1, 1, sizes["u"])
    n = len(q)
    expected = _differences(lambda x: d.values(x[:n], x[n:]), np.r_[q, u])
    J = d(q, u)
    np.testing.assert_allclose(
        J[:, : n + len(u)], expected, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(expected).max())
    )
    if of == "rates by all":
        for k, name in enumerate(d.columns[n + len(u) :], n + len(u)):
            value = float(s.symbols[name].value)
            by_constant = _differences(
                lambda c, name=name: d.values(q, u, **{name: float(c[0])}), np.array([value])
            )
            np.testing.assert_allclose(J[:, k], by_constant[:, 0], rtol=1e-7, atol=1e-6)


def test_inverse_dynamics_and_its_second_derivatives() -> None:
    s = spatial_chain.build(3)
    d = da.derivatives(s, "inverse dynamics", ("q", "u", "udot"), order=2)
    random = np.random.default_rng(0)
    x, mu = random.uniform(-1, 1, 9), random.uniform(-1, 1, 3)
    H = d(x[:3], x[3:6], udot=x[6:], multipliers=mu)
    expected = _differences(lambda x: mu @ d.jacobian(x[:3], x[3:6], udot=x[6:]), x)
    np.testing.assert_allclose(H, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_array_equal(H, H.T)
    v = random.uniform(-1, 1, 9)
    product = d.hessian_vector(x[:3], x[3:6], udot=x[6:], multipliers=mu, vector=v)
    np.testing.assert_allclose(product, H @ v, rtol=0, atol=1e-12)
    rows, columns = d.pattern
    assert (columns <= rows).all()
    np.testing.assert_array_equal(
        H[rows, columns], d.entries(x[:3], x[3:6], udot=x[6:], multipliers=mu)
    )


@pytest.mark.parametrize(
    "build", [cart_and_bar.build, rolling_disk.build, lambda: spatial_chain.build(3)]
)
def test_second_derivatives_of_accelerations(build: Any) -> None:
    s = build()
    kin = da.kinematics(s)
    inputs, random = _inputs(s), np.random.default_rng(1)
    d = da.derivatives(s, "rates", ("q", "u", *inputs, "loads"), order=2)
    q, u = random.uniform(0.3, 1.0, kin.n_q), random.uniform(-1, 1, kin.n_u)
    mu = random.uniform(-1, 1, len(d.rows))
    H, n = d(q, u, multipliers=mu, **inputs), kin.n_q
    expected = _differences(lambda x: mu @ d.jacobian(x[:n], x[n:], **inputs), np.r_[q, u])
    np.testing.assert_allclose(
        H[:, : n + len(u)], expected, rtol=0, atol=1e-7 * np.abs(expected).max()
    )
    Q, U = np.stack([q, q + 0.1]), np.stack([u, u])
    np.testing.assert_array_equal(H, d(Q, U, multipliers=mu, **inputs)[0])


def test_names_shapes_and_patterns() -> None:
    s = cart_and_bar.build()
    d = da.derivatives(s, "rates", ["q", "u", "F"])
    assert ("x.dot", "theta.dot", "x.dot.dot", "theta.dot.dot") == d.rows
    assert ("x", "theta", "x.dot", "theta.dot", "F") == d.columns
    assert (4, 5) == d([0.1, 0.2], [0, 0], F=1).shape
    assert (7, 4, 5) == d(np.zeros((7, 2)), np.zeros((7, 2)), F=1).shape
    rows, columns = d.pattern
    assert {(0, 2), (1, 3)} == {
        (i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if i < 2
    }
    text = da.derivatives(s, "x*sin(theta)", "q")
    np.testing.assert_allclose(
        [[math.sin(0.3), 2 * math.cos(0.3)]], text([2.0, 0.3], [0, 0]), rtol=1e-15
    )


def test_code_of_large_trees_grows_with_the_joints() -> None:
    counts = []
    for n in (10, 40):
        tables = tree_tables(kinematics(spatial_chain.build(n)))
        counts.append(len(dependencies(tables.tape, [i for f in tables.dofs for i in f.row])))
    assert math.log(counts[1] / counts[0]) / math.log(4) < 1.15


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"of": "udt"}, "did you mean 'udot'"),
        ({"with_respect_to": "thta"}, "did you mean 'theta'"),
        ({"with_respect_to": "udot"}, "inverse dynamics"),
        ({"order": 3}, "order=3"),
        ({"speeds": "some"}, "speeds='some'"),
        ({"of": "constraints"}, "no constraint equation"),
        ({"with_respect_to": []}, "names no variable"),
    ],
)
def test_bad_questions_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Unknown, match=message):
        da.derivatives(cart_and_bar.build(), **given)


def test_bad_arguments_are_refused() -> None:
    d = da.derivatives(cart_and_bar.build(), order=2)
    with pytest.raises(BadArguments, match="q has 2 numbers"):
        d.jacobian([0.1], [0, 0], F=1)
    with pytest.raises(BadArguments, match="give multipliers="):
        d([0, 0], [0, 0], F=1)
    with pytest.raises(BadArguments, match="2 multipliers"):
        d([0, 0], [0, 0], F=1, multipliers=[1, 2, 3])
    with pytest.raises(da.MissingValue, match="F"):
        d([0, 0], [0, 0], multipliers=[1, 2])
    with pytest.raises(BadArguments, match="as many rows"):
        d.jacobian(np.zeros((3, 2)), np.zeros((2, 2)), F=1)
