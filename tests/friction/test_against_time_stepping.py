"""Two blocks on one another: all nine modes in one run, against a time-stepping method that
knows no modes.
"""

import itertools

import numpy as np
import pytest

import dalembert as da

G = 9.81
M, MU = (2.0, 1.0), (0.2, 0.3)


def loads(t):
    return 9.0 * np.sin(1.7 * t) + 4.0 * np.sin(5.1 * t), 6.0 * np.sin(2.9 * t + 0.4)


def blocks():
    s = da.System("two blocks", gravity=G)
    x, X, y, Y = s.coordinates("x X y Y")
    F = s.N.rotated(0, s.N.z)
    P, Q = s.O.offset(x * s.N.x + y * s.N.y, "P"), s.O.offset(X * s.N.x + Y * s.N.y, "Q")
    lower = s.box("lower", P, F, M[0], 1, 0.2, 1)
    upper = s.box("upper", Q, F, M[1], 1, 0.2, 1)
    s.contact(P, friction=MU[0], on=lower, name="ground")
    s.contact(Q, through=P, friction=MU[1], on=upper, against=lower, name="between")
    t = s.t
    s.force((9 * da.sin(1.7 * t) + 4 * da.sin(5.1 * t)) * s.N.x, at=P, on=lower)
    s.force(6 * da.sin(2.9 * t + 0.4) * s.N.x, at=Q, on=upper)
    return s


def test_all_nine_modes_in_one_run():
    run = da.simulate(blocks(), 12, rtol=1e-11, atol=1e-11)
    three = ("sticks", "slips +", "slips −")
    assert set(itertools.product(three, three)) == set(
        zip(run.modes["ground"], run.modes["between"], strict=True)
    )
    # what holds in every state: the cone, the direction of friction, and weight
    N, T, n, tau = (run[f"{f}_{name}"] for name in ("ground", "between") for f in ("N", "T"))
    np.testing.assert_allclose(N, 3 * G, atol=1e-11)
    np.testing.assert_allclose(n, G, atol=1e-11)
    assert (np.abs(T) <= MU[0] * N * (1 + 1e-9)).all()
    assert (np.abs(tau) <= MU[1] * n * (1 + 1e-9)).all()
    assert (T * run["x.dot"] <= 1e-11).all()
    assert (tau * run["X.dot - x.dot"] <= 1e-11).all()
    assert run.integrals.relative_drift < 1e-9


def stepped(steps, duration):
    """v⁺ = v + M⁻¹(h F + Jᵀλ), |λ| ≤ h μ N, λ against v⁺: the impulses minimize ½ λᵀAλ + bᵀλ in
    their bounds.

    Source: J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988).
    """
    from scipy.optimize import lsq_linear

    inverse = np.diag([1 / M[0], 1 / M[1]])
    J = np.array([[1.0, 0.0], [-1.0, 1.0]])
    A = J @ inverse @ J.T
    L = np.linalg.cholesky(A)
    h = duration / steps
    bound = h * np.array([MU[0] * sum(M) * G, MU[1] * M[1] * G])
    x, v = np.zeros(2), np.zeros(2)
    for k in range(steps):
        free = v + h * inverse @ np.array(loads((k + 0.5) * h))
        lam = lsq_linear(
            L.T, -np.linalg.solve(L, J @ free), bounds=(-bound, bound), method="bvls"
        ).x
        v = free + inverse @ J.T @ lam
        x = x + h * v
    return np.concatenate([x, v])


@pytest.mark.slow
def test_time_stepping_without_modes_converges_to_it():
    duration = 4.0
    run = da.simulate(blocks(), duration, rtol=1e-11, atol=1e-11)
    exact = np.array([run[name][-1] for name in ("x", "X", "x.dot", "X.dot")])
    errors = [np.abs(stepped(n, duration) - exact).max() for n in (500, 1000, 2000, 4000)]
    # first order: half the step, half the error
    assert errors[-1] < 2e-3
    assert all(b < 0.62 * a for a, b in itertools.pairwise(errors))
