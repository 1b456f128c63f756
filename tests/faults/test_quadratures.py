"""Works and energy audits of integrators of other libraries are as accurate as their motion."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import build, entry
from faults.test_audit import warned

IMPLICIT = ("Radau", "BDF", "LSODA", "CVODE", "IDA")


def require(integrator):
    if integrator in ("CVODE", "IDA"):
        pytest.importorskip("sksundae")


def mass(force):
    """A mass of 1 kg on a line under a force of x, ẋ and t."""
    s = da.System("Mass")
    x = s.slide("x", s.O)
    s.particle("cart", 1, x)
    s.force(force(s["x"], s.t) * s.N.x, at=x, name="push")
    return s


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_a_short_pulse_gives_its_work(integrator):
    require(integrator)
    s = mass(lambda x, t: 1000 * (da.step(t - 1) - da.step(t - 1.001)))
    said, run = warned(lambda: da.simulate(s, 2.0, integrator=integrator, progress=False))
    assert [] == said
    # 1000 N for a millisecond: ẋ = 1
    assert 0.5 == pytest.approx(run.integrals.works["push"].classical[-1], abs=1e-10)
    assert run.integrals.relative_drift < 1e-10


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_works_agree_with_the_native_integrator_between_the_steps_too(integrator):
    require(integrator)
    s = mass(lambda x, t: -4 * x - 0.3 * x.dot + da.sin(3 * t))
    options = {"start": {"x": 1.0}, "at": np.linspace(0.0, 10.0, 173), "progress": False}
    fine = da.simulate(s, 10.0, rtol=1e-12, atol=1e-12, **options).integrals
    said, run = warned(lambda: da.simulate(s, 10.0, integrator=integrator, **options))
    assert [] == said
    assert run.integrals.works["push"].classical == pytest.approx(
        fine.works["push"].classical, abs=2e-6
    )
    # the ends of steps and places in them are equally accurate
    assert run.integrals.relative_drift < 3e-7


@pytest.mark.parametrize("integrator", ["Radau", "BDF", "CVODE", "IDA"])
def test_the_power_of_moving_rows_is_integrated(integrator):
    require(integrator)
    s = da.System("Bead")
    x, y = s.coordinates("x y")
    s.particle("bead", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(y - x**2 * da.sin(s.t) - x / 3, "wire")
    start = {"x": 0.5, "x.dot": 0.2}
    said, run = warned(lambda: da.simulate(s, 1.0, start=start, integrator=integrator))
    assert [] == said
    fine = da.simulate(s, 1.0, start=start, rtol=1e-12, atol=1e-12)
    assert run.integrals.Z[-1] == pytest.approx(fine.integrals.Z[-1], abs=1e-6)


def test_the_motion_does_not_depend_on_the_audit():
    s = mass(lambda x, t: -4 * x - 0.3 * x.dot + da.sin(3 * t))
    for integrator in ("Radau", "BDF", "LSODA"):
        one, other = (
            da.simulate(s, 2.0, start={"x": 1.0}, integrator=integrator, audit=audit)
            for audit in (True, False)
        )
        assert np.array_equal(one.t, other.t)
        assert np.array_equal(one.q, other.q)


@pytest.mark.parametrize("integrator", ["BDF", "CVODE"])
def test_a_python_function_does_its_work(integrator):
    require(integrator)
    s = da.System("Mass")
    x = s.slide("x", s.O)
    F = s.input("F")
    s.particle("cart", 1, x)
    s.force(F * s.N.x, at=x, name="push")
    inputs = {"F": lambda t, _: np.cos(t)}
    run = da.simulate(s, 2.0, inputs=inputs, integrator=integrator)
    # ẋ = sin t
    assert np.sin(2.0) ** 2 / 2 == pytest.approx(
        run.integrals.works["push"].classical[-1], abs=1e-7
    )


@pytest.mark.parametrize("integrator", ["BDF", "CVODE"])
def test_a_run_that_stops_keeps_its_audit(integrator):
    require(integrator)
    s = mass(lambda x, t: 6 * x**2 + 0 * t)
    with pytest.raises(da.DalembertError) as stopped:
        da.simulate(s, 3.0, start={"x": 1.0, "x.dot": 2.0}, integrator=integrator)
    run = stopped.value.trajectory
    early = run.at(np.linspace(0.0, 0.5, 23))
    # ẋ² = 4 x³
    assert early["x"] == pytest.approx(1 / (1 - early.t) ** 2, rel=1e-5)
    assert np.abs(early.integrals.E_Z - early.integrals.E_Z[0]).max() < 1e-4


@pytest.mark.parametrize("integrator", ["RK45", "DOP853", "Radau", "BDF", "LSODA", "CVODE", "IDA"])
def test_the_largest_step_is_kept(integrator):
    require(integrator)
    run = da.simulate(mass(lambda x, t: -x + 0 * t), 1.0, integrator=integrator, max_step=0.01)
    assert np.diff(run.t).max() <= 0.01 * (1 + 1e-9)


def test_an_error_that_steps_can_explain_is_not_called_another_motion():
    s = mass(lambda x, t: -1e4 * x + 0 * t)
    said, run = warned(lambda: da.simulate(s, 1.0, start={"x": 1.0}, integrator="BDF"))
    assert f"the local errors of {run.solution.steps} steps may add up to this" in said[0]
    assert "smaller rtol" in said[0]


@pytest.mark.parametrize("name", ["cantilever", "pinned-beam"])
def test_numerical_damping_of_a_beam_is_not_called_another_motion(name):
    pytest.importorskip("sksundae")
    start = dict(entry(name).start)
    said, _ = warned(lambda: da.simulate(build(name), 0.5, start=start, integrator="CVODE"))
    assert ["may add up to this" in text for text in said] == [True]
