"""A row inserted into T before it is differentiated: the wrong equations, and what is missing."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.agreement import premature_constraints as module
from dalembert.mechanics.agreement.premature_constraints import premature_constraints
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.printing import text


def test_the_vehicle():
    # Bar00 (56)–(58): the reduced T̄ loses m L u₂² and m L u₁ u₂ of (50)
    found = premature_constraints(gallery.build("vehicle"))
    assert "1/2 m u₁² + 1/2 (m L² + I_G) u₂²" == text(found.kinetic_energy)
    assert ("m u̇₁ = F_C + F_D", "(m L² + I_G) u̇₂ = h (F_D − F_C)") == found.wrong
    assert "m u̇₁ − m L u₂² = F_C + F_D" == found.right[0]
    assert ["−m L u₂²", "m L u₁ u₂"] == [text(e) for e in found.missing]
    assert ["m L u₂"] == [text(P) for P in found.momenta]
    assert "why: the speed of 'no side slip at A' is zero, its momentum is not" in str(found)


@pytest.mark.slow
def test_rows_that_integrate_may_be_inserted():
    found = premature_constraints(gallery.build("dumbbell"))
    assert found.harmless
    assert "Nothing is missing" in str(found)


def test_the_right_equations_are_those_of_kane():
    s = gallery.build("rolling-disk")
    found, d = premature_constraints(s), da.kane(s)
    assert not found.harmless
    assert found.right == tuple(str(d.equations).splitlines())


def test_without_rows_there_is_nothing_to_insert():
    with pytest.raises(da.errors.NotApplicable, match="no constraint rows"):
        premature_constraints(gallery.build("cart-and-bar"))


def test_a_difference_that_is_not_explained_is_refused(monkeypatch):
    right = module._hamel_terms

    def wrong(d):
        first, *rest = right(d)
        last = rest.pop()
        return (first, *rest, d.tape.neg(last))

    s = gallery.build("vehicle")
    monkeypatch.setattr(module, "_hamel_terms", wrong)
    with pytest.raises(da.errors.NotApplicable, match="could not be shown"):
        premature_constraints(s)


def test_missing_terms_vanish_nowhere_by_accident():
    found = premature_constraints(gallery.build("chaplygin-sleigh"))
    assert [False, False] == list(
        provably_zero(found.missing[0].tape, [e.i for e in found.missing])
    )
