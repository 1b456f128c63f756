"""Answers as people write them: read as meant, or refused with a caret; nothing is executed."""

import sys

import pytest

import dalembert as da
from dalembert.analysis.verify.names import Names
from dalembert.analysis.verify.reading import Reader
from dalembert.analysis.verify.tokens import CannotRead
from dalembert.symbolic.algebra.exact.zero_test import decide_zero
from dalembert.symbolic.algebra.expression_graph import Derivative
from verify.student_lines import hostile_lines, lesson, student_lines

SYSTEM = lesson()
TAPE = SYSTEM.space.tape
KNOWN = {name: x.scalar.i for name, x in SYSTEM.symbols.items()} | {"t": SYSTEM.t.i}


def read(line, let=None):
    names = Names(KNOWN, ["x", "theta"], lambda _: False, let)
    return Reader(TAPE, names, lambda _: None, lambda *_: 0, Derivative(TAPE, TAPE.rate)).rows(line)


def same(row, meaning):
    return decide_zero(TAPE, [(row.value - SYSTEM.expression(meaning)).i]).all_zero


@pytest.mark.parametrize("chunk", range(10))
def test_lines_of_students_are_read_as_meant(chunk):
    for line, meaning in list(student_lines(500))[50 * chunk : 50 * chunk + 50]:
        rows = read(line)
        assert 1 == len(rows), line
        assert same(rows[0], meaning), line


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("(M+m)*x'' + m*l*theta''*cos(theta) = F", "(M+m)*x'' + m*l*theta''*cos(theta) - F"),
        (
            "(M+m)ẍ + mlθ̈cosθ − mlθ̇²sinθ = F",
            "(M+m)*x'' + m*l*theta''*cos(theta) - m*l*theta'**2*sin(theta) - F",
        ),
        (r"\frac{d^2 x}{dt^2} = \frac{F}{M+m}", "x'' - F/(M+m)"),
        ("d2x/dt2 = F/M", "x'' - F/M"),
        ("d/dt(m x' cos(theta)) = F", "m*x''*cos(theta) - m*x'*theta'*sin(theta) - F"),
        ("½ m ẋ² = x'", "m*x'**2/2 - x'"),
        ("x'' + (k/m)x = 0", "x'' + k*x/m"),
        ("J1 x'' = J_{1}", "J_1*x'' - J_1"),
        ("√2 x'' = F", "sqrt(2)*x'' - F"),
        ("mgl sinθ cosθ = x''", "m*g*l*sin(theta)*cos(theta) - x''"),
        ("x'' = F  (12)", "x'' - F"),
        ("x'' = F  # Newton", "x'' - F"),
        ("1/2m x'' = F", "m*x''/2 - F"),
    ],
)
def test_usual_spellings(line, meaning):
    (row,) = read(line)
    assert same(row, meaning)


def test_one_text_may_hold_several_rows_and_definitions():
    rows = read("s = sin(theta)\nx'' = F*s; theta'' = g s/l")
    assert 2 == len(rows)
    assert same(rows[1], "theta'' - g*sin(theta)/l")


def test_a_chain_of_equations_gives_a_row_for_each_sign():
    assert 2 == len(read("m*x'' = F - k*x = F - k x"))


def test_names_may_be_given_another_meaning():
    (row,) = read("y'' = F/M", {"y": "x"})
    assert same(row, "x'' - F/M")


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("g/2l = x''", 4, "two readings"),
        ("sin theta/2 = x''", 1, "two readings"),
        ("sin2θ = x''", 1, "two readings"),
        ("x'' = 9,81", 8, "with a point"),
        ("x'' = thta", 7, "did you mean 'theta'"),
        ("x'' = )F", 7, "not opened"),
        ("x'' = (F", 7, "not closed"),
        ("x'' = F +", 9, "missing"),
        ("x'' = F (2)", 9, "number of the equation"),
        ("x'' = m'", 7, "constant"),
        ("x'''' = F", 1, "at most two"),
        ("x'' < F", 5, "no part of an equation"),
        ("x'' = F**x", 8, "exponent"),
        ("sin^-1 theta = x''", 4, "two readings"),
        (r"\dot{x + theta} = F", 8, "one symbol"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_column(line, column, words):
    with pytest.raises(CannotRead, match=words) as refusal:
        read(line)
    assert column == refusal.value.column
    assert "^" in str(refusal.value)


def test_the_caret_stands_under_the_unknown_name():
    with pytest.raises(CannotRead) as refusal:
        read("x'' + foo = F")
    *_, line, caret = str(refusal.value).splitlines()
    assert "foo" == line[caret.index("^") : caret.rindex("^") + 1]


AUDIT: list[str] = []
WATCHED = False


def _hear(event: str, _: object) -> None:
    if WATCHED and event in ("exec", "compile", "os.system", "subprocess.Popen", "open", "import"):
        AUDIT.append(event)


def test_hostile_lines_are_read_or_refused_and_nothing_is_executed():
    global WATCHED  # noqa: PLW0603 - an audit hook cannot be removed
    sys.addaudithook(_hear)
    read("x'' = F")
    with pytest.raises(CannotRead):
        read("nonsense = F")
    refused = 0
    for line in hostile_lines(500):
        WATCHED = True
        try:
            read(line)
        except da.DalembertError:
            refused += 1
        finally:
            WATCHED = False
    assert [] == AUDIT
    assert refused > 400
