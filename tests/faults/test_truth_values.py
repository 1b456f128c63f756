"""bool() of a result is its verdict, or an error that says what to ask."""

from __future__ import annotations

import dataclasses

import pytest

import dalembert as da
from dalembert import gallery


def test_an_agreement_that_fails_is_false():
    found = da.agreement(gallery.build("simple-pendulum"))
    assert found
    failed = dataclasses.replace(
        found, rows=tuple(dataclasses.replace(r, agrees=False) for r in found.rows)
    )
    assert not failed.agree
    assert not bool(failed)


def test_an_undecided_agreement_has_no_truth_value():
    found = da.agreement(gallery.build("simple-pendulum"))
    undecided = dataclasses.replace(
        found,
        rows=tuple(dataclasses.replace(r, agrees=None, verdict="undecided") for r in found.rows),
    )
    assert undecided.holds is None
    with pytest.raises(da.Undecided, match=r"\.holds"):
        bool(undecided)


def test_a_direction_that_is_no_symmetry_is_false():
    s = gallery.build("rolling-disk")
    assert not da.symmetry(s, {"theta": 1})


def test_a_symmetry_is_true():
    assert da.symmetry(gallery.build("double-pendulum"), {"alpha": 1}, values={"g": 0})


def ambiguous():
    """Results that answer more than one question."""
    s = gallery.build("rolling-disk")
    yield "energy integrals", lambda: da.energy_integrals(s)
    yield "constraints", lambda: da.constraints(s)
    yield "comparison", lambda: da.comparison(s)
    yield "conservative", lambda: da.conservative(_with_force())[0]


def _with_force():
    s = da.System("Force")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(-x.dot * s.N.x, at=P)
    return s


@pytest.mark.parametrize("name", ["energy integrals", "constraints", "comparison"])
def test_a_result_with_several_answers_says_what_to_ask(name):
    result = dict(ambiguous())[name]()
    with pytest.raises(TypeError, match=r"\."):
        bool(result)


def test_a_load_that_is_not_conservative_is_false():
    assert not dict(ambiguous())["conservative"]()


def test_a_crosscheck_that_differs_is_false():
    from dalembert.exchange.robots.crosscheck import CrossCheck, EngineComparison

    differs = CrossCheck("arm", (EngineComparison("MuJoCo", 3, 1.0, 1.0, 1.0, "elbow", 1.0),))
    assert not differs.agrees
    assert not bool(differs)


def test_mass_matrix_and_forcing_are_expressions():
    eq = da.kane(gallery.build("simple-pendulum")).equations
    assert all(isinstance(x, da.Scalar) for row in eq.M for x in row)
    assert all(isinstance(x, da.Scalar) for x in eq.f)
    assert str(eq.mass_matrix()[0][0]) == str(eq.M[0][0])
