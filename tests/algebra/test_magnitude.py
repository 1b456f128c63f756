from fractions import Fraction

import pytest
import sympy

import dalembert as da
from dalembert.errors import BadExpression

MANY = Fraction(10**5000 + 1, 3)


@pytest.mark.parametrize(
    "number",
    [10**5000, MANY, -MANY, sympy.Rational(10**5000 + 1, 3)],
    ids=["whole", "fraction", "negative", "sympy"],
)
def test_a_number_of_thousands_of_digits_is_refused(number):
    s = da.System("s")
    x = s.coordinate("x")
    with pytest.raises(
        BadExpression,
        match=r"^a number of about \d+ digits: numbers are exact here, and may have at most 4000; "
        r"round it",
    ):
        x * number
    assert "x" == str(x)


def test_a_product_may_not_grow_without_end():
    s = da.System("s")
    large = s.coordinate("x") * 10**3000
    with pytest.raises(BadExpression, match="a number of about"):
        large * 10**3000


def test_a_default_value_is_no_exception():
    with pytest.raises(BadExpression, match="a number of about 5000 digits"):
        da.System("s").constant("k", MANY)


def test_a_function_that_is_not_defined_is_named():
    s = da.System("s")
    s.coordinate("x")
    f = sympy.Function("f")
    with pytest.raises(BadExpression, match="a SymPy expression contains the unknown function 'f'"):
        s.potential(f(sympy.Symbol("x")))
    with pytest.raises(BadExpression, match="unknown function 'f'"):
        s["x"] * f(1)
    with pytest.raises(BadExpression, match="expected a SymPy expression, got UndefinedFunction"):
        s.potential(f)
