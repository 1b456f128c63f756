"""The chance of a lost rank is bounded, and counted where it can be."""

from __future__ import annotations

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.symbolic.algebra.exact.degree_bound import rank_doubt, rank_error_bound
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
