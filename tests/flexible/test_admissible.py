"""Admissible functions: geometric conditions, orthogonality, and what is refused of a user's
own.
"""

from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.flexible.assumed_modes.admissible_functions import (
    eigenfunctions,
    orthogonal_polynomials,
)
from dalembert.analysis.flexible.assumed_modes.polynomials import inner_product
from dalembert.analysis.flexible.assumed_modes.ritz import ritz_matrices
from dalembert.errors import BadDescription

ENDS = {
    "clamped–free": ((0, 0), (0, 1)),
    "pinned–pinned": ((0, 0), (1, 0)),
    "clamped–clamped": ((0, 0), (0, 1), (1, 0), (1, 1)),
    "clamped–pinned": ((0, 0), (0, 1), (1, 0)),
    "sliding–pinned": ((0, 1), (1, 0)),
    "free–free": (),
}
# roots of the characteristic equations
BETA = {
    "clamped–free": (1.875104068711961, 4.694091132974175, 7.854757438237613),
    "pinned–pinned": (np.pi, 2 * np.pi, 3 * np.pi),
    "clamped–clamped": (4.730040744862704, 7.853204624095838, 10.99560783800167),
    "clamped–pinned": (3.926602312047919, 7.068582745628732, 10.21017612281303),
    "sliding–pinned": (np.pi / 2, 3 * np.pi / 2, 5 * np.pi / 2),
}


@pytest.mark.parametrize("ends", ENDS)
def test_polynomials_satisfy_the_conditions_and_are_orthogonal(ends):
    made = orthogonal_polynomials(ENDS[ends], 2, 8)
    assert len(made) == 8
    assert all(p.at(end, k) == 0 for p in made for end, k in ENDS[ends])
    strain = inner_product(2)
    assert all(strain(p, r) == 0 for i, p in enumerate(made) for r in made[:i])
    assert all(strain(p, p) > 0 for p in made if p.degree > 1)


def test_the_first_ones_are_those_of_the_books():
    x2, x3 = orthogonal_polynomials(ENDS["clamped–free"], 2, 2)
    assert (0, 0, 1) == x2.coefficients
    assert (0, 0, 3, -2) == x3.coefficients
    assert (0, 4, -4) == orthogonal_polynomials(ENDS["pinned–pinned"], 2, 1)[0].coefficients


@pytest.mark.parametrize("ends", BETA)
def test_eigenfunctions_satisfy_the_field_equation(ends):
    for beta, f in zip(BETA[ends], eigenfunctions(ENDS[ends], 2, 3), strict=True):
        for x in (Fraction(1, 3), Fraction(3, 5)):
            size = max(abs(float(f.at(Fraction(k, 16)))) for k in range(17))
            assert abs(float(f.at(x, 4)) / beta**4 - float(f.at(x))) <= 1e-6 * size


def cantilever(functions, **more):
    s = da.System("cantilever")
    beam = s.beam("beam", s.O, s.N.x, s.N.y, 1.7, 2, 3)
    return da.discretise(s, beam, functions, **more)


@pytest.mark.parametrize(("n", "precision"), [(10, 1e-9), (12, 1e-12), (20, 1e-13)])
def test_ritz_finds_the_roots_of_the_cantilever(n, precision):
    found = np.sqrt(ritz_matrices(cantilever(n)).frequencies()[:3] * np.sqrt(3 * 1.7**4 / 2))
    assert np.abs(found / BETA["clamped–free"] - 1).max() <= precision


def test_eigenfunctions_need_no_company():
    found = np.sqrt(
        ritz_matrices(cantilever(3, family="eigenfunctions")).frequencies()
        * np.sqrt(3 * 1.7**4 / 2)
    )
    assert np.abs(found / BETA["clamped–free"] - 1).max() <= 1e-12


def test_a_users_functions_polynomial_or_not():
    pi = np.pi
    own = cantilever([lambda x: x**2, lambda x: x**3])
    assert own.rule.exact is not None
    smooth = cantilever([lambda x: 1 - da.cos(pi * x / 2), lambda x: 1 - da.cos(3 * pi * x / 2)])
    assert smooth.rule.exact is None
    # the same space as ξ², ξ³ in the library's own basis
    assert np.allclose(
        ritz_matrices(own).frequencies(), ritz_matrices(cantilever(2)).frequencies(), rtol=1e-12
    )
    first = np.sqrt(ritz_matrices(smooth).frequencies()[0] * np.sqrt(3 * 1.7**4 / 2))
    assert BETA["clamped–free"][0] < first < 1.004 * BETA["clamped–free"][0]


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (
            [lambda x: x],
            (
                r"function 1 of v violates v′\(0\) = 0, a geometric condition of the clamped "
                r"end: its "
                r"slope there is 1; choose"
            ),
        ),
        (
            [lambda x: x**2, lambda x: 1 - x**2],
            r"function 2 of v violates v\(0\) = 0, .*: its value there is 1",
        ),
        ([da.sin], r"violates v′\(0\) = 0"),
        ([lambda x: x**2, lambda x: 3 * x**2], "the 2 functions of v are not independent"),
        ([3], "3 is no function; write it as lambda xi"),
        ([], "no functions are given for v"),
        (0, "0 functions of v; give at least one"),
        ({"w": 2}, "no field 'w'; its fields are v"),
    ],
)
def test_bad_functions_are_refused(functions, message):
    with pytest.raises(BadDescription, match=message):
        cantilever(functions)


def test_a_function_of_another_symbol_is_refused():
    s = da.System("other")
    a = s.constant("a", 1)
    beam = s.beam("beam", s.O, s.N.x, s.N.y, 1, 1, 1)
    with pytest.raises(da.DalembertError, match=r"different systems|other symbols"):
        da.discretise(s, beam, [lambda x: a * x**2])
