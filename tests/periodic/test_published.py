"""Periodic motions with published periods and multipliers, and with closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da
from periodic.systems import (
    EIGHT_START,
    compass_walker,
    equal_double_pendulum,
    free_walker,
    kapitza,
    rimless_wheel,
    three_bodies,
    van_der_pol,
)


def test_figure_eight_has_its_period_and_multipliers_and_eight_ones() -> None:
    """Simó 2002: T = 6.32591398 at E = −1.28714199, whose 9 digits leave 4e-8 of T."""
    orbit = da.periodic(three_bodies(), EIGHT_START, 6.326, energy=-1.28714199)
    assert orbit.period == pytest.approx(6.32591398, abs=5e-8)
    assert orbit.period_error < 1e-11
    expected = [
        -0.297597 + 0.954692j,
        -0.297597 - 0.954692j,
        0.998600 + 0.052897j,
        0.998600 - 0.052897j,
    ]
    for value in expected:
        assert np.abs(orbit.multipliers - value).min() < 1e-6
    assert len(orbit.multipliers) == 4
    assert set(orbit.unit_multipliers) == {
        "time shift",
        "energy",
        "translation along N.x",
        "translation along N.y",
        "linear momentum along N.x",
        "linear momentum along N.y",
        "rotation about N.z",
        "angular momentum about O along N.z",
    }
    assert orbit.stability == "linearly stable"


def test_the_ones_of_the_figure_eight_are_not_found_by_comparison_with_one() -> None:
    """Without deflation the eight ones lie up to 1e-3 off: they belong to Jordan blocks."""
    orbit = da.periodic(three_bodies(), EIGHT_START, 6.326, energy=-1.28714199)
    raw = np.linalg.eigvals(orbit.monodromy)
    near = np.sort(np.abs(raw - 1.0))[:8]
    assert near.max() > 1e-7
    assert orbit.multiplier_error < 1e-10


def test_van_der_pol_has_its_period() -> None:
    """6.663286859 for μ = 1; the multiplier is exp ∫ μ (1 − x²) dt, by quadrature along the run."""
    orbit = da.periodic(van_der_pol(), {"x": 2.0}, 6.5)
    assert orbit.period == pytest.approx(6.663286859, abs=1e-9)
    run = orbit.run()
    t = np.linspace(0.0, orbit.period, 4001)
    x = run.at(t)["x"]
    liouville = np.exp(np.trapezoid(1.0 - x**2, t))
    assert orbit.multipliers[0].real == pytest.approx(liouville, rel=1e-6)
    assert orbit.unit_multipliers == ("time shift",)
    assert orbit.stability == "stable"


def test_rimless_wheel_has_its_closed_form() -> None:
    """ω⁺² = 4 sin γ sin(π/n) η²/(1 − η²), multiplier η², to 1e-10."""
    n, gamma = 8, 0.08
    system, events = rimless_wheel(n, gamma)
    orbit = da.periodic(system, {"theta": -math.pi / n, "theta.dot": 0.4}, events=events)
    eta = math.cos(2 * math.pi / n)
    speed = math.sqrt(4 * math.sin(gamma) * math.sin(math.pi / n) * eta**2 / (1 - eta**2))
    assert speed == pytest.approx(0.3497543674, abs=1e-10)
    assert orbit.start["theta.dot"] == pytest.approx(speed, abs=1e-10)
    assert [eta**2] == pytest.approx(orbit.multipliers.real.tolist(), abs=1e-10)


# Hen26, Theorem 1: E, p₂ where both arms hang straight, period, bounds of the trace
_PROVED = [
    (-0.5, -1.2448609709184, 3.7047745461, (-3.23158, -3.23150)),
    (0.0, -1.4623730924799, 2.9534890104, (-3.80869, -3.80863)),
    (0.5, -1.6270449592031, 2.5643622248, (-3.33283, -3.33277)),
]


@pytest.mark.parametrize(("energy", "p2", "period", "trace"), _PROVED)
def test_proved_orbits_of_the_double_pendulum(
    energy: float, p2: float, period: float, trace: tuple[float, float]
) -> None:
    """From starts 1e-2 off: the period to 1e-9, the trace inside its proved bounds."""
    p1 = p2 + math.sqrt(2 * (energy + 3) - p2**2)
    start = {
        "theta1": 0.01,
        "theta2": -0.01,
        "theta1.dot": p1 - p2 + 0.01,
        "theta2.dot": 2 * p2 - p1 - 0.01,
    }
    orbit = da.periodic(equal_double_pendulum(), start, period + 0.01, energy=energy)
    assert orbit.period == pytest.approx(period, abs=1e-9)
    assert trace[0] <= float(orbit.multipliers.sum().real) <= trace[1]
    assert orbit.advance == {"theta2": -2 * math.pi}
    assert orbit.unit_multipliers == ("time shift", "energy")


def test_kapitza_boundary_is_that_of_mathieu() -> None:
    """−4g/(lω²) = a₀(2A/l): ω = 62.77806402, to 1e-9 of Mathieu's value."""
    from scipy.special import mathieu_a

    boundary = math.sqrt(4 * 9.81 / (0.5 * -mathieu_a(0, 2 * 0.05 / 0.5)))
    assert boundary == pytest.approx(62.77806402, abs=6e-9)
    orbit = da.periodic(kapitza(66.0), {"theta": 0.0})
    assert orbit.stability == "linearly stable"
    family = da.continuation(orbit, "omega", (66.0, 60.0), step=0.05)
    (mark,) = family.marks
    assert mark.kind == "branch point"
    assert mark.value == pytest.approx(boundary, rel=1e-9)
    assert family.orbits[-1].stability == "unstable"


def _gait(foot: float) -> da.PeriodicOrbit:
    system, events = compass_walker(foot)
    start = {"a": -0.2, "b": 0.2, "a.dot": 0.2, "b.dot": 0.2 * math.cos(0.4)}
    return da.periodic(system, start, events=events)


def test_compass_gait_tends_to_that_of_massless_feet() -> None:
    """Garcia et al. 1998, massless feet: θ = 0.2003109, θ̇ = 0.1998325, −0.190 ± 0.559 i."""
    coarse, fine = _gait(1e-3), _gait(1e-4)
    limit = {k: (10 * fine.start[k] - coarse.start[k]) / 9 for k in ("a", "a.dot")}
    assert limit["a"] == pytest.approx(-0.2003109, abs=2e-7)
    assert limit["a.dot"] == pytest.approx(0.1998325, abs=2e-7)
    assert fine.multipliers[0] == pytest.approx(-0.190 - 0.557j, abs=2e-3)
    assert fine.stability == "stable"


def test_compass_gait_by_a_free_model_is_the_same() -> None:
    """Impulses of a free model, and angular momenta written by hand, give one gait."""
    by_hand = _gait(1e-3)
    system, events = free_walker(1e-3)
    start = {"a": -0.2, "b": 0.2, "a.dot": 0.2, "b.dot": 0.2 * math.cos(0.4)}
    orbit = da.periodic(system, start, events=events)
    assert orbit.period == pytest.approx(by_hand.period, abs=1e-11)
    for key, value in by_hand.start.items():
        assert value == pytest.approx(orbit.start[key], abs=1e-11)
    assert sorted(np.abs(by_hand.multipliers)) == pytest.approx(
        sorted(np.abs(orbit.multipliers)), abs=1e-9
    )


@pytest.mark.slow
def test_compass_gait_doubles_its_period_in_a_cascade() -> None:
    """Garcia et al. 1998: doubling near γ = 0.015; the intervals shrink like Feigenbaum's 4.669."""
    family = da.continuation(_gait(1e-3), "gamma", (0.009, 0.02), step=0.05, points=60)
    doublings = []
    for k in range(4):
        mark = next(m for m in family.marks if m.kind == "period doubling")
        doublings.append(mark.value)
        if k < 3:
            family = family.switch(
                mark, over=(mark.value - 1e-5, 0.02), points=25, step=0.04 / 4**k
            )
            assert family.periods[0] == pytest.approx(2 * mark.orbit.period, rel=1e-3)
    assert doublings[0] == pytest.approx(0.01507, abs=2e-4)
    gaps = np.diff(doublings)
    assert gaps[1] / gaps[2] == pytest.approx(4.669, abs=0.15)
