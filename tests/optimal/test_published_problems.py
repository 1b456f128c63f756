"""Optima with published or closed-form values: bang-bang thrust, an active state bound, boundary
layers, a length that is given, a singular arc.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import dalembert as da

pytest.importorskip("pounce")


def particle(name: str, gravity: float = 0.0) -> da.System:
    """One kilogram along x, pushed by F."""
    s = da.System(name)
    P = s.O.offset(s.coordinate("x") * s.N.x, "P")
    s.particle("body", 1.0, P)
    if gravity:
        s.gravity(-gravity * s.N.x)
    s.force(s.input("F") * s.N.x, at=P)
    return s


def first_order(name: str, inputs: str, rates: dict[str, str]) -> da.System:
    """States with the given rates."""
    s = da.System(name)
    s.input(inputs)
    for state in rates:
        s.state(state)
    for state, rate in rates.items():
        s.rate(state, rate)
    return s


def test_moon_lander() -> None:
    """J. Meditch (1964): free fall, then full thrust; ∫F dt = √68 with these numbers."""
    best = da.optimize(
        particle("moon lander", gravity=1.5),
        (1, 10),
        minimize="F",
        start={"x": 10, "x.dot": -2},
        end={"x": 0, "x.dot": 0},
        bounds={"F": (0, 3), "x": (0, 20)},
    )
    assert best.cost == pytest.approx(math.sqrt(68), abs=1e-7)
    assert best.duration == pytest.approx((2 * math.sqrt(68) - 4) / 3, abs=1e-7)
    assert best.audit.passed, str(best)


def test_a_state_that_touches_its_bound() -> None:
    """A. E. Bryson, Y.-C. Ho, Applied Optimal Control, section 3.11: x ≤ l costs 4/(9 l), and is
    active from 3 l to 1 − 3 l.
    """
    best = da.optimize(
        particle("Bryson and Denham"),
        1.0,
        minimize="F**2/2",
        start={"x": 0, "x.dot": 1},
        end={"x": 0, "x.dot": -1},
        bounds={"x": (None, 1 / 9)},
    )
    assert best.cost == pytest.approx(4.0, abs=2e-7)
    assert best["x"].max() < 1 / 9 + 1e-7
    assert best.audit.passed, str(best)


def test_boundary_layers_of_a_long_motion() -> None:
    """A. V. Rao, K. D. Mease (1999); the cost of both layers follows from H = 0."""
    layers = (1.5, -1), (1.0, 1)
    true = sum(
        quad(lambda x, k=k: x * math.sqrt(x**4 + 1) + k * x**3, 0, end)[0] for end, k in layers
    )
    s = first_order("hypersensitive", "u", {"x": "-x**3 + u"})
    best = da.optimize(s, 1e4, minimize="(x**2 + u**2)/2", start={"x": 1.5}, end={"x": 1})
    assert best.cost == pytest.approx(true, abs=1e-7)
    assert best.audit.passed, str(best)


def hanging_chain(**options: Any) -> Any:
    """Least ∫ x ds of a curve of length 4 from (0, 1) to (1, 3)."""
    return da.optimize(
        first_order("hanging chain", "u", {"x": "u"}),
        1.0,
        minimize="x*sqrt(1 + u**2)",
        start={"x": 1},
        end={"x": 3},
        integrals={"sqrt(1 + u**2)": (4, 4)},
        **options,
    )


def test_hanging_chain() -> None:
    """The catenary; 5.0685 in the COPS collection."""
    z = brentq(lambda z: math.sinh(z) / z - math.sqrt(12), 1, 5)
    a, c = 1 / (2 * z), 0.5 - math.atanh(0.5) / (2 * z)
    low = 1 - a * math.cosh(c / a)
    heights = quad(lambda t: (a * math.cosh((t - c) / a) + low) * math.cosh((t - c) / a), 0, 1)
    best = hanging_chain(bounds={"u": (-20, 40)})
    assert best.cost == pytest.approx(heights[0], abs=1e-7)
    assert best.audit.passed, str(best)


@pytest.mark.filterwarnings("ignore:optimize. no solution")
def test_an_integral_that_differs_from_its_sum_is_reported() -> None:
    """On a coarse mesh the slope is chosen so that length is hidden between the points."""
    guess = {"x": "1 + 4*t*(t - 0.5)", "u": "8*t - 2"}
    best = hanging_chain(guess=guess, intervals=8, refine=False)
    assert best.cost < 5.0
    assert any("the integral of sqrt(1 + u**2) differs" in text for text in best.audit.failures)
    t, u = best.t, best["u"]
    assert abs(np.trapezoid(np.sqrt(1 + u**2), t) - 4) > 0.1


def test_largest_orbit_in_a_given_time() -> None:
    """A. E. Bryson, Y.-C. Ho, section 2.5: a low thrust at the angle α reaches r = 1.525."""
    thrust = "0.1405/(1 - 0.0749*t)"
    rates = {
        "r": "v",
        "v": f"w**2/r - 1/r**2 + {thrust}*sin(alpha)",
        "w": f"-v*w/r + {thrust}*cos(alpha)",
    }
    best = da.optimize(
        first_order("orbit transfer", "alpha", rates),
        3.32,
        minimize_at_end="-r",
        start={"r": 1, "v": 0, "w": 1},
        end={"v": 0, "w - 1/sqrt(r)": 0},
        guess={"r": "1 + 0.15*t", "w": "1 - 0.06*t", "alpha": "0.5 + 1.6*t"},
    )
    assert -best.cost == pytest.approx(1.525, abs=5e-4)
    assert best.audit.passed, str(best)


@pytest.mark.slow
def test_goddard_rocket_with_a_singular_arc() -> None:
    """Height 1.01283 in the COPS collection; the thrust is bang, singular, off."""
    drag = "310*v**2*exp(-500*(h - 1))"
    rates = {"h": "v", "v": f"(T - {drag})/m - 1/h**2", "m": "-2*T"}
    best = da.optimize(
        first_order("Goddard's rocket", "T", rates),
        (0.02, 1),
        minimize_at_end="-h",
        start={"h": 1, "v": 0, "m": 1},
        end={"m": 0.6},
        bounds={"T": (0, 3.5), "h": (1, 2), "v": (0, None), "m": (0.6, 1)},
        guess={"h": "1 + 0.05*t", "m": "1 - 2*t", "T": 1},
    )
    assert -best.cost == pytest.approx(1.0128369, abs=2e-7)
    assert best.audit.passed, str(best)
    thrust = best["T"]
    assert thrust.min() > -1e-3
    assert thrust.max() < 3.5 + 1e-3
    # the singular arc lies between the bounds
    middle = thrust[(best.t > 0.25 * best.duration) & (best.t < 0.33 * best.duration)]
    assert 0.2 < middle.mean() < 3.0
