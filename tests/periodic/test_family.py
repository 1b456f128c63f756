"""Families of periodic motions: published folds, periods and stability, switching."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import dalembert as da
from periodic.systems import duffing, equal_double_pendulum, point_on_line, van_der_pol


@functools.cache
def _duffing_response() -> da.Family:
    return da.continuation(da.periodic(duffing(0.8), {"x": 1.0}), "Omega", (0.8, 2.0), step=0.06)


def test_duffing_folds() -> None:
    """Ω = 1.252014959 and 1.522448029 to 1e-8; the motions between them are unstable."""
    family = _duffing_response()
    assert ["fold", "fold"] == [m.kind for m in family.marks]
    assert sorted(m.value for m in family.marks) == pytest.approx(
        [1.252014959, 1.522448029], abs=1e-8
    )
    upper, lower = (m.position for m in family.marks)
    for k, orbit in enumerate(family.orbits):
        assert orbit.stable is not (upper < k < lower)


def test_duffing_has_three_motions_between_the_folds() -> None:
    """At Ω = 1.4 two of the three are stable; SciPy's integrator returns to each."""
    from scipy.integrate import solve_ivp

    orbits = _duffing_response().at(1.4)
    assert [True, False, True] == [o.stable for o in orbits]
    for orbit in orbits:

        def f(t: float, y: list[float]) -> list[float]:
            return [y[1], -0.1 * y[1] - y[0] - y[0] ** 3 + 0.2 * math.cos(1.4 * t)]

        end = solve_ivp(
            f, (0.0, 2 * math.pi / 1.4), orbit.x0, rtol=1e-12, atol=1e-12, method="DOP853"
        ).y[:, -1]
        assert orbit.x0 == pytest.approx(end, abs=1e-10)


def test_product_of_multipliers_is_that_of_liouville() -> None:
    """det M = exp(−0.1 T) for the damped oscillator at any point of the family."""
    for orbit in _duffing_response().orbits[::10]:
        product = float(np.prod(orbit.multipliers).real)
        assert product == pytest.approx(math.exp(-0.1 * orbit.period), rel=1e-8)


_PERIODS = {
    1: {-2.0: 8.551507293, 0.0: 9.425793658, 2.0: 12.071801201},
    2: {-2.0: 5.542160454, 0.0: 7.782105240, 2.0: 10.252604878},
}
# where a pair of multipliers passes through one, found with steps 0.03, 0.04 and 0.06
_CHANGES = {1: 1.03936481575, 2: -1.56921519899}


@functools.cache
def _pendulum_family(mode: int) -> da.Family:
    orbit = da.periodic(equal_double_pendulum(), {}, mode=mode, amplitude=0.05)
    return da.continuation(orbit, "energy", (-3.0, 2.99), step=0.08)


@pytest.mark.parametrize("mode", [1, 2])
def test_double_pendulum_family_has_its_periods(mode: int) -> None:
    """Both families from the normal modes, E = −3 … 2.99, at least 90 orbits each, T to 1e-6."""
    family = _pendulum_family(mode)
    assert len(family) >= 90
    assert family.values[-1] == pytest.approx(2.99, abs=1e-12)
    for energy, period in _PERIODS[mode].items():
        (orbit,) = family.at(energy)
        assert orbit.period == pytest.approx(period, abs=1e-6)
    assert [m.kind for m in family.marks] == ["branch point"]
    assert family.marks[0].value == pytest.approx(_CHANGES[mode], abs=1e-8)
    assert family.orbits[0].stable
    assert family.orbits[-1].stable is False


@pytest.mark.parametrize("mode", [1, 2])
def test_family_begins_with_the_period_of_its_mode(mode: int) -> None:
    """T → 2π/ω with ω² = 2 ∓ √2 as the amplitude vanishes."""
    family = _pendulum_family(mode)
    omega = math.sqrt(2 - math.sqrt(2)) if mode == 1 else math.sqrt(2 + math.sqrt(2))
    assert family.periods[0] == pytest.approx(2 * math.pi / omega, rel=1e-3)
    assert "equilibrium" in family.ends[0]


def test_energy_is_that_of_the_run() -> None:
    """Two routes: the parameter of the family, and T + V along a run of one of its orbits."""
    orbit = _pendulum_family(2).orbits[40]
    assert orbit.energy is not None
    run = orbit.run()
    assert np.full(len(run.t), orbit.energy) == pytest.approx(run.energy, abs=1e-8)


def test_family_leaves_at_a_branch_point() -> None:
    """At the branch point of the opposed family two stable ones leave, mirror images."""
    family = _pendulum_family(2)
    sides = [family.switch(family.marks[0], side=side, points=8, step=0.08) for side in (1, -1)]
    first, second = (each.orbits[-1] for each in sides)
    assert first.energy == pytest.approx(second.energy, abs=1e-9)
    assert first.period == pytest.approx(second.period, abs=1e-9)
    assert first.start["theta1.dot"] == pytest.approx(-second.start["theta1.dot"], abs=1e-8)
    assert abs(first.start["theta1.dot"]) > 1e-2
    assert first.energy is not None
    (known,) = family.at(first.energy)
    assert first.stability == "linearly stable"
    assert known.stability == "unstable"
    assert abs(known.period - first.period) > 1e-3


def test_period_is_a_parameter_too() -> None:
    """A pendulum in the period: T = 4 K(sin(θ₀/2)), θ₀ from the start of the orbit."""
    from scipy.special import ellipk

    orbit = da.periodic(_pendulum(), {"x": 0.5}, 6.4)
    family = da.continuation(orbit, "period", (6.3, 9.0), step=0.08)
    for each in family.orbits[::5]:
        assert each.energy is not None
        top = math.acos(-each.energy)
        assert each.period == pytest.approx(4 * ellipk(math.sin(top / 2) ** 2), rel=1e-6)


def _pendulum() -> da.System:
    s = da.System("Pendulum")
    x = s.coordinate("x")
    s.particle("bob", 1, s.O.offset(da.sin(x) * s.N.x - da.cos(x) * s.N.y))
    s.gravity(-1 * s.N.y)
    return s


def test_van_der_pol_in_mu() -> None:
    """T(μ) = 2π (1 + μ²/16 − 5μ⁴/3072) for small μ, and 7.6298745 at μ = 2."""
    family = da.continuation(
        da.periodic(van_der_pol(0.2), {"x": 2.0}, 6.3), "mu", (0.2, 2.0), step=0.08
    )
    assert family.marks == []
    assert family.periods[0] == pytest.approx(
        2 * math.pi * (1 + 0.04 / 16 - 5 * 0.0016 / 3072), abs=1e-6
    )
    assert family.periods[-1] == pytest.approx(7.6298745, abs=1e-6)


def test_a_family_goes_on_from_its_last_orbit() -> None:
    """Two parts give the orbits of the whole."""
    orbit = da.periodic(van_der_pol(0.5), {"x": 2.0}, 6.4)
    first = da.continuation(orbit, "mu", (0.5, 1.0), step=0.2)
    both = da.continuation(first, over=(0.5, 1.5), step=0.2)
    assert both.values[0] == 0.5
    assert both.values[-1] == pytest.approx(1.5)
    assert (np.diff(both.values) > 0.0).all()
    (orbit,) = both.at(1.0)
    assert orbit.period == pytest.approx(6.663286859, abs=1e-8)


def test_torus_where_the_damping_vanishes() -> None:
    """ẍ + c ẋ + 2x = cos t: |μ| = exp(−cT/2) is one at c = 0, and stability is lost there."""
    s = point_on_line("Linear", "-c*x' - 2*x + cos(w*t)", c=0.3, w=1.0)
    family = da.continuation(da.periodic(s), "c", (0.3, -0.3), step=0.2)
    assert ["torus"] == [m.kind for m in family.marks]
    assert family.marks[0].value == pytest.approx(0.0, abs=1e-10)
    assert (family.stable[0], family.stable[-1]) == (True, False)
