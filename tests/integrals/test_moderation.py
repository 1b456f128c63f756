"""An energy integral in command of the integrator."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.gallery.positioning_device import build as device
from dalembert.runtime.ode.failures import BadTolerance, StepRefused

# the angles of the rolling sphere pass singular positions
pytestmark = pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")

START = ({}, {"s": 0.05, "omega_y": 1.0})


def run_of(start, tolerance=1e-2, **more):
    return da.simulate(
        device(), 4.0, start=start, rtol=tolerance, atol=tolerance, progress=False, **more
    )


@pytest.mark.parametrize("start", START, ids=["printed", "livelier"])
def test_the_bound_is_kept_at_every_point(start):
    plain, held = run_of(start), run_of(start, energy_tolerance=1e-6)
    assert plain.integrals.drift > 1e-4
    assert held.integrals.drift <= 1e-6
    assert held.at(np.linspace(0, 4, 4001)).integrals.drift <= 1e-6
    found = held.integrals
    # spent evenly: at any time no more than has been granted
    assert np.all(np.abs(found.E_Z - found.E_Z[0]) <= 1e-6 * found.t / 4 + 1e-12)


@pytest.mark.parametrize("start", START, ids=["printed", "livelier"])
def test_it_costs_no_more_than_twice_the_plain_run_of_the_same_drift(start):
    held = run_of(start, energy_tolerance=1e-6)
    plain = next(
        run
        for k in range(8, 40)
        if (run := run_of(start, 10.0 ** (-k / 4))).integrals.drift <= held.integrals.drift
    )
    assert held.solution.calls <= 2 * plain.solution.calls


def test_relative_to_the_scale():
    held = run_of(START[1], relative_energy_tolerance=1e-8)
    assert held.integrals.relative_drift <= 1e-8


def test_a_bound_below_rounding_stops_the_run_with_the_reason():
    entry = gallery.entry("simple-pendulum")
    with pytest.raises(StepRefused, match="not kept within the energy tolerance") as caught:
        da.simulate(entry.build(), 1.0, start=entry.start, energy_tolerance=1e-17)
    assert caught.value.trajectory is not None
    assert len(caught.value.trajectory) >= 1


def test_a_bound_that_binds_nothing_changes_nothing():
    plain, held = run_of({}), run_of({}, energy_tolerance=1e3)
    assert np.array_equal(plain.q, held.q)


@pytest.mark.parametrize("more", [{"energy_tolerance": 0.0}, {"relative_energy_tolerance": -1.0}])
def test_tolerances_must_be_positive(more):
    with pytest.raises(BadTolerance, match="give a positive number"):
        run_of({}, **more)


def test_only_the_native_integrator_can_be_held():
    with pytest.raises(BadTolerance, match="only native, taylor, rosenbrock, auto test"):
        run_of({}, energy_tolerance=1e-6, integrator="DOP853")


# ---- projection onto the level of E_Z ------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["double-pendulum", "four-bar", "moving-knife-edge", "slider-crank"]
)
def test_energy_is_brought_back_to_its_level_and_the_defect_is_told(name):
    entry = gallery.entry(name)
    wish = {
        "start": entry.start,
        "inputs": entry.inputs,
        "rtol": 1e-4,
        "atol": 1e-4,
        "progress": False,
    }
    plain = da.simulate(entry.build(), entry.duration, **wish).integrals
    kept = da.simulate(entry.build(), entry.duration, keep_energy=True, **wish).integrals
    assert kept.relative_drift < 1e-14 < plain.relative_drift
    # what is hidden is not denied
    assert kept.removed_defect > 1e-2 * plain.drift
    assert kept.integrator_error == pytest.approx(kept.removed_defect, rel=0.2)
    assert 0.0 == plain.removed_defect
    assert "errors removed" in str(kept)


def test_energy_at_rest_is_left_alone():
    entry = gallery.entry("simple-pendulum")
    run = da.simulate(
        entry.build(), 10.0, start={"phi": 1.0}, rtol=1e-5, atol=1e-5, keep_energy=True
    )
    assert np.isfinite(run.q).all()
    assert run.integrals.relative_drift < 1e-12


def test_only_the_native_integrator_keeps_energy():
    with pytest.raises(BadTolerance, match="only native, taylor, rosenbrock, auto test"):
        run_of({}, keep_energy=True, integrator="RK45")
