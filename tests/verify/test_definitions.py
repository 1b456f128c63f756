"""Answers with intermediates: definitions, "where" clauses, printed reports; errors inside them."""

import subprocess
import sys

import pytest

from dalembert import gallery
from dalembert.analysis.verify.lines import answer_lines
from dalembert.analysis.verify.tokens import CannotRead
from dalembert.analysis.verify.truth import truth_of
from dalembert.analysis.verify.verdict import Kind
from dalembert.analysis.verify.verify import verify

CART = gallery.build("cart-and-bar")
FIRST = "(M+m) x'' + m a theta'' c - m a theta'^2 s + k x = F"

LATEX = (
    r"(M+m) \ddot x + m a \ddot\theta z_{1} - m a \dot\theta^2 z_{2} + k x = F "
    r"\quad\text{with 2 intermediates: } z_{1} = \cos\theta,\; z_{2} = \sin\theta"
)


@pytest.mark.parametrize(
    "answer",
    [
        f"{FIRST}\nwhere c = cos(theta), s = sin(theta)",
        f"{FIRST}, where c = cos(theta) and s = sin(theta)",
        f"{FIRST} with c = cos(theta), s = sin(theta).",
        f"c = cos(theta)\ns = sin(theta)\n{FIRST}",
        f"{FIRST}\nwhere:\nc = 2 h - 1\nh = cos(theta/2)^2\ns := sin(theta)",
        f"{FIRST}; let c = cos(theta); let s = sin(theta)",
        LATEX,
    ],
)
def test_intermediates_are_read(answer):
    result = verify(CART, answer)
    assert Kind.SUBSET is result.kind
    assert 1 == len(result.rows)


def test_each_equation_has_its_own_intermediates():
    second = "4/3 m a^2 theta'' + m a x'' c + m a g s = 2 a F c"
    first = FIRST.replace(" c", " z1").replace(" s", " z2")
    second = second.replace(" c", " z2").replace(" s", " z1")
    numbered = [
        f"{first}, with 2 intermediates: z1 = cos(theta); z2 = sin(theta)",
        f"{second}, with 2 intermediates: z1 = sin(theta); z2 = cos(theta)",
    ]
    assert Kind.EQUAL is verify(CART, "\n".join(numbered)).kind


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (f"c = cos(theta)\n{FIRST}\nc = sin(theta)\ns = sin(theta)", "defined twice"),
        (f"{FIRST}\nwhere c = cos(theta), c = sin(theta), s = sin(theta)", "defined twice"),
        (f"{FIRST}\nwhere c = d, d = c, s = sin(theta)", "unknown name"),
        (f"{FIRST}\nwhere c = cos(theta), s = sin(theta), b = 2", "unknown name 'b'"),
        ("c = cos(theta)\ns = 2 c", "unknown name"),
    ],
)
def test_definitions_that_mean_nothing_are_refused(answer, words):
    with pytest.raises(CannotRead, match=words):
        verify(CART, answer)


MOMENT = "w = 2 a F cos(theta) - m a g sin(theta)"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("- m a g", "+ m a g", "should be"),
        ("2 a F", "a F", "should be"),
        (" - m a g sin(theta)", "", "is missing in w"),
        ("m a g", "M a g", "should be"),
        ("sin(theta)", "sin(theta) - k x", "should not be there"),
    ],
)
def test_an_error_in_a_definition_is_located_there(old, new, sentence):
    row = "4/3 m a^2 theta'' + m a x'' cos(theta) = w"
    assert Kind.SUBSET is verify(CART, f"{row}, where {MOMENT}").kind
    result = verify(CART, f"{row}, where {MOMENT.replace(old, new)}")
    options = [c for option in result.rows[0].corrections for c in option if c.definition]
    assert any(sentence in c.sentence for c in options), str(result)
    assert all(c.definition.startswith("w = ") for c in options)


def test_a_definition_that_other_rows_share_is_not_blamed():
    second = "4/3 m a^2 theta'' + m a x'' c + m a g s = -2 a F c"
    result = verify(CART, f"{FIRST}\n{second}\nwhere c = cos(theta), s = sin(theta)")
    assert not any(c.definition for option in result.rows[1].corrections for c in option)


def printed(name):
    words = [sys.executable, "-m", "dalembert", "derive", name]
    return subprocess.run(words, capture_output=True, check=True).stdout.decode()


@pytest.mark.each_time(1)
@pytest.mark.parametrize(
    "name",
    [
        "cart-and-bar",
        "rolling-disk",
        "double-pendulum",
        *(
            pytest.param(x, marks=pytest.mark.slow)
            for x in ("gyroscope", "vehicle", "whipple-bicycle")
        ),
    ],
)
def test_a_printed_derivation_is_a_right_answer(name):
    assert verify(gallery.build(name), printed(name)).holds


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "latex"])
def test_the_equations_of_the_bicycle_as_they_are_exported(form):
    system = gallery.build("whipple-bicycle")
    assert verify(system, getattr(truth_of(system).equations, form)()).holds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "where"),
    [("z₉₅₈ u̇_φ +", "2 z₉₅₈ u̇_φ +", "2 z₉₅₈ u̇_φ should be"), ("z₄₇₅ +", "2 z₄₇₅ +", "z₄₇₅")],
)
def test_a_wrong_term_of_the_bicycle_is_located(old, new, where):
    text = printed("whipple-bicycle")
    assert old in text
    result = verify(gallery.build("whipple-bicycle"), text.replace(old, new, 1))
    assert Kind.DIFFERS is result.kind
    assert where in str(result)


def test_a_report_keeps_its_indented_lines():
    assert ["  x'' = 0"] == answer_lines("Title\n═════\n\nSource: a = b\n  x'' = 0\n")
