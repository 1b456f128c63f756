"""The normal form says the same as the expression, in the terms a book prints."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.disk import RollingDisk
from algebra.expressions import NAMES, at, close, fresh, points, texts
from dalembert.errors import BadExpression, Unknown
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.functions import cos, sin, sqrt
from dalembert.symbolic.algebra.normal_form.expansion import (
    TooLong,
    expand,
    normal_form,
    operation_count,
)
from dalembert.symbolic.algebra.normal_form.rational_form import (
    ZERO,
    Atom,
    RationalForm,
    Term,
    collect,
    constant,
    factor_common,
    symbol,
    to_scalar,
)
from dalembert.symbolic.algebra.parser import parse
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape


def normal(e: Scalar) -> RationalForm:
    return normal_form(e.tape, (e.i,))[0]


def written(e: Scalar) -> RationalForm:
    """A formula typed from a book, multiplied out and otherwise left alone."""
    return expand(e.tape, (e.i,))[0]


def assert_same(expected: RationalForm, actual: RationalForm) -> None:
    assert expected.terms == actual.terms
    assert expected.same_terms(actual)


# ---- Gre03, Example 4.2: the rolling disk
# ---------------------------------------------------------


@pytest.fixture(scope="module")
def disk() -> RollingDisk:
    return RollingDisk()


def test_kinetic_energy_4_45(disk):
    assert_same(written(disk.printed_energy), normal(disk.energy))
    assert normal(disk.energy).term_count == 11


@pytest.mark.parametrize("number", ["4.46", "4.47", "4.48", "4.49", "4.50"])
def test_lagrangian_operators_4_46_to_4_50(disk, number):
    printed, derived = disk.operators[number]
    assert_same(written(printed), normal(derived))


@pytest.mark.parametrize("number", ["4.57", "4.59", "4.60"])
def test_reduced_equations_4_57_4_59_4_60(disk, number):
    printed, derived = disk.reduced[number]
    assert_same(written(printed), normal(derived))


def test_raw_equations_pass_through_few_terms_on_their_way(disk):
    outs = [derived.i for _, derived in disk.reduced.values()]
    forms = normal_form(disk.tape, outs, limit=60)
    assert len(outs) == len(forms)


# ---- angles
# ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def angles() -> dict[str, Scalar]:
    tape = Tape()
    found = {name: Scalar(tape, tape.moving_symbol(name)) for name in ("a", "b", "c")}
    return (
        found
        | {name: Scalar(tape, tape.symbol(name)) for name in ("I", "J", "k")}
        | {"pi": Scalar(tape, tape.pi)}
    )


SHORTER = {
    "sin(a)**2 + cos(a)**2": "1",
    "1 - cos(a)**2": "sin(a)**2",
    "I*sin(a)**2 + J*cos(a)**2": "I*sin(a)**2 + J*cos(a)**2",
    "1 + 5*cos(a)**2": "1 + 5*cos(a)**2",
    "6 - 5*sin(a)**2": "1 + 5*cos(a)**2",
    "cos(a)**2 - cos(a)**4": "sin(a)**2*cos(a)**2",
    "(1 - cos(a)**2)*(1 - cos(b)**2)": "sin(a)**2*sin(b)**2",
    "cos(a)*cos(b) - sin(a)*sin(b)": "cos(a + b)",
    "cos(a)*cos(b) + sin(a)*sin(b)": "cos(a - b)",
    "cos(a)*sin(b) - sin(a)*cos(b)": "-sin(a - b)",
    "cos(a + b)*cos(c) - sin(a + b)*sin(c)": "cos(a + b + c)",
    "cos(a)**2 - sin(a)**2": "cos(2*a)",
    "(cos(a)*sin(b) - sin(a)*cos(b))**2": "sin(a - b)**2",
    "sin(a)*(sin(a)*cos(b) + cos(a)*sin(b))": "sin(a)*sin(a + b)",
    "2*sin(a/2)*cos(a/2)": "sin(a)",
    "sin(2*a)*k + cos(a)": "2*k*sin(a)*cos(a) + cos(a)",
    "sin(2*a)": "sin(2*a)",
    "cos(a + pi/2)": "-sin(a)",
    "cos(a - 3*pi)": "-cos(a)",
    "cos(a + pi/4)": "cos(a + pi/4)",
    "sin(a + pi/3) - sin(a)/2": "sqrt(3)*cos(a)/2",
    "sin(3*a) - 3*sin(a) + 4*sin(a)**3": "0",
    "sin(5*a)*cos(5*a)": "sin(5*a)*cos(5*a)",
    "sin(k*a)**2 + cos(k*a)**2": "1",
}


@pytest.mark.parametrize("raw", SHORTER)
def test_angles_take_the_fewest_terms(angles, raw):
    expected = parse(SHORTER[raw], angles, angles["a"].tape)
    assert_same(written(expected), normal(parse(raw, angles, angles["a"].tape)))


def test_order_of_the_sum_does_not_matter(angles):
    a, b, k = angles["a"], angles["b"], angles["k"]
    one = k * cos(a) * cos(b) + (1 - k * sin(a) * sin(b)) + sin(b) ** 2
    two = (sin(b) ** 2 + 1) - k * (sin(a) * sin(b) - cos(b) * cos(a))
    assert one.i != two.i
    assert normal(one) == normal(two)


def test_a_long_sum_of_angles_is_not_expanded():
    tape = Tape()
    total = sum(
        (Scalar(tape, tape.symbol(f"q{n}")) for n in range(2, 13)), Scalar(tape, tape.symbol("q1"))
    )
    assert normal(sin(total) ** 2 + cos(total) ** 2) == constant(1)
    assert normal(sin(total)).term_count == 1


# ---- fractions, roots and other functions
# ------------------------------------------------------------


FUNCTIONS = {
    "(a**2 - b**2)/(a - b)": "a + b",
    "1/a + 1/b": "(a + b)/(a*b)",
    "(1 - cos(a)**2)/sin(a)": "sin(a)",
    "sin(a)**2/(1 - cos(a))": "1 + cos(a)",
    "tan(a)*cos(a)": "sin(a)",
    "sqrt(a**2 + b**2)**2": "a**2 + b**2",
    "(a**2 + b**2)/sqrt(a**2 + b**2)": "sqrt(a**2 + b**2)",
    "1/sqrt(2) - sqrt(2)/2": "0",
    "sqrt(8*a)": "2*sqrt(2*a)",
    "sqrt(a**2)**2 + abs(b)**2": "a**2 + b**2",
    "sqrt((a/b)**2 + 1)**2": "(a**2 + b**2)/b**2",
    "cosh(b - a)": "cosh(a - b)",
    "sinh(b - a)": "-sinh(a - b)",
    "exp((a + b)**2 - a**2 - b**2) - exp(2*a*b)": "0",
    "atan2(a + a, b)": "atan2(2*a, b)",
    "log((a + 1)**2 - a**2 - 2*a)": "0",
    "sin(a/b)**2 + cos(a/b)**2": "1",
    "sin(sqrt(a))**2 + cos(sqrt(a))**2": "1",
    "k*a*(b - b) + 3/2": "3/2",
}


@pytest.mark.parametrize("raw", FUNCTIONS)
def test_fractions_and_functions(angles, raw):
    expected = parse(FUNCTIONS[raw], angles, angles["a"].tape)
    assert_same(normal(expected), normal(parse(raw, angles, angles["a"].tape)))


def test_a_root_of_a_square_is_the_size(angles):
    a, b = angles["a"], angles["b"]
    assert normal(abs(a - b)) == normal(sqrt((b - a) ** 2))


def test_a_hidden_zero_below_the_bar_is_named(angles):
    a = angles["a"]
    with pytest.raises(BadExpression, match="vanishes identically"):
        normal(1 / (sin(a) ** 2 + cos(a) ** 2 - 1))


# ---- forms
# -----------------------------------------------------------------------------------------


def test_terms_name_symbols_in_order_of_creation_or_as_asked():
    tape = Tape()
    x, y = (Scalar(tape, tape.symbol(name)) for name in "xy")
    e = y**2 + x * y
    assert [t.powers for t in normal(e).numerator] == [
        ((Atom("symbol", "x"), 1), (Atom("symbol", "y"), 1)),
        ((Atom("symbol", "y"), 2),),
    ]
    (turned,) = normal_form(tape, (e.i,), order=(y.i,))
    assert [t.powers for t in turned.numerator] == [
        ((Atom("symbol", "y"), 2),),
        ((Atom("symbol", "y"), 1), (Atom("symbol", "x"), 1)),
    ]
    assert turned.same_terms(normal(e))
    assert turned != normal(e)


def test_exponents_and_coefficients_are_plain_numbers(angles):
    form = normal(Fraction(3, 2) * angles["a"] ** 2 * cos(angles["b"]) ** 3)
    ((k, powers),) = form.numerator
    assert type(k) is Fraction
    assert all(type(e) is int for _, e in powers)


def test_collect_and_factor_common(angles):
    a, b, I, k = angles["a"], angles["b"], angles["I"], angles["k"]
    parts = collect(normal(k * a**2 * b + 3 * I * a**2 + cos(b) - 2), ["a"])
    square = ((Atom("symbol", "a"), 2),)
    assert parts.keys() == {square, ()}
    assert_same(written(k * b + 3 * I), parts[square])
    assert_same(written(cos(b) - 2), parts[()])
    common, rest = factor_common(normal(-k * a / 4 * (1 + 5 * cos(b) ** 2)))
    assert Term(Fraction(-1, 4), ((Atom("symbol", "a"), 1), (Atom("symbol", "k"), 1))) == common
    assert_same(written(1 + 5 * cos(b) ** 2), rest)


def test_same_terms_up_to_a_common_factor(angles):
    a, b, k = angles["a"], angles["b"], angles["k"]
    one, two = normal(a + 2 * cos(b)), normal(-3 * k**2 * (2 * cos(b) + a))
    assert not one.same_terms(two)
    assert one.same_terms(two, up_to_factor=True)
    assert not one.same_terms(normal(a - 2 * cos(b)), up_to_factor=True)
    assert not one.same_terms(normal((a + 2 * cos(b)) / k), up_to_factor=True)


def test_zero_constants_and_symbols(angles):
    a = angles["a"]
    assert ZERO == normal(a - a * 1)
    assert normal(a * cos(a) - cos(a) * a).is_zero
    assert constant(Fraction(-3, 7)) == normal(0 * a - Fraction(3, 7))
    assert symbol("a") == normal(a)
    assert [ZERO.term_count, symbol("a").term_count, normal(1 / (1 + a)).term_count] == [0, 1, 3]
    assert (-symbol("a")).same_terms(normal(-a))
    assert ["a", "b"] == normal(sin(a * angles["b"])).symbols()


def test_a_form_survives_pickle(angles):
    form = normal(sqrt(angles["a"]) * cos(angles["b"] + angles["c"]) / (1 + angles["k"]))
    again = pickle.loads(pickle.dumps(form))
    assert form == again
    assert hash(form) == hash(again)


def test_a_form_is_a_key_in_another_process_too(angles):
    form = normal(cos(angles["b"] + angles["c"]) * angles["k"])
    assert hash(form) == hash(form)
    program = (
        "import pickle, sys; form = pickle.loads(sys.stdin.buffer.read()); "
        "again = type(form)(form.numerator, form.denominator); print({form: 1}[again])"
    )
    environment = os.environ | {
        "PYTHONHASHSEED": "12345",
        "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        input=pickle.dumps(form),
        capture_output=True,
        check=True,
    )
    assert done.stdout.strip() == b"1"


def test_a_form_needs_its_symbols(angles):
    with pytest.raises(Unknown, match="zeta is not a symbol"):
        to_scalar(symbol("zeta"), angles["a"].tape)


def test_operation_count(angles):
    a, b = angles["a"], angles["b"]
    e = (a + b) * cos(a + b)
    assert operation_count(e.tape, (e.i,)) == 3
    assert operation_count(e.tape, (e.i, (a + b).i)) == 3
    assert operation_count(e.tape, (a.i,)) == 0


def test_too_long_is_noticed_on_the_way():
    tape = Tape()
    xs = [Scalar(tape, tape.symbol(f"x{n}")) for n in range(12)]
    e = sum(xs[1:], xs[0]) ** 8
    with pytest.raises(TooLong, match="more than 500 terms"):
        normal_form(tape, (e.i,), limit=500)
    with pytest.raises(TooLong):
        normal_form(tape, ((e**8).i,))


def test_functions_nested_without_end_are_too_long(angles):
    e = angles["a"]
    for _ in range(100):
        e = sin(e)
    with pytest.raises(TooLong, match="nested"):
        normal(e)


# ---- the value never changes
# -------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(texts(max_leaves=8), points)
def test_the_value_is_unchanged(text, point):
    tape, names = fresh()
    e = parse(text, names, tape)
    for form in (normal_form(tape, (e.i,), limit=2000)[0], expand(tape, (e.i,), limit=2000)[0]):
        assert close(at(e, point), at(to_scalar(form, tape), point))


@st.composite
def mechanisms(draw) -> str:
    """Sums of products of sines and cosines of sums of angles, as mechanisms have them."""
    parts = st.sampled_from([-2, -1, 0, 1, 1, 2])
    turns = st.builds(
        lambda a, b, c, d: f"({a}*x + {b}*y + {c}*z/2 + {d}*pi/6)",
        parts,
        parts,
        parts,
        st.sampled_from([0, 0, 1, 2, 3, 4]),
    )
    factors = st.one_of(
        st.builds("sin{}".format, turns),
        st.builds("cos{}".format, turns),
        st.sampled_from([*NAMES, "3/2"]),
    )
    terms = st.lists(
        st.lists(factors, min_size=1, max_size=4).map("*".join), min_size=1, max_size=4
    )
    above = " + ".join(draw(terms))
    return f"({above})/(2 + {draw(factors)})" if draw(st.booleans()) else f"({above})**2"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(mechanisms(), points)
def test_the_value_is_unchanged_with_many_angles(text, point):
    tape, names = fresh()
    e = parse(text, names | {"pi": Scalar(tape, tape.pi)}, tape)
    try:
        (form,) = normal_form(tape, (e.i,), limit=1000)
    except TooLong:
        return
    back = to_scalar(form, tape)
    assert close(at(e, point), at(back, point))
    assert provably_zero(tape, [(e - back).i]) == [True]


# ---- the same on every run
# ---------------------------------------------------------------------------


def test_the_same_bytes_for_every_hash_seed():
    program = (
        "from algebra.disk import RollingDisk; d = RollingDisk(); print(repr(d.forms())); "
        "print(d.energy, d.energy.latex())"
    )
    root = Path(__file__).parents[2]
    outputs = []
    for seed in ("0", "1", "77"):
        environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root / 'tests'}",
            "PYTHONUTF8": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )
        outputs.append(done.stdout)
    assert outputs[0]
    assert outputs[0] == outputs[1] == outputs[2]
