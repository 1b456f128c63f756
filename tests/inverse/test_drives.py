"""Loads for a given motion, held against the equations of motion."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.inverse.inverse_dynamics import NotDriven
from dalembert.gallery import four_bar, rolling_disk


def two_links(*, inputs=True):
    s = da.System("Arm", gravity=9.81)
    upper = s.rod("upper", s.pin("alpha", s.O), mass=2, length=1)
    lower = s.rod("lower", s.pin("beta", upper.tip), mass=1, length=0.7)
    if inputs:
        M1, M2, F = (s.input(name, value=0) for name in ("M1", "M2", "F"))
        s.torque(M1 * s.N.z, upper)
        s.torque(M2 * s.N.z, lower, reaction=upper)
        s.force(F * s.N.x, lower.tip)
    return s


def test_inverse_and_forward_dynamics_undo_one_another():
    s = two_links(inputs=False)
    f, g = da.compile(s), da.inverse_dynamics(s)
    assert "link by link" == g.route
    assert ("alpha'", "beta'") == g.drives
    q, u = [0.3, -0.8], [1.0, 2.0]
    assert np.zeros(2) == pytest.approx(g(q, u, f(q, u)), abs=1e-12)
    # the weight of both rods about the first pin: g (2 · 1/2 sin α + 1 (sin α + 0.35 sin(α + β)))
    tau = g(q, [0, 0], [0, 0])
    assert 9.81 * (2 * np.sin(0.3) + 0.35 * np.sin(-0.5)) == pytest.approx(tau[0], rel=1e-12)
    many = g(np.array([q, q]), np.array([u, u]), np.zeros((2, 2)))
    assert g(q, u, [0.0, 0.0]).tolist() == many[1].tolist()


def test_drives_of_least_norm_where_they_are_redundant():
    s = two_links()
    g = da.inverse_dynamics(s, "inputs")
    assert ("M1", "M2", "F") == g.drives
    q, u, a = [0.3, -0.8], [1.0, 2.0], [3.0, -1.0]
    tau = g(q, u, a)
    f = da.compile(s)
    assert a == pytest.approx(f(q, u, **dict(zip(g.drives, tau, strict=True))), rel=1e-10)
    square = da.inverse_dynamics(s, ["M1", "M2"])(q, u, a)
    assert np.linalg.norm(tau) < np.linalg.norm(square)


def test_drives_that_cannot_make_the_motion_say_what_is_missing():
    g = da.inverse_dynamics(two_links(), ["M2"])
    with pytest.raises(NotDriven, match="along alpha' a load of"):
        g([0.3, -0.8], [0.0, 0.0], [0.0, 5.0])


def test_a_loop_driven_at_one_joint():
    s = four_bar.build()
    g = da.inverse_dynamics(s)
    assert "Kane's residual" == g.route
    assert 1 == len(g.drives)
    state = da.state_values(s, {s.q[0].name: 0.7})
    tau = g(state.q, state.u, [0.4])
    assert state.M @ [0.4] - state.f == pytest.approx(tau, rel=1e-9, abs=1e-12)
    other = da.inverse_dynamics(s, [s.q[1].name])(state.q, state.u, [0.4])
    # the same virtual power through another joint; the pivot moves, so the rate at rest is taken
    # off
    first, second = s.q[0].name, f"{s.q[1].name}.dot"
    ratio = da.evaluate(s, second, at={first: 0.7, f"{first}.dot": 1.0}) - da.evaluate(
        s, second, at={first: 0.7, f"{first}.dot": 0.0}
    )
    assert tau[0] == pytest.approx(other[0] * ratio, rel=1e-9)


def test_unknown_drives_are_refused():
    s = two_links()
    with pytest.raises(da.DalembertError, match="M3"):
        da.inverse_dynamics(s, ["M3"])
    with pytest.raises(da.BadDescription, match="no inputs"):
        da.inverse_dynamics(two_links(inputs=False), "inputs")


def test_nonholonomic_systems_are_loads_along_their_speeds():
    s = rolling_disk.build()
    g, f = da.inverse_dynamics(s), da.compile(s)
    q, u = np.full(len(s.q), 0.4), np.full(g.n_u, 0.6)
    assert np.zeros(g.n_u) == pytest.approx(g(q, u, f(q, u)), abs=1e-10)
