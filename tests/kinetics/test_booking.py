"""A load is booked to the body it acts on: by the point's own body, or by the body that `on=`
names.
"""

import itertools

import pytest

import dalembert as da
from dalembert.errors import BadDescription

g = 10.0


def wrenches(s, start=None, inputs=None):
    """{joint: (force, moment)} at the start of a run."""
    found = da.simulate(s, 1e-3, start=start or {}, inputs=inputs or {}, progress=False).reactions
    assert "" == found.why_no_joints
    return {name: (joint.force[0], joint.moment[0]) for name, joint in found.joints.items()}


def test_a_spring_to_the_fixed_point_does_not_pull_at_a_rod_that_hangs_there():
    s = da.System("Rod and cart", gravity=g)
    s.rod("rod", s.pin("theta", s.O), mass=1, length=1)
    cart = s.slide("x", s.O.offset(-s.N.y))
    s.particle("cart", 2, cart)
    s.spring(100, cart, s.O, rest=0.3)
    force, moment = wrenches(s, {"x": 1.0})["theta"]
    assert force == pytest.approx([0, 10, 0], abs=1e-12)
    assert moment == pytest.approx([0, 0, 0], abs=1e-12)


def two_rods(order, **force):
    s = da.System("Two rods", gravity=g)
    first = s.pin("alpha", s.O)
    A = first.frame
    hinge = first.offset(-A.y, "hinge", A)
    second = s.pin("beta", hinge)
    B = second.frame
    parts = {
        "upper": lambda: s.body("upper", 1, first.offset(-A.y / 2), A, da.inertia(A, 0, 0, 1)),
        "lower": lambda: s.body("lower", 2, second.offset(-B.y / 2), B, da.inertia(B, 0, 0, 1)),
    }
    bodies = {name: parts[name]() for name in order}
    s.force(
        7 * s.N.y,
        at=hinge if force.get("at") != "lower" else second,
        on=bodies.get(force.get("on")),
    )
    return s


@pytest.mark.parametrize("order", list(itertools.permutations(("upper", "lower"))))
def test_a_force_at_a_hinge_acts_on_the_body_the_point_rides_on_whatever_was_declared_first(order):
    # on the upper rod: the hinge carries the lower one alone
    assert wrenches(two_rods(order))["beta"][0] == pytest.approx([0, 20, 0], abs=1e-12)
    # on the lower rod, by its own point or by name
    for force in ({"at": "lower"}, {"on": "lower"}):
        found = wrenches(two_rods(order, **force))
        assert found["beta"][0] == pytest.approx([0, 13, 0], abs=1e-12)
        assert found["alpha"][0] == pytest.approx([0, 23, 0], abs=1e-12)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_torque_acts_on_the_body_that_is_named_where_two_share_a_frame(order):
    s = da.System("Two blocks on one frame")
    places = [s.slide("x", s.O), s.slide("y", s.O.offset(s.N.z), s.N.y)]
    blocks = {k: s.body(f"block {k}", 1, places[k], s.N, da.inertia(s.N, 1, 1, 1)) for k in order}
    s.torque(5 * s.N.z, on=blocks[1])
    found = wrenches(s)
    assert found["x"][1] == pytest.approx([0, 0, 0])
    assert found["y"][1] == pytest.approx([0, 0, -5])


def test_a_spin_row_against_the_ground_is_not_charged_to_a_cart_whose_frame_is_N():
    s = da.System("Flywheel beside a cart", gravity=g)
    cart = s.slide("x", s.O)
    s.body("cart", 2, cart, s.N, da.inertia(s.N, 1, 1, 1))
    at = s.pin("phi", s.O.offset(s.N.y))
    s.body("wheel", 1, at, at.frame, da.inertia(at.frame, 2, 2, 3))
    s.constrain(at.frame.w @ s.N.z - s.t, "drive")
    found = da.simulate(s, 1e-3, atol=1e-16, progress=False).reactions
    assert ("wheel", "the ground") == (found.rows["drive"].on, found.rows["drive"].against)
    assert found.rows["drive"].moment[0] == pytest.approx([0, 0, 3])
    assert found.joints["x"].moment[0] == pytest.approx([0, 0, 0], abs=1e-12)


def top_and_wheel(*named):
    """(ω_top − ω_wheel)·x = sin t, the wheel turning about z: ω_wheel·x vanishes, and the row
    reads as one against the ground.
    """
    s = da.System("Top beside a wheel")
    P, Q = s.ball("e1 e2 e3 e4", s.O), s.pin("q", s.O.offset(s.N.y))
    bodies = {"top": s.body("top", 1, P, P.frame, da.inertia(P.frame, 1, 2, 2.5))}
    bodies["wheel"] = s.body("wheel", 1, Q, Q.frame, da.inertia(Q.frame, 1, 1, 1.5))
    cart = s.slide("x", s.O.offset(s.N.z))
    s.body("cart", 2, cart, s.N, da.inertia(s.N, 1, 1, 1))
    on = tuple(bodies[x] for x in named)
    s.constrain(
        (P.frame.w - Q.frame.w) @ s.N.x - da.sin(s.t),
        "spin",
        on=on or None if len(on) != 1 else on[0],
    )
    return da.simulate(
        s, 1e-3, start={"e1": 1, "e2": 0, "e3": 0, "e4": 0}, progress=False
    ).reactions


def test_a_spin_row_that_another_turning_body_does_not_feel_is_asked_for_and_a_cart_is_no_reason():
    found = top_and_wheel()
    assert not found.joints
    assert (
        "'top' against the ground (on=top) or 'wheel' against 'top' (on=(wheel, top))"
        in found.why_no_joints
    )
    assert "cart" not in found.why_no_joints


@pytest.mark.parametrize(
    ("named", "row", "pin"), [(("top",), 1, 0), (("top", "wheel"), 1, 1), (("wheel", "top"), -1, 1)]
)
def test_the_bodies_that_are_named_feel_the_spin_row(named, row, pin):
    found = top_and_wheel(*named)
    # J ω̇ = 1·cos 0 on the top; its opposite on the ground, or on the wheel and through its pin
    assert (named[0], "the ground" if len(named) == 1 else named[1]) == (
        found.rows["spin"].on,
        found.rows["spin"].against,
    )
    assert found.rows["spin"].moment[0] == pytest.approx([row, 0, 0], abs=1e-12)
    assert found.joints["q"].moment[0] == pytest.approx([pin, 0, 0], abs=1e-12)


def translating(**where):
    s = da.System("Plate that does not turn", gravity=g)
    x, y = s.coordinates("x y")
    G = s.O.offset(x * s.N.x + y * s.N.y, "G")
    plate = s.body("plate", 2, G, s.N, da.inertia(s.N, 1, 1, 1))
    P = G.offset(3 * s.N.x, "P")
    given = {name: {"P": P, "plate": plate}[value] for name, value in where.items()}
    s.constrain(P.v @ s.N.y, "support", **given)
    return s


def test_a_velocity_row_on_a_body_that_does_not_turn_has_no_place_of_its_own():
    found = da.simulate(translating(), 1e-3, progress=False).reactions
    # ẏ = 0 says nothing about P: the row acts in the guide, whose whole wrench is that of the guide
    # and the row together
    assert found.rows["support"].force is None
    assert found.joints["x, y"].force[0] == pytest.approx([0, 20, 0])
    assert found.joints["x, y"].moment[0] == pytest.approx([0, 0, 0], abs=1e-12)


def test_the_place_that_is_named_decides_the_moment():
    s = translating(at="P", on="plate")
    found = da.simulate(s, 1e-3, progress=False).reactions
    assert found.rows["support"].force[0] == pytest.approx([0, 20, 0])
    # the force at P turns the plate by 3·20, which the guide must hold
    assert found.joints["x, y"].moment[0] == pytest.approx([0, 0, -60])


def test_a_spring_of_constant_length_across_a_hinge_is_carried_by_it():
    s = da.System("Spring along the axis of a hinge")
    hinge = s.pin("theta", s.O)
    s.body("wheel", 1, hinge, hinge.frame, da.inertia(hinge.frame, 1, 1, 1))
    s.spring(10, hinge.offset(2 * hinge.frame.z), s.O.offset(-s.N.z), rest=1)
    # 10 (3 − 1) pulls the wheel down
    assert wrenches(s)["theta"][0] == pytest.approx([0, 0, 20])


# ---- on= decides the motion too -----------------------------------------------------------------


def disk(on=None, **more):
    s = da.System("Disk pulled at the place of its lowest point")
    x, phi = s.coordinates("x phi")
    D = s.N.rotated(phi, s.N.z, "D")
    G = s.O.offset(x * s.N.x, "G")
    body = s.body("disk", 2, G, D, da.inertia(D, 0, 0, 4))
    C = G.offset(-s.N.y, "C", s.N)
    if more.get("spring"):
        s.spring(6, C, s.O.offset(-s.N.y - 2 * s.N.x), on=body if on else None)
    elif more.get("damper"):
        s.damper(3, C, s.O.offset(-s.N.y - 2 * s.N.x), on=body if on else None)
    else:
        s.force(6 * s.N.x, at=C, on=body if on else None)
    return s


def test_the_material_point_of_the_body_is_pulled():
    with pytest.warns(da.DalembertWarning, match="C moves relative to 'disk'"):
        plain = da.simulate(disk(), 1e-3, progress=False)
    named = da.simulate(disk(on=True), 1e-3, progress=False)
    # the place C does not turn with the disk: without on= the force has no moment about its axis
    assert (3, 0) == pytest.approx((plain["x.dot.dot"][0], plain["phi.dot.dot"][0]))
    assert (3, 6 / 4) == pytest.approx((named["x.dot.dot"][0], named["phi.dot.dot"][0]))
    assert da.agreement(disk(on=True)).agree


def test_a_spring_on_a_point_of_the_body_that_is_there_now_is_no_potential():
    s = disk(on=True, spring=True)
    assert [] == s.potentials
    run = da.simulate(s, 1e-3, progress=False)
    assert (-6, -12 / 4) == pytest.approx((run["x.dot.dot"][0], run["phi.dot.dot"][0]))


def test_a_damper_resists_the_material_point():
    run = da.simulate(
        disk(on=True, damper=True), 1e-3, start={"x.dot": 0.0, "phi.dot": 1.0}, progress=False
    )
    # the lowest point moves by +φ̇ r along x
    assert (-3 / 2, -3 / 4) == pytest.approx((run["x.dot.dot"][0], run["phi.dot.dot"][0]))


def test_a_spring_on_the_body_that_carries_its_end_stays_a_potential():
    s = da.System("Rod", gravity=g)
    rod = s.rod("rod", s.pin("theta", s.O), mass=1, length=1)
    s.spring(5, rod.tip, s.O.offset(s.N.x), on=rod)
    assert 1 == len(s.potentials)


def test_two_bodies_with_one_centre_are_both_named():
    s = da.System("Cart with a flywheel", gravity=g)
    at = s.slide("x", s.O)
    cart = s.particle("cart", 1, at)
    W = s.N.rotated(s.coordinate("phi"), s.N.z)
    wheel = s.body("wheel", 1, at, W, da.inertia(W, 0, 0, 1))
    s.force(s.N.y, at=at, name="lift")
    reason = da.simulate(s, 1e-3, progress=False).reactions.why_no_joints
    for word in ("lift", "cart", "wheel", "on="):
        assert word in reason
    for body, expected in ((cart, 10), (wheel, 9)):
        s = da.System("Cart with a flywheel", gravity=g)
        at = s.slide("x", s.O)
        bodies = {"cart": s.particle("cart", 1, at)}
        W = s.N.rotated(s.coordinate("phi"), s.N.z)
        bodies["wheel"] = s.body("wheel", 1, at, W, da.inertia(W, 0, 0, 1))
        s.force(s.N.y, at=at, on=bodies[body.name])
        assert wrenches(s)["phi"][0] == pytest.approx([0, expected, 0])


def test_a_particle_has_one_point_only():
    s = da.System("Particle")
    at = s.slide("x", s.O)
    p = s.particle("p", 1, at)
    with pytest.raises(BadDescription, match="'p' is a particle"):
        s.force(s.N.x, at=at.offset(s.N.y), on=p)
    with pytest.raises(BadDescription, match="on="):
        s.force(s.N.x, at=at, on="p")


def test_a_row_cannot_act_on_a_body_that_it_does_not_hold():
    s = da.System("Two sliders")
    a, b = (s.particle(n, 1, s.slide(n, s.O)) for n in "xy")
    s.constrain(s["x"] - da.sin(s.t), "drive", on=b)
    reason = da.simulate(s, 1e-3, progress=False).reactions.why_no_joints
    assert "'drive'" in reason
    assert "'y'" in reason
    assert a is not b
