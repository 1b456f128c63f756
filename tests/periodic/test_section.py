"""Poincaré sections and maps: closed forms, the map of a run, and diagrams by an ensemble."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da
from periodic.systems import duffing, point_on_line, van_der_pol


def test_section_of_an_oscillation() -> None:
    """x = cos t: upwards through zero at 3π/2 + 2πk, where ẋ = 1."""
    run = da.simulate(
        point_on_line("Oscillator", "-k*x", k=1.0), 40.0, start={"x": 1.0}, rtol=1e-12, atol=1e-12
    )
    section = run.section("x", direction="up")
    assert section.t == pytest.approx([1.5 * math.pi + 2 * math.pi * k for k in range(6)], abs=1e-9)
    assert np.ones(6) == pytest.approx(section["x.dot"], abs=1e-9)
    assert len(run.section("x")) == 13
    assert len(run.section("x - 2")) == 0


def test_section_takes_expressions_of_the_time() -> None:
    run = da.simulate(duffing(1.0), 40.0, start={"x": 1.0})
    section = run.section("sin(t)", direction="up")
    assert section.t == pytest.approx([2 * math.pi * k for k in range(1, 7)], abs=1e-9)


def test_section_refuses_an_unknown_direction() -> None:
    run = da.simulate(van_der_pol(), 5.0, start={"x": 1.0})
    with pytest.raises(da.Unknown, match="direction"):
        run.section("x", direction="left")


def test_map_and_its_derivative() -> None:
    """∂P/∂x against differences of the map; the fixed point is the orbit."""
    P = da.poincare_map(van_der_pol(), "x", direction="up")
    start = {"x": 0.0, "x.dot": 1.9}
    after = P(start)
    assert after["x"] == pytest.approx(0.0, abs=1e-12)
    h = 1e-5
    difference = (
        P({**start, "x.dot": 1.9 + h})["x.dot"] - P({**start, "x.dot": 1.9 - h})["x.dot"]
    ) / (2 * h)
    assert P.derivative(start)[1, 1] == pytest.approx(difference, rel=1e-6)
    orbit = da.periodic(
        van_der_pol(), start, events=[da.event("x", direction="up", name="section")]
    )
    assert P(orbit.start)["x.dot"] == pytest.approx(orbit.start["x.dot"], abs=1e-9)
    assert orbit.period == pytest.approx(6.663286859, abs=1e-9)


def test_fixed_point_of_a_map() -> None:
    """The limit cycle of Van der Pol's equation is P(x) = x; ∂P/∂x there has its multiplier."""
    P = da.poincare_map(van_der_pol(), "x", direction="up")
    assert repr(P) == "PoincareMap of 'Van der Pol' at 'x', up"
    orbit = P.fixed_point({"x": 0.0, "x.dot": 1.9})
    assert orbit.period == pytest.approx(6.663286859, abs=1e-9)
    assert P(orbit.start)["x.dot"] == pytest.approx(orbit.start["x.dot"], abs=1e-10)
    assert P.derivative(orbit.start)[1, 1] == pytest.approx(orbit.multipliers[0].real, abs=1e-8)
    twice = P.fixed_point({"x": 0.0, "x.dot": 1.9}, returns=2)
    assert twice.period == pytest.approx(2 * orbit.period, abs=1e-9)


def test_map_along_an_unknown_name_is_refused_at_once() -> None:
    with pytest.raises(da.BadExpression, match="unknown name 'y'"):
        da.poincare_map(van_der_pol(), "y")


def test_diagram_shows_what_runs_settle_to() -> None:
    """Stroboscopic points of the Duffing oscillator lie on the orbits of da.periodic."""
    values = [0.9, 1.0, 1.1]
    diagram = da.bifurcation_diagram(
        duffing(),
        "Omega",
        values,
        keep="x",
        section="sin(Omega*t)",
        direction="up",
        transient=250.0,
        duration=300.0,
        start={"x": 0.5},
    )
    assert set(values) == set(diagram.parameter.tolist())
    for value in values:
        orbit = da.periodic(duffing(value), {"x": 0.5})
        points = diagram.at(value)
        assert len(points) >= 5
        assert np.full(len(points), orbit.start["x"]) == pytest.approx(points, abs=2e-5)
