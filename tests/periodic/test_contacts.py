"""Periodic motions with contacts, dry friction and switched constraints."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da
from friction.test_active import START, walker
from periodic.systems import compass_walker

G = 9.81


def _table() -> da.System:
    s = da.System("Table")
    y = s.coordinate("y")
    A, w, e = s.constants(A=0.2, w=9.0, e=0.5)
    P = s.O.offset(y * s.N.y)
    s.particle("ball", 1.3, P)
    s.gravity(-G * s.N.y)
    s.contact(P, through=s.O.offset(A * da.sin(w * s.t) * s.N.y), restitution=e, name="table")
    return s


def _bounce(A: float, e: float = 0.5, w: float = 9.0) -> tuple[float, float, float, float]:
    """y and ẏ at t = 0, trace and determinant of the motion with one impact in a period.

    v⁺ = g T/2 and v⁺ − V = e (v⁺ + V) give the velocity V = A ω cos φ of the table.
    """
    T = 2 * math.pi / w
    v = G * T / 2
    V = v * (1 - e) / (1 + e)
    phi = math.acos(V / (A * w))
    left = T - phi / w
    relative = -G + A * w**2 * math.sin(phi)
    trace = -2 * e - T * (1 + e) * relative / (v + V)
    return A * math.sin(phi) + v * left - G * left**2 / 2, v - G * left, trace, e**2


def test_ball_on_an_oscillating_table_bounces_once_in_a_period() -> None:
    y, v, trace, determinant = _bounce(0.2)
    orbit = da.periodic(_table(), {"y": 1.01 * y, "y'": 1.01 * v})
    assert orbit.start["y"] == pytest.approx(y, abs=1e-12)
    assert orbit.start["y.dot"] == pytest.approx(v, abs=1e-12)
    assert np.sum(orbit.multipliers) == pytest.approx(trace, abs=1e-10)
    assert np.prod(orbit.multipliers) == pytest.approx(determinant, abs=1e-10)
    assert len(orbit.run(3).events) == 3


def test_family_of_bounces_over_the_amplitude_of_the_table() -> None:
    y, v, *_ = _bounce(0.2)
    orbit = da.periodic(_table(), {"y": y, "y'": v})
    family = da.continuation(orbit, "A", (0.2, 0.25), points=6)
    assert len(family.orbits) >= 3
    for A, each in zip(family.values, family.orbits, strict=True):
        assert each.start["y"] == pytest.approx(_bounce(float(A))[0], abs=1e-9)


def test_stick_slip_on_a_belt_has_its_period_and_a_multiplier_of_zero() -> None:
    """T = 2 a/v + 2π − 2 atan(a/v), a = μ_s − μ: slip about μ, then rest on the belt."""
    s = da.System("Belt")
    x = s.coordinate("x")
    s.particle("block", 1, s.O.offset(x * s.N.x))
    s.potential(x**2 / 2)
    s.friction(x.dot - 0.5, 0.3, static=0.5, normal=1, name="belt")
    orbit = da.periodic(s, {"x": 0.9, "x'": 0.0}, 7.0)
    expected = 2 * 0.2 / 0.5 + 2 * math.pi - 2 * math.atan(0.2 / 0.5)
    assert orbit.period == pytest.approx(expected, abs=1e-10)
    assert orbit.start["x"] == pytest.approx(0.3 + math.hypot(0.2, 0.5), abs=1e-10)
    assert orbit.multipliers == pytest.approx([0.0], abs=1e-10)
    assert orbit.stability == "stable"


def test_gait_with_held_feet_is_that_of_angular_momenta_by_hand() -> None:
    start = {key.replace("'", ".dot"): value for key, value in START.items()}
    by_hand, strikes = compass_walker()
    expected = da.periodic(by_hand, start, events=strikes)
    system, events = walker(swap=True)
    orbit = da.periodic(system, start, events=events)
    assert orbit.period == pytest.approx(expected.period, abs=1e-10)
    for key, value in expected.start.items():
        assert orbit.start[key] == pytest.approx(value, abs=1e-10)
    step = 2 * math.sin(-expected.start["a"])
    assert orbit.advance == pytest.approx({"x": step}, abs=1e-10)
    two = sorted(orbit.multipliers, key=abs)[-2:]
    assert np.abs(two) == pytest.approx(np.abs(expected.multipliers[:2]), abs=1e-9)
    assert np.abs(sorted(orbit.multipliers, key=abs)[:-2]).max() < 1e-6


def test_a_puck_on_springs_circles_against_friction_in_a_plane() -> None:
    # F cos φ = (k − m ω²) r and F sin φ = μ n for a force that turns with ω
    s = da.System("Puck on springs")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("puck", 1, P)
    s.potential(2 * (x**2 + y**2))
    s.force(da.cos(s.t) * s.N.x + da.sin(s.t) * s.N.y, at=P)
    s.friction((x.dot, y.dot), 0.3, normal=1, name="ice")
    start = {"x": 0.3, "y": -0.1, "x'": 0.1, "y'": 0.3}
    orbit = da.periodic(s, start, 2 * np.pi)
    r, phi = np.sqrt(1 - 0.3**2) / 3, np.arcsin(0.3)
    expected = [r * np.cos(phi), -r * np.sin(phi), r * np.sin(phi), r * np.cos(phi)]
    assert expected == pytest.approx(orbit.x0, abs=1e-9)
    assert orbit.stable


def test_several_segments_are_refused() -> None:
    with pytest.raises(da.Unknown, match="leave segments out"):
        da.periodic(_table(), {"y": 1.0}, segments=3)


def test_the_multipliers_of_slip_in_a_plane_have_the_product_that_its_divergence_gives():
    s = da.System("driven block", gravity=9.81, up="z")
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("block", 1, P)
    drive = (4 * da.cos(5 * s.t) - 40 * x) * s.N.x + (3 * da.sin(5 * s.t) - 30 * y) * s.N.y
    s.force(drive, P)
    s.contact(P, s.N.z, friction=0.1, name="plane")
    orbit = da.periodic(s, {"x": 0.1, "y.dot": 0.5}, 2 * np.pi / 5)
    run = orbit.run()
    np.testing.assert_allclose(
        [run[k][-1] for k in ("x", "y", "x.dot", "y.dot")],
        [run[k][0] for k in ("x", "y", "x.dot", "y.dot")],
        atol=1e-8,
    )
    # ∂(−μ g v/|v|)/∂v has the trace −μ g/|v|
    t = np.linspace(0, 2 * np.pi / 5, 4001)
    shrinks = 0.1 * 9.81 / np.hypot(run.at(t)["x.dot"], run.at(t)["y.dot"])
    expected = np.exp(-np.trapezoid(shrinks, t))
    assert expected == pytest.approx(np.prod(orbit.multipliers).real, rel=1e-6)
