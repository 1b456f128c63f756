"""Undetermined forces, and modes of many contacts, against the laws of contact."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.runtime.contact.mode_enumeration import ContactCandidate, ModeSearch, select_mode
from dalembert.runtime.contact.native_solver import solve_natively


def chain_problem(rng, contacts):
    """A and b of contacts of random bodies, twice as many speeds as rows."""
    m = 2 * contacts
    J = rng.normal(size=(m, 2 * m))
    A, b = J @ J.T / (2 * m), rng.normal(size=m) - 1.0
    return A, b, [ContactCandidate(i, contacts + i, 0.3, 0.3) for i in range(contacts)]


@pytest.mark.parametrize("seed", range(12))
def test_native_code_and_all_modes_give_the_same_motion(seed):
    A, b, contacts = chain_problem(np.random.default_rng(seed), 4)
    every = select_mode(ModeSearch(len(b)).feasible_modes(A, b, contacts), 1.0)
    assert not every.alternatives
    native = solve_natively(A, b, contacts)
    assert every.chosen.modes == native.chosen.modes
    assert every.chosen.w == pytest.approx(native.chosen.w, abs=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_pivoting_and_all_modes_give_the_same_motion(seed):
    """Six contacts have too many modes for native code to try them all."""
    A, b, contacts = chain_problem(np.random.default_rng(seed), 6)
    every = select_mode(ModeSearch(len(b)).feasible_modes(A, b, contacts), 1.0)
    assert not every.alternatives
    pivoted = solve_natively(A, b, contacts)
    assert every.chosen.modes == pivoted.chosen.modes
    assert every.chosen.w == pytest.approx(pivoted.chosen.w, abs=1e-10)


def random_contacts(rng):
    """Contacts with and without friction, friction with a given normal force, some in slip; every
    second time their rows depend on one another, and every second time forces at rest exist.
    """
    contacts, m = [], 0
    for kind in rng.random(int(rng.integers(4, 9))):
        mu = float(rng.uniform(0.0, 1.0))
        static = mu * float(rng.choice([1.0, 1.4]))
        if kind < 0.15:
            contacts.append(ContactCandidate(m, None))
        elif kind < 0.3:
            contacts.append(ContactCandidate(None, m, mu, static, given=float(rng.uniform(0, 3))))
        else:
            contacts.append(ContactCandidate(m, m + 1, mu, static))
        m = 1 + max(contacts[-1].own_rows)
    dependent, rests = rng.random(2) < 0.5
    J = rng.normal(size=(m, m // 2 if dependent else m + 3))
    b, lam = J @ rng.normal(size=J.shape[1]), np.zeros(m)
    for i, c in enumerate(contacts):
        N = c.given
        if c.n is not None:
            N = lam[c.n] = rng.uniform(0.5, 2)
        if c.t is not None:
            lam[c.t] = 0.5 * c.mu * N * rng.uniform(-1, 1)
            if not rests and rng.random() < 0.3:
                contacts[i] = c._replace(slip=int(rng.choice([-1, 1])))
    A = J @ J.T
    return A, -A @ lam if rests else b, contacts, bool(rests)


def law_residual(A, contacts, found):
    """How far forces are from the laws of contact in the modes found, relative to the largest."""
    lam, w, off = found.lam, found.w, []
    for c, mode in zip(contacts, found.modes, strict=True):
        N = c.given + (lam[c.n] if c.n is not None else 0.0)
        if c.n is not None:
            off.append(lam[c.n] - max(0.0, lam[c.n] - w[c.n] / A[c.n, c.n]))
        if c.t is not None and mode.sticks:
            off += [max(0.0, abs(lam[c.t]) - c.mu_static * N), w[c.t] / A[c.t, c.t]]
        elif c.t is not None and mode.closed:
            off.append(lam[c.t] + mode.direction * c.mu * N)
            # a slip that begins is in the direction of its acceleration
            off += [] if c.slip else [min(0.0, mode.direction * w[c.t] / A[c.t, c.t])]
    return max(map(abs, off)) / max(1e-300, np.abs(lam).max())


def test_pivoting_satisfies_the_laws_of_contact_and_finds_every_rest():
    rng = np.random.default_rng(5)
    found, resting = 0, 0
    for _ in range(200):
        A, b, contacts, rests = random_contacts(rng)
        solved = solve_natively(A, b, contacts).chosen
        if solved is None:
            assert not rests
            continue
        found += 1
        assert law_residual(A, contacts, solved) < 1e-9
        assert solved.w == pytest.approx(A @ solved.lam + b, abs=1e-12 * np.abs(b).max())
        if rests:
            resting += 1
            assert all(m.sticks or c.t is None for c, m in zip(contacts, solved.modes, strict=True))
    assert found > 190
    assert resting > 80


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
