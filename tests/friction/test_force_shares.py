"""Undetermined forces: whether some share of them is admissible, against linear programming."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import dalembert as da
from dalembert.runtime.contact.force_shares import Inequalities, best_share, solution_family
from dalembert.runtime.contact.lemke import lemke
from dalembert.runtime.contact.mode_enumeration import ContactCandidate, ModeSearch, select_mode
from dalembert.runtime.contact.next_mode import NextModeSolver


@pytest.mark.parametrize("seed", range(30))
def test_the_largest_margin_is_that_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    m, z, lines = 6, int(rng.integers(1, 4)), int(rng.integers(3, 9))
    lam, Z = rng.normal(size=m), rng.normal(size=(m, z))
    C, d = rng.normal(size=(lines, m)), rng.normal(size=lines)
    share = best_share(lam, Z, Inequalities(C, d, tuple(range(lines)), (0,) * lines))
    cap = 8.0 * max(np.abs(lam).max(), np.abs(d).max())
    best = linprog(
        np.append(np.zeros(z), -1.0),
        A_ub=np.hstack([-C @ Z, np.ones((lines, 1))]),
        b_ub=C @ lam + d,
        bounds=[(None, None)] * z + [(None, cap)],
    )
    assert -best.fun == pytest.approx(min(share.margin, cap), rel=1e-9, abs=1e-9)
    # the gain and the offset give the same share again
    assert share.lam == pytest.approx(lam + share.gain @ lam + share.offset, rel=1e-9, abs=1e-9)


def test_equations_that_contradict_have_no_family():
    K = np.ones((2, 2))
    assert solution_family(K, np.array([1.0, 2.0]), np.ones(2)) is None
    lam, Z = solution_family(K, np.array([2.0, 2.0]), np.ones(2))
    assert np.array([1.0, 1.0]) == pytest.approx(lam)
    assert np.zeros(2) == pytest.approx(K @ Z[:, 0], abs=1e-15)


@pytest.mark.parametrize("seed", range(30))
def test_lemke_solves_positive_definite_problems(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    G = rng.normal(size=(n, n))
    M, q = G @ G.T + 0.1 * np.eye(n), rng.normal(size=n)
    z = lemke(M, q)
    w = M @ z + q
    assert min(z.min(), w.min()) > -1e-10
    assert 0.0 == pytest.approx(float(z @ w), abs=1e-9)


def chain_problem(rng, contacts):
    """A and b of contacts of random bodies, twice as many speeds as rows."""
    m = 2 * contacts
    J = rng.normal(size=(m, 2 * m))
    A, b = J @ J.T / (2 * m), rng.normal(size=m) - 1.0
    return A, b, [ContactCandidate(i, contacts + i, 0.3, 0.3) for i in range(contacts)]


@pytest.mark.parametrize("seed", range(12))
def test_pivoting_and_all_modes_give_the_same_motion(seed, monkeypatch):
    A, b, contacts = chain_problem(np.random.default_rng(seed), 4)
    every = select_mode(ModeSearch(len(b)).feasible_modes(A, b, contacts), 1.0)
    assert not every.alternatives
    monkeypatch.setattr("dalembert.runtime.contact.next_mode._ENUMERATED", 1)
    pivoted = NextModeSolver().solve(A, b, contacts)
    assert every.chosen.modes == pivoted.chosen.modes
    assert every.chosen.w == pytest.approx(pivoted.chosen.w, abs=1e-10)


def test_a_gripped_capsule_does_not_creep():
    """45 g between two pads with μ = 0.7, pressed by 12 N."""
    s = da.System("Grip", gravity=9.81)
    x, y, left, right = s.coordinates("x y left right")
    C = s.O.offset(x * s.N.x + y * s.N.y, "C")
    s.particle("capsule", 0.045, C)
    for name, q, side in (("left", left, -1), ("right", right, 1)):
        P = s.O.offset(q * s.N.x, name)
        pad = s.particle(f"{name} pad", 0.2, P)
        s.force(-side * 12 * s.N.x, at=P)
        s.contact(C, -side * s.N.x, through=P, against=pad, friction=0.7, along=s.N.y, name=name)
    # the whole may drift along x, where nothing holds it
    run = da.simulate(s, 100.0, start={"y": 1.0})
    assert {"sticks"} == {mode for modes in run.modes.values() for mode in modes}
    assert abs(run["y"] - 1.0).max() < 1e-12
    assert max(abs(run["x"] - run[pad]).max() for pad in ("left", "right")) < 1e-12
