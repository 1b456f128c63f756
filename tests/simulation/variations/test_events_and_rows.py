"""S over impacts and resets by closed forms, and with rows beside the equations by other
coordinates and differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.ode.constrained.constrained_rates import ConstrainedRates
from dalembert.runtime.ode.failures import BadStart

TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12, "audit": False}


def ball() -> da.System:
    """ḧ = −g"""
    s = da.System("ball")
    m, g, e = s.constants(m=1.0, g=9.81, e=0.7)
    (h,) = s.coordinates("h")
    s.particle("ball", m, s.O.offset(h * s.N.z))
    s.gravity(-g * s.N.z)
    # a potential that does nothing, so that e is part of the description
    s.potential(e)
    return s


def after_one_bounce(t: Any, h: float, g: float, e: float) -> Any:
    """h(t) and its speed after the first bounce."""
    fall = np.sqrt(2 * h / g)
    up = e * np.sqrt(2 * g * h)
    return up * (t - fall) - g * (t - fall) ** 2 / 2


def test_a_bouncing_ball_varies_as_its_closed_form() -> None:
    t, h, g, e = np.linspace(0.6, 1.0, 5), 1.0, 9.81, 0.7
    impact = da.impact("h", "e", name="ground")
    run = da.simulate(
        ball(), 1.0, start={"h": h}, events=[impact], at=t, sensitivities=["h", "g", "e"], **TIGHT
    )
    for name, at in (
        ("h", lambda x: after_one_bounce(t, h + x, g, e)),
        ("g", lambda x: after_one_bounce(t, h, g + x, e)),
        ("e", lambda x: after_one_bounce(t, h, g, e + x)),
    ):
        # a complex step is exact
        expected = np.imag(at(1e-30j)) / 1e-30
        assert expected == pytest.approx(run.sensitivity("h", name), abs=1e-9)
    assert [1 / np.sqrt(2 * g * h)] == pytest.approx(
        run.sensitivities.event_times("ground", "h"), rel=1e-10
    )
    assert [0.0] == pytest.approx(run.sensitivities.event_times("ground", "e"), abs=1e-12)


def test_a_reset_by_the_state_and_a_constant() -> None:
    """Where h = ½ falling, the speed becomes −e v + g/10: h = ½ + (e v₁ + g/10) τ − g τ²/2, v₁ =
    √(2 g (h₀ − ½))
    """
    t, g, e = np.linspace(0.5, 0.8, 4), 9.81, 0.7
    kick = da.event("h - 1/2", direction="down", reset={"h.dot": "-e*h.dot + g/10"}, name="kick")
    run = da.simulate(
        ball(),
        0.8,
        start={"h": 1.0},
        events=[kick, "h - 4/5"],
        at=t,
        sensitivities=["h", "g", "e"],
        **TIGHT,
    )

    def height(h: Any, g: Any, e: Any) -> Any:
        tau = t - np.sqrt(2 * (h - 0.5) / g)
        return 0.5 + (e * np.sqrt(2 * g * (h - 0.5)) + g / 10) * tau - g * tau**2 / 2

    step = 1e-30j
    for k, name in enumerate(("h", "g", "e")):
        at = [1.0 + 0j, g, e]
        at[k] += step
        assert np.imag(height(*at)) / 1e-30 == pytest.approx(run.sensitivity("h", name), abs=1e-9)
    # an event that is only recorded: h = 4/5 on the way down, at √(2 (h₀ − 4/5)/g)
    assert 1 / np.sqrt(2 * g * 0.2) == pytest.approx(
        run.sensitivities.event_times("h - 4/5", "h")[0], rel=1e-9
    )


def pendulum_on_a_row() -> da.System:
    """x² + y² = l² beside the equations."""
    s = da.System("pendulum on a row")
    m, g, l = s.constants(m=1.5, g=9.81, l=2.0)
    x, y = s.coordinates("x y")
    s.particle("bob", m, s.O.offset(x * s.N.x + y * s.N.y))
    s.gravity(-g * s.N.y)
    s.constrain(x**2 + y**2 - l**2, name="length")
    return s


def test_rows_beside_the_equations_agree_with_an_angle() -> None:
    """x = l sin θ, y = −l cos θ: ∂x/∂l with x₀/l held follows from θ; here y₀ alone is given, so
    that x₀ moves by −y₀/x₀ δy₀ + l/x₀ δl.
    """
    row, by_angle = pendulum_on_a_row(), da.System("angle")
    m, g, l = by_angle.constants(m=1.5, g=9.81, l=2.0)
    by_angle.particle("bob", m, _bob(by_angle, l))
    by_angle.gravity(-g * by_angle.N.y)
    t = np.linspace(0, 5, 11)
    one = da.simulate(
        row, 5.0, start={"y": -1.6}, guess={"x": 1.0}, at=t, sensitivities=["l", "g", "y"], **TIGHT
    )
    assert isinstance(one.variation.model.rates, ConstrainedRates)
    start = {"theta": float(np.arccos(0.8))}
    other = da.simulate(
        by_angle, 5.0, start=start, at=t, sensitivities=["l", "g", "theta"], **TIGHT
    )
    # θ₀ = acos(−y₀/l): ∂θ₀/∂y₀ = 1/(l sin θ₀), ∂θ₀/∂l = −y₀/(l² sin θ₀) · (−1)
    sine = 0.6
    x = "l*sin(theta)"
    expected = {
        "g": other.sensitivity(x, "g"),
        "y": other.sensitivity(x, "theta") / (2.0 * sine),
        "l": other.sensitivity(x, "l") + other.sensitivity(x, "theta") * 0.8 / (2.0 * sine),
    }
    for name, values in expected.items():
        assert values == pytest.approx(one.sensitivity("x", name), abs=1e-8)
    # what S must satisfy whatever the integrator does: d(x² + y² − l²)/dp = 0
    assert np.zeros(len(t)) == pytest.approx(one.sensitivity("x**2 + y**2 - l**2", "l"), abs=1e-10)
    assert np.zeros(len(t)) == pytest.approx(one.sensitivity("x*x.dot + y*y.dot", "l"), abs=1e-10)
    # and where an acceleration is asked for: m ẍ x + m ÿ y + m (ẋ² + ẏ²) is zero in every motion on
    # the row
    assert np.zeros(len(t)) == pytest.approx(
        one.sensitivity("x*x.dot.dot + y*y.dot.dot + x.dot**2 + y.dot**2", "l"), abs=1e-9
    )


def _bob(s: da.System, l: Any) -> Any:
    (theta,) = s.coordinates("theta")
    return s.O.offset(l * da.sin(theta) * s.N.x - l * da.cos(theta) * s.N.y)


def test_a_start_that_cannot_follow_is_refused() -> None:
    with pytest.raises(BadStart, match="cannot follow a change of l"):
        da.simulate(pendulum_on_a_row(), 1.0, start={"x": 1.2, "y": -1.6}, sensitivities=["l"])
