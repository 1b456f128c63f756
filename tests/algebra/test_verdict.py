"""Three answers, and nothing claimed that was not shown."""

import pytest

import dalembert as da
from dalembert.analysis.statics.virtual_work import stationary_potential, virtual_work
from dalembert.interface.report import result_blocks
from dalembert.symbolic.algebra.exact.verdict import Decision, Verdict
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero, decide_zero, provably_zero


def plane_system():
    """x and y, and an expression that vanishes though no rule of the fields shows it."""
    s = da.System()
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("mass", 2, P)
    hidden = abs(x**2 + x * y + y**2) - (x**2 + x * y + y**2)
    return s, P, hidden


def test_a_relation_that_the_fields_do_not_keep_is_neither_zero_nor_not():
    s, _, hidden = plane_system()
    x = s.q[0]
    found = decide_zero(s.space.tape, [hidden.i, (x - x).i, x.i])
    assert [None, True, False] == [v.holds for v in found.verdicts]
    assert found.verdicts[0].why
    assert [False, True, False] == provably_zero(s.space.tape, [hidden.i, (x - x).i, x.i])
    with pytest.raises(da.Undecided, match="whether it is nothing: undecided"):
        decide_all_zero(s.space.tape, [hidden.i], "whether it is nothing")


def test_no_branch_is_taken_on_what_is_undecided():
    with pytest.raises(da.Undecided, match="no time"):
        bool(Verdict(None, why="no time"))
    assert "undecided: no time" == str(Verdict(None, why="no time"))
    assert Verdict(holds=True)
    assert not Verdict(holds=False)


def test_a_bound_that_is_too_large_shows_nothing():
    assert Decision((True,), (1e-31,)).verdict.holds
    assert Decision((True,), (1e-20,)).verdict.holds is None


def test_printed_results_are_followed_denied_or_undecided():
    s, P, hidden = plane_system()
    s.force(3 * s.N.x, P)
    d = da.kane(s)
    x, y = s.q
    printed = [(2 * x.dot.dot - 3, 1), (2 * x.dot.dot - 3 + hidden, 1), (2 * y.dot.dot - 3, 2)]
    one = x - x + 1
    found = result_blocks.check_published(
        [result_blocks.PublishedResult("", e, ((k, one),)) for e, k in printed], d
    )
    assert [True, None, False] == [v.holds for v in found]


def test_routes_of_statics_that_cannot_be_compared_are_undecided():
    (s, _, hidden), (other, *_) = plane_system(), plane_system()
    s.potential(hidden * 5)
    verdict = virtual_work(s).agrees(virtual_work(other))
    assert verdict.holds is None
    assert verdict.why
    assert stationary_potential(s).agrees(virtual_work(s)).holds


@pytest.mark.parametrize(
    ("text", "vanishes"),
    [
        ("x*sin(y)", False),
        ("-3*x*cos(x)", False),
        ("x*(y - y)", True),
        ("sin(x)*cos(y) - cos(y)*sin(x)", True),
        ("x*(sin(x)**2 + cos(x)**2 - 1)", True),
    ],
)
def test_products_that_cannot_vanish_are_not_drawn_for(text, vanishes):
    s = da.System("plain")
    s.constants("x y")
    e = s.expression(text)
    assert decide_all_zero(e.tape, [e.tape.zero, e.i], "whether it vanishes") is vanishes
