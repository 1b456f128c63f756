"""Motions that touch an event without crossing it: they are named, and get no multipliers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da
from periodic.systems import point_on_line

_W = 1.3
# x = Re z e^{iωt} of ẍ + ẋ/2 + 2x = cos ωt
_Z = 1 / (2 - _W**2 + 0.5j * _W)
_START = {"x": _Z.real, "x.dot": -_W * _Z.imag}


def _oscillator(distance: float) -> tuple[da.System, list[da.Event]]:
    """The forced oscillator with a wall at a multiple of its amplitude."""
    system = point_on_line("Oscillator", "-x'/2 - 2*x + cos(w*t)", w=_W)
    return system, [da.impact(f"{distance * abs(_Z)!r} - x", 0.7, name="wall")]


@pytest.mark.parametrize("distance", [1.0, 1.0 + 1e-11, 1.0 - 1e-11])
def test_a_wall_at_the_amplitude_is_grazed(distance: float) -> None:
    """The turning point x = |z| lies on the wall, at ωt = −arg z."""
    system, events = _oscillator(distance)
    touch = -np.angle(_Z) / _W
    with pytest.raises(da.NoPeriodicMotion, match="grazes 'wall' at t = ") as caught:
        da.periodic(system, _START, events=events)
    text = str(caught.value)
    _, _, after = text.partition("t = ")
    assert touch == pytest.approx(float(after.partition(":")[0]), abs=1e-5)
    assert "no multipliers" in text
    assert 2 * math.pi / _W == pytest.approx(caught.value.period)


def test_a_wall_out_of_reach_leaves_the_motion_as_it_is() -> None:
    """1e-5 of the amplitude away the wall is not touched: multipliers exp(λT)."""
    system, events = _oscillator(1.0 + 1e-5)
    orbit = da.periodic(system, _START, events=events)
    roots = np.exp(np.roots([1.0, 0.5, 2.0]) * orbit.period)
    assert sorted(roots.imag) == pytest.approx(sorted(orbit.multipliers.imag), abs=1e-10)


def test_an_impact_of_low_speed_keeps_its_multipliers() -> None:
    """det M = e² exp(−T/2) for one impact, however low its speed: no false alarm."""
    system, events = _oscillator(1.0 - 1e-3)
    orbit = da.periodic(system, _START, events=events)
    assert len(orbit.run().events) == 1
    expected = 0.7**2 * math.exp(-orbit.period / 2)
    assert float(np.prod(orbit.multipliers).real) == pytest.approx(expected, rel=1e-6)
    assert orbit.stability == "unstable"


def test_a_failure_next_to_grazing_says_so() -> None:
    """A wall just inside the amplitude: no orbit with a weak impact exists, and the reason is
    named.
    """
    system, events = _oscillator(1.0 - 1e-5)
    with pytest.raises(da.NoPeriodicMotion, match=r"closest approach.*grazes 'wall'"):
        da.periodic(system, _START, events=events)


def test_a_return_map_names_grazing() -> None:
    """A ball that bounces with v = 3 and g = 1 rises to 4.5, where a ceiling is."""
    ball = point_on_line("Ball", "-g", g=1.0)
    floor, ceiling = da.impact("x", 1.0, name="floor"), da.impact("4.5 - x", 1.0, name="ceiling")
    with pytest.raises(da.NoPeriodicMotion, match="grazes 'ceiling' at t = 3"):
        da.periodic(ball, {"x": 0.0, "x.dot": 3.0}, 6.0, events=[floor, ceiling], section="floor")
    low = da.impact("5 - x", 1.0, name="ceiling")
    orbit = da.periodic(ball, {"x": 0.0, "x.dot": 3.0}, 6.0, events=[floor, low], section="floor")
    assert orbit.period == pytest.approx(6.0)


@pytest.mark.slow
def test_a_family_ends_at_grazing_with_the_name_of_the_event() -> None:
    """The response |z| F reaches a wall at 1.05 |z| with the drive F = 1.05."""
    system = point_on_line("Driven", "-x'/2 - 2*x + F*cos(w*t)", w=_W, F=1.0)
    wall = da.impact(f"{1.05 * abs(_Z)!r} - x", 0.7, name="wall")
    family = da.continuation(da.periodic(system, _START, events=[wall]), "F", (1.0, 1.2), step=0.1)
    assert family.values[-1] == pytest.approx(1.05, abs=1e-3)
    assert "grazes 'wall'" in family.ends[1]
