"""Radau points, differentiation and interpolation against exact polynomials."""

import numpy as np
import pytest

from dalembert.analysis.optimal.scheme import (
    basis,
    bernstein,
    gauss,
    gauss_legendre,
    monomials,
    radau,
)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 8, 12])
def test_quadrature_is_exact_up_to_degree_2k_minus_2(order: int) -> None:
    scheme = radau(order)
    for degree in range(2 * order - 1):
        assert scheme.weights @ scheme.points**degree == pytest.approx(
            1.0 / (degree + 1), abs=1e-13
        )
    if order < 9:
        wrong = scheme.weights @ scheme.points ** (2 * order - 1)
        assert abs(wrong - 1.0 / (2 * order)) > 1e-13


@pytest.mark.parametrize("order", [1, 3, 5, 9])
def test_derivatives_of_a_polynomial_of_degree_k_are_exact(order: int) -> None:
    scheme, p = radau(order), np.polynomial.Polynomial(np.arange(1.0, order + 2.0))
    assert p.deriv()(scheme.points) == pytest.approx(scheme.D @ p(scheme.nodes), rel=1e-11)


@pytest.mark.parametrize("order", [1, 2, 4, 7])
def test_gauss_points_reach_the_end_by_their_polynomial(order: int) -> None:
    """Degree 2K − 1 by quadrature; the end of a polynomial of degree K by its values."""
    scheme, p = gauss_legendre(order), np.polynomial.Polynomial(np.arange(1.0, order + 2.0))
    assert scheme.weights @ scheme.points ** (2 * order - 1) == pytest.approx(1 / (2 * order))
    assert scheme.D @ p(scheme.nodes) == pytest.approx(p.deriv()(scheme.points), rel=1e-11)
    assert scheme.end_weights @ p(scheme.nodes) == pytest.approx(p(1.0), rel=1e-11)
    assert (scheme.has_end, radau(order).has_end) == (False, True)
    assert radau(order).end_weights == pytest.approx(np.eye(order + 1)[-1], abs=1e-12)


def test_known_points_of_order_two_and_three() -> None:
    assert radau(2).points == pytest.approx([1 / 3, 1.0], abs=1e-15)
    assert radau(3).points == pytest.approx(
        [(4 - np.sqrt(6)) / 10, (4 + np.sqrt(6)) / 10, 1.0], abs=1e-15
    )


def test_interpolation_monomials_and_hull_describe_one_polynomial() -> None:
    nodes, draw = radau(5).points, np.random.default_rng(2)
    for _ in range(30):
        w = draw.standard_normal(5)
        s = np.linspace(0.0, 1.0, 301)
        values = basis(nodes, s) @ w
        assert np.polynomial.polynomial.polyval(s, monomials(nodes) @ w) == pytest.approx(
            values, abs=1e-11
        )
        hull = bernstein(nodes) @ w
        assert hull.min() <= values.min() + 1e-12
        assert values.max() <= hull.max() + 1e-12


def test_gauss_points_integrate_high_degrees() -> None:
    x, w = gauss(12)
    assert 1.0 / 24.0 == pytest.approx(w @ x**23, rel=1e-13)
