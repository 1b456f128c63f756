"""Optimal inputs next to a recorded one, against the least norm in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da


def _cart() -> da.System:
    """2 ẍ = F + G"""
    s = da.System("cart")
    x = s.coordinate("x")
    cart = s.particle("cart", 2, s.O.offset(x * s.N.x))
    s.force((s.input("F") + s.input("G")) * s.N.x, at=cart.G)
    return s


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_the_least_force_next_to_a_recorded_one(kind: str) -> None:
    T, knots = 2.0, np.linspace(0, 2, 24)
    recorded = da.table(knots, np.sin(3 * knots), kind)
    goal = {"start": {"x": 0, "x.dot": 0}, "end": {"x": 1, "x.dot": 0}}
    best = da.optimize(_cart(), T, minimize="F**2", inputs={"G": recorded}, **goal)
    assert best.audit.passed, best
    # F = a + b (T − t) with ∫ F = −∫ G and ∫ (T − t) F = 2 − ∫ (T − t) G, by Gauss between knots
    x, w = np.polynomial.legendre.leggauss(4)
    half, middle = np.diff(knots) / 2, (knots[1:] + knots[:-1]) / 2
    t, weight = (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()
    G = recorded(t)
    target = np.array([-weight @ G, 2 - weight @ ((T - t) * G)])
    gram = np.array([[T, T**2 / 2], [T**2 / 2, T**3 / 3]])
    expected = target @ np.linalg.solve(gram, target)
    assert expected == pytest.approx(best.cost, rel=1e-6)


def test_a_table_that_is_too_short_is_refused() -> None:
    recorded = da.table([0.0, 1.0], [0.0, 1.0])
    with pytest.raises(da.DalembertError, match="G: its table goes from t = 0 to 1"):
        da.optimize(_cart(), 2.0, minimize="F**2", inputs={"G": recorded})
