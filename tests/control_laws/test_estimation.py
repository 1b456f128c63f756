"""Unscented filters, smoothing, observers as states: against SciPy, against laws, and in C."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

import dalembert as da
from dalembert.errors import Unknown


def _oscillator() -> da.System:
    s = da.System("Oscillator")
    x, F = s.coordinate("x"), s.input("F")
    mass = s.particle("mass", 1, s.O.offset(x * s.N.x))
    s.force((F - 4 * x) * s.N.x, at=mass.G)
    return s


def _cart_pole() -> da.System:
    s = da.System("Cart and pole", gravity=9.81)
    x, theta, F = s.coordinate("x"), s.coordinate("theta"), s.input("F")
    cart = s.particle("cart", 1, s.O.offset(x * s.N.x))
    s.particle("bob", 0.2, cart.G.offset(0.5 * s.N.rotated(theta, s.N.z).y))
    s.force(F * s.N.x, at=cart.G)
    return s


def test_the_unscented_filter_of_a_linear_system_is_that_of_the_riccati_equation() -> None:
    h, r, w = 0.05, 1e-3, 0.2
    options = {"noise": r, "process": {"x.dot": w}, "inputs": {"F": 0}, "method": "unscented"}
    estimate = da.kalman(_oscillator(), ["x"], h, **options)
    for _ in range(300):
        estimate.step([0.0])
    Phi = np.array([[np.cos(2 * h), np.sin(2 * h) / 2], [-2 * np.sin(2 * h), np.cos(2 * h)]])
    expected = solve_discrete_are(Phi.T, np.array([[1.0], [0.0]]), np.diag([0, w * h]), [[r]])
    # Runge and Kutta's fourth order, not the exponential
    np.testing.assert_allclose(expected, estimate.P, rtol=1e-4)


def test_smoothing_of_a_linear_system_is_the_least_squares_of_all_samples() -> None:
    """The smoothed states minimise the sum of all squared misses over their variances."""
    h, r, w, n = 0.1, 1e-2, 0.3, 12
    y = np.random.default_rng(3).normal(size=(n, 1))
    estimate = da.kalman(
        _oscillator(), ["x"], h, noise=r, process=w, covariance=0.5, inputs={"F": 0}
    )
    smoothed = estimate.smooth(y)
    # the filter's own transition, by one step from unit vectors
    Phi = np.column_stack([estimate._runge_kutta(e[None])[1][0] for e in np.eye(2)])
    rows, target = [], []

    def add(block: dict[int, np.ndarray], value: np.ndarray, deviation: float) -> None:
        row = np.zeros((len(value), 2 * n))
        for k, B in block.items():
            row[:, 2 * k : 2 * k + 2] = B
        rows.append(row / deviation)
        target.append(value / deviation)

    add({0: np.eye(2)}, np.zeros(2), np.sqrt(0.5))
    for k in range(n):
        add({k: np.array([[1.0, 0.0]])}, y[k], np.sqrt(r))
        if k + 1 < n:
            add({k: -Phi, k + 1: np.eye(2)}, np.zeros(2), np.sqrt(w * h))
    R = np.vstack(rows)
    expected = np.linalg.lstsq(R, np.concatenate(target), rcond=None)[0].reshape(n, 2)
    deviation = np.sqrt(np.diag(np.linalg.inv(R.T @ R))).reshape(n, 2)
    np.testing.assert_allclose(expected, smoothed.x, atol=2e-5)
    np.testing.assert_allclose(deviation, smoothed.deviation, rtol=1e-4)
    np.testing.assert_allclose(smoothed.x[-1], smoothed.filtered[-1])
    assert "12 samples" in str(smoothed)


@pytest.mark.parametrize("method", ["extended", "unscented"])
def test_smoothing_a_swinging_pole_beats_filtering(method: str) -> None:
    s, rng = _cart_pole(), np.random.default_rng(1)
    t = np.arange(0, 4, 0.02)
    truth = da.simulate(s, 4, start={"theta": 2.5, "x.dot": 0.3}, inputs={"F": 0}, at=t)
    y = np.column_stack([truth["x"], truth["theta"]]) + 0.02 * rng.normal(size=(len(t), 2))
    y[50:60] = np.nan
    rates = {"x.dot": 1e-6, "theta.dot": 1e-6}
    estimate = da.kalman(
        s, ["x", "theta"], 0.02, noise=4e-4, process=rates, start={"theta": 2.0}, method=method
    )
    smoothed = estimate.smooth(y)
    exact = np.column_stack([truth.q, truth.u])
    filtered = np.sqrt(np.mean((smoothed.filtered[5:] - exact[5:]) ** 2))
    assert np.sqrt(np.mean((smoothed.x[5:] - exact[5:]) ** 2)) < 0.5 * filtered
    misses = (smoothed.x - exact) / smoothed.deviation
    assert np.mean(np.abs(misses) < 2) > 0.8


def test_an_observer_closes_the_loop_and_is_the_same_in_c(tmp_path) -> None:
    s = _cart_pole()
    regulator = da.lqr(s, Q={"theta": 10}, R=0.1)
    noise = {"noise": 1e-4, "process": {"x.dot": 1.0, "theta.dot": 1.0}}
    observer = da.observer(s, ["x", "theta"], **noise)
    law = observer.law(regulator)
    # separation: the eigenvalues of both, and no others
    closed = np.sort_complex(da.linearize(s, inputs=law).eigenvalues)
    both = np.concatenate([regulator.eigenvalues, observer.eigenvalues])
    np.testing.assert_allclose(np.sort_complex(both), closed, rtol=1e-6, atol=1e-6)
    run = da.simulate(s, 6, start={"theta": 0.2}, inputs=law)
    assert abs(run["theta"][-1]) < 1e-3
    assert abs(run["hat_theta"][-1] - run["theta"][-1]) < 1e-4
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    rates = {}
    for real, kind in (("double", ctypes.c_double), ("float", ctypes.c_float)):
        (tmp_path / real).mkdir()
        da.export(s, "c", tmp_path / real, inputs=law, real=real, name="loop")
        rates[real] = _c_rates(tmp_path / real, kind, run)
    scale = np.abs(rates["double"]).max(axis=0)
    assert 0.0 < np.abs((rates["float"] - rates["double"]) / scale).max() < 2e-6


def _c_rates(folder, kind, run):
    """ẋ of the exported functions at states of a run."""
    library = folder / "loop.so"
    command = ["gcc", "-O1", "-shared", "-fPIC", folder / "loop.c", "-o", library, "-lm"]
    subprocess.run(command, check=True)
    native = ctypes.CDLL(str(library))
    p, w, out = (kind * 64)(), (kind * 4)(), (kind * len(run.names))()
    native.loop_defaults(p)
    native.loop_prepare(p)
    states, rows = np.column_stack([run[n] for n in run.names]), []
    for t, x in zip(run.t, states, strict=True):
        native.loop_rates(kind(t), (kind * len(x))(*x), w, p, out)
        rows.append(np.array(out))
    return np.array(rows)


def test_wrong_estimators_are_refused() -> None:
    with pytest.raises(Unknown, match="give 'extended' or 'unscented'"):
        da.kalman(_oscillator(), ["x"], 0.1, noise=1, process=1, method="particle")
    with pytest.raises(da.BadControl, match="a row of 1 measurements"):
        da.kalman(_oscillator(), ["x"], 0.1, noise=1, process=1).smooth(np.zeros((3, 2)))
    with pytest.raises(da.BadControl, match="do not observe the mode"):
        da.observer(_cart_pole(), ["theta"], noise=1, process=1)
    with pytest.raises(da.BadControl, match="noise above zero"):
        da.observer(_cart_pole(), ["x"], noise=0, process=1)


def _swing(filter_: da.KalmanFilter) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and noisy measurements of a swing, sample by sample."""
    rng = np.random.default_rng(5)
    s = filter_.model.kin.system
    times = filter_.every * np.arange(120)
    w = 0.5 * np.sin(3 * times)
    held = da.table(times, w, kind="held", extrapolation="hold")
    run = da.simulate(s, times[-1], start={"theta": 0.4}, inputs={"F": held}, at=times)
    measured = np.column_stack([run["x"], run["theta"]]) + rng.normal(0.0, 0.01, (120, 2))
    return w, measured


@pytest.mark.parametrize(("real", "limit"), [("double", 1e-11), ("float", 2e-4)])
def test_unscented_filter_in_c_gives_the_estimates_of_python(tmp_path, real, limit) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    given = {"every": 0.02, "noise": 1e-4, "process": {"x.dot": 0.1, "theta.dot": 0.1}}
    s = _cart_pole()
    estimate = da.kalman(s, ["x", "theta"], start={"theta": 0.3}, method="unscented", **given)
    assert len(da.export(estimate, "c", tmp_path, name="pole", real=real).files) == 4
    library = tmp_path / "pole.so"
    sources = [tmp_path / "pole.c", tmp_path / "pole_filter.c"]
    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"]
    command = ["gcc", *strict, "-shared", "-fPIC", *sources, "-o", library, "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    native, kind = (
        ctypes.CDLL(str(library)),
        ctypes.c_double if real == "double" else ctypes.c_float,
    )
    memory = (kind * 200)()
    native.pole_filter_start(memory)
    worst = 0.0
    for w, y in zip(*_swing(estimate), strict=True):
        assert native.pole_filter_update(memory, (kind * 2)(*y)) == 0
        estimate.update(y)
        worst = max(worst, float(np.abs(np.array(memory[1:5]) - estimate.x).max()))
        native.pole_filter_predict(memory, (kind * 1)(w))
        estimate.predict([w])
    assert worst < limit
    assert np.array(memory[5:21]).reshape(4, 4) == pytest.approx(estimate.P, rel=1e-2, abs=limit)


def test_filters_that_have_no_c_say_why() -> None:
    given = {"every": 0.02, "noise": 1e-4, "process": {"x.dot": 0.1}}
    extended = da.kalman(_cart_pole(), ["x"], **given)
    with pytest.raises(da.NotExportable, match="method='unscented'"):
        da.export(extended, "c")
    unscented = da.kalman(_cart_pole(), ["x"], method="unscented", **given)
    with pytest.raises(da.NotExportable, match="give 'c', not 'modelica'"):
        da.export(unscented, "modelica")
