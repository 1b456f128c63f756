"""The largest Lyapunov exponent: a published number, zero for regular motions, and two neighbours by another integrator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import build, entry


def lorenz() -> da.System:
    """ẋ = σ (y − x), ẏ = x (ρ − z) − y, ż = x y − β z as first-order states beside a particle that rests."""
    s = da.System("Lorenz")
    k, sigma, rho, beta = s.constants(k=1.0, sigma=10.0, rho=28.0, beta=8 / 3)
    (q,) = s.coordinates("q")
    s.particle("P", 1, s.O.offset(q * s.N.x))
    s.dissipation(k * q.dot**2 / 2)
    s.potential(k * q**2 / 2)
    x, y, z = (s.state(name) for name in ("X", "Y", "Z"))
    s.rate(x, sigma * (y - x))
    s.rate(y, x * (rho - z) - y)
    s.rate(z, x * y - beta * z)
    return s


def test_lorenz_has_its_published_exponent() -> None:
    """Spr03: 0.9056"""
    found = da.lyapunov(lorenz(), 500.0, start={"X": 1.0, "Y": 1.0, "Z": 20.0}, rtol=1e-8, atol=1e-8)
    assert abs(found.value - 0.9056) < 2 * found.error
    assert found.error < 0.03
    assert found.chaotic


@pytest.mark.parametrize("name", ["lagrange-top", "simple-pendulum"])
def test_regular_motions_have_none(name: str) -> None:
    found = da.lyapunov(build(name), 200.0, start=dict(entry(name).start))
    assert abs(found.value) <= found.error
    assert not found.chaotic
    assert "no exponential divergence" in str(found)


def test_a_hyperbolic_point_has_the_exponent_of_its_linear_model() -> None:
    """φ = π: λ = √(g/l)"""
    found = da.lyapunov(build("simple-pendulum"), 9.0, start={"phi": "pi"}, rtol=1e-12, atol=1e-12)
    assert np.sqrt(9.81) == pytest.approx(found.value, abs=0.01)


def test_rows_beside_the_equations_change_nothing() -> None:
    """x² + y² = l² with the bob at the top, as good as at rest there."""
    s = da.System("on a row")
    (x, y) = s.coordinates("x y")
    m, g = s.constants(m=1.0, g=9.81)
    s.particle("bob", m, s.O.offset(x * s.N.x + y * s.N.y))
    s.gravity(-g * s.N.y)
    s.constrain(x**2 + y**2 - 1, name="length")
    found = da.lyapunov(s, 4.0, start={"x": 0.0, "y": 1.0}, rtol=1e-12, atol=1e-12)
    assert np.sqrt(9.81) == pytest.approx(found.value, abs=0.02)


@pytest.mark.slow
def test_a_double_pendulum_against_two_neighbours_by_another_integrator() -> None:
    """Ben76: two motions 1e-8 apart, brought together again every half second, by SciPy's DOP853."""
    from scipy.integrate import solve_ivp

    s = build("double-pendulum")
    f = da.compile(s)
    found = da.lyapunov(s, 2000.0, start={"alpha": 2.0, "beta": 0.5})

    def rates(_: float, y: Any) -> Any:
        return np.concatenate([y[2:], f(y[:2], y[2:])])

    y, w, tau, apart, total, count = np.array([2.0, 0.5, 0, 0]), np.array([1.0, 0, 0, 0]), 0.5, 1e-8, [], 1200
    for _ in range(count):
        one, other = (solve_ivp(rates, (0, tau), start, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1] for start in (y, y + apart * w))
        w = (other - one) / apart
        total.append(np.log(np.linalg.norm(w)))
        w, y = w / np.linalg.norm(w), one
    kept = np.array(total[count // 10 :]) / tau
    error = np.std([part.mean() for part in np.array_split(kept, 20)], ddof=1) / np.sqrt(20)
    assert abs(found.value - kept.mean()) < 3 * (found.error + error)
    assert found.error < 0.05


def test_what_is_no_system_or_has_contacts_is_refused() -> None:
    with pytest.raises(da.NotASystem, match="give a System"):
        da.lyapunov("pendulum", 1.0)  # type: ignore[arg-type]
