"""Equilibria with friction are sets: who belongs to them, and how far it is from slipping."""

import math

import pytest

import dalembert as da

G = 9.81


def incline(mu, angle):
    s = da.System("block on an incline", gravity=G)
    x, y = s.coordinates("x y")
    plane = s.N.rotated(angle, s.N.z)
    P = s.O.offset(x * plane.x + y * plane.y, "P")
    s.particle("block", 2, P)
    s.contact(P, plane.y, friction=mu, name="plane")
    return s


def test_a_block_rests_on_an_incline_within_the_angle_of_friction():
    for angle in (0.1, 0.2, 0.4):
        found = da.rests(incline(0.3, angle))
        assert found.needed == pytest.approx(math.tan(angle) / 0.3, abs=1e-9)
        assert bool(found) is (math.tan(angle) <= 0.3)
        assert found.forces["plane"][0] == pytest.approx(2 * G * math.cos(angle), abs=1e-9)
        # what a run from rest does is the same
        run = da.simulate(incline(0.3, angle), 0.5)
        assert (run.modes["plane"][-1] == "sticks") is bool(found)


def test_a_block_in_the_air_does_not_rest():
    found = da.rests(incline(0.3, 0.1), at={"y": 0.1})
    assert not found
    assert math.isinf(found.needed)


def test_a_spring_holds_a_block_in_a_whole_interval():
    s = da.System("block and spring")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("block", 1, P)
    s.spring(50, P, s.O)
    s.friction(x.dot, 0.5, normal=10, name="table")
    assert da.rests(s, at={x: 0.05}).needed == pytest.approx(0.5, abs=1e-9)
    assert da.rests(s, at={x: 0.0999})
    assert not da.rests(s, at={x: 0.1001})


def box(mu, angle):
    """A box on two corners: how they share the friction is not determined."""
    s = da.System("box", gravity=G)
    x, y, theta = s.coordinates("x y theta")
    plane = s.N.rotated(angle, s.N.z)
    B = plane.rotated(theta, plane.z)
    C = s.O.offset(x * plane.x + y * plane.y)
    s.box("box", C, B, 2, 1, 0.4, 1)
    for name, side in (("left", -1), ("right", 1)):
        s.contact(C.offset(side * B.x / 2 - B.y / 5, name, B), plane.y, friction=mu, name=name)
    return s


def test_a_box_on_two_corners_shares_its_friction():
    found = da.rests(box(0.3, 0.2), at={"y": 0.2})
    assert found
    assert found.needed == pytest.approx(math.tan(0.2) / 0.3, abs=1e-5)


def test_a_system_without_contacts_is_told_where_to_ask():
    s = da.System("falling", gravity=G)
    y = s.coordinate("y")
    s.particle("P", 1, s.O.offset(y * s.N.y))
    with pytest.raises(da.NotApplicable, match=r"da\.equilibrium"):
        da.rests(s)
