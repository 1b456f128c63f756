"""The chance of a lost rank is bounded, and counted where it can be."""

from __future__ import annotations

import itertools
import math
import random

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.symbolic.algebra.exact.degree_bound import rank_doubt, rank_error_bound
from dalembert.symbolic.algebra.exact.linear_algebra import determinant_mod
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint, rank_mod
from dalembert.symbolic.algebra.functions import sin
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape


def test_a_lost_rank_is_as_rare_as_stated():
    tape = Tape()
    a, b, c, d = (Scalar(tape, tape.symbol(x)) for x in "abcd")
    rows = [[a.i, b.i], [c.i, (d * a).i]]
    p = 71
    lost = sum(
        rank_mod([point.values(r) for r in rows], p).rank < 2
        for seed in range(3000)
        if (point := SamplePoint(tape, seed, prime=p))
    )
    # the determinant has the degree 3, the bound does not know what cancels
    assert 0 < lost / 3000 < 1.2 * 3 / (p // 24)
    assert rank_error_bound(tape, rows, 1) < 1e-30
    assert rank_error_bound(tape, [], 1) == 0


def test_a_void_rank_is_undecided():
    tape = Tape()
    x = Scalar(tape, tape.symbol("x"))
    tiny = sin(x / 10**60) + sin(x)
    assert "undecided" in rank_doubt(tape, [[tiny.i]], 1)


@pytest.mark.parametrize("name", ["rolling-disk", "snakeboard", "bricard"])
def test_ranks_of_the_gallery_are_shown(name):
    assert not any("undecided" in note for note in da.constraints(gallery.build(name)).notes)


def test_determinant_mod_is_that_of_leibniz():
    """det A = Σ sign(π) Π a_iπ(i), for random matrices modulo a prime; 0 for equal rows."""
    rng, p = random.Random(5), 1_000_003
    for n in (1, 2, 3, 4):
        A = [[rng.randrange(p) for _ in range(n)] for _ in range(n)]
        total = 0
        for order in itertools.permutations(range(n)):
            inversions = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
            total += (-1) ** inversions * math.prod(row[k] for row, k in zip(A, order, strict=True))
        assert determinant_mod(A, p) == total % p
    assert determinant_mod([[1, 2], [1, 2]], p) == 0
