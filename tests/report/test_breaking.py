"""Long formulas are broken at their signs, and nothing is lost."""

from hypothesis import given
from hypothesis import strategies as st

from dalembert.report.breaking import broken, is_sum, pieces

FORMULA = "1/4 m r² (1 + 5 cos² θ) φ̈ + 3/2 m r² ψ̈ cos θ − m g = 0"


def test_breaks_are_before_signs_outside_parentheses():
    assert ["1/4 m r² (1 + 5 cos² θ) φ̈", "+ 3/2 m r² ψ̈ cos θ", "− m g", "= 0"] == pieces(FORMULA)
    assert "+ 5 cos² θ) φ̈" in pieces(FORMULA, depth=1)


def test_latex_is_never_broken_inside_bars_or_braces():
    written = r"\left|a + b\right| + \frac{a - b}{c + d} - e"
    assert [r"\left|a + b\right|", r"+ \frac{a - b}{c + d}", "- e"] == pieces(written)


def test_a_negative_product_is_no_sum():
    assert not is_sum("−r cos θ")
    assert not is_sum("m (a + b)")
    assert is_sum("a − b")


@given(st.integers(1, 80), st.text("ab+−= ()", max_size=200))
def test_broken_lines_give_the_formula_back(width, written):
    assert written == " ".join(broken(written, width))


def test_lines_fit_where_words_do():
    assert all(len(line) <= 30 for line in broken(FORMULA, 30))
    assert [FORMULA] == broken(FORMULA, 1000)
