"""Choices of speeds side by side."""

import pytest

import dalembert as da
from dalembert import gallery
from report.test_vector_frames import spelled


def in_rates(mass="m"):
    s = da.System("body")
    psi, theta, phi = s.coordinates("psi theta phi")
    *_, B = s.N.rotations("zyx", psi, theta, phi, names=["A", "C", "B"])
    s.body("body", s.constant(mass), s.O, B, da.inertia(B, *s.constants("I_1 I_2 I_3")))
    return s


def test_body_components_of_the_angular_velocity_are_proposed():
    # Bar00 after (30), (21): Euler's equations
    found = da.compare_speeds(rates=in_rates(), body=spelled("vector"))
    rates, body = found.choices
    assert body is found.proposal
    assert 0 == body.coupling < rates.coupling
    assert body.equation_operations < rates.equation_operations / 5
    assert ("cos θ",) == body.divisors
    assert "proposal: body (w1, w2, w3)" in str(found)


def test_spelling_does_not_count():
    one, two = da.compare_speeds(vector=spelled("vector"), angles=spelled("angles")).choices
    assert (one.equation_operations, one.rate_operations, one.coupling) == (
        two.equation_operations,
        two.rate_operations,
        two.coupling,
    )


def test_different_systems_are_refused():
    with pytest.raises(da.errors.BadDescription, match="has the coordinates"):
        da.compare_speeds(a=in_rates(), b=gallery.build("vehicle"))
    heavy = spelled("vector")
    B = heavy.space.frames[-1]
    heavy.body("more", heavy.constant("m_2"), heavy.O, B, da.inertia(B, 1, 1, 1))
    with pytest.raises(da.errors.BadDescription, match="differ in T"):
        da.compare_speeds(a=in_rates(), b=heavy)
    with pytest.raises(da.errors.BadDescription, match="two or more"):
        da.compare_speeds(a=in_rates())
