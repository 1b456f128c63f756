"""(a + b)² stays a square in print, and what is printed is the expression."""

import random

import pytest

import dalembert as da
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.printing import latex, source, text


@pytest.fixture
def s():
    s = da.System("squares")
    s.coordinates("x y")
    s.constants("L m r k")
    return s


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("m*(L + x)**2*y'", "m (L + x)² ẏ"),
        ("m*(L - x)**2*y'", "m (L − x)² ẏ"),
        ("(2*r**2 + 5*(L + x)**2)*y'", "(5 (L + x)² + 2 r²) ẏ"),
        ("(L**2 + x**2)*y'", "(L² + x²) ẏ"),
        ("(L**2 + L*x + x**2)*y'", "(L² + L x + x²) ẏ"),
        ("(4*L**2 + 12*L*x + 9*x**2)*y'", "(2 L + 3 x)² ẏ"),
    ],
)
def test_squares_of_binomials(s, given, shown):
    assert shown == text(s.expression(given))


def test_what_is_printed_is_the_expression(s):
    draw = random.Random(7)
    names = ["L", "m", "r", "k", "x"]
    for _ in range(40):
        a, b, c = (f"{draw.randint(1, 3)}*{draw.choice(names)}" for _ in range(3))
        sign = draw.choice("+-")
        e = s.expression(f"({c}*({a} {sign} {b})**2 {sign} {b}*{c} + {a}**2)*y'")
        back = s.expression(source(e))
        assert provably_zero(s.space.tape, [(e - back).i])[0], source(e)


def test_words_are_set_upright_with_their_dots_behind():
    s = da.System("words")
    yaw = s.coordinate("yaw")
    assert "yaw′′" == text(yaw.dot.dot if hasattr(yaw.dot, "dot") else s.expression("yaw''"))
    assert r"{\mathrm{yaw}''}" == latex(s.expression("yaw''"))
