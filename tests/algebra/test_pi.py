"""π is exact in expressions, and typed multiples of it are recognised."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dalembert as da
from dalembert.errors import BadExpression
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.exact_number import multiple_of_pi


def pendulum() -> tuple[da.System, da.Scalar]:
    s = da.System("pendulum", gravity=9.81)
    (theta,) = s.coordinates("theta")
    return s, theta


def test_pi_is_exact_in_expressions():
    _, theta = pendulum()
    for shifted in (
        theta + da.pi / 2,
        da.pi / 2 + theta,
        theta - (-da.pi) / 2,
        1 * (theta + da.pi) - da.pi / 2,
    ):
        e = da.sin(shifted) - da.cos(theta)
        assert provably_zero(e.tape, [e.i]) == [True]
    e = da.sin(da.pi * theta + 2 * da.pi) - da.sin(da.pi * theta)
    assert provably_zero(e.tape, [e.i]) == [True]


def test_pi_is_a_number():
    assert float(da.pi) == math.pi
    assert float(2 * da.pi / 3 - Fraction(1, 2)) == pytest.approx(2 * math.pi / 3 - 0.5)
    assert (str(da.pi / 2), str(-3 * da.pi / 4), str(1 + da.pi)) == ("π/2", "−3 π/4", "1 + π")
    assert da.pi / 2 + da.pi / 2 == da.pi
    assert da.pi > 3
    assert da.pi - da.pi == 0
    assert math.sin(da.pi / 2) == 1
    assert da.pi * da.pi / da.pi == da.pi
    assert da.pi == da.pi**2 / da.pi
    assert 1 / da.pi * da.pi == 1
    with pytest.raises(BadExpression, match="other than zero"):
        da.pi / 0


@pytest.mark.parametrize(
    "way",
    [
        math.radians,
        lambda d: d * math.pi / 180,
        lambda d: math.pi / 180 * d,
        lambda d: d / 180 * math.pi,
    ],
)
def test_every_degree_is_recognised_however_it_is_typed(way):
    assert [Fraction(d, 180) for d in range(1, 721)] == [
        multiple_of_pi(way(d)) for d in range(1, 721)
    ]
    assert multiple_of_pi(-way(45)) == Fraction(-1, 4)


def test_other_numbers_are_not():
    for x in (
        0.0,
        1.0,
        0.5,
        3.14159,
        1.5707963,
        355 / 113,
        math.e,
        1e16,
        12345.678,
        math.pi * 1.000000000001,
    ):
        assert multiple_of_pi(x) is None


def test_typed_multiples_are_said_once():
    s, theta = pendulum()
    A = s.N.rotated(math.pi / 2, s.N.x, "A")
    B = A.rotated(theta + math.pi / 4, A.z, "B")
    s.body("rod", 2, s.O.offset(0.5 * B.x), B, da.inertia(B, 0.1, 0.1, 0.2))
    found = da.agreement(s, compiled=False)
    assert found.agree
    assert found.read_as_pi == (
        "1.5707963267948966 is read as π/2",
        "0.7853981633974483 is read as π/4",
    )
    assert str(found).count("is read as π/2") == 1


def test_text_with_all_its_digits():
    s, theta = pendulum()
    assert s.expression("1.5707963267948966 + theta") == da.pi / 2 + theta
    assert s.expression("1.5708 + theta") == Fraction("1.5708") + theta


def test_pi_as_a_start_and_as_a_value():
    s, theta = pendulum()
    (l,) = s.constants("l")
    B = s.N.rotated(theta, s.N.z, "B")
    s.particle("bob", 1, s.O.offset(l * B.x))
    exact, typed = (
        da.simulate(s, 0.5, start={"theta": x / 3}, values={"l": 2}) for x in (da.pi, math.pi)
    )
    assert exact["theta"][-1] == pytest.approx(typed["theta"][-1], abs=1e-9)
