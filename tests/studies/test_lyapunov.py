"""The largest Lyapunov exponent: published numbers, zero for regular motions, and two neighbours
by another integrator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import build, entry


def lorenz() -> da.System:
    """ẋ = σ (y − x), ẏ = x (ρ − z) − y, ż = x y − β z as first-order states beside a particle
    that rests.
    """
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
    found = da.lyapunov(
        lorenz(), 900.0, start={"X": 1.0, "Y": 1.0, "Z": 20.0}, rtol=1e-8, atol=1e-8
    )
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


# Hen26, Theorem 1: E, p₂ where both arms hang straight, period, and bounds of the trace of the
# return map there; m = l = g = 1
_ORBITS = [
    (-0.5, -1.2448609709184, 3.7047745461, (-3.23158, -3.23150)),
    (0.0, -1.4623730924799, 2.9534890104, (-3.80869, -3.80863)),
    (0.5, -1.6270449592031, 2.5643622248, (-3.33283, -3.33277)),
]


def equal_double_pendulum() -> da.System:
    """Two equal particles on two equal massless rods, m = l = g = 1."""
    s = da.System("equal double pendulum")
    (theta1, theta2) = s.coordinates("theta1 theta2")
    m, l, g = s.constants(m=1.0, l=1.0, g=1.0)
    upper = s.O.offset(l * (da.sin(theta1) * s.N.x - da.cos(theta1) * s.N.y))
    s.particle("upper", m, upper)
    s.particle("lower", m, upper.offset(l * (da.sin(theta2) * s.N.x - da.cos(theta2) * s.N.y)))
    s.gravity(-g * s.N.y)
    return s


def on_the_orbit(energy: float, p2: float) -> dict[str, float]:
    """θ₁ = θ₂ = 0 and p₁ > p₂ from H = E, Hen26 eq. (3); θ̇ = M⁻¹ p."""
    p1 = p2 + np.sqrt(2 * (energy + 3) - p2**2)
    return {"theta1": 0.0, "theta2": 0.0, "theta1.dot": p1 - p2, "theta2.dot": 2 * p2 - p1}


@pytest.mark.parametrize(("energy", "p2", "period", "trace"), _ORBITS)
def test_periodic_motions_of_the_double_pendulum_have_their_proved_exponents(
    energy: float, p2: float, period: float, trace: tuple[float, float]
) -> None:
    """Hen26: the return map has μ + 1/μ in proved bounds, so λ = ln |μ| / T at three energies."""
    s, start = equal_double_pendulum(), on_the_orbit(energy, p2)
    names = ("theta1", "theta2", "theta1.dot", "theta2.dot")
    run = da.simulate(s, period, start=start, rtol=1e-13, atol=1e-13, sensitivities=list(names))
    assert run.energy[0] == pytest.approx(energy, abs=1e-11)
    assert [run[name][-1] for name in names] == pytest.approx(
        [0.0, -2 * np.pi, start["theta1.dot"], start["theta2.dot"]], abs=2e-9
    )
    # the derivative of the flow over a period has the two eigenvalues 1 of the energy and of the
    # motion itself beside μ and 1/μ
    monodromy = sum(run.sensitivity(name, name)[-1] for name in names)
    assert trace[0] <= monodromy - 2 <= trace[1]

    growth = np.arccosh(-np.array(trace[::-1]) / 2)
    periods = 8
    found = da.lyapunov(s, periods * period, start=start, rtol=1e-13, atol=1e-13)
    assert abs(found.value - growth.mean() / period) < found.error
    # over the last period w has nearly turned into the direction of μ; what is missing has gone
    # down like |μ|⁻ᵏ
    last = found.growth[-1] - found.growth[-1 - len(found.growth) // periods]
    assert last == pytest.approx(growth.mean(), abs=3 * np.exp(-growth[0] * (periods - 4)))


@pytest.mark.slow
def test_a_double_pendulum_against_two_neighbours_by_another_integrator() -> None:
    """Ben76: two motions 1e-8 apart, brought together again every half second, by SciPy's
    DOP853.
    """
    from scipy.integrate import solve_ivp

    s = build("double-pendulum")
    f = da.compile(s)
    found = da.lyapunov(s, 2000.0, start={"alpha": 2.0, "beta": 0.5})

    def rates(_: float, y: Any) -> Any:
        return np.concatenate([y[2:], f(y[:2], y[2:])])

    y, w, tau, apart, total, count = (
        np.array([2.0, 0.5, 0, 0]),
        np.array([1.0, 0, 0, 0]),
        0.5,
        1e-8,
        [],
        1200,
    )
    for _ in range(count):
        one, other = (
            solve_ivp(rates, (0, tau), start, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
            for start in (y, y + apart * w)
        )
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
