"""Equilibria with friction are sets: who belongs to them, and how far it is from slipping."""

import math

import numpy as np
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


def tripod(F=0.0, M=0.0, mu=0.5):
    """Three feet with friction in a plane; their forces are not determined."""
    s = da.System("tripod", gravity=G, up="z")
    C = s.free("x y z e0 e1 e2 e3")
    body = s.body("top", 3, C, C.frame, da.inertia(C.frame, 0.1, 0.1, 0.2))
    for i in range(3):
        angle = 2 * math.pi * i / 3 + 0.3
        along = 0.3 * (math.cos(angle) * C.frame.x + math.sin(angle) * C.frame.y)
        foot = C.offset(along - 0.2 * C.frame.z, f"F{i}")
        s.contact(foot, s.N.z, friction=mu, on=body, name=f"foot {i}")
    s.force(F * s.N.x, C.offset(-0.2 * C.frame.z, "low"))
    s.torque(M * s.N.z, body)
    return s


def test_a_round_cone_holds_a_block_in_every_direction_of_a_slope():
    for angle, towards in ((0.2, 0.3), (0.38, 1.1), (0.5, 2.5)):
        s = da.System("slope", gravity=G * math.cos(angle), up="z")
        x, y, z = s.coordinates("x y z")
        P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
        s.particle("block", 1, P)
        pull = G * math.sin(angle) * np.array([math.cos(towards), math.sin(towards)])
        s.force(pull[0] * s.N.x + pull[1] * s.N.y, P)
        s.contact(P, s.N.z, friction=0.4, name="plane")
        found = da.rests(s)
        assert found.needed == pytest.approx(math.tan(angle) / 0.4, rel=1e-10)
        np.testing.assert_allclose(found.forces["plane"][1:], -pull, rtol=1e-9)
        assert (da.simulate(s, 0.1).modes["plane"][-1] == "sticks") is bool(found)


def test_feet_in_a_plane_hold_a_push_and_a_torque_up_to_the_closed_form():
    weight = 3 * G
    for F in (5.0, 0.4999 * weight, 0.5001 * weight):
        found = da.rests(tripod(F=F), at={"z": 0.2})
        assert found.needed == pytest.approx(F / (0.5 * weight), rel=2e-9)
        assert bool(found) is (0.5 * weight >= F)
    # each foot holds the torque across its own arm
    found = da.rests(tripod(M=4.0), at={"z": 0.2})
    assert found.needed == pytest.approx(4.0 / (0.5 * weight * 0.3), rel=2e-9)
    assert "does not rest" not in str(found)
