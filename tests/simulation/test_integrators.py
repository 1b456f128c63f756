"""The same motion, whoever integrates it."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import MissingPackage, Unknown
from dalembert.gallery import build, entry
from dalembert.runtime.simulation.run_options import SCIPY

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


@pytest.mark.parametrize(
    ("name", "package"), [("heyoka", "heyoka"), ("CVODE", "sksundae"), ("IDA", "sksundae")]
)
def test_what_is_not_installed_is_named(name: str, package: str) -> None:
    s = double_pendulum()
    if importlib.util.find_spec(package) is None:
        with pytest.raises(MissingPackage, match="pip install"):
            da.simulate(s, 1.0, start=START, integrator=name)
    else:
        run = da.simulate(s, 1.0, start=START, integrator=name)
        assert abs(run["alpha"][-1] - da.simulate(s, 1.0, start=START)["alpha"][-1]) < 1e-6


def test_heyoka_takes_constants_that_drop_out_of_the_equations() -> None:
    pytest.importorskip("heyoka")
    s, start = build("chaplygin-sleigh"), dict(entry("chaplygin-sleigh").start)
    found, expected = (
        da.simulate(s, 1.0, start=start, integrator=name)["phi"][-1]
        for name in ("heyoka", "native")
    )
    assert found == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("name", ["CVODE", "IDA"])
def test_sundials_gives_the_motion_between_its_steps_and_where_a_load_jumps(name: str) -> None:
    pytest.importorskip("sksundae")
    s = double_pendulum()
    times = np.linspace(0.0, 1.0, 41)
    expected = da.simulate(s, 1.0, start=START, rtol=1e-12, atol=1e-12, at=times).q
    found = da.simulate(s, 1.0, start=START, rtol=1e-8, atol=1e-8, integrator=name, at=times)
    assert 41 == len(found.t)
    assert np.abs(found.q - expected).max() < 1e-5
    pushed = da.System("Pulse")
    x = pushed.slide("x", pushed.O)
    pushed.particle("cart", 1, x)
    # 1000 N for a millisecond: v = 1 from then on, x = t − 1.0005
    pushed.force(1000 * (da.step(pushed.t - 1) - da.step(pushed.t - 1.001)) * pushed.N.x, at=x)
    run = da.simulate(pushed, 2, integrator=name, at=[0.5, 1.5, 2], progress=False)
    assert [0, 0.4995, 0.9995] == pytest.approx(run["x"], abs=1e-8)
    assert [0, 1, 1] == pytest.approx(run["x.dot"], abs=1e-8)


def test_an_unknown_integrator_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Unknown, match="choose one of native, taylor, rosenbrock, auto, RK45"):
        da.simulate(double_pendulum(), 1.0, integrator="euler")
