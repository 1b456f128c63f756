"""Common factors are cancelled, and rows keep the denominators of their coefficients."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.parser import parse
from dalembert.symbolic.algebra.printing import equation_latex, equation_tree
from dalembert.symbolic.algebra.printing.polynomial_factors import _Factors
from dalembert.symbolic.algebra.printing.unicode_notation import SourceNotation
from dalembert.symbolic.algebra.scalar import Scalar


@pytest.fixture(scope="module")
def dumbbell():
    return da.kane(gallery.build("dumbbell"))


def test_the_third_row_of_the_dumbbell(dumbbell):
    row = str(dumbbell.equations).splitlines()[2]
    assert row.startswith(
        "m₂ (x₁ − x₂) u̇₁/(z₁ − z₂) + m₂ (y₁ − y₂) u̇₂/(z₁ − z₂) + (m₁ + m₂) u̇₃ − m₂ (x₁ − x₂) u̇₄"
    )
    assert row.endswith(" = −(m₁ + m₂) g")
    assert "m₂ ((x₁ − x₂)² + (z₁ − z₂)²) u₁²/(z₁ − z₂)³" in row


def test_every_row_of_the_dumbbell_is_read_without_intermediates(dumbbell):
    rows = str(dumbbell.equations).splitlines()
    assert 5 == len(rows)
    assert not any("intermediates" in row for row in rows)
    # an equation begins with its own acceleration, and a plus
    assert rows[0].startswith("(m₂ (x₁ − x₂)² + m₁ (z₁ − z₂)²) u̇₁/(z₁ − z₂)²")
    assert rows[3].startswith("m₂ ((x₁ − x₂)² + (z₁ − z₂)²) u̇₄/(z₁ − z₂)²")


def test_a_distance_keeps_its_squares():
    text = str(da.lagrange(gallery.build("dumbbell")).explain())
    assert "(x₁ − x₂)² + (y₁ − y₂)² + (z₁ − z₂)² − L² = 0" in text


def reads_back(e, row):
    """Whether the printed row, read again, is the residual or its negative."""
    tree = equation_tree(e.tape, e.residuals[row], e.udot, e.u)
    symbols = {name: Scalar(e.tape, i) for name, i in e.tape.names.items()}
    left, right = (
        parse(SourceNotation()(side), symbols, e.tape) for side in (tree.left, tree.right)
    )
    residual = Scalar(e.tape, e.residuals[row])
    both = [(left - right - residual).i, (left - right + residual).i]
    return any(provably_zero(e.tape, both))


def test_printed_rows_have_the_value_of_the_residuals(dumbbell):
    assert [True] * 5 == [reads_back(dumbbell.equations, row) for row in range(5)]


def test_a_dropped_factor_is_noticed(dumbbell, monkeypatch):
    right = _Factors.of

    def wrong(self, terms):
        term = right(self, terms)
        return term._replace(powers=term.powers[:-1]) if len(term.powers) > 2 else term

    monkeypatch.setattr(_Factors, "of", wrong)
    assert not reads_back(dumbbell.equations, 2)


def test_latex_has_the_same_factors(dumbbell):
    e = dumbbell.equations
    written = equation_latex(e.tape, e.residuals[2], e.udot, e.u)
    assert r"\left(m_{1} + m_{2}\right) \dot{u}_{3}" in written
    assert r"\frac{m_{2} \left(x_{1} - x_{2}\right) \dot{u}_{1}}{z_{1} - z_{2}}" in written
