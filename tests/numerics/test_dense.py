import ctypes
import pickle

import numpy
import pytest

from dalembert.errors import DalembertError
from dalembert.numerics import dense

SIZES = range(1, 81)


def positive(n, seed=0):
    G = numpy.random.default_rng(seed + n).normal(size=(n, n))
    return G @ G.T + 0.1 * n * numpy.eye(n)


def any_matrix(n, seed=0):
    return numpy.random.default_rng(seed + n).normal(size=(n, n))


SOLVERS = [(dense.solve_ldlt, positive), (dense.solve_lu, any_matrix)]


def backward_error(A, x, b):
    return numpy.abs(A @ x - b).max() / (numpy.abs(A).sum(axis=1).max() * numpy.abs(x).max())


@pytest.mark.parametrize(("solve", "matrix"), SOLVERS)
def test_against_the_definition(solve, matrix):
    for n in SIZES:
        A, rng = matrix(n), numpy.random.default_rng(n)
        for b in (rng.normal(size=n), rng.normal(size=(n, 3)), numpy.ones((n, 1))):
            x = solve(A, b)
            assert x.shape == b.shape
            assert backward_error(A, x, b) < 1e-15 * max(4, n)


@pytest.mark.parametrize(("solve", "matrix"), SOLVERS)
def test_against_numpy(solve, matrix):
    for n in SIZES:
        A, b = matrix(n), numpy.ones(n)
        expected = numpy.linalg.solve(A, b)
        assert numpy.abs(expected - solve(A, b)).max() <= 1e-15 * n * numpy.linalg.cond(A) * numpy.abs(expected).max()


@pytest.mark.parametrize("n", [1, 2, 5, 30, 64, 65, 80])
def test_the_undetermined_unknown_is_named(n):
    G = any_matrix(n)
    G[:, n // 2] = 0 if n < 3 else G[:, 0] - 2 * G[:, n // 2 - 1]
    for solve, A in ((dense.solve_lu, G), (dense.solve_ldlt, G.T @ G)):
        with pytest.raises(dense.Singular, match=f"unknown {n // 2} is not determined") as caught:
            solve(A, numpy.ones(n))
        assert n // 2 == caught.value.index
        assert abs(caught.value.pivot) < 1e-12


@pytest.mark.parametrize("n", [1, 2, 5, 30, 64, 65, 80])
def test_indefinite_is_for_lu_only(n):
    A = positive(n)
    A[-1] *= -1
    A[:-1, -1] = A[-1, :-1] = 0
    with pytest.raises(dense.Singular) as caught:
        dense.solve_ldlt(A, numpy.ones(n))
    assert n - 1 == caught.value.index
    assert caught.value.pivot < 0
    assert backward_error(A, dense.solve_lu(A, numpy.ones(n)), numpy.ones(n)) < 1e-14


@pytest.mark.parametrize("n", [3, 70])
@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf])
def test_what_is_no_number_is_never_a_solution(n, bad):
    for solve, matrix in SOLVERS:
        A = matrix(n)
        A[0, n - 1] = A[n - 1, 0] = bad
        with pytest.raises(dense.Singular):
            solve(A, numpy.ones(n))


@pytest.mark.parametrize("n", [4, 70])
def test_units_do_not_matter(n):
    rng = numpy.random.default_rng(0)
    scale = 10.0 ** rng.uniform(-40, 40, n)
    A, b = any_matrix(n), rng.normal(size=n)
    expected = dense.solve_lu(A, b)
    assert numpy.allclose(expected, dense.solve_lu(scale[:, None] * A, scale * b), rtol=1e-9)
    S = positive(n)
    expected = dense.solve_ldlt(S, b)
    assert numpy.allclose(expected, scale * dense.solve_ldlt(scale[:, None] * S * scale, scale * b), rtol=1e-9)


def test_a_saddle_system_with_a_zero_block():
    J = any_matrix(6)[:2]
    A = numpy.block([[positive(6), J.T], [J, numpy.zeros((2, 2))]])
    b = numpy.arange(8.0)
    assert backward_error(A, dense.solve_lu(A, b), b) < 1e-15 * 8
    A[7] = A[6]
    A[:, 7] = A[:, 6]
    with pytest.raises(dense.Singular, match="unknown 7"):
        dense.solve_lu(A, b)


def test_arguments_are_left_alone():
    A, b = positive(5), numpy.ones(5)
    kept = A.copy()
    dense.solve_ldlt(A, b)
    dense.solve_lu(A, b)
    assert (kept == A).all()
    assert (1 == b).all()


def test_only_the_upper_triangle_is_read():
    for n in (5, 70):
        A, b = positive(n), numpy.ones(n)
        assert (dense.solve_ldlt(A, b) == dense.solve_ldlt(numpy.triu(A), b)).all()


def test_shapes_that_make_no_system():
    for A, b in ((numpy.ones((2, 3)), numpy.ones(2)), (numpy.eye(3), numpy.ones(2)), (numpy.eye(2), numpy.ones((2, 2, 2)))):
        with pytest.raises(DalembertError, match="make no system"):
            dense.solve_lu(A, b)


def test_nothing_to_solve():
    assert (0,) == dense.solve_lu(numpy.empty((0, 0)), numpy.empty(0)).shape
    assert (3, 0) == dense.solve_ldlt(numpy.eye(3), numpy.empty((3, 0))).shape


def test_native_code_calls_by_address():
    n = 7
    A, b, work, pivot = positive(n), numpy.ones((2, n)), numpy.empty(dense.work_size(n)), ctypes.c_double()
    expected = dense.solve_ldlt(A, b.T).T
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 2)
    solve = signature(dense.prepare(n).ldlt)
    assert -1 == solve(A.ctypes.data, b.ctypes.data, n, 2, work.ctypes.data, ctypes.addressof(pivot))
    assert (expected == b).all()


def test_large_systems_go_to_lapack_and_agree_with_ours(monkeypatch):
    n = dense.LARGEST_OWN + 20
    b = numpy.ones(n)
    theirs = [solve(matrix(n), b) for solve, matrix in SOLVERS]
    table = (ctypes.c_void_p * 4).from_address(dense.routines().library.address("lapack"))
    assert all(table)
    monkeypatch.setattr(dense, "prepare", lambda _: dense.routines())
    table[:] = [None] * 4
    ours = [solve(matrix(n), b) for solve, matrix in SOLVERS]
    dense.prepare(n)
    for a, c in zip(theirs, ours, strict=True):
        assert numpy.allclose(a, c, rtol=1e-10)
        assert (a != c).any()


def test_the_error_can_be_pickled():
    error = pickle.loads(pickle.dumps(dense.Singular(3, 1e-20)))
    assert (3, 1e-20) == (error.index, error.pivot)
    assert "unknown 3" in str(error)
