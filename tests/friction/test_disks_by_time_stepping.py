"""Four disks with friction and all pairs against Moreau–Jean time stepping, which knows no modes,
no events and no library code; its error is of first order in h.

Source: J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988).
"""

import numpy as np
import pytest

import dalembert as da
from friction.test_many_contacts import disks

R, DURATION = 0.1, 0.6
PLACES = ((-0.105, 0.1), (0.105, 0.1), (0.003, 0.4), (0.05, 0.7))


def rows(q):
    """Normal and tangential rows of all contacts that touch."""
    found, n = [], len(q)
    for i in range(n):
        touching = [(-1, np.array([0.0, 1.0]), q[i, 1] - R)]
        for j in range(i):
            d = q[i, :2] - q[j, :2]
            touching.append((j, d / np.hypot(*d), np.hypot(*d) - 2 * R))
        for j, along, gap in touching:
            if gap > 0:
                continue
            J = np.zeros((2, n, 3))
            J[0, i, :2], J[1, i] = along, (-along[1], along[0], -R)
            if j >= 0:
                J[0, j, :2], J[1, j] = -along, (along[1], -along[0], -R)
            found.append(J.reshape(2, -1))
    return np.vstack(found) if found else np.zeros((0, 3 * n))


def impulses(A, b, mu):
    """0 ≤ v_N ⊥ P_N ≥ 0, |P_T| ≤ μ P_N against v_T, by projected Gauss–Seidel iterations."""
    P = np.zeros(len(b))
    for _ in range(400):
        before = P.copy()
        for k in range(0, len(b), 2):
            P[k] = max(0.0, P[k] - (b[k] + A[k] @ P) / A[k, k])
            T = P[k + 1] - (b[k + 1] + A[k + 1] @ P) / A[k + 1, k + 1]
            P[k + 1] = np.clip(T, -mu * P[k], mu * P[k])
        if np.abs(P - before).max(initial=0.0) < 1e-13:
            break
    return P


def stepped(steps, mu, places=PLACES, duration=DURATION):
    """x, y and the angle of each disk, of mass 1 and inertia r²/2, at the end."""
    h, n = duration / steps, len(places)
    q, v = np.array([[x, y, 0.0] for x, y in places]), np.zeros(3 * n)
    weights = np.tile([1.0, 1.0, 2.0 / R**2], n)
    for _ in range(steps):
        middle = q + 0.5 * h * v.reshape(n, 3)
        v[1::3] -= h * 9.81
        J = rows(middle)
        v += weights * (J.T @ impulses(J * weights @ J.T, J @ v, mu))
        q = middle + 0.5 * h * v.reshape(n, 3)
    return q


@pytest.mark.slow
def test_time_stepping_converges_to_four_disks_and_to_no_other_friction():
    s, start = disks(PLACES, R)
    run = da.simulate(s, DURATION, start=start)
    assert len(run.events) > 100
    exact = np.array([[run[f"{c}{i}"][-1] for c in ("x", "y", "a")] for i in range(4)])

    def error(steps, mu):
        return float(np.abs((stepped(steps, mu) - exact) * (1.0, 1.0, R)).max())

    coarse, fine = error(3000, 0.3), error(9000, 0.3)
    assert fine < 5 * DURATION / 9000
    assert 1.0 < coarse / fine < 9.0
    assert error(3000, 0.36) > 3 * coarse


@pytest.mark.slow
def test_time_stepping_converges_to_ten_disks_in_a_pile():
    """55 contacts, 110 rows."""
    duration = 0.45
    places = [(0.25 * (i % 4) - 0.3 + 0.013 * i, 0.13 + 0.25 * (i // 4)) for i in range(10)]
    s, start = disks(places, R)
    run = da.simulate(s, duration, start=start)
    assert len(run.events) > 30
    exact = np.array([[run[f"{c}{i}"][-1] for c in ("x", "y", "a")] for i in range(10)])

    def error(steps, mu):
        found = stepped(steps, mu, places, duration)
        return float(np.abs((found - exact) * (1.0, 1.0, R)).max())

    coarse, fine = error(1000, 0.3), error(3000, 0.3)
    assert fine < 5 * duration / 3000
    assert 1.0 < coarse / fine < 9.0
    assert error(1000, 0.36) > 3 * coarse
