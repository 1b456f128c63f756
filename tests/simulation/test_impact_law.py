"""M (u⁺ − u⁻) = Aᵀ Λ by two descriptions, `da.impact` and `s.contact`, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.simulation.events.impact_law import (
    ConstrainedMass,
    ImpactRows,
    impulse_derivative,
    impulses,
)

FINE = {"rtol": 1e-12, "atol": 1e-12}


def puck():
    s = da.System("puck")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("puck", 0.7, P)
    return s, P


def table_walls(s, P):
    """0 ≤ x ≤ 1, 0 ≤ y ≤ 1 as contacts of the system."""
    for normal, through in ((s.N.x, 0), (-s.N.x, 1), (s.N.y, 0), (-s.N.y, 1)):
        at = s.O.offset(through * s.N.x + through * s.N.y)
        s.contact(P, normal, through=at, restitution=1, name=f"{normal} {through}")


def folded(z):
    """The place of a billiard ball, from its path through mirrored tables."""
    return 1.0 - abs(z % 2.0 - 1.0)


@pytest.mark.parametrize("by", ["impact", "contact"])
def test_a_billiard_ball_goes_through_mirrored_tables(by):
    s, P = puck()
    events = []
    if by == "contact":
        table_walls(s, P)
    else:
        events = [da.impact(g, 1) for g in ("x", "1 - x", "y", "1 - y")]
    v = (0.83, -0.57)
    run = da.simulate(
        s, 20, start={"x": 0.31, "y": 0.47, "x.dot": v[0], "y.dot": v[1]}, events=events, **FINE
    )
    assert 25 <= len([o for o in run.events if o.action == "impact"])
    assert folded(0.31 + 20 * v[0]) == pytest.approx(run["x"][-1], abs=1e-11)
    assert folded(0.47 + 20 * v[1]) == pytest.approx(run["y"][-1], abs=1e-11)
    assert abs(v[0]) == pytest.approx(abs(run["x.dot"][-1]), abs=1e-13)


def two_balls(by, e):
    s = da.System("two balls")
    a, b = s.coordinates("a b")
    A, B = s.O.offset(a * s.N.x), s.O.offset(b * s.N.x)
    one, other = s.particle("A", 2, A), s.particle("B", 3, B)
    if by != "contact":
        return s, [da.impact("b - a - 1/5", e, name="balls")]
    s.contact(A, ball=B, radius=(0.1, 0.1), on=one, against=other, restitution=e, name="balls")
    return s, []


@pytest.mark.parametrize("by", ["impact", "contact"])
@pytest.mark.parametrize("e", [0.1, 0.4, 1.0])
def test_two_balls_keep_their_momentum(by, e):
    """v_a⁺ = (m_a v_a + m_b v_b − m_b e (v_a − v_b))/(m_a + m_b), Λ = (1 + e) μ (v_a − v_b)."""
    s, events = two_balls(by, e)
    start = {"a": 0, "b": 1, "a.dot": 3, "b.dot": 0.5}
    run = da.simulate(s, 0.4, start=start, events=events, **FINE)
    after = run.events[0].after
    reduced, closing = 2 * 3 / 5, 2.5
    assert (2 * 3 + 3 * 0.5 - 3 * e * closing) / 5 == pytest.approx(after["a.dot"], abs=1e-12)
    assert (2 * 3 + 3 * 0.5 + 2 * e * closing) / 5 == pytest.approx(after["b.dot"], abs=1e-12)
    assert (1 + e) * reduced * closing == pytest.approx(run.events[0].impulse, rel=1e-12)
    lost = -(1 - e**2) * reduced * closing**2 / 2
    assert lost == pytest.approx(run.events[0].energy, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("by", ["impact", "contact"])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_pendulum_in_cartesian_coordinates_at_a_wall(by, e):
    """The rod takes an impulse of its own: the angular velocity is reversed and reduced by e."""
    s = da.System("pendulum", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("bob", 1.3, P)
    s.constrain(x**2 + y**2 - 1, name="rod")
    events = [] if by == "contact" else [da.impact("1/2 - x", e, name="wall")]
    if by == "contact":
        s.contact(P, -s.N.x, through=s.O.offset(s.N.x / 2), restitution=e, name="wall")
    run = da.simulate(s, 0.95, start={"x": -0.6, "y": -0.8}, events=events, **FINE)
    o = run.events[0]
    omega = math.sqrt(2 * 9.81 * (math.sqrt(3) / 2 - 0.8))
    speed = omega * math.sqrt(3) / 2
    assert speed == pytest.approx(o.before["x.dot"], rel=1e-10)
    assert -e * speed == pytest.approx(o.after["x.dot"], rel=1e-10, abs=1e-11)
    assert -(1 - e**2) * 1.3 * omega**2 / 2 == pytest.approx(o.energy, rel=1e-10)
    # Λ along x, with m ω (1 + e) along the tangent and the rest in the rod
    assert 1.3 * (1 + e) * omega / (math.sqrt(3) / 2) == pytest.approx(o.impulse, rel=1e-10)


# ---- the law itself ------------------------------------------------------------------------------


class Normals:
    """Complementarity of two rows by trying all four sets of rows that carry an impulse."""

    def __init__(self, A):
        self.A = A

    def solve(self, b, _=None):
        for held in ([], [0], [1], [0, 1]):
            lam = np.zeros(2)
            lam[held] = np.linalg.solve(self.A[np.ix_(held, held)], -b[held]) if held else 0.0
            w = self.A @ lam + b
            if (lam >= -1e-14).all() and (w >= -1e-14).all():
                return Found(lam, held)
        return None

    def derivative(self, found, dA, db):
        held, d = found.held, np.zeros(2)
        right = -(dA @ found.lam + db)[held]
        d[held] = np.linalg.solve(self.A[np.ix_(held, held)], right) if held else 0.0
        return d


class Found:
    def __init__(self, lam, held):
        self.lam, self.held = lam, held


@pytest.mark.parametrize("poisson", [False, True])
def test_two_rows_at_once_and_their_derivative(poisson):
    A, v, e = np.array([[1.0, 0.3], [0.3, 0.8]]), np.array([-1.0, -0.4]), np.array([0.5, 0.7])
    dA, dv, de = np.array([[0.2, 0.1], [0.1, -0.3]]), np.array([0.4, -0.9]), np.array([0.6, 0.2])

    def total(h):
        law = Normals(A + h * dA)
        rows = ImpactRows(A + h * dA, v + h * dv, e + h * de)
        return (rows, *impulses(rows, law.solve, poisson=poisson))

    rows, lam, phases = total(0.0)
    after = v + A @ lam
    if not poisson:
        assert (-e * v).tolist() == pytest.approx(after.tolist(), abs=1e-14)
    else:
        first = np.linalg.solve(A, -v)
        assert ((1 + e) * first).tolist() == pytest.approx(lam.tolist(), abs=1e-14)
    found = impulse_derivative(
        rows,
        ImpactRows(dA, dv, de),
        [phase.lam for phase in phases],
        lambda i, _, db, __: Normals(A).derivative(phases[i], dA, db),
    )
    h = 1e-6
    slope = (total(h)[1] - total(-h)[1]) / (2 * h)
    assert slope.tolist() == pytest.approx(found.tolist(), abs=1e-9)


def test_redundant_rows_leave_the_same_motion():
    M, B = np.diag([2.0, 3.0, 0.5]), np.array([[1.0, 1.0, 0.0]])
    J = np.array([[0.0, 1.0, 2.0]])
    once, _ = ConstrainedMass(M, B).solve(J.T, np.zeros((1, 1)))
    twice, mu = ConstrainedMass(M, np.vstack([B, 3 * B])).solve(J.T, np.zeros((2, 1)))
    assert once.ravel().tolist() == pytest.approx(twice.ravel().tolist(), abs=1e-14)
    assert np.abs(M @ twice - J.T - np.vstack([B, 3 * B]).T @ mu).max() < 1e-13
