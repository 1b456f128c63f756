"""Noise, delays as buffers and delays as states."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da


def _integrator() -> da.System:
    """ẍ = F"""
    s = da.System("Mass")
    x, F = s.coordinate("x"), s.input("F")
    mass = s.particle("mass", 1, s.O.offset(x * s.N.x))
    s.force(F * s.N.x, at=mass.G)
    return s


def test_held_noise_drives_a_random_walk() -> None:
    s, h, sigma, T = _integrator(), 0.05, 2.0, 4.0
    ends = [
        da.simulate(s, T, inputs={"F": da.noise(T, h, deviation=sigma, seed=k)})["x.dot"][-1]
        for k in range(60)
    ]
    # variance of ∫ F dt = σ² h T, known to 18 %
    assert 0.5 < np.var(ends) / (sigma**2 * h * T) < 1.6
    first, again = (da.noise(T, h, seed=3)(1.23) for _ in range(2))
    assert first == again != da.noise(T, h, seed=4)(1.23)


def test_band_limited_noise_has_its_deviation_and_its_band() -> None:
    h = 0.01
    given = da.noise(40, h, deviation=3, band=(1, 4), seed=1)
    t = np.arange(0, 40, h)
    y = np.array([given(x) for x in t])
    assert 0.85 < np.std(y) / 3 < 1.15
    power = np.abs(np.fft.rfft(y)) ** 2
    f = np.fft.rfftfreq(len(y), h)
    assert power[(f > 0.9) & (f < 4.1)].sum() > 0.999 * power.sum()


def test_a_delayed_law_acts_late() -> None:
    s = _integrator()
    law = da.delayed(lambda t: t, 0.3, every=0.1, initial=-1.0)
    for _ in range(2):
        run = da.simulate(s, 1.0, inputs={"F": law})
        expected = np.where(run.t < 0.3 - 1e-9, -1.0, np.floor(run.t * 10 + 1e-6) / 10 - 0.3)
        inside = np.abs(run.t * 10 - np.round(run.t * 10)) > 1e-6
        np.testing.assert_allclose(expected[inside], run["F"][inside], atol=1e-9)
    feedback = da.delayed(lambda t, now: -now["x"] - 2 * now["x.dot"], 0.02, every=0.01)
    assert abs(da.simulate(s, 12, start={"x": 1}, inputs={"F": feedback})["x"][-1]) < 1e-3


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_pade_states_delay_a_sine(order: int) -> None:
    s, T, w = _integrator(), 0.4, 2.0
    late = da.pade_delay(s, "d", da.sin(w * s.t), T, order=order)
    run = da.simulate(s, 12, inputs={"F": 0}, at=np.linspace(8, 12, 50))
    # the quotient itself at s = i w: all of its gain is 1, and its phase nearly that of the delay
    phase = {1: -2 * np.arctan(w * T / 2)}.get(order, -w * T)
    tolerance = {1: 1e-6, 2: 3e-3, 3: 2e-5, 6: 1e-6}[order]
    np.testing.assert_allclose(np.sin(w * run.t + phase), run[late], atol=tolerance)


def test_what_makes_no_sense_is_refused() -> None:
    s = _integrator()
    for call, text in (
        (lambda: da.noise(1, 2), "every ≤ duration"),
        (lambda: da.noise(1, 0.1, band=(4, 9)), "between 0 and 5 Hz"),
        (lambda: da.delayed(lambda t: t, 0.15, every=0.1), "whole number of intervals"),
        (lambda: da.delayed(3.0, 0.1, every=0.1), "give a function"),
        (lambda: da.pade_delay(s, "d", "x", -1), "a positive time"),
    ):
        with pytest.raises(da.DalembertError, match=text):
            call()
