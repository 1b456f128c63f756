"""Solutions of one equation of equilibrium: all of them where that can be decided, and otherwise
said so.
"""

from __future__ import annotations

import pytest

import dalembert as da
from dalembert import cos, gallery, sin
from dalembert.errors import IllPosed, NotApplicable


def resting(potential):
    """The equilibria of a particle on a line with that potential in x, a and b."""
    s = da.System("Particle")
    x = s.coordinate("x")
    a, b = s.constants(a=3, b=2)
    s.particle("p", 1, s.O.offset(x * s.N.x))
    s.potential(potential(x, a, b))
    return da.stationary_potential(s).solve("x")


def test_mei85_ex_7_1_r_is_mg_sin_theta_over_k():
    found = da.virtual_work(gallery.build("mass-on-incline")).solve("r")
    assert "r = m g sin(θ)/k\nthere are no others" == str(found)


def test_the_bead_rests_at_the_bottom_at_the_top_and_beside():
    found = da.virtual_work(gallery.build("bead-on-hoop")).solve("theta")
    assert ["0", "π", "acos(g/(R ψ̇²))", "−acos(g/(R ψ̇²))"] == [str(value) for value in found]
    assert found.complete


@pytest.mark.parametrize(
    ("potential", "number"),
    [
        (lambda x, a, b: a * x**4 / 4 - b * x**2 / 2, 3),
        (lambda x, a, b: a * cos(x) ** 2 + b * cos(x), 4),
        (lambda x, a, b: a * sin(x) ** 2 + b * sin(x), 4),
        (lambda x, a, b: a * sin(x) + b * x, 2),
        (lambda x, a, b: a * sin(x) + a * cos(x) + b * x, 2),
        (lambda x, a, b: a * sin(x) - b * cos(x), 2),
    ],
)
def test_all_values_are_found_and_each_is_one(potential, number):
    import sympy

    found = resting(potential)
    assert found.complete
    assert number == len(found)
    s = da.System("Particle")
    x = s.coordinate("x")
    a, b = s.constants("a b")
    slope = sympy.diff(potential(x, a, b).sympy(), sympy.Symbol("x"))
    for value in found:
        left = slope.subs({"x": value.sympy()}).subs({"a": 3, "b": 2})
        assert abs(complex(left.evalf(30))) < 1e-20


def test_what_may_not_be_all_says_so():
    found = resting(lambda x, a, b: da.exp(x) * a - b * x)
    assert not found.complete
    assert str(found).endswith("there may be others; da.equilibria searches by numbers")


def test_what_is_not_elementary_is_refused():
    with pytest.raises(
        NotApplicable, match=r"not elementary here; da\.equilibrium solves by numbers"
    ):
        resting(lambda x, a, b: a * x**6 + b * x**2 + x)


def test_a_linkage_without_mass_rests_but_does_not_move():
    s = da.System("Lever")
    F, k, l = s.constants(F=2, k=5, l=1)
    theta = s.coordinate("theta")
    tip = s.O.offset(l * s.N.rotated(theta, s.N.z).x)
    s.force(-F * s.N.y, at=tip)
    s.potential(k * theta**2 / 2)
    (equation,) = da.virtual_work(s).equations
    assert "−k θ − F l cos θ" == str(equation)
    with pytest.raises(
        IllPosed, match="'Lever' has no masses, so nothing but its equilibrium can be asked for"
    ):
        da.kane(s)
