"""Regulators, tracking, computed torque and Kalman filters: against SciPy, against laws, and in
closed loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are, solve_discrete_are

import dalembert as da
from dalembert.errors import Unknown


def _cart_pole() -> da.System:
    s = da.System("Cart and pole", gravity=9.81)
    x, theta = s.coordinates("x theta")
    M, m, l = s.constants(M=1, m=0.2, l=0.5)
    B = s.N.rotated(theta, s.N.z, "B")
    cart = s.O.offset(x * s.N.x, "cart")
    s.particle("cart", M, cart)
    s.particle("bob", m, cart.offset(l * B.y))
    s.force(s.input("F") * s.N.x, at=cart)
    return s


def _satellite() -> da.System:
    s = da.System("Satellite")
    b = s.ball("e0 e1 e2 e3", s.O)
    F = b.frame
    s.body("satellite", 1, b, F, da.inertia(F, 1, 2, 3))
    for k, axis in enumerate((F.x, F.y, F.z)):
        s.torque(s.input(f"T{k}") * axis, on=F)
    return s


def _on_a_circle() -> da.System:
    s = da.System("Inverted pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("bob", 1, P)
    s.force(s.input("f") * s.N.x, at=P)
    s.constrain(x**2 + y**2 - 1)
    return s


def test_lqr_is_that_of_the_linear_model() -> None:
    s = _cart_pole()
    model, Q = da.linearize(s), np.diag([1.0, 10.0, 1.0, 1.0])
    P = solve_continuous_are(model.A, model.B, Q, [[0.1]])
    K = da.lqr(s, Q={"theta": 10}, R=0.1)
    np.testing.assert_allclose(10 * model.B.T @ P, K.K, rtol=1e-10)
    assert ("x", "theta", "x.dot", "theta.dot") == K.states
    closed = da.linearize(s, inputs=K.law)
    np.testing.assert_allclose(
        np.sort_complex(K.eigenvalues), np.sort_complex(closed.eigenvalues), rtol=1e-8
    )
    run = da.simulate(s, 8, start={"theta": "20 deg"}, inputs=K.law)
    assert abs(run["theta"][-1]) < 1e-4


def test_cost_of_small_motions_is_that_of_the_riccati_equation() -> None:
    s = _cart_pole()
    K = da.lqr(s, Q={"theta": 10}, R=0.1)
    run = da.simulate(s, 30, start={"theta": 1e-4}, inputs=K.law, rtol=1e-12, atol=1e-16)
    cost = run.gradient("x**2 + 10*theta**2 + x.dot**2 + theta.dot**2 + 0.1*F**2").value
    x0 = np.array([0, 1e-4, 0, 0])
    assert float(x0 @ K.P @ x0) == pytest.approx(cost, rel=1e-6)


def test_a_quaternion_has_three_components_of_error() -> None:
    s = _satellite()
    K = da.lqr(s, {"e0": 1})
    assert (7, 6) == K.N.shape
    # each axis by itself is ẍ = T/J with half the angle weighted: K = (1, √(1 + J))
    np.testing.assert_allclose(K.K[:, 1:4], np.eye(3), atol=1e-9)
    np.testing.assert_allclose(K.K[:, 4:], np.diag(np.sqrt([2.0, 3.0, 4.0])), atol=1e-9)
    for sign in (1, -1):
        start = dict(
            zip(("e0", "e1", "e2", "e3"), sign * np.array([0.5, 0.5, 0.5, 0.5]), strict=True)
        )
        run = da.simulate(s, 40, start=start, inputs=K.law)
        # e and −e are the same orientation, and either is brought to rest without a detour
        assert 1.0 == pytest.approx(sign * run["e0"][-1], abs=1e-6)


def test_constraint_equations_leave_independent_states() -> None:
    s = _on_a_circle()
    K = da.lqr(s, {"x": 0, "y": 1})
    assert 2 == K.N.shape[1]
    # ẍ = 9.81 x + f for small x
    P = solve_continuous_are(np.array([[0, 1], [9.81, 0]]), [[0], [1]], np.eye(2), [[1]])
    np.testing.assert_allclose(P[1], K.K[0, [0, 2]], rtol=1e-9)
    run = da.simulate(s, 8, start={"x": 0.2, "y": 0.9797958971132712}, inputs=K.law)
    assert abs(run["x"][-1]) < 1e-6


def test_what_cannot_be_regulated_is_refused() -> None:
    s = _cart_pole()
    with pytest.raises(da.BadControl, match="no equilibrium"):
        da.lqr(s, {"theta": 0.3})
    with pytest.raises(da.BadControl, match="R of the inputs must be positive"):
        da.lqr(s, R=0)
    with pytest.raises(da.BadControl, match="Q of the states"):
        da.lqr(s, Q=-1)
    with pytest.raises(Unknown, match="'thta' is none of"):
        da.lqr(s, Q={"thta": 1})
    with pytest.raises(da.BadControl, match="4 numbers, or a symmetric"):
        da.lqr(s, Q=[1, 2])
    free = da.System("Two masses")
    a, b = free.coordinates("a b")
    for q in (a, b):
        free.particle(f"mass of {q}", 1, free.O.offset(q * free.N.x))
    free.force(free.input("F") * free.N.x, at=free.O.offset(a * free.N.x))
    with pytest.raises(da.BadControl, match="inputs F cannot control the mode with eigenvalue 0"):
        da.lqr(free)
    with pytest.raises(da.BadControl, match="has no input"):
        da.lqr(_without_input())


def _without_input() -> da.System:
    s = da.System("Pendulum", gravity=9.81)
    s.rod("rod", s.pin("a", s.O), mass=1, length=1)
    return s


def test_tracking_of_rest_is_the_regulator() -> None:
    s = _cart_pole()
    rest = da.simulate(s, 30, inputs={"F": 0})
    K = da.lqr(s, Q=[10, 10, 1, 1], R=0.1)
    tracker = da.track(rest, Q=[10, 10, 1, 1], R=0.1, points=200)
    np.testing.assert_allclose(tracker.K[0], K.K, rtol=1e-9)
    same = da.track(rest, Q=[10, 10, 1, 1], R=0.1, points=50, final=K)
    np.testing.assert_allclose(same.K, np.broadcast_to(K.K, same.K.shape), rtol=1e-8)


def test_tracking_brings_a_system_back_to_an_unstable_motion() -> None:
    s, push = _cart_pole(), {"F": "-8*sin(3*t)"}
    motion = da.simulate(s, 2, start={"theta": 0.1}, inputs=push)
    tracker = da.track(motion, Q=[100, 100, 1, 1], R=0.01)
    disturbed = {"theta": 0.15, "x": 0.1}
    followed = da.simulate(s, 2, start=disturbed, inputs=tracker.law)
    alone = da.simulate(s, 2, start=disturbed, inputs=push)
    miss, open_miss = (
        np.abs(np.hstack([run.q[-1] - motion.q[-1], run.u[-1] - motion.u[-1]])).max()
        for run in (followed, alone)
    )
    assert miss < 0.02 * open_miss
    assert {"t", "x", "F", "K[F, theta]"} <= set(tracker.table())


def test_riccati_equation_is_solved_to_second_order() -> None:
    motion = da.simulate(_cart_pole(), 2, start={"theta": 3.0}, inputs={"F": "4*sin(3*t)"})
    exact, *others = (da.track(motion, points=n).K[0, 0] for n in (801, 101, 51))
    fine, coarse = (np.abs(K - exact).max() for K in others)
    assert 3.3 < coarse / fine < 4.8


def test_tracking_with_a_constraint_equation() -> None:
    s = _on_a_circle()
    motion = da.simulate(s, 3, start={"x": 0.8, "y": 0.6}, inputs={"f": "5*cos(2*t)"})
    tracker = da.track(motion, Q=20, R=0.1)
    start = {"x": 0.75, "y": 0.6614378277661477}
    followed = da.simulate(s, 3, start=start, inputs=tracker.law)
    alone = da.simulate(s, 3, start=start, inputs={"f": "5*cos(2*t)"})
    misses = [
        np.hypot(run["x"][-1] - motion["x"][-1], run["y"][-1] - motion["y"][-1])
        for run in (followed, alone)
    ]
    assert misses[0] < 0.1 * misses[1]


def test_computed_torque_leaves_the_error_equation() -> None:
    s = da.System("Arm", gravity=9.81)
    a = s.pin("a", s.O)
    upper = s.rod("upper", a, mass=1, length=1)
    b = s.pin("b", upper.tip)
    s.rod("lower", b, mass=1, length=1)
    s.torque(s.input("ta") * s.N.z, on=a.frame)
    s.torque(s.input("tb") * s.N.z, on=b.frame, reaction=a.frame)
    law = da.computed_torque(s, {"a": "sin(t)", "b": da.cos(2 * s.t)}, stiffness=25)
    run = da.simulate(s, 6, inputs=law, rtol=1e-11, atol=1e-11)
    # b begins at 0 instead of 1 with the velocity that is wanted, critically damped
    error = -(1 + 5 * run.t) * np.exp(-5 * run.t)
    np.testing.assert_allclose(run["b"], np.cos(2 * run.t) + error, atol=1e-9)
    with pytest.raises(da.BadControl, match="no reference for b"):
        da.computed_torque(s, {"a": "sin(t)"})
    with pytest.raises(da.BadControl, match="1 inputs"):
        da.computed_torque(s, {"a": "sin(t)", "b": 0}, drives=["ta"])


def test_stationary_kalman_filter_is_that_of_the_riccati_equation() -> None:
    s = da.System("Oscillator")
    x = s.coordinate("x")
    s.particle("mass", 1, s.O.offset(x * s.N.x))
    s.potential(2 * x**2)
    h, r, w = 0.05, 1e-3, 0.2
    estimate = da.kalman(s, ["x"], h, noise=r, process={"x.dot": w})
    for _ in range(400):
        estimate.step([0.0])
    Phi = np.array([[np.cos(2 * h), np.sin(2 * h) / 2], [-2 * np.sin(2 * h), np.cos(2 * h)]])
    expected = solve_discrete_are(Phi.T, np.array([[1.0], [0.0]]), np.diag([0, w * h]), [[r]])
    np.testing.assert_allclose(expected, estimate.P, rtol=1e-9)


@pytest.mark.parametrize("method", ["extended", "unscented"])
def test_kalman_filter_finds_an_orientation(method: str) -> None:
    s, random = _satellite(), np.random.default_rng(0)
    F = next(f for f in s.space.frames if f is not s.N)
    zero = {"T0": 0, "T1": 0, "T2": 0}
    start = {"e0": 1, "omega_e0x": 0.3, "omega_e0y": 0.5, "omega_e0z": -0.2}
    truth = da.simulate(s, 10, start=start, inputs=zero, at=np.arange(0, 10.001, 0.05))
    measured = [F.x @ s.N.x, F.x @ s.N.y, F.y @ s.N.z, F.z @ s.N.x]
    samples = np.column_stack([truth[m] for m in measured]) + 0.01 * random.normal(
        size=(len(truth), 4)
    )
    rates = dict.fromkeys(("omega_e0x", "omega_e0y", "omega_e0z"), 1e-7)
    guess = {"e0": 0.9, "e1": 0.4358898943540674}
    known = {"noise": 1e-4, "process": rates, "covariance": 0.5, "start": guess}
    estimate = da.kalman(s, measured, 0.05, **known, method=method)
    for y in samples[:-1]:
        estimate.step(y)
    estimate.update(samples[-1])
    assert (6, 6) == estimate.P.shape
    assert 1.0 == pytest.approx(float(np.linalg.norm(estimate.x[:4])), abs=1e-13)
    same = abs(float(estimate.x[:4] @ truth.q[-1]))
    assert 2 * np.arccos(min(1.0, same)) < 0.01
    deviation = np.array([*estimate.deviation.values()])
    misses = estimate.model.error(estimate.x, np.concatenate([truth.q[-1], truth.u[-1]]))
    assert np.abs(misses / np.maximum(deviation, 1e-9)).max() < 4


def test_noise_is_filtered_in_a_closed_loop() -> None:
    s, random = _cart_pole(), np.random.default_rng(1)
    K = da.lqr(s, Q={"theta": 10}, R=0.1)
    rates = {"x.dot": 1e-3, "theta.dot": 1e-3}
    estimate = da.kalman(s, ["x", "theta"], 0.01, noise=1e-6, process=rates, start={"theta": 0.05})

    def control(t: float, now: da.RunState) -> float:
        estimate.update(np.array([now["x"], now["theta"]]) + 1e-3 * random.normal(size=2))
        w = K(estimate.x)
        estimate.predict(w)
        return float(w[0])

    run = da.simulate(s, 4, start={"theta": 0.1}, inputs={"F": da.sampled(control, 0.01)})
    late = run.at(np.linspace(3, 4, 101))
    assert np.abs(late["theta"]).max() < 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": 0}, "noise variance above zero"),
        ({"process": {"y": 1}}, "'y' is none of"),
        ({"every": 0}, "every=0"),
        ({"noise": [1, 2]}, "symmetric"),
        ({"process": -1}, "must not be negative"),
    ],
)
def test_bad_filters_are_refused(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "measure": ["x"],
        "every": 0.01,
        "noise": 1e-4,
        "process": 1e-3,
    } | change
    with pytest.raises((da.BadControl, Unknown), match=message):
        da.kalman(_cart_pole(), **given)


def test_bad_measurements_are_refused() -> None:
    estimate = da.kalman(_cart_pole(), "x", 0.01, noise=1e-4, process=1e-3)
    with pytest.raises(da.BadControl, match="1 finite measurements"):
        estimate.step([1.0, 2.0])
    with pytest.raises(Unknown, match="not 'phi'"):
        estimate["phi"]
    assert "x = 0 ± 1" in str(estimate)
