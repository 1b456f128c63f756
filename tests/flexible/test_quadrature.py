from fractions import Fraction

import numpy as np
import pytest

from dalembert.analysis.flexible.assumed_modes.polynomials import Polynomial, exact_rule, gauss_rule


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 6, 10, 18, 30, 50])
def test_rational_rules_are_exact_and_carry_masses(degree):
    rule = exact_rule(degree)
    assert degree + 1 == len(rule)
    assert all(0 < x < 1 for x in rule.nodes)
    assert all(w > 0 for w in rule.weights)
    assert all(
        Fraction(1, k + 1) == sum(w * x**k for w, x in zip(rule.weights, rule.nodes, strict=True))
        for k in range(degree + 1)
    )


def test_one_degree_more_is_not_exact():
    rule = exact_rule(9)
    assert Fraction(1, 11) != sum(w * x**10 for w, x in zip(rule.weights, rule.nodes, strict=True))


def test_gauss_is_good_to_rounding():
    rule = gauss_rule(20)
    assert rule.exact is None
    found = sum(float(w) * np.exp(float(x)) for w, x in zip(rule.weights, rule.nodes, strict=True))
    assert pytest.approx(np.e - 1, rel=1e-15) == found


def test_polynomials_differentiate_and_integrate_exactly():
    p = Polynomial.of([1, 0, 3, 0])
    assert 2 == p.degree
    assert Polynomial.of([0, 6]) == p.derivative(1)
    assert 2 == p.antiderivative(1)
    assert 13 == p(2)
    assert not p - p
