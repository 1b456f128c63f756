import itertools

import pytest

from dalembert.symbolic.algebra.elimination import (
    Elimination,
    Factorization,
    factor_symmetric,
    fewest_entries_first,
    nonvanishing_order,
    solve_regularized,
    solve_rows,
)
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix, sum_of_products
from dalembert.symbolic.algebra.tape import Tape


def tridiagonal(t, n):
    """A symmetric matrix of symbols with a corner entry, by full rows."""
    pairs = [(k, k) for k in range(n)] + [(k, k + 1) for k in range(n - 1)] + [(0, n - 1)]
    rows = [{} for _ in range(n)]
    for i, j in pairs:
        rows[i][j] = rows[j][i] = t.symbol(f"a{i}{j}")
    return rows


def residual(t, rows, x, b):
    return [
        t.sub(sum_of_products(t, ((a, x[k]) for k, a in row.items())), r)
        for row, r in zip(rows, b, strict=True)
    ]


ORDERS = ((0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3))


@pytest.mark.parametrize("substitution", ["first", "last", "sum"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("order", [*ORDERS, None])
def test_every_order_solves_exactly(substitution, symmetric, order):
    """A x − b ≡ 0 in symbols, whatever the order of pivots and sums."""
    t = Tape()
    rows, b = tridiagonal(t, 5), [t.symbol(f"b{k}") for k in range(5)]
    factor = Factorization(
        t,
        rows,
        symmetric=symmetric,
        order=fewest_entries_first if order is None else lambda _: order,
        substitution=substitution,
    )
    assert all(provably_zero(t, residual(t, rows, factor.solve(b), b)))
    if order is not None:
        assert tuple(factor.pivots) == order


def test_an_unsymmetric_matrix():
    t = Tape()
    rows = [{k: t.symbol(f"a{i}{k}") for k in range(3)} for i in range(3)]
    b = [t.symbol(f"b{k}") for k in range(3)]
    x = Factorization(t, rows).solve(b)
    assert all(provably_zero(t, residual(t, rows, x, b)))
    # taken for symmetric it is another matrix: the check sees it
    wrong = Factorization(t, rows, symmetric=True).solve(b)
    assert not all(provably_zero(t, residual(t, rows, wrong, b)))


def test_both_algorithms_agree():
    """Gauss–Jordan and substitution give the same x, exactly."""
    t = Tape()
    rows, b = tridiagonal(t, 4), [t.symbol(f"b{k}") for k in range(4)]
    jordan = solve_rows(t, ((t.neg(r), row) for row, r in zip(rows, b, strict=True)))
    dense = [[row.get(k, t.zero) for k in range(4)] for row in rows]
    for x in (Factorization(t, rows).solve(b), factor_symmetric(t, dense).solve(b)):
        assert all(provably_zero(t, [t.sub(jordan[k], x[k]) for k in range(4)]))


def test_pivots_of_the_factors_have_the_determinant():
    """Π d_k = det A by Leibniz, in every order."""
    t = Tape()
    rows = tridiagonal(t, 3)
    det = t.zero
    for p in itertools.permutations(range(3)):
        sign = (-1) ** sum(p[i] > p[j] for i in range(3) for j in range(i + 1, 3))
        term = t.const(sign)
        for i, k in enumerate(p):
            term = t.mul(term, rows[i].get(k, t.zero))
        det = t.add(det, term)
    for order in ((0, 1, 2), (2, 1, 0)):
        product = t.one
        for d in Factorization(t, rows, symmetric=True, order=lambda _, o=order: o).pivots.values():
            product = t.mul(product, d)
        assert provably_zero(t, [t.sub(product, det)])[0]


def test_the_fewest_entries_come_first():
    """Of a star the leaves: nothing fills in."""
    t = Tape()
    rows = [{k: t.symbol(f"a{k}") for k in range(4)}]
    rows += [{0: rows[0][k], k: t.symbol(f"d{k}")} for k in range(1, 4)]
    factor = Factorization(t, rows, symmetric=True, order=fewest_entries_first)
    assert sum(map(len, factor.lower.values())) == 3
    assert (
        sum(map(len, factor_symmetric(t, [list(r.values()) for r in full(t, rows)]).lower.values()))
        == 6
    )


def full(t, rows):
    return [{k: row.get(k, t.zero) for k in range(len(rows))} for row in rows]


def test_a_vanishing_pivot_leaves_its_unknown_zero():
    """A = B Bᵀ of rank 1: x with A x = A y, and its second component zero."""
    t = Tape()
    p, q, y = t.symbol("p"), t.symbol("q"), t.symbol("y")
    B = SparseMatrix(t, ({0: p}, {0: q}), 1)
    A = B @ B.T
    b = (A @ Column(t, (t.zero, y))).nodes
    x = Factorization(t, A.rows, order=nonvanishing_order(t)).solve(b)
    assert x[1] == t.zero
    assert all(provably_zero(t, residual(t, A.rows, x, b)))


def test_regularization_of_dependent_rows_finds_the_shortest_solution():
    """K = [1 1; 1 1], r = (2, 2), S = ε I: x → (1, 1), the shortest, with an error of order ε³."""
    t = Tape()
    K = [[t.one, t.one], [t.one, t.one]]
    epsilon = t.symbol("epsilon")
    x, pivots = solve_regularized(t, K, [t.const(2), t.const(2)], [epsilon, epsilon])
    assert provably_zero(t, [t.sub(x[0], x[1])])[0]
    # three steps of iterative refinement: 1 − (ε/(2 + ε))³
    ratio = t.div(epsilon, t.add(t.const(2), epsilon))
    error = t.mul(ratio, t.mul(ratio, ratio))
    assert provably_zero(t, [t.sub(x[0], t.sub(t.one, error))])[0]
    assert provably_zero(t, [t.sub(pivots[0], t.add(t.one, epsilon))])[0]


def test_gauss_jordan_names_dependent_rows_and_keeps_free_unknowns():
    """x + y + c = 0 and twice the same."""
    t = Tape()
    c, two = t.symbol("c"), t.const(2)
    rows = [(c, {0: t.one, 1: t.one}), (t.mul(two, c), {0: two, 1: two})]
    solved, dependent = Elimination(t, rows, lambda k: k, set()).run()
    assert solved == {0: (c, {1: t.one})}
    assert dependent == [1]
