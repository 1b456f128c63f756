"""Systems of the tests of periodic motions, each as it is printed in its source."""

from __future__ import annotations

import math

import dalembert as da

# the start of the figure-eight, Sim02 (digits of Chenciner and Montgomery 2000)
_X, _Y, _U, _V = 0.97000436, -0.24308753, -0.93240737, -0.86473146
EIGHT_START = {
    "x1": _X, "y1": _Y, "x2": -_X, "y2": -_Y, "x3": 0.0, "y3": 0.0,
    "x1.dot": -_U / 2, "y1.dot": -_V / 2, "x2.dot": -_U / 2, "y2.dot": -_V / 2, "x3.dot": _U, "y3.dot": _V,
}  # fmt: skip


def three_bodies() -> da.System:
    """V = −Σ 1/r_ij, unit masses, in the plane."""
    s = da.System("Three bodies")
    places = []
    for k in (1, 2, 3):
        x, y = s.coordinates(f"x{k} y{k}")
        s.particle(f"body {k}", 1, s.O.offset(x * s.N.x + y * s.N.y, f"P{k}"))
        places.append((x, y))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        (a, b), (c, d) = places[i], places[j]
        s.potential(-1 / da.sqrt((a - c) ** 2 + (b - d) ** 2))
    return s


def point_on_line(name: str, force: str, **constants: float) -> da.System:
    """ẍ = force(x, ẋ, t) of a unit mass."""
    s = da.System(name)
    x = s.coordinate("x")
    s.constants(**constants)
    P = s.O.offset(x * s.N.x, "P")
    s.particle("mass", 1, P)
    s.force(s.expression(force) * s.N.x, P)
    return s


def van_der_pol(mu: float = 1.0) -> da.System:
    """ẍ = μ (1 − x²) ẋ − x"""
    return point_on_line("Van der Pol", "mu*(1 - x**2)*x' - x", mu=mu)


def duffing(Omega: float = 1.0) -> da.System:
    """ẍ + 0.1 ẋ + x + x³ = 0.2 cos Ωt"""
    return point_on_line("Duffing", "-x'/10 - x - x**3 + cos(Omega*t)/5", Omega=Omega)


def rimless_wheel(n: int = 8, gamma: float = 0.08) -> tuple[da.System, list[da.Event]]:
    """A point mass on massless spokes, l = g = 1: an inverted pendulum and the step onto the next spoke."""
    s = da.System("Rimless wheel")
    theta = s.coordinate("theta")
    slope = s.constant("gamma", gamma)
    # the angle is counted from the normal of the slope, which falls along N.x
    s.particle("hub", 1, s.O.offset(da.sin(theta) * s.N.x + da.cos(theta) * s.N.y, "hub"))
    s.gravity(da.sin(slope) * s.N.x - da.cos(slope) * s.N.y)
    step = da.event(
        f"theta - {math.pi / n!r}",
        direction="up",
        reset={"theta": f"theta - {2 * math.pi / n!r}", "theta'": f"{math.cos(2 * math.pi / n)!r}*theta'"},
        name="step",
    )
    return s, [step]


def equal_double_pendulum() -> da.System:
    """Two equal particles on two equal massless rods, m = l = g = 1, angles from the vertical."""
    s = da.System("equal double pendulum")
    theta1, theta2 = s.coordinates("theta1 theta2")
    m, l, g = s.constants(m=1.0, l=1.0, g=1.0)
    upper = s.O.offset(l * (da.sin(theta1) * s.N.x - da.cos(theta1) * s.N.y))
    s.particle("upper", m, upper)
    s.particle("lower", m, upper.offset(l * (da.sin(theta2) * s.N.x - da.cos(theta2) * s.N.y)))
    s.gravity(-g * s.N.y)
    return s
