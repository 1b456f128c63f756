"""Stiff systems: the native implicit method, compiled slopes for the others, and auto, which
changes over.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import DalembertWarning, NotApplicable
from dalembert.runtime.ode import failure_diagnosis


def settling(rate: int = 10**9) -> da.System:
    """ẍ = −r ẋ − r (x − cos t): soon ẋ = cos t − x, and x = (cos t + sin t + e^−t)/2 from x = 1."""
    s = da.System("a mass")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force((-rate * x.dot - rate * (x - da.cos(s.t))) * s.N.x, at=P)
    return s


def slow(t: Any) -> Any:
    return (np.cos(t) + np.sin(t) + np.exp(-t)) / 2


def test_a_stiff_run_takes_few_steps_and_is_right_between_them() -> None:
    run = da.simulate(
        settling(), 20.0, start={"x": 1.0}, integrator="rosenbrock", rtol=1e-7, atol=1e-9
    )
    times = np.linspace(0.5, 20.0, 77)
    assert run.solution.steps < 300
    assert slow(times) == pytest.approx(run.at(times)["x"], abs=1e-5)


def test_auto_changes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure_diagnosis, "STALL_STEPS", 10_000)
    monkeypatch.setattr(failure_diagnosis, "MIN_PROGRESS", 1e-4)
    with pytest.warns(
        DalembertWarning, match="stiff, and was repeated with integrator='rosenbrock'"
    ):
        run = da.simulate(
            settling(), 20.0, start={"x": 1.0}, integrator="auto", rtol=1e-6, atol=1e-8, audit=False
        )
    assert run["x"][-1] == pytest.approx(slow(20.0), abs=1e-4)


@pytest.mark.parametrize("name", ["rosenbrock", "Radau", "BDF", "CVODE", "IDA"])
def test_slopes_from_the_tape_give_the_same_motion(name: str) -> None:
    if name in ("CVODE", "IDA") and importlib.util.find_spec("sksundae") is None:
        pytest.skip("scikit-sundae is not installed")
    s = da.System("Double pendulum", gravity=9.81)
    upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1)
    s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
    start = {"alpha": 1.0, "beta": 0.5}
    truth = da.simulate(s, 1.0, start=start, rtol=1e-11, atol=1e-11).q[-1]
    run = da.simulate(s, 1.0, start=start, integrator=name, rtol=1e-7, atol=1e-7)
    assert truth == pytest.approx(run.q[-1], abs=1e-4)
    # what rides along too; the others keep no more than their steps
    assert abs(run.integrals.E_Z[-1] - run.integrals.E_Z[0]) < 1e-3


def test_events_energy_and_rows() -> None:
    s = da.System("pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("P", 1, s.O.offset(x * s.N.x + y * s.N.y, "P"))
    s.constrain(x**2 + y**2 - 1)
    s.speeds(omega=x * y.dot - y * x.dot)
    options: dict[str, Any] = {
        "start": {"x": 1.0, "y": 0.0},
        "rtol": 1e-9,
        "atol": 1e-9,
        "events": [da.event("x", stop=True)],
    }
    native, run = (
        da.simulate(s, 3.0, integrator=name, **options) for name in ("native", "rosenbrock")
    )
    assert native.t[-1] == pytest.approx(run.t[-1], abs=1e-7)
    assert run.worst_residual < 1e-12
    assert run.energy_drift < 1e-7


def test_rows_beside_the_equations_are_refused() -> None:
    entry = gallery.entry("appell-hamel")
    with pytest.raises(NotApplicable, match="leave out integrator='rosenbrock'"):
        da.simulate(entry.build(), 0.01, start=entry.start, integrator="rosenbrock")
