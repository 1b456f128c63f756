"""The same motion, whoever integrates it."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import Unknown
from dalembert.ode.failures import MissingPackage
from dalembert.simulation.integrators import SCIPY

START = {"alpha": 1.0, "beta": 0.5}


def double_pendulum() -> da.System:
    s = da.System("Double pendulum", gravity=9.81)
    upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1)
    s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
    return s


@pytest.mark.parametrize("name", SCIPY)
def test_scipy_gives_the_same_motion_between_the_steps_too(name: str) -> None:
    s = double_pendulum()
    times = np.linspace(0.0, 1.0, 41)
    expected = da.simulate(s, 1.0, start=START, rtol=1e-12, atol=1e-12, at=times).q
    rtol = 1e-6 if name in ("RK23", "Radau", "BDF", "LSODA") else 1e-9
    found = da.simulate(s, 1.0, start=START, rtol=rtol, atol=rtol, integrator=name).at(times).q
    assert np.abs(found - expected).max() < 1e3 * rtol


@pytest.mark.parametrize(("name", "package"), [("heyoka", "heyoka"), ("CVODE", "sksundae"), ("IDA", "sksundae")])
def test_what_is_not_installed_is_named(name: str, package: str) -> None:
    s = double_pendulum()
    if importlib.util.find_spec(package) is None:
        with pytest.raises(MissingPackage, match="pip install"):
            da.simulate(s, 1.0, start=START, integrator=name)
    else:
        run = da.simulate(s, 1.0, start=START, integrator=name)
        assert abs(run["alpha"][-1] - da.simulate(s, 1.0, start=START)["alpha"][-1]) < 1e-6


def test_an_unknown_integrator_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Unknown, match="choose one of native, taylor, rosenbrock, auto, RK45"):
        da.simulate(double_pendulum(), 1.0, integrator="euler")
