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
    with pytest.raises(da.errors.BadDescription, match="two or more by name"):
        da.compare_speeds(a=in_rates())


# ---- proposals ----------------------------------------------------------------------------------


def sliding_vehicle():
    """The vehicle of Bar00 Fig. 1 without declared speeds."""
    s = da.System("vehicle")
    X, Y, theta = s.coordinates("X Y theta")
    m, I_G, L, F = s.constants("m I_G L F")
    B = s.N.rotated(theta, s.N.z, "B")
    G = s.O.offset(X * s.N.x + Y * s.N.y, "G")
    A = G.offset(-L * B.x, "A")
    s.body("vehicle", m, G, B, da.inertia(B, I_G, I_G, I_G))
    s.force(F * B.x, A)
    s.constrain(A.v @ B.y, "no side slip")
    return s


def test_eulers_choice_is_proposed_for_a_rigid_body():
    # Bar00 (21)
    best = da.compare_speeds(in_rates()).proposal
    assert tuple(f"ω of body along B.{axis}" for axis in "xyz") == best.definitions
    assert 0 == best.coupling


def test_the_velocity_along_the_vehicle_is_proposed():
    # Bar00 before (47): u₁ = v_A·i, u₂ = ω; the rates take three times the operations
    found = da.compare_speeds(sliding_vehicle())
    by_name = {c.name: c for c in found.choices}
    assert ("v of A along B.x", "ω of vehicle along B.z") == found.proposal.definitions
    assert found.proposal.operations * 2 < by_name["rates"].operations
    assert found.proposal.operations == min(c.operations for c in found.choices)
    assert not found.proposal.divisors


def test_a_proposal_is_judged_together_with_given_choices():
    given = in_rates()
    frames = given.space.frames
    given.speeds(w1=frames[-1].w @ frames[-1].x, w2=given["theta"].dot, w3=given["phi"].dot)
    found = da.compare_speeds(in_rates(), mixed=given)
    assert ["rates", "mixed"] == [c.name for c in found.choices][:2]
    assert "ω of body in B" == found.proposal.name


def test_proposals_leave_the_system_as_it_was():
    s = in_rates()
    before = str(da.kane(s).equations)
    da.compare_speeds(s)
    assert [] == s.speed_list
    assert before == str(da.kane(s).equations)


def test_declared_speeds_are_refused():
    with pytest.raises(da.errors.BadDescription, match="has declared speeds"):
        da.compare_speeds(spelled("vector"))
