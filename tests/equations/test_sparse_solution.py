import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import n_four_bar
from dalembert.mechanics.equations.sparse_saddle_point import factor_saddle_point
from dalembert.mechanics.kinematics.system_kinematics import kinematics, unreduced_kinematics
from dalembert.runtime.dynamics.compile import saddle_equations
from dalembert.runtime.ode.constrained.constrained_rates import Workspace
from dalembert.runtime.simulation.model import native_model
from dalembert.runtime.states.run_values import parameter_vector, run_values
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.tape import Tape


def banded(n, m, seed):
    """A positive M and rows A that touch their neighbours only, in a shuffled order."""
    rng = np.random.default_rng(seed)
    B = np.triu(np.tril(rng.normal(size=(n, n)), 1), -1)
    A = np.zeros((m, n))
    for j in range(m):
        first = j * (n - 3) // m
        A[j, first : first + 4] = rng.normal(size=4)
    new = rng.permutation(n)
    return (
        (B @ B.T + 3 * np.eye(n))[np.ix_(new, new)],
        rng.normal(size=n),
        A[:, new],
        rng.normal(size=m),
    )


def solved(M, f, A, gamma):
    t = Tape()
    known = {}

    def symbol(x):
        i = t.symbol(f"x{len(known)}")
        known[i] = float(x)
        return i

    def rows(a):
        return [{k: symbol(x) for k, x in enumerate(row) if x} for row in a]

    upper = [{k: symbol(x) for k, x in enumerate(row) if x and k >= i} for i, row in enumerate(M)]
    full = [
        {k: upper[min(i, k)][max(i, k)] for k in range(len(M)) if M[i, k]} for i in range(len(M))
    ]
    saddle = factor_saddle_point(t, full, rows(A))
    if saddle is None:
        return None
    right = [symbol(x) for x in gamma]
    zdot, multipliers = saddle.solution([symbol(x) for x in f], right)
    groups = (
        zdot,
        multipliers,
        saddle.inverse_pivots,
        (saddle.mass_cancellation,),
        saddle.row_norms_squared,
        saddle.projection_step(right),
    )
    return [np.array(evaluate(t, group, known.__getitem__, FloatArithmetic())) for group in groups]


@pytest.mark.parametrize("seed", range(4))
def test_random_systems_against_a_full_solver(seed):
    M, f, A, gamma = banded(30, 12, seed)
    zdot, lam, over, lost, lengths, shortest = solved(M, f, A, gamma)
    K = np.block([[M, -A.T], [A, np.zeros((12, 12))]])
    expected = np.linalg.solve(K, np.concatenate([f, -gamma]))
    assert np.allclose(expected, np.concatenate([zdot, lam]), rtol=1e-10, atol=1e-10)
    S = A @ np.linalg.solve(M, A.T)
    assert np.isclose(1 / np.linalg.det(S), np.prod(over))
    assert np.allclose(np.diag(S), lengths)
    assert np.allclose(
        -np.linalg.solve(M, A.T @ np.linalg.solve(S, gamma)), shortest, rtol=1e-10, atol=1e-10
    )
    assert 30 <= lost[0] < np.inf


def test_rows_that_nearly_depend_on_each_other_are_a_risk():
    M, f, A, gamma = banded(30, 12, 0)
    A[5] = A[4] + 1e-4 * A[5]
    lengths = np.diag(A @ np.linalg.solve(M, A.T))
    assert (lengths * solved(M, f, A, gamma)[2]).max() > 1e6


def test_large_full_matrices_are_left_to_loops_and_small_ones_are_not():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(24, 24))
    assert (
        solved(B @ B.T, rng.normal(size=24), rng.normal(size=(8, 24)), rng.normal(size=8)) is None
    )
    assert solved(*banded(8, 0, 0)) is None
    B = rng.normal(size=(6, 6))
    M, f, A, gamma = B @ B.T, rng.normal(size=6), rng.normal(size=(3, 6)), rng.normal(size=3)
    zdot, lam = solved(M, f, A, gamma)[:2]
    assert np.allclose(A @ zdot, -gamma)
    assert np.allclose(M @ zdot, f + A.T @ lam)


def windows(count):
    kin, equations = saddle_equations(
        unreduced_kinematics(kinematics(n_four_bar.build(windows=count)))
    )
    chosen = run_values(kin, {}, {})
    model = native_model(chosen, equations)
    return model.rates, np.array(parameter_vector(chosen, model.parameters), dtype=float)


def spaces(rates, p, x):
    """A memory that solves in a straight line, and one that never does."""
    straight, full = Workspace(rates, p), Workspace(rates, p)
    full._fields.straight_count = 0
    for space in (straight, full):
        space.select_rows(x)
    return straight, full


def test_windows_have_the_accelerations_and_multipliers_of_the_orthogonal_solver():
    rates, p = windows(10)
    rng = np.random.default_rng(1)
    for angle in (0.3, 0.9, 2.0):
        x = np.concatenate(
            [np.full(11, angle), np.zeros(10), np.full(11, 1.0), np.zeros(10), [0.0]]
        )
        x[:42] += 1e-3 * rng.normal(size=42)
        straight, full = spaces(rates, p, x)
        a, b = straight.evaluate(x), full.evaluate(x)
        assert 0 == straight.sparse_fallbacks
        assert np.abs(a - b).max() <= 1e-12 * np.abs(b).max()
        assert (
            np.abs(straight.multipliers - full.multipliers).max()
            <= 1e-11 * np.abs(full.multipliers).max()
        )


def test_where_the_bars_lie_in_one_line_the_orthogonal_solver_takes_over():
    rates, p = windows(10)
    before = np.concatenate([np.full(11, 1.0), np.zeros(10), np.full(11, 1.0), np.zeros(10), [0.0]])
    x = np.concatenate(
        [np.full(11, np.pi / 2), np.zeros(10), np.full(11, 1.0), np.zeros(10), [0.0]]
    )
    straight, full = spaces(rates, p, before)
    assert straight.evaluate(x).tolist() == full.evaluate(x).tolist()
    assert 1 == straight.sparse_fallbacks


def test_windows_fall_through_singular_positions_on_the_branch_of_parallelograms():
    start = dict.fromkeys(
        [*(f"phi_{k}" for k in range(9)), *(f"psi_{k}" for k in range(1, 9))], 0.0
    ) | {"phi_0'": 1.0}
    run = da.simulate(n_four_bar.build(windows=8), 1.0, start=start, rtol=1e-10, atol=1e-10)
    q = run.q[-1]
    assert np.abs(q[:9] - q[0]).max() <= 1e-8
    assert np.abs(q[9:]).max() <= 1e-8
    assert abs(q[0]) > np.pi / 2


def test_states_are_brought_onto_the_rows_as_by_the_orthogonal_solver():
    rates, p = windows(10)
    rng = np.random.default_rng(2)
    for angle in (0.3, 0.9, 2.0):
        x = np.concatenate(
            [np.full(11, angle), np.zeros(10), np.full(11, 1.0), np.zeros(10), [0.0]]
        )
        beside = x[:-1] + 1e-6 * rng.normal(size=42)
        straight, full = (Workspace(rates, p, projecting=True) for _ in range(2))
        full._fields.straight_count = full._fields.back_count = 0
        found = []
        for space in (straight, full):
            space.select_rows(x)
            found.append(space.project_state(0.1, beside))
        assert np.abs(found[0] - found[1]).max() <= 1e-13
        rows = rates.rows(np.array([[*found[0], 0.1]]), p)
        assert np.abs(rows["phi"]).max() <= 1e-15
        assert np.abs(rows["e"]).max() <= 1e-14
        assert 1e-7 <= np.abs(found[0] - beside).max()


def test_after_ends_of_steps_in_a_straight_line_the_orthogonal_solver_has_what_it_would_have_seen():
    rates, p = windows(10)
    ends = [
        np.concatenate([np.full(11, a), np.zeros(10), np.full(11, 1.0), np.zeros(10)])
        for a in (0.9, 1.0, 1.1, 1.2)
    ]
    singular = np.concatenate(
        [np.full(11, np.pi / 2), np.zeros(10), np.full(11, 1.0), np.zeros(10), [0.5]]
    )
    found = []
    for loops in (False, True):
        space = Workspace(rates, p, projecting=True)
        if loops:
            space._fields.straight_count = space._fields.back_count = 0
        space.select_rows(np.append(ends[0], 0.0))
        for k, y in enumerate(ends[1:], 1):
            assert space.project_state(0.1 * k, y) is not None
        found.append((space.evaluate(singular), space._fields.turning, space._fields.unseen))
    assert np.abs(found[0][0] - found[1][0]).max() <= 1e-12
    assert np.isclose(found[1][1], found[0][1], rtol=1e-9)
    assert found[1][1] > 0
    assert 0 == found[0][2]
