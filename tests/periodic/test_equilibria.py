"""Equilibria along a parameter: pitchfork, Hopf points, collisions, first orbits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da
from periodic.systems import bead_on_hoop, point_on_line, ziegler


def test_pitchfork_of_the_bead_on_a_hoop() -> None:
    """Ω² = g/R to 1e-12; below it θ = 0 oscillates, above it is unstable."""
    family = da.continuation(bead_on_hoop(), "Omega", (1.0, 7.0))
    (mark,) = family.marks
    assert mark.kind == "bifurcation"
    assert mark.parameter**2 == pytest.approx(9.81 / 0.5, rel=1e-12)
    verdicts = dict(zip(family.values, family.stable, strict=True))
    assert all(
        verdict is (None if value < mark.parameter else False)
        for value, verdict in verdicts.items()
    )
    assert family.changes == ()


@pytest.mark.parametrize("b", [0.1, 0.5, 1.0])
def test_ziegler_has_its_hopf_point(b: float) -> None:
    """P l/c = 41/28 + b²/(2 c m l²)"""
    family = da.continuation(ziegler(b), "P", (0.5, 3.0))
    (mark,) = family.changes
    assert mark.kind == "Hopf"
    assert mark.parameter == pytest.approx(41 / 28 + b**2 / 2, abs=1e-12)


def test_undamped_ziegler_has_a_collision_and_no_hopf_point() -> None:
    """Two frequencies meet at 7/2 − √2; that is no Hopf point, and no orbit starts there."""
    family = da.continuation(ziegler(0.0), "P", (0.5, 3.0))
    (mark,) = family.changes
    assert mark.kind == "collision"
    assert mark.parameter == pytest.approx(3.5 - math.sqrt(2), abs=1e-12)
    with pytest.raises(da.NotApplicable, match="collision"):
        family.orbit(mark)


def test_first_orbit_off_the_hopf_point_and_its_family() -> None:
    """The first orbit has the period 2π/ω, and the family ends in the Hopf point."""
    family = da.continuation(ziegler(1.0), "P", (1.5, 2.5))
    (mark,) = family.changes
    orbit = family.orbit(mark, amplitude=0.01)
    assert orbit.period == pytest.approx(2 * math.pi / mark.frequency, rel=1e-4)
    assert orbit.constants["P"] == pytest.approx(mark.parameter, abs=1e-3)
    orbits = da.continuation(orbit, "P", (1.5, 2.5), points=6)
    assert "equilibrium" in orbits.ends[0]
    assert np.abs(orbits.values[0] - mark.parameter) < 1e-3


def test_hopf_amplitude_of_a_normal_form() -> None:
    """ẍ = (ε − x²) ẋ − x: amplitude 2√ε, T = 2π as ε → 0."""
    s = point_on_line("Small oscillator", "(epsilon - x**2)*x' - x", epsilon=-0.1)
    family = da.continuation(s, "epsilon", (-0.1, 0.1))
    (mark,) = family.changes
    assert mark.parameter == pytest.approx(0.0, abs=1e-12)
    orbit = family.orbit(mark, amplitude=0.1)
    assert orbit.constants["epsilon"] == pytest.approx(0.1**2 / 4, rel=1e-3)
    assert orbit.period == pytest.approx(2 * math.pi, abs=1e-4)


def test_the_old_call_gives_what_it_gave() -> None:
    """values, points, marks and other() of a branch, as before."""
    family = da.continuation(bead_on_hoop(), "Omega", (1.0, 7.0))
    assert isinstance(family, da.Branch)
    other = family.other(family.marks[0])
    assert abs(other["theta"][-1]) == pytest.approx(
        math.acos(9.81 / 0.5 / other.values[-1] ** 2), abs=1e-10
    )
