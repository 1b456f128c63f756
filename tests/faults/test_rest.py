"""A mechanism at rest has no energies that an error could be relative to."""

from __future__ import annotations

import random

import numpy as np
import pytest

import dalembert as da
from faults.test_audit import warned
from independent.fresh_systems import FIRST
from independent.raked_scenes import raked


@pytest.fixture(scope="module")
def frame():
    """The raked frame of k = 490, drawn at rest; its potential energy is a sum that cancels."""
    return raked(random.Random(FIRST + 490))[0]


START = {"steer": -0.14, "br.dot": 0.0}


@pytest.mark.parametrize("rtol", [1e-4, 1e-9, 1e-11])
def test_the_summary_says_that_nothing_moves(frame, rtol):
    said, run = warned(lambda: da.simulate(frame, 0.1, start=START, rtol=rtol, atol=rtol))
    assert [] == said
    assert "which is rounding (at rest, or nearly)" in str(run)
    assert "of the largest kinetic energy" not in str(run)
    assert run.energy_drift < 1e-14
    assert run.integrals.is_at_rest
    assert run.integrals.relative_drift < 1e-14


def hanging(angle=0.0):
    s = da.System("Hanging", gravity=9.81)
    upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1)
    s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
    return s, {"alpha": angle, "beta": -angle}


def test_a_motion_whose_energies_are_rounding_gets_no_relative_number():
    s, start = hanging(3e-8)
    run = da.simulate(s, 1.0, start=start, atol=1e-14)
    assert 0 < run.integrals.drift < 1e-13
    assert "energy: T + V changes by" in str(run)
    assert run.integrals.relative_drift < 1e-13


def test_a_small_motion_is_measured_by_its_own_energies():
    s, start = hanging(1e-4)
    run = da.simulate(s, 1.0, start=start, atol=1e-14)
    assert not run.integrals.is_at_rest
    assert run.integrals.scale < 1e-6
    assert "of the largest kinetic energy" in str(run)


def test_a_system_that_is_exactly_at_rest():
    s, start = hanging()
    run = da.simulate(s, 1.0, start=start)
    assert "energy: T + V changes by 0, which is rounding (at rest, or nearly)" in str(run)


def test_a_loss_at_rest_is_not_hidden(frame):
    run = da.simulate(frame, 0.1, start=START)
    terms = run.largest_terms([run.integrals._E.V])
    assert 1.0 < terms < 1e3
    from dalembert.runtime.simulation.energy_audit import energy_scale

    for loss in (1e-12 * terms, 1e-3 * terms):
        assert not energy_scale(loss, loss, lambda: terms).at_rest
    assert energy_scale(1e-15 * terms, 1e-15 * terms, lambda: terms).at_rest


def test_resting_runs_of_an_ensemble_hide_no_wrong_one():
    s, _ = hanging()
    found = da.ensemble(
        s, 0.5, over={"beta": [0.0, 1e-15, 3e-15, 1e-14, 0.4]}, start={"alpha": 0.0}, progress=False
    )
    drift = found["drift"].values
    assert np.all(drift < 1e-8)


def test_the_report_of_a_system_at_rest_says_accurate():
    from dalembert.interface.page.parts.first_screen import energy_error

    s, start = hanging(1e-13)
    _, run = warned(lambda: da.simulate(s, 0.5, start=start))
    assert energy_error(run)[0] < 1e-13


def test_a_start_that_eliminated_speeds_cannot_have_names_an_integrator_that_can():
    s, _ = raked(random.Random(FIRST + 1734))
    start = {"x.dot": 1.12, "steer": 0.0, "br.dot": -1.07}
    with pytest.raises(da.DalembertError, match="choose integrator='native', which does without"):
        da.simulate(s, 0.1, start=start, integrator="rosenbrock")
    assert da.simulate(s, 0.1, start=start).finished
