"""A force at the contact of a wheel acts on the wheel only where that is said."""

import pytest

import dalembert as da


def wheel(**on):
    """A disk of mass and radius 1 whose contact follows the axle."""
    s = da.System("wheel")
    x, phi = s.coordinates("x phi")
    W = s.N.rotated(-phi, s.N.z, "W")
    axle = s.O.offset(x * s.N.x, "axle", W)
    disk = s.disk("disk", axle, W, 1, 1, W.z)
    s.force(
        s.constant("F", 1) * s.N.x, at=axle.offset(-1 * s.N.y, "contact"), **dict.fromkeys(on, disk)
    )
    return s


def test_without_a_body_it_turns_nothing_and_that_is_said():
    with pytest.warns(
        da.DalembertWarning,
        match="contact moves relative to 'disk', .* if it acts on the body, say so: on=disk",
    ):
        equations = da.kane(wheel()).equations
    assert "1/2 φ̈ = 0" in str(equations)


def test_on_the_body_it_does():
    # F R = −(m R²/2) φ̈ with φ counted the way it rolls
    assert "1/2 φ̈ = −F" in str(da.kane(wheel(on=True)).equations)


def test_points_of_bodies_and_particles_need_no_name():
    s = da.System("arm", gravity=9.81)
    arm = s.rod("arm", s.pin("a", s.O), 1, 1)
    s.particle("load", 1, arm.tip.offset(s.coordinate("z") * s.N.y, "load"))
    s.force(s.N.x, at=arm.tip)
    s.force(s.N.x, at=s.bodies[1].G)
    assert da.agreement(s).agree


def test_an_axle_placed_along_the_ground_is_the_wheels_too():
    s = da.System("wheel", gravity=9.81)
    x, theta = s.coordinates("x theta")
    G = s.O.offset(x * s.N.x + s.N.y, "G")
    B = s.N.rotated(theta, "z", "B")
    s.disk("wheel", G, B, 1, 1, B.z)
    s.force(s.N.x, at=G.offset(-s.N.y, "C"))
    with pytest.warns(da.DalembertWarning, match="C moves relative to 'wheel'"):
        da.kane(s)
