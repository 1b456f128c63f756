"""Which term is wrong, where it comes from, and what speaks against it."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.verify.verify import verify

FIRST = "(M+m)x'' + m a theta'' cos(theta) - m a theta'^2 sin(theta) + k x = F"
SECOND = "4/3 m a^2 theta'' + m a x'' cos(theta) + m a g sin(theta) = 2 a F cos(theta)"
CART = gallery.build("cart-and-bar")


def only(result, row=0):
    (correction,) = result.rows[row].corrections
    return correction


@pytest.mark.parametrize(
    ("row", "old", "new", "sentence"),
    [
        (FIRST, "+ k x", "- k x", "−k x should be k x"),
        (
            FIRST,
            "- m a theta'^2 sin(theta)",
            "- m a theta'^2 cos(theta)",
            "−m a θ̇² cos θ should be −m a θ̇² sin θ",
        ),
        (FIRST, "- m a theta'^2 sin(theta)", "", "−m a θ̇² sin θ is missing on the left side"),
        (FIRST, "(M+m)x''", "M x''", "m ẍ is missing on the left side"),
        (FIRST, "(M+m)x''", "2(M+m)x''", "2 (M + m) ẍ should be (M + m) ẍ"),
        (FIRST, "+ k x", "+ k x + m g", "m g should not be there"),
        (SECOND, "4/3", "1/3", "1/3 m a² θ̈ should be 4/3 m a² θ̈"),
        (SECOND, "2 a F", "a F", "a F cos θ should be 2 a F cos θ"),
        (SECOND, "m a g", "M a g", "M a g sin θ should be m a g sin θ"),
        (SECOND, "m a g", "m g", "m g sin θ should be m a g sin θ"),
        (SECOND, "m a x''", "m a^2 x''", "m a² ẍ cos θ should be m a ẍ cos θ"),
    ],
)
def test_one_wrong_term(row, old, new, sentence):
    (change,) = only(verify(CART, row.replace(old, new)))
    assert sentence == change.sentence


def test_the_wrong_term_is_marked_in_the_row():
    result = verify(CART, SECOND.replace("2 a F", "a F"))
    assert ["a F cos(theta)"] == [text for text, wrong in result.rows[0].pieces() if wrong]


def test_two_wrong_terms_of_one_row():
    wrong = FIRST.replace("+ k x", "- k x").replace("m a theta'^2", "2 m a theta'^2")
    sentences = {change.sentence for change in only(verify(CART, wrong))}
    assert {"−k x should be k x", "−2 m a θ̇² sin θ should be −m a θ̇² sin θ"} == sentences


def test_either_sign_corrects_an_oscillator():
    s = da.System("Oscillator")
    (x,) = s.coordinates("x")
    m, k = s.constants("m k")
    s.particle("mass", m, s.O.offset(x * s.N.x))
    s.potential(k * x**2 / 2)
    result = verify(s, "m x'' - k x = 0")
    sentences = {option[0].sentence for option in result.rows[0].corrections}
    assert {"m ẍ should be −m ẍ", "−k x should be k x"} == sentences


def test_like_terms_are_kept_apart():
    (change,) = only(verify(CART, FIRST.replace("(M+m)x''", "M x'' + 2 m x''")))
    assert "2 m ẍ should be m ẍ" == change.sentence


@pytest.mark.parametrize(
    ("row", "old", "new", "words"),
    [
        (SECOND, "2 a F", "a F", "load F, along θ̇"),
        (FIRST, "+ k x", "- k x", "potential spring, along ẋ"),
        (SECOND, "m a g", "2 m a g", "weight of bar, along θ̇"),
        (FIRST, "- m a theta'^2 sin(theta)", "", "inertia force m a of bar, along ẋ"),
    ],
)
def test_terms_are_traced_to_bodies_and_loads(row, old, new, words):
    (change,) = only(verify(CART, row.replace(old, new)))
    assert words in change.origin


def test_the_step_of_the_derivation_shows_the_term():
    (change,) = only(verify(CART, SECOND.replace("2 a F", "a F")))
    assert "Generalized active forces" in change.step
    assert "⟦2 a F cos θ⟧" in change.step


@pytest.mark.parametrize(
    ("row", "old", "new", "kind"),
    [
        (FIRST, "= F", "= 0", "a load is forgotten"),
        (SECOND, "m a g", "2 m a g", "counted twice"),
        (SECOND, "4/3", "1/3", "moment of inertia"),
        (FIRST, "- m a theta'^2 sin(theta)", "", "product of velocities"),
    ],
)
def test_usual_causes_are_named(row, old, new, kind):
    (change,) = only(verify(CART, row.replace(old, new)))
    assert kind in change.kind


def test_contributions_add_up_to_the_equations():
    from dalembert.analysis.verify.attribution import attribution_of
    from dalembert.analysis.verify.truth import truth_of
    from dalembert.symbolic.algebra.exact.zero_test import decide_zero

    for name in ("cart-and-bar", "double-pendulum", "rolling-disk", "gyroscope", "vehicle"):
        truth = truth_of(gallery.build(name))
        t = truth.tape
        parts = attribution_of(truth).contributions
        for r, residual in enumerate(truth.along_u):
            total = t.zero
            for part in parts:
                total = t.add(total, part.rows[r])
            assert decide_zero(t, [t.sub(total, residual)]).all_zero, name


def test_a_missing_length_is_a_matter_of_dimension():
    (change,) = only(verify(CART, SECOND.replace("m a g", "m g")))
    assert "another dimension" in change.dimension


def test_energy_speaks_against_a_wrong_sign():
    s = gallery.build("simple-pendulum")
    result = verify(s, "m l^2 phi'' = m g l sin(phi)")
    assert any("T + V would change" in option[0].energy for option in result.rows[0].corrections)


def test_an_acceleration_that_vanishes_is_found():
    s = da.System("Free particle", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("ball", s.constant("m"), s.O.offset(x * s.N.x + y * s.N.y))
    result = verify(s, "m y'' = 0; m y'' + 9.81 m = 0")
    sentences = {option[0].sentence for option in result.rows[0].corrections}
    assert "m ÿ should be m ẍ" in sentences
