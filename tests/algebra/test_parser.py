from __future__ import annotations

import inspect
import re
import sys
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from algebra.expressions import NAMES, Rationals, at, fresh, points, texts
from dalembert.errors import BadExpression
from dalembert.symbolic.algebra import functions
from dalembert.symbolic.algebra.parser import FUNCTIONS, parse
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape


@pytest.fixture
def system():
    """A tape with coordinates, constants and an input, and their names."""
    tape = Tape()
    names = {
        name: Scalar(tape, tape.moving_symbol(name)) for name in ("theta", "x", "y", "φ", "lambda")
    }
    names |= {name: Scalar(tape, tape.symbol(name)) for name in ("m₁", "g", "F")}
    tape.inputs.add(names["F"].i)
    return tape, names


def read(system, text):
    tape, names = system
    return parse(text, names, tape)


def refusal(system, text):
    """The message of the refusal, which must come before anything is computed."""
    tape, _ = system
    before = len(tape.nodes)
    with pytest.raises(BadExpression) as refused:
        read(system, text)
    assert len(tape.nodes) - before < 20_000
    return str(refused.value)


# ---- what is read ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9.81", Fraction(981, 100)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("2.5E+2", 250),
        (".5", Fraction(1, 2)),
        ("3.", 3),
        ("007", 7),
        (
            "0.1234567890123456789012345678901234567890",
            Fraction("0.1234567890123456789012345678901234567890"),
        ),
        ("1e400/1e400", 1),
        ("-3", -3),
        ("- - 3", 3),
        ("+3", 3),
        ("2 - 3 - 4", -5),
        ("2 - (3 - 4)", 3),
        ("8/4/2", 1),
        ("2*3**2", 18),
        ("-2**2", -4),
        ("2**-1", Fraction(1, 2)),
        ("2**3**2", 512),
        ("(2**3)**2", 64),
        ("4**0.5", 2),
        ("4**(3/2)", 8),
        ("4**-0.5", Fraction(1, 2)),
        ("2**1000/2**999", 2),
        ("abs(-3) + sign(-2)", 2),
        ("sin(pi/6)", Fraction(1, 2)),
        ("((((1))))", 1),
        (" 1\n+\t2 ", 3),
    ],
)
def test_numbers_are_exact_and_precedence_is_python_s(system, text, value):
    assert value == read(system, text).value


def test_names_operators_and_functions(system):
    _, n = system
    theta, x, y, g = n["theta"], n["x"], n["y"], n["g"]
    f = functions
    assert g / 2 * f.sin(theta) == read(system, "g/2*sin(theta)")
    assert x - y + theta == read(system, "x - y + theta")
    assert -x * y**2 == read(system, "-x*y**2")
    assert f.atan2(x, y) == read(system, "atan2(x, y)")
    assert abs(x) == read(system, "abs(x)")
    for name in (
        "sin",
        "cos",
        "tan",
        "exp",
        "log",
        "sqrt",
        "sinh",
        "cosh",
        "tanh",
        "asin",
        "acos",
        "atan",
        "sign",
    ):
        assert getattr(f, name)(x) == read(system, f"{name}(x)")


def test_names_may_be_greek_have_indices_or_be_words_of_python(system):
    _, n = system
    assert n["φ"] * n["m₁"] + n["lambda"] == read(system, "φ*m₁ + lambda")


@pytest.mark.parametrize("text", ["theta.dot", "theta'", "theta′", "theta . dot"])
def test_rates(system, text):
    assert system[1]["theta"].dot == read(system, text)


@pytest.mark.parametrize("text", ["theta.dot.dot", "theta''", "theta'.dot", "theta.dot'"])
def test_rates_of_rates(system, text):
    assert system[1]["theta"].dot.dot == read(system, text)


def test_rates_inside_expressions(system):
    _, n = system
    theta, x, g = n["theta"], n["x"], n["g"]
    assert theta.dot**2 * x + functions.sin(x.dot) == read(system, "theta'**2*x + sin(x.dot)")
    assert read(system, "g'").value == 0
    assert g * theta.dot.dot == read(system, "g*theta''")


def test_names_of_a_parent_tape_are_read_on_the_fork(system):
    tape, names = system
    fork = tape.fork()
    e = parse("2*x + theta'", names, fork)
    assert e.tape is fork
    assert 2 * Scalar(fork, names["x"].i) + Scalar(fork, names["theta"].i).dot == e


def test_a_symbol_named_pi_wins_over_the_number(system):
    tape, names = system
    p = Scalar(tape, tape.symbol("pi"))
    assert p == parse("pi", names | {"pi": p}, tape)
    assert tape.pi == parse("pi", names, tape).i


@given(texts())
@settings(max_examples=100)
def test_reading_is_what_python_would_compute(text):
    tape, names = fresh()
    environment = {
        name: getattr(functions, name) for name in FUNCTIONS if hasattr(functions, name)
    } | names
    environment["number"] = lambda literal: Scalar(tape, tape.const(Fraction(literal)))
    code = re.sub(r"(?<![\w.])[0-9.]+", lambda literal: f"number('{literal[0]}')", text)
    assert eval(code, {}, environment) == parse(text, names, tape)


operators = st.sampled_from([" + ", "-", "*", "/", "**2*", " - -", "*+"])


@given(
    st.lists(st.tuples(st.sampled_from([*NAMES, "2", "7"]), operators), min_size=1, max_size=12),
    points,
)
@settings(max_examples=100)
def test_precedence_without_parentheses(parts, point):
    tape, names = fresh()
    text = "".join(operand + operator for operand, operator in parts) + "3"
    nonzero = {k: v or Fraction(1) for k, v in point.items()}
    spelled = (
        text.replace("2", "F(2)").replace("3", "F(3)").replace("7", "F(7)").replace("**F(2)", "**2")
    )
    expected = eval(spelled, {"F": Fraction}, nonzero)
    assert expected == at(parse(text, names, tape), nonzero, Rationals())


# ---- what is refused, and how fast -------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the expression is empty"),
        (" \n ", "the expression is empty"),
        ("x +", "the expression ends after '+' at column 3: a name or number should follow"),
        ("x.", "the expression ends after '.' at column 2: dot should follow"),
        ("(x", "the parenthesis at column 1: it is never closed"),
        ("x + (y*(x)", "the parenthesis at column 5: it is never closed"),
        ("x)", "')' at column 2: no parenthesis is open"),
        ("x * / y", "'/' at column 5: a name or number must come before it"),
        ("* x", "'*' at column 1: a name or number must come before it"),
        ("sin()", "')' at column 5: a name or number must come before it"),
        ("x y", "'y' at column 3: an operator is missing before it"),
        ("x 2", "'2' at column 3: an operator is missing before it"),
        ("2x", "cannot read '2x' at column 1: a * is missing after the number"),
        ("x(y)", "'x' is not a function at column 1: a * is missing before the parenthesis"),
        ("x'(y)", "'x'' is not a function at column 1: a * is missing before the parenthesis"),
        ("(x)(y)", "'(' at column 4: an operator is missing before it"),
        ("2(y)", "'(' at column 2: an operator is missing before it"),
        ("x, y", "',' at column 2: a comma only separates the arguments of a function"),
        ("(x, y)", "',' at column 3: a comma only separates the arguments of a function"),
        ("sin(x, y)", "sin with 2 arguments at column 1: it takes 1"),
        ("1 + atan2(x)", "atan2 with 1 arguments at column 5: it takes 2"),
        ("1_000", "cannot read '1_000' at column 1: write digits and at most one decimal point"),
        ("1.2.3", "cannot read '1.2.3' at column 1: write digits and at most one decimal point"),
        ("x^2", "unexpected '^' at column 2: write ** for a power"),
        ("x//2", "unexpected '//' at column 2: write / for a quotient"),
    ],
)
def test_slips_are_named_with_their_column(system, text, message):
    assert message == refusal(system, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 + thta", "unknown name 'thta' at column 5: did you mean 'theta'?"),
        ("theta_dot", "unknown name 'theta_dot' at column 1: did you mean 'theta.dot'?"),
        ("2*thetadot", "unknown name 'thetadot' at column 3: did you mean 'theta.dot'?"),
        ("thta''*x", "unknown name 'thta' at column 1: did you mean 'theta'?"),
        ("x*(y + lamda)", "unknown name 'lamda' at column 8: did you mean 'lambda'?"),
        ("qqq", "unknown name 'qqq' at column 1"),
        ("sni(x)", "unknown function 'sni' at column 1: did you mean 'sin'?"),
        ("x*besselj(x)", "unknown function 'besselj' at column 3"),
        ("sin", "the function 'sin' without an argument at column 1: write sin(...)"),
        ("φ*θ", "unknown name 'θ' at column 3"),
        ("I*x", "unknown name 'I' at column 1"),
    ],
)
def test_unknown_names_come_with_the_nearest_known_one(system, text, message):
    assert message == refusal(system, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1/0", "division by zero: the denominator vanishes identically (at column 3)"),
        ("x + 1/(y - y)", "division by zero: the denominator vanishes identically (at column 8)"),
        ("2*tan(pi/2)", "division by zero: the denominator vanishes identically (at column 3)"),
        ("0**-1", "division by zero: the denominator vanishes identically (at column 4)"),
        ("y - log(-1)", "log(-1) is not a real number (at column 5)"),
        ("sqrt(1 - 2)", "sqrt(-1) is not a real number (at column 1)"),
        (
            "x*F'",
            (
                "the rate of the input F is unknown: declare it with s.specified(...) instead (at "
                "column 3)"
            ),
        ),
        ("x**y", "the exponent at column 4: it must be a number; for x**y write exp(y*log(x))"),
        (
            "x**(1/3)",
            (
                "the exponent 1/3 at column 5: only integers and their halves; for others write "
                "exp(r*log(x))"
            ),
        ),
        ("x'''", "'x'''' at column 1: at most 2 time derivatives"),
        ("x.dot.dot.dot", "'x.dot.dot.dot' at column 1: at most 2 time derivatives"),
        ("(x*y).dot", "'.' at column 6: only a name has .dot"),
        (
            "(x*y)'",
            (
                'unexpected "\'" at column 6: a prime must directly follow a name, and text '
                "in quotes "
                "is no expression"
            ),
        ),
    ],
)
def test_what_has_no_value_is_refused(system, text, message):
    assert message == refusal(system, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3j", "complex number '3j' at column 1: dalembert computes with real numbers"),
        ("x + 1.5J", "complex number '1.5J' at column 5: dalembert computes with real numbers"),
        (
            "'abc'",
            (
                'unexpected "\'" at column 1: a prime must directly follow a name, and text '
                "in quotes "
                "is no expression"
            ),
        ),
        ('"abc"', "unexpected '\"' at column 1: text in quotes is no expression"),
        ("x.__class__", "'x.__class__' at column 1: the only attribute is .dot"),
        ("x.tape", "'x.tape' at column 1: the only attribute is .dot"),
        ("x.dot.__init__", "'x.dot.__init__' at column 1: the only attribute is .dot"),
        (
            "x.dot(3)",
            "'x.dot' is not a function at column 1: a * is missing before the parenthesis",
        ),
        ("__import__(x)", "unknown function '__import__' at column 1"),
        ("__class__", "unknown name '__class__' at column 1"),
        ("eval(x)", "unknown function 'eval' at column 1"),
        (
            "x if y else x",
            (
                "'if' at column 3: what depends on a condition is written Piecewise((a, x > "
                "0), (b, "
                "True))"
            ),
        ),
        (
            "x and y",
            (
                "'and' at column 3: what depends on a condition is written Piecewise((a, x > "
                "0), (b, "
                "True))"
            ),
        ),
        ("not x", "'x' at column 5: an operator is missing before it"),
        ("sin(*x)", "'*' at column 5: a name or number must come before it"),
        ("sin(**x)", "'**' at column 5: a name or number must come before it"),
        ("x.5", "'.5' at column 2: an operator is missing before it"),
        ("x. 5", "'5' at column 4: only .dot can follow a point"),
        ("x.(y)", "'(' at column 3: only .dot can follow a point"),
    ],
)
def test_no_python_but_arithmetic(system, text, message):
    assert message == refusal(system, text)


@pytest.mark.parametrize(
    ("text", "character", "column"),
    [
        ("lambda: x", ":", 7),
        ("[x for x in y]", "[", 1),
        ("{x}", "{", 1),
        ("x[0]", "[", 2),
        ("(x := 2)", ":", 4),
        ("x @ y", "@", 3),
        ("x % y", "%", 3),
        ("~x", "~", 1),
        ("x; y", ";", 2),
        ("x # y", "#", 3),
        ("x \\\n + y", "\\", 3),
        ("x\x00", "\x00", 2),
        ("x·y", "·", 2),
    ],
)
def test_characters_outside_arithmetic_are_refused_where_they_stand(
    system, text, character, column
):
    message = refusal(system, text)
    assert message.startswith(
        f"unexpected {character!r} at column {column}: an expression has numbers, names"
    )


def test_what_is_not_text_is_refused(system):
    assert refusal(system, 5) == "expected an expression as text, got 5"
    assert refusal(system, b"x") == "expected an expression as text, got b'x'"


DEEP = "at most 100 levels of parentheses, signs and powers"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x" * 10_000_000, "an expression of 10000000 characters is too long: at most 20000"),
        ("(" * 20_000, f"nested too deeply at column 101: {DEEP}"),
        ("(" * 9_999 + "x" + ")" * 9_999, f"nested too deeply at column 101: {DEEP}"),
        ("sin(" * 4_000 + "x" + ")" * 3_999, f"nested too deeply at column 404: {DEEP}"),
        ("-" * 20_000, f"nested too deeply at column 101: {DEEP}"),
        ("-" * 19_999 + "x", f"nested too deeply at column 101: {DEEP}"),
        ("-(" * 6_000 + "x" + ")" * 6_000, f"nested too deeply at column 101: {DEEP}"),
        ("2**" * 6_000 + "2", f"nested too deeply at column 302: {DEEP}"),
        ("x**-" * 4_000 + "2", f"nested too deeply at column 202: {DEEP}"),
        (
            "x.dot" + ".dot" * 4_000,
            "too many operations at column 4002: at most 1000 in each term of the outermost sum",
        ),
        ("x" + "'" * 10_000, f"'x{36 * chr(39)}...' at column 1: at most 2 time derivatives"),
        (
            "x*" * 9_000 + "x",
            "too many operations at column 2002: at most 1000 in each term of the outermost sum",
        ),
        (
            "(" + "x+" * 9_000 + "x)",
            "too many operations at column 2003: at most 1000 in each term of the outermost sum",
        ),
        ("9**9**9**9", "too large an exponent at column 7: at most 1000 in size"),
        ("9**(9**9)", "too large an exponent at column 5: at most 1000 in size"),
        ("x**1001", "too large an exponent at column 4: at most 1000 in size"),
        ("x**-1001", "too large an exponent at column 4: at most 1000 in size"),
        ("x**1000.5", "too large an exponent at column 4: at most 1000 in size"),
        ("x**1e300", "too large an exponent at column 4: at most 1000 in size"),
        ("((9**1000)**1000)**1000", "too large a number at column 13"),
        ("(1/7)**1000*(1/7)**1000*(1/7)**1000*(1/7)**1000", "too large a number at column 37"),
        (
            "1" * 101,
            "too large a number at column 1: at most 100 digits, and powers of ten up to 400",
        ),
        (
            "1" * 20_000,
            "too large a number at column 1: at most 100 digits, and powers of ten up to 400",
        ),
        (
            "1e401",
            "too large a number at column 1: at most 100 digits, and powers of ten up to 400",
        ),
        (
            "1e-999999999",
            "too large a number at column 1: at most 100 digits, and powers of ten up to 400",
        ),
        (
            "1e" + "9" * 9_000,
            "too large a number at column 1: at most 100 digits, and powers of ten up to 400",
        ),
        ("a" * 20_000, f"unknown name '{37 * 'a'}...' at column 1"),
    ],
    ids=lambda value: value[:12],
)
def test_what_is_too_large_is_refused_at_once(system, text, message):
    assert message == refusal(system, text)


def test_the_limits_themselves_are_accepted(system):
    x = system[1]["x"]
    assert x == read(system, "(" * 100 + "x" + ")" * 100)
    assert x == read(system, "-" * 100 + "x")
    assert x**1000 == read(system, "x**1000")
    assert 1 / x**1000 == read(system, "x**-1000")
    assert read(system, "x*" * 1000 + "x") != x
    assert read(system, "(" + "+".join(["x"] * 1001) + ")") != x
    assert read(system, "1" * 100).value == int("1" * 100)


def test_levels_count_only_while_they_are_open(system):
    assert read(system, "-x" * 5_000) == read(system, "-" + "-".join(["x"] * 5_000))
    assert read(system, "+".join(["(x)"] * 4_000)) == read(system, "+".join(["x"] * 4_000))
    assert read(system, "*".join(["x**-2"] * 400)).value is None


def test_a_sum_as_long_as_the_text_allows_is_read(system):
    text = "+".join(["x*y"] * 4_999)
    assert len(text) < 20_000
    e = read(system, text)
    assert at(e, {"x": Fraction(1, 2), "y": Fraction(3)}, Rationals()) == Fraction(3, 2) * 4_999


def nested(depth, action):
    return action() if depth == 0 else nested(depth - 1, action)


def test_a_deep_caller_is_served_or_refused(system):
    long = "x*" * 1000 + "x"
    assert read(system, long) == nested(300, lambda: read(system, long))
    room = sys.getrecursionlimit() - 150
    try:
        assert read(system, long) == nested(
            room - len(inspect.stack(0)), lambda: read(system, long)
        )
    except BadExpression as refused:
        # either outcome is right
        assert str(refused).startswith("too many operations at column 1")  # noqa: PT017


ALPHABET = [
    *"xy9.0+-*/()' ,=[]",
    "**",
    "theta",
    ".dot",
    "sin(",
    "atan2(",
    "e5",
    "j",
    "pi",
    "1.5",
    "\n",
    "²",
    "₁",
    "′",
    "lambda ",
]


@given(st.lists(st.sampled_from(ALPHABET), max_size=25).map("".join) | st.text(max_size=25))
@example("1.e5")
@example("x'.dot'")
@settings(max_examples=400)
def test_any_text_is_either_read_or_refused(text):
    tape, names = fresh()
    names["theta"] = Scalar(tape, tape.moving_symbol("theta"))
    try:
        assert isinstance(parse(text, names, tape), Scalar)
    except BadExpression as refused:
        assert "\n" not in str(refused)  # noqa: PT017 - either outcome is right


def test_positions_are_characters_not_bytes(system):
    assert refusal(system, "φ + φ*φφφ") == "unknown name 'φφφ' at column 7"
    assert refusal(system, "φ + φ*zeta").startswith("unknown name 'zeta' at column 7")
